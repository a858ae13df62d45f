"""What a page begins with: three tiles on gain, risk and cost, and terms explained.

A tile is a dict of texts: name, figure and note."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from evaluate_retrieval.words.constants import LARGE, SURE

WHAT = "a relevant document first"


def gain_tile(
    first: Mapping[str, Any], what: str = WHAT, beside: str = ""
) -> dict[str, str]:
    """Of 100 queries, how many more have what is wanted.

    first: see `pairs.first_relevant`; {} where nothing is compared. beside: a sentence
    on how the queries count."""
    if not first:
        return _tile("Gain", "nothing to compare", "")
    times = round(100 * first["difference"])
    n = first["n"]
    new, old = first["counts"]
    word = "more have" if times > 0 else "fewer have" if times else "as many have"
    figure = f"{times:+d} of 100 queries" if times else "0 of 100 queries"
    if word == "as many have" and round(first["difference"], 9):
        word = "about as many have"
    counts = f"{new:,} of {n:,}" if new == old else f"{new:,} instead of {old:,}"
    of_all = "" if new == old else f" of {n:,}"
    note = f"{word} {what} ({_may_be(first)}). Here: {counts}{of_all}."
    return _tile("Gain", figure.replace("-", "−"), f"{note} {beside}".strip())


def _may_be(row):
    """The interval of a difference of shares, of 100."""
    low = round(100 * row["low"])
    high = round(100 * row["high"])
    if low == high == 0:
        return "it may be less than one"
    if low < 0 < high:
        return f"it may be {-low} fewer to {high} more"
    if high <= 0:
        return f"it may be {-high} to {-low} fewer"
    return f"it may be {low} to {high} more"


def risk_tile(row: Mapping[str, Any] | None, n_candidates: int = 1) -> dict[str, str]:
    """How many queries lost much, and what so many can promise.

    row: with n, n_lost, at_most and why, as `gains.compared` has it; None where
    nothing is compared."""
    if row is None:
        return _tile("Risk", "nothing to compare", "")
    figure = f"{int(row['n_lost']):,} of {row['n']:,} lost much"
    return _tile("Risk", figure, promise(row, n_candidates))


def lost_much(row: Mapping[str, Any], name: str, n_candidates: int = 1) -> str:
    """The same in words, of a search of that name."""
    n_lost = int(row["n_lost"])
    many = f"{n_lost:,}" if n_lost else "none"
    verb = "lose" if n_lost > 1 else "loses"
    sentence = f"With “{name}” {many} of the {row['n']:,} queries {verb} much"
    return f"{sentence} (more than {LARGE}). {promise(row, n_candidates)}"


def promise(row: Mapping[str, Any], n_candidates: int = 1) -> str:
    """What so many queries say of all others, by the bound `at_most`."""
    if row["why"] == "same":
        return "Both show the same."
    limit = math.floor(100 * row["at_most"]) + 1
    if limit > 100:
        return f"{row['n']:,} queries promise nothing for others."
    sentence = (
        f"{row['n']:,} queries cannot promise more than: fewer than {limit} in 100"
    )
    together = (
        f", for all {n_candidates} candidates together" if n_candidates > 1 else ""
    )
    return f"{sentence} will{together} ({1 - SURE:.0%} sure)."


def cost_tile(costs: Mapping[str, Sequence[float]]) -> dict[str, str]:
    """What a query costs. costs: by unit, with the new search, and with the old one.

    NaN where nobody measured it; one number where nothing is compared."""
    told = [_instead(unit, *pair) for unit, pair in costs.items() if _known(pair)]
    if not told:
        note = "Files of results do not say how long a query took."
        return _tile("Cost", "not measured", note)
    figure, _, note = told[0].partition(", ")
    notes = filter(None, ["a query", note, *told[1:]])
    return _tile("Cost", figure, f"{'; '.join(notes)}.")


def _known(pair):
    return not all(map(math.isnan, pair))


def _instead(unit, new, old=None):
    """An amount instead of another."""
    now = f"{_amount(new)} {unit}"
    if old is None:
        return now
    if math.isnan(new):
        return f"not measured, instead of {_amount(old)} {unit}"
    if math.isnan(old):
        return f"{now}, nobody measured the other"
    return f"{now} instead of {_amount(old)}"


def _amount(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}".removesuffix(".0")


def _tile(name, figure, note):
    return {"name": name, "figure": figure, "note": note}


def terms_of(metric: str, means: str, margin: float, unit: str) -> dict[str, str]:
    """The words of a page that a newcomer has not met: a dict of meanings."""
    needs = {
        "needs": "Queries that ask for the same are one need. An interval draws whole "
        "needs, since such queries win and lose together.",
        "documents": "Questions that were generated from the same document are drawn "
        "together.",
    }
    return {
        metric: f"{means[:1].upper()}{means[1:]}.",
        "incumbent": "The search that runs today. A candidate has to be better.",
        "margin": f"The least gain that is worth a change, here {margin:g} of "
        f"{metric}. It is chosen before anybody looks.",
        unit: needs[unit],
        "95 % interval": "Were the queries drawn anew, 95 of 100 such intervals would "
        "include the true difference.",
        "lost much": f"A query that loses more than {LARGE} of {metric} has lost most "
        "of what it had.",
    }
