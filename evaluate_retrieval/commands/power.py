"""`power`: how many queries show which difference?"""

import logging
from dataclasses import dataclass
from typing import Any

from evaluate_retrieval.commands.options import FILLED, Options, option, worth
from evaluate_retrieval.measuring import intervals, plan
from evaluate_retrieval.reading import folder
from evaluate_retrieval.words.constants import NOT_WORSE

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


OPTIONS = PowerOptions


def carry_out(options: PowerOptions) -> dict:
    """How many queries are needed, and what those of a folder can show: a dict."""
    sizes = plan.SIZES if options.worth is None else [options.worth]
    table = plan.power(sizes)
    log.info("So many needs ship a search that gains this, four times in five:")
    log.info(table.to_string())
    result = {"needed": {str(size): row.to_list() for size, row in table.iterrows()}}
    says = "Spreads are those of notebook 06."
    if options.folder:
        data = folder.read(options.folder, options.language)
        for note in data.notes:
            log.info(note)
        says = f"{data.source.name} has no queries that can decide. {says}"
        if data.decides:
            queries = data.test[data.decides]
            n = intervals.groups_of(queries).nunique()
            effect = intervals.design_effect(intervals.weights_of(queries))
            can_show = plan.can_show(n / effect)
            shown = [f"{size:.3f} of {name}" for name, size in can_show.items()]
            says = f"The {n:,} needs of {data.source.name} show {', '.join(shown)}."
            result |= {"groups": n, "shown": can_show.to_dict()}
    return result | {"says": says, "code": NOT_WORSE}
