"""Promises of kinship: a relative is named by the list of VLMs, or by the size in its name, and by nothing else."""

import pytest

from backend.services.verimap_kinship import Kinship, Relation, relations


@pytest.mark.parametrize(
    ("vlms", "expected"),
    [
        (["Gemma-3", "MedGemma"], [Relation("Gemma-3", "MedGemma", Kinship.ADAPTED)]),
        (["lingshu", "Qwen2.5-VL-7B-Instruct"], [Relation("Qwen2.5-VL-7B-Instruct", "lingshu", Kinship.ADAPTED)]),
        (["Qwen2.5-VL-32B", "Qwen2.5-VL-7B"], [Relation("Qwen2.5-VL-7B", "Qwen2.5-VL-32B", Kinship.SCALED)]),
        (["MedGemma-4B-it", "medgemma-27b-it"], [Relation("MedGemma-4B-it", "medgemma-27b-it", Kinship.SCALED)]),
        (["Tiny 0.5B", "Tiny 3B"], [Relation("Tiny 0.5B", "Tiny 3B", Kinship.SCALED)]),
        (["Qwen2.5-VL-7B", "Qwen3-VL-8B"], []),
        (["MedGemma-FT", "MedGemma-27B"], []),
        (["A-7B", "A-7b"], []),
        (["B7", "B32"], []),
        (["Gemma-3"], []),
        ([], []),
    ],
)
def test_relatives_are_found_by_list_and_by_size(vlms: list[str], expected: list[Relation]) -> None:
    assert relations(vlms) == expected
