"""The test split in the box is whole, and says of every frame what can be seen in it."""

import gzip
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from backend.demo import held_out
from backend.demo.endoscopy import draw_endoscopy
from backend.demo.endoscopy_questions import DEMO_CLASSES, facts_of
from backend.demo.files import ENDOSCOPY, LAPAROSCOPY, MANIFEST, SCENE_GRAPHS, VERIFICATION
from backend.demo.held_out import FRAMES, draw_test_split, manifest_lines, verification_lines
from backend.demo.scenes import Split
from backend.domain.images import check_image
from backend.domain.progress import silent
from backend.domain.records import Role, Unit
from backend.endoca.paired_units import NumberedLine, UnitBuilder, parse_line
from backend.endoca.scoring import Atom, score_answer
from backend.endoca.vocabulary import BY_NAME, canonical_reference
from backend.errors import AppError
from backend.surgcheck.question_pairs import all_pairs
from backend.surgcheck.scene_graphs import read_scene_graphs
from tests.demo.material import facts_from, varied_facts

SHIPPED_MOST = 25_000_000
"""Bytes that data/ may take in all."""


@pytest.fixture(scope="module")
def shipped(root: Path) -> Path:
    return root / "data" / "demo"


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def units_of(lines: list[bytes]) -> tuple[list[Unit], UnitBuilder]:
    """The units that lines make at the gate of EndoCA's files."""
    builder = UnitBuilder("demo", fill_missing_atoms=False)
    for number, line in enumerate(lines, 1):
        builder.add(NumberedLine(number, parse_line(line), MANIFEST))
    return list(builder.build()), builder


@pytest.fixture(scope="module")
def units(shipped: Path) -> list[Unit]:
    found, builder = units_of(gzip.decompress((shipped / MANIFEST).read_bytes()).splitlines())
    assert not builder.bad_lines
    return found


@pytest.fixture(scope="module")
def verifications(shipped: Path) -> list[dict[str, Any]]:
    return lines_of(shipped / VERIFICATION)


@pytest.mark.parametrize("seed", range(5))
def test_a_frame_has_two_whole_units_of_every_complexity(seed: int) -> None:
    lines = [json.dumps(line).encode() for line in manifest_lines("synthetic-0008", 7, facts_from(seed))]
    units, builder = units_of(lines)
    assert not builder.bad_lines and builder.n_filled == 0
    assert Counter(unit.complexity for unit in units) == {1: 2, 2: 2, 3: 2}
    assert [unit.source_id for unit in units] == ["71", "72", "73", "74", "75", "76"]
    assert {(unit.split, unit.image.dataset, unit.image.file) for unit in units} == {
        ("test", "Synthetic endoscopy", "endoscopy/synthetic-0008.webp")
    }


def test_a_manifest_line_gives_each_reference_raw_and_as_endoca_parses_it() -> None:
    facts = facts_from(3)
    for line in manifest_lines("synthetic-0001", 0, facts):
        if line["probe_kind"] == "atomic_direct":
            name = line["gold_question_class"]
            assert (line["gold_answer"], line["question"]) == (facts[name], BY_NAME[name].question)
            assert line["gold_parsed"] == canonical_reference(name, facts[name])
        else:
            assert [atom["question_class"] for atom in line["gold_atoms"]] == line["question_class"]
            assert all(atom["raw_answer"] == facts[atom["question_class"]] for atom in line["gold_atoms"])


def test_answers_to_verify_are_the_reference_or_another_frames() -> None:
    facts = {f"f{number}": own for number, own in enumerate(varied_facts(40))}
    lines = list(verification_lines(facts))
    assert Counter(line["id"].split("::")[0] for line in lines) == dict.fromkeys(facts, held_out.VERIFIED)
    for line in lines:
        name, of = line["id"].split("::")
        assert line["reference"] == facts[name][of]
        assert line["correct"] == (line["answer"] == line["reference"])
        assert line["answer"] in {own[of] for own in facts.values()}


