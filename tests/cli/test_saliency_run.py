"""``saliency run``: a verification's two sides, or any run's answers, looked into and taken into the store."""

import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from backend.cli import saliency_run
from backend.domain.vlm import Vlm
from backend.services.ingest.images import attach_images
from backend.services.runs.plan import VlmIdentity
from backend.store.store import Store
from backend.vlm.registry import Registry
from backend.vlm.saliency.kept import KeptSaliency
from backend.vlm.saliency.result import Saliency, SaliencyError
from tests.cli.calling import call, done, start
from tests.cli.test_saliency_live import ENTRY, SERVICE
from tests.conftest import ROOT
from tests.services.test_looks import needs_box_vlm
from tests.services.verification_files import SUITE, Asked, Rote, asked_store, put_questions
from tests.vlm.saliency.test_result import saliency

RUN_HERE = ("Atlas", "Cairn")
WEIGHTS = "transformers: {{source: ./{name}}}"


class Open(Rote):
    """Answers by rote, and can be looked into; a look at "several" is refused."""

    def saliency(self, image: Path, prompt: str, answer: str) -> Saliency:
        if answer == "several":
            raise SaliencyError("The answer is too long.", "Choose another.")
        return saliency()


def listed(folder: Path, patched: pytest.MonkeyPatch) -> list[str]:
    """Put three VLMs in the list: Atlas and Cairn run here, Beacon behind a service. Names those that are opened."""
    here = (ENTRY.format(name=name, attention="yes", way_in=WEIGHTS.format(name=name.lower())) for name in RUN_HERE)
    remote = ENTRY.format(name="Beacon", attention="the service does not give it", way_in=SERVICE)
    (folder / "models.yaml").write_text("".join((*here, remote)))
    patched.setenv("PARALLAX_MODELS", str(folder / "models.yaml"))
    names: list[str] = []
    made: dict[str, Vlm] = {name: Open(VlmIdentity(name)) for name in RUN_HERE}
    made["Beacon"] = Rote(VlmIdentity("Beacon"))

    def open_vlm(self: Registry, name: str) -> Vlm:
        names.append(name)
        return made[name]

    patched.setattr(Registry, "open_vlm", open_vlm)
    return names


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The VLMs that were opened, in a list of three."""
    return listed(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def verified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set whose five questions Atlas and Beacon answered; all verified Atlas, and Atlas verified Beacon."""
    folder = tmp_path_factory.mktemp("verified")
    asked_store(folder).close()
    path = folder / "store.duckdb"
    with pytest.MonkeyPatch.context() as patched:
        listed(folder, patched)
        for generator, verifiers in (("Atlas", ("Atlas", "Cairn", "Beacon")), ("Beacon", ("Atlas",))):
            first: str | Path = generator
            for verifier in verifiers:
                out = folder / f"{generator}-{verifier}"
                verify = ("verify", "run", "--suite", SUITE, "--generator", first, "--verifier", verifier)
                done(*verify, "--out", out, "--store", path)
                done("import", "run", out, "--store", path)
                first = folder / f"{generator}-{verifiers[0]}"
    return path


@pytest.fixture
def store(verified: Path, tmp_path: Path) -> Path:
    """A copy of that store."""
    return Path(shutil.copy(verified, tmp_path / "store.duckdb"))


def looking(store: Path, generator: str = "atlas", verifier: str = "atlas") -> tuple[str | Path, ...]:
    named = ("--suite", SUITE, "--generator", generator, "--verifier", verifier)
    return ("saliency", "run", *named, "--store", store)


def run_ids(store: Path) -> dict[tuple[str, str, str], str]:
    with Store.open(store) as held:
        rows = held.rows("SELECT stage, vlm, split_part(setting, ' (', 1), run_id FROM runs")
    return {(stage, vlm, setting): run_id for stage, vlm, setting, run_id in rows}


