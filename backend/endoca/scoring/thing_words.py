"""Words for things: what can be asked about, with the canonical label where a word names one.

Synonyms are the field's own (a snare is the polyp snare, a hemoclip a metal clip, EGD a gastroscopy) and
the wordings of Kvasir-VQA-x1. Instruments, organs, diseases and colours outside Kvasir-VQA's vocabulary
are listed too, for naming one makes a superset.
"""

__all__ = ["THING_WORDS"]

from collections.abc import Iterator

from backend.endoca.scoring.lexicon import ALL_CELLS, Entry, Kind, Tag, Topic, spelled

_GENERIC = {
    Topic.TEXT: "text|texts|textual|text element+|text overlay+|overlaid text|textual element+|textual content"
    "|textual information|text content|text information|writing|writings|lettering|letters|letter|word|words"
    "|caption+|inscription+|annotation+|typography|written content|alphanumeric character+|character+"
    "|alphanumeric text|script|overlay text|text label+|text marking+|textual marking+|textual overlay+|printed text"
    "|on screen text|subtitles|font|written information|text annotation+|textual annotation+|any words",
    Topic.BOX: "box artifact+|box artefact+|box like artifact+|box like artefact+|box shaped artifact+"
    "|box shaped artefact+|artifact+|artefact+|box|boxes|box like structure+|box overlay+|boxed artifact+"
    "|boxed artefact+|square artifact+|square artefact+|rectangular artifact+|rectangular artefact+"
    "|rectangular overlay+|rectangle+|square box+|box like|bounding box+|rectangular box+|overlay box+|inset box+"
    "|box area+|square+",
    Topic.FINDING: "finding+|area of abnormality|abnormal finding+|pathological finding+|abnormality+|lesion+"
    "|pathology+|pathological change+|anomaly+|abnormal|pathological abnormality+|mucosal abnormality+|irregularity+"
    "|abnormal lesion+|mucosal lesion+|abnormal area+|abnormal region+|pathologic finding+|pathologic change+"
    "|disease|visible abnormality+|mass|masses|growth+|disorder+|abnormal tissue|nodule+|defect+|mucosal change+"
    "|mucosal finding+|lesional area+|abnormal change+|diseased area+|affected area+|affected region+"
    "|endoscopic finding+|disease process|nothing wrong|diseased tissue",
    Topic.NORMAL: "normal|unremarkable|healthy|within normal limits|intact|normal looking|normal appearing"
    "|healthy looking|normal finding+|normal endoscopic finding+|normal mucosal finding+|nothing abnormal"
    "|nothing remarkable|nothing unusual|nothing pathological",
    Topic.INSTRUMENT: "instrument+|instrumentation|instrumental device+|instrumental presence|foreign body+"
    "|foreign object+|foreign instrument+|surgical instrument+|medical instrument+|medical device+|device+|tool+"
    "|surgical tool+|endoscopic instrument+|endoscopic tool+|endoscopic device+|equipment|medical equipment"
    "|surgical equipment|instrumental|instrumentations|foreign instrumentation|visible instrumentation"
    "|surgical device+|hardware|implement+|therapeutic device+|foreign material",
    Topic.LANDMARK: "landmark+|anatomical landmark+|anatomic landmark+|anatomical structure+|anatomical feature+"
    "|anatomic structure+|anatomical marker+|anatomical reference point+|anatomical reference+|reference landmark+"
    "|anatomical site+",
    Topic.REMOVED: "removed|excised|resected|ablated|eradicated|taken out|extracted|cleared",
    Topic.REMAINS: "residual|residue|residues|remnant+|remaining|remain|remains|remained|leftover|left behind"
    "|still present|persist|persists|persistent|retained|left in place|in situ|left in situ|persisting|still visible"
    "|still there|unremoved|polyp remnant+|polyp residue+|polyp tissue|residual polyp tissue|residuals|still remain"
    "|still remains|unresected|unexcised|not been fully removed|still in place|outstanding|remaining present",
    Topic.INCOMPLETE: "not all|not every|all but|all but one|all except|all except one|not completely|not fully"
    "|not entirely|not yet|not totally|not been completely|not complete|not completed|not finished|not successful"
    "|not total|not been fully|not been entirely|incomplete|incompletely|partial|partially|partly|incomplete removal"
    "|incompletely removed|partially removed|incomplete excision|incomplete resection|partial removal|unsuccessful",
    Topic.ALL: "all|every|each|completely|complete|fully|entirely|totally|successfully|total removal|entire",
    Topic.SOME: "some of",
    Topic.NOT_APPLICABLE: "not applicable|not relevant|irrelevant|inapplicable|not pertinent|n/a|not required"
    "|not needed|not necessary|unnecessary|not indicated|not warranted|non applicable|no relevance"
    "|not a consideration|not a concern|not of concern|not of relevance|nothing to remove|not considered"
    "|not under consideration|does not apply|doesn't apply|not an issue|not require|no need|not need|na"
    "|not a relevant|not currently relevant|not currently applicable|not currently indicated|not applicable here"
    "|not a factor|not clinically relevant|not be required|not be necessary|not currently required",
}
_LABELLED = {
    (Topic.TEXT, "detail"): "timestamp+|time stamp+|date stamp+|date|dates|patient data|patient information"
    "|patient id|patient identifier+|patient name|watermark+|metadata|label text|numerals|numbers|digits"
    "|technical data|on screen data|text box label",
    (Topic.POLYP, "polyp"): "polyp+|polypoid lesion+|polypoid growth+|polypoidal lesion+|polypous lesion+"
    "|polyp lesion+|polypoid mass|polypoid|polypoidal|polypous|polyp formation+|polypoid formation+"
    "|polypoid structure+|polyp like lesion+|polyp like growth+|polypoid polyp+|adenomatous polyp+|mucosal polyp+"
    "|colonic polyp+|polypoid tissue|polypoid protrusion+|polyposis lesion+|polyp like structure+|sessile serrated"
    "|sessile serrated polyp+|sessile serrated lesion+",
    (Topic.POLYP, "?adenoma"): "adenoma+",
    (
        Topic.DISEASE,
        "ulcerative colitis",
    ): "ulcerative colitis|colitis ulcerosa|uc|inflammatory bowel disease|ibd|colitis|colonic inflammation|proctitis"
    "|inflammation of the colon|inflammatory changes in the colon|inflammatory colitis",
    (Topic.DISEASE, "oesophagitis"): "oesophagitis|esophagitis|reflux oesophagitis|reflux esophagitis"
    "|esophageal inflammation|oesophageal inflammation|inflammation of the esophagus|inflammation of the oesophagus"
    "|erosive esophagitis|erosive oesophagitis|inflammatory changes in the esophagus"
    "|inflammatory changes in the oesophagus|inflamed esophagus|inflamed oesophagus",
    (Topic.DISEASE, "hemorrhoids"): "hemorrhoids|haemorrhoids|hemorrhoid|haemorrhoid|hemorrhoidal tissue|piles",
    (Topic.DISEASE, "?diverticulum"): "diverticulum|diverticula",
    (Topic.DISEASE, "?varix"): "varix|varices|esophageal varices|oesophageal varices",
    (Topic.INSTRUMENT, "polyp snare"): "polyp snare+|snare+|polypectomy snare+|snare loop+|polyp snare device+"
    "|snare device+|polyp snare instrument+|polyp snare loop+|cold snare|hot snare|wire snare|snare wire"
    "|electrocautery snare|snare instrument+",
    (Topic.INSTRUMENT, "metal clip"): "metal clip+|clip+|metallic clip+|hemoclip+|haemoclip+|endoclip+"
    "|hemostatic clip+|endoscopic clip+|surgical clip+|haemostatic clip+|through the scope clip+|metal clip device+"
    "|clip device+",
    (
        Topic.INSTRUMENT,
        "tube",
    ): "tube+|feeding tube+|tubular device+|tubular instrument+|tubular structure+|tube device+|nasogastric tube+"
    "|ng tube+|tubing|tubular object+|tubular medical device+|medical tube+|tube instrument+|drainage tube+|tubular"
    "|tube like device+|tube like instrument+|tube like structure+|gastric tube+|intubation tube+|rectal tube+"
    "|tube placement",
    (Topic.INSTRUMENT, "injection needle"): "injection needle+|needle+|injection needle device+|needle injector+"
    "|injector needle+|sclerotherapy needle+|injection needle instrument+|injection catheter+",
    (Topic.LANDMARK, "z-line"): "z line+|zline|squamocolumnar junction|squamo columnar junction"
    "|z line structure+|scj|ora serrata|zig zag line|zigzag line",
    (Topic.LANDMARK, "cecum"): "cecum|caecum|cecal|caecal|coecum|cecal pole|caecal pole|cecal structure+"
    "|ileocecal region",
    (Topic.LANDMARK, "ileum"): "ileum|terminal ileum|ileal|ileal mucosa",
    (Topic.LANDMARK, "pylorus"): "pylorus|pyloric|pyloric sphincter|pyloric ring|pyloric opening|pyloric orifice"
    "|pyloric channel",
    (Topic.CELL, "center"): "centrally|centered|centred",
    (Topic.CELL, ALL_CELLS): "all regions|all quadrants|all areas|all nine regions|all nine cells|entire image"
    "|whole image|entire field|all nine areas|all parts|all sections|every region|every quadrant|all of the image"
    "|entire frame|whole frame|throughout the image|all over the image|across the image|entire field of view"
    "|all regions of the image|everywhere|whole field|throughout the field|across all regions|all locations|all nine",
    (Topic.COLOR, "pink"): "pink|pinkish|rosy|rose",
    (Topic.COLOR, "red"): "red|reddish|reddened",
    (Topic.COLOR, "white"): "white|whitish",
    (Topic.COLOR, "yellow"): "yellow|yellowish",
    (Topic.COLOR, "flesh"): "flesh|fleshy|flesh colored|flesh coloured|flesh toned|skin colored|flesh tone",
    (Topic.COLOR, "brown"): "brown|brownish",
    (Topic.COLOR, "orange"): "orange|orangish",
    (Topic.COLOR, "grey"): "grey|gray|greyish|grayish",
    (Topic.COLOR, "black"): "black|blackish",
    (Topic.COLOR, "blue"): "blue|bluish",
    (Topic.COLOR, "green"): "green|greenish",
    (Topic.COLOR, "purple"): "purple|purplish|violet",
    (Topic.COLOR, "?tan"): "tan|beige",
    (Topic.COLOR, "?cream"): "cream|creamy",
    (Topic.COLOR, "?gold"): "gold|golden",
    (Topic.PARIS, "paris ip"): "ip|pedunculated|0 ip|paris ip|type ip|paris 0 ip|stalked|paris type ip|paris type 0 ip",
    (Topic.PARIS, "paris is"): "paris is|0 is|type is|paris 0 is|sessile|class is|paris type is|paris class is"
    "|paris classification is|paris type 0 is|category is|paris category is",
    (Topic.PARIS, "paris iia"): "iia|0 iia|paris iia|type iia|paris 0 iia|ii a|0 ii a|paris ii a|type ii a"
    "|slightly elevated|flat elevated|2a|paris 2a|0 2a|paris type iia|paris type ii a|superficial elevated"
    "|superficially elevated",
    (Topic.PARIS, "?isp"): "isp|0 isp|paris isp|semipedunculated|subpedunculated|semi pedunculated|sub pedunculated"
    "|paris 0 isp",
    (Topic.PARIS, "?iib"): "iib|0 iib|paris iib|ii b|paris 0 iib|completely flat",
    (Topic.PARIS, "?iic"): "iic|0 iic|paris iic|ii c|paris 0 iic",
    (Topic.PARIS, "?iii"): "0 iii|paris iii|excavated|paris 0 iii",
    (Topic.PROCEDURE, "colonoscopy"): "colonoscopy|colonoscopic|colonoscope|coloscopy"
    "|lower gastrointestinal endoscopy|lower gi endoscopy|lower endoscopy|colonoscopies|ileocolonoscopy",
    (Topic.PROCEDURE, "gastroscopy"): "gastroscopy|gastroscopic|gastroscope|upper gastrointestinal endoscopy"
    "|upper gi endoscopy|upper endoscopy|egd|ogd|esophagogastroduodenoscopy|oesophagogastroduodenoscopy"
    "|upper gastrointestinal endoscopic|upper endoscopic|gastric endoscopy|esophagoscopy|oesophagoscopy"
    "|upper digestive endoscopy|esophagogastroscopy|upper gi endoscopic",
    (Topic.PROCEDURE, "capsule endoscopy"): "capsule endoscopy|video capsule endoscopy|wireless capsule endoscopy"
    "|video capsule|capsule endoscopic|wireless capsule|capsule",
    (Topic.PROCEDURE, "?sigmoidoscopy"): "sigmoidoscopy|flexible sigmoidoscopy|rectoscopy|proctoscopy",
    (Topic.PROCEDURE, "?bronchoscopy"): "bronchoscopy|bronchoscopic",
    (Topic.PROCEDURE, "?laryngoscopy"): "laryngoscopy|laryngoscopic",
    (Topic.PROCEDURE, "?laparoscopy"): "laparoscopy|laparoscopic",
    (Topic.REMOVED, "event"): "removal|excision|resection|polypectomy|removals|excisions|resections|polyp removal"
    "|removal of polyps|polyp excision|polyp resection|removal of the polyp|removal of polyp|polypectomies"
    "|polyp removals",
}
_BIOPSY_FORCEPS = (
    "biopsy forceps|forceps|biopsy forcep+|biopsy grasping forceps|endoscopic biopsy forceps|biopsy tool+"
    "|biopsy instrument+|forceps biopsy|forcep|pair of biopsy forceps|a pair of biopsy forceps|pair of forceps"
    "|a pair of forceps|biopsy forceps instrument+|biopsy forceps device+"
)
_OUTSIDE = {
    Topic.DISEASE: "ulcer+|ulceration+|tumor+|tumour+|cancer+|carcinoma+|malignancy+|diverticulosis|gastritis"
    "|duodenitis|erosion+|stricture+|angiodysplasia+|crohn's disease|crohns disease|neoplasm+|bleeding|hemorrhage+"
    "|diverticulitis|ileitis|angioectasia+|cyst+|lipoma+|papilloma+|metaplasia+",
    Topic.INSTRUMENT: "endoscope+|scope+|grasper+|grasping tool+|grasping forceps|catheter+|stent+|scalpel+|balloon+"
    "|basket+|knife|net+|retrieval net+|laparoscope+|camera+|trocar+|scissors|suture+|cautery|guidewire+|guide wire+"
    "|duodenoscope+|brush|cytology brush|transparent cap+|band ligator+|hot biopsy forceps|clamp+|needle knife|swab+"
    "|gauze|syringe+|probe+|dilator+|pill camera+",
    Topic.PLACE: "esophagus|oesophagus|stomach|colon|rectum|duodenum|antrum|fundus|sigmoid colon|sigmoid|larynx"
    "|pharynx|trachea|appendiceal orifice|ileocecal valve|splenic flexure|hepatic flexure|transverse colon"
    "|ascending colon|jejunum|descending colon|small bowel|small intestine|large intestine|large bowel|vocal cords"
    "|nasal septum|duodenal bulb|papilla|ampulla|gastric body|cardia|anus|anal canal|dentate line|gastric antrum"
    "|appendix|epiglottis|bowel|uvula|gastric fundus|nasopharynx|airway|bronchus|carina|angulus|incisura|gallbladder"
    "|liver|bladder|right colon|left colon",
    Topic.COLOR: "magenta|maroon|salmon|peach",
    Topic.PROCEDURE: "enteroscopy|ercp|cystoscopy|hysteroscopy|duodenoscopy",
}
_ROWS = {
    "upper": "upper|top|superior|uppermost",
    "lower": "lower|bottom|inferior|lowermost",
    "center": "center|middle|central|mid|centre",
}
_COLUMNS = {
    "left": "left|leftmost",
    "right": "right|rightmost|rigth",
    "center": "center|middle|central|centre|mid",
}
_OTHER_ARTIFACTS = "motion|light|reflection|specular|blur|compression|noise|bubble|glare|lighting"
"""Artifacts of these kinds are not the box."""


