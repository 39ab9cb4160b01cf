"""Choosing a VLM: which can be asked on this machine, and why the others cannot.

What is not available is listed with all it lacks and cannot be chosen. To find that out
nothing is loaded and nothing is sent anywhere.
"""

__all__ = ["NO_VLM", "vlm_picker"]

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st

from backend.errors import AppError, BadLine, describe_bad_line
from backend.figures.style import GROUP_LABELS
from backend.services.endoca_series import vlm_places
from backend.settings import setting
from backend.vlm.availability import Availability, Machine, availability, look_at_machine
from backend.vlm.entries import VlmEntry
from backend.vlm.registry import SHIPPED, Registry
from backend.vlm.worker import WORKERS, WorkerStatus
from pages.ui.import_report import plural
from pages.ui.resources import kept
from pages.ui.tags import vlm_mark, vlm_name

NO_VLM = "No VLM can be asked on this machine; the list above says what each lacks."
"""Said below controls that wait for a choice."""

STYLE = Path(__file__).resolve().parent / "static" / "vlm_picker.css"

LOOK_AGAIN = 15
"""Seconds after which files, keys, GPUs and memory are looked at again."""

_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
"""Hosts to which a question is sent without leaving the machine."""

_GROUP_ORDER = ("demo", "general_open", "medical_open", "endoscopy_adapted", "closed_source", "blind")

_Stamps = tuple[tuple[str, int, int], ...]
"""Name, size and time of each file that lists VLMs."""


def vlm_picker(key: str, label: str = "VLM", *, beside: str = "") -> VlmEntry | None:
    """Draw the choice, what is known of the chosen VLM and of this machine, and the list of all VLMs.

    The choice lives in the link, by the VLM's name. A link that names one that is unknown, or that
    cannot be asked here, is told so, and the first that can be asked stands chosen.

    Args:
        key: Name of the link's parameter, and of the control.
        label: Of the control.
        beside: VLM chosen in a control above it, which tells of the machine and lists all VLMs; another one than
            that stands chosen first, where there is one. Empty where it is the only control.

    Returns:
        The chosen VLM; None where none can be asked on this machine.
    """
    lists = _lists()
    registry = _registry(lists)
    machine, found = _availabilities(lists, _entries=registry.entries)
    places = kept(vlm_places)
    entries = sorted(registry.entries, key=lambda entry: _GROUP_ORDER.index(entry.group))
    offered = {entry.name: entry for entry in entries if found[entry.name].ok}
    st.html(STYLE)
    if beside:  # the first that stands chosen is another one
        offered = dict(sorted(offered.items(), key=lambda item: item[0] == beside))
    chosen = _choose(key, label, registry, offered, found) if offered else None
    if chosen is None:
        st.text("None of the VLMs in the list can be asked on this machine. The list says what each of them lacks.")
    else:
        st.html(_about(chosen, places.get(chosen.name)))
    if beside:
        return chosen
    st.html(_machine_line(machine, WORKERS.status()))
    if registry.problems:
        st.html(_problems(registry.problems))
    counts = f"{plural(len(entries), 'VLM')} in the list, {len(offered):,} can be asked here"
    with st.expander(counts, expanded=chosen is None):
        st.html(_table(entries, found, places))
        st.caption("VLMs of your own go into a file that the setting PARALLAX_MODELS names; see data/models.yaml.")
    return chosen


def _lists() -> _Stamps:
    """Return the state of the files that list VLMs: a change of any is seen at the next rerun."""
    own = setting("PARALLAX_MODELS")
    stamps = []
    for path in (SHIPPED, *([Path(own).expanduser()] if own else [])):
        try:
            state = path.stat()
        except OSError:
            stamps.append((str(path), 0, 0))
            continue
        stamps.append((str(path), state.st_size, state.st_mtime_ns))
    return tuple(stamps)


@st.cache_data(max_entries=4, show_spinner=False)
def _registry(lists: _Stamps) -> Registry:
    return Registry.load()


@st.cache_data(ttl=LOOK_AGAIN, max_entries=4, show_spinner="Looking which VLMs can be asked here")
def _availabilities(lists: _Stamps, _entries: Sequence[VlmEntry]) -> tuple[Machine, dict[str, Availability]]:
    machine = look_at_machine()
    return machine, {entry.name: availability(entry, machine) for entry in _entries}


def _choose(
    key: str, label: str, registry: Registry, offered: Mapping[str, VlmEntry], found: Mapping[str, Availability]
) -> VlmEntry:
    """Draw the control, and say where the link asks for a VLM that cannot be chosen."""
    asked = st.query_params.get(key, "")
    name, said = _asked(asked, registry, offered, found) if asked else ("", "")
    state = f"vlm_{key}"
    st.session_state[state] = name or next(iter(offered))
    picked = st.selectbox(
        label,
        list(offered),
        key=state,
        format_func=lambda one: _option(offered[one]),
        on_change=_write,
        args=(key, state),
    )
    if said:
        st.text(said)
    return offered[picked]


