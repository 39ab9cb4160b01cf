"""The seven tasks of VeriMap, their groups, and the five data sets it is measured on.

The paper names two tasks in two ways (section 3.2 and Appendix A), and files shorten the names
further. All of them are read here and stand for one `Task`; its value is the name of section 3.2.
"""

__all__ = ["Dataset", "Task", "TaskGroup", "dataset_of_name", "task_of_name"]

import re
from enum import StrEnum
from types import MappingProxyType


class TaskGroup(StrEnum):
    """How much medical knowledge a task asks for (section 3.2)."""

    PERCEPTUAL = "perceptual"
    QUANTITATIVE = "quantitative"
    KNOWLEDGE_INTENSIVE = "knowledge-intensive"


class Task(StrEnum):
    """What a question asks for, in the order of the groups."""

    MODALITY_RECOGNITION = "modality_recognition"
    ANATOMICAL_IDENTIFICATION = "anatomical_identification"
    SPATIAL_LOCALIZATION = "spatial_localization"
    QUANTITATIVE_MEASUREMENT = "quantitative_measurement"
    DISEASE_CLASSIFICATION = "disease_classification"
    DIFFERENTIAL_DIAGNOSIS = "differential_diagnosis"
    CAUSAL_EXPLANATION = "causal_explanation"

    @property
    def label(self) -> str:
        """For people: the value with spaces."""
        return self.value.replace("_", " ")

    @property
    def group(self) -> TaskGroup:
        """The group the paper puts the task in."""
        if self in _PERCEPTUAL:
            return TaskGroup.PERCEPTUAL
        return TaskGroup.QUANTITATIVE if self is Task.QUANTITATIVE_MEASUREMENT else TaskGroup.KNOWLEDGE_INTENSIVE

    @property
    def covers(self) -> str:
        """What the task covers, as the rest of a sentence that begins "Questions about" (Appendix A)."""
        return _COVERS[self]


class Dataset(StrEnum):
    """The data sets whose published formats are read; the values are those of ``--dataset``."""

    VQA_RAD = "vqa-rad"
    SLAKE = "slake"
    PATHVQA = "pathvqa"
    PMC_VQA = "pmc-vqa"
    MEDXPERTQA = "medxpertqa"

    @property
    def label(self) -> str:
        """As the paper writes it."""
        return _DATASET_LABELS[self]


def task_of_name(name: str) -> Task | None:
    """Return the task that a name stands for, None where it stands for none.

    Case, spaces, hyphens and underscores are no matter. Known are the values, Appendix A's names
    (spatial reasoning, causal reasoning) and the short forms (modality, anatomy, spatial,
    quantitative, disease, differential, causal).
    """
    return _TASK_NAMES.get(_folded(name))


def dataset_of_name(name: str) -> Dataset | None:
    """Return the data set that a name stands for, however it is spaced and capitalised; None for any other."""
    return _DATASET_NAMES.get(_folded(name))


def _folded(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()


_PERCEPTUAL = (Task.MODALITY_RECOGNITION, Task.ANATOMICAL_IDENTIFICATION, Task.SPATIAL_LOCALIZATION)

_COVERS = MappingProxyType(
    {
        Task.MODALITY_RECOGNITION: "how the image was acquired",
        Task.ANATOMICAL_IDENTIFICATION: "which organ, structure or region is depicted",
        Task.SPATIAL_LOCALIZATION: "location, orientation, laterality or relative position",
        Task.QUANTITATIVE_MEASUREMENT: "counts, sizes and other judgments of number",
        Task.DISEASE_CLASSIFICATION: "the presence of a pathology, finding or diagnostic category",
        Task.DIFFERENTIAL_DIAGNOSIS: "which of several plausible conditions it is",
        Task.CAUSAL_EXPLANATION: "mechanism, cause or clinical implication of what is seen",
    }
)

_SHORT_FORMS = MappingProxyType(
    {
        Task.MODALITY_RECOGNITION: ("modality", "imaging modality"),
        Task.ANATOMICAL_IDENTIFICATION: ("anatomical", "anatomy", "anatomy identification"),
        Task.SPATIAL_LOCALIZATION: ("spatial", "spatial reasoning", "spatial localisation"),
        Task.QUANTITATIVE_MEASUREMENT: ("quantitative", "measurement", "quantitative reasoning"),
        Task.DISEASE_CLASSIFICATION: ("disease", "disease identification"),
        Task.DIFFERENTIAL_DIAGNOSIS: ("differential", "differential reasoning"),
        Task.CAUSAL_EXPLANATION: ("causal", "causal reasoning"),
    }
)

_TASK_NAMES = MappingProxyType(
    {_folded(name): task for task, short in _SHORT_FORMS.items() for name in (task.value, *short)}
)

_DATASET_LABELS = MappingProxyType(
    {
        Dataset.VQA_RAD: "VQA-RAD",
        Dataset.SLAKE: "SLAKE",
        Dataset.PATHVQA: "PathVQA",
        Dataset.PMC_VQA: "PMC-VQA",
        Dataset.MEDXPERTQA: "MedXpertQA",
    }
)

_DATASET_NAMES = MappingProxyType({_folded(dataset.value): dataset for dataset in Dataset})
