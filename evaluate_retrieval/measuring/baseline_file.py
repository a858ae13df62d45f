"""What a baseline keeps of a search, and its file, `baseline.json.gz`."""

import gzip
import json
import math
from dataclasses import dataclass, field
from io import BytesIO
from itertools import chain
from pathlib import Path

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import segments
from evaluate_retrieval.measuring.metric import Measure, measures_of
from evaluate_retrieval.reading.writing import write_bytes

BASELINE = "baseline.json.gz"
VERSION = 3  # of the baseline's form
MOST_UNPACKED = (
    1_000_000_000  # bytes of it, unpacked; 5,000 queries have some 50 million
)
KEPT_COLUMNS = ["query_id", "question", "need"]
IN_FILE = [*KEPT_COLUMNS, segments.SEGMENT]  # the last one where there are segments
SELDOM = {"alternatives": {}, "only_answered": False, "updates": 0}
SELDOM |= {"p95_ms": None, "mean_tokens": None, "repeats": []}


@dataclass(frozen=True)
class Kept:
    """What a baseline keeps of one kind of query, or what a run has just measured.

    queries: DataFrame with KEPT_COLUMNS, texts; need: which belong together,
    see `intervals.groups_of`. rankings: dict of query id: ids, best first,
    without padding. qrels: dict of query id: dict of id: grade. measure: of
    that run. texts: dict of id: hash of the text, of all documents, or in a
    baseline of those that it names. judgements: of judged.KINDS_OF_JUDGEMENTS.
    alternatives: dict of query id: its alternatives, see `metric.under_one_name`; {}
    without any. only_answered: whether queries without a relevant document are left
    out. updates: how many times the gate has made a new baseline of the one before.
    p95_ms, mean_tokens: see `own.costs_of`, where a limit was asked for; else None.
    repeats: rankings of the other runs of a search that was asked several times."""

    search: str
    queries: pd.DataFrame
    rankings: dict[str, list[str]]
    qrels: dict[str, utils.Qrel]
    measure: Measure
    texts: dict[str, str] = field(default_factory=dict)
    judgements: str = "listed"
    alternatives: dict[str, dict[str, str]] = field(default_factory=dict)
    only_answered: bool = False
    updates: int = 0
    p95_ms: float | None = None
    mean_tokens: float | None = None
    repeats: list[dict[str, list[str]]] = field(default_factory=list)

    @property
    def runs(self) -> list[dict[str, list[str]]]:
        """The rankings of each run, those of the first one first."""
        return [self.rankings, *self.repeats]


def write_baseline(path: Path, kept: Kept, run_id: str) -> Path:
    """Write what a later run is compared with, and return the path.

    The same content gives the same bytes."""
    told = {
        **_without_nothing(vars(kept)),
        "measure": _kept_measure(kept.measure),
        "texts": _texts_named(kept),
        "queries": kept.queries.filter(IN_FILE).to_dict("list"),
    }
    kinds = {kept.measure.kind: told}
    content = {"version": VERSION, "run": run_id, "kinds": kinds}
    # grades of a DataFrame are numbers of numpy
    text = json.dumps(content, sort_keys=True, default=lambda number: number.item())
    write_bytes(path, gzip.compress(text.encode(), mtime=0))
    return path


def read_baseline(path: str | Path) -> Kept:
    """What is in a file of `write_baseline`.

    ValueError for a file that is damaged, or of another form."""
    packed = Path(path).read_bytes()
    try:
        with gzip.open(BytesIO(packed)) as file:
            text = file.read(MOST_UNPACKED + 1)
        if len(text) > MOST_UNPACKED:
            raise ValueError(f"it has more than {MOST_UNPACKED:,} bytes")
        content = json.loads(text)
        if content["version"] != VERSION:
            raise ValueError(content["version"])
        [(kind, told)] = content["kinds"].items()
        told["queries"] = _kept_queries(told["queries"])
        told["measure"] = measures_of(*told["measure"])[kind]
        return _as_written(Kept(**told))
    except Exception as error:  # a damaged file gives any
        problem = "it is damaged, of another version of this command, or no baseline"
        advice = "to make one: evaluate the search that you ship, and keep its new"
        advice = f"{advice} {BASELINE}"
        raise utils.InputError(path, problem, advice=advice) from error


def _as_written(kept):
    """What a baseline keeps. ValueError where somebody has edited it into no such."""
    grades = chain(*map(dict.values, kept.qrels.values()))
    texts = [kept.search, kept.judgements, *kept.texts.values()]
    texts += chain(*map(dict.values, kept.alternatives.values()))
    texts += chain(*(list.copy(ids) for run in kept.runs for ids in run.values()))
    are_texts = all(isinstance(text, str) for text in texts)
    are_grades = all(0 <= grade < math.inf for grade in grades)
    costs = [kept.p95_ms, kept.mean_tokens]
    are_numbers = all(isinstance(cost, (int, float, type(None))) for cost in costs)
    if not (are_texts and are_grades and are_numbers and type(kept.updates) is int):
        raise ValueError("rankings, grades, texts or costs are none")
    return kept


def _kept_queries(columns):
    """The queries of a file, with their segment if they have one."""
    table = pd.DataFrame(columns)
    return table[[*KEPT_COLUMNS, *table.filter([segments.SEGMENT])]]


def _without_nothing(kept):
    """What is kept. What is empty in most runs is only there where it is not."""
    return {
        name: kept[name]
        for name in kept
        if name not in SELDOM or kept[name] != SELDOM[name]
    }


def _kept_measure(measure):
    """What `measures_of` takes. Without a lowest grade it is as it always was."""
    kept = [measure.by, measure.k]
    return kept if measure.relevant is None else [*kept, measure.relevant]


def _texts_named(kept):
    """The hashes of the texts that were judged, or are among the first results."""
    first = (ids[: kept.measure.k] for run in kept.runs for ids in run.values())
    named = {*chain(*first, *kept.qrels.values())}
    return {id_: kept.texts[id_] for id_ in named if id_ in kept.texts}
