"""Where a question's verification is routed, and on what evidence."""

import pytest

from backend.verimap.counts import Counts
from backend.verimap.quadrants import PlaneThresholds
from backend.verimap.routing import MeasuredCell, RouteDecision, RoutingThresholds, cell_of_counts, route
from backend.verimap.vocabulary import Task, TaskGroup

TRUST, CROSS, EXTERNAL = RouteDecision
SOUND = Counts(tp=190, tn=95, fp=5, fn=10)  # error 5 %, FPR 5 %
MIRAGE = Counts(tp=40, tn=5, fp=50, fn=5)  # error 55 %, FPR 91 %
BETWEEN = Counts(tp=60, tn=25, fp=12, fn=3)  # error 15 %, FPR 32 %
SMALL = Counts(tp=8, tn=4)
NEVER_WRONG = Counts(tp=100)


def cell(task: Task, counts: Counts, generator: str | None = "one") -> MeasuredCell:
    return cell_of_counts(counts, task=task, verifier="one", generator=generator, source="a run")


PERCEPTUAL, KNOWLEDGE = Task.MODALITY_RECOGNITION, Task.DIFFERENTIAL_DIAGNOSIS


@pytest.mark.parametrize(
    ("task", "counts", "generator", "decision"),
    [
        (PERCEPTUAL, SOUND, "one", TRUST),
        (KNOWLEDGE, SOUND, "one", TRUST),
        (PERCEPTUAL, MIRAGE, "one", CROSS),
        (PERCEPTUAL, MIRAGE, None, CROSS),
        (PERCEPTUAL, MIRAGE, "another", EXTERNAL),
        (KNOWLEDGE, MIRAGE, "one", EXTERNAL),
        (Task.QUANTITATIVE_MEASUREMENT, MIRAGE, "one", CROSS),
        (PERCEPTUAL, BETWEEN, "one", CROSS),
        (KNOWLEDGE, BETWEEN, "one", CROSS),
        (PERCEPTUAL, SMALL, "one", CROSS),
        (KNOWLEDGE, SMALL, "one", EXTERNAL),
        (PERCEPTUAL, NEVER_WRONG, "one", CROSS),
        (KNOWLEDGE, NEVER_WRONG, "one", EXTERNAL),
        (PERCEPTUAL, Counts(), "one", CROSS),
    ],
)
def test_the_measured_cell_decides(task: Task, counts: Counts, generator: str | None, decision: RouteDecision) -> None:
    assert route(task, cell(task, counts, generator)).decision is decision


@pytest.mark.parametrize("task", Task)
def test_what_was_never_measured_is_never_trusted(task: Task) -> None:
    found = route(task, None)
    assert found.decision is (EXTERNAL if task.group is TaskGroup.KNOWLEDGE_INTENSIVE else CROSS)
    assert found.cell is None
    assert "not been measured" in found.reason


def test_figures_without_a_printed_n_can_count_against_a_verifier_but_not_for_it() -> None:
    def printed(task: Task, error: float, fpr: float) -> MeasuredCell:
        return MeasuredCell(
            task=task, verifier="one", generator="one", source="Table 6", error=error, fpr=fpr, n=None, n_wrong=None
        )

    assert route(KNOWLEDGE, printed(KNOWLEDGE, 0.7, 0.9)).decision is EXTERNAL
    good = route(PERCEPTUAL, printed(PERCEPTUAL, 0.01, 0.01))
    assert good.decision is CROSS
    assert "n not printed" in good.reason


def test_a_few_wrong_answers_caught_are_not_enough_to_be_trusted() -> None:
    few = Counts(tp=97, tn=3)  # FPR 0 of 3, up to 56 %
    found = route(PERCEPTUAL, cell(PERCEPTUAL, few))
    assert found.decision is CROSS
    assert found.fpr_high is not None
    assert found.fpr_high == pytest.approx(0.5615, abs=1e-4)


def test_a_route_says_its_figures_and_n() -> None:
    assert route(KNOWLEDGE, cell(KNOWLEDGE, MIRAGE)).reason == (
        "Verification mirage on a knowledge-intensive task: error 55.0 % (up to 64.4 %), FPR 90.9 % (up to 96.1 %), "
        "n = 100, 55 of them wrong answers."
    )


def test_thresholds_are_settings() -> None:
    strict = RoutingThresholds(max_error=0.01, max_fpr=0.01, plane=PlaneThresholds())
    assert route(PERCEPTUAL, cell(PERCEPTUAL, SOUND), strict).decision is CROSS


def test_a_cell_of_another_task_is_refused() -> None:
    with pytest.raises(ValueError, match="question of"):
        route(KNOWLEDGE, cell(PERCEPTUAL, SOUND))
