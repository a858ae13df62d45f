"""The shared figures: what they draw, and the text for those who cannot see them."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from IPython import display
from matplotlib.colors import to_hex, to_rgb

from course import plots


@pytest.fixture
def draw(monkeypatch):
    """A function that draws: the first panel, and the text for screen readers."""
    shown = []
    monkeypatch.setattr(
        display, "display", lambda *one, **how: shown.append((*one, how))
    )

    def draw(function, *arguments):
        function(*arguments)
        assert not plt.get_fignums()  # all are closed
        figure, how = shown.pop()
        return figure.axes[0], how["metadata"]["image/png"]["alt"]

    return draw


def texts(labels):
    return [label.get_text() for label in labels]


def test_slopes_draw_strongly_what_moves_by_three_places(draw):
    board = pd.DataFrame({"l": [4, 3, 2, 1], "r": [1, 4, 3, 2]}, list("abcd"))
    axis, alt = draw(plots.slopes, {"1": board}, "l", "r", "T")
    assert [line.get_linewidth() for line in axis.lines] == [3, 1.5, 1.5, 1.5]
    assert list(axis.lines[0].get_ydata()) == [1, 4]
    assert texts(axis.texts)[:2] == ["a", "a"]
    assert "1: a and b" in alt


def test_forest_colours_only_intervals_without_zero(draw):
    columns = ["difference", "low", "high"]
    rows = [[0.5, 0.25, 0.75], [0.25, -0.25, 0.5], [-0.5, -0.75, -0.25]]
    table = pd.DataFrame(rows, list("abc"), columns)
    axis, alt = draw(plots.forest, {"one": table, "two": table}, "T", "x")
    sure, unsure, below = map(tuple, axis.collections[0].get_colors())
    assert sure == below != unsure
    assert texts(axis.get_yticklabels()) == ["a", "b", "c"]
    assert "one a: +0.500 (0.250 to 0.750); one b: +0.250 (-0.250 to 0.500);" in alt


def test_the_two_kinds_of_queries_keep_their_colours_in_any_order(draw):
    line = pd.Series([0.5, 0.25], [1, 2])
    colours = {}
    for names in ("typed", "generated"), ("generated questions", "judged"), ("a", "b"):
        axis, _ = draw(plots.curves, dict.fromkeys(names, line), "T", "x", "y")
        colours |= dict(
            zip(names, [drawn.get_color() for drawn in axis.lines], strict=True)
        )
    assert colours["typed"] == colours["judged"]
    assert colours["generated"] == colours["generated questions"] != colours["typed"]
    assert colours["a"] != colours["b"]


def test_scatter_has_the_points_and_tells_the_correlation(draw):
    table = pd.DataFrame({"x": [1, 2, 3], "y": [1, -2, 3]})
    axis, alt = draw(plots.scatter, {"one": table}, "T", "by people", "by the model")
    assert axis.collections[0].get_offsets().tolist() == table.to_numpy().tolist()
    assert "one: correlation 0.40" in alt


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("a$ é я 😀", r"a\$ é я 😀"),
        ("検索", r"\u691c\u7d22"),
        ("x" * 60, "x" * 49 + "…"),
    ],
)
def test_a_name_is_drawn_with_the_letters_that_the_font_has(name, drawn):
    assert plots.label_of(name) == drawn


def test_histograms_draw_shares_of_each_group(draw):
    values = {"listed": [0.95, 0.95, 0.05], "not listed": [0.05]}
    axis, alt = draw(plots.histograms, {"med": values}, "T", "P(1)")
    outlines = [patch.get_data().values for patch in axis.patches]
    assert [outline[0].round(3) for outline in outlines[1::2]] == [0.333, 1]
    assert "med, listed: mean 0.65; med, not listed: mean 0.05" in alt


def test_searches_are_side_by_side_and_for_phones_below_one_another(draw, tmp_path):
    rows = [[0.5, 0.25, 0.75], [0.75, 0.5, 1]]
    board = pd.DataFrame(rows, ["worse", "better"], ["value", "low", "high"])
    boards, file = {"one": board, "two": board[::-1]}, tmp_path / "six.png"
    _, alt = draw(plots.searches, boards, "a; b", "worse", file)
    wide, narrow = map(plt.imread, (file, tmp_path / "six-narrow.png"))
    assert narrow.shape[1] < wide.shape[1] / 2
    assert narrow.shape[0] > wide.shape[0]
    assert alt.endswith("two: better 0.750, worse 0.500.")


def test_funnel_stacks_the_stages_that_occur_and_tells_their_shares(draw):
    stages = ["right", "shown", "shown, not used", "not among 100"]
    table = pd.DataFrame([[0.5, 0, 0.25, 0.25]], ["a"], stages)
    axis, alt = draw(plots.funnel, table, "T")
    assert [bar.get_x() for bar in axis.patches] == [0, 0.5, 0.75]
    colours = {bar.get_facecolor() for bar in axis.patches}
    assert len(colours) == 3
    expected = "T. a: right 0.50, shown, not used 0.25, not among 100 0.25."
    assert alt == expected


def test_bars_stand_from_top_to_bottom_and_only_strong_ones_are_coloured(draw):
    values = pd.Series({"one": 0.25, "two": 0.5})
    axis, alt = draw(plots.bars, values, "T", "x", ["two"])
    assert axis.yaxis_inverted()
    assert [bar.get_width() for bar in axis.patches] == [0.25, 0.5]
    colours = [to_hex(bar.get_facecolor()) for bar in axis.patches]
    assert colours == [to_hex(plots.GREY), plots.COLOURS[0]]
    assert texts(axis.texts) == ["0.250", "0.500"]
    assert alt == "T. x: one 0.250, two 0.500."


def test_intervals_that_miss_the_truth_are_drawn_strongly(draw):
    table = pd.DataFrame({"low": [0.0, 0.6, 0.0], "high": [1.0, 1.0, 0.4]})
    axis, alt = draw(plots.misses, table, 0.5, "T", "x")
    assert list(axis.collections[0].get_linewidths()) == [1, 3, 3]
    assert alt == "T. 2 of 3 do not hold 0.500."


# --- Seen by everybody -------------------------------------------------------

# what eyes without one kind of cones see: linear RGB, Machado et al. 2009, severity 1
EYES = {
    "all cones": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}
XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]


def linear(colour):
    rgb = np.array(to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(colour, eye):
    xyz = XYZ @ np.clip(EYES[eye] @ linear(colour), 0, 1) / [0.95047, 1, 1.08883]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(one, other):
    bright, dark = sorted((linear(c) @ XYZ[1] for c in (one, other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def neighbours():
    """Pairs of colours that a figure shows side by side, without a second cue."""
    yield from itertools.combinations([*plots.COLOURS, plots.GREY], 2)
    by_hatch = {}
    for colour, hatch in plots.STAGE_STYLES.values():
        by_hatch.setdefault(hatch, set()).add(colour)
    for colours in by_hatch.values():
        yield from itertools.combinations(sorted(colours), 2)


@pytest.mark.parametrize("eye", EYES)
def test_colours_are_told_apart_by_every_eye(eye):
    for one, other in neighbours():
        distance = np.linalg.norm(lab(one, eye) - lab(other, eye))  # CIE76
        assert distance >= 15, (one, other)


def test_typed_and_generated_queries_have_a_colour_each_in_both_languages():
    for names in (["generated questions", "typed queries"], ["consultas tecleadas"]):
        for name in names:
            [place] = plots._places([name])
            assert place == ("generated" in name)


def test_numbers_on_a_heat_map_can_be_read_on_every_shade(draw):
    axis, _ = draw(plots.heat_map, pd.DataFrame([np.linspace(0, 1, 101)]), "T")
    for value, text in zip(np.linspace(0, 1, 101), axis.texts, strict=True):
        shade = axis.images[0].cmap(value)
        assert contrast(shade[:3], text.get_color()) >= 4.5
