"""Colours, shapes and lines keep their meaning, and can be told apart in both themes."""

import colorsys
from itertools import combinations

import pytest

from backend.domain.records import Origin
from backend.endoca.outcomes import Outcome
from backend.figures.style import (
    BLIND_GROUP,
    DARK,
    GROUP_LABELS,
    LIGHT,
    OUTCOME_COLORS,
    VLM_COLORS,
    Theme,
    base_layout,
    contrast,
    mark_of,
    scale_color,
    short_name,
    text_on,
    theme_of,
)

THEMES = [LIGHT, DARK]


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("Qwen2.5-VL-FT", "Qwen2.5-VL-FT"),
        ("a" * 24, "a" * 24),
        ("MedGemma fine-tuned, prompt v1", "MedGemma fine-…prompt v1"),
        ("MedGemma fine-tuned, prompt v2", "MedGemma fine-…prompt v2"),
    ],
)
def test_a_long_name_loses_its_middle_and_keeps_what_differs_at_its_end(name: str, short: str) -> None:
    assert short_name(name) == short
    assert len(short) <= 24


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_mark_stands_out_from_its_ground(theme: Theme) -> None:
    place = THEMES.index(theme)
    colors = [pair[place] for pair in (*VLM_COLORS, *OUTCOME_COLORS.values())]
    assert min(contrast(color, theme.ground) for color in (*colors, theme.contradiction)) >= 3


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_text_is_read_as_easily_as_the_web_guidelines_ask(theme: Theme) -> None:
    for ink in (theme.text, theme.quiet, theme.contradiction_text):
        assert contrast(ink, theme.ground) >= 4.5


@pytest.mark.parametrize("share", [step / 40 for step in range(41)])
def test_text_is_readable_on_every_colour_of_a_heat_table(share: float) -> None:
    ground = scale_color(share)
    assert contrast(text_on(ground), ground) >= 4.5


def test_a_heat_table_gets_lighter_with_the_share_and_keeps_its_ends() -> None:
    lightness = [contrast(scale_color(step / 20), "#000000") for step in range(21)]
    assert lightness == sorted(lightness)
    assert (scale_color(-1), scale_color(2)) == (scale_color(0), scale_color(1)) == ("#00224e", "#fee838")


def test_contrast_is_that_of_the_web_guidelines() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#FFFFFF", "#FFFFFF") == pytest.approx(1)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.005)


def test_orange_is_the_contradiction_and_no_vlm() -> None:
    def hue(color: str) -> tuple[float, float]:
        channels = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
        angle, _, saturation = colorsys.rgb_to_hls(*channels)
        return 360 * angle, saturation

    for color in (color for pair in VLM_COLORS for color in pair):
        angle, saturation = hue(color)
        assert saturation < 0.35 or not 10 <= angle <= 45, color
    assert [name for name, pair in OUTCOME_COLORS.items() if 10 <= hue(pair[0])[0] <= 45] == [Outcome.INCONSISTENT]


def test_every_outcome_but_the_unanswered_has_a_colour() -> None:
    assert set(OUTCOME_COLORS) == set(Outcome) - {Outcome.NOT_ANSWERED}


def test_twelve_vlms_have_twelve_colours_and_the_thirteenth_starts_again() -> None:
    for theme in THEMES:
        colors = [mark_of(place, None, Origin.IMPORTED, theme).color for place in range(12)]
        assert len(set(colors)) == 12
        assert mark_of(12, None, Origin.IMPORTED, theme).color == colors[0]


def test_groups_differ_in_shape_and_origins_in_fill_and_line() -> None:
    groups = [*GROUP_LABELS, None]
    shapes = [mark_of(0, group, Origin.IMPORTED, LIGHT).symbol for group in groups]
    assert len(set(shapes)) == len(groups)
    marks = [mark_of(0, "general_open", origin, LIGHT) for origin in Origin]
    for one, other in combinations(marks, 2):
        assert one.symbol != other.symbol and one.dash != other.dash
    assert mark_of(0, "general_open", Origin.PUBLISHED, LIGHT).symbol == "circle-open"
    assert mark_of(0, "general_open", Origin.IMPORTED, LIGHT).symbol == "circle"


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_the_blind_baseline_is_a_dashed_grey_line_whatever_its_place(theme: Theme) -> None:
    marks = {mark_of(place, BLIND_GROUP, origin, theme) for place in (-1, 3) for origin in Origin}
    [mark] = marks
    assert (mark.color, mark.dash) == (theme.quiet, "dash")


def test_an_unknown_origin_is_refused() -> None:
    with pytest.raises(ValueError, match="guessed"):
        mark_of(0, None, "guessed", LIGHT)


@pytest.mark.parametrize(("name", "theme"), [("light", LIGHT), ("dark", DARK), (None, LIGHT)])
def test_a_page_that_does_not_know_its_theme_is_light(name: str | None, theme: Theme) -> None:
    assert theme_of(name) is theme


def test_figures_let_clicks_through_and_fetch_no_font() -> None:
    layout = base_layout(LIGHT, height=300)
    assert layout["dragmode"] == "pan"
    assert layout["height"] == 300
    assert "http" not in layout["font"]["family"]
