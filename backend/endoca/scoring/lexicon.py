"""The words the reader knows, each with the kind of thing it is.

One table, no sentences: a word or short phrase is a *thing* (a topic, perhaps with a canonical label), a
*number*, or a word of grammar (negator, predicate, hedge, connector …). Whatever is not here is an unknown
word, which the grammar steps over. Phrases are matched longest first.
"""

__all__ = ["ALL_CELLS", "Kind", "Tag", "Topic", "lookup_tables"]

import re
from enum import IntEnum, StrEnum
from typing import NamedTuple

from backend.endoca.vocabulary import CELLS

ALL_CELLS = "all"
"""Label of a phrase that means all nine cells ("the entire image")."""


class Kind(IntEnum):
    """What a word does in a sentence."""

    UNKNOWN = 0
    THING = 1
    NUMBER = 2
    ARTICLE = 3
    DEFINITE = 4
    VAGUE = 5
    """A quantity that is no count: several, multiple, at least."""
    BOTH = 6
    ANOTHER = 7
    NO = 10
    """Determiner or answer: "no"."""
    NEITHER = 11
    NOR = 12
    LACK = 13
    """A noun or preposition that denies what follows: absence of, free of, without."""
    NOT = 14
    NONE = 15
    ABSENT = 16
    """A predicate that denies its subject: absent, missing."""
    YES = 17
    EXCEPT = 18
    CONTRAST = 19
    PREDICATE = 20
    COPULA = 21
    VERB = 22
    """A verb whose object follows: shows, contains, see."""
    AFFIRM = 23
    """A noun that states what follows: evidence of, presence of."""
    AND = 30
    OR = 31
    COMMA = 32
    STOP = 33
    """A clause ends: ; but however while."""
    END = 34
    """A sentence ends."""
    COLON = 35
    DASH = 36
    OPEN = 37
    CLOSE = 38
    WITH = 39
    INCLUDING = 40
    PREPOSITION = 41
    OF = 42
    WHICH = 43
    QUESTION = 44
    EITHER = 45
    SLASH = 46
    HEDGE = 50
    """A word that takes back certainty from what it touches: possibly, may, suspected."""
    UNDECIDED = 51
    """A predicate that says nothing can be said: cannot be determined, unclear."""
    IRREALIS = 52
    """A clause about what is not the case: would, if."""
    CORRECTION = 53
    OTHER = 54
    """additional, other, further: the noun is not the one asked for."""
    ADVERB = 55
    PLACE_NOUN = 56
    """region, area, quadrant."""
    COMPARE = 57
    """Comparison words of sizes: less than, over."""
    UNIT = 58
    IGNORED = 59


class Topic(StrEnum):
    """What a thing is about."""

    TEXT = "text"
    BOX = "box"
    FINDING = "finding"
    NORMAL = "normal"
    POLYP = "polyp"
    DISEASE = "disease"
    INSTRUMENT = "instrument"
    LANDMARK = "landmark"
    PLACE = "place"
    """Organs and regions of the body; a landmark outside the vocabulary where named as one."""
    CELL = "cell"
    COLOR = "color"
    SIZE = "size"
    PARIS = "paris"
    PROCEDURE = "procedure"
    REMOVED = "removed"
    """removal, excised: polyps are gone."""
    REMAINS = "remains"
    """residual, remaining: polyps are still there."""
    INCOMPLETE = "incomplete"
    """incomplete removal, unremoved."""
    NOT_APPLICABLE = "not applicable"
    ALL = "all"
    SOME = "some"


class Tag(NamedTuple):
    """What the lexicon knows about a word or phrase."""

    kind: Kind
    topic: str = ""
    label: str = ""
    """Canonical label; "" a generic word of the topic; "?word" a label outside the vocabulary."""
    plural: bool = False
    number: int = 0


_WORDS: dict[str, Tag] = {}
_PHRASES: dict[str, list[tuple[tuple[str, ...], Tag]]] = {}


def _put(phrase: str, tag: Tag) -> None:
    words = tuple(phrase.split())
    if len(words) == 1:
        _WORDS[phrase] = tag
    else:
        _PHRASES.setdefault(words[0], []).append((words, tag))


def _grammar(kind: Kind, phrases: str) -> None:
    for phrase in phrases.split("|"):
        _put(phrase.strip(), Tag(kind))


