"""The shared figures: what their text tells, and what a reader could misread."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from IPython import display

from course import plots


@pytest.fixture
def draw(monkeypatch):
    """A function that draws: the first panel, and the text for screen readers."""
    shown = []
    monkeypatch.setattr(
        display, "display", lambda figure, metadata: shown.append((figure, metadata))
    )

    def draw(function, *arguments):
        function(*arguments)
        assert not plt.get_fignums()  # all are closed
        figure, metadata = shown.pop()
        return figure.axes[0], metadata["image/png"]["alt"]

    return draw


LINE = pd.Series([0.5, 0.75, 0.25], [1, 2, 3])
GAINS = pd.DataFrame(
    [[0.5, 0.25, 0.75], [0.25, -0.25, 0.5], [-0.5, -0.75, -0.25]],
    list("abc"),
    ["difference", "low", "high"],
)
XY = pd.DataFrame(
    {"x": [1, 2, 3], "y": [1, -2, 3], "verdict": ["same", "opposite", "x"]}
)
ENDS = pd.DataFrame({"low": [0.0, 0.6, 0.0], "high": [1.0, 1.0, 0.4]})
STAGES = ["right", "shown", "shown, not used", "not among 100"]
LOST = pd.DataFrame([[0.5, 0, 0.25, 0.25]], ["a"], STAGES)
PLACES = pd.DataFrame({"l": [4, 3, 2, 1], "r": [1, 4, 3, 2]}, list("abcd"))
SHARES = {"med": {"listed": [0.95, 0.95, 0.05], "not listed": [0.05]}}
BARS = pd.Series({"one": 0.25, "two": 0.5})
GRID = pd.DataFrame([[1, 2]], [7], ["a", "b"])
ALT = {  # what the text of a figure ends with
    "First by l and by r: 1: a and b": [plots.slopes, {"1": PLACES}, "l", "r", "T"],
    "x: one a: +0.500 (0.250 to 0.750); one b: +0.250 (-0.250 to 0.500); "
    "one c: -0.500 (-0.750 to -0.250)": [plots.forest, {"one": GAINS}, "T", "x"],
    "x against y. one: correlation 0.40": [plots.scatter, {"one": XY}, "T", "x", "y"],
    "P. med, listed: mean 0.65; med, not listed: mean 0.05": [
        plots.histograms,
        SHARES,
        "T",
        "P",
    ],
    "a: right 0.50, shown, not used 0.25, not among 100 0.25": [
        plots.funnel,
        LOST,
        "T",
    ],
    "x: one 0.250, two 0.500": [plots.bars, BARS, "T", "x"],
    "2 of 3 do not hold 0.500": [plots.misses, ENDS, 0.5, "T", "x"],
    "one: 0.500 at 1, 0.250 at the end, highest 0.750 at 2": [
        plots.curves,
        {"one": LINE},
        "T",
        "x",
        "y",
    ],
    "x: 1 to 3, mean 2": [plots.histogram, [1, 2, 3], "T", "x", {"mean": 2}],
    "Columns a, b: 7 1.00, 2.00": [plots.heat_map, GRID, "T"],
}


@pytest.mark.parametrize("alt", ALT)
def test_the_text_of_a_figure_tells_its_title_and_its_numbers(draw, alt):
    assert draw(*ALT[alt])[1] == f"T. {alt}."


def test_a_search_that_moves_by_three_places_is_drawn_strongly(draw):
    axis, _ = draw(plots.slopes, {"1": PLACES}, "l", "r", "T")
    assert [line.get_linewidth() for line in axis.lines] == [3, 1.5, 1.5, 1.5]


def test_only_intervals_with_zero_are_grey(draw):
    axis, _ = draw(plots.forest, {"one": GAINS}, "T", "x")
    sure, unsure, below = map(tuple, axis.collections[0].get_colors())
    assert sure == below != unsure
    assert [label.get_text() for label in axis.get_yticklabels()] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("names", "places"),
    [
        (["typed", "generated"], [0, 1]),
        (["generated questions", "judged"], [1, 0]),
        (["generadas", "consultas tecleadas"], [1, 0]),
        (["a", "b"], [0, 1]),
        (["typed, a", "typed, b"], [0, 1]),
    ],
)
def test_the_two_kinds_of_queries_keep_their_colours_in_any_order(names, places):
    assert [*plots._places(names)] == places


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
    axis, _ = draw(plots.histograms, SHARES, "T", "P(1)")
    outlines = [patch.get_data().values for patch in axis.patches]
    assert [outline[0].round(3) for outline in outlines[1::2]] == [0.333, 1]


def test_searches_are_side_by_side_and_for_phones_below_one_another(draw, tmp_path):
    rows = [[0.5, 0.25, 0.75], [0.75, 0.5, 1]]
    board = pd.DataFrame(rows, ["worse", "better"], ["value", "low", "high"])
    boards, file = {"one": board, "two": board[::-1]}, tmp_path / "six.png"
    _, alt = draw(plots.searches, boards, "a; b", "worse", file)
    wide, narrow = map(plt.imread, (file, tmp_path / "six-narrow.png"))
    assert narrow.shape[1] < wide.shape[1] / 2
    assert narrow.shape[0] > wide.shape[0]
    assert alt.endswith("two: better 0.750, worse 0.500.")


def test_funnel_stacks_the_stages_that_occur(draw):
    axis, _ = draw(plots.funnel, LOST, "T")
    assert [bar.get_x() for bar in axis.patches] == [0, 0.5, 0.75]


def test_bars_stand_from_top_to_bottom(draw):
    assert draw(plots.bars, BARS, "T", "x")[0].yaxis_inverted()


def test_intervals_that_miss_the_truth_are_drawn_strongly(draw):
    axis, _ = draw(plots.misses, ENDS, 0.5, "T", "x")
    assert list(axis.collections[0].get_linewidths()) == [1, 3, 3]


def test_numbers_on_a_heat_map_can_be_read_on_every_shade(draw):
    """The contrast of WCAG 2 is 4.5 to 1 for text."""
    axis, _ = draw(plots.heat_map, pd.DataFrame([np.linspace(0, 1, 101)]), "T")
    for value, text in zip(np.linspace(0, 1, 101), axis.texts, strict=True):
        shade = np.array(axis.images[0].cmap(value)[:3])
        linear = np.where(
            shade <= 0.04045, shade / 12.92, ((shade + 0.055) / 1.055) ** 2.4
        )
        light = linear @ [0.2126, 0.7152, 0.0722] + 0.05
        contrast = light / 0.05 if text.get_color() == "black" else 1.05 / light
        assert contrast >= 4.5
