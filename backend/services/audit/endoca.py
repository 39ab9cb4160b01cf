"""EndoCA's printed claims, checked against its own tables and, where the store holds them, its suites."""

__all__ = ["CHECKS"]

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from backend.domain.metric import percent, points
from backend.domain.records import Stage, System
from backend.services.audit.finding import AuditedFigure, Check, Finding, Verdict, unseen
from backend.services.audit.words import joined
from backend.services.endoca_series import BLIND, SuiteFacts, printed_shift, records, suite_facts
from backend.services.explore import endoca_metrics, printed_endoca
from backend.services.published import ASR_COLUMNS, AVERAGE, printed_ablation, printed_asr
from backend.store.filters import UnitFilter
from backend.store.store import Store

if TYPE_CHECKING:
    import pandas as pd

SUITES = ("core", "diagnostic")
"""Names of the two suites, in the papers' tables and in a store."""

PRINTED_UNITS = {"core": 12_000, "diagnostic": 6_000}
PRINTED_ATOMIC = {"core": 15_736, "diagnostic": 9_300}
"""Complex samples and atomic questions, as printed in section III-B."""

ADAPTED = "endoscopy_adapted"

_TENTH = 0.001
"""One step of a percentage printed with one decimal."""


def _suite_words(suite: str) -> str:
    return f"EndoCA-{suite.capitalize()}"


def _needs(*suites: str) -> str:
    """Return what to import for a check that looks at suites."""
    names = " and ".join(f"{_suite_words(suite)} (suite {suite})" for suite in suites)
    return f"It needs {names}, whole: import the manifest on the Data page."


def _whole(store: Store, suite: str) -> SuiteFacts | None:
    """Return what a suite of the benchmark is made of; None where the store does not hold all of it."""
    facts = suite_facts(store, suite)
    expected = (PRINTED_UNITS[suite], PRINTED_ATOMIC[suite])
    return facts if (facts.n_units, facts.n_atomic) == expected else None


def _blind(store: Store) -> Finding:
    printed = printed_endoca(store, "core").sort_values("joint_accuracy", ascending=False)
    best = records(printed)[0]
    finding = Finding(
        key="endoca-1",
        paper=System.ENDOCA,
        title="Joint accuracy without looking",
        claim="Joint accuracy tells VLMs apart by what they see: a right answer must stand on right parts.",
        where="Table III, section V-B",
        printed=f"{percent(best['joint_accuracy'])} joint accuracy at best ({best['vlm']})",
        recomputed="",
        definition=(
            "The usual answer of each question class, learned on the other suite, given to every question of Core "
            "without an image, and scored like a VLM's."
        ),
        consequence=(
            "Agreement between answers can come from habit alone. Joint accuracy means something only beside the blind "
            "baseline, which the pages draw wherever they draw a score."
        ),
        verdict=Verdict.OPEN,
    )
    run = store.rows(
        "SELECT run_id, setting FROM runs WHERE suite = 'core' AND vlm_group = ? AND stage = ? ORDER BY run_id",
        [BLIND, Stage.DIRECT],
    )
    if _whole(store, "core") is None or not run:
        return unseen(
            finding,
            f"{_needs(*SUITES)} Then run: python -m backend blind endoca --learn diagnostic --answer core",
        )
    [row] = records(endoca_metrics(store, UnitFilter(suite="core", runs=(run[0][0],)), intervals=False))
    keys = ("atomic_accuracy", "complex_accuracy", "joint_accuracy")
    beaten = printed[printed["joint_accuracy"] < row["joint_accuracy"]]
    return _with(
        finding,
        recomputed=(
            f"Without any image: {percent(row['atomic_accuracy'])} atomic, {percent(row['complex_accuracy'])} complex "
            f"and {percent(row['joint_accuracy'])} joint accuracy ({run[0][1]}); above the joint accuracy of "
            f"{len(beaten)} of {len(printed)} VLMs."
        ),
        verdict=Verdict.FAILS if len(beaten) == len(printed) else Verdict.HOLDS,
        data=_stacked(printed[["vlm", *keys]], {"vlm": "no VLM, blind baseline", **{key: row[key] for key in keys}}),
    )