def _cells() -> Iterator[Entry]:
    """Yield the names of cells: "upper left", "left upper", and rows and columns by themselves."""
    for row, row_words in _ROWS.items():
        for word in row_words.split("|"):
            yield word, Tag(Kind.THING, Topic.CELL, f"*{row}")
        for column, column_words in _COLUMNS.items():
            cell = "center" if row == column else f"{row}-{column}"
            for first in row_words.split("|"):
                for second in column_words.split("|"):
                    yield f"{first} {second}", Tag(Kind.THING, Topic.CELL, cell)
                    if second != "central":  # "the central upper region" names two cells, "upper central" one
                        yield f"{second} {first}", Tag(Kind.THING, Topic.CELL, cell)
    for column in ("left", "right"):
        for word in _COLUMNS[column].split("|"):
            for phrase in (word, f"{word} hand", f"{word} hand side"):
                yield phrase, Tag(Kind.THING, Topic.CELL, f"*{column}")


def _barretts() -> Iterator[Entry]:
    """Yield the names of Barrett's oesophagus, with and without its length."""
    for barrett in ("barrett's", "barretts", "barrett"):
        for tissue in ("", " esophagus", " oesophagus", " epithelium", " mucosa", " segment", " metaplasia"):
            name = barrett + tissue
            yield name, Tag(Kind.THING, Topic.DISEASE, "barretts")
            yield f"long segment {name}", Tag(Kind.THING, Topic.DISEASE, "barretts")
            yield f"short segment {name}", Tag(Kind.THING, Topic.DISEASE, "short-segment barretts")
            yield f"short {name}", Tag(Kind.THING, Topic.DISEASE, "short-segment barretts")


def _entries() -> Iterator[Entry]:
    for topic, phrases in _GENERIC.items():
        for phrase, plural in spelled(phrases):
            yield phrase, Tag(Kind.THING, topic, "", plural)
    yield "areas of abnormality", Tag(Kind.THING, Topic.FINDING, "", True)
    for (topic, label), phrases in _LABELLED.items():
        for phrase, plural in spelled(phrases):
            yield phrase, Tag(Kind.THING, topic, label, plural)
    for phrase, _ in spelled(_BIOPSY_FORCEPS):  # forceps are one instrument and look like a plural
        yield phrase, Tag(Kind.THING, Topic.INSTRUMENT, "biopsy forceps")
    for topic, phrases in _OUTSIDE.items():
        for phrase in phrases.split("|"):
            for form, plural in spelled(phrase):
                yield form, Tag(Kind.THING, topic, f"?{phrase.rstrip('+')}", plural)
    yield from _cells()
    yield from _barretts()
    for light in _OTHER_ARTIFACTS.split("|"):
        for noun in ("artifact", "artifacts", "artefact", "artefacts"):
            yield f"{light} {noun}", Tag(Kind.UNKNOWN)


THING_WORDS: tuple[Entry, ...] = tuple(_entries())
"""All words for things."""