def _things(topic: Topic, label: str, phrases: str, *, plurals: bool = True) -> None:
    """Enter words of a topic; a phrase ending in "+" has a regular plural too."""
    for phrase in phrases.split("|"):
        word = phrase.strip()
        if word.endswith("+"):
            word = word[:-1]
            plural = word[:-1] + "ies" if word.endswith("y") else word + ("es" if word[-1] in "xs" else "s")
            _put(word, Tag(Kind.THING, topic, label))
            _put(plural, Tag(Kind.THING, topic, label, plurals))
        else:
            _put(word, Tag(Kind.THING, topic, label))


_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
).split()
for _i, _word in enumerate(_NUMBERS):
    _put(_word, Tag(Kind.NUMBER, number=_i))
for _word in ("single", "sole", "solitary", "lone", "isolated", "once", "just one", "only one", "a single",
              "the single", "a lone", "a solitary", "exactly one"):
    _put(_word, Tag(Kind.NUMBER, number=1))
for _word in ("a pair of", "pair of", "a pair", "pair", "a couple of", "couple of", "a couple", "twin", "double"):
    _put(_word, Tag(Kind.NUMBER, number=2))
for _word in ("a trio of", "triple"):
    _put(_word, Tag(Kind.NUMBER, number=3))
for _word in ("a dozen", "dozen"):
    _put(_word, Tag(Kind.NUMBER, number=12))

_grammar(Kind.ARTICLE, "a|an")
_grammar(Kind.DEFINITE, "the|this|these|that one|those|its|their|said")
_grammar(
    Kind.VAGUE,
    "multiple|several|many|numerous|few|a few|various|a number of|some|at least|at most|about|around"
    "|approximately|approx|roughly|nearly|almost|more than|over|greater than|less than|fewer than|up to"
    "|no more than|no fewer than|no less than|or more|or fewer|or so|circa|a cluster of|a group of|clusters of"
    "|countless|scattered|a handful of|dozens of|dozens|an estimated|estimated|more than one|not less than"
    "|an unknown number of|plus|upwards of|a variety of|varying|different|a series of|a lot of|lots of|innumerable"
    "|a multitude of|plenty of|an unspecified number of|as many as|as few as|minimum of|a minimum of|a maximum of",
)
_put("both", Tag(Kind.BOTH))
_grammar(Kind.ANOTHER, "another|a second|a third|second|third|the second|the other")
_grammar(Kind.NO, "no|nope|not any|not a single|no single|nor any|zero evidence of|negative for|no more|not one|hardly any")
_grammar(Kind.NEITHER, "neither|neither of")
_grammar(Kind.NOR, "nor")
_grammar(
    Kind.LACK,
    "without|absence of|absence|lack of|lack|lacks|lacking|devoid of|free of|free from|clear of|void of|absent of"
    "|empty of|fails to show|fail to show|fails to reveal|failed to show|failed to reveal|rule out|ruled out"
    "|excludes|w/o|an absence of|the absence of|a lack of|the lack of|fails to demonstrate|deny|denies|lacked",
)
_grammar(
    Kind.NOT,
    "not|never|isn't|aren't|wasn't|weren't|doesn't|don't|didn't|hasn't|haven't|hadn't|cannot|can't|couldn't"
    "|can not|could not|isnt|arent|doesnt|dont|cant|unable to see|unable to identify any|unable to detect"
    "|unable to find|unable to see any|won't|ain't|never been|hardly|not been",
)
_grammar(Kind.NONE, "none|nothing|nil|none of the|none of|none of these|none of them|zilch|nada")
_grammar(
    Kind.ABSENT,
    "absent|free|missing|undetected|unseen|invisible|undetectable|nonexistent|non existent|unidentified|unidentifiable"
    "|negative|lacking entirely|indiscernible",
)
_grammar(Kind.YES, "yes|yeah|yep|affirmative|correct|true|positive|yup|indeed")
_put("false", Tag(Kind.NO))
_put("incorrect", Tag(Kind.NO))
_grammar(
    Kind.EXCEPT,
    "other than|except|except for|apart from|aside from|besides|save for|but for|with the exception of|excluding"
    "|beyond|aside|outside of|bar|nothing but|none but|nothing other than|nothing except",
)
_grammar(Kind.CONTRAST, "rather than|instead of|as opposed to|in place of|not to be confused with")
_grammar(
    Kind.PREDICATE,
    "visible|present|seen|observed|noted|identified|detected|found|visualized|visualised|evident|apparent"
    "|discernible|discernable|appreciated|appreciable|shown|depicted|displayed|exists|exist|existing|noticed"
    "|recognized|recognised|recognizable|observable|detectable|noticeable|located|situated|positioned|distributed"
    "|scattered|spread|documented|demonstrated|revealed|captured|readable|legible|imaged|appear|appears|sits"
    "|lies|sit|lie|placed|inserted|in use|used|in place|in view|in sight|seen here|there|confirmed|available"
    "|indicated|evidenced|viewed|perceptible|distinguishable|spotted|pictured|located at|extends|extending"
    "|counted|reported|can be seen|written|printed|overlaid|provided",
)
_grammar(
    Kind.COPULA, "is|are|was|were|be|been|being|has|have|had|has been|have been|it's|there's|that's|they're|they are"
)
_grammar(
    Kind.VERB,
    "shows|show|showing|contains|contain|containing|reveals|reveal|revealing|depicts|depict|depicting|displays"
    "|display|displaying|includes|include|see|sees|observe|observes|detect|detects|identify|identifies|find|finds"
    "|demonstrates|demonstrate|demonstrating|features|feature|featuring|exhibits|exhibit|exhibiting|note|notes"
    "|visualize|visualise|has a|have a|discern|spot|count|notice|recognize|recognise|capture|captures|reads|say"
    "|says|holds|bears|presents",
)
_grammar(
    Kind.AFFIRM,
    "evidence of|evidence|presence of|presence|signs of|sign of|indication of|visibility of|existence of"
    "|identification of|visualization of|appearance of|traces of|trace of|signs|indications of",
)
_grammar(Kind.AND, "and|&|plus also|as well as|along with|together with|in addition to|accompanied by|alongside|and also")
_grammar(Kind.OR, "or|and or|or even|versus|vs|or else")
_grammar(Kind.EITHER, "either|alternatively")
_grammar(
    Kind.STOP,
    "but|however|while|whereas|although|though|yet|despite|nevertheless|nonetheless|because|since|still|in contrast"
    "|on the other hand|conversely|additionally|moreover|furthermore|also|so|therefore|thus|hence|then|in addition"
    "|meanwhile|further|only",
)
for _word in ("still", "also", "then", "only", "further", "yet"):
    _put(_word, Tag(Kind.ADVERB))
