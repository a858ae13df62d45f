"""The shared figures: what they draw, and the text for those who cannot see them."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest

import plots


@pytest.fixture
def shown(monkeypatch):
    """The figures that are shown, as a list of (figure, alt text)."""
    figures = []
    monkeypatch.setattr(
        plots, "show", lambda figure, alt: figures.append((figure, alt))
    )
    yield figures
    plt.close("all")


def texts(figure):
    """Every text in the axes of a figure."""
    return [text.get_text() for axis in figure.axes for text in axis.texts]


def test_show_gives_the_picture_a_text_and_closes_it(monkeypatch):
    given = {}
    monkeypatch.setattr(
        plots, "display", lambda figure, metadata: given.update(metadata)
    )
    figure = plt.figure()
    plots.show(figure, "a line that rises")
    assert given == {"image/png": {"alt": "a line that rises"}}
    assert not plt.fignum_exists(figure.number)


def test_verdicts_write_difference_and_interval_into_the_right_cell(shown):
    columns = ["claim", "collection", "difference", "low", "high", "verdict"]
    rows = [
        ("a", "one", 0.5, 0.25, 0.75, "holds"),
        ("a", "two", -0.5, -0.75, -0.25, "reverses"),
        ("b", "one", 0.125, -0.25, 0.5, "cannot tell"),
        ("b", "two", 0, 0, 0, "not tested"),
        ("c", "one", 0, 0, 0, "holds"),
    ]
    plots.verdicts(pd.DataFrame(rows, columns=columns), ["b", "a"], ["one", "two"], "T")
    ((figure, alt),) = shown
    cells = {t.get_position(): t.get_text() for t in figure.axes[0].texts}
    assert cells == {
        (0.48, 0.46): "+0.125\n−0.250 to +0.500",
        (1.48, 0.46): "not tested",
        (0.48, 1.46): "✓ +0.500\n+0.250 to +0.750",
        (1.48, 1.46): "✗ −0.500\n−0.750 to −0.250",
    }
    assert alt.startswith("T. 2 claims on 2 sets")
    assert "holds 1" in alt


def test_slopes_draw_strongly_what_moves_by_three_places(shown):
    board = pd.DataFrame(
        {"left": [4.0, 3, 2, 1], "right": [1.0, 4, 3, 2]}, index=list("abcd")
    )
    plots.slopes(dict.fromkeys("1234", board), "left", "right", "T")
    ((figure, alt),) = shown
    lines = figure.axes[0].lines
    assert [line.get_linewidth() for line in lines] == [3, 1.5, 1.5, 1.5]
    assert list(lines[0].get_ydata()) == [1, 4]
    assert texts(figure)[:2] == ["a", "a"]
    assert "1: a and b; 2: a and b" in alt


def test_forest_colours_only_intervals_without_zero(shown):
    table = pd.DataFrame(
        {"difference": [0.5, 0.25], "low": [0.25, -0.25], "high": [0.75, 0.5]},
        ["a", "b"],
    )
    turned = -table.rename(columns={"low": "high", "high": "low"})
    plots.forest({"one": table, "two": turned}, "T", "x")
    ((figure, alt),) = shown
    lines = figure.axes[0].collections[0]
    assert len({tuple(colour) for colour in lines.get_colors()}) == 2
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [
        "a",
        "b",
    ]
    assert "one a: +0.500; one b: +0.250; two a: -0.500" in alt


def test_scatter_colours_points_by_verdict_and_tells_the_correlation(shown):
    table = pd.DataFrame({"x": [1.0, 2, 3], "y": [1.0, -2, 3]})
    plain = {"one": table, "two": table * [1, -1]}
    plots.scatter(plain, "T", "by people", "by the model")
    table["verdict"] = ["same", "opposite", "other"]
    plots.scatter({"three": table}, "T", "by people", "by the model")
    (_, alt), (figure, _) = shown
    assert "one: correlation 0.40; two: correlation -0.40" in alt
    places = {
        p.get_label(): p.get_offsets().tolist() for p in figure.axes[0].collections
    }
    assert places == {"same": [[1, 1]], "opposite": [[2, -2]], "other": [[3, 3]]}


def test_histograms_draw_shares_of_each_group(shown):
    values = {"listed": [0.95, 0.95, 0.05], "not listed": [0.05]}
    plots.histograms({"med": values}, "T", "P(1)")
    ((figure, alt),) = shown
    outlines = [patch for patch in figure.axes[0].patches if not patch.get_fill()]
    shares = [outline.get_data().values for outline in outlines]
    assert [share[0].round(3) for share in shares] == [0.333, 1]
    assert shares[0][-1].round(3) == 0.667
    assert "med, listed: mean 0.65; med, not listed: mean 0.05" in alt


def test_searches_are_saved_side_by_side_and_for_phones_below_one_another(
    shown, tmp_path
):
    board = pd.DataFrame(
        {"value": [0.5, 0.75], "low": [0.25, 0.5], "high": [0.75, 1.0]},
        index=["worse", "better"],
    )
    file = tmp_path / "six.png"
    plots.searches({"one": board, "two": board[::-1]}, "a; b", "worse", file)
    [(figure, alt)] = shown
    wide, narrow = map(plt.imread, (file, tmp_path / "six-narrow.png"))
    assert narrow.shape[1] < wide.shape[1] / 2
    assert narrow.shape[0] > wide.shape[0]
    ticks = figure.axes[0].get_yticklabels()
    assert [tick.get_text() for tick in ticks] == ["worse", "better"]  # upwards
    assert alt.endswith("two: better 0.750, worse 0.500.")
