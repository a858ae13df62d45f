"""The figures that notebooks share, each with a text for screen readers."""

import math

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.font_manager import FontProperties, findfont, get_font

STYLE = {"font.size": 12, "axes.spines.top": False, "axes.spines.right": False}
LARGEST_FIGURE = (14, 7.8)  # inches: so its text has 14 pixels on a slide
COLOURS = ["#1f6fb5", "#c24a00", "#333333"]  # contrast with white of 4.9 to 1 and more
GREY = "0.55"  # 3.4 to 1
# what the label of a kind of queries says, in English and in Spanish; and its mark
KIND_PLACES = {"typed": 0, "judged": 0, "tecleadas": 0, "generated": 1, "generadas": 1}
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


def use_style():
    """Colours that colour-blind people can tell apart, and large text."""
    plt.style.use("petroff10")
    plt.rcParams.update(STYLE)


def _places(names):
    """Which colour and mark each line has: of its kind of queries, if it names one."""
    places = [
        next(
            (place for word, place in KIND_PLACES.items() if word in str(name)), number
        )
        for number, name in enumerate(names)
    ]
    return places if len({*places}) == len(places) else range(len(places))


def show(figure, alt):
    """Show a figure. alt: what it shows, in a sentence, for screen readers."""
    from IPython.display import display

    display(figure, metadata={"image/png": {"alt": alt}})
    plt.close(figure)


def folded(table, title):
    """Show a table that opens with a click. title: what it has, in a few words."""
    from IPython.display import HTML, display

    html = f"<details><summary>{title}</summary>{table.to_html(border=0)}</details>"
    display(HTML(html))


def play(draw, **sliders):
    """Show a picture or a table, and above it a slider for each of its numbers.

    draw: a function that shows it, called with a number for each slider.
    sliders: name=(lowest, highest, step, start). Where no widgets can be
    shown, for example on a web page, the picture of the start stays."""
    import ipywidgets as widgets
    from IPython.display import display
    from IPython.utils.capture import capture_output

    row = []
    for name, (low, high, step, start) in sliders.items():
        numbers = {"min": low, "max": high, "step": step, "value": start}
        row.append(widgets.FloatSlider(description=name, **numbers))

    def drawn():
        with capture_output() as captured:
            draw(**{slider.description: slider.value for slider in row})
        [output] = captured.outputs
        return output

    def redraw(change):
        picture = drawn()
        shown.update(picture.data, metadata=picture.metadata, raw=True)

    display(widgets.HBox(row))
    first = drawn()
    shown = display(first.data, metadata=first.metadata, raw=True, display_id=True)
    for slider in row:
        slider.observe(redraw, "value")


def _panel(title, height, xlabel="", ylabel="", width=11):
    """A figure with one panel, and this panel."""
    size = np.minimum((width, height), LARGEST_FIGURE)
    figure, axis = plt.subplots(figsize=size, layout="constrained")
    axis.set_title(title, loc="left", weight="bold")
    axis.set(xlabel=xlabel, ylabel=ylabel)
    return figure, axis


def _panels(tables, title, height=4.2, width=12, sharey=False, columns=2):
    """A figure with a panel for each table.

    height: of each row. columns: how many panels a row has at most. Returns
    also an iterator of (panel, (name, table))."""
    columns = min(columns, len(tables))
    rows = math.ceil(len(tables) / columns)
    figure, axes = plt.subplots(
        rows,
        columns,
        figsize=np.minimum((width, height * rows), LARGEST_FIGURE),
        sharey=sharey,
        squeeze=False,
        layout="constrained",
    )
    figure.suptitle(title, weight="bold")
    for axis in axes.flat[len(tables) :]:
        axis.remove()
    return figure, zip(axes.flat, tables.items(), strict=False)


def _legend_below(figure):
    """One legend below the panels, with each label once."""
    by_label = {}
    for axis in figure.axes:
        handles, labels = axis.get_legend_handles_labels()
        by_label |= dict(zip(labels, handles, strict=True))
    figure.legend(
        by_label.values(), by_label, loc="outside lower left", ncols=3, frameon=False
    )


def _listed(values, form="{:.3f}"):
    """A Series as text: label value, label value."""
    return ", ".join(f"{label} {form.format(value)}" for label, value in values.items())