_grammar(Kind.WITH, "with|featuring")
_grammar(Kind.INCLUDING, "including|such as|namely|consisting of|comprising|specifically|e.g|i.e|like|for example")
_grammar(
    Kind.PREPOSITION,
    "following|after|before|in|at|on|from|within|through|near|by|to|into|inside|across|throughout|adjacent to|next to|close to|beside"
    "|behind|under|above|below|between|for|during|via|using|along|per|around the|over the|toward|towards|against"
    "|about the|regarding|upon|among|involving|covering|overlying",
)
_put("of", Tag(Kind.OF))
_grammar(Kind.WHICH, "which|that|who|whose|where")
_grammar(
    Kind.HEDGE,
    "possibly|perhaps|maybe|probably|likely|presumably|potentially|possible|probable|potential|may|might|could"
    "|may be|might be|could be|may have|suspected|suspicious for|suspect|questionable|supposedly|arguably|unlikely"
    "|conceivably|i guess|presumed|doubtful|equivocal|seemingly possible|it is possible"
    "|apparently possible|suspicion of|suspicious of|not certain|plausibly|plausible|cannot rule out|can't rule out"
    "|cannot exclude|can't exclude|cannot be ruled out|cannot be excluded|can't be excluded|can't be ruled out"
    "|could not be excluded|not excluded|possibility of|a possibility|concern for|likelihood|questionably|tentatively"
    "|may or may not|might or might not|could indicate|may indicate|most likely|very likely|more likely|allegedly"
    "|not be excluded|not be ruled out|not rule out|not exclude|unable to rule out|unable to exclude",
)
_UNDECIDED = (
    "determine|tell|say|assess|confirm|be certain|be determined|be assessed|be confirmed|be established|establish"
    "|be evaluated|evaluate|be sure|decide|answer|specify|be specified|be judged|judge|definitively|reliably"
    "|be verified|verify|be answered|provide|definitively determine|accurately determine|be accurately determined"
    "|be definitively determined|definitively confirm|definitively say|comment|be ascertained|ascertain|conclude"
    "|reliably determine|be reliably determined|determine definitively|clearly determine|be clearly determined"
    "|make out|know|be known|definitively assess|interpret|be concluded|count|be counted|count them|measure"
    "|be measured|be estimated|estimate|be inferred|infer"
)
for _verb in _UNDECIDED.split("|"):
    for _can in ("cannot", "can't", "can not", "could not", "couldn't", "unable to", "not able to", "not possible to",
                 "impossible to", "difficult to", "hard to", "do not", "don't", "not sufficient to", "insufficient to",
                 "not enough to", "cant"):
        _put(f"{_can} {_verb}", Tag(Kind.UNDECIDED))
