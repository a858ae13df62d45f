"""The figures that notebooks share, each with a text for screen readers."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display

STYLE = {"font.size": 12, "axes.spines.top": False, "axes.spines.right": False}
VERDICTS = {  # background and mark of a cell
    "holds": ("#bfdcf5", "✓ "),
    "reverses": ("#f5c1bd", "✗ "),
    "cannot tell": ("#eeeeee", ""),
    "not tested": ("white", ""),
}
COLOURS = ["#1f6fb5", "#c24a00", "#2e7d32"]  # contrast with white of 4.9 to 1 and more
GREY = "0.55"  # 3.4 to 1


def use_style():
    """Colours that colour-blind people can tell apart, and large text."""
    plt.style.use("petroff10")
    plt.rcParams.update(STYLE)


def show(figure, alt):
    """Show a figure. alt: what it shows, in a sentence or two, for screen readers."""
    display(figure, metadata={"image/png": {"alt": alt}})
    plt.close(figure)


def verdicts(table, claims, collections, title):
    """Claims × collections as a grid of differences, coloured by verdict.

    table: rows with claim, collection, difference, low, high and a verdict of VERDICTS.
    """
    size = (2.2 * len(collections) + 3.5, 0.72 * len(claims) + 0.9)
    figure, axis = plt.subplots(figsize=size, layout="tight")
    for row in table[table["claim"].isin(claims)].itertuples():
        x, y = collections.index(row.collection), claims.index(row.claim)
        colour, mark = VERDICTS[row.verdict]
        axis.add_patch(plt.Rectangle((x, y), 0.97, 0.92, color=colour))
        text = f"{mark}{row.difference:+.3f}\n{row.low:+.3f} to {row.high:+.3f}"
        if row.verdict == "not tested":
            text = "not tested"
        axis.text(x + 0.48, y + 0.46, text.replace("-", "−"), ha="center", va="center")
    axis.set(xlim=(0, len(collections)), ylim=(len(claims), 0))
    axis.set_xticks(np.arange(len(collections)) + 0.5, map(str.upper, collections))
    axis.set_yticks(np.arange(len(claims)) + 0.5, claims)
    axis.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    axis.set_frame_on(False)
    axis.set_title(title, loc="left", weight="bold")
    counts = table[table["claim"].isin(claims)]["verdict"].value_counts()
    said = ", ".join(f"{verdict} {number}" for verdict, number in counts.items())
    show(figure, f"{title}. {len(claims)} claims on {len(collections)} sets: {said}.")


def slopes(boards, left, right, title):
    """How two measures order the same searches: a panel for each board, best on top.

    boards: dict of name: DataFrame, a row for each search, with the columns left and
    right. A search that moves by three places or more is drawn strongly.
    """
    figure, axes = plt.subplots(2, 2, figsize=(13, 9), layout="tight")
    for axis, (name, board) in zip(axes.flat, boards.items(), strict=True):
        places = board[[left, right]].rank(ascending=False)
        for search, (a, b) in places.iterrows():
            moved = abs(a - b) >= 3
            colour, width = (COLOURS[1], 3) if moved else (GREY, 1.5)
            axis.plot([0, 1], [a, b], color=colour, lw=width)
            axis.text(-0.04, a, search, ha="right", va="center")
            axis.text(1.04, b, search, ha="left", va="center")
        axis.set_title(f"{name.upper()}: {left} | {right}")
        axis.invert_yaxis()
        axis.set_axis_off()
    figure.suptitle(title, weight="bold")
    firsts = [
        f"{name}: {board[left].idxmax()} and {board[right].idxmax()}"
        for name, board in boards.items()
    ]
    show(figure, f"{title}. First by {left} and by {right}: {'; '.join(firsts)}.")


def forest(tables, title, xlabel, grey=True):
    """Differences with 95 % intervals: a row for each label, a mark for each table.

    tables: dict of name: DataFrame with the columns difference, low and high. Its index
    is the labels, the same in each.
    grey: whether an interval that includes 0 is drawn in grey.
    """
    labels = list(next(iter(tables.values())).index)
    size = (11, 0.5 * len(labels) + 1.9)
    figure, axis = plt.subplots(figsize=size, layout="constrained")
    axis.axvline(0, color=GREY, lw=1)
    for number, (name, table) in enumerate(tables.items()):
        y = np.arange(len(labels)) + 0.28 * (number - (len(tables) - 1) / 2)
        sure = (table["low"] > 0) | (table["high"] < 0)
        colours = np.where(sure | (not grey), COLOURS[number], GREY)
        axis.hlines(y, table["low"], table["high"], color=colours, lw=2)
        marker = "os^"[number]
        axis.scatter(table["difference"], y, color=colours, marker=marker, zorder=3)
        axis.scatter([], [], color=COLOURS[number], marker=marker, label=name)
    axis.set_yticks(range(len(labels)), labels)
    axis.invert_yaxis()
    axis.set_xlabel(xlabel)
    axis.set_title(title, loc="left", weight="bold")
    if len(tables) > 1:
        figure.legend(loc="outside lower left", ncols=len(tables), frameon=False)
    said = [
        f"{name} {label}: {difference:+.3f}".strip()
        for name, table in tables.items()
        for label, difference in table["difference"].items()
    ]
    show(figure, f"{title}. {xlabel}: {'; '.join(said)}.")


def scatter(tables, title, xlabel, ylabel):
    """Two measures of the same things: a panel for each table.

    tables: dict of name: DataFrame with x and y as its first two columns. A further
    column `verdict` colours the points: "same", "opposite", or anything else for grey.
    Without it the line x = y is drawn.
    """
    figure, axes = _panels(tables)
    marks = {"same": (COLOURS[0], "o"), "opposite": (COLOURS[1], "X")}
    said = []
    for axis, (name, table) in zip(axes, tables.items(), strict=True):
        x, y = table.iloc[:, 0], table.iloc[:, 1]
        if "verdict" in table:
            axis.axhline(0, color=GREY, lw=1)
        else:
            axis.axline((0, 0), slope=1, color=GREY, lw=1)
        verdicts = table.get("verdict", pd.Series("same", table.index))
        for verdict, group in table.groupby(verdicts):
            colour, marker = marks.get(verdict, (GREY, "."))
            options = {"color": colour, "marker": marker, "s": 60}
            axis.scatter(x[group.index], y[group.index], label=verdict, **options)
        axis.set(title=name.upper(), xlabel=xlabel, ylabel=ylabel)
        said.append(f"{name}: correlation {np.corrcoef(x, y)[0, 1]:.2f}")
    figure.suptitle(title, weight="bold")
    if "verdict" in table:
        _legend_below(figure)
    show(figure, f"{title}. {xlabel} against {ylabel}. {'; '.join(said)}.")


def histograms(tables, title, xlabel):
    """Shares of values between 0 and 1: a panel for each name, a line for each label.

    tables: dict of name: dict of label: values.
    """
    figure, axes = _panels(tables)
    bins = np.linspace(0, 1, 11)
    said = []
    for axis, (name, groups) in zip(axes, tables.items(), strict=True):
        for colour, (label, values) in zip(COLOURS, groups.items(), strict=False):
            shares = np.histogram(values, bins)[0] / len(values)
            axis.stairs(shares, bins, color=colour, fill=True, alpha=0.3)
            axis.stairs(shares, bins, color=colour, lw=2, label=label)
            said.append(f"{name}, {label}: mean {np.mean(values):.2f}")
        axis.set(title=name.upper(), xlabel=xlabel, ylabel="share")
    figure.suptitle(title, weight="bold")
    _legend_below(figure)
    show(figure, f"{title}. {xlabel}. {'; '.join(said)}.")


def _panels(tables):
    """A figure with a panel for each table, two in a row, and these panels."""
    rows = (len(tables) + 1) // 2
    figure, axes = plt.subplots(rows, 2, figsize=(12, 4.2 * rows), layout="constrained")
    for axis in axes.flat[len(tables) :]:
        axis.remove()
    return figure, axes.flat[: len(tables)]


def _legend_below(figure):
    """One legend below the panels, with each label once."""
    by_label = {}
    for axis in figure.axes:
        handles, labels = axis.get_legend_handles_labels()
        by_label |= dict(zip(labels, handles, strict=True))
    figure.legend(
        by_label.values(), by_label, loc="outside lower left", ncols=3, frameon=False
    )
