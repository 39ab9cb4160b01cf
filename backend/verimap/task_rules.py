"""Tasks proposed from a question's words, for data sets that nobody has labelled yet.

A proposal is no label of the paper's, whose labels come from three VLMs: it names the rule that made
it and is stored as proposed. A question that says too little ("what is present?") gets none.
"""

__all__ = ["Proposal", "propose_task"]

import re
from typing import NamedTuple

from backend.verimap.vocabulary import Task


class Proposal(NamedTuple):
    """A task and the rule that proposed it."""

    task: Task
    rule: str
    """Name of the rule, for people."""


_ORGANS = (
    r"(?:lungs?|livers?|spleen|kidneys?|heart|brain|brian|bladder|stomach|pancreas|intestines?|bowels?|colon|rectum|"
    r"esophagus|oesophagus|trachea|larynx|aorta|uterus|ovary|ovaries|prostate|testis|thyroid|skin|bones?|joints?|"
    r"spinal cord|spine|vertebra[el]?|ribs?|eyes?|mandibles?|parotids?|gallbladder|diaphragm|mediastinum|chest|head|"
    r"neck|abdomen|pelvis|pelvic cavity|thorax|pituitary|hepatobiliary|cardiovascular|endocrine|gastrointestinal|"
    r"nervous|respiratory|urinary|hematologic|oral|female reproductive|male reproductive)"
)
_MODALITIES = (
    r"(?:ct|cta|mri|mr|mra|pet|x-?rays?|xrays?|radiographs?|plain films?|ultrasounds?|sonograms?|angiograms?|"
    r"mammograms?|tomography|t1|t2|flair|dwi)"
)
_IMAGE = r"(?:images?|pictures?|scans?|stud(?:y|ies)|films?|slides?|figures?|photographs?|photos?)"