_grammar(
    Kind.UNDECIDED,
    "unclear|uncertain|unknown|undetermined|indeterminate|inconclusive|unspecified|not specified|not sure|unsure"
    "|not clear|not known|not possible|not determined|not determinable|ambiguous|not certain|not clearly defined"
    "|undefined|insufficient information|not enough information|insufficient|not provided|impossible|not conclusive"
    "|nondiagnostic|non diagnostic|ambiguously|debatable|open to interpretation|not stated|not assessable"
    "|not evaluable|unassessable|unclassifiable|no idea|hard to say|difficult to say|not definitive|anyone's guess"
    "|it depends|depends|unanswerable|not answerable|unreadable question",
)
_grammar(Kind.IRREALIS, "would|would have|if there were|had there been|were there|should there be|were it|hypothetically")
_put("if", Tag(Kind.IRREALIS))
_put("unless", Tag(Kind.IRREALIS))
for _word in ("if any", "if present", "if so", "if applicable", "if visible", "as if", "if anything"):
    _put(_word, Tag(Kind.IGNORED))
_grammar(
    Kind.CORRECTION,
    "wait|correction|scratch that|i mean|let me correct|on second thought|on second look|on closer inspection"
    "|on closer look|sorry|let me reconsider|or rather|my mistake|i was wrong|strike that|looking again"
    "|looking closer|let me re examine|upon closer inspection|upon reflection|on reflection|hold on|no wait"
    "|i take that back|let me rephrase|upon further inspection|oops|apologies|hmm|my apologies|i misspoke",
)
_put("actually", Tag(Kind.CORRECTION, label="soft"))
_put("in fact", Tag(Kind.CORRECTION, label="soft"))
_grammar(Kind.OTHER, "other|additional|further abnormal|any other|another kind of|remaining other|extra|any additional")
_grammar(
    Kind.ADVERB,
    "clearly|obviously|definitely|currently|also|any|anywhere|well|easily|readily|visibly|very|quite|only|just"
    "|still|obvious|clear|definite|significant|discrete|distinct|distinctly|actually not|immediately|directly|here"
    "|necessarily|really|explicitly|apparently|specifically|overtly|evidently|yet|longer|even|too|all that",
)
_grammar(
    Kind.PLACE_NOUN,
    "region|regions|area|areas|quadrant|quadrants|part|parts|portion|portions|corner|corners|side|sides|section"
    "|sections|zone|zones|edge|edges|half|field|fields|position|positions|cell|cells|aspect|third|sector|sectors"
    "|grid cell|grid cells|location|locations|segment|segments|hand side",
)
_grammar(Kind.IGNORED, "without a doubt|without doubt|no doubt|without question|undoubtedly|can be|discoloration|discolorations|discolouration|coloration|colouration|hue|hues|pigmentation|coloring|colouring|colored|coloured|color|colour|colors|colours|approximately equal|in total|total of|a total of|in all|total|e")

# Text and boxes ------------------------------------------------------------------------------------
_things(
    Topic.TEXT,
    "",
    "text|texts|textual|text element+|text overlay+|overlaid text|textual element+|textual content|textual information"
    "|text content|text information|writing|writings|lettering|letters|letter|word|words|caption+|inscription+"
    "|annotation+|typography|written content|alphanumeric character+|character+|alphanumeric text|script|overlay text"
    "|text label+|text marking+|textual marking+|textual overlay+|printed text|on screen text|subtitles|font"
    "|written information|text annotation+|textual annotation+|any words",
)
_things(
    Topic.TEXT,
    "detail",
    "timestamp+|time stamp+|date stamp+|date|dates|patient data|patient information|patient id|patient identifier+"
    "|patient name|watermark+|metadata|label text|numerals|numbers|digits|technical data|on screen data|text box label",
)
_things(
    Topic.BOX,
    "",
    "box artifact+|box artefact+|box like artifact+|box like artefact+|box shaped artifact+|box shaped artefact+"
    "|artifact+|artefact+|box|boxes|box like structure+|box overlay+|boxed artifact+|boxed artefact+|square artifact+"
    "|square artefact+|rectangular artifact+|rectangular artefact+|rectangular overlay+|rectangle+|square box+"
    "|box like|bounding box+|rectangular box+|overlay box+|inset box+|box area+|square+",
)
for _word in ("motion", "light", "reflection", "specular", "blur", "compression", "noise", "bubble", "glare", "lighting"):
    for _noun in ("artifact", "artifacts", "artefact", "artefacts"):
        _put(f"{_word} {_noun}", Tag(Kind.UNKNOWN))