def _stacked(table: "pd.DataFrame", row: dict[str, Any]) -> "pd.DataFrame":
    import pandas as pd

    return pd.concat([table, pd.DataFrame([row])], ignore_index=True)


def _training_rows(store: Store) -> Finding:
    printed = printed_endoca(store, "core")
    adapted = [row for row in records(printed) if row["vlm_group"] == ADAPTED]
    finding = Finding(
        key="endoca-2",
        paper=System.ENDOCA,
        title="Samples from the training split",
        claim="VLMs adapted to endoscopy are the best at complex questions of Core.",
        where="Table III, section V-A",
        printed=joined([f"{row['vlm']} {percent(row['complex_accuracy'])}" for row in adapted]) + " complex accuracy",
        recomputed="",
        definition="Units of Core whose split in Kvasir-VQA-x1 is train.",
        consequence=(
            "The adapted VLMs may have been trained on the very samples they are asked, so their lead need not be one "
            "on unseen questions."
        ),
        verdict=Verdict.OPEN,
    )
    facts = _whole(store, "core")
    if facts is None:
        return unseen(finding, _needs("core"))
    return _with(
        finding,
        recomputed=(
            f"{facts.n_train:,} of {facts.n_units:,} units ({percent(facts.n_train / facts.n_units)}) are rows of the "
            "training split."
        ),
        verdict=Verdict.OTHERWISE if facts.n_train else Verdict.HOLDS,
        data=store.read(
            "SELECT suite, split, count(*) AS n_units FROM units WHERE suite IN ('core', 'diagnostic') "
            "GROUP BY ALL ORDER BY ALL"
        ),
    )


def _one_part(_: Store) -> Finding:
    import pandas as pd

    units, atomic = PRINTED_UNITS["core"], PRINTED_ATOMIC["core"]
    two = atomic - units
    one = units - two
    return Finding(
        key="endoca-3",
        paper=System.ENDOCA,
        title="Complex questions of one part",
        claim="Core compares complex questions with the atomic questions they combine.",
        where="Section III-B, Table III",
        printed=f"{units:,} complex and {atomic:,} atomic questions, of complexity 1 and 2",
        recomputed=f"{one:,} of {units:,} complex questions ({percent(one / units)}) have a single atomic question.",
        definition="With complexities 1 and 2 alone, n1 + n2 complex questions have n1 + 2 n2 atomic ones.",
        consequence=(
            "For most of Core, complex and atomic question ask the same in other words, and inconsistency says how "
            "steady an answer is, not how its parts combine. Complexity is a filter on the page."
        ),
        verdict=Verdict.OTHERWISE if one > two else Verdict.HOLDS,
        data=pd.DataFrame({"complexity": [1, 2], "n_units": [one, two]}),
    )


def _repeated_questions(store: Store) -> Finding:
    n = sum(PRINTED_ATOMIC.values())
    finding = Finding(
        key="endoca-9",
        paper=System.ENDOCA,
        title="Atomic questions that come again",
        claim="The two suites hold separate samples.",
        where="Section III-B",
        printed=f"{n:,} atomic questions",
        recomputed="",
        definition="Atomic questions of both suites that differ in image or words.",
        consequence=(
            "The rest asks the same again: a free test of steadiness, and a reason to resample whole images for every "
            "interval, as the pages do."
        ),
        verdict=Verdict.OPEN,
    )
    facts = [_whole(store, suite) for suite in SUITES]
    if None in facts:
        return unseen(finding, _needs(*SUITES))
    [(distinct,)] = store.rows(
        "SELECT count(DISTINCT (u.image_id, p.question)) FROM probes p JOIN units u USING (unit_id) "
        "WHERE u.suite IN ('core', 'diagnostic') AND p.role = 'atomic'"
    )
    table = _stacked(_facts_table(facts), {"suite": "both", "n_atomic": n, "n_distinct": distinct})
    return _with(
        finding,
        recomputed=f"{distinct:,} of {n:,} atomic questions are distinct.",
        verdict=Verdict.OTHERWISE if distinct < n else Verdict.HOLDS,
        data=table,
    )


def _facts_table(facts: "list[SuiteFacts | None]") -> "pd.DataFrame":
    import pandas as pd

    rows = [
        {"suite": suite, "n_atomic": known.n_atomic, "n_distinct": known.n_distinct_atomic}
        for suite, known in zip(SUITES, facts, strict=True)
        if known
    ]
    return pd.DataFrame(rows)