_RULES: tuple[tuple[str, Task, str], ...] = (
    (
        "several plausible conditions",
        Task.DIFFERENTIAL_DIAGNOSIS,
        r"\bdifferentials?\b|\b(?:most (?:likely|probable|plausible)|likeliest|leading|possible|alternative|other)\b"
        r"(?: \w+){0,2} (?:diagnos[ie]s|etiology|condition|disease)|\bdistinguish\w*\b|\bddx\b"
        r"|\bruled? out\b|\bwhat else (?:might|could|can)\b",
    ),
    (
        "number, size or measure",
        Task.QUANTITATIVE_MEASUREMENT,
        r"\bhow (?:many|large|big|long|wide|tall|thick|deep|much larger|much bigger)\b|\bnumber of\b|\bcount\b"
        r"|\bwhat(?:'s| is| are)? the (?:\w+ )?(?:size|diameter|length|width|volume|ratio|thickness|dimensions?)\b"
        r"|^size of\b|\bmeasure\w*\b|\b(?:more|less|greater|fewer) than (?:one|two|half|\d)|[<>] ?\d"
        r"|\bmultiple or\b|\bone or (?:more|two|multiple|several)\b|\bsingle or\b"
        r"|\b(?:is|are) (?:the )?(?:bigger|smaller|larger|smallest|biggest|longer|shorter)\b"
        r"|\b(?:smaller or larger|larger or smaller)\b",
    ),
    (
        "does the image show, is it present",
        Task.DISEASE_CLASSIFICATION,
        rf"^(?:does|do) (?:this|the) (?:{_IMAGE}|person|patient) show\b(?! (?:normal )?{_ORGANS}\W*$)"
        rf"|^(?:is|are) (?!there\b)(?!(?:the )?{_ORGANS} present)(?!this\b).*\bpresent\W*$",
    ),
    (
        "cause, mechanism or consequence",
        Task.CAUSAL_EXPLANATION,
        r"^why\b|\bcaus(?:e|es|ed|ing|al)\b|\b(?:is|are|was|were) .*\bdue to what\b|\bmechanism\b|\ba?etiolog\w+\b"
        r"|\bresponsible for\b|\bexplains?\b|\breasons?\b|\bresult(?:s|ed)? (?:of|from|in)\b|\blead(?:s|ing)? to\b"
        r"|\btreat(?:ment|ed)?\b|\bprevent\w*\b|\bsymptoms?\b|\bcomplications?\b|\bprognosis\b|\bpredispos\w+\b"
        r"|\b(?:next|appropriate) (?:\w+ )?(?:step|management)\b|\bmanagement\b|\btherapy\b"
        r"|\brisks?\b|\bassociated with\b|\bimplications?\b|\bindicates?\b|\bfunctions?\b|(?<!mass )\beffects?\b"
        r"|\bdamage\b|\bused for\b|\bconsequences?\b|\bdeficits?\b|\bsuggested by\b",
    ),
    (
        "how the image was made",
        Task.MODALITY_RECOGNITION,
        rf"\bmodalit(?:y|ies)\b|\bweight(?:ed|ing)\b|\b(?:imaging|scanning) (?:technique|method|sequence|test)\b"
        rf"|\b(?:type|kind) of (?:\w+ )?(?:{_IMAGE}|imaging|mri|ct|contrast|stain|view|section)\b"
        rf"|\bhow (?:was|is|were|are) (?:this|the|these) (?:{_IMAGE}|{_MODALITIES})\b.*"
        r"\b(?:taken|acquired|obtained|made|done)\b"
        rf"|\bplanes?\b|\b(?:axial|coronal|sagittal|saggital|transverse) (?:section|view|image|slice|or)\b"
        rf"|\bcontrast\b(?! to)|\bwhat (?:sequence|stain|view)\b|\bsequence\b|\bmagnification\b"
        rf"|^(?:is|was) (?:this|the|it)(?: {_IMAGE})? (?:an? |the )?(?:\w+[- ]){{0,3}}{_MODALITIES}\b"
        rf"|\b(?:taken|acquired|obtained|made|imaged) (?:via|by|with|using|on|in) (?:an? )?{_MODALITIES}\b"
        rf"|\b{_MODALITIES} or (?:an? )?{_MODALITIES}\b|\b(?:pa|ap)(?: or (?:pa|ap))? "
        r"(?:film|format|view|image|x-?ray|projection)",
    ),
    (
        "which organ, structure or region is depicted",
        Task.ANATOMICAL_IDENTIFICATION,
        r"\b(?:which|what) (?:is the )?(?:\w+ )?(?:organs?|structures?|anatom\w+|muscle|vessel|artery|vein|joint)\b"
        r"(?!.*\b(?:abnormal|lesion|mass|affected|involved)\b)|\borgan systems?\b"
        rf"|\b(?:part|region|area|portion) of the (?:human )?body\b|\bin the body\b|\bwhole body\b|^where is this\W*$"
        rf"|^where does (?:this|the {_IMAGE}) (?:belong|represent|show)|^where does the {_IMAGE}\b"
        rf"|\bbody part\b|\bwhich is the {_ORGANS}|\b(?:contain|include|visuali[sz]ed?)\b.*\b(?:organ|{_ORGANS})"
        rf"|^(?:is|are) (?:this|the {_IMAGE}) (?:an? |the )?(?:{_IMAGE} )?(?:of |showing )?(?:the )?{_ORGANS}\b\W*$"
        rf"|\b(?:stud(?:y|ies)|{_IMAGE}) of (?:the )?{_ORGANS}\b|\bdo (?:any of )?the organs\b|\borgans?/organs?\b"
        rf"|^which organs\b|^(?:is|are) (?:the )?{_ORGANS} present"
        rf"|^does (?:this|the) {_IMAGE} show (?:the )?{_ORGANS}\W*$"
        rf"|\bwhat (?:is|are) the (?:\w+ ){{0,3}}organs?\b"
        rf"|^(?:is|are|does|do) (?:the )?(?:\w+ )?{_ORGANS} (?:visuali[sz]ed|visible|seen|exist)\b",
    ),
    (
        "where, which side, how oriented",
        Task.SPATIAL_LOCALIZATION,
        r"\bwhere\b|\bwhich (?:sides?|lobe|lung|hemisphere|quadrant|part|kidney|area|region|ventricle)\b"
        r"|\bwhat (?:sides?|lobe|hemisphere|quadrant|part|area|region|location|level)\b|\blocat(?:ed|ion)\b"
        r"|\b(?:left|right|anterior|posterior|superior|inferior|medial|lateral)(?:,| side)? or (?:the )?"
        r"(?:left|right|anterior|posterior|superior|inferior|medial|lateral)\b|\bleft, right\b"
        r"|\b(?:unilateral|bilateral)\b|\borient\w+\b|\bposition(?:ed|ing)?\b|\bsupine\b|\bprone\b|\brotated\b"
        r"|\b(?:lateral|medial|posterior|anterior|adjacent|superior|inferior|deep|superficial|proximal|distal) to\b"
        r"|\b(?:above|below|beneath|behind|in front of)\b|\bsupratentorial\b|\bpoints? to\b",
    ),
    (
        "finding, disease or normality",
        Task.DISEASE_CLASSIFICATION,
        r"\b(?:ab)?normal(?:it(?:y|ies)|ly)?\b|\bdiseases?\b|\bpatholog\w+\b|\bdiagnos\w+\b|\bhealthy\b|\bfindings?\b"
        r"|\blesions?\b|\bmass(?:es)?\b|\btumou?rs?\b|\bnodules?\b|\bevidence of\b|\bconditions?\b|\bwrong\b"
        r"|\bwhat (?:is|are) (?:seen|shown|visible|the (?:opacity|bleed|density))\b|\benlarged\b|\bdilat\w+\b"
        r"|^(?:is|are|was|were|does|do|has|have|can|could|did) |^is/are\b",
    ),
)
"""Rule, task, and the words that call for it; the first rule whose words are there decides."""

_COMPILED = tuple((rule, task, re.compile(words, re.IGNORECASE)) for rule, task, words in _RULES)


def propose_task(question: str) -> Proposal | None:
    """Return the task that a question's words call for, None where they say too little.

    Args:
        question: In English, without its options.
    """
    plain = " ".join(question.replace("’", "'").split())
    return next((Proposal(task, rule) for rule, task, words in _COMPILED if words.search(plain)), None)