# Findings, polyps, diseases ------------------------------------------------------------------------
_things(
    Topic.FINDING,
    "",
    "finding+|abnormal finding+|pathological finding+|abnormality+|lesion+|pathology+|pathological change+|anomaly+"
    "|abnormal|pathological abnormality+|mucosal abnormality+|irregularity+|abnormal lesion+|mucosal lesion+"
    "|abnormal area+|abnormal region+|pathologic finding+|pathologic change+|disease|pathologies|visible abnormality+"
    "|mass|masses|growth+|disorder+|abnormal tissue|nodule+|defect+|mucosal change+|mucosal finding+|lesional area+"
    "|abnormal change+|diseased area+|affected area+|affected region+|endoscopic finding+"
    "|disease process|nothing wrong|diseased tissue",
)
_things(Topic.NORMAL, "", "normal|unremarkable|healthy|within normal limits|intact|normal looking|normal appearing|healthy looking")
_put("nothing abnormal", Tag(Kind.THING, Topic.NORMAL))
_put("nothing remarkable", Tag(Kind.THING, Topic.NORMAL))
_put("nothing unusual", Tag(Kind.THING, Topic.NORMAL))
_put("nothing pathological", Tag(Kind.THING, Topic.NORMAL))
_things(
    Topic.POLYP,
    "polyp",
    "polyp+|polypoid lesion+|polypoid growth+|polypoidal lesion+|polypous lesion+|polyp lesion+|polypoid mass|polypoid"
    "|polypoidal|polypous|polyp formation+|polypoid formation+|polypoid structure+|polyp like lesion+|polyp like growth+"
    "|polypoid polyp+|adenomatous polyp+|mucosal polyp+|colonic polyp+|polypoid tissue|polypoid protrusion+|polyposis lesion+"
    "|polyp like structure+",
)
_things(Topic.POLYP, "?adenoma", "adenoma+")
_things(
    Topic.DISEASE,
    "ulcerative colitis",
    "ulcerative colitis|colitis ulcerosa|uc|inflammatory bowel disease|ibd|colitis|colonic inflammation|proctitis"
    "|inflammation of the colon|inflammatory changes in the colon|inflammatory colitis",
)
_things(
    Topic.DISEASE,
    "oesophagitis",
    "oesophagitis|esophagitis|reflux oesophagitis|reflux esophagitis|esophageal inflammation|oesophageal inflammation"
    "|inflammation of the esophagus|inflammation of the oesophagus|erosive esophagitis|erosive oesophagitis"
    "|inflammatory changes in the esophagus|inflammatory changes in the oesophagus|inflamed esophagus|inflamed oesophagus",
)
for _esophagus in ("", " esophagus", " oesophagus", " epithelium", " mucosa", " segment", " metaplasia"):
    for _barrett in ("barrett's", "barretts", "barrett"):
        _things(Topic.DISEASE, "barretts", f"{_barrett}{_esophagus}|long segment {_barrett}{_esophagus}")
        _things(
            Topic.DISEASE, "short-segment barretts", f"short segment {_barrett}{_esophagus}|short {_barrett}{_esophagus}"
        )
_things(Topic.DISEASE, "hemorrhoids", "hemorrhoids|haemorrhoids|hemorrhoid|haemorrhoid|hemorrhoidal tissue|piles")
for _word in (
    "ulcer",
    "ulceration",
    "tumor",
    "tumour",
    "cancer",
    "carcinoma",
    "malignancy",
    "diverticulum",
    "diverticulosis",
    "gastritis",
    "duodenitis",
    "varix",
    "erosion",
    "stricture",
    "angiodysplasia",
    "crohn's disease",
    "crohns disease",
    "neoplasm",
    "bleeding",
    "hemorrhage",
    "diverticulitis",
    "ileitis",
    "angioectasia",
    "cyst",
    "lipoma",
    "papilloma",
    "metaplasia",
):
    _things(Topic.DISEASE, f"?{_word}", f"{_word}+" if _word[-1] != "s" else _word)
