"""After people have judged: pairs to settle, who did how much, and what it decided."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pandas as pd

from evaluate_retrieval.judging import dealing, grading, pages
from evaluate_retrieval.judging.agreed import agreement_of
from evaluate_retrieval.judging.several import BY_HAND
from evaluate_retrieval.judging.taking import TAKEN_COLUMNS
from evaluate_retrieval.measuring import history
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.reading.graded import SETTLED
from evaluate_retrieval.reading.joining import PAIR
from evaluate_retrieval.reading.writing import write_text
from evaluate_retrieval.words.templates import render

AWAY = 120  # seconds; who takes longer for a pair was away


def last_rows(source: Path) -> pd.DataFrame:
    """The row that counts of each person and pair in a folder: a DataFrame of texts.

    TAKEN_COLUMNS, as far as the files of those who judge have them, with the place of
    the pair in the deal. Only pairs that were dealt."""
    dealt = dealing.read_dealt(source).drop_duplicates(PAIR, keep="last")
    files = grading.judged_files(source)
    tables = [grading.read_judgements(path, TAKEN_COLUMNS)[0] for path in files]
    rows = pd.concat([pd.DataFrame(columns=TAKEN_COLUMNS, dtype=str), *tables])
    rows = rows.sort_values("time", kind="stable")
    rows = rows.drop_duplicates([*PAIR, "judge"], keep="last")
    rows = rows[rows["grade"] != grading.CANNOT_TELL]
    places = dealt[[*PAIR, "people"]].assign(place=range(len(dealt)))
    return rows.merge(places, on=PAIR)


def to_settle(source: Path, leaders: pd.DataFrame | None = None) -> pd.DataFrame:
    """Pairs that all who were dealt them have judged, and on which they differ.

    A row a pair: the columns of a deal, and given, a list of dicts with grade and note,
    without names and with the highest first. leaders: of the last run, see `rank_gaps`.
    Those come first whose grade moves the two furthest from each other: how far it is
    apart, times the gap. Then those furthest apart, then the order of the deal. What
    was settled is left out."""
    rows = last_rows(source)
    found = []
    for _, part in rows.groupby("place"):
        is_settled = part["judge"].str.lower().isin(SETTLED).any()
        people = part["people"].iloc[0].split(";")
        theirs = part[part["judge"].isin(people)]
        numbers = theirs["grade"].astype(float)
        if is_settled or len(theirs) < len(people) or numbers.nunique() < 2:
            continue
        order = numbers.sort_values(ascending=False).index
        given = theirs.loc[order, ["grade", "note"]].to_dict("records")
        apart = float(np.ptp(numbers))
        found.append({**part.iloc[0].to_dict(), "given": given, "apart": apart})
    columns = [*rows.columns, "given", "apart"]
    table = pd.DataFrame(found, columns=columns)
    gaps = rank_gaps(leaders)
    gap_of = [gaps.get(pair, 0.0) for pair in map(tuple, table[PAIR].to_numpy())]
    table["moves"] = table["apart"].astype(float) * gap_of
    order = ["moves", "apart", "place"]
    table = table.sort_values(order, ascending=[False, False, True])
    return table.reset_index(drop=True)


def rank_gaps(leaders: pd.DataFrame | None) -> dict[tuple[str, str], float]:
    """How differently two searches rank a document, by query_id and document.

    leaders: found, the list of each of the two as queries.csv has it, by query_id. It
    is the difference of what a rank counts in nDCG, 1 / log2(rank + 1). A document at
    the same rank of both has 0: its grade cannot turn a decision between them."""
    gaps: dict[tuple[str, str], float] = {}
    if leaders is None or leaders.empty:
        return gaps
    for query_id, lists in leaders["found"].groupby(level=0):
        counts = [_counts_by_rank(ids) for ids in lists]
        if len(counts) == 2:
            first, second = counts
            for id_ in {**first, **second}:
                gaps[str(query_id), id_] = abs(first.get(id_, 0) - second.get(id_, 0))
    return gaps


def _counts_by_rank(ids):
    """What each document of a list counts in nDCG. ids: a text, quoted as in a URL."""
    ranked = enumerate(ids.split(), 1)
    return {unquote(id_): float(1 / np.log2(rank + 1)) for rank, id_ in ranked}


def rules_of(source: Path) -> list[str]:
    """The sentences that were agreed on while pairs were settled, oldest first."""
    rows = last_rows(source)
    notes = rows.loc[rows["judge"] == BY_HAND, "note"]
    return [note for note in dict.fromkeys(notes) if note]


def settle_page(
    folder: Folder,
    keys: Mapping[str, str],
    leaders: pd.DataFrame | None,
    served: Mapping[str, Any] | None = None,
) -> tuple[str, str, int]:
    """The page on which people settle pairs, its policy, and how many they are.

    keys: see `grading.keys_for`. leaders: see `to_settle`. served: see
    `pages.judging_page`. It names nobody, and says nothing of searches."""
    pairs = to_settle(folder.source, leaders)
    texts = dealing.with_texts(pairs, folder.documents)["text"]
    # what was edited since is another document; a terminal keeps no hash
    pairs = pairs[texts.notna() & ((pairs["text"] == "") | (pairs["text"] == texts))]
    grades = [each["grade"] for each in pages.scale_in(keys)]
    page, policy = pages.judging_page(
        folder,
        pairs,
        BY_HAND,
        keys,
        pages.agreed_pairs(folder.judgements, pairs["query_id"], grades),
        rules_of(folder.source),
        served=served,
        given=pairs["given"],
    )
    return page, policy, len(pairs)


def lead_page(
    folder: Folder, judgements: pd.DataFrame, report: str = "", shows_all: bool = True
) -> str:
    """The page for who leads the hour: who did how much, how they agree, and the runs.

    judgements: of the folder as it is now. report: the name of a report beside it.
    shows_all: whether it says how often who gave which grade, before all are done."""
    people = progress_of(folder.source)
    if not shows_all and any(each["judged"] < each["dealt"] for each in people):
        people = [{**each, "spread": ""} for each in people]
    before, after = around_the_hour(folder.source)
    shown = {
        "folder": folder.source.name,
        "people": people,
        "agreement": agreement_of(judgements),
        "n_open": len(to_settle(folder.source)),
        "before": before,
        "after": after,
        "report": report,
        "style": pages.style_of_page(),
    }
    return render("lead.html.j2", **shown)


def write_lead_page(
    folder: Folder, judgements: pd.DataFrame, out: Path, report: str = ""
) -> list[Path]:
    """Write `lead_page` into a folder of results: its path, [] where nothing was dealt.

    judgements, report: see there."""
    if not (folder.source / dealing.DEALT).is_file():
        return []
    path = out / "judge-lead.html"
    write_text(path, lead_page(folder, judgements, report))
    return [path]


def around_the_hour(source: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The runs before and after people judged: rows of `history.runs_of`, or {}.

    Before is the last run before the first grade since the last deal, or the first run,
    if all are later: then is_late. After is the last run, where it has other judgements
    than that. It says what has changed, see there."""
    runs = [run for run in history.runs_of(source) if "gain" in run]
    start = max(dealing.read_dealt(source)["time"], default="")
    times = last_rows(source)["time"]
    # a clock may be slow; files of older versions have no times
    first = min(times[(times >= start) & (times != "")], default=start)
    if not runs:
        return {}, {}
    earlier = [
        run
        for run in runs
        if not first or pd.Timestamp(run["time"]) < pd.Timestamp(first)
    ]
    before = {**(earlier or runs[:1])[-1], "is_late": not earlier}
    _, after = history.with_changes([before, runs[-1]])
    return before, after if after["judgements"] != before["judgements"] else {}


