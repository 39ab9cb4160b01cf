"""What a run says in plain words: where its answers come from, how much it covers, how fast it went.

Everything returned is plain text and may hold a data set's or a VLM's words; who draws it
escapes it.
"""

__all__ = [
    "FAILURES",
    "NO_SPEED",
    "known",
    "named_runs",
    "overview_sentence",
    "pace_words",
    "provenance",
    "provenance_sentence",
    "run_name",
    "seconds_words",
    "status_name",
    "time_words",
]

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from backend.domain.metric import NOT_AVAILABLE
from backend.domain.records import AnswerStatus, Origin
from backend.figures.style import BLIND_GROUP, GROUP_LABELS
from backend.services.explore import run_label, run_labels
from backend.services.runs.overview import RunSummary
from backend.services.runs.record import RunRecord
from backend.services.stored_saliency import LookedInto
from pages.ui.import_report import plural

FAILURES = {
    AnswerStatus.FAILED: ("Failed", "the call ended in an error"),
    AnswerStatus.EMPTY: ("Empty", "the VLM said nothing, or nothing but punctuation"),
    AnswerStatus.UNPARSED: ("Not readable", "there is an answer, but no value can be read from some part of it"),
    AnswerStatus.MISSING: ("Missing", "the run holds no answer to the question"),
}
"""What can become of a question beside a readable answer → its name on the screen, and what it means."""

NO_SPEED = "Nobody timed answers that came in a file, nor those of the blind baseline."
"""Why a run has no throughput."""

_NOT_KNOWN = "not known"

_WHENCE = {
    Origin.IMPORTED: "These answers came in a file. How they were made is known only as far as the file says.",
    Origin.PRECOMPUTED: "Parallax computed these answers inside the store, without a run folder.",
    Origin.LIVE: "These answers were computed while somebody watched.",
}
"""Where the answers of a run without a run folder come from."""


def run_name(run: RunSummary) -> str:
    """Return what to call a run beside its suite: as `run_label`."""
    return run_label(_named_by(run))


def status_name(status: str) -> str:
    """Return what to call what became of a question beside a readable answer: "failed", "not readable"."""
    return FAILURES[AnswerStatus(status)][0].lower()


def named_runs(runs: Sequence[RunSummary]) -> list[str]:
    """Return what to call each of several runs beside its suite: as `run_labels`."""
    return run_labels([_named_by(run) for run in runs])


def _named_by(run: RunSummary) -> dict[str, object]:
    return {name: getattr(run, name) for name in ("run_id", "suite", "vlm", "setting", "stage")}


def overview_sentence(runs: Sequence[RunSummary]) -> str:
    """Return how many runs there are, where they come from, and what became of all their questions."""
    n_vlms = len({run.vlm for run in runs if run.vlm_group != BLIND_GROUP})
    who = [plural(n_vlms, "VLM")] if n_vlms else []
    if any(run.vlm_group == BLIND_GROUP for run in runs):
        who.append("the blind baseline")
    origins = Counter(run.origin for run in runs)
    whence = [f"{origins[origin]:,} {origin}" for origin in Origin if origins[origin]]
    covered = [run.coverage for run in runs]
    n_answered, n_probes = (sum(getattr(one, name) for one in covered) for name in ("n_answered", "n_probes"))
    lost = {word: sum(getattr(one, f"n_{word}") for one in covered) for word in ("failed", "empty", "missing")}
    rest = ", ".join(f"{n:,} {word}" for word, n in lost.items() if n)
    n_unread = sum(one.n_unparsed for one in covered)
    unread = f" {plural(n_unread, 'answer')} could not be read." if n_unread else ""
    answered = (
        f"Of {plural(n_probes, 'question')} put to them {n_answered:,} are answered{f'; {rest}' if rest else ''}."
    )
    return f"{plural(len(runs), 'run')} of {_listed(who)}, {_listed(whence)}. {answered}{unread}"


def provenance_sentence(run: RunSummary) -> str:
    """Return where a run's answers come from, and whether it is whole."""
    record = run.record
    if record is None:
        return _WHENCE[Origin(run.origin)]
    n_sessions = len(record.sessions)
    begun = f"Parallax put the questions to the VLM in a batch run, begun {time_words(record.created)} UTC"
    begun += f", in {plural(n_sessions, 'session')}" if n_sessions > 1 else ""
    if record.finished is not None:
        end = f"It was finished {time_words(record.finished)} UTC."
    else:
        counts = record.counts
        end = f"It is not finished: {counts.missing:,} of {plural(counts.planned, 'question')} are still to be asked."
    return f"{begun}. {end}{_limit_words(run, record)}"