def _one_vlm_falls(store: Store) -> Finding:
    shift = printed_shift(store)
    if shift is None:
        raise ValueError("the printed tables of EndoCA are not in the store")
    first, second = (printed_endoca(store, suite)[["vlm", "atomic_accuracy"]] for suite in shift.suites)
    table = first.merge(second, on="vlm", suffixes=(f"_{shift.suites[0]}", f"_{shift.suites[1]}"))
    before, after = shift.values
    change = abs(after - before)
    return Finding(
        key="endoca-4",
        paper=System.ENDOCA,
        title="One VLM between the two suites",
        claim="Both suites follow one protocol, and Diagnostic confirms the gap seen on Core.",
        where="Tables III and IV",
        printed=f"{shift.vlm}: {percent(before)} and {percent(after)} atomic accuracy",
        recomputed=(
            f"It moves by {points(after - before)}; of the other {len(table) - 1} VLMs none moves by more than "
            f"{points(shift.next_largest).removeprefix('+')}."
        ),
        definition="Printed atomic accuracy on Diagnostic minus that on Core.",
        consequence=(
            f"Atomic questions of the two suites are alike, so something else differs between the two runs of "
            f"{shift.vlm}. Its place on either suite is not to be read against the others'."
        ),
        verdict=Verdict.FAILS if change > 2 * shift.next_largest else Verdict.HOLDS,
        data=table,
    )


def _gold_answers(store: Store) -> Finding:
    n = sum(PRINTED_UNITS.values())
    finding = Finding(
        key="endoca-5",
        paper=System.ENDOCA,
        title="Samples selected with the scorer",
        claim="Each complex reference agrees with its atomic references under the scoring rules.",
        where="Section III-B",
        printed=f"All {n:,} samples",
        recomputed="",
        definition=(
            "Complex references given as answers and scored by Parallax's scorer against their atomic references."
        ),
        consequence=(
            "Samples were chosen with the rules that score them, so by those no reference can be wrong. By the rules "
            "as printed, those rejected here contradict their own parts or say less than they do."
        ),
        verdict=Verdict.OPEN,
    )
    if None in [_whole(store, suite) for suite in SUITES]:
        return unseen(finding, _needs(*SUITES))
    table = _references_rejected(store)
    return _with(
        finding,
        recomputed=f"{n - len(table):,} of {n:,} complex references are right by their own atomic references.",
        verdict=Verdict.OTHERWISE if len(table) else Verdict.HOLDS,
        data=table,
    )


def _references_rejected(store: Store) -> "pd.DataFrame":
    """Return the complex references that their own atomic references do not bear out: suite, sample."""
    import pandas as pd

    from backend.endoca.scoring import Atom, score_answer

    rows = store.rows(
        "SELECT u.suite, u.source_id, c.question, c.reference, "
        "list((a.question_class, a.reference) ORDER BY a.position) "
        "FROM units u JOIN probes c ON c.unit_id = u.unit_id AND c.role = 'complex' "
        "JOIN probes a ON a.unit_id = u.unit_id AND a.role = 'atomic' "
        "WHERE u.suite IN ('core', 'diagnostic') GROUP BY ALL ORDER BY 1, 2"
    )
    rejected = [
        (suite, sample)
        for suite, sample, question, reference, atoms in rows
        if not score_answer(question, [Atom(*atom) for atom in atoms], reference).correct
    ]
    return pd.DataFrame(rejected, columns=["suite", "sample"])


def _prompts(_: Store) -> Finding:
    return unseen(
        Finding(
            key="endoca-6",
            paper=System.ENDOCA,
            title="Prompts in the paper and in its code",
            claim="One fixed template asks every question; Revise and Select are two calls.",
            where="Sections III-C and IV, Table II",
            printed="The template and two steps",
            recomputed="",
            definition="The wording and the number of calls of the published code beside those of the paper.",
            consequence=(
                "Runs of different wordings are not the same measurement: here every run keeps its prompt version, and "
                "versions are never pooled."
            ),
            verdict=Verdict.OPEN,
        ),
        "It needs the code published with the benchmark, which is no part of Parallax.",
    )


