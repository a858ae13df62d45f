"""Runs of one system: with other seeds, or asked again. They are one candidate.

A system that was trained with three seeds has one quality, the mean of its runs. As
three candidates it would have three chances to be lucky, and the best seed would be
named as what to ship."""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from evaluate_retrieval import utils
from evaluate_retrieval.searching.names import full_names, named
from evaluate_retrieval.searching.own import Search

SEED = re.compile(r"(.*?)[-_. ]*seed[-_. =]*\d+", re.IGNORECASE)
ASKED_TWICE = 10  # queries that are asked twice
log = logging.getLogger(__name__)


def as_systems(
    searches: Mapping[str, Search], declared: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Search]:
    """The searches, where the runs of one system are one: a dict of name: `Search`.

    Its first run is the search, and the others are its repeats. declared: the names of
    the runs of each system, with or without "run: " or "own: "; without it those whose
    names differ in the number of a seed only, as new-seed1 and new-seed2. The log says
    which they are. ValueError names a run that is not there, and a system that has the
    name of another search."""
    systems = (
        _by_seed(searches) if declared is None else _as_declared(searches, declared)
    )
    members = {name for names in systems.values() for name in names}
    merged = {name: searches[name] for name in searches if name not in members}
    for name, names in systems.items():
        if name in merged:
            problem = f"{name!r} is a search already"
            advice = "name it otherwise"
            raise utils.InputError(problem=problem, option="[repeats]", advice=advice)
        first, *others = (searches[each] for each in names)
        # which keeps what it was asked, and stays one run
        merged[name] = replace(first, repeats=others)
        line = "%s is the mean of %d runs: %s. Files and pages show the first's lists"
        log.info(line, name, len(names), ", ".join(names))
    return merged


def asked_again(searches: Mapping[str, Search], n: int) -> dict[str, Search]:
    """The searches, of which each program is asked n times: the runs of one system."""
    merged = dict(searches)
    for name, search in searches.items() if n > 1 else ():
        if search.program and not search.repeats:
            again = [_another(search) for _ in range(n - 1)]
            merged[name] = replace(search, repeats=again)
    return merged


def unsteady(
    searches: Mapping[str, Search], queries: utils.Queries, n: int = ASKED_TWICE
) -> dict[str, int]:
    """Of how many of the first n queries each program gives another list when it is
    asked again: a dict of name: number, of those that do.

    One whose answers have a price is not asked again, and the log says so."""
    first = queries[:n]
    changed = {}
    for name, search in searches.items():
        if any(answer.has_price for answer in search.answers.values()):
            log.info("%s says what answers cost, so no query is asked twice", name)
        elif search.program and not search.repeats:
            pairs = zip(search.find(first), _another(search).find(first), strict=True)
            changed[name] = sum(once != again for once, again in pairs)
    return {name: number for name, number in changed.items() if number}


def _another(search):
    return Search(search.name, search.documents_of, search.program)


def as_systems_unless_named(
    searches: Mapping[str, Search],
    declared: Mapping[str, Sequence[str]] | None,
    names: Sequence[str],
) -> dict[str, Search]:
    """`as_systems`; but each run by itself where names has one of a system."""
    systems = as_systems(searches, declared)
    gone = searches.keys() - systems.keys()
    is_named = any(gone & {*full_names(name)} for name in names)
    return dict(searches) if is_named else systems


def _by_seed(searches):
    """The names of each system's runs, by what stands before the word seed."""
    systems = {}
    for name in searches:
        if told := SEED.fullmatch(name):
            systems.setdefault(told[1], []).append(name)
    several = {name: names for name, names in systems.items() if len(names) > 1}
    # a name of its own, where another search has that, or nothing is before the seed
    return {
        f"{name} seeds".strip()
        if name in searches or name.endswith(":")
        else name: runs
        for name, runs in several.items()
    }


def _as_declared(searches, declared):
    """The names of each system's runs, as columns.toml says them."""
    systems = {}
    seen = set()
    for name, runs in declared.items():
        full = [named(run, searches, "[repeats]") for run in runs]
        for run in full:
            if run in seen:  # it would count twice, or in two candidates
                problem = f"{run!r} stands there twice"
                raise utils.InputError(problem=problem, option="[repeats]")
            seen.add(run)
        prefix = full[0].partition(": ")[0]
        systems[name if name.startswith(prefix) else f"{prefix}: {name}"] = full
    return systems
