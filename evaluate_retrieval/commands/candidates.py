"""The candidates of a gate: several in one pull request are one look, which is kept.

A gate with --candidate helps to choose what ships, so it is a look at the judgements,
see `looks`. The same lists and grades again are the same look, and so are some of its
candidates alone."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from typing import Any

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import keeping, looks, verdicts
from evaluate_retrieval.measuring.baseline_file import Kept
from evaluate_retrieval.words.constants import ERROR


def names_of(options: Any) -> list[str]:
    """What --candidate names: a list. ValueError where several would be one baseline.

    options: `gate.GateOptions`; in Python one name, or a list."""
    given = options.candidate
    names = [given] if isinstance(given, str) else list(given or ())
    if len(names) > 1 and (options.update or options.release):
        flag = "--update" if options.update else "--release"
        problem = f"{flag} takes one, the search that ships"
        raise utils.InputError(option="--candidate", value=names, problem=problem)
    return names


def kept_of_each(
    evaluated: Any, kept: Kept, names: Sequence[str], by: str | None
) -> list[Kept]:
    """What was measured of each candidate: kept, then those of the other names.

    ValueError for a search that is named twice."""
    everyone = [kept]
    results = evaluated.results
    for name in names[1:]:
        search = keeping.search_to_keep(results, name=name)
        everyone.append(keeping.kept_of(evaluated.folder, results, search, by))
    searched = [each.search for each in everyone]
    if len({*searched}) < len(searched):
        problem = "a search is named twice"
        raise utils.InputError(option="--candidate", value=searched, problem=problem)
    return everyone


@contextmanager
def looking(
    options: Any, before: Kept, everyone: Sequence[Kept]
) -> Iterator[tuple[dict[str, Any], int]]:
    """The look that a gate is, as facts, and how many candidates were dropped since.

    Facts: looks, so many there are with this one; candidates, their names, [] if it is
    no look: without --candidate, and where all show what the baseline shows; is_new:
    whether it is kept now. before: see `baseline`; everyone: see `kept_of_each`. Who
    drops those that lost, and looks again, has still chosen among all."""
    with looks.alone_at(options.source):
        earlier = looks.read_looks(options.source)
        facts = {"looks": len(earlier), "candidates": [], "is_new": False}
        told = _told_of(before, everyone) if options.candidate else {}
        if not told:
            yield facts, 0
            return
        measure = everyone[0].measure
        against = looks.hash_of([_lists_of(before, measure.k), str(measure)])
        state = looks.hash_of(sorted(everyone[0].qrels.items()))
        look, n_others = _look_of(earlier, told, against, state)
        facts |= {"looks": looks.n_looks(earlier, look), "candidates": list(told)}
        facts["is_new"] = not look.name
        yield facts, n_others
        if facts["code"] == ERROR:  # nothing was compared
            return
        says = {"day": str(date.today()), "against": against, "code": facts["code"]}
        says |= {"ranked": told, "baseline": before.search}
        verdicts.write_where_possible(options.source, replace(look, says=says))


def _look_of(earlier, told, against, state):
    """The look of these candidates: that of before which had them all, or a new one."""
    for look in earlier:
        says = look.says if isinstance(look.says, dict) else {}
        ranked = says.get("ranked") or {}
        is_same = (says.get("against"), look.state) == (against, state)
        if is_same and {*told.values()} <= {*ranked.values()}:
            return look, len(ranked) - len(told)
    key = looks.hash_of([against, sorted(told.values())])
    return looks.next_look(earlier, key, state, dict.fromkeys(told, 1.0)), 0


def _told_of(before, everyone):
    """A hash of what each candidate ranks, by name: a dict.

    {} where none shows anything else than the baseline does."""
    k = everyone[0].measure.k
    told = {}
    is_other = False
    for kept in everyone:
        told[kept.search] = looks.hash_of(_lists_of(kept, k))
        runs = zip(kept.runs, before.runs, strict=False)  # as many as both have
        is_other |= any(
            run[id_][:k] != former[id_][:k]
            for run, former in runs
            for id_ in run.keys() & former.keys()
        )
    return told if is_other else {}


def _lists_of(kept, k):
    """The first k ids of each query, by query, of each run."""
    return [sorted((query, ids[:k]) for query, ids in run.items()) for run in kept.runs]
