"""Wordings that a first reading gets wrong, grouped by what is difficult about them.

Own wordings; the values were worked out by hand. "-": no value can be read for that part, so the answer is
wrong whatever the reference.
"""

from typing import NamedTuple

import pytest

from backend.endoca.scoring.reader import read_answer


class Asked(NamedTuple):
    """A question with the classes of its atoms."""

    question: str
    classes: tuple[str, ...]


TEXT = Asked("Is any text visible?", ("text_presence",))
FINDING = Asked("Is anything abnormal visible?", ("finding_presence",))
POLYPS = Asked("How many polyps can be seen?", ("polyp_count",))
ANY_POLYPS = Asked("Are any polyps visible?", ("polyp_count",))
FINDINGS = Asked("How many findings are there?", ("finding_count",))
REMOVED = Asked("Have all polyps been removed?", ("polyp_removal_status",))
REMAINING = Asked("Is there evidence of remaining polyps?", ("polyp_removal_status",))
INSTRUMENTS = Asked("Which instruments can be seen?", ("instrument_presence",))
LANDMARKS = Asked("Which anatomical landmarks can be seen?", ("landmark_presence",))
BOX_TEXT = Asked(
    "Are there any box artifacts and is there any text in the image?", ("box_artifact_presence", "text_presence")
)
FINDINGS_POLYPS = Asked("How many findings are there and how many polyps?", ("finding_count", "polyp_count"))
THREE = Asked(
    "Which instruments are visible, is there any text, and how many polyps are there?",
    ("instrument_presence", "text_presence", "polyp_count"),
)

