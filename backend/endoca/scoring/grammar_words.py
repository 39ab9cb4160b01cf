"""Words of grammar: numbers, negators, predicates, connectors, hedges."""

__all__ = ["GRAMMAR_WORDS"]

from collections.abc import Iterator

from backend.endoca.scoring.lexicon import Entry, Kind, Tag

_ONES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = [
    *["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"],
    "twenty",
]
_QUANTITIES = {
    1: "single|sole|solitary|lone|isolated|just one|only one|a single|the single|a lone|a solitary|exactly one",
    2: "a pair of|pair of|a pair|pair|a couple of|couple of|a couple|twin|double",
    3: "a trio of|triple",
    12: "a dozen|dozen",
}

_PHRASES = {
    Kind.IGNORED: "not only|it is true that|it is correct that|without a doubt|without doubt|no doubt|without question"
    "|undoubtedly|can be|in total|total of|a total of|in all|total|discoloration|discolorations|discolouration"
    "|coloration|colouration|hue|hues|pigmentation|coloring|colouring|colored|coloured|color|colour|colors|colours"
    "|if any|if present|if so|if applicable|if visible|as if|if anything|either",
    Kind.ARTICLE: "a|an",
    Kind.DEFINITE: "the|this|these|that one|those|its|their|said",
    Kind.VAGUE: "multiple|several|many|numerous|few|a few|various|a number of|some|at least|at most|about|around"
    "|approximately|approx|roughly|nearly|almost|more than|over|greater than|less than|fewer than|up to|no more than"
    "|no fewer than|no less than|or more|or fewer|or so|circa|a cluster of|a group of|clusters of|countless"
    "|a handful of|dozens of|dozens|an estimated|estimated|more than one|not less than|an unknown number of|plus"
    "|upwards of|a variety of|varying|different|a series of|a lot of|lots of|innumerable|a multitude of|plenty of"
    "|an unspecified number of|as many as|as few as|minimum of|a minimum of|a maximum of",
    Kind.BOTH: "both|both of them|to both|for both",
    Kind.ALL: "all are|all of them|all of these|all of the above|to all|for all|to each|for each",
    Kind.ANOTHER: "another|the first|a second|a third|second|the second|the other",
    Kind.OTHER: "other|additional|further abnormal|any other|another kind of|remaining other|extra|any additional",
    Kind.PLACE_NOUN: "region|regions|area|areas|quadrant|quadrants|part|parts|portion|portions|corner|corners|side"
    "|sides|section|sections|zone|zones|edge|edges|half|field|fields|position|positions|cell|cells|aspect|third"
    "|sector|sectors|grid cell|grid cells|location|locations|segment|segments|hand side",
    Kind.NO: "no|n|nope|false|incorrect|not any|not a single|not a single one|no single|nor any|zero evidence of"
    "|negative for|no more|hardly any",
    Kind.NEITHER: "neither|neither of",
    Kind.NOR: "nor",
    Kind.LACK: "without|absence of|absence|lack of|lack|lacks|lacking|lacked|devoid of|free of|free from|clear of"
    "|void of|absent of|empty of|fails to show|fail to show|fails to reveal|failed to show|failed to reveal|rule out"
    "|ruled out|excludes|w/o|an absence of|the absence of|a lack of|the lack of|fails to demonstrate|deny|denies",
    Kind.NOT: "not|never|isn't|aren't|wasn't|weren't|doesn't|don't|didn't|hasn't|haven't|hadn't|cannot|can't"
    "|couldn't|can not|could not|isnt|arent|doesnt|dont|cant|unable to see|unable to identify any|unable to detect"
    "|unable to find|unable to see any|won't|ain't|never been|hardly|not been|it is false that|it is not true that"
    "|it isn't true that|it is untrue that|it is incorrect that|it is not correct that|it is wrong to say that"
    "|it would be wrong to say that",
    Kind.NONE: "none|nothing|nil|none of the|none of|none of these|none of them|none of the above|zilch|nada",
    Kind.ABSENT: "absent|free|missing|undetected|unseen|invisible|undetectable|nonexistent|non existent|unidentified"
    "|unidentifiable|negative|lacking entirely|indiscernible",
    Kind.YES: "yes|y|yeah|yep|affirmative|correct|true|positive|yup|indeed",
    Kind.EXCEPT: "other than|except|except for|apart from|aside from|besides|save for|but for|with the exception of"
    "|excluding|beyond|aside|outside of|bar|nothing but|none but|nothing other than|nothing except",
    Kind.CONTRAST: "rather than|instead of|as opposed to|in place of|not to be confused with",
    Kind.PREDICATE: "visible|present|seen|observed|noted|identified|detected|found|visualized|visualised|evident"
    "|apparent|discernible|discernable|appreciated|appreciable|shown|depicted|displayed|exists|exist|existing"
    "|noticed|recognized|recognised|recognizable|observable|detectable|noticeable|located|situated|positioned"
    "|distributed|scattered|spread|documented|demonstrated|revealed|captured|imaged|appear|appears|sits|lies|sit|lie"
    "|placed|inserted|in use|used|in place|in view|in sight|seen here|there|confirmed|available|indicated|evidenced"
    "|viewed|perceptible|distinguishable|spotted|pictured|located at|extends|extending|counted|reported|can be seen"
    "|written|printed|overlaid|provided",
    Kind.COPULA: "is|are|was|were|be|been|being|has|have|had|has been|have been|it's|that's|they're|they are",
    Kind.VERB: "there is|there are|there was|there were|there's|i see|i can see|we see|it shows|it has|shows|show"
    "|showing|contains|contain|containing|reveals|reveal|revealing|depicts|depict|depicting|displays|display"
    "|displaying|includes|include|see|sees|observe|observes|detect|detects|identify|identifies|find|finds"
    "|demonstrates|demonstrate|demonstrating|features|feature|exhibits|exhibit|exhibiting|note|notes|visualize"
    "|visualise|has a|have a|discern|spot|count|notice|recognize|recognise|capture|captures|reads|say|says|holds"
    "|bears|presents",
    Kind.AFFIRM: "evidence of|evidence|presence of|presence|signs of|sign of|indication of|visibility of"
    "|existence of|identification of|visualization of|appearance of|traces of|trace of|signs|indications of",
    Kind.AND: "and|&|plus also|as well as|along with|together with|in addition to|accompanied by|alongside|and also",
    Kind.OR: "or|and or|or even|versus|vs|or else",
    Kind.STOP: "but|however|while|whereas|although|though|despite|nevertheless|nonetheless|because|since|in contrast"
    "|on the other hand|conversely|additionally|moreover|furthermore|so|therefore|thus|hence|in addition|meanwhile",
    Kind.WITH: "with|featuring",
    Kind.INCLUDING: "including|such as|namely|consisting of|comprising|e.g|i.e|like|for example",
    Kind.PREPOSITION: "following|after|before|in|at|on|from|within|through|near|by|to|into|inside|across|throughout"
    "|adjacent to|next to|close to|beside|behind|under|above|below|between|for|during|via|using|along|per|around the"
    "|over the|toward|towards|against|about the|regarding|upon|among|involving|covering|overlying",
    Kind.OF: "of",
    Kind.WHICH: "which|that|who|whose|where",
    Kind.ADVERB: "clearly|obviously|definitely|currently|also|any|anywhere|well|easily|readily|visibly|very|quite"
    "|only|just|still|obvious|clear|definite|significant|discrete|distinct|distinctly|actually not|immediately"
    "|directly|here|necessarily|really|explicitly|apparently|specifically|overtly|evidently|yet|longer|even|too"
    "|all that|then|further",
    Kind.HEDGE: "possibly|perhaps|maybe|probably|likely|presumably|potentially|possible|probable|potential|may|might"
    "|could|may be|might be|could be|may have|suspected|suspicious for|suspect|questionable|supposedly|arguably"
    "|unlikely|conceivably|i guess|i doubt|doubt that|presumed|doubtful|equivocal|it is possible|suspicion of"
    "|suspicious of|plausibly|plausible|cannot rule out|can't rule out|cannot exclude|can't exclude"
    "|cannot be ruled out|cannot be excluded|can't be excluded|can't be ruled out|could not be excluded|not excluded"
    "|possibility of|a possibility|concern for|likelihood|questionably|tentatively|may or may not|might or might not"
    "|could indicate|may indicate|most likely|very likely|more likely|allegedly|not be excluded|not be ruled out"
    "|not rule out|not exclude|unable to rule out|unable to exclude",
    Kind.UNDECIDED: "unclear|uncertain|unknown|undetermined|indeterminate|inconclusive|unspecified|not specified"
    "|not sure|unsure|not clear|not known|not possible|not determined|not determinable|ambiguous|not certain"
    "|not clearly defined|undefined|insufficient information|not enough information|insufficient|not provided"
    "|impossible|not conclusive|nondiagnostic|non diagnostic|ambiguously|debatable|open to interpretation|not stated"
    "|not assessable|not evaluable|unassessable|unclassifiable|no idea|hard to say|difficult to say|not definitive"
    "|anyone's guess|it depends|depends|unanswerable|not answerable",
    Kind.IRREALIS: "would|would have|if|unless|if there were|had there been|were there|should there be|were it"
    "|hypothetically",
    Kind.CORRECTION: "wait|correction|scratch that|i mean|let me correct|on second thought|on second look"
    "|on closer inspection|on closer look|sorry|let me reconsider|or rather|my mistake|i was wrong|strike that"
    "|looking again|looking closer|let me re examine|upon closer inspection|upon reflection|on reflection|hold on"
    "|no wait|i take that back|let me rephrase|upon further inspection|oops|apologies|hmm|my apologies|i misspoke"
    "|actually",
}
_CANNOT = (
    "cannot|can't|cant|can not|could not|couldn't|unable to|not able to|not possible to|impossible to|difficult to"
    "|hard to|do not|don't|not sufficient to|insufficient to|not enough to"
)
_DECIDE = (
    "determine|tell|say|assess|confirm|be certain|be determined|be assessed|be confirmed|be established|establish"
    "|be evaluated|evaluate|be sure|decide|answer|specify|be specified|be judged|judge|definitively|reliably"
    "|be verified|verify|be answered|provide|definitively determine|accurately determine|be accurately determined"
    "|be definitively determined|definitively confirm|definitively say|comment|be ascertained|ascertain|conclude"
    "|reliably determine|be reliably determined|determine definitively|clearly determine|be clearly determined"
    "|make out|know|be known|definitively assess|interpret|be concluded|count|be counted|count them|measure"
    "|be measured|be estimated|estimate|be inferred|infer"
)


def _entries() -> Iterator[Entry]:
    for value, word in enumerate(["zero", *_ONES, *_TEENS]):
        yield word, Tag(Kind.NUMBER, number=value)
        if 0 < value < 10:
            yield f"twenty {word}", Tag(Kind.NUMBER, number=20 + value)
    for value, phrases in _QUANTITIES.items():
        for phrase in phrases.split("|"):
            yield phrase, Tag(Kind.NUMBER, number=value)
    for kind, phrases in _PHRASES.items():
        for phrase in phrases.split("|"):
            yield phrase, Tag(kind)
    for cannot in _CANNOT.split("|"):
        for verb in _DECIDE.split("|"):
            yield f"{cannot} {verb}", Tag(Kind.UNDECIDED)


GRAMMAR_WORDS: tuple[Entry, ...] = tuple(_entries())
"""All words of grammar."""
