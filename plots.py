"""The figures that notebooks share, each with a text for screen readers."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display
from scipy import stats

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
    columns = min(2, len(tables))
    rows = (len(tables) + 1) // 2
    size = (12, 4.2 * rows)
    figure, axes = plt.subplots(
        rows, columns, figsize=size, squeeze=False, layout="constrained"
    )
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


def searches(boards, title, baseline=None):
    """Searches with their 95 % intervals: a panel for each kind of queries.

    boards: dict of a label, such as "nDCG@10, typed queries": DataFrame with a row for
    each search and the columns value, low and high. The first board gives the order.
    baseline: a search whose values are drawn as grey lines.
    """
    order = list(next(iter(boards.values())).sort_values("value").index)
    size = (4 + 4.5 * len(boards), 0.42 * len(order) + 1.6)
    figure, axes = plt.subplots(
        1, len(boards), figsize=size, sharey=True, squeeze=False, layout="constrained"
    )
    said = []
    for axis, (label, board) in zip(axes.flat, boards.items(), strict=True):
        rows = board.reindex(order)
        if baseline:
            axis.axvline(rows.loc[baseline, "value"], color=GREY, lw=1)
        axis.hlines(order, rows["low"], rows["high"], color=COLOURS[0], lw=2)
        axis.scatter(rows["value"], order, color=COLOURS[0], zorder=3)
        axis.set_xlabel(label)
        parts = [f"{name} {value:.3f}" for name, value in rows["value"][::-1].items()]
        said.append(f"{label}: {', '.join(parts)}")
    figure.suptitle(title, weight="bold")
    show(figure, f"{title}. {'; '.join(said)}.")


def bars(values, title, xlabel, strong=()):
    """Horizontal bars with their values beside them, from top to bottom.

    values: a Series of label: value. strong: the labels that are drawn in colour; else
    all are."""
    figure, axis = _one_panel(title, 0.45 * len(values) + 1.6)
    labels = list(map(str, values.index))
    strong = [*map(str, strong)] or labels
    colours = [COLOURS[0] if label in strong else GREY for label in labels]
    drawn = axis.barh(labels, values, color=colours)
    form = "{:,.0f}" if (values % 1 == 0).all() else "{:.3f}"
    texts = [form.format(value) for value in values]
    axis.bar_label(drawn, texts, padding=4)
    axis.invert_yaxis()
    axis.set_xlabel(xlabel)
    pairs = zip(labels, texts, strict=True)
    said = ", ".join(f"{label} {text}" for label, text in pairs)
    show(figure, f"{title}. {xlabel}: {said}.")


def stacked_bars(table, title, xlabel):
    """What a sum is made of: a bar for each row, a part of it for each column.

    table: DataFrame with at most three columns of values from 0.
    """
    figure, axis = _one_panel(title, 0.7 * len(table) + 1.8)
    labels = list(map(str, table.index))
    left = np.zeros(len(table))
    for colour, (name, values) in zip(COLOURS, table.items(), strict=False):
        drawn = axis.barh(labels, values, left=left, color=colour, label=name)
        texts = [f"{value:.2f}" if value >= 0.05 else "" for value in values]
        axis.bar_label(drawn, texts, label_type="center", color="white")
        left += values.to_numpy()
    for y, total in enumerate(left):
        axis.text(total, y, f" {total:.2f}", va="center", weight="bold")
    axis.invert_yaxis()
    axis.set_xlabel(xlabel)
    _legend_below(figure)
    said = [f"{label} {total:.2f}" for label, total in zip(labels, left, strict=True)]
    show(figure, f"{title}. {xlabel}: {', '.join(said)}.")


def curves(lines, title, xlabel, ylabel, logarithmic=False, best=True, label_at=-1):
    """One line for each name, with the name beside its last point.

    lines: dict of name: Series of x: y. best: whether the highest point of each line is
    marked. label_at: beside which point the name stands, 0 for the first."""
    figure, axis = _one_panel(title, 4.5)
    said = []
    marks = zip(COLOURS, "os^", lines.items(), strict=False)
    for colour, marker, (name, line) in marks:
        axis.plot(line.index, line, color=colour, marker=marker, ms=5)
        x = line.idxmax()
        if best:
            ring = {"s": 160, "facecolor": "none", "edgecolor": colour, "lw": 2}
            axis.scatter(x, line[x], **ring)
        place = (line.index[label_at], line.iloc[label_at])
        style = {"color": colour, "textcoords": "offset points", "va": "center"}
        away = (8, 0) if label_at else (8, 8)
        axis.annotate(name, place, xytext=away, annotation_clip=False, **style)
        ends = f"{line.iloc[0]:.3f} at {line.index[0]}, {line.iloc[-1]:.3f} at the end"
        said.append(f"{name}: {ends}, highest {line[x]:.3f} at {x}")
    if logarithmic:
        axis.set_xscale("log")
        axis.set_xticks(line.index, [f"{number:,g}" for number in line.index])
        axis.minorticks_off()
    axis.set(xlabel=xlabel, ylabel=ylabel)
    show(figure, f"{title}. {'; '.join(said)}.")


def histogram(values, title, xlabel, marks=None):
    """How often which value occurs. marks: dict of label: value, drawn as lines."""
    figure, axis = _one_panel(title, 4.2)
    axis.hist(values, bins=40, color=COLOURS[0], alpha=0.6)
    top = axis.get_ylim()[1]
    marks = marks or {}
    for label, value in marks.items():
        axis.axvline(value, color=COLOURS[1], lw=2)
        axis.text(value, top, f" {label}", color=COLOURS[1], va="top")
    axis.set(xlabel=xlabel, ylabel="how many")
    said = "".join(f", {label} {value:.3g}" for label, value in marks.items())
    low, high = np.min(values), np.max(values)
    show(figure, f"{title}. {xlabel}: {low:.3g} to {high:.3g}{said}.")


def heat_map(table, title, number="{:.2f}", low=None, high=None):
    """A table of numbers as a grid, darker for higher ones.

    low, high: which values are the lightest and the darkest; else those of the table.
    """
    figure, axis = plt.subplots(
        figsize=(1.5 * table.shape[1] + 4, 0.5 * len(table) + 1.8), layout="constrained"
    )
    values = table.to_numpy(dtype=float)
    axis.imshow(values, cmap="Blues", aspect="auto", vmin=low, vmax=high)
    middle = (axis.images[0].norm.vmin + axis.images[0].norm.vmax) / 2
    for (y, x), value in np.ndenumerate(values):
        colour = "white" if value > middle else "black"
        text = "" if np.isnan(value) else number.format(value)
        axis.text(x, y, text, ha="center", va="center", color=colour)
    axis.set_xticks(range(table.shape[1]), map(str, table.columns))
    axis.set_yticks(range(len(table)), map(str, table.index))
    axis.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    axis.spines[:].set_visible(False)
    axis.set_title(title, loc="left", weight="bold")
    rows = zip(table.index, values, strict=True)
    said = [f"{name} {', '.join(map(number.format, row))}" for name, row in rows]
    show(figure, f"{title}. Columns {', '.join(map(str, table))}: {'; '.join(said)}.")


def points(table, title, xlabel="", ylabel=""):
    """Labelled points. table: columns x and y; its index has the labels."""
    figure, axis = _one_panel(title, 5.5)
    axis.scatter(table["x"], table["y"], color=COLOURS[0], s=60)
    for number, (label, row) in enumerate(table.sort_values("x").iterrows()):
        away = (7, 5) if number % 2 else (7, -14)  # neighbours' labels stay apart
        axis.annotate(label, (row["x"], row["y"]), away, textcoords="offset points")
    axis.set(xlabel=xlabel, ylabel=ylabel)
    axis.margins(0.2)
    show(figure, f"{title}. {', '.join(map(str, table.index))}.")


def _one_panel(title, height):
    figure, axis = plt.subplots(figsize=(11, height), layout="constrained")
    axis.set_title(title, loc="left", weight="bold")
    return figure, axis


def misses(intervals, truth, title, xlabel):
    """Many intervals, one below the other; those that miss the truth are coloured.

    intervals: DataFrame with the columns low and high."""
    missed = (intervals["low"] > truth) | (intervals["high"] < truth)
    figure, axis = _one_panel(title, 6)
    places = np.arange(len(intervals))
    widths = np.where(missed, 3, 1)
    colours = np.where(missed, COLOURS[1], GREY)
    axis.hlines(places, intervals["low"], intervals["high"], colors=colours, lw=widths)
    axis.axvline(truth, color="black", lw=1)
    axis.set(xlabel=xlabel, yticks=[])
    show(figure, f"{title}. {missed.sum()} of {len(missed)} do not hold {truth:.3f}.")


def reliability(tables, title):
    """Probabilities against how often they came true: a panel for each table.

    tables: dict of name: DataFrame, a row for each range of probabilities, with their
    mean p, how many there are (n) and how many came true (yes). Larger marks have more;
    the lines are Wilson's 95 % intervals."""
    figure, axes = _panels(tables)
    said = []
    for axis, (name, table) in zip(axes, tables.items(), strict=True):
        axis.axline((0, 0), slope=1, color=GREY, lw=1)
        share = table["yes"] / table["n"]
        for p, n, yes in table[["p", "n", "yes"]].itertuples(index=False):
            limits = stats.binomtest(yes, n).proportion_ci(method="wilson")
            axis.vlines(p, *limits, color=COLOURS[0], lw=2)
        size = 30 + 400 * table["n"] / table["n"].sum()
        axis.scatter(table["p"], share, s=size, color=COLOURS[0], zorder=3)
        for x, y, n in zip(table["p"], share, table["n"], strict=True):
            axis.annotate(f"{n}", (x, y), (12, -4), textcoords="offset points")
        limit = (-0.05, 1.1)
        axis.set(title=name, xlabel="probability given", ylabel="share that is true")
        axis.set(xlim=limit, ylim=limit)
        points = zip(table["p"], share, strict=True)
        shares = [f"{y:.2f} at {x:.2f}" for x, y in points]
        said.append(f"{name}: {', '.join(shares)}")
    figure.suptitle(title, weight="bold")
    show(figure, f"{title}. Share that is true at each probability. {'; '.join(said)}.")
