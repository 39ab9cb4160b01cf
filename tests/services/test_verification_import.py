"""A chain's run folders in the store: verdicts beside the answers they are on, the oracle's words beside both."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.domain.records import Stage
from backend.errors import AppError
from backend.services.removal import remove_run
from backend.services.runs.direct_answers import stored_base, stored_record
from backend.services.runs.folder import read_plan_table, read_record, write_record
from backend.services.runs.import_run import import_run
from backend.services.runs.overview import run_overview
from backend.services.runs.plan import Plan
from backend.services.runs.verification_run import Chain, Participant, run_chain
from backend.services.scoring import rescore
from backend.store.arrow import arrow_table
from backend.store.store import Store
from backend.verimap.conditions import Condition
from backend.verimap.prompts import generate_prompt
from tests.services.verification_files import BEACON, QUESTIONS, SUITE, Rote, asked_store, chain_into, first_plan

TABLES = ("runs", "answers", "run_facts", "calls", "run_bases", "oracle_judgements", "verifications")
LOOP = Chain(turns=1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with asked_store(tmp_path) as opened:
        yield opened


@pytest.fixture
def first(store: Store) -> Plan:
    return first_plan(store)


@pytest.fixture
def folder(first: Plan, tmp_path: Path) -> Path:
    chain_into(tmp_path / "chain", first, LOOP, Rote())
    return tmp_path / "chain"


def contents(store: Store) -> dict[str, list[tuple[object, ...]]]:
    return {table: store.rows(f"SELECT * FROM {table} ORDER BY ALL") for table in TABLES}


def verdicts(store: Store, turn: int = 0, condition: Condition = Condition.PLAIN) -> dict[str, tuple[object, ...]]:
    rows = store.rows(
        "SELECT unit_id, answer, oracle_correct, oracle, verdict, status FROM verifications "
        "WHERE turn = ? AND condition = ?",
        [turn, condition],
    )
    return {unit_id.removeprefix(f"{SUITE}:"): tuple(row) for unit_id, *row in rows}


def test_a_chain_comes_in_whole_with_its_verdicts_and_what_each_was_made_from(store: Store, folder: Path) -> None:
    outcome = import_run(store, folder)
    assert [(run.stage, run.n_answers, run.n_new, run.n_missing) for run in outcome.runs] == [
        ("direct", 5, 5, 0), ("verify", 5, 5, 0), ("loop", 5, 5, 0), ("verify", 5, 5, 0),
    ]  # fmt: skip
    runs = [run.run_id for run in outcome.runs]
    assert set(store.rows("SELECT run_id, base_run_id FROM run_bases")) == set(zip(runs[1:], runs, strict=False))
    assert verdicts(store) == {
        "1": ("Yes", True, "matching", "CORRECT", "read"),
        "2": ("an opacity", None, None, "CORRECT", "read"),
        "3": ("Yes", False, "matching", "CORRECT", "read"),
        "4": ("several", None, None, "INCORRECT", "read"),
        "5": ("", False, "matching", "UNCERTAIN", "read"),
    }
    assert {name: row[:3] for name, row in verdicts(store, turn=1).items()} == {
        "1": ("Yes", True, "matching"),
        "2": ("a mass", None, None),
        "3": ("No", True, "matching"),
        "4": ("3", True, "matching"),
        "5": ("a fall", None, None),
    }
    assert set(store.rows("SELECT DISTINCT generator, verifier, place, explanation IS NULL FROM verifications")) == {
        ("Atlas", "Atlas", 0, False)
    }
    assert store.value("SELECT count(*) FROM scores") == store.value("SELECT count(*) FROM outcomes") == 0


def test_matching_says_why_and_leaves_open_questions_to_a_judge(store: Store, folder: Path) -> None:
    run_id = import_run(store, folder).runs[0].run_id
    words = store.rows(
        "SELECT probe_id, correct, reason, error FROM oracle_judgements WHERE run_id = ? ORDER BY probe_id", [run_id]
    )
    assert words == [
        ("vqa-rad:1", True, "yes or no: read as “yes”, expected “yes”", ""),
        ("vqa-rad:3", False, "yes or no: read as “yes”, expected “no”", ""),
        ("vqa-rad:4", None, "", "the answer cannot be read; asked for was: number"),
        ("vqa-rad:5", False, "nothing was said", ""),
    ]


def test_scoring_again_matches_again_and_leaves_judges_words(store: Store, folder: Path) -> None:
    import_run(store, folder)
    before = contents(store)
    with store.write() as cursor:
        cursor.execute("UPDATE runs SET scorer_version = '0'")
        cursor.execute("UPDATE oracle_judgements SET correct = NOT correct")
        cursor.execute("INSERT INTO oracle_judgements SELECT run_id, probe_id, 'LLM', true, '', '' FROM answers")
    assert rescore(store) == 4
    with store.write() as cursor:
        cursor.execute("DELETE FROM oracle_judgements WHERE oracle = 'LLM'")
    after = contents(store)
    assert after["oracle_judgements"] == before["oracle_judgements"]
    assert verdicts(store)["3"] == ("Yes", False, "matching", "CORRECT", "read")
    assert verdicts(store)["2"] == ("an opacity", True, "LLM", "CORRECT", "read")


def test_importing_twice_or_part_by_part_changes_nothing(store: Store, folder: Path) -> None:
    import_run(store, folder)
    before = contents(store)
    assert not import_run(store, folder).changed
    for part in ("generate", "turn-0-verify", "turn-1-loop", "turn-1-verify"):
        assert not import_run(store, folder / part).changed
    assert contents(store) == before


def test_self_and_cross_conditions_and_turns_are_cells_apart(store: Store, first: Plan, tmp_path: Path) -> None:
    folders = []
    for verifier in (None, Rote(BEACON)):
        for condition in Condition:
            folders.append(tmp_path / f"{verifier and verifier.name}-{condition}")
            chain_into(folders[-1], first, Chain(condition), Rote(), verifier)
    import_run(store, *folders)
    cells = store.rows("SELECT verifier, condition, count(*) FROM verifications GROUP BY ALL ORDER BY ALL")
    assert cells == sorted((verifier, str(condition), 5) for verifier in ("Atlas", "Beacon") for condition in Condition)
    stages = store.rows("SELECT stage, count(*) FROM runs GROUP BY ALL ORDER BY ALL")
    assert stages == [("direct", 1), ("look", 2), ("verify", 8)], "the answers are one run, however often verified"
    two_step = store.rows(
        "SELECT DISTINCT b.stage FROM verifications v JOIN run_bases USING (run_id) "
        "JOIN runs b ON b.run_id = base_run_id WHERE v.condition = 'two_step' ORDER BY ALL"
    )
    assert two_step == [("direct",), ("look",)]


def test_controls_are_recorded_with_what_was_sent(store: Store, first: Plan, tmp_path: Path) -> None:
    folders = [tmp_path / condition for condition in (Condition.IMAGE_WITHHELD, Condition.IMAGE_SWAPPED)]
    for condition_folder in folders:
        chain_into(condition_folder, first, Chain(Condition(condition_folder.name)), Rote())
    notes = import_run(store, *folders).notes
    assert not any("about other files" in note for note in notes)
    sent = store.rows(
        "SELECT v.condition, count(c.image_sha256), count(*) FILTER (c.image_sha256 = i.sha256) FROM verifications v "
        "JOIN calls c ON c.run_id = v.run_id JOIN probes p ON p.probe_id = c.probe_id AND p.unit_id = v.unit_id "
        "JOIN images i USING (image_id) GROUP BY ALL ORDER BY ALL"
    )
    assert sent == [("image_swapped", 5, 0), ("image_withheld", 0, 0)]


def test_unreadable_empty_and_failed_verdicts_are_told_apart(store: Store, first: Plan, tmp_path: Path) -> None:
    def says(prompt: str) -> str:
        return "" if QUESTIONS["1"].question in prompt else "I think so."

    verifier = Rote(BEACON, says=says, fails=lambda prompt: QUESTIONS["3"].question in prompt)
    generator = Rote(fails=lambda prompt: QUESTIONS["2"].question in prompt)
    chain_into(tmp_path / "chain", first, Chain(), generator, verifier)
    report = import_run(store, tmp_path / "chain").runs[-1]
    assert (report.n_failed, report.n_empty, report.n_unparsed) == (2, 1, 2)
    assert {name: (row[0], row[3], row[4]) for name, row in verdicts(store).items()} == {
        "1": ("Yes", None, "empty"),
        "2": (None, None, "failed"),
        "3": ("Yes", None, "failed"),
        "4": ("several", None, "unparsed"),
        "5": ("", None, "unparsed"),
    }
    coverage = {run.stage: run.coverage for run in run_overview(store)}
    direct, verify = coverage["direct"], coverage["verify"]
    assert (direct.n_probes, direct.n_read, direct.n_empty, direct.n_failed, direct.n_missing) == (5, 3, 1, 1, 0)
    assert (verify.n_probes, verify.n_read, verify.n_unparsed, verify.n_empty, verify.n_failed) == (5, 0, 2, 1, 2)


def test_a_part_alone_says_what_to_import_first(store: Store, folder: Path) -> None:
    with pytest.raises(AppError, match="The verify run was made from the run Atlas") as caught:
        import_run(store, folder / "turn-0-verify")
    assert "whole folder of verify run at once" in caught.value.hint
    import_run(store, folder / "generate")
    with pytest.raises(AppError, match="The loop run was made from the run"):
        import_run(store, folder / "turn-1-loop")
    for part in ("turn-0-verify", "turn-1-loop", "turn-1-verify"):
        import_run(store, folder / part)
    assert store.value("SELECT count(*) FROM verifications") == 10


def test_a_mended_chain_comes_in_whole_and_never_by_half(store: Store, first: Plan, tmp_path: Path) -> None:
    failing = Rote(fails=lambda prompt: prompt == generate_prompt(QUESTIONS["3"].question))
    chain_into(tmp_path / "chain", first, LOOP, failing)
    import_run(store, tmp_path / "chain")
    chain_into(tmp_path / "chain", first, LOOP, Rote(), resume=True)
    before = contents(store)
    with pytest.raises(AppError, match="1 of its questions differ, vqa-rad:3 among them") as caught:
        import_run(store, tmp_path / "chain" / "generate")
    assert contents(store) == before
    named = [word.rstrip(",") for word in caught.value.hint.split() if word.startswith("Atlas.")]
    assert [run_id.split(".")[2] for run_id in named] == ["verify", "loop", "verify"], "the last of the chain first"
    assert [run.n_replaced for run in import_run(store, tmp_path / "chain").runs] == [1, 1, 1, 1]
    assert store.value("SELECT count(*) FROM answers WHERE error <> ''") == 0
    assert verdicts(store)["3"] == ("Yes", False, "matching", "CORRECT", "read")


def test_what_is_to_be_taken_out_first_can_be_in_the_order_that_is_named(
    store: Store, first: Plan, tmp_path: Path
) -> None:
    failing = Rote(fails=lambda prompt: prompt == generate_prompt(QUESTIONS["3"].question))
    chain_into(tmp_path / "chain", first, LOOP, failing)
    import_run(store, tmp_path / "chain")
    chain_into(tmp_path / "chain", first, LOOP, Rote(), resume=True)
    with pytest.raises(AppError) as caught:
        import_run(store, tmp_path / "chain" / "generate")
    for run_id in [word.rstrip(",") for word in caught.value.hint.split() if word.startswith("Atlas.")]:
        remove_run(store, run_id)
    assert store.value("SELECT count(*) FROM verifications") == 0
    import_run(store, tmp_path / "chain")
    assert store.value("SELECT count(*) FROM verifications") == 10


def test_a_generators_run_is_not_taken_out_under_its_verdicts(store: Store, folder: Path) -> None:
    run_id = import_run(store, folder).runs[0].run_id
    with pytest.raises(AppError, match="other runs were made"):
        remove_run(store, run_id)


def test_a_stored_run_is_verified_like_its_folder(store: Store, first: Plan, folder: Path, tmp_path: Path) -> None:
    run_id = import_run(store, folder / "generate").runs[0].run_id
    assert stored_record(store, run_id).vlm.name == "Atlas"
    answers = stored_base(store, run_id, first)
    verifier = Rote(BEACON)
    run_chain(first, answers, Participant(BEACON, verifier), tmp_path / "cross", Chain())
    import_run(store, tmp_path / "cross")
    assert store.rows("SELECT DISTINCT generator, verifier FROM verifications") == [("Atlas", "Beacon")]


@pytest.mark.parametrize(
    ("column", "value"), [("prompt", "You check an answer that was another."), ("probe_id", "vqa-rad:1")]
)
def test_a_changed_plan_is_found_by_its_ids(store: Store, folder: Path, column: str, value: str) -> None:
    import pyarrow.parquet as pq

    part = folder / "turn-0-verify"
    rows = read_plan_table(part).to_pylist()
    rows[1][column] = value
    pq.write_table(arrow_table({name: [row[name] for row in rows] for name in rows[0]}), part / "plan.parquet")
    with pytest.raises(AppError, match="was changed after its run"):
        import_run(store, folder)
    assert store.value("SELECT count(*) FROM runs") == 0


def test_answers_put_under_verdicts_on_others_are_refused(store: Store, first: Plan, folder: Path) -> None:
    """The folder of answers is exchanged for one of the same run that says something else."""
    shutil.rmtree(folder / "generate")
    other = Rote(says=lambda prompt: "I cannot tell")
    chain_into(folder / "other", first, Chain(), other)
    shutil.move(folder / "other" / "generate", folder / "generate")
    shutil.rmtree(folder / "other")
    with pytest.raises(AppError, match="was not made from the answers and verdicts before it"):
        import_run(store, folder)
    assert contents(store) == {table: [] for table in TABLES}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"base": None}, "does not say which run"),
        ({"setup": None}, "does not say which run"),
        ({"prompts_sha256": "0" * 64}, "worded otherwise"),
    ],
)
def test_a_folder_that_cannot_be_traced_is_refused(
    store: Store, folder: Path, change: dict[str, object], says: str
) -> None:
    import_run(store, folder / "generate")
    record = read_record(folder / "turn-0-verify")
    assert record is not None
    write_record(folder / "turn-0-verify", record.model_copy(update=change))
    with pytest.raises(AppError, match=says):
        import_run(store, folder / "turn-0-verify")


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("turn-0-verify", {"generator": "Beacon"}),
        ("turn-0-verify", {"condition": Condition.IMAGE_WITHHELD}),
        ("turn-1-loop", {"turn": 0}),
        ("turn-1-verify", {"generator": "Beacon"}),
        ("turn-1-verify", {"verifier": "Beacon"}),
        ("turn-1-loop", {"stop_at_correct": True}),
    ],
)
def test_a_folder_that_says_what_its_base_is_not_is_refused(
    store: Store, folder: Path, part: str, change: dict[str, object]
) -> None:
    record = read_record(folder / part)
    assert record is not None and record.setup is not None
    setup = record.setup.model_copy(update=change)
    write_record(folder / part, record.model_copy(update={"setup": setup}))
    with pytest.raises(AppError, match="was changed after its run"):
        import_run(store, folder)
    assert store.value("SELECT count(*) FROM runs") == 0


def test_records_from_before_verification_are_read(folder: Path) -> None:
    part = folder / "generate"
    record = read_record(part)
    assert record is not None
    text = json.loads((part / "run.json").read_text())
    del text["setup"]
    (part / "run.json").write_text(json.dumps(text))
    before = read_record(part)
    assert before is not None and before.setup is None and before.key == record.key


def test_an_unfinished_chain_comes_in_as_far_as_it_is(store: Store, first: Plan, folder: Path) -> None:
    shutil.rmtree(folder / "turn-1-verify")
    import_run(store, folder)
    assert store.rows("SELECT stage FROM runs ORDER BY stage") == [("direct",), ("loop",), ("verify",)]
    assert {run.stage: run.coverage.n_missing for run in run_overview(store)}[Stage.LOOP] == 0
