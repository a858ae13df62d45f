"""The figures that notebooks share, each with a text for screen readers.

They are narrow, so that on a phone, too, their text has ten pixels."""

import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from numpy.typing import ArrayLike

STYLE = {
    "font.size": 13,
    "axes.titlesize": "medium",
    "figure.titlesize": "medium",
    "figure.labelsize": "medium",
    "axes.spines.top": False,
    "axes.spines.right": False,
}
WIDTH = 6.2  # inches
TALLEST = 7.8  # inches: so its text has 14 pixels on a slide
# Contrast with white of 4.9 to 1 and more. The colours of typed queries and of
# generated questions mean nothing else: other lines have the other ones
TYPED_COLOUR = "#1f6fb5"
GENERATED_COLOUR = "#c24a00"
COLOURS = ["#00796b", "#8e2f86", "#333333"]
# 3.4 to 1. It means one thing, and nothing else is drawn in it
GREY = "0.55"
GREY_MEANS = "grey: we cannot tell"
# which words name a kind of queries, in English and in Spanish; colour and mark
LOOKS_OF_KINDS = {
    r"\b(typed|judged|ours|tecleadas)\b": (TYPED_COLOUR, "o"),
    r"\b(generated|generadas)\b": (GENERATED_COLOUR, "s"),
}
COLLECTIONS = {
    "med": "MED",
    "cisi": "CISI",
    "cacm": "CACM",
    "vaswani": "Vaswani",
    "stackfaq": "StackFAQ",
    "liveqa": "LiveQA-Med",
    "liveqa, summaries": "summaries",
    "dl19": "DL 2019",
}


def use_style() -> None:
    """Colours that colour-blind people can tell apart, and large text."""
    plt.style.use("petroff10")
    plt.rcParams.update(STYLE)


def looks(names: Iterable[object]) -> Sequence[tuple[str, str]]:
    """The colour and the mark of each line: of its kind of queries, if it names one."""
    names = list(map(str, names))
    lines = list(zip(COLOURS, "D^v", strict=True))
    of_kinds = [
        next(
            (look for words, look in LOOKS_OF_KINDS.items() if re.search(words, name)),
            line,
        )
        for name, line in zip(names, lines, strict=False)
    ]
    return of_kinds if len({*of_kinds}) == len(names) else lines[: len(names)]


def show(figure: Figure, alt: str) -> None:
    """Show a figure. alt: what it shows, in a sentence, for screen readers."""
    from IPython.display import display

    display(figure, metadata={"image/png": {"alt": alt}})
    # a figure that is open is shown again at the end of the cell, without its text
    plt.close(figure)


def folded(table: pd.DataFrame, title: str) -> None:
    """Show a table that opens with a click. title: what it has, in a few words."""
    from IPython.display import HTML, display

    html = f"<details><summary>{title}</summary>{table.to_html(border=0)}</details>"
    display(HTML(html))


def play(
    draw: Callable[..., None], **sliders: tuple[float, float, float, float]
) -> None:
    """Show a picture or a table, and above it a slider for each of its numbers.

    draw: a function that shows it, called with a number for each slider.
    sliders: name=(lowest, highest, step, start). Where no widgets can be
    shown, for example on a web page, the picture of the start stays."""
    import ipywidgets as widgets
    from IPython.display import DisplayHandle, display
    from IPython.utils.capture import capture_output

    row = [
        widgets.FloatSlider(start, min=low, max=high, step=step, description=name)
        for name, (low, high, step, start) in sliders.items()
    ]
    # a handle redraws in place; what is displayed again stands below
    shown = DisplayHandle()

    def send(how: Callable) -> None:
        with capture_output() as captured:
            draw(**{slider.description: slider.value for slider in row})
        [output] = captured.outputs
        how(output.data, metadata=output.metadata, raw=True)

    display(widgets.HBox(row))
    send(shown.display)
    for slider in row:
        slider.observe(lambda change: send(shown.update), "value")