_things(Topic.DISEASE, "?diverticulum", "diverticula")
_things(Topic.DISEASE, "?varix", "varices|esophageal varices|oesophageal varices")

# Instruments ---------------------------------------------------------------------------------------
_things(
    Topic.INSTRUMENT,
    "",
    "instrument+|instrumentation|instrumental device+|instrumental presence|foreign body|foreign bodies|foreign object+"
    "|foreign instrument+|surgical instrument+|medical instrument+|medical device+|device+|tool+|surgical tool+"
    "|endoscopic instrument+|endoscopic tool+|endoscopic device+|equipment|medical equipment|surgical equipment"
    "|instrumental|instrumentations|foreign instrumentation|visible instrumentation|surgical device+|hardware|implement+"
    "|therapeutic device+|foreign material",
)
_put("foreign bodies", Tag(Kind.THING, Topic.INSTRUMENT, "", True))
_things(
    Topic.INSTRUMENT,
    "biopsy forceps",
    "biopsy forceps|forceps|biopsy forcep+|biopsy grasping forceps|endoscopic biopsy forceps|biopsy tool+"
    "|biopsy instrument+|forceps biopsy|forcep|pair of biopsy forceps|a pair of biopsy forceps|pair of forceps"
    "|a pair of forceps|biopsy forceps instrument+|biopsy forceps device+",
    plurals=False,
)
_things(
    Topic.INSTRUMENT,
    "polyp snare",
    "polyp snare+|snare+|polypectomy snare+|snare loop+|polyp snare device+|snare device+|polyp snare instrument+"
    "|polyp snare loop+|cold snare|hot snare|wire snare|snare wire|electrocautery snare|snare instrument+",
)
_things(
    Topic.INSTRUMENT,
    "metal clip",
    "metal clip+|clip+|metallic clip+|hemoclip+|haemoclip+|endoclip+|hemostatic clip+|endoscopic clip+|surgical clip+"
    "|haemostatic clip+|through the scope clip+|metal clip device+|clip device+",
)
_things(
    Topic.INSTRUMENT,
    "tube",
    "tube+|feeding tube+|tubular device+|tubular instrument+|tubular structure+|tube device+|nasogastric tube+"
    "|ng tube+|tubing|tubular object+|tubular medical device+|medical tube+|tube instrument+|drainage tube+|tubular"
    "|tube like device+|tube like instrument+|tube like structure+|gastric tube+|intubation tube+|rectal tube+|tube placement",
)
_things(
    Topic.INSTRUMENT,
    "injection needle",
    "injection needle+|needle+|injection needle device+|needle injector+|injector needle+|sclerotherapy needle+"
    "|injection needle instrument+|injection catheter+",
)
for _word in (
    "endoscope",
    "scope",
    "grasper",
    "grasping tool",
    "grasping forceps",
    "catheter",
    "stent",
    "scalpel",
    "balloon",
    "basket",
    "knife",
    "net",
    "retrieval net",
    "laparoscope",
    "camera",
    "trocar",
    "scissors",
    "suture",
    "cautery",
    "guidewire",
    "guide wire",
    "duodenoscope",
    "brush",
    "cytology brush",
    "transparent cap",
    "band ligator",
    "hot biopsy forceps",
    "clamp",
    "needle knife",
    "swab",
    "gauze",
    "syringe",
    "probe",
    "dilator",
    "pill camera",
):
    _things(Topic.INSTRUMENT, f"?{_word}", f"{_word}+" if _word[-1] != "s" else _word)

# Landmarks and places ------------------------------------------------------------------------------
_things(
    Topic.LANDMARK,
    "",
    "landmark+|anatomical landmark+|anatomic landmark+|anatomical structure+|anatomical feature+|anatomic structure+"
    "|anatomical marker+|anatomical reference point+|anatomical reference+|reference landmark+|anatomical site+",
)
_things(
    Topic.LANDMARK,
    "z-line",
    "z line+|zline|squamocolumnar junction|squamo columnar junction|z line structure+|scj|ora serrata|zig zag line"
    "|zigzag line",
)
_things(Topic.LANDMARK, "cecum", "cecum|caecum|cecal|caecal|coecum|cecal pole|caecal pole|cecal structure+|ileocecal region")
_things(Topic.LANDMARK, "ileum", "ileum|terminal ileum|ileal|ileal mucosa")
_things(Topic.LANDMARK, "pylorus", "pylorus|pyloric|pyloric sphincter|pyloric ring|pyloric opening|pyloric orifice|pyloric channel")
for _word in (
    "esophagus|oesophagus|stomach|colon|rectum|duodenum|antrum|fundus|sigmoid colon|sigmoid|larynx|pharynx|trachea"
    "|appendiceal orifice|ileocecal valve|splenic flexure|hepatic flexure|transverse colon|ascending colon|jejunum"
    "|descending colon|small bowel|small intestine|large intestine|large bowel|vocal cords|nasal septum|duodenal bulb"
    "|papilla|ampulla|gastric body|cardia|anus|anal canal|dentate line|gastric antrum|appendix|epiglottis|bowel|uvula"
    "|gastric fundus|nasopharynx|airway|bronchus|carina|angulus|incisura|gallbladder|liver|bladder|right colon|left colon"
).split("|"):
    _things(Topic.PLACE, f"?{_word}", _word)

