"""`power`: how many queries show which difference?"""

import logging
from dataclasses import dataclass
from typing import Any

from evaluate_retrieval.commands.options import FILLED, Options, margin, option, worth
from evaluate_retrieval.measuring import intervals, plan
from evaluate_retrieval.measuring.estimand import estimand
from evaluate_retrieval.reading import folder
from evaluate_retrieval.words.constants import FEW, NOT_WORSE

HELP = "how many queries show which difference?"
log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class PowerOptions(Options):
    """Without a folder it is told of queries in general."""

    folder: Any = option(
        "a folder, or one file with the documents; else queries in general",
        place=True,
        nargs="?",
        **FILLED,
    )
    worth: float | None = worth()
    margin: float = margin()


OPTIONS = PowerOptions


def carry_out(options: PowerOptions) -> dict:
    """How many queries are needed, and what those of a folder can show: a dict."""
    sizes = plan.SIZES if options.worth is None else [options.worth]
    table = plan.power(sizes, options.margin)
    log.info("So many needs ship a search that gains this, four times in five:")
    log.info(table.astype("string").fillna("–").to_string())
    if table.isna().to_numpy().any():
        log.info("–: even a million are too few, by a margin of %g", options.margin)
    needed = table.astype(object).where(table.notna(), None)
    result = {"needed": {str(size): row.to_list() for size, row in needed.iterrows()}}
    says = "Spreads are those of notebook 06."
    if options.folder:
        data = folder.read(options.folder, options.language)
        for note in data.notes:
            log.info(note)
        says = f"{data.source.name} has no queries that can decide. {says}"
        if data.decides:
            says, figures = _what_ships(data, options.margin)
            result |= figures
    return result | {"says": says, "code": NOT_WORSE}


def _what_ships(data, margin):
    """What the queries ship that a verdict on a folder is about: text, a dict."""
    queries = estimand(data)
    n = intervals.n_needs(queries)
    needs = f"The {n:,} needs of {data.source.name}"
    figures = {"groups": n, "shown": dict.fromkeys(plan.SPREADS)}
    if len(queries) < FEW:
        return f"{needs} ship nothing: a verdict takes {FEW} queries.", figures
    effect = intervals.design_effect(intervals.weights_of(queries))
    figures["shown"] = plan.can_show(n / effect, margin).to_dict()
    shown = [f"{size:.3f} of {name}" for name, size in figures["shown"].items()]
    return f"{needs} show {', '.join(shown)}.", figures