def slopes(boards, first, second, title):
    """How two measures order the same searches: a panel for each board, best on top.

    boards: dict of name: DataFrame, a row for each search, with the columns
    first and second name. A search that moves by three places or more is drawn
    strongly.
    """
    figure, panels = _panels(boards, title, height=4.5, width=13)
    firsts = []
    for axis, (name, board) in panels:
        places = board[[first, second]].rank(ascending=False)
        for search, (a, b) in places.iterrows():
            moved = abs(a - b) >= 3
            colour, width = (COLOURS[1], 3) if moved else (GREY, 1.5)
            axis.plot([0, 1], [a, b], color=colour, lw=width)
            axis.text(-0.04, a, search, ha="right", va="center")
            axis.text(1.04, b, search, ha="left", va="center")
        axis.set_title(f"{COLLECTIONS.get(name, name)}: {first} | {second}")
        axis.invert_yaxis()
        axis.set_axis_off()
        firsts.append(f"{name}: {board[first].idxmax()} and {board[second].idxmax()}")
    show(figure, f"{title}. First by {first} and by {second}: {'; '.join(firsts)}.")


def forest(tables, title, xlabel, grey=True):
    """Differences with 95 % intervals: a row for each label, a mark for each table.

    tables: dict of name: DataFrame with the columns difference, low and high.
    Its index is the labels, the same in each.
    grey: whether an interval that includes 0 is drawn in grey.
    """
    labels = next(iter(tables.values())).index
    figure, axis = _panel(title, 0.5 * len(labels) + 1.9, xlabel)
    axis.axvline(0, color=GREY, lw=1)
    texts = []
    for number, (place, name) in enumerate(zip(_places(tables), tables, strict=True)):
        table = tables[name]
        y = np.arange(len(labels)) + 0.28 * (number - (len(tables) - 1) / 2)
        sure = table["low"] * table["high"] > 0  # both ends on one side of 0
        colour, marker = COLOURS[place], "os^"[place]
        colours = np.where(sure | (not grey), colour, GREY)
        axis.hlines(y, table["low"], table["high"], color=colours, lw=2)
        axis.scatter(table["difference"], y, color=colours, marker=marker, zorder=3)
        axis.scatter([], [], color=colour, marker=marker, label=name)
        ends = table[["difference", "low", "high"]].itertuples()
        for label, difference, low, high in ends:
            interval = f"{difference:+.3f} ({low:.3f} to {high:.3f})"
            texts.append(f"{name} {label}: {interval}".strip())
    axis.set_yticks(range(len(labels)), labels)
    axis.set_ylim(len(labels) - 0.5, -0.5)  # the first label on top
    if len(tables) > 1:
        _legend_below(figure)
    show(figure, f"{title}. {xlabel}: {'; '.join(texts)}.")


def scatter(tables, title, xlabel, ylabel):
    """Two measures of the same things: a panel for each table, with the line x = y.

    tables: dict of name: DataFrame with x and y as its first two columns.
    """
    figure, panels = _panels(tables, title, sharey=True)
    texts = []
    for axis, (name, table) in panels:
        x, y = table.columns[:2]
        axis.axline((0, 0), slope=1, color=GREY, lw=1)
        axis.scatter(table[x], table[y], s=60, color=COLOURS[0])
        axis.set(title=COLLECTIONS.get(name, name), xlabel=xlabel, ylabel=ylabel)
        texts.append(f"{name}: correlation {table[x].corr(table[y]):.2f}")
    show(figure, f"{title}. {xlabel} against {ylabel}. {'; '.join(texts)}.")


def histograms(tables, title, xlabel, mark=None):
    """Shares of values between 0 and 1: a panel for each name, a line for each label.

    tables: dict of name: dict of label: values. mark: where a line is drawn.
    """
    figure, panels = _panels(tables, title)
    bins = np.linspace(0, 1, 11)
    texts = []
    for axis, (name, groups) in panels:
        for colour, (label, values) in zip(COLOURS, groups.items(), strict=False):
            shares = np.histogram(values, bins)[0] / len(values)
            axis.stairs(shares, bins, color=colour, fill=True, alpha=0.3)
            axis.stairs(shares, bins, color=colour, lw=2, label=label)
            texts.append(f"{name}, {label}: mean {np.mean(values):.2f}")
        axis.set(title=COLLECTIONS.get(name, name), xlabel=xlabel, ylabel="share")
        if mark is not None:
            axis.axvline(mark, color="black", ls="--", lw=2)
    _legend_below(figure)
    show(figure, f"{title}. {xlabel}. {'; '.join(texts)}.")