# Cells, colours, types, procedures -------------------------------------------------------------------
_ROWS = {"upper": "upper|top|superior|uppermost", "lower": "lower|bottom|inferior|lowermost", "center": "center|middle|central|mid|centre"}
_COLUMNS = {"left": "left|leftmost", "right": "right|rightmost|rigth", "center": "center|middle|central|centre|mid"}
for _row, _row_words in _ROWS.items():
    for _column, _column_words in _COLUMNS.items():
        _cell = "center" if (_row, _column) == ("center", "center") else f"{_row}-{_column}"
        for _a in _row_words.split("|"):
            for _b in _column_words.split("|"):
                _things(Topic.CELL, _cell, f"{_a} {_b}")
                if _b != "central":  # "the central upper region" names two cells, "upper central" one
                    _things(Topic.CELL, _cell, f"{_b} {_a}")
    for _a in _row_words.split("|"):
        _things(Topic.CELL, f"*{_row}", _a)
for _column, _column_words in _COLUMNS.items():
    if _column != "center":
        for _b in _column_words.split("|"):
            _things(Topic.CELL, f"*{_column}", f"{_b}|{_b} hand|{_b} hand side")
_things(Topic.CELL, "center", "centrally|centered|centred")
_things(
    Topic.CELL,
    ALL_CELLS,
    "all regions|all quadrants|all areas|all nine regions|all nine cells|entire image|whole image|entire field"
    "|all nine areas|all parts|all sections|every region|every quadrant|all of the image|entire frame|whole frame"
    "|throughout the image|all over the image|across the image|entire field of view|all regions of the image|everywhere"
    "|whole field|throughout the field|across all regions|all locations|all nine",
)
for _color, _words in {
    "pink": "pink|pinkish|rosy|rose",
    "red": "red|reddish|reddened",
    "white": "white|whitish",
    "yellow": "yellow|yellowish",
    "flesh": "flesh|fleshy|flesh colored|flesh coloured|flesh toned|skin colored|flesh tone",
    "brown": "brown|brownish",
    "orange": "orange|orangish",
    "grey": "grey|gray|greyish|grayish",
    "black": "black|blackish",
    "blue": "blue|bluish",
    "green": "green|greenish",
    "purple": "purple|purplish|violet",
    "?tan": "tan|beige",
    "?cream": "cream|creamy",
    "?magenta": "magenta",
    "?dark": "maroon",
    "?salmon": "salmon",
    "?peach": "peach",
    "?gold": "gold|golden",
}.items():
    _things(Topic.COLOR, _color, _words)
for _type, _words in {
    "paris ip": "ip|iip|pedunculated|0 ip|paris ip|type ip|paris 0 ip|stalked|paris type ip|paris type 0 ip",
    "paris is": "paris is|0 is|type is|paris 0 is|sessile|class is|paris type is|paris class is|paris classification is"
    "|paris type 0 is|category is|paris category is",
    "paris iia": "iia|0 iia|paris iia|type iia|paris 0 iia|ii a|0 ii a|paris ii a|type ii a|slightly elevated|flat elevated"
    "|2a|paris 2a|0 2a|paris type iia|paris type ii a|superficial elevated|superficially elevated",
    "?isp": "isp|0 isp|paris isp|semipedunculated|subpedunculated|semi pedunculated|sub pedunculated|paris 0 isp",
    "?iib": "iib|0 iib|paris iib|ii b|paris 0 iib|completely flat",
    "?iic": "iic|0 iic|paris iic|ii c|depressed|paris 0 iic",
    "?iii": "0 iii|paris iii|excavated|paris 0 iii",
}.items():
    _things(Topic.PARIS, _type, _words)
