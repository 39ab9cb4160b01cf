"""Can saliency maps be trusted: checks of one case's map, pointing on drawn frames, verdicts without their image."""

__all__ = ["Checkable", "show_map_checks", "show_pointing", "show_tampered"]

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import streamlit as st

from backend.domain.metric import NOT_AVAILABLE
from backend.errors import AppError
from backend.figures.saliency_checks import faithfulness_curves, maps_beside, pointing_marks
from backend.figures.style import Theme, theme_of
from backend.services.endoca_series import records
from backend.services.live_looks import why_no_look
from backend.services.saliency_checks import CHECKS, MapCheck, Part, look_to_check, start_map_check
from backend.services.saliency_pointing_table import EVERY, pointing_figures
from backend.services.verimap_comparisons import condition_table
from backend.store.store import Store
from backend.store.verification_filters import BOTH, VerificationFilter
from backend.verimap.conditions import Condition
from backend.vlm.registry import Registry
from backend.vlm.worker import Phase
from pages.ui.endoca_words import quiet_line
from pages.ui.errors import show_error
from pages.ui.resources import drawn_once, kept
from pages.ui.saliency_check_words import curves_sentence, pointing_sentences, shuffled_sentence, tampered_sentence
from pages.ui.trace_words import standing_words
from pages.ui.verimap_tables import of_figures, of_pairing, verdicts_of
from pages.ui.watching import cancel_button, watch

CONTROLS = {"image withheld": Condition.IMAGE_WITHHELD, "image swapped": Condition.IMAGE_SWAPPED}

ABOUT = (
    "Two checks, made now by the VLM that answered. The image is blurred away place by place in the map’s order, "
    "and brought back, while the probability of the answer is followed. Then the map is taken again with the VLM’s "
    "weights shuffled. They say whether a map follows what the answer depends on, not why."
)

_DOING = {
    Part.ATTENTION: "blurring in the order of the attention map",
    Part.GRADIENT: "blurring in the order of the gradient map",
    Part.SHUFFLED: "looking with shuffled weights",
}

_CHART = {"displayModeBar": False, "scrollZoom": False}


class Checkable(NamedTuple):
    """A look of a case whose map can be checked."""

    title: str
    """Whose it is: "Verifier (Box VLM)"; no other look of the case is called so."""
    run_id: str
    probe_id: str


def show_map_checks(store: Store, looks: Sequence[Checkable], *, key: str = "map_checks") -> None:
    """Draw, folded up, the checks of a case's maps; nothing without looks.

    A check runs on though the page is left. It is found again in the same session, and is not in the store.

    Args:
        store: Holds the looks.
        looks: Those shown above; one is checked at a time.
        key: Unique on the page.
    """
    if not looks:
        return
    part = st.expander("Can this map be trusted?", key=f"{key}_open", on_change="rerun")
    if not part.open:
        return
    with part:
        st.caption(ABOUT)
        chosen = looks[0]
        if len(looks) > 1:
            titles = [look.title for look in looks]
            # The verifier's look comes last, and it is the one in doubt.
            picked = st.segmented_control("Whose map", titles, default=titles[-1], required=True, key=f"{key}_whose")
            chosen = looks[titles.index(picked or titles[-1])]
        name = f"map_check:{chosen.run_id}:{chosen.probe_id}"
        check = CHECKS.known(str(st.session_state.get(name, "")))
        if check is None or check.is_over:
            _show_start(store, chosen, name, key, again=check is not None)
        if check is None:
            return
        if check.is_over:
            _show_check(check)
        else:
            watch(check, lambda: _show_running(check))


def _show_start(store: Store, chosen: Checkable, name: str, key: str, *, again: bool) -> None:
    try:
        look = look_to_check(store, chosen.run_id, chosen.probe_id)
    except AppError as error:
        st.text(f"{error.message} {error.hint}")
        return
    why_not = why_no_look(Registry.load(), look.vlm)
    label = "Check again" if again else "Check this map"
    if st.button(label, disabled=bool(why_not), help=why_not or None, key=f"{key}_start"):
        try:
            st.session_state[name] = start_map_check(store, look).id
        except AppError as error:
            show_error(error)
            return
        st.rerun()
    if why_not:
        st.text(f"{why_not}.")


def _show_running(check: MapCheck) -> None:
    total = len(check.look.parts)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.progress(check.n_done / total, text=f"{check.n_done} of {total} done: {_doing(check)}")
        cancel_button(check)
    _show_found(check)


def _doing(check: MapCheck) -> str:
    if check.is_stopping:
        return "stopping"
    asking, standing = check.asking, check.standing
    if not asking or (standing is not None and standing.phase is not Phase.ANSWERING):
        return standing_words(standing)
    return f"{_DOING[Part(asking[0].name)]}, {asking[0].seconds:.0f} s"


def _show_check(check: MapCheck) -> None:
    if check.error is not None:
        show_error(check.error)
    elif check.is_stopping:
        st.text("Cancelled. What was done until then is shown.")
    _show_found(check)


