"""What the VLM in the box reached on the held-out frames, recomputed from the shipped answers.

Every figure is read off the run folders by the code that scores any run. The gate says what
had to be reached for the VLM to ship; whatever else came out is reported as it is.
"""

__all__ = [
    "GATE",
    "gate_failures",
    "held_out_report",
    "mirage_figures",
    "paired_figures",
    "saliency_figures",
    "shipped_store",
]

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from backend.domain.records import Stage
from backend.domain.statistics.roc import roc_area
from backend.endoca.asr import Variant
from backend.endoca.vocabulary import BY_NAME
from backend.services.demo.built_in import put_demo
from backend.services.demo.questions import Answered, answers_of, surgical_pairs, verifications
from backend.services.demo.shipped import BLIND_SURGICAL, DEMO_SUITE, SURGICAL, VERIFICATION
from backend.services.explore import endoca_metrics
from backend.services.grounding import grounding_table, grounding_tests
from backend.services.reconciliation import reconciled_table
from backend.services.saliency_pointing_table import pointing_figures
from backend.services.verimap_metrics import verimap_metrics
from backend.store.filters import UnitFilter
from backend.store.store import Store
from backend.store.verification_filters import VerificationFilter
from backend.surgcheck.question_pairs import Pair
from backend.surgcheck.scoring import exact_match
from backend.surgcheck.tasks import Cue, Level, Task
from backend.verimap.outcomes import Policy
from backend.verimap.proxies import Proxy
from backend.verimap.verifier import Verdict, parse_verdict
from backend.vlm.blind import BLIND_VLM

GATE = {
    "atomic_accuracy": 0.80,
    "verifier_auc": 0.70,
    "revise_loss": 0.01,
    "surgical_atomic_accuracy": 0.65,
    "apart": 100,
}
"""What the VLM had to reach: atomic accuracy, and above the blind baseline in every class; verifier
AUC in every question type; how much complex accuracy Revise may lose; surgical accuracy on
observation tasks; right complex answers that stand on a wrong part."""


def held_out_report() -> dict[str, Any]:
    """Return the held-out figures; fractions between 0 and 1, None where undefined.

    Raises:
        AppError: A shipped file is absent or damaged.
    """
    verifier = _verifier()
    with shipped_store(attach=True) as store:
        return {
            "vlm": {
                **paired_figures(store),
                "verifier_auc": {kind: found["auc"] for kind, found in verifier.items()},
                "verifier": verifier,
            },
            "surgical": _surgical(),
            "verimap": mirage_figures(store),
            "saliency": saliency_figures(store),
        }


def gate_failures(report: dict[str, Any]) -> list[str]:
    """Return what the gate asks for and the figures do not reach, as sentences; empty where it is passed."""
    vlm, surgical = report["vlm"], report["surgical"]
    failures = []
    if vlm["atomic_accuracy"] < GATE["atomic_accuracy"]:
        failures.append(f"Atomic accuracy is {vlm['atomic_accuracy']:.3f}, below {GATE['atomic_accuracy']}.")
    for name, both in vlm["by_class"].items():
        if both["vlm"] <= both["blind"]:
            failures.append(f"{name}: {both['vlm']:.3f} is not above the blind baseline's {both['blind']:.3f}.")
    for kind, auc in vlm["verifier_auc"].items():
        if auc is None or auc < GATE["verifier_auc"]:
            failures.append(f"The verifier's AUC on {kind} questions is {auc}, below {GATE['verifier_auc']}.")
    if vlm["revise"]["after"] < vlm["revise"]["before"] - GATE["revise_loss"]:
        failures.append(
            f"Revise takes complex accuracy from {vlm['revise']['before']:.3f} to {vlm['revise']['after']:.3f}."
        )
    if surgical["atomic_accuracy"] < GATE["surgical_atomic_accuracy"]:
        failures.append(f"Surgical accuracy on observation tasks is {surgical['atomic_accuracy']:.3f}.")
    if vlm["n_apart"] < GATE["apart"]:
        failures.append(f"Only {vlm['n_apart']} right complex answers stand on a wrong part.")
    return failures


@contextmanager
def shipped_store(*, attach: bool = False) -> Iterator[Store]:
    """Open a store that holds the built-in data set and nothing else, for as long as it is needed.

    Args:
        attach: Whether its frames are attached; only what looks at pixels needs them.

    Raises:
        AppError: As `held_out_report`.
    """
    with (
        tempfile.TemporaryDirectory(prefix="parallax-demo-") as folder,
        Store.create(Path(folder, "demo.duckdb")) as store,
    ):
        put_demo(store, attach=attach)
        yield store


def paired_figures(store: Store) -> dict[str, Any]:
    """Return EndoCA's metrics of the direct runs and what ASR made of them."""
    return _direct(store) | _reconciled(store)


def mirage_figures(store: Store) -> dict[str, Any]:
    """Return what the VLM in the box made of its own first answers by task, and of its answers by turn of the loop."""
    by_task = verimap_metrics(store, ["task"], Policy())
    by_turn = verimap_metrics(store, [], Policy())
    figures = ("n", "tp", "tn", "fp", "fn", "accuracy", "error", "fpr", "fnr", "bias", "generator_error")
    return {
        "by_task": {
            row["task"]: {name: row[name] for name in figures}
            for row in by_task.to_dict("records")
            if row["pairing"] == "self" and row["turn"] == 0
        },
        "by_turn": {
            row["turn"]: {name: row[name] for name in figures}
            for row in by_turn.to_dict("records")
            if row["pairing"] == "self"
        },
    }


