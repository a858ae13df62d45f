"""What a search gains in each segment of the queries, with a verdict on each.

A gain of the mean can hide a language or a tenant that lost everything. A segment is
what a column says of a query. All segments share one error, by Holm (1979): a segment
is called worse by mistake, or better, in at most 2.5 % of all such tables, however many
segments there are."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import scipy  # loads its parts when they are used

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import intervals
from evaluate_retrieval.measuring.grounds import (
    ONE_SIDE,
    Grounds,
    grounds_of,
    holm_errors,
    upper_bound,
)
from evaluate_retrieval.measuring.scored import Measured
from evaluate_retrieval.reading.corpus import own_columns
from evaluate_retrieval.words.constants import NOT_WORSE, UNDECIDED, WORSE

SEGMENT = "segment"  # the column, unless --by names another
MOST_SEGMENTS = 50
FEWEST_NEEDS = 5  # of a segment with fewer only the number is told
FURTHEST = 100_000  # needs: so many nobody judges
# grounds of verdicts that other grades would tell, and no other needs
UNJUDGED = ["bound", "incumbent", "alone"]
Part = tuple[Measured, Grounds]


def labels_of(queries: utils.Queries, by: str | None) -> pd.Series | None:
    """The segment of each query, a Series; None where there are none.

    by: the name of a column, else SEGMENT. ValueError for one that is not there, and
    for one with more than MOST_SEGMENTS values."""
    name = by or SEGMENT
    if name not in queries:
        if by is None:
            return None
        there = ", ".join(["course", "kind", *own_columns(queries)])
        problem = f"no column of the queries; there is {there}"
        raise utils.InputError(option="--by", value=by, problem=problem)
    labels = queries[name].astype(str).str.strip().replace("", "(empty)")
    if labels.nunique() > MOST_SEGMENTS and by is None:
        return None  # nobody asked for them
    if labels.nunique() > MOST_SEGMENTS:
        problem = f"more than {MOST_SEGMENTS} values are no segments"
        raise utils.InputError(option="--by", value=name, problem=problem)
    return labels.reset_index(drop=True)


def by_column(
    measured: Measured, pair: tuple[str, str], by: str | None, margin: float
) -> list[dict[str, Any]]:
    """`segments_of` a column of the queries, see `labels_of`; [] without one.

    Also where both names of the pair are one."""
    labels = labels_of(measured.queries, by)
    if labels is None or pair[0] == pair[1]:
        return []
    return segments_of(measured, pair, labels, margin)


def segments_of(
    measured: Measured,
    pair: tuple[str, str],
    labels: pd.Series,
    margin: float,
    find_grounds: Callable[[Measured, str, str], Grounds] = grounds_of,
    error: float = ONE_SIDE,
    anytime: bool = False,
) -> list[dict[str, Any]]:
    """What the first search of a pair gains in each segment: a list of dicts.

    The one that loses most comes first. error: of the table, on one side. anytime:
    bounds and intervals hold at every look. n, groups: the queries and needs that
    count; share: of all queries, as their weights count. difference, low, high: the
    gain and its 95 % interval; NaN below FEWEST_NEEDS. verdict: better, not worse,
    worse or undecided, and code its exit code. more: needs that would tell it, see
    `more_needs`, or None."""
    parts = {}
    for label in labels.unique():
        part = measured.at((labels == label).to_numpy())
        parts[label] = part, find_grounds(part, *pair)
    words = verdicts_of(parts, margin, error, anytime)
    rows = []
    for label, part in parts.items():
        row = {"segment": label, "n": len(part[1].gain), "groups": _n_needs(part)}
        is_in = labels == label
        row["share"] = float(np.average(is_in, weights=measured.weights))
        row |= _gain_of(part, anytime) | {"verdict": words.get(label, "undecided")}
        codes = {"worse": WORSE, "undecided": UNDECIDED}
        row["code"] = codes.get(row["verdict"], NOT_WORSE)
        row["more"] = None
        if row["code"] == UNDECIDED and label in words and not anytime:
            row["more"] = more_needs(part, margin, error / len(words))
        rows.append(row)
    return sorted(
        rows, key=lambda row: (np.isnan(row["difference"]), row["difference"])
    )


def verdicts_of(
    parts: Mapping[str, Part],
    margin: float,
    together: float = ONE_SIDE,
    anytime: bool = False,
) -> dict[str, str]:
    """The verdict on each segment with FEWEST_NEEDS or more: see `segments_of`.

    together: the error of all of them, on one side."""
    able = {
        label: parts[label] for label in parts if _n_needs(parts[label]) >= FEWEST_NEEDS
    }
    claims = {
        "worse": lambda part, error: _highest(part, error, anytime) < -margin,
        "better": lambda part, error: _lowest(part, error, anytime) > 0,
        "not worse": lambda part, error: (
            part[1].why == "same" or _lowest(part, error, anytime) > -margin
        ),
    }
    words = dict.fromkeys(able, "undecided")
    for word, is_so in claims.items():
        _, claimed = holm_errors(able, is_so, together=together)
        for label in claimed:
            words[label] = word if words[label] == "undecided" else words[label]
    return words


def _highest(part, error, anytime):
    """A bound on what a segment gains at most, by all estimates: see `Grounds`."""
    measured, ground = part
    if ground.why == "same":
        return 0.0
    rule = measured, error, ground.doubt, anytime
    return max(upper_bound(each, *rule) for each in ground.worse)


def _lowest(part, error, anytime):
    measured, ground = part
    if ground.why == "same":
        return 0.0
    rule = measured, error, ground.doubt, anytime
    return min(-upper_bound(-each, *rule) for each in ground.better)


def _n_needs(part):
    measured, ground = part
    return measured.groups[: len(ground.gain)].nunique()


def _gain_of(part, anytime):
    """The gain of a segment and its interval: a dict, NaN where it is too small."""
    measured, ground = part
    names = ["difference", "low", "high"]
    if _n_needs(part) < FEWEST_NEEDS:
        return dict.fromkeys(names, np.nan)
    if ground.why == "same":
        return dict.fromkeys(names, 0.0)
    gain = ground.gain
    groups, weights = measured.of_first(len(gain))
    if anytime:
        ends = intervals.confidence_sequence(gain, groups, weights)
    else:
        ends = intervals.confidence_interval(gain, groups, weights=weights, lowest=-1)
    mean = np.average(gain, weights=weights)
    row = dict(zip([*names, "p"], [mean, *ends, 1.0], strict=True))
    table = intervals.widened(pd.DataFrame([row]), ground.doubt)
    return table[names].iloc[0].to_dict()


def more_needs(part: Part, margin: float, error: float = ONE_SIDE) -> int | None:
    """How many more needs would tell a segment from a loss of the margin.

    Four times in five, if it goes on gaining what it gains now, with that error on one
    side. None where it is more than FURTHEST, where few needs change, since then nobody
    knows, and where other needs cannot tell."""
    measured, ground = part
    if ground.why in UNJUDGED:
        return None
    sample = measured.of_first(len(ground.gain))
    sums, sizes = intervals.sums_by_group(ground.gain, *sample)
    distance = abs(sums.sum() / sizes.sum() + margin)
    if intervals.few_change(sums / sizes) or distance == 0:
        return None
    one_error = np.hypot(intervals.standard_error(ground.gain, *sample), ground.doubt)
    deviation = one_error * len(sums) ** 0.5
    limit = scipy.stats.norm.isf(error) + scipy.stats.norm.isf(0.2)
    needs = (limit * deviation / distance) ** 2
    return max(math.ceil(needs) - len(sums), 1) if needs < FURTHEST else None


def is_turned(differences: Mapping[str, float], whole: float) -> bool:
    """Whether each segment says the contrary of the whole: Simpson's paradox."""
    signs = {np.sign(round(each, 9)) for each in differences.values()}
    return len(differences) > 1 and signs in ({1}, {-1}) and whole * signs.pop() < 0


def mix_of(
    before: tuple[pd.Series, pd.Series], now: tuple[pd.Series, pd.Series]
) -> dict[str, Any]:
    """What two figures of different queries are in all and in each segment: a dict.

    before, now: values and labels of queries, one each. {} unless the figure of the
    whole went one way, and that of each segment the other, as their shares changed."""
    both = pd.concat(
        {
            when: values.groupby(labels).agg(["mean", "size"])
            for when, (values, labels) in {"before": before, "now": now}.items()
        },
        axis=1,
        join="inner",
    )
    differences = (both["now", "mean"] - both["before", "mean"]).to_dict()
    figures = {"before": before[0].mean(), "now": now[0].mean()}
    if not is_turned(differences, figures["now"] - figures["before"]):
        return {}
    sizes = both.xs("size", axis=1, level=1)
    shares = sizes / [len(before[0]), len(now[0])]
    largest = (shares["now"] - shares["before"]).abs().idxmax()
    return {**figures, "segment": largest, "shares": shares.loc[largest].to_list()}