CASES: dict[str, list[tuple[Asked, str, str]]] = {
    "numbers behind a comma that break the total down": [
        (POLYPS, "Two polyps, one sessile.", "2"),
        (POLYPS, "Two polyps, one sessile and one pedunculated.", "2"),
        (POLYPS, "Three polyps, two of them flat, one raised.", "3"),
        (POLYPS, "Two sessile polyps and one pedunculated polyp.", "3"),
        (FINDINGS_POLYPS, "Two findings, one polyp.", "2 | 1"),
    ],
    "a value behind a predicate and a colon": [
        (TEXT, "Text seen: no", "no"),
        (TEXT, "Text seen: yes", "yes"),
        (TEXT, "Text visible: none", "no"),
        (POLYPS, "Polyps seen: 3", "3"),
        (INSTRUMENTS, "Instruments identified: none", "no"),
        (BOX_TEXT, "No box artifact, text: yes", "no | yes"),
        (BOX_TEXT, "No box artifact, text yes", "no | yes"),
        (BOX_TEXT, "No box artifact, readable overlay, visible text", "no | yes"),
    ],
    "one word for all parts": [
        (BOX_TEXT, "No to both of these.", "no | no"),
        (BOX_TEXT, "Yes to both.", "yes | yes"),
        (BOX_TEXT, "Both: no.", "no | no"),
        (BOX_TEXT, "Both missing", "no | no"),
        (BOX_TEXT, "None of these.", "no | no"),
        (BOX_TEXT, "No and no", "no | no"),
        (BOX_TEXT, "Yes and no", "- | -"),
        (BOX_TEXT, "Yes, neither.", "- | -"),
        (BOX_TEXT, "Not both.", "- | -"),
        (THREE, "No to all.", "no | no | 0"),
        (THREE, "None of them can be seen.", "no | no | 0"),
        (THREE, "Neither.", "- | - | -"),
    ],
    "the part named in brackets or in its own object": [
        (BOX_TEXT, "yes (text), no (box artifact)", "no | yes"),
        (BOX_TEXT, "No (box artifact); Yes (text)", "no | yes"),
        (THREE, "none (instruments), yes (text), 2 (polyps)", "no | yes | 2"),
        (
            BOX_TEXT,
            '[{"question": "text", "answer": "yes"}, {"question": "box artifact", "answer": "no"}]',
            "no | yes",
        ),
        (BOX_TEXT, '[{"answer": "no"}, {"answer": "yes"}]', "no | yes"),
    ],
    "numbers joined by and": [
        (FINDINGS_POLYPS, "Three and two, respectively.", "3 | 2"),
        (FINDINGS_POLYPS, "3 and 2", "3 | 2"),
        (FINDINGS_POLYPS, "two, one, respectively", "2 | 1"),
    ],
    "numbers that name or place something": [
        (POLYPS, "Two polyps, at 4 and 8 o'clock", "2"),
        (POLYPS, "Polyp #1 and polyp #2 are sessile.", "2"),
        (POLYPS, "Aged 61, one polyp", "1"),
        (POLYPS, "#2", "-"),
    ],
    "items of what was counted": [
        (FINDINGS, "Three findings: an ulcerated lesion, a nodule and a reddened area", "3"),
        (POLYPS, "Two polyps: one pedunculated, the other flat", "2"),
        (POLYPS, "Three polyps, the first large, the second tiny", "3"),
        (POLYPS, "I see two: one in the upper left and one in the center.", "2"),
        (POLYPS, "One polyp in the center, the second at the bottom", "2"),
        (POLYPS, "Polyps: 2 on the left, 1 on the right", "-"),
        (POLYPS, "Sessile polyp and pedunculated polyp", "2"),
    ],
    "both": [
        (POLYPS, "Both polyps are small.", "2"),
        (POLYPS, "Both polyps and text are visible.", "-"),
    ],
    "bounds behind the count": [
        (POLYPS, "three polyps at most", "-"),
        (POLYPS, "one polyp or so", "-"),
        (POLYPS, "two polyps, approximately", "-"),
    ],
    "a count without its noun": [
        (ANY_POLYPS, "Yes, there are three of them.", "3"),
        (POLYPS, "Not any", "0"),
        (POLYPS, "Not a single one.", "0"),
    ],
    "or maybe": [
        (TEXT, "No text, or perhaps a word in the corner", "-"),
        (POLYPS, "two polyps or possibly three", "-"),
        (INSTRUMENTS, "biopsy forceps or maybe a snare", "-"),
    ],
    "a sentence about a sentence": [
        (TEXT, "It is not true that text is shown.", "no"),
        (TEXT, "It is false that there is no text.", "yes"),
        (TEXT, "It is true that no text is shown.", "no"),
        (TEXT, "Not only text but also a logo is shown.", "yes"),
    ],
    "the opposite in one breath": [
        (TEXT, "Text is seen and not seen.", "-"),
        (TEXT, "Text is seen. No text is seen.", "-"),
    ],
    "normal": [
        (FINDING, "Normal findings", "no"),
        (FINDING, "Normal findings apart from a small polyp", "yes"),
        (FINDING, "Normal except for an ulcer", "yes"),
        (FINDING, "Normal mucosa and a lesion", "-"),
    ],
    "removal in one word or by its event": [
        (REMOVED, "Completely", "yes"),
        (REMOVED, "Complete.", "yes"),
        (REMOVED, "Not complete", "no"),
        (REMOVED, "The polypectomy was not completed.", "no"),
        (REMOVED, "No polyps remain after polypectomy.", "not_applicable or yes"),
        (REMAINING, "No polyp remains after the resection.", "not_applicable or yes"),
        (REMOVED, "No, there are no polyps at all.", "not_applicable"),
        (REMOVED, "No, all polyps were removed.", "-"),
    ],
    "quoted labels and quoted overlay": [
        (LANDMARKS, 'This is the "z-line".', "z-line"),
        (POLYPS, 'One polyp; the overlay reads "3 polyps".', "1"),
        (TEXT, 'Yes, it reads "no entry".', "yes"),
    ],
    "wrapping of chat templates and of HTML": [
        (TEXT, "No<|im_end|>", "no"),
        (TEXT, "<|assistant|>Yes<end_of_turn>", "yes"),
        (BOX_TEXT, "No box artifact<br>Text shown", "no | yes"),
        (BOX_TEXT, "<ul><li>Box artifact: no</li><li>Text: yes</li></ul>", "no | yes"),
    ],
}
ROWS = [(*row, kind) for kind, rows in CASES.items() for row in rows]


@pytest.mark.parametrize(("asked", "answer", "values", "kind"), ROWS, ids=[f"{row[3]}: {row[1]}" for row in ROWS])
def test_a_rare_wording_is_read_as_a_careful_reader_would(asked: Asked, answer: str, values: str, kind: str) -> None:
    readings = read_answer(asked.question, asked.classes, answer)
    assert " | ".join(r.parsed or "-" for r in readings) == values, [r.reason for r in readings]


def test_a_yes_or_no_before_more_words_answers_a_question_outside_the_eighteen_classes() -> None:
    (reading,) = read_answer("Is it easy to find?", ("?categorical",), "Yes, easily found")
    assert reading.parsed == "yes"
