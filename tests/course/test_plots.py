"""The shared figures: each draws and has a text, and what a picture must not hide."""

import base64
import re
import struct
from inspect import getmembers, isfunction

import matplotlib.pyplot as plt
import nbformat
import pandas as pd
import pytest
from IPython import display
from matplotlib.text import Text
from notebook_cells import NOTEBOOKS

from course import plots
from evaluate_retrieval.reading.places import ROOT

# pixels that a figure has on the site, in a window of 390 and in one of 1280
PHONE, PAGE = 358, 720
LETTERS = plots.STYLE["font.size"] * 100 / 72  # pixels, at 100 an inch


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
STAGES = pd.DataFrame({"a": ["right", "below 5"], "b": ["right", "right"]})
DRAWN = {
    "slopes": [{"1": BOARD}, "low", "high", "T"],
    "forest": [{"one": GAINS}, "T", "x"],
    "scatter": [{"one": GAINS}, "T", "x", "y"],
    "histograms": [SHARES, "T", "P"],
    "searches": [BOARDS, "T"],
    "bars": [BOARD["value"], "T", "x"],
    "stages": [STAGES.astype(pd.CategoricalDtype(["right", "below 5"])), "T"],
    "curves": [{"one": ENDS["low"]}, "T", "x", "y"],
    "histogram": [[1, 2, 3], "T", "x"],
    "heat_map": [BOARD, "T"],
    "misses": [ENDS, 0.5, "T", "x"],
    "places": [{"one": ["x", "y"], "two": ["y", "x"]}, {"x": "X", "y": "Y"}, {}, "T"],
}
NO_FIGURES = {"use_style", "looks", "show", "folded", "play"}


def test_every_public_function_draws_legible_text_and_tells_title_and_numbers(draw):
    """Which numbers is compared in notebooks, with the text of each figure."""
    functions = {name for name, _ in getmembers(plots, isfunction) if name[0] != "_"}
    assert functions - NO_FIGURES - {"label_of", "findfont", "get_font"} == {*DRAWN}
    with plt.rc_context(plots.STYLE):
        for name, arguments in DRAWN.items():
            axes, alt = draw(name, *arguments)
            assert re.match(r"T\. .*\d", alt)
            texts = axes[0].figure.findobj(lambda artist: type(artist) is Text)
            assert min(text.get_size() for text in texts) >= plots.STYLE["font.size"]


def test_an_interval_with_zero_is_grey_and_one_that_misses_the_truth_is_strong(draw):
    [axis], _ = draw("forest", *DRAWN["forest"])
    sure, unsure, below = map(tuple, axis.collections[0].get_colors())
    assert sure == below != unsure
    [axis], _ = draw("forest", {"": GAINS.assign(p=[0.04, 0.2, 0.06])}, "T", "x")
    sure, unsure, below = map(tuple, axis.collections[0].get_colors())
    assert below == unsure != sure  # by the corrected p value
    [legend] = axis.figure.legends
    assert "grey: we cannot tell" in [text.get_text() for text in legend.texts]
    [axis], _ = draw("forest", {"": GAINS.assign(p=0.04)}, "T", "x")
    assert not axis.figure.legends  # where nothing is grey
    [axis], _ = draw("misses", *DRAWN["misses"])
    assert list(axis.collections[0].get_linewidths()) == [1, 3, 3]


def test_the_middle_of_a_histogram_is_shaded_and_told(draw):
    [axis], alt = draw("histogram", [1, 2, 3], "T", "x", {"0": 0}, None, (1.5, 2.5))
    [*_, shade] = axis.patches
    assert [shade.get_x(), shade.get_x() + shade.get_width()] == [1.5, 2.5]
    assert alt.endswith("0 0, shaded from 1.5 to 2.5.")


def test_each_search_stands_beside_its_own_value_on_every_board(draw):
    axes, _ = draw("searches", *DRAWN["searches"])
    for axis, board in zip(axes, BOARDS.values(), strict=True):
        places, names = axis.get_yticks(), axes[0].get_yticklabels()
        values = {float(y): x for x, y in axis.collections[-1].get_offsets()}
        drawn = {
            label.get_text(): values[y] for y, label in zip(places, names, strict=True)
        }
        assert drawn == board["value"].to_dict()


def test_the_two_kinds_of_queries_keep_their_colours_and_nothing_else_has_them():
    typed, generated = plots.TYPED_COLOUR, plots.GENERATED_COLOUR
    for names in (["generated questions", "judged"], ["generadas", "con tecleadas"]):
        assert [colour for colour, _ in plots.looks(names)] == [generated, typed]
    [(first, _), (second, _)] = plots.looks(["today", "typed queries"])
    assert second == typed
    assert first not in (typed, generated)
    twice = {colour for colour, _ in plots.looks(["typed, long", "typed, short"])}
    assert not twice & {typed, generated}
    assert len(twice) > 1


def test_pictures_are_legible_on_a_phone_and_on_a_page():
    """Each is so narrow that its letters keep 10 pixels there, and 12 here."""
    sizes = []  # letters and width of each picture
    for path in (ROOT / "notebooks" / "figures").glob("*.svg"):
        text = path.read_text("utf-8")
        letters = map(float, re.findall(r'font-size="([\d.]+)', text))
        sizes.append(
            (path.name, min(letters), float(re.search(r'width="(\d+)', text)[1]))
        )
    for path in NOTEBOOKS:
        for cell in nbformat.read(path, as_version=4).cells:
            for output in cell.get("outputs", []):
                if picture := output.get("data", {}).get("image/png"):
                    [width] = struct.unpack(">I", base64.b64decode(picture)[16:20])
                    sizes.append((f"{path.name} {cell.id}", LETTERS, width))
    assert len(sizes) > 80
    small = [name for name, px, width in sizes if px * min(1, PHONE / width) < 10]
    small += [name for name, px, width in sizes if px * min(1, PAGE / width) < 12]
    assert small == []


def test_each_query_has_its_dot(draw):
    axes, _ = draw("stages", *DRAWN["stages"])
    dots = [[len(marks.get_offsets()) for marks in axis.collections] for axis in axes]
    assert dots == [[1, 1], [2, 0]]


def test_a_name_is_drawn_with_the_letters_that_the_font_has():
    drawn = {"a$ é": r"a\$ é", "検": r"\u691c", "x" * 60: "x" * 49 + "…"}
    assert {name: plots.label_of(name) for name in drawn} == drawn