def provenance(run: RunSummary, looked: LookedInto | None = None) -> list[tuple[str, list[str]]]:
    """Return all that is known of how the answers were made: what it is about, and its lines.

    Args:
        run: The run.
        looked: How far it was looked into; None where it was not.
    """
    record = run.record
    group = _NOT_KNOWN if run.vlm_group is None else GROUP_LABELS.get(run.vlm_group, run.vlm_group)
    details = [] if record is None else [f"{name}: {value}" for name, value in record.vlm.details.items()]
    facts = [
        ("VLM", [run.vlm, f"group: {group}", *details]),
        ("Setting", [run.setting]),
        ("Prompts", [known(run.prompt_version), *([f"SHA-256 {record.prompts_sha256}"] if record else [])]),
        ("Decoding", [known(run.decoding), *_watched(record)]),
        ("Scored by", [f"{run.scorer} {run.scorer_version}"]),
        ("Came from", [run.source]),
        ("In the store since", [f"{time_words(run.created_at)} UTC"]),
    ]
    if record is not None:
        facts += [
            ("Batch", [f"{plural(record.batch, 'question')} at once, at most"]),
            ("Code", _of_sessions((session.code for session in record.sessions), _code_words)),
            ("Machine", _of_sessions((session.machine for session in record.sessions), _machine_words)),
            ("Asked again", [f"{name}: damaged or gone" for name in record.lost_shards]),
        ]
    if looked is not None:
        facts.append(("Looked into", _looked_words(looked)))
    facts.append(("Run", [run.run_id]))
    return [(about, told) for about, lines in facts if (told := [line for line in lines if line])]


def _looked_words(looked: LookedInto) -> list[str]:
    """Return how many answers were looked into, when, and on what."""
    failed = f", {looked.n_failed:,} could not be" if looked.n_failed else ""
    sessions = looked.record.sessions
    return [
        f"{plural(looked.n - looked.n_failed, 'answer')}{failed}",
        *([f"{time_words(sessions[-1].last_saved)} UTC"] if sessions else []),
        *_of_sessions((session.machine for session in sessions), _machine_words),
    ]


def pace_words(pace: float | None) -> str:
    """Return answers a second to three digits, "1,147" or "0.25"; N/A for None."""
    if pace is None:
        return NOT_AVAILABLE
    return f"{pace:,.{0 if pace >= 100 else 1 if pace >= 10 else 2}f}"


def seconds_words(seconds: float | None) -> str:
    """Return "0.25 s", to three digits; N/A for None."""
    return NOT_AVAILABLE if seconds is None else f"{seconds:.3g} s"


def time_words(at: datetime) -> str:
    """Return a time to the minute."""
    return f"{at:%Y-%m-%d %H:%M}"


def _limit_words(run: RunSummary, record: RunRecord) -> str:
    planned, whole = record.counts.planned, run.coverage.n_probes
    holds_another = record.base is not None and record.setup is None  # a Revise run: its direct run's parts, too
    if planned >= whole or holds_another:
        return ""
    return f" It was planned over {planned:,} of the suite's {plural(whole, 'question')}; the others count as missing."


def known(text: str) -> str:
    return _NOT_KNOWN if text in ("", "unknown") else text


def _watched(record: RunRecord | None) -> list[str]:
    watched = record.decoding.watched if record else ()
    return [f"probabilities noted of {', '.join(watched)}"] if watched else []


def _of_sessions(facts: Iterable[Mapping[str, str]], words: Callable[[Mapping[str, str]], str]) -> list[str]:
    """Return what differs among sessions, each once."""
    return list(dict.fromkeys(words(one) for one in facts))


def _code_words(code: Mapping[str, str]) -> str:
    packages = {name: value for name, value in code.items() if name not in ("parallax", "code_sha256")}
    rest = "".join(f", {name} {value}" for name, value in packages.items())
    return f"Parallax {code.get('parallax', _NOT_KNOWN)}, SHA-256 {code.get('code_sha256', _NOT_KNOWN)}{rest}"


def _machine_words(machine: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in machine.items())


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
