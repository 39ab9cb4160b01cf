"""Answers to questions with several parts: which words answer which part.

Own wordings, worked out by hand. Values stand in the order of the classes, separated by "|"; a dash stands for
a part that is not answered so that it can be scored.
"""

import pytest

from backend.endoca.scoring.reader import read_answer

CASES: dict[tuple[str, str], list[tuple[str, str]]] = {
    ("Is there any text and are there any green or black box artifacts?", "text_presence box_artifact_presence"): [
        ("Yes, there is text but no box artifact.", "yes | no"),
        ("No, No", "no | no"),
        ("Yes and no", "- | -"),
        ("No", "- | -"),
        ("Neither is visible.", "no | no"),
        ("Both are present.", "yes | yes"),
        ("Text: yes, Box artifact: no", "yes | no"),
        ("**Text:** Yes\n**Box artifacts:** No", "yes | no"),
        ("Text yes, box no.", "yes | no"),
        ("Text and box artifacts are absent.", "no | no"),
        ("Possibly text, but no boxes.", "- | no"),
        ("No text is visible, and a black box is present.", "no | yes"),
        ("There is neither text nor a box.", "no | no"),
        ("Is there text? Yes. Is there a box artifact? No.", "yes | no"),
        ('["yes", "no"]', "yes | no"),
        ("(a) yes (b) no", "yes | no"),
        ("I'm unable to analyze medical images.", "- | -"),
        ("Not a box, but text.", "yes | no"),
        ("No text, black box present.", "no | yes"),
    ],
    ("Is there any text and are there any green or black box artifacts?", "box_artifact_presence text_presence"): [
        ("Yes; No", "no | yes"),
    ],
    (
        "Are there any instruments or anatomical landmarks visible in the image?",
        "instrument_presence landmark_presence",
    ): [
        ("None", "no | no"),
        ("No", "no | no"),
        ("Yes", "- | -"),
        ("The z-line is seen without any instruments.", "no | z-line"),
        ("A tube and the cecum", "tube | cecum"),
    ],
    ("How many polyps are present and how many instruments are visible?", "polyp_count instrument_count"): [
        ("1 and 2", "1 | 2"),
        ("2 instruments and 1 polyp", "1 | 2"),
        ("One polyp and no instruments", "1 | 0"),
        ("No polyps and one instrument", "0 | 1"),
        ('{"polyps": 0, "instruments": 1}', "0 | 1"),
    ],
    ("How many findings are present and how many polyps are visible?", "finding_count polyp_count"): [
        ("Three findings, two of which are polyps.", "3 | 2"),
        ("One of the two findings is a polyp.", "2 | 1"),
        ("Two findings, both polyps.", "2 | 2"),
        ("One finding, which is not a polyp.", "1 | 0"),
        ("2 findings", "2 | -"),
    ],
    ("Are there any polyps present and have they been completely removed?", "polyp_count polyp_removal_status"): [
        ("Two polyps are visible and have not been removed.", "2 | no"),
        ("No polyps, so removal is not relevant.", "0 | not_applicable"),
        ("0; not applicable", "0 | not_applicable"),
    ],
    (
        "Where is the instrument located and what type of instrument is visible?",
        "instrument_location instrument_presence",
    ): [
        ("Biopsy forceps in the lower right and center", "center;lower-right | biopsy forceps"),
        ("upper-left, center; tube", "center;upper-left | tube"),
        ("No instruments are visible.", "none | no"),
    ],
    ("Where are the abnormality and the instrument located?", "abnormality_location instrument_location"): [
        ("The polyp lies in the upper-left and the tube in the lower-right.", "upper-left | lower-right"),
    ],
    (
        "What is the size of the polyp, what type is it, and what procedure was performed?",
        "polyp_size polyp_type procedure_type",
    ): [
        ("A 7 mm pedunculated polyp seen during colonoscopy.", "5-10mm | paris ip | colonoscopy"),
        ("No polyp is visible in this gastroscopy.", "none | none | gastroscopy"),
    ],
    (
        "Are there any instruments, is there text, and how many polyps are there?",
        "instrument_presence text_presence polyp_count",
    ): [
        ("1. None\n2. Yes\n3. Zero", "no | yes | 0"),
        ("No instruments, text or polyps are seen.", "no | no | 0"),
        ("A tube is visible, there is no text, and 2 polyps are seen.", "tube | no | 2"),
        ("A tube is visible and two polyps are seen.", "tube | - | 2"),
        ("- Instruments: polyp snare\n- Text: present\n- Polyps: 1", "polyp snare | yes | 1"),
    ],
    ("What colors are the abnormalities and what color is the landmark?", "abnormality_color landmark_color"): [
        ("The abnormality is red, and the landmark is pink and white.", "red | pink;white"),
    ],
    (
        "Is there a green/black box artefact and what color is the abnormality?",
        "box_artifact_presence abnormality_color",
    ): [
        ("A green box is present and the lesion is pink.", "yes | pink"),
    ],
    ("Is there any abnormality and is there any text?", "finding_presence text_presence"): [
        ("The mucosa is normal and there is no text.", "no | no"),
    ],
    (
        "Are there any green or black box artifacts and is there visible text on the image?",
        "box_artifact_presence text_presence",
    ): [
        ("There are no box artifacts. Text is visible in the lower corner.", "no | yes"),
        ("The image contains neither green/black box artifacts nor text.", "no | no"),
        ("No box artifacts, no text", "no | no"),
        ("Green box: Yes\nText: Yes", "yes | yes"),
        ("Yes, there are green box artifacts and visible text.", "yes | yes"),
        ("Yes, there is a black box artifact; no visible text is present.", "yes | no"),
        ("No green or black box artifacts; visible text: yes", "no | yes"),
        ("- No\n- Yes", "no | yes"),
        ("No/Yes", "no | yes"),
        ("no yes", "- | -"),
        ("Box artifacts are present, but I cannot determine whether there is text.", "yes | -"),
        ("There are no green or black box artifacts and there is no visible text on the image.", "no | no"),
        ("No artifacts and no text; the image is clear.", "no | no"),
        ("A green box artifact containing text is visible.", "yes | yes"),
        ("Box artefacts but no text", "yes | no"),
        ("There are box artifacts, and there is no text.", "yes | no"),
        ("Text but no box", "no | yes"),
        ("Yes, both.", "yes | yes"),
        ("no; no", "no | no"),
        ("Box: No. Text: Yes.", "no | yes"),
        ("1) No 2) Yes", "no | yes"),
        ("No box artifacts are visible, whereas text is.", "no | yes"),
        ("No green or black box artifacts with visible text present.", "no | yes"),
        ("Yes for box artifacts, no for text", "yes | no"),
        ('{"answer": {"box artifacts": "yes", "visible text": "no"}}', "yes | no"),
        ("There is text and there are box artifacts; however, no text is visible.", "yes | -"),
    ],
    (
        "Are there any instruments visible, is there text present, and how many polyps are seen in the image?",
        "instrument_presence text_presence polyp_count",
    ): [
        ("There are no instruments, there is text in the corner, and there is one polyp.", "no | yes | 1"),
        ("Instruments visible: None\nText present: Yes\nNumber of polyps: 0", "no | yes | 0"),
        ('{"instruments": "none", "text": true, "polyp_count": 2}', "no | yes | 2"),
        ("No instruments or text are visible, and no polyps are seen.", "no | no | 0"),
        ("Tube, text, one polyp", "tube | yes | 1"),
        ("A tube and text are visible; polyps: none.", "tube | yes | 0"),
        ("Yes, yes, 1", "- | yes | 1"),
        ("Instruments – none; text – present; polyps – one", "no | yes | 1"),
        ("**Instruments:** Polyp snare, tube  \n**Text:** No  \n**Polyps:** 1", "polyp snare;tube | no | 1"),
        ("| Instruments | none |\n| Text | yes |\n| Polyps | 2 |", "no | yes | 2"),
        ("No instruments; yes, text; zero polyps", "no | yes | 0"),
        ("yes and no and 2", "- | - | -"),
        ("none, yes, 0", "no | yes | 0"),
        ("A polyp snare is present, text is visible, and there is one polyp.", "polyp snare | yes | 1"),
        ("No instruments, text present, no polyps", "no | yes | 0"),
        ("Instruments: none; Text: yes; Polyps: two", "no | yes | 2"),
        ("There are no instruments or polyps, but text is present.", "no | yes | 0"),
        ("There is text, but neither instruments nor polyps are visible.", "no | yes | 0"),
    ],
    ("How many findings are present and how many polyps are visible in the image?", "finding_count polyp_count"): [
        ("There are two findings in the image, one of them a polyp.", "2 | 1"),
        ("Two findings; both are polyps.", "2 | 2"),
        ("One polyp and one ulcer, so two findings.", "2 | 1"),
        ("There is one finding: one polyp.", "1 | 1"),
        ("3 findings, none of which are polyps", "3 | 0"),
        ("Two abnormalities are seen, but no polyps.", "2 | 0"),
        ("2 findings and several polyps", "2 | -"),
        ("2", "- | -"),
        ("Two findings and one polyp", "2 | 1"),
        ("1, 0", "1 | 0"),
        ("One abnormal finding, no polyps", "1 | 0"),
        ("2 findings (1 polyp, 1 ulcer)", "2 | 1"),
        ("Findings: 2; Polyps: 1", "2 | 1"),
        ("There are 2 findings, of which 1 is a polyp.", "2 | 1"),
        ("Three findings including one polyp.", "3 | 1"),
    ],
    ("Is there text and where is the instrument?", "text_presence instrument_location"): [
        ("Text in the upper-left, instrument in the lower-right.", "yes | lower-right"),
        ("Text is present in the upper-left corner and the tube lies in the center.", "yes | center"),
        ("No text. Instrument: center.", "no | center"),
        ("yes, center", "yes | center"),
    ],
    (
        "Is there a box artifact, how many polyps are there and what type?",
        "box_artifact_presence polyp_count polyp_type",
    ): [
        ("No box, one polyp, Paris Ip.", "no | 1 | paris ip"),
        ("No; 1; Ip", "no | 1 | paris ip"),
        ("A green box and two sessile polyps.", "yes | 2 | paris is"),
    ],
    (
        "Where are the instruments located, is there a green/black box artefact, and what instruments are visible?",
        "instrument_location box_artifact_presence instrument_presence",
    ): [
        ("center-right; upper-right; yes; tube", "center-right;upper-right | yes | tube"),
        ("center-right, upper-right, yes, tube", "center-right;upper-right | yes | tube"),
        ("center-right and upper-right; no; tube", "center-right;upper-right | no | tube"),
        (
            "A tube is in the center-right and upper-right; yes, there is a box.",
            "center-right;upper-right | yes | tube",
        ),
    ],
    ("Are there any instruments visible and where are they located?", "instrument_location instrument_presence"): [
        ("Tube, upper-left", "upper-left | tube"),
    ],
    (
        "Are there any polyps present and is there an instrument visible in the image?",
        "polyp_count instrument_location",
    ): [
        ("One polyp, no instrument.", "1 | none"),
        ("No polyps are seen, and the tube is in the upper-left.", "0 | upper-left"),
        ("No, no.", "0 | none"),
    ],
    ("How many findings are present and how many polyps are visible in the image?", "polyp_count finding_count"): [
        ("1, 0", "0 | 1"),
    ],
    ("Are there any polyps present, and have they been completely removed?", "polyp_count polyp_removal_status"): [
        ("One polyp, not removed", "1 | no"),
        ("Yes, one polyp is present and it has not been removed.", "1 | no"),
        ("No polyps are present.", "0 | not_applicable"),
    ],
    (
        "What instruments are visible and where are they located in the image?",
        "instrument_presence instrument_location",
    ): [
        (
            "Biopsy forceps and a tube are visible in the center and upper-left.",
            "biopsy forceps;tube | center;upper-left",
        ),
        ("tube; center-left, upper-left", "tube | center-left;upper-left"),
        ("A tube, located in the lower center", "tube | lower-center"),
    ],
    ("What is the size of the polyp and what color is it?", "polyp_size abnormality_color"): [
        ("6 mm and pink", "5-10mm | pink"),
        ("The polyp is pink and red and measures 11-20 mm.", "11-20mm | pink;red"),
    ],
    ("What type of polyp is present and what procedure was performed?", "polyp_type procedure_type"): [
        ("Paris Is, colonoscopy", "paris is | colonoscopy"),
    ],
    ("Is there any text and is there any abnormality?", "text_presence finding_presence"): [
        ("Text is visible; otherwise normal.", "yes | no"),
    ],
    (
        "Are there any anatomical landmarks, and is there a green/black box artefact?",
        "landmark_presence box_artifact_presence",
    ): [
        ("The cecum is visible together with a green box.", "cecum | yes"),
        ("No landmarks or boxes.", "no | no"),
    ],
    (
        "Are there any remaining polyps, green/black box artefacts, or text visible?",
        "polyp_removal_status box_artifact_presence text_presence",
    ): [
        ("No", "not_applicable or yes | no | no"),
        ("Only text is visible.", "- | - | yes"),
    ],
}


@pytest.mark.parametrize(
    ("question", "classes", "answer", "values"),
    [(question, classes, answer, values) for (question, classes), rows in CASES.items() for answer, values in rows],
)
def test_each_part_takes_the_words_that_answer_it(question: str, classes: str, answer: str, values: str) -> None:
    readings = read_answer(question, tuple(classes.split()), answer)
    assert " | ".join(r.parsed or "-" for r in readings) == values, [r.reason for r in readings]
