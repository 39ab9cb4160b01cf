"""The seven tasks, their groups and their names."""

import pytest

from backend.verimap.vocabulary import Dataset, Task, TaskGroup, dataset_of_name, task_of_name


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("modality_recognition", Task.MODALITY_RECOGNITION),
        ("Modality", Task.MODALITY_RECOGNITION),
        ("anatomy", Task.ANATOMICAL_IDENTIFICATION),
        ("spatial reasoning", Task.SPATIAL_LOCALIZATION),
        ("Spatial-Localization", Task.SPATIAL_LOCALIZATION),
        ("quantitative", Task.QUANTITATIVE_MEASUREMENT),
        ("disease", Task.DISEASE_CLASSIFICATION),
        ("DIFFERENTIAL DIAGNOSIS", Task.DIFFERENTIAL_DIAGNOSIS),
        ("causal_reasoning", Task.CAUSAL_EXPLANATION),
        ("causal", Task.CAUSAL_EXPLANATION),
        ("overall", None),
        ("", None),
    ],
)
def test_a_task_is_known_by_both_of_the_papers_names_and_by_short_forms(name: str, task: Task | None) -> None:
    assert task_of_name(name) is task


def test_three_tasks_are_perceptual_one_is_quantitative_and_three_need_knowledge() -> None:
    assert [task.group for task in Task] == [
        *[TaskGroup.PERCEPTUAL] * 3,
        TaskGroup.QUANTITATIVE,
        *[TaskGroup.KNOWLEDGE_INTENSIVE] * 3,
    ]


def test_every_task_says_what_it_covers() -> None:
    assert len({task.covers for task in Task}) == len(Task)


def test_a_data_set_is_known_by_its_option_and_by_the_papers_name() -> None:
    for dataset in Dataset:
        assert dataset_of_name(dataset.value) is dataset_of_name(dataset.label) is dataset
    assert dataset_of_name("VQA-Med") is None