for _word in ("sessile serrated", "sessile serrated polyp", "sessile serrated lesion"):
    _put(_word, Tag(Kind.THING, Topic.POLYP, "polyp"))
for _word in ("sessile serrated polyps", "sessile serrated lesions"):
    _put(_word, Tag(Kind.THING, Topic.POLYP, "polyp", True))
for _procedure, _words in {
    "colonoscopy": "colonoscopy|colonoscopic|colonoscope|coloscopy|lower gastrointestinal endoscopy|lower gi endoscopy"
    "|lower endoscopy|colonoscopies|ileocolonoscopy",
    "gastroscopy": "gastroscopy|gastroscopic|gastroscope|upper gastrointestinal endoscopy|upper gi endoscopy|upper endoscopy"
    "|egd|ogd|esophagogastroduodenoscopy|oesophagogastroduodenoscopy|upper gastrointestinal endoscopic|upper endoscopic"
    "|gastric endoscopy|esophagoscopy|oesophagoscopy|upper digestive endoscopy|esophagogastroscopy|upper gi endoscopic",
    "capsule endoscopy": "capsule endoscopy|video capsule endoscopy|wireless capsule endoscopy|video capsule|capsule endoscopic"
    "|wireless capsule|capsule",
    "?bronchoscopy": "bronchoscopy|bronchoscopic",
    "?laryngoscopy": "laryngoscopy|laryngoscopic",
    "?sigmoidoscopy": "sigmoidoscopy|flexible sigmoidoscopy|rectoscopy|proctoscopy",
    "?enteroscopy": "enteroscopy",
    "?ercp": "ercp",
    "?laparoscopy": "laparoscopy|laparoscopic",
    "?cystoscopy": "cystoscopy",
    "?hysteroscopy": "hysteroscopy",
    "?duodenoscopy": "duodenoscopy",
}.items():
    _things(Topic.PROCEDURE, _procedure, _words)

# Removal -------------------------------------------------------------------------------------------
_things(Topic.REMOVED, "", "removed|excised|resected|ablated|eradicated|taken out|extracted|cleared")
_things(
    Topic.REMOVED,
    "event",
    "removal|excision|resection|polypectomy|removals|excisions|resections|polyp removal|removal of polyps|polyp excision"
    "|polyp resection|removal of the polyp|removal of polyp|polypectomies|polyp removals",
)
_things(
    Topic.REMAINS,
    "",
    "residual|residue|residues|remnant+|remaining|remain|remains|remained|leftover|left behind|still present|persist"
    "|persists|persistent|retained|left in place|in situ|left in situ|persisting|still visible|still there|unremoved"
    "|polyp remnant+|polyp residue+|polyp tissue|residual polyp tissue|residuals|still remain|still remains|unresected"
    "|unexcised|not been fully removed|still in place|outstanding|remaining present",
)
_things(
    Topic.INCOMPLETE,
    "",
    "not all|not every|not completely|not fully|not entirely|not yet|not totally|not been completely|not been fully|not been entirely"
    "|incomplete|incompletely|partial|partially|partly|incomplete removal|incompletely removed|partially removed"
    "|incomplete excision|incomplete resection|partial removal|unsuccessful|piecemeal incomplete",
)
_things(Topic.ALL, "", "all|every|each|completely|complete|fully|entirely|totally|successfully|total removal|entire")
_things(Topic.SOME, "", "some of")
_things(
    Topic.NOT_APPLICABLE,
    "",
    "not applicable|not relevant|irrelevant|inapplicable|not pertinent|n/a|not required|not needed|not necessary"
    "|unnecessary|not indicated|not warranted|non applicable|no relevance|not a consideration|not a concern|not of concern|not of relevance"
    "|nothing to remove|not considered|not under consideration|does not apply|doesn't apply|not an issue|not require"
    "|no need|not need|na|not a relevant|not currently relevant|not currently applicable|not currently indicated"
    "|not applicable here|not a factor|not clinically relevant|not be required|not be necessary|not currently required",
)


def lookup_tables() -> tuple[dict[str, Tag], dict[str, list[tuple[tuple[str, ...], Tag]]]]:
    """Return the table of words and, by first word, the phrases sorted longest first."""
    for phrases in _PHRASES.values():
        phrases.sort(key=lambda entry: -len(entry[0]))
    return _WORDS, _PHRASES


assert set(CELLS) <= {t.label for entries in _PHRASES.values() for _, t in entries} | {t.label for t in _WORDS.values()}  # noqa: S101
_ = re
