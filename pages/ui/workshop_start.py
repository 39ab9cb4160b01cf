"""The cue workshop's link, and the start of a pair in it; the link then holds its trace."""

__all__ = ["WORKSHOP_LINK", "begin_anew", "go_to", "start_pair"]

from functools import partial

from backend.services.live_pairs import PAIRS, LivePair
from backend.services.pair_units import pair_to_ask
from backend.services.runs.identity import identity_of
from backend.store.store import Store
from backend.vlm.entries import VlmEntry
from backend.vlm.registry import Registry
from pages.ui.live_link import LiveLink

WORKSHOP_LINK = LiveLink("workshop_last", details=("thing",))

begin_anew = WORKSHOP_LINK.begin_anew
go_to = WORKSHOP_LINK.go_to


def start_pair(store: Store, unit_id: str, entry: VlmEntry) -> None:
    """Ask a VLM both questions of a pair, put that into the link, and draw the page anew with it.

    Raises:
        AppError: The pair cannot be asked, or the VLM cannot be opened.
    """
    pair = pair_to_ask(store, unit_id)
    vlm = Registry.load().open_vlm(entry.name)
    asked = PAIRS.begin(LivePair(store, pair, vlm), partial(identity_of, entry))
    WORKSHOP_LINK.show_started(asked.id)
