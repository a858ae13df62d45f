"""What a page begins with: headline, sentence, warnings, tiles, and another margin."""

from dataclasses import replace
from typing import Any

import numpy as np

from evaluate_retrieval.measuring import decision, pairs
from evaluate_retrieval.words import sentences, tiles
from evaluate_retrieval.words.constants import FEW, UNITS


def opening(
    headline: str, sentence: str, about: str, shown: list[dict[str, str]], **more: Any
) -> dict[str, Any]:
    """What a page begins with, see parts.html.j2. shown: tiles. more: terms, and as
    far as there are any warnings and details, lists of sentences."""
    top = {"warnings": [], "details": [], "headline": headline, "sentence": sentence}
    top |= {"about": about, "tiles": shown, **more}
    return top | {"details": " ".join(filter(None, top["details"]))}


def top_of(evaluated: Any) -> dict[str, Any]:
    """The `opening` of a report: the decision on the pair that it tells of."""
    verdict = evaluated.verdict
    details = [*sentences.details(verdict), *evaluated.more, *evaluated.changes]
    warnings = sentences.warnings(verdict)
    # a gain of all can hide a group that lost
    if lost := [row for row in evaluated.segments if row["verdict"] == "worse"]:
        unit = UNITS[evaluated.folder.measure.kind]
        warnings.append(sentences.segments(lost, evaluated.pair[0], unit))
    return opening(
        sentences.headline(verdict),
        sentences.reason(verdict),
        about_pair(evaluated),
        tiles_of(evaluated),
        warnings=warnings,
        details=details,
        terms=terms_of_page(evaluated),
    )


def terms_of_page(evaluated: Any) -> dict[str, str]:
    """The terms of a page on a folder: see `tiles.terms_of`."""
    measure = evaluated.folder.measure
    unit = UNITS[measure.kind]
    return tiles.terms_of(str(measure), measure.means, evaluated.margin, unit)


def about_pair(evaluated: Any) -> str:
    """Which two searches the tiles are about, and what the first of them is."""
    new, old = evaluated.pair
    search = evaluated.candidates.searches[new]
    made = sentences.made_of(getattr(search, "setting", {}))
    made = f" ({made})" if made else ""
    if new == old:
        return f"“{new}”{made} has no other search beside it."
    return f"With “{new}”{made} instead of “{old}”:"


def tiles_of(evaluated: Any) -> list[dict[str, str]]:
    """The three tiles of a pair of searches, see `tiles`."""
    pair = evaluated.pair
    figures = evaluated.figures
    measured = evaluated.results.whole
    beside = ""
    counted = pairs.that_count(measured, figures) if figures else measured
    if figures and counted.judged is not None:
        is_doubtful = counted.judged[list(pair)].min() < 1
        beside = "Unjudged results count as not relevant." if is_doubtful else ""
    if measured.weights is not None and np.ptp(measured.weights) > 0:
        beside += " Of 100 as your weights count them."
    times = evaluated.results.board["ms_per_query"]
    names = pair if figures else pair[:1]
    return [
        tiles.gain_tile(evaluated.first, beside=beside.strip()),
        tiles.risk_tile(figures, figures["n_candidates"] if figures else 1),
        tiles.cost_tile({"ms": [float(times.get(name, np.nan)) for name in names]}),
    ]


def rule_of(verdict: decision.Decision) -> dict[str, Any] | None:
    """What page.js decides by another margin with: a dict of numbers and headlines.

    None where the margin decides nothing, or something else, too."""
    if verdict.table.empty or verdict.reason == "limit":
        return None
    rows: list[dict[str, Any]] = []
    for name, row in verdict.table.iterrows():
        shipped = replace(verdict, verdict="ship", name=str(name))
        is_bound = row["n"] >= FEW and np.isfinite(row["most"])
        rows.append(
            {
                "headline": sentences.headline(shipped),
                "significant": bool(row["significant"]),
                "expected": float(row["expected"]),
                "most": float(row["most"]) if is_bound else None,
            }
        )
    ends: list[float] = [
        row[end] or 0.0 for row in rows for end in ("expected", "most")
    ]
    kept = {
        word: sentences.headline(replace(verdict, verdict=word, name=verdict.incumbent))
        for word in ("keep", "undecided")
    }
    most = min(max([*ends, 2 * verdict.margin, 0.05]) * 1.1, 0.99)
    return {"rows": rows, "most": round(most, 2), **kept}
