"""No reference of a case reaches a VLM that is asked live about it."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.endoca.asr import Variant
from backend.services.live import LiveRun
from backend.services.live_units import unit_to_ask
from backend.store.store import Store
from tests.endoca.test_asr import ScriptedVlm
from tests.services.endoca_files import SAMPLES
from tests.services.run_files import PARROT, draw_images, drawn_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Three samples with nine references, on two images."""
    folder = tmp_path_factory.mktemp("references")
    with drawn_store(folder, images=draw_images(folder / "images")) as made:
        yield made


@settings(max_examples=15, deadline=None)
@given(
    rare=st.lists(st.text("bcdfghjklmnpqrstvwxz", min_size=9, max_size=12), min_size=9, max_size=9, unique=True),
    variant=st.sampled_from(Variant),
)
def test_references_planted_as_rare_words_reach_no_prompt(store: Store, rare: list[str], variant: Variant) -> None:
    probes = [row[0] for row in store.rows("SELECT probe_id FROM probes ORDER BY probe_id")]
    with store.write() as cursor:
        for probe_id, word in zip(probes, rare, strict=True):
            cursor.execute("UPDATE probes SET reference = ? WHERE probe_id = ?", [word, probe_id])
    vlm = ScriptedVlm({})
    for sample, *_ in SAMPLES:
        run = LiveRun(store, unit_to_ask(store, f"drawn:{sample}"), vlm, variant)
        run.run(lambda: PARROT)
        assert run.trace.decision is not None
    assert len(vlm.asked) == (15 if variant is Variant.ASR else 9)
    assert not [word for word in rare if any(word in ask.prompt for ask in vlm.asked)]