def _show_found(check: MapCheck) -> None:
    theme = theme_of(st.context.theme.type)
    if curves := check.curves:
        st.plotly_chart(
            faithfulness_curves({part.value: asdict(own) for part, own in curves.items()}, theme),
            theme=None,
            key=f"curves_{check.id}",
            config=_CHART,
            alt="Probability of the answer as the image is blurred away and brought back in the order of its maps",
        )
        st.text(curves_sentence(curves))
        st.caption("One random order stands for chance. Blurring leaves colours, so the last picture still shows some.")
    if shuffled := check.shuffled:
        real = check.look.kept
        pairs = [
            (kind, one, other)
            for kind, one, other in (
                ("attention", real.attention_map, shuffled.kept.attention_map),
                ("gradient", real.gradient_map, shuffled.kept.gradient_map),
            )
            if one is not None and other is not None
        ]
        st.plotly_chart(
            maps_beside(pairs, ("as it is", "shuffled weights"), theme),
            theme=None,
            key=f"shuffled_{check.id}",
            config=_CHART,
            alt="The maps as they are, and with the VLM’s weights shuffled",
        )
        st.text(shuffled_sentence(shuffled))
    for part, reason in check.refused.items():
        st.text(f"Not done, {_DOING[part]}: {reason}")


def show_pointing(store: Store, theme: Theme) -> None:
    """Draw how well the stored maps point on drawn frames; a quiet line where none was looked into.

    Args:
        store: Not read but through what is kept of it.
        theme: Light or dark.
    """
    with st.spinner("Drawing the frames again"):
        found: dict[str, Any] = kept(pointing_figures)
    if not found["n_looks"]:
        st.html(
            quiet_line(
                "On drawn frames it is known where things are, so maps can be scored there. No answer to the built-in "
                "questions was looked into yet."
            )
        )
        return
    for words in pointing_sentences(found):
        st.text(words)
    rows = found["rows"]
    for place, vlm in enumerate(dict.fromkeys(row["vlm"] for row in rows)):
        own = [row for row in rows if row["vlm"] == vlm]
        st.plotly_chart(
            drawn_once("pointing", (vlm, theme.name), lambda own=own: pointing_marks(own, theme)),  # type: ignore[misc]
            theme=None,
            key=f"pointing_{place}",
            config=_CHART,
            alt=f"Share of the maps of {vlm} inside what is asked about, against chance",
        )
    if rows:
        _show_pointing_table(rows)
        st.caption(
            "Times chance: share of the map inside the object, over the object’s share of the image; intervals "
            "resample frames. Times another’s: over what the map of the next frame has inside the same mask. Overlays "
            "lie in the same place in most frames, so for them that comparison says nothing. A hit: at least half of "
            "the brightest place lies inside; by chance: the share of places of which at least half does. Letters are "
            "thinner than a place, so text is never hit."
        )


def _show_pointing_table(rows: Sequence[dict[str, Any]]) -> None:
    import pandas as pd

    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    table = pd.DataFrame(
        [
            {
                "VLM": row["vlm"],
                "Object": "all of them" if row["object"] == EVERY else row["object"],
                "Map": f"{row['seat']}, {row['map']}",
                "n": row["n"],
                "Inside, %": 100 * row["mass"],
                "Chance, %": 100 * row["area"],
                "Times chance": _ratio_words(row, "times_chance"),
                "Times another’s": _ratio_words(row, "times_other"),
                "Hits": f"{row['hits_k']:,}/{row['n']:,} ({100 * row['hits_low']:.0f}–{100 * row['hits_high']:.0f} %)",
                "Hits by chance, %": 100 * row["chance_hit"],
            }
            for row in rows
        ]
    )
    st.dataframe(
        table,
        hide_index=True,
        placeholder=NOT_AVAILABLE,
        key="pointing_table",
        column_config={
            "VLM": text(width=110, pinned=True),
            "n": number(format="localized", width=60),
            **{name: number(format="%.1f") for name in ("Inside, %", "Chance, %", "Hits by chance, %")},
        },
    )


def show_tampered(store: Store, chosen: VerificationFilter) -> None:
    """Draw what becomes of verdicts with the image withheld or swapped, of verifications with saliency on both sides.

    What the plane page shows of all verdicts is worked out here of these alone, by the same function. Without such
    controls it is said how they are made.

    Args:
        store: Not read but through what is kept of it.
        chosen: The page's filter; that it asks for looks at both goes without saying.
    """
    rows = [{**row, "control": name} for name in CONTROLS for row in records(_tampered(chosen, CONTROLS[name]))]
    if not rows:
        st.html(
            quiet_line(
                "With the verdicts of the same verifier without its image, or with another one, it would show here how "
                "many stay the same: verify run --condition makes them."
            )
        )
        return
    st.text(tampered_sentence(rows))


def _tampered(chosen: VerificationFilter, condition: Condition) -> Any:
    asked = replace(of_figures(chosen), conditions=(), looked="")

    def make() -> Any:
        every, looked = verdicts_of(asked), verdicts_of(replace(asked, looked=BOTH))
        plain = of_pairing(looked[looked["condition"].astype(object) == Condition.PLAIN.value], chosen.pairing)
        return condition_table(every[every["asked_key"].isin(plain["asked_key"])], chosen.policy, condition)

    return drawn_once("saliency_tampered", (asked, condition), make)


def _ratio_words(row: dict[str, Any], key: str) -> str | None:
    value, low, high = row[key], row[f"{key}_low"], row[f"{key}_high"]
    if value is None:
        return None
    return f"{value:.2f}" if low is None else f"{value:.2f} ({low:.2f}–{high:.2f})"
