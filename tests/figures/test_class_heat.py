"""A table of shares is coloured by its numbers and stays readable."""

import pandas as pd

from backend.figures.class_heat import class_heat
from backend.figures.style import scale_color


def test_a_heat_cell_is_coloured_by_its_share_and_na_is_not() -> None:
    table = pd.DataFrame({"class": ["polyp count", "text presence"], "a": [0.5, None], "b": [1.0, 0.0]}).astype(object)
    styler = class_heat(table, ["a", "b"], {(0, "b"): "100.0 (90.0–100.0)"})
    html = styler.to_html()
    assert f"background-color: {scale_color(0.5)}" in html
    for words in (">50.0<", ">N/A<", ">100.0 (90.0–100.0)<", ">0.0<"):
        assert words in html
    assert html.count("background-color") == 3