def test_both_sides_are_looked_into_by_one_vlm_and_taken_into_the_store(
    store: Path, opened: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "looks"
    said = done(*looking(store), "--out", out, "--json").json
    ids = run_ids(store)
    answers = next(run_id for (stage, vlm, _), run_id in ids.items() if (stage, vlm) == ("direct", "Atlas"))
    verdicts = ids["verify", "Atlas", "answers of Atlas"]
    assert [said[key] for key in ("folder", "suite", "run", "why_no_generator")] == [str(out), SUITE, verdicts, None]
    counts = ("part", "looked_run", "n_planned", "n_done", "n_failed", "n_missing")
    assert [[part[key] for key in counts] for part in said["parts"]] == [
        ["generator", answers, 5, 3, 2, 0],
        ["verifier", verdicts, 5, 5, 0, 0],
    ]
    assert [part["folder"] for part in said["parts"]] == [str(out / "generator"), str(out / "verifier")]
    assert opened == ["Atlas"]
    shown = done("import", "run", out, "--store", store).out
    assert "3 of 5 answers looked into, 2 could not be; new or changed: 5." in shown
    assert "5 of 5 answers looked into, 0 could not be; new or changed: 5." in shown
    assert "nothing was changed" in done("import", "run", out, "--store", store).out
    with Store.open(store) as held:
        kept = held.rows("SELECT run_id, count(*) FROM saliency WHERE error = '' GROUP BY ALL ORDER BY 2")
    assert kept == [(answers, 3), (verdicts, 5)]
    refused = call(*looking(store), "--out", out)
    assert (refused.code, "--resume" in refused.err) == (2, True)
    resumed = done(*looking(store), "--out", out, "--resume")
    assert "Atlas, the verifier's words on vqa-rad: 5 of 5 looked into, 0 could not be" in resumed.out
    assert "  1 × The answer is too long." in resumed.out
    assert f"python -m backend import run {out}" in resumed.out


def test_two_vlms_are_looked_into_each_at_its_own_words(store: Path, opened: list[str], tmp_path: Path) -> None:
    said = done(*looking(store, verifier="Cairn"), "--out", tmp_path / "looks", "--json").json
    assert [(part["part"], part["model"]) for part in said["parts"]] == [("generator", "Atlas"), ("verifier", "Cairn")]
    assert sorted(opened) == ["Atlas", "Cairn"]


def test_where_the_generator_cannot_be_looked_into_the_verifier_is_and_it_is_said(
    store: Path, opened: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "looks"
    result = done(*looking(store, "Beacon"), "--out", out, "--json")
    why = "Beacon gives no saliency: the service does not give it."
    assert result.json["why_no_generator"] == why
    assert result.err.splitlines()[0] == f"The generator's answers are not looked into. {why}"
    assert [part["part"] for part in result.json["parts"]] == ["verifier"]
    assert [path.name for path in out.iterdir()] == ["verifier"]
    assert [run["n_looks_changed"] for run in done("import", "run", out, "--store", store, "--json").json["runs"]] == [
        5
    ]


def test_any_run_can_be_named_and_has_one_folder(store: Path, opened: list[str], tmp_path: Path) -> None:
    [run_id] = [run_id for (stage, vlm, _), run_id in run_ids(store).items() if (stage, vlm) == ("direct", "Atlas")]
    out = tmp_path / "looks"
    said = done("saliency", "run", "--run", run_id, "--limit", "2", "--out", out, "--store", store, "--json").json
    assert [(part["part"], part["n_planned"], part["folder"]) for part in said["parts"]] == [("", 2, str(out))]
    assert done("import", "run", out, "--store", store, "--json").json["runs"][0]["run_id"] == run_id
    more = done("saliency", "run", "--run", run_id, "--out", out, "--resume", "--store", store, "--json").json
    assert (more["parts"][0]["n_planned"], more["parts"][0]["n_failed"]) == (5, 2)


def test_a_dry_run_counts_says_why_not_and_loads_nothing(store: Path, opened: list[str], tmp_path: Path) -> None:
    dry = (*looking(store), "--out", tmp_path / "looks", "--dry-run")
    generator, verifier = done(*dry, "--json").json["parts"]
    counts = ("n_units", "n_answers", "n_looks", "n_images", "missing_images")
    assert [generator[key] for key in counts] == [5, 5, 4, 3, []]
    assert generator["why_not"] == {"Not looked into: this answer is empty.": 1}
    assert (verifier["n_looks"], verifier["why_not"]) == (5, {})
    assert generator["first"]["said"] == "Yes" and generator["first"]["prompt"].startswith("Answer the question")
    shown = done(*dry).out
    assert "Atlas would be looked into at 4 answers of the run Atlas.vqa-rad.direct." in shown
    assert "  1 × Not looked into: this answer is empty." in shown
    assert opened == [] and not (tmp_path / "looks").exists()


def test_looks_have_a_folder_of_their_own_name_by_default(
    store: Path, opened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saliency_run, "DATA", tmp_path / "data")
    ways = (looking(store), looking(store, verifier="Cairn"), looking(store, "Beacon"))
    folders = {done(*way, "--json").json["folder"] for way in ways}
    assert {Path(folder).parent for folder in folders} == {tmp_path / "data" / "runs"}
    assert len(folders) == 3


def test_the_store_is_free_while_the_looks_are_taken(
    store: Path, opened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def look(self: Open, image: Path, prompt: str, answer: str) -> Saliency:
        with Store.open(store) as held:
            seen.append(held.value("SELECT count(*) FROM runs"))
        return saliency()

    monkeypatch.setattr(Open, "saliency", look)
    done(*looking(store), "--limit", "1", "--out", tmp_path / "looks")
    assert seen


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Name a verification by --suite, --generator and --verifier, or any run of the store by --run."),
        (("--suite", SUITE, "--generator", "Atlas"), "Name a verification by"),
        (("--suite", SUITE, "--generator", "Atlas", "--verifier", "Beacon"), "Those that do: Box VLM"),
        (
            ("--suite", SUITE, "--generator", "Cairn", "--verifier", "Atlas"),
            "Atlas by Atlas on vqa-rad (plain, turn 0)",
        ),
        (
            ("--suite", SUITE, "--generator", "Nobody", "--verifier", "Atlas"),
            "verdicts of Atlas on the answers of Nobody",
        ),
        (("--suite", SUITE, "--generator", "Atlas", "--verifier", "Atlas", "--turn", "1"), "(plain, turn 1)"),
        (
            ("--suite", SUITE, "--generator", "Atlas", "--verifier", "Atlas", "--condition", "image_swapped"),
            "(image swapped, turn 0) that can be looked into",
        ),
        (("--run", "nobody", "--suite", SUITE), "Leave out one or the other."),
        (("--run", "nobody", "--turn", "1"), "Leave out one or the other."),
        (("--run", "nobody", "--condition", "image_swapped"), "Leave out one or the other."),
        (("--run", "nobody"), "Runs whose prompts and images are known: Atlas.vqa-rad.direct."),
        (("--run", "nobody", "--limit", "0"), "--limit"),
    ],
)
def test_wrong_wishes_are_said_with_the_right_ones(
    store: Path, opened: list[str], arguments: tuple[str, ...], words: str
) -> None:
    result = call("saliency", "run", *arguments, "--store", store)
    assert (result.code, result.out, opened) == (2, "", [])
    assert words in result.err


def test_a_vlm_whose_build_has_changed_is_not_looked_into(store: Path, opened: list[str], tmp_path: Path) -> None:
    (tmp_path / "atlas").mkdir()
    (tmp_path / "atlas" / "config.json").write_text("{}")
    result = call(*looking(store), "--out", tmp_path / "looks")
    assert (result.code, "another build of Atlas" in result.err, opened) == (2, True, [])


# The VLM in the box ---------------------------------------------------------------------------------------------------

BOXED = {
    "1": Asked("synthetic-0028", "How many polyps are in the image?", "1"),
    "2": Asked("synthetic-0028", "Is there text?", "no"),
    "3": Asked("synthetic-0029", "How many polyps are in the image?", "0"),
}


@pytest.fixture(scope="module")
def boxed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which the VLM in the box answered three questions about drawn frames, and verified itself."""
    folder = tmp_path_factory.mktemp("boxed")
    images = folder / "images"
    images.mkdir()
    for name in sorted({one.image for one in BOXED.values()}):
        Image.open(ROOT / f"data/demo/endoscopy/{name}.webp").save(images / f"{name}.png")
    with Store.create(folder / "store.duckdb") as made:
        put_questions(made, BOXED)
        attach_images(made, images)
    path = folder / "store.duckdb"
    verify = ("verify", "run", "--suite", SUITE, "--generator", "demo", "--verifier", "demo", "--out", folder / "chain")
    done(*verify, "--store", path)
    done("import", "run", folder / "chain", "--store", path)
    return path


def parts(folder: Path, store: Path) -> list[tuple[Any, ...]]:
    """Take a folder into a store, and return the looks at its runs."""
    done("import", "run", folder, "--store", store)
    with Store.open(store) as held:
        return held.rows(
            "SELECT stage, probe_id, answer, s.record, s.error FROM saliency s JOIN runs USING (run_id) ORDER BY ALL"
        )


@needs_box_vlm
def test_the_vlm_in_the_box_is_looked_into_at_what_it_said_itself(boxed: Path, tmp_path: Path) -> None:
    done(*looking(boxed, "demo", "demo"), "--out", tmp_path / "looks")
    rows = parts(tmp_path / "looks", boxed)
    assert [(stage, error) for stage, _, _, _, error in rows] == [("direct", "")] * 3 + [("verify", "")] * 3
    for _, _, answer, record, _ in rows:
        kept = KeptSaliency.from_json(record)
        assert kept.answer == answer
        assert 0 < kept.fraction < 1 and kept.grid is not None and kept.gradient_map is not None


@needs_box_vlm
def test_killed_and_resumed_the_looks_are_those_of_an_undisturbed_run(boxed: Path, tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    done(*looking(boxed, "demo", "demo"), "--out", whole)
    process = start(*looking(boxed, "demo", "demo"), "--out", killed)
    deadline = time.monotonic() + 60
    while not (killed / "generator" / "run.json").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    done(*looking(boxed, "demo", "demo"), "--out", killed, "--resume")
    assert parts(killed, boxed) == parts(whole, boxed)
    assert sorted(path.name for path in killed.rglob("*.parquet")) == sorted(
        path.name for path in whole.rglob("*.parquet")
    )