def _panels(title, height, rows=1, columns=1, width=WIDTH, **options):
    """A figure of panels with its title above. height: of each row, in inches."""
    lines = textwrap.wrap(title, int(8.8 * width))
    height = min(height * rows + 0.25 * len(lines), TALLEST)
    figure = plt.figure(figsize=(width, height), layout="constrained")
    figure.subplots(rows, columns, **options)
    figure.suptitle("\n".join(lines), x=0.01, ha="left", weight="bold")
    return figure


def _panel(title, height, xlabel="", ylabel=""):
    """A figure with one panel, and this panel."""
    figure = _panels(title, height)
    [axis] = figure.axes
    axis.set(xlabel=textwrap.fill(xlabel, 44), ylabel=ylabel)
    return figure, axis


def _grid(tables, title, height, xlabel, **options):
    """A figure with a panel for each table, in two columns; one label for all.

    Returns also an iterator of (panel, (name, table))."""
    columns = min(2, len(tables))
    rows = math.ceil(len(tables) / columns)
    figure = _panels(title, height, rows, columns, **options)
    figure.supxlabel(xlabel)
    # of an odd number of panels the last row has one
    for axis in figure.axes[len(tables) :]:
        axis.remove()
    for axis, name in zip(figure.axes, tables, strict=True):
        axis.set_title(COLLECTIONS.get(name, name))
    return figure, zip(figure.axes, tables.items(), strict=True)


def _rows(axis, names, width=27, lines=1):
    """Name the rows of a panel, the first on top, in a figure that is high enough.

    width: letters of a line. lines: how many a row has at least."""
    letters = width + 9 if len(names) > 12 else width
    texts = [textwrap.fill(label_of(str(name), 99), letters) for name in names]
    axis.set_yticks(range(len(texts)), texts)
    # from top to bottom, as a table is read
    axis.set_ylim(len(texts) - 0.5, -0.5)
    lines = max(lines, 1 + max(text.count("\n") for text in texts))
    # inches: a line of text, a gap, and what title and axis take
    height = len(texts) * (0.2 * lines + 0.16) + 1.4
    axis.figure.set_figheight(min(height * axis.get_gridspec().nrows, TALLEST))