def left_of_others(source: Path, person: str) -> str:
    """How many pairs the others still have to judge, in a sentence."""
    others = [each for each in progress_of(source) if each["person"] != person]
    n_left = sum(each["dealt"] - each["judged"] for each in others)
    if not n_left:
        return "The others are done, too."
    pairs = "pair" if n_left == 1 else "pairs"
    return f"The others have {n_left:,} {pairs} left."


def progress_of(source: Path) -> list[dict[str, Any]]:
    """How much each person has judged of what was dealt: dicts.

    person, judged and dealt; seconds, the median of a pair, and spread, how often each
    grade was given, as a text."""
    dealt = dealing.read_dealt(source).drop_duplicates(PAIR, keep="last")
    n_dealt = dealt["people"].str.split(";").explode().value_counts()
    rows = last_rows(source)
    people = []
    for person, n in n_dealt.sort_index().items():
        theirs = rows[rows["judge"] == person]
        times = pd.to_datetime(theirs["time"], errors="coerce").sort_values()
        steps = times.diff().dt.total_seconds().clip(upper=AWAY)
        spread = theirs["grade"].value_counts().sort_index()
        people.append(
            {
                "person": person,
                "judged": len(theirs),
                "dealt": int(n),
                "seconds": float(steps.median()),
                "spread": ", ".join(f"{grade}: {n:,}" for grade, n in spread.items()),
            }
        )
    return people