def test_drawing_again_gives_the_same_files_and_never_over_frames_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_out, "FRAMES", {ENDOSCOPY: 12, LAPAROSCOPY: 2})
    for folder in (tmp_path / "once", tmp_path / "again"):
        draw_test_split(folder, silent)
    once, again = (
        {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for folder in (tmp_path / "once", tmp_path / "again")
    )
    assert once == again
    assert len(once) == 12 + 2 + 3
    first = list(manifest_lines("synthetic-0001", 0, facts_of(draw_endoscopy(Split.TEST, 0))))
    assert lines_of(tmp_path / "once" / MANIFEST)[: len(first)] == first
    with pytest.raises(AppError, match="holds frames already"):
        draw_test_split(tmp_path / "once", silent)


class TestShipped:
    """Promises of the files under data/demo."""

    def test_every_frame_is_there_once_and_can_be_opened(self, shipped: Path) -> None:
        hashes = set()
        for kind, size in ((ENDOSCOPY, (512, 512)), (LAPAROSCOPY, (854, 480))):
            files = sorted((shipped / kind).iterdir())
            assert len(files) == FRAMES[kind]
            for path in files:
                facts = check_image(path)
                assert (facts.format, (facts.width, facts.height)) == ("WEBP", size)
                hashes.add(facts.sha256)
        assert len(hashes) == sum(FRAMES.values())

    def test_every_frame_has_its_units(self, shipped: Path, units: list[Unit]) -> None:
        by_image = Counter(unit.image.file for unit in units)
        assert by_image == {f"{ENDOSCOPY}/{path.name}": 6 for path in (shipped / ENDOSCOPY).iterdir()}
        assert Counter(unit.complexity for unit in units) == dict.fromkeys((1, 2, 3), 2 * FRAMES[ENDOSCOPY])
        assert {unit.split for unit in units} == {"test"}
        assert {name for unit in units for name in unit.question_classes} == set(DEMO_CLASSES)

    def test_every_reference_is_right_under_the_scorer(self, units: list[Unit]) -> None:
        for unit in units:
            atoms = [Atom(probe.question_class, probe.reference) for probe in unit.probes if probe.role is Role.ATOMIC]
            for probe in unit.probes:
                asked = atoms if probe.role is Role.COMPLEX else [atoms[probe.position]]
                assert score_answer(probe.question, asked, probe.reference).correct, probe

    def test_an_atomic_question_about_a_frame_has_one_reference(self, units: list[Unit]) -> None:
        references: dict[tuple[str, str], set[str]] = defaultdict(set)
        for unit in units:
            for probe in unit.probes:
                if probe.role is Role.ATOMIC:
                    references[unit.image.file, probe.question_class].add(probe.reference)
        assert all(len(found) == 1 for found in references.values())

    def test_half_of_the_answers_to_verify_are_right(self, verifications: list[dict[str, Any]]) -> None:
        assert len(verifications) == held_out.VERIFIED * FRAMES[ENDOSCOPY]
        assert len({line["id"] for line in verifications}) == len(verifications)
        assert sum(line["correct"] for line in verifications) / len(verifications) == pytest.approx(0.5, abs=0.03)

    def test_an_answer_to_verify_is_right_just_where_it_says_so(
        self, shipped: Path, verifications: list[dict[str, Any]], units: list[Unit]
    ) -> None:
        references = {
            (unit.image.file, probe.question_class): probe.reference for unit in units for probe in unit.probes
        }
        for line in verifications:
            name, reference, answer = line["question_class"], line["reference"], line["answer"]
            assert line["question"] == BY_NAME[name].question
            assert (canonical_reference(name, answer) == canonical_reference(name, reference)) == line["correct"]
            assert score_answer(line["question"], [Atom(name, reference)], answer).correct == line["correct"]
            assert references.get((line["image"], name), reference) == reference
            assert (shipped / line["image"]).is_file()

    def test_every_laparoscopy_like_frame_has_its_scene_graph_and_question_pairs(self, shipped: Path) -> None:
        [coco] = lines_of(shipped / SCENE_GRAPHS)
        scenes = list(read_scene_graphs(coco))
        frames = {path.name for path in (shipped / LAPAROSCOPY).iterdir()}
        assert {image["file_name"] for image in coco["images"]} == frames
        assert len(scenes) == len(coco["images"]) == FRAMES[LAPAROSCOPY]
        assert all(all_pairs(scene).pairs for scene in scenes)

    def test_all_that_is_shipped_is_small(self, root: Path) -> None:
        own = [path for path in (root / "data").iterdir() if path.is_file() and ".duckdb" not in path.name]
        kept = [path for name in ("demo", "published") for path in (root / "data" / name).rglob("*") if path.is_file()]
        assert sum(path.stat().st_size for path in (*own, *kept)) < SHIPPED_MOST
