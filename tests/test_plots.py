"""The shared figures: each draws and has a text, and what a picture must not hide."""

import re
from inspect import getmembers, isfunction

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from IPython import display

from course import plots


@pytest.fixture
def draw(monkeypatch):
    """A function that draws: the panels, and the text for screen readers."""
    shown = []
    monkeypatch.setattr(
        display, "display", lambda figure, metadata: shown.append((figure, metadata))
    )

    def draw(name, *arguments):
        getattr(plots, name)(*arguments)
        assert not plt.get_fignums()  # all are closed
        figure, metadata = shown.pop()
        return figure.axes, metadata["image/png"]["alt"]

    return draw


GAINS = pd.DataFrame(
    [[0.5, 0.25, 0.75], [0.25, -0.25, 0.5], [-0.5, -0.75, -0.25]],
    list("abc"),
    ["difference", "low", "high"],
)
ENDS = pd.DataFrame({"low": [0.0, 0.6, 0.0], "high": [1.0, 1.0, 0.4]})
SHARES = {"med": {"listed": [0.95, 0.95, 0.05], "not listed": [0.05]}}
BOARD = pd.DataFrame(
    [[0.75, 0.5, 1], [0.5, 0.25, 0.75]], ["better", "worse"], ["value", "low", "high"]
)
BOARDS = {"one": BOARD, "two": BOARD[::-1] / 2}
DRAWN = {
    "slopes": [{"1": BOARD}, "low", "high", "T"],
    "forest": [{"one": GAINS}, "T", "x"],
    "scatter": [{"one": GAINS}, "T", "x", "y"],
    "histograms": [SHARES, "T", "P"],
    "searches": [BOARDS, "T"],
    "bars": [BOARD["value"], "T", "x"],
    "funnel": [pd.DataFrame([[0.5, 0.5]], ["a"], ["right", "not among 100"]), "T"],
    "curves": [{"one": ENDS["low"]}, "T", "x", "y"],
    "histogram": [[1, 2, 3], "T", "x"],
    "heat_map": [BOARD, "T"],
    "misses": [ENDS, 0.5, "T", "x"],
}
NO_FIGURES = {"use_style", "show", "folded", "play", "save_searches", "label_of"}


def test_every_public_function_draws_and_tells_its_title_and_numbers(draw):
    """Which numbers is compared in notebooks, with the text of each figure."""
    functions = {name for name, _ in getmembers(plots, isfunction) if name[0] != "_"}
    assert functions - NO_FIGURES - {"findfont", "get_font"} == {*DRAWN}
    for name, arguments in DRAWN.items():
        _, alt = draw(name, *arguments)
        assert re.match(r"T\. .*\d", alt)


def test_an_interval_with_zero_is_grey_and_one_that_misses_the_truth_is_strong(draw):
    [axis], _ = draw("forest", *DRAWN["forest"])
    sure, unsure, below = map(tuple, axis.collections[0].get_colors())
    assert sure == below != unsure
    [axis], _ = draw("misses", *DRAWN["misses"])
    assert list(axis.collections[0].get_linewidths()) == [1, 3, 3]


def test_each_search_stands_beside_its_own_value_on_every_board(draw):
    axes, _ = draw("searches", *DRAWN["searches"])
    for axis, board in zip(axes, BOARDS.values(), strict=True):
        places, names = axis.get_yticks(), axes[0].get_yticklabels()
        values = {float(y): x for x, y in axis.collections[-1].get_offsets()}
        drawn = {
            label.get_text(): values[y] for y, label in zip(places, names, strict=True)
        }
        assert drawn == board["value"].to_dict()


def test_histograms_draw_shares_of_each_group(draw):
    [axis], _ = draw("histograms", *DRAWN["histograms"])
    outlines = [patch.get_data().values for patch in axis.patches]
    assert [outline[0].round(3) for outline in outlines[1::2]] == [0.333, 1]


def test_the_two_kinds_of_queries_keep_their_colours_in_any_order():
    assert plots._places(["generated questions", "judged"]) == [1, 0]
    assert plots._places(["generadas", "consultas tecleadas"]) == [1, 0]


def test_a_name_is_drawn_with_the_letters_that_the_font_has():
    drawn = {"a$ é": r"a\$ é", "検": r"\u691c", "x" * 60: "x" * 49 + "…"}
    assert {name: plots.label_of(name) for name in drawn} == drawn
