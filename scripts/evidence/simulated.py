"""What simulations share: values that are drawn, tables of draws, and their print."""

import argparse
import sys
from itertools import product
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

from evaluate_retrieval.measuring import grounds, intervals, scored
from evaluate_retrieval.reading import places

PREPARED = places.CACHE / "prepared"  # by `make collections`
VALUES = [0.0, 0.39, 0.5, 0.63, 1.0]  # nDCG@10 of one relevant document, by its rank


def measured_of_values(values):
    """`scored.Measured` of a table that needs no lists: all is judged.

    Each query is a need of its own."""
    return scored.Measured(values, pd.Series(range(len(values))))


def part_of(after, before):
    """What queries have with a change, and without: `segments.Part`."""
    measured = measured_of_values(pd.DataFrame({"now": after, "before": before}))
    gain = measured.gain("now", "before").clip(-1, 1)
    return measured, grounds.Grounds(gain, (gain,), (gain,), "all")


def single_queries():
    """A context in which each query is taken for a need: it is 20 times as quick."""
    return mock.patch.object(intervals, "sums_by_group", _sums_of_single_queries)


def _sums_of_single_queries(values, groups, weights=None):
    return np.asarray(values, dtype=float), np.ones(len(values))


def parser(text):
    """A parser of a command line, of which --collections is a part."""
    parser = argparse.ArgumentParser(description=text)
    where = "the folder with the prepared collections"
    parser.add_argument("--collections", type=Path, default=PREPARED, help=where)
    return parser


def draws_named(usual):
    """How many draws the command line asks for."""
    return int(sys.argv[1]) if len(sys.argv) > 1 else usual


def means_of(draws, draw):
    """The means of what so many draws say, a dict each, after their number."""
    rows = [draw() for _ in range(draws)]
    return {"draws": draws} | pd.DataFrame(rows).mean().to_dict()


def table_by(row_of, *levels):
    """A table with a row, a dict, for each combination of levels. It says each, too."""
    rows = {}
    for key in product(*levels):
        rows[key] = row_of(*key)
        print(*key, rows[key], file=sys.stderr, flush=True)
    return pd.DataFrame.from_dict(rows, orient="index")


def as_markdown(table, names):
    """A table in Markdown. names: of the columns of its index."""
    rows = []
    for key, row in zip(table.index, table.itertuples(index=False), strict=True):
        keys = key if isinstance(key, tuple) else (key,)
        cells = [f"{each:g}" if isinstance(each, float) else str(each) for each in keys]
        rows.append([*cells, *map(in_cell, row)])
    return markdown([*names, *table], rows)


def markdown(head, rows):
    """A table in Markdown, of the texts of its cells."""
    first, *others = (f"| {' | '.join(cells)} |" for cells in [head, *rows])
    return "\n".join([first, "|---" * len(head) + "|", *others])


def in_cell(value):
    """A value of a table: a share or a gain with three decimals, or a count."""
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    if np.isnan(value):
        return "–"
    if abs(value) < 2:
        return f"{round(value, 3) + 0:.3f}"
    return f"{value:.1f}" if abs(value) < 25 else f"{value:,.0f}"