def saliency_figures(store: Store) -> dict[str, Any]:
    """Return how far apart generator and verifier looked, and whether their maps point at what is asked about.

    Returns:
        gaps: by proxy and group (`ALL`, tasks) the rows of `grounding_tests`; pointing: see `pointing_figures`.
    """
    table = grounding_table(store, VerificationFilter())
    gaps = {
        str(proxy): {row.pop("group"): row for row in grounding_tests(table, proxy).to_dict("records")}
        for proxy in Proxy
    }
    return {"gaps": gaps, "pointing": pointing_figures(store)}


def _direct(store: Store) -> dict[str, Any]:
    names = dict(store.rows("SELECT run_id, vlm FROM runs WHERE stage = ?", [Stage.DIRECT]))
    direct = UnitFilter(runs=tuple(names))
    whole = endoca_metrics(store, direct, intervals=False)
    classes = endoca_metrics(store, direct, ["question_class"], intervals=False)
    [own] = [row for row in whole.to_dict("records") if names[row["run_id"]] != BLIND_VLM]
    by_class: dict[str, dict[str, float]] = {}
    for row in classes.to_dict("records"):
        who = "blind" if names[row["run_id"]] == BLIND_VLM else "vlm"
        by_class.setdefault(row["question_class"], {})[who] = row["atomic_accuracy"]
    figures = ("atomic_accuracy", "complex_accuracy", "joint_accuracy", "inconsistency", "n_units", "n_atomic")
    return {
        **{name: own[name] for name in figures},
        "n_apart": own["inconsistency_k"],
        "by_class": by_class,
    }


def _reconciled(store: Store) -> dict[str, Any]:
    """Return what Revise and Select of both variants came to."""
    figures: dict[str, Any] = {}
    for row in reconciled_table(store, UnitFilter(suite=DEMO_SUITE)).to_dict("records"):
        name = "" if row["variant"] == Variant.ASR else "self_"
        figures[f"{name}revise"] = {
            "before": row["direct.complex_accuracy"],
            "after": row["revised.complex_accuracy"],
            "n": row["n_units"],
            "n_repaired": row["repairs"],
            "n_harmed": row["harms"],
        }
        figures[f"{name}select"] = {
            "coverage": row["select.coverage"],
            "selective_accuracy": row["select.selective_accuracy"],
            "n": row["n_units"],
            "n_selected": row["select.coverage_k"],
            "n_unreadable": row["n_unreadable"],
        }
    return figures


def _verifier() -> dict[str, dict[str, Any]]:
    """Return, by question type, how well the probability of CORRECT tells right answers from wrong ones."""
    said = answers_of(VERIFICATION)
    groups: dict[str, list[tuple[bool, Answered]]] = {}
    for one in verifications():
        groups.setdefault(str(BY_NAME[one.question_class].type), []).append((one.correct, said[one.id]))
    return {kind: _verifier_figures(judged) for kind, judged in sorted(groups.items())}


def _verifier_figures(judged: Iterable[tuple[bool, Answered]]) -> dict[str, Any]:
    judged = list(judged)
    verdicts = [(correct, parse_verdict(answered.answer)) for correct, answered in judged]
    scores: dict[bool, list[float]] = {True: [], False: []}
    for correct, answered in judged:
        if answered.probabilities:
            scores[correct].append(answered.probabilities[Verdict.CORRECT])
    area = roc_area(scores[True], scores[False])
    return {
        "auc": area.value if area else None,
        "auc_low": area.low if area else None,
        "auc_high": area.high if area else None,
        "n_right": sum(correct for correct, _ in judged),
        "n_wrong": sum(not correct for correct, _ in judged),
        "n_unparsed": sum(verdict is None for _, verdict in verdicts),
        "accepts_right": _share(verdict is Verdict.CORRECT for correct, verdict in verdicts if correct),
        "accepts_wrong": _share(verdict is Verdict.CORRECT for correct, verdict in verdicts if not correct),
    }


class _SurgicalAnswer(NamedTuple):
    """One surgical question as it was answered."""

    pair: Pair
    variant: str
    right: bool
    blind_right: bool


def _surgical() -> dict[str, Any]:
    said, blind = answers_of(SURGICAL), answers_of(BLIND_SURGICAL)
    answers = [
        _SurgicalAnswer(
            pair,
            probe_id.partition("::")[2],
            exact_match(said[probe_id].answer, pair.reference),
            exact_match(blind[probe_id].answer, pair.reference),
        )
        for probe_id, (pair, _) in surgical_pairs().items()
    ]
    tasks = {task: [one for one in answers if one.pair.task is task] for task in Task}
    cues = {cue: [one for one in answers if one.pair.cue is cue] for cue in Cue}
    return {
        "n_pairs": len(answers) // 2,
        "atomic_accuracy": _share(one.right for one in answers if one.pair.level is Level.OBSERVATION),
        **_by_variant(answers),
        "by_task": {
            str(task): {
                **_by_variant(of),
                "blind": _share(one.blind_right for one in of),
                "n_pairs": len(of) // 2,
            }
            for task, of in tasks.items()
        },
        "by_cue": {str(cue): {**_by_variant(of), "n_pairs": len(of) // 2} for cue, of in cues.items()},
    }


def _by_variant(answers: Sequence[_SurgicalAnswer]) -> dict[str, float | None]:
    return {
        variant: _share(one.right for one in answers if one.variant == variant)
        for variant in ("original", "less_biased")
    }


def _share(outcomes: Iterable[bool]) -> float | None:
    counted = list(outcomes)
    return sum(counted) / len(counted) if counted else None