def searches(boards, title, baseline=None, file=None):
    """Searches with their 95 % intervals: a panel for each kind of queries.

    boards: dict of a label, such as "nDCG@10, typed queries": DataFrame with a
    row for each search and the columns value, low and high. The first board
    gives the order. baseline: a search whose values are drawn as grey lines.
    file: where to save it; a narrow one for phones is saved beside it.
    """
    if file:
        save_searches(file, boards, title, baseline)
    order = next(iter(boards.values())).sort_values("value").index[::-1]
    texts = [
        f"{label}: {_listed(b['value'].reindex(order))}" for label, b in boards.items()
    ]
    show(_searches(boards, title, baseline), f"{title}. {'; '.join(texts)}.")


def save_searches(file, boards, title, baseline=None):
    """Save the figure of `searches`, and a narrow one for phones, and show neither."""
    wide = _searches(boards, title, baseline)
    two_lines = title.replace("; ", ";\n")
    narrow = _searches(boards, two_lines, baseline, width=6, columns=1)
    for figure, path in [(wide, file), (narrow, file.with_stem(f"{file.stem}-narrow"))]:
        figure.savefig(path, dpi=110)
        plt.close(figure)


def _searches(boards, title, baseline, width=None, columns=2):
    """A figure of searches: points, intervals, and the line of the baseline."""
    order = next(iter(boards.values())).sort_values("value").index
    boards = {label: board.reindex(order) for label, board in boards.items()}
    height, width = 0.42 * len(order) + 1.6, width or 4 + 4.5 * len(boards)
    figure, panels = _panels(boards, title, height, width, columns > 1, columns)
    for axis, (label, board) in panels:
        [place] = _places([label])
        colour, marker = COLOURS[place], "os^"[place]
        if baseline:
            axis.axvline(board.loc[baseline, "value"], color=GREY, lw=1)
        axis.hlines(board.index, board["low"], board["high"], color=colour, lw=2)
        axis.scatter(board["value"], board.index, color=colour, marker=marker, zorder=3)
        axis.set_yticks(range(len(order)), map(label_of, order))
        axis.set_xlabel(label)
    return figure


def label_of(name, longest=50):
    """A name for a figure: cut if it is long, and a $ in it is no formula.

    A letter that the font lacks is there as Python writes it, such as
    \\u691c."""
    glyphs = get_font(findfont(FontProperties())).get_charmap()
    letters = filter(str.isprintable, name)
    drawn = "".join(x if ord(x) in glyphs else ascii(x)[1:-1] for x in letters)
    short = drawn if len(drawn) <= longest else f"{drawn[: longest - 1]}…"
    return short.replace("$", r"\$")


def bars(values, title, xlabel, strong=()):
    """Horizontal bars with their values beside them, from top to bottom.

    values: a Series of label: value. strong: the labels that are drawn in
    colour; else all are."""
    figure, axis = _panel(title, 0.45 * len(values) + 1.6, xlabel)
    strong = list(strong) or values.index
    colours = np.where(values.index.isin(strong), COLOURS[0], GREY)
    drawn = axis.barh(values.index.astype(str), values, color=colours)
    form = "{:,.0f}" if (values % 1 == 0).all() else "{:.3f}"
    axis.bar_label(drawn, fmt=form, padding=4)
    axis.invert_yaxis()
    show(figure, f"{title}. {xlabel}: {_listed(values, form)}.")


# How a stage of the funnel is drawn, by how its name begins: colour and hatching
STAGE_STYLES = {
    "right": (COLOURS[0], ""),
    "shown, not used": ("#4a1fb8", ""),
    "shown": (COLOURS[0], ""),
    "stated wrongly": (COLOURS[1], ""),
    "below": ("0.45", ""),
    "not among": ("0.2", ""),
    "refused": (COLOURS[0], "//"),
    "no record": ("0.45", "//"),
    "answered": (COLOURS[1], "//"),
}


def funnel(table, title):
    """Where answers are lost: a bar for each row, a part of it for each stage.

    table: DataFrame of shares, the columns as `answering.stages_of` names
    them."""
    figure, axis = _panel(title, 0.6 * len(table) + 2.2, "share of the queries")
    table = table.loc[:, table.max() > 0]
    start = 0
    for stage, shares in table.items():
        begins = next(name for name in STAGE_STYLES if stage.startswith(name))
        colour, hatch = STAGE_STYLES[begins]
        drawn = axis.barh(
            table.index.astype(str),
            shares,
            left=start,
            color=colour,
            hatch=hatch,
            edgecolor="white",
            label=stage,
        )
        texts = [f"{share:.2f}" if share >= 0.07 else "" for share in shares]
        labels = axis.bar_label(
            drawn, texts, label_type="center", color="white", weight="bold"
        )
        for label in labels:
            box = {"facecolor": colour, "edgecolor": "none", "pad": 1}
            label.set_bbox(box if hatch and label.get_text() else None)
        start = start + shares
    axis.invert_yaxis()
    _legend_below(figure)
    rows = [f"{name}: {_listed(row, '{:.2f}')}" for name, row in table.iterrows()]
    show(figure, f"{title}. {'; '.join(rows)}.")