def _legend_below(figure):
    """One legend below the panels, if the first one has labels: all have the same."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    if labels:
        columns = max(1, 62 // (max(map(len, labels)) + 6))
        place = "outside lower left"
        figure.legend(handles, labels, loc=place, ncols=columns, frameon=False)


def _labelled(values, form="{:.3f}"):
    """A Series as text: label value, label value."""
    return ", ".join(f"{label} {form.format(value)}" for label, value in values.items())


def slopes(
    boards: Mapping[str, pd.DataFrame], first: str, second: str, title: str
) -> None:
    """How two measures order the same searches: a panel for each board, best on top.

    boards: dict of name: DataFrame, a row for each search, with the columns
    first and second name. A search that moves by three places or more is drawn
    strongly.
    """
    height = 0.24 * max(map(len, boards.values())) + 0.7
    figure, panels = _grid(boards, title, height, f"left: {first}, right: {second}")
    firsts = []
    for axis, (name, board) in panels:
        places = board[[first, second]].rank(ascending=False)
        for search, (a, b) in places.iterrows():
            moved = abs(a - b) >= 3
            colour, width = (COLOURS[1], 3) if moved else (COLOURS[2], 1)
            axis.plot([0, 1], [a, b], color=colour, lw=width)
            axis.text(-0.04, a, search, ha="right", va="center")
        axis.invert_yaxis()
        axis.set_axis_off()
        firsts.append(f"{name}: {board[first].idxmax()} and {board[second].idxmax()}")
    show(figure, f"{title}. First by {first} and by {second}: {'; '.join(firsts)}.")


def forest(
    tables: Mapping[str, pd.DataFrame],
    title: str,
    xlabel: str,
    grey: str = GREY_MEANS,
    band: tuple[float, float] | None = None,
) -> None:
    """Differences with 95 % intervals: a row for each label, a mark for each table.

    The difference is also a number at the right, of up to 30 marks; of up to ten
    with its interval.

    tables: dict of name: DataFrame with the columns difference, low and high.
    Its index is the labels: the same in each, or each has rows of its own.
    grey: what the legend says of a difference that is not significant, by the
    column p, or if there is none, if the interval includes 0; it is grey. With
    "" none is. band: low and high of what is to be expected of one more row.
    """
    tables = {name: table.rename(COLLECTIONS) for name, table in tables.items()}
    rows = pd.concat(tables.values()).index
    labels = rows.unique()
    shared = rows.has_duplicates
    with_ends = len(rows) <= 10
    is_any_grey = False
    figure, axis = _panel(title, TALLEST, xlabel)
    axis.axvline(0, color="black", lw=1)
    beside = axis.get_yaxis_transform()  # x in widths of the panel
    texts = []
    step = 0.8 * shared / len(tables)
    # marks of one row stand around its middle, and do not hide each other
    offset = step * (1 - len(tables)) / 2
    for (colour, mark), (name, table) in zip(
        looks([f"{name} {xlabel}" for name in tables]), tables.items(), strict=True
    ):
        y = labels.get_indexer(table.index) + offset
        offset += step
        sure = table["low"] * table["high"] > 0  # both ends on one side of 0
        sure = table.get("p", ~sure) < 0.05
        colours = np.where(sure | (not grey), colour, GREY)
        is_any_grey |= GREY in colours
        axis.hlines(y, table["low"], table["high"], color=colours, lw=2)
        axis.scatter(table["difference"], y, color=colours, marker=mark, zorder=3)
        axis.scatter([], [], color=colour, marker=mark, label=name)
        ends = table[["difference", "low", "high"]].itertuples()
        for (label, value, low, high), height, drawn in zip(
            ends, y, colours, strict=True
        ):
            number = f"{value:+.3f}"
            interval = f"{low:.3f} to {high:.3f}"
            texts.append(f"{name} {label}: {number} ({interval})".strip())
            ink = "0.35" if drawn == GREY else drawn  # text needs more contrast
            if with_ends:
                number = f"{number}\n{interval}"
            # more numbers would lie on each other
            if len(rows) <= 30:
                axis.text(
                    1.02,
                    height,
                    number.replace("-", "−"),
                    color=ink,
                    va="center",
                    transform=beside,
                )
    if is_any_grey:
        axis.scatter([], [], color=GREY, label=grey)
    if band:
        axis.axvspan(*band, color="0.9", zorder=0, label="one more collection")
        texts.append("one more collection {:.3f} to {:.3f}".format(*band))
    _rows(
        axis, labels, lines=(len(tables) + with_ends if shared else 1) * (1 + with_ends)
    )
    _legend_below(figure)
    show(figure, f"{title}. {xlabel}: {'; '.join(texts)}.")


def scatter(
    tables: Mapping[str, pd.DataFrame], title: str, xlabel: str, ylabel: str
) -> None:
    """Two measures of the same things: a panel for each table, with the line x = y.

    tables: dict of name: DataFrame with x and y as its first two columns.
    """
    figure, panels = _grid(tables, title, 3.4, xlabel, sharey=True)
    figure.supylabel(ylabel)
    texts = []
    for axis, (name, table) in panels:
        x, y = table.columns[:2]
        axis.axline((0, 0), slope=1, color="black", lw=1)
        axis.scatter(table[x], table[y], s=40, color=COLOURS[0])
        texts.append(f"{name}: correlation {table[x].corr(table[y]):.2f}")
    show(figure, f"{title}. {xlabel} against {ylabel}. {'; '.join(texts)}.")


def histograms(
    tables: Mapping[str, Mapping[str, ArrayLike]],
    title: str,
    xlabel: str,
    mark: float | None = None,
) -> None:
    """Shares of values between 0 and 1: a panel for each name, a line for each label.

    tables: dict of name: dict of label: values. mark: where a line is drawn.
    """
    figure, panels = _grid(tables, title, 2.6 + (len(tables) == 1), "")
    figure.supylabel("share")
    for axis in figure.axes[-2:]:  # those below
        axis.set_xlabel(xlabel)
    # the same in all panels: they are there to be compared
    bins = np.linspace(0, 1, 11)
    texts = []
    for axis, (name, groups) in panels:
        for (colour, _), (label, values) in zip(
            looks(groups), groups.items(), strict=True
        ):
            shares = np.histogram(values, bins)[0] / len(values)
            axis.stairs(shares, bins, color=colour, fill=True, alpha=0.3)
            axis.stairs(shares, bins, color=colour, lw=2, label=label)
            texts.append(f"{name}, {label}: mean {np.mean(values):.2f}")
        if mark is not None:
            axis.axvline(mark, color="black", ls="--", lw=2)
    _legend_below(figure)
    show(figure, f"{title}. {xlabel}. {'; '.join(texts)}.")


def searches(
    boards: Mapping[str, pd.DataFrame],
    title: str,
    baseline: str | None = None,
    file: Path | None = None,
) -> None:
    """Searches with their 95 % intervals: a panel for each kind of queries.

    boards: dict of a label, such as "nDCG@10, typed queries": DataFrame with a
    row for each search and the columns value, low and high. The first board
    gives the order. baseline: a search whose values are drawn as black lines.
    file: where it is saved, and not shown; a narrow one for phones beside it.
    """
    # one order in all panels, so that a search is on one line
    order = next(iter(boards.values())).sort_values("value").index[::-1]
    boards = {label: board.reindex(order) for label, board in boards.items()}
    figure = _searches(boards, title, baseline)
    if file:
        # panels below each other for phones, and side by side for wide screens
        figure.savefig(file.with_stem(f"{file.stem}-narrow"), dpi=110)
        wide = _searches(boards, title, baseline, len(boards))
        wide.savefig(file, dpi=110)
        plt.close("all")
        return
    texts = [f"{label}: {_labelled(board['value'])}" for label, board in boards.items()]
    show(figure, f"{title}. {'; '.join(texts)}.")


def _searches(boards, title, baseline, columns=1):
    """A figure of searches: points, intervals, and the line of the baseline."""
    rows = len(boards) // columns
    width = WIDTH * columns
    figure = _panels(title, TALLEST, rows, columns, width, sharey=True)
    for axis, (label, board), (colour, mark) in zip(
        figure.axes, boards.items(), looks(boards), strict=True
    ):
        if baseline:
            axis.axvline(board.loc[baseline, "value"], color="black", lw=1)
        y = range(len(board))
        axis.hlines(y, board["low"], board["high"], color=colour, lw=2)
        axis.scatter(board["value"], y, color=colour, marker=mark, zorder=3)
        _rows(axis, board.index)
        axis.set_xlabel(label)
    return figure


def label_of(name: str, longest: int = 50) -> str:
    """A name for a figure: cut if it is long, and a $ in it is no formula.

    A letter that the font lacks is there as Python writes it, such as
    \\u691c."""
    glyphs = get_font(findfont(FontProperties())).get_charmap()
    letters = filter(str.isprintable, name)
    drawn = "".join(x if ord(x) in glyphs else ascii(x)[1:-1] for x in letters)
    short = drawn if len(drawn) <= longest else f"{drawn[: longest - 1]}…"
    return short.replace("$", r"\$")


def bars(
    values: pd.Series, title: str, xlabel: str, strong: Iterable[str] = ()
) -> None:
    """Horizontal bars with their values beside them, from top to bottom.

    values: a Series of label: value. strong: the labels that are drawn
    strongly; else all are."""
    figure, axis = _panel(title, TALLEST, xlabel)
    strong = list(strong) or values.index
    [(colour, _)] = looks([f"{xlabel} {title}"])
    colours = [(colour, 1 if label in strong else 0.3) for label in values.index]
    drawn = axis.barh(range(len(values)), values, color=colours, edgecolor=colour)
    form = "{:,.0f}" if (values % 1 == 0).all() else "{:.3f}"
    axis.bar_label(drawn, fmt=form, padding=4)
    axis.margins(x=0.16)
    _rows(axis, values.index)
    show(figure, f"{title}. {xlabel}: {_labelled(values, form)}.")


# How a stage is drawn, by its first word: colour, mark, and whether it is filled
LOOKS_OF_STAGES = {
    "right": (COLOURS[0], "o", True),
    "shown,": (COLOURS[1], "o", False),
    "stated": (COLOURS[1], "D", True),
    "below": (COLOURS[2], "v", True),
    "not": (COLOURS[2], "X", True),
    "refused,": (COLOURS[0], "o", False),
    "answered,": (COLOURS[1], "D", False),
}


def stages(table: pd.DataFrame, title: str) -> None:
    """What became of each query: a dot for each, a row of blocks for each search.

    table: DataFrame, a row for each query, a column for each search, with the
    stages that `hits.stages_of` of notebook 07 names."""
    counts = table.apply(lambda column: column.value_counts(sort=False))
    # a stage that no search has takes no room
    counts = counts[counts.any(axis=1)]
    figure = _panels(title, 1.85, table.shape[1], sharex=True)
    for axis, (search, of_search) in zip(figure.axes, counts.items(), strict=True):
        start = 0
        for stage, n in of_search.items():
            colour, mark, filled = LOOKS_OF_STAGES[stage.split()[0]]
            # columns of eight dots, which can be counted
            x, y = np.divmod(np.arange(n), 8)
            axis.scatter(
                start + x,
                y,
                s=42,
                marker=mark,
                facecolors=colour if filled else "none",
                edgecolors=colour,
                label=stage,
            )
            axis.text(start - 0.4, 8, n or "", color=colour)
            start += math.ceil(counts.loc[stage].max() / 8) + 0.8
        axis.set_title(search, loc="left")
        axis.set_ylim(-0.6, 10)
        axis.set_axis_off()
    _legend_below(figure)
    shares = counts / len(table)
    rows = [f"{name}: {_labelled(row, '{:.2f}')}" for name, row in shares.items()]
    show(figure, f"{title}. {'; '.join(rows)}.")


def curves(
    lines: Mapping[str, pd.Series],
    title: str,
    xlabel: str,
    ylabel: str,
    logarithmic: bool = False,
    best: bool = True,
    label_at: int = -1,
) -> None:
    """One line for each name, with the name beside its last point.

    lines: dict of name: Series of x: y. best: whether the highest point of
    each line is marked. label_at: beside which point the name stands, 0 for
    the first."""
    figure, axis = _panel(title, 3.8, xlabel, ylabel)
    texts = []
    for (colour, mark), (name, line) in zip(looks(lines), lines.items(), strict=True):
        axis.plot(line, color=colour, marker=mark, ms=5)
        x = line.idxmax()
        if best:
            axis.scatter(x, line[x], s=160, facecolor="none", edgecolor=colour, lw=2)
        place = list(line.items())[label_at]
        height = "center" if label_at else "bottom"
        axis.annotate(
            textwrap.fill(name, 14),
            place,
            (8, 0),
            textcoords="offset points",
            color=colour,
            va=height,
        )
        ends = f"{line.iloc[0]:.3f} at {line.index[0]}, {line.iloc[-1]:.3f} at the end"
        texts.append(f"{name}: {ends}, highest {line[x]:.3f} at {x}")
    if logarithmic:
        axis.set_xscale("log")
        axis.set_xticks(line.index, map("{:,g}".format, line.index))
        axis.minorticks_off()
    show(figure, f"{title}. {'; '.join(texts)}.")


def histogram(
    values: np.ndarray | pd.Series,
    title: str,
    xlabel: str,
    marks: Mapping[str, float] | None = None,
    after: Iterable[int] | None = None,
    middle: tuple[float, float] | None = None,
) -> None:
    """How often which value occurs. marks: dict of label: value, drawn as lines.

    after: numbers of values; a panel shows the first so many of them. middle: from
    where to where it is shaded."""
    marks = marks or {}
    parts = {f"n = {n:,}": values[:n] for n in after or []} or {"": values}
    figure, panels = _grid(parts, title, 1.9 if after else 3.6, xlabel, sharex=True)
    [(colour, _)] = looks([f"{xlabel} {title}"])
    bins = np.histogram_bin_edges(values, 40)
    for axis, (_, part) in panels:
        axis.hist(part, bins, color=colour, alpha=0.6)
        if middle:
            axis.axvspan(*middle, color=colour, alpha=0.15, lw=0, zorder=0)
        axis.yaxis.get_major_locator().set_params(integer=True, nbins=4)
        for value in marks.values():
            axis.axvline(value, color="black", lw=2)
    text = f"{np.min(values):.3g} to {np.max(values):.3g}"
    for label, value in marks.items():
        axis.text(value, axis.get_ylim()[1], f" {label}", va="top")
        text += f", {label} {value:.3g}"
    if middle:
        text += ", shaded from {:.3g} to {:.3g}".format(*middle)
    show(figure, f"{title}. {xlabel}: {text}.")


def heat_map(
    table: pd.DataFrame,
    title: str,
    number: str = "{:.2f}",
    low: float | None = None,
    high: float | None = None,
) -> None:
    """A table of numbers as a grid, darker for higher ones.

    low, high: which values are the lightest and the darkest; else those of the
    table. Where low is the larger one, lower numbers are darker."""
    values = table.to_numpy(dtype=float)
    colours = "BuGn"
    if high is not None and low > high:
        colours, low, high = "BuGn_r", high, low
    shown = table.map(number.format).replace("nan", "")
    cell = shown.map(len).max(axis=None) + 1
    figure, axis = _panel(title, TALLEST)
    axis.xaxis.tick_top()
    turned = {"rotation": 45, "ha": "left", "rotation_mode": "anchor"}
    axis.set_xticks(range(len(table.columns)), table, **turned)
    axis.tick_params(length=0)
    axis.set_frame_on(False)
    image = axis.imshow(values, cmap=colours, aspect="auto", vmin=low, vmax=high)
    _rows(axis, table.index, int(np.clip(70 - 1.4 * cell * table.shape[1], 12, 34)))
    greens = image.to_rgba(values)[..., 1]  # less in a darker colour
    for (y, x), green in np.ndenumerate(greens):
        colour = "black" if green > 0.53 else "white"  # of more contrast (WCAG 2)
        axis.text(x, y, shown.iloc[y, x], ha="center", va="center", color=colour)
    texts = [f"{name} {', '.join(row)}" for name, row in shown.iterrows()]
    show(figure, f"{title}. Columns {', '.join(map(str, table))}: {'; '.join(texts)}.")


def places(
    rankings: Mapping[str, Sequence[str]],
    titles: Mapping[str, str],
    grades: Mapping[str, float],
    title: str,
) -> None:
    """At which place each ranking has a document: a heat map, a row for each document.

    Rows are what a ranking has among its first three, and what is relevant (✓), in
    the order of the second ranking. rankings: a dict of name: ids, best first.
    titles: a dict of id: title. grades: a dict of id: grade."""
    ranks = {
        name: pd.Series(range(1, len(ids) + 1), ids) for name, ids in rankings.items()
    }
    table = pd.DataFrame(ranks).sort_values(list(rankings)[1])
    relevant = {id_ for id_ in table.index if grades.get(id_)}
    shown = table[(table < 4).any(axis=1) | table.index.isin(relevant)]
    shown.index = [
        f"✓ {titles[id_]}" if id_ in relevant else titles[id_] for id_ in shown.index
    ]
    heat_map(shown, title, "{:.0f}", low=10, high=1)


def misses(intervals: pd.DataFrame, truth: float, title: str, xlabel: str) -> None:
    """Many intervals, one below the other; those that miss the truth are coloured.

    intervals: DataFrame with the columns low and high."""
    low = intervals["low"]
    high = intervals["high"]
    missed = (low > truth) | (high < truth)
    figure, axis = _panel(title, 5, xlabel)
    widths = np.where(missed, 3, 1)
    colours = np.where(missed, COLOURS[1], COLOURS[0])
    axis.hlines(range(len(intervals)), low, high, colors=colours, lw=widths)
    axis.axvline(truth, color="black", lw=1)
    axis.set_yticks([])
    show(figure, f"{title}. {missed.sum()} of {len(missed)} do not hold {truth:.3f}.")