def _asked(
    asked: str, registry: Registry, offered: Mapping[str, VlmEntry], found: Mapping[str, Availability]
) -> tuple[str, str]:
    """Return the VLM that a link names, where it is offered; else nothing, and why."""
    try:
        name = registry.find(asked).name
    except AppError as error:
        return "", f"The link asks for another VLM. {error.message}"
    if name in offered:
        return name, ""
    return "", f"The link asks for {name}, which cannot be asked here: {'; '.join(found[name].reasons)}."


def _write(key: str, state: str) -> None:
    st.query_params[key] = st.session_state[state]


def _option(entry: VlmEntry) -> str:
    return ", ".join(part for part in (entry.name, entry.size, GROUP_LABELS[entry.group]) if part)


def _about(entry: VlmEntry, place: int | None) -> str:
    """Return what a person should know before asking a VLM: whose it is, where it runs, what it needs."""
    if entry.openai:
        is_here = urlsplit(entry.openai.base_url).hostname in _THIS_MACHINE
        where = f"Asked at {entry.openai.host}{'' if is_here else ': images and questions leave this machine'}."
    else:
        where = f"Runs on this machine{_needs(entry)}."
    lacking = {"attention maps": entry.attention.why_not, "gradient maps": entry.gradients.why_not}
    without = "".join(f" No {what}: {why}." for what, why in lacking.items() if why)
    group = f"{vlm_mark(entry.group, place)}<span>{escape(GROUP_LABELS[entry.group])}</span>"
    note = f'<p class="quiet">{escape(entry.note)}</p>' if entry.note else ""
    return (
        f'<div class="vlm-chosen"><p class="head">{group}<span>Licence: {escape(entry.licence)}</span></p>'
        f"<p>{escape(where + without)}</p>{note}</div>"
    )


def _needs(entry: VlmEntry) -> str:
    """Return what memory it takes; nothing where the size is not known or too small to matter."""
    on_gpu, on_cpu = entry.memory_gb("bfloat16"), entry.memory_gb("float32")
    if on_gpu is None or on_cpu is None or on_gpu < 1:
        return ""
    return f"; takes about {on_gpu:.0f} GB on a GPU, {on_cpu:.0f} GB without one"


def _machine_line(machine: Machine, warm: Sequence[WorkerStatus]) -> str:
    """Return what this machine has to offer, and what it holds warm."""
    gpus = [f"{gpu.name}, {gpu.free_gb:.0f} of {gpu.total_gb:.0f} GB free" for gpu in machine.gpus]
    if not gpus:
        gpus = ["an Apple GPU, which shares the memory" if machine.is_apple else "no GPU"]
    memory = f"{machine.free_memory_gb:.0f} GB of memory free"
    held = "; ".join(_worker_words(status) for status in warm) or "none"
    return (
        f'<p class="vlm-machine">This machine: {escape("; ".join(gpus))}; {memory}. '
        f"Loaded and warm: {escape(held)}.</p>"
    )


def _worker_words(status: WorkerStatus) -> str:
    parts = [f"{status.name}, {status.phase}"]
    if status.since is not None:
        parts.append(f"since {status.since:%H:%M} UTC")
    if status.device:
        parts.append(f"on {status.device}")
    if status.process_bytes:
        parts.append(f"{status.process_bytes / 1e9:.1f} GB")
    return ", ".join(parts)


def _problems(problems: Sequence[BadLine]) -> str:
    """Return what is wrong in the lists of VLMs, with file, line and field."""
    items = "".join(f"<li>{escape(describe_bad_line(one).strip())}</li>" for one in problems)
    heading = f"{plural(len(problems), 'fault')} in the lists of VLMs. An entry with a fault is left out:"
    return f'<div class="vlm-problems" role="note"><p>{heading}</p><ul>{items}</ul></div>'


def _table(entries: Sequence[VlmEntry], found: Mapping[str, Availability], places: Mapping[str, int]) -> str:
    """Return the list of all VLMs, those that can be asked first, each with its licence or what it lacks."""
    parts = []
    for title, ok in (("Can be asked here", True), ("Not available here", False)):
        rows = "".join(_row(entry, found[entry.name], places) for entry in entries if found[entry.name].ok is ok)
        if rows:
            parts.append(f'<tbody><tr><th colspan="5" scope="rowgroup">{title}</th></tr>{rows}</tbody>')
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("VLM", "Size", "Group", "Licence", "Why not"))
    return f'<div class="vlm-list"><table><thead><tr>{heads}</tr></thead>{"".join(parts)}</table></div>'


def _row(entry: VlmEntry, here: Availability, places: Mapping[str, int]) -> str:
    """Return a VLM's row."""
    cells = (entry.size or "–", GROUP_LABELS[entry.group], entry.licence, "; ".join(here.reasons))
    name = vlm_name(entry.name, entry.group, places.get(entry.name))
    return f"<tr><td>{name}</td>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
