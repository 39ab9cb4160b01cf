"""The built-in examples of VeriMap: atomic questions about drawn frames, each with its task.

Two of the seven tasks are not among them: a drawn frame leaves nothing to tell apart by
knowledge (differential diagnosis) and nothing to explain (causal explanation).
"""

__all__ = ["EXAMPLE_FRAMES", "TASKS", "demo_examples", "put_demo_examples"]

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from backend.demo import files
from backend.domain.progress import Report, silent
from backend.endoca.vocabulary import BY_NAME, QuestionType
from backend.services.demo.questions import verifications
from backend.services.demo.shipped import DEMO, MIRAGE_SUITE
from backend.services.demo.synthetic import SYNTHETIC
from backend.services.ingest.log import write_log
from backend.services.ingest.report import ImportReport
from backend.services.ingest.verimap_suites import SuiteExample, put_examples, stored_examples
from backend.store.store import Store
from backend.verimap.examples import AnswerType
from backend.verimap.vocabulary import Task

EXAMPLE_FRAMES = 200
"""Test frames whose questions are examples, from the first."""

TASKS: Mapping[str, Task] = MappingProxyType(
    {
        "text_presence": Task.MODALITY_RECOGNITION,
        "box_artifact_presence": Task.MODALITY_RECOGNITION,
        "landmark_presence": Task.ANATOMICAL_IDENTIFICATION,
        "abnormality_location": Task.SPATIAL_LOCALIZATION,
        "instrument_location": Task.SPATIAL_LOCALIZATION,
        "finding_count": Task.QUANTITATIVE_MEASUREMENT,
        "polyp_count": Task.QUANTITATIVE_MEASUREMENT,
        "abnormality_presence": Task.DISEASE_CLASSIFICATION,
        "polyp_removal_status": Task.DISEASE_CLASSIFICATION,
    }
)
"""Question class → what it asks for. Text and box were laid over the frame by the recording; which instrument is
seen is none of the seven."""


def demo_examples(folder: Path = DEMO) -> list[SuiteExample]:
    """Return the examples of a built-in data set's folder, in the order of their frames."""
    found = []
    for one in verifications(folder):
        image = PurePosixPath(one.image)
        task = TASKS.get(one.question_class)
        if task is None or int(image.stem.rpartition("-")[2]) > EXAMPLE_FRAMES:
            continue
        is_set = BY_NAME[one.question_class].type in (QuestionType.CATEGORICAL, QuestionType.MULTI_LABEL)
        found.append(
            SuiteExample(
                source_id=one.id,
                images=(image.name,),
                question=one.question,
                reference=one.reference,
                split="test",
                answer_type=AnswerType.SET if is_set else AnswerType.CLOSED,
                native_types=(one.question_class,),
                task=task,
                labelled_by="file",
            )
        )
    return found


def put_demo_examples(store: Store, folder: Path = DEMO, report: Report = silent) -> ImportReport:
    """Put the examples into a store; what is there already stays as it is."""
    examples = demo_examples(folder)
    outcome = ImportReport("verimap", files.VERIFICATION)
    report("writing the examples", 0, len(examples))
    with store.write() as cursor:
        held = stored_examples(cursor, MIRAGE_SUITE)
        outcome.suites.append(put_examples(cursor, MIRAGE_SUITE, examples, held, files.VERIFICATION, dataset=SYNTHETIC))
        write_log(cursor, outcome)
    return outcome
