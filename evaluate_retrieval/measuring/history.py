"""The figures that the log of looks has of each run, and what has changed between."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from importlib.metadata import PackageNotFoundError, version
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import looks
from evaluate_retrieval.measuring.baseline_file import Kept
from evaluate_retrieval.measuring.metric import Measure
from evaluate_retrieval.measuring.since import prints_of
from evaluate_retrieval.reading.listing import KEPT_IN

if TYPE_CHECKING:  # it loads all searches
    from evaluate_retrieval.measuring.steps import Results

FIGURES = ["value", "low", "high"]
LAST_RUNS = 10  # runs in a picture
WATCHED = ["search", "metric", "judgements", "documents", "version", "lists"]


def record_of(
    kept: Kept, results: "Results", run_id: str, since: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """What the log keeps of a run: a dict of plain values.

    kept: of the search that runs today, or was chosen. results: of the run, whose
    leaderboard has the figures: queries and needs are those of it. since: see
    `since.since_last`; it counts where it is of this search."""
    figures = results.board[[kept.measure.by, "low", "high"]].astype(float).round(6)
    return {
        "day": str(date.today()),
        "time": datetime.now(UTC).isoformat(),
        "run": run_id,
        "version": _installed_version(),
        "search": kept.search,
        "metric": str(kept.measure),
        "kind": kept.measure.kind,
        "figures": {name: list(row) for name, *row in figures.itertuples()},
        "queries": len(results.measured.values),
        "needs": results.measured.groups.nunique(),
        "grades": sum(map(len, kept.qrels.values())),
        "n_documents": len(kept.texts),
        "documents": looks.hash_of(sorted(kept.texts.items())),
        **prints_of(kept),
        "since": [dict(each) for each in since if each["search"] == kept.search],
    }


def _installed_version():
    """Which version of the command runs; "" where it is not installed."""
    with suppress(PackageNotFoundError):
        return version("retrieval-evaluation-course")
    return ""


def runs_of(source: Path) -> list[dict[str, Any]]:
    """The runs of which the log at a folder has figures, the oldest first.

    Each is a `record_of`, with value, low and high of its search, changed: what is
    another than in the run before, is_other: whether search or metric is, and parts: by
    what the figure changed, None where that cannot be told."""
    kept = [*looks.read_looks(source), *looks.read_looks(source, looks.ALONE)]
    try:
        rows = [dict(look.says) for look in kept if "figures" in look.says]
        rows.sort(key=itemgetter("time"))
        for row in rows:
            figures = map(float, row["figures"][row["search"]])
            row |= dict(zip(FIGURES, figures, strict=True))
        return with_changes(rows)
    except (KeyError, TypeError, ValueError) as error:
        place = source / KEPT_IN / looks.LOOKS_IN
        problem = f"a look was edited: {type(error).__name__} {error}"
        raise utils.InputError(place, problem, advice="take it out") from error


def last_runs(runs: list[dict[str, Any]], measure: Measure) -> list[dict[str, Any]]:
    """The last LAST_RUNS of them with intervals by one metric, for a picture."""
    same = [row for row in runs if row["metric"] == str(measure)]
    return with_changes([row for row in same if row["low"] == row["low"]][-LAST_RUNS:])


def with_changes(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Runs, each with what is another than in the one before: see `runs_of`."""
    pairs = zip([None, *rows], rows, strict=False)
    return [row | _since_former(before, row) for before, row in pairs]


def _since_former(before, now):
    """What is another than in the run before, and what that did to the figure."""
    if before is None:
        return {"changed": [], "is_other": False, "parts": None}
    changed = [name for name in WATCHED if before[name] != now[name]]
    is_other = not {"search", "metric"}.isdisjoint(changed)
    parts = None if is_other else _parts_of_change(before, now)
    return {"changed": changed, "is_other": is_other, "parts": parts}


def _parts_of_change(before, now):
    """What labels, and what is ranked, did to the figure of one search; or None.

    Where one of the two is as it was, all is by the other. Else today's labels on the
    lists of the last run tell, where it was this run before."""
    difference = now["value"] - before["value"]
    if before["judgements"] == now["judgements"]:
        return {"by_labels": 0.0, "by_search": difference, "queries": ""}
    if before["lists"] == now["lists"]:
        return {"by_labels": difference, "by_search": 0.0, "queries": ""}
    was = {name: before[name] for name in ("judgements", "lists")}
    for each in now["since"]:
        if each["last"] == was:
            return {name: each[name] for name in ("by_labels", "by_search", "queries")}
    return None
