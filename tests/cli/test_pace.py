"""Rate and time left are told from the second batch on, and not too often."""

import pytest

from backend.cli import pace


def told(monkeypatch: pytest.MonkeyPatch, total: int | None, moments: list[tuple[float, int]]) -> list[str]:
    """Return the words of each report; moments are seconds and items done by then."""
    clock = iter([seconds for seconds, _ in moments])
    monkeypatch.setattr(pace, "monotonic", lambda: next(clock))
    words: list[str] = []
    report = pace.with_pace(lambda stage, done, total: words.append(stage))
    for _, done in moments:
        report("answering", done, total)
    return words


def test_the_first_batch_which_loads_the_vlm_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """60 in the first 100 s, then 60 in 20 s: three a second, and 60 s for the last 180 of 300."""
    words = told(monkeypatch, 300, [(0, 0), (100, 60), (120, 120), (121, 123), (150, 210)])
    estimate = "answering, 120 of 300, 3.0 a second, about 60 s left"
    assert words == [
        "answering",
        "answering",
        estimate,
        estimate,
        "answering, 210 of 300, 3.0 a second, about 30 s left",
    ]


def test_what_an_earlier_session_did_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten more in 20 s: 2 s each, and 7,180 s for the last 3,590."""
    words = told(monkeypatch, 4_000, [(0, 390), (50, 400), (70, 410)])
    assert words[-1] == "answering, 410 of 4,000, 2.0 s each, about 2.0 h left"


def test_without_a_total_nothing_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(monkeypatch, None, [(0, 0), (1, 5), (20, 10)]) == ["answering"] * 3