def curves(lines, title, xlabel, ylabel, logarithmic=False, best=True, label_at=-1):
    """One line for each name, with the name beside its last point.

    lines: dict of name: Series of x: y. best: whether the highest point of
    each line is marked. label_at: beside which point the name stands, 0 for
    the first."""
    figure, axis = _panel(title, 4.5, xlabel, ylabel)
    texts = []
    for place, (name, line) in zip(_places(lines), lines.items(), strict=True):
        colour, marker = COLOURS[place], "os^"[place]
        axis.plot(line, color=colour, marker=marker, ms=5)
        x = line.idxmax()
        if best:
            axis.scatter(x, line[x], s=160, facecolor="none", edgecolor=colour, lw=2)
        place = (line.index[label_at], line.iloc[label_at])
        height = "center" if label_at else "bottom"
        axis.text(*place, f"  {name}", color=colour, va=height)
        ends = f"{line.iloc[0]:.3f} at {line.index[0]}, {line.iloc[-1]:.3f} at the end"
        texts.append(f"{name}: {ends}, highest {line[x]:.3f} at {x}")
    if logarithmic:
        axis.set_xscale("log")
        axis.set_xticks(line.index, map("{:,g}".format, line.index))
        axis.minorticks_off()
    show(figure, f"{title}. {'; '.join(texts)}.")


def histogram(values, title, xlabel, marks=None):
    """How often which value occurs. marks: dict of label: value, drawn as lines."""
    figure, axis = _panel(title, 4.2, xlabel, "how many")
    axis.hist(values, bins=40, color=COLOURS[0], alpha=0.6)
    top = axis.get_ylim()[1]
    text = f"{np.min(values):.3g} to {np.max(values):.3g}"
    for label, value in (marks or {}).items():
        axis.axvline(value, color=COLOURS[1], lw=2)
        axis.text(value, top, f" {label}", color=COLOURS[1], va="top")
        text += f", {label} {value:.3g}"
    show(figure, f"{title}. {xlabel}: {text}.")


def heat_map(table, title, number="{:.2f}", low=None, high=None):
    """A table of numbers as a grid, darker for higher ones.

    low, high: which values are the lightest and the darkest; else those of the
    table."""
    height, width = 0.5 * len(table) + 1.8, 1.3 * len(table.columns) + 4
    figure, axis = _panel(title, height, width=width)
    axis.set_xticks(range(len(table.columns)), table.columns)
    axis.set_yticks(range(len(table)), table.index)
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    axis.set_frame_on(False)
    values = table.to_numpy(dtype=float)
    image = axis.imshow(values, cmap="Blues", aspect="auto", vmin=low, vmax=high)
    for (y, x), value in np.ndenumerate(values):
        text = "" if np.isnan(value) else number.format(value)
        colour = _readable_on(image.cmap(image.norm(value)))
        axis.text(x, y, text, ha="center", va="center", color=colour)
    rows = table.iterrows()
    texts = [f"{name} {', '.join(map(number.format, row))}" for name, row in rows]
    show(figure, f"{title}. Columns {', '.join(map(str, table))}: {'; '.join(texts)}.")


def _readable_on(colour):
    """Black or white, whichever has more contrast with a colour (WCAG 2)."""
    linear = [c / 12.92 if c <= 0.04 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    luminance = np.dot([0.2126, 0.7152, 0.0722], linear[:3])
    return "black" if luminance > 0.179 else "white"


def misses(intervals, truth, title, xlabel):
    """Many intervals, one below the other; those that miss the truth are coloured.

    intervals: DataFrame with the columns low and high."""
    low, high = intervals["low"], intervals["high"]
    missed = (low > truth) | (high < truth)
    figure, axis = _panel(title, 6, xlabel)
    widths = np.where(missed, 3, 1)
    colours = np.where(missed, COLOURS[1], GREY)
    axis.hlines(range(len(intervals)), low, high, colors=colours, lw=widths)
    axis.axvline(truth, color="black", lw=1)
    axis.set_yticks([])
    show(figure, f"{title}. {missed.sum()} of {len(missed)} do not hold {truth:.3f}.")