def _identity(store: Store) -> Finding:
    import pandas as pd

    parts = []
    for suite in SUITES:
        printed = printed_endoca(store, suite)
        made = printed["complex_accuracy"] * (1 - printed["inconsistency"])
        parts.append(
            printed[["vlm", "complex_accuracy", "inconsistency", "joint_accuracy"]].assign(
                suite=suite, joint_recomputed=made, difference=made - printed["joint_accuracy"]
            )
        )
    table = pd.concat(parts, ignore_index=True)
    most = float(table["difference"].abs().max())
    return Finding(
        key="endoca-7",
        paper=System.ENDOCA,
        title="The four metrics fit together",
        claim="Joint accuracy is the share of right complex answers all of whose parts are right.",
        where="Equations 3 to 6, Tables III and IV",
        printed=f"{len(table)} rows of four metrics",
        recomputed=(
            f"Complex accuracy × (1 − inconsistency) meets joint accuracy within {100 * most:.2f} points in all rows."
        ),
        definition="Joint accuracy = complex accuracy × (1 − inconsistency).",
        consequence=(
            "The tables are of one computation. What they mean is another matter: see joint accuracy without "
            "looking, and complex questions of one part."
        ),
        verdict=Verdict.HOLDS if most <= _TENTH else Verdict.FAILS,
        data=table,
    )


def _asr_averages(_: Store) -> Finding:
    import pandas as pd

    table = printed_asr()
    columns = list(ASR_COLUMNS.values())
    own, average = table[table["vlm"] != AVERAGE], table[table["vlm"] == AVERAGE].iloc[0]
    methods = printed_ablation().set_index("method")
    rows = [(column, average[column], float(own[column].mean())) for column in columns]
    rows += [
        ("joint_accuracy of ASR", methods.loc["asr", "joint_accuracy"],
         methods.loc["direct", "joint_accuracy"] + average["joint_change"]),
        ("inconsistency of ASR", methods.loc["asr", "inconsistency"],
         methods.loc["direct", "inconsistency"] + average["inconsistency_change"]),
    ]  # fmt: skip
    found = pd.DataFrame(rows, columns=["number", "printed", "recomputed"])
    found["difference"] = found["recomputed"] - found["printed"]
    most = float(found["difference"].abs().max())
    return Finding(
        key="endoca-8",
        paper=System.ENDOCA,
        title="Averages of ASR",
        claim="On average ASR raises joint accuracy and lowers inconsistency, at little cost.",
        where="Tables V and VI",
        printed=(
            f"Joint accuracy {points(average['joint_change'])}, inconsistency "
            f"{points(average['inconsistency_change'])}, over {len(own)} VLMs"
        ),
        recomputed=f"All {len(found)} averages and sums follow from the rows within {100 * most:.2f} points.",
        definition="Plain means of Table V's rows; Table VI's row ASR = its row Direct plus the mean change.",
        consequence="The two tables are of the same runs. No interval is printed with them.",
        verdict=Verdict.HOLDS if most <= 2 * _TENTH else Verdict.FAILS,
        data=found,
    )


def _with(finding: Finding, *, recomputed: str, verdict: Verdict, data: "pd.DataFrame") -> Finding:
    return replace(finding, recomputed=recomputed, verdict=verdict, data=data)


CHECKS = (
    Check("endoca-1", (AuditedFigure.ENDOCA_SCORES,), _blind),
    Check("endoca-2", (AuditedFigure.ENDOCA_SCORES,), _training_rows),
    Check("endoca-3", (AuditedFigure.ENDOCA_SCORES,), _one_part),
    Check("endoca-4", (AuditedFigure.ENDOCA_SCORES,), _one_vlm_falls),
    Check("endoca-5", (), _gold_answers),
    Check("endoca-6", (AuditedFigure.ENDOCA_ASR,), _prompts),
    Check("endoca-7", (AuditedFigure.ENDOCA_SCORES,), _identity),
    Check("endoca-8", (AuditedFigure.ENDOCA_ASR,), _asr_averages),
    Check("endoca-9", (AuditedFigure.ENDOCA_SCORES,), _repeated_questions),
)
"""In the order of their numbers."""
