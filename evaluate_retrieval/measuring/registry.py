"""The metrics: each is a file in `metrics/`, or an entry point of another package.

A metric is asked for as people write it: `ndcg`, `nDCG`, or `RBP(p=0.8)@10`. What is
known of it, for boards, pages, manuals and tests, is in its `Entry`."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np

from evaluate_retrieval import utils

METRIC_PLUG_INS = "evaluate_retrieval.metrics"  # a group of entry points
METRIC_FILES = Path(__file__).with_name("metrics")
SPELLING = re.compile(r"\s*([^()@]+?)\s*(?:\(([^()]*)\))?\s*(?:@\s*(\d+))?\s*")
LARGEST_K = 10_000  # results that count; nobody looks at more
TOO_MANY = f"{LARGEST_K:,} results count at most"
EXACT = "exact"
CAUTIOUS = "cautious"  # never too high, but it may be too low
NO_BOUND = "none"
BOUNDS = {  # what is known of the least that a search gains, for sentences
    EXACT: "",
    CAUTIOUS: "These bounds of {} are safe, and may be wider than they need be.",
    NO_BOUND: "No bound of {} is known: each such query may gain or lose 1.",
}


@dataclass(frozen=True)
class Parameter:
    """What may be set of a metric: its usual value, and which ones are fine.

    expected: these, in words. is_told: whether a label has the usual value, too."""

    usual: float | str
    is_fine: Callable[[Any], bool]
    expected: str
    is_told: bool = True


@dataclass(frozen=True)
class Doubt:
    """A query of which two lists show m documents that have no grade.

    lists: the grades of both, (2, k), 0 where there is none. places: where each of
    these documents stands in either, (m, 2), from 0; k where it does not. judged: all
    grades of the query. top: the highest grade that a document may have."""

    lists: np.ndarray
    places: np.ndarray
    judged: Sequence[float]
    top: float

    @property
    def k(self) -> int:
        """The number of results that count."""
        return self.lists.shape[1]


@dataclass(frozen=True)
class Entry:
    """A metric, by which the command may decide.

    label: as people write it. means: what a reader gains, of {} results and of the
    parameters; a text, or a function of them that makes one. of: from relevance,
    (n_queries, k), all judged grades of each query, and the parameters, a value from 0
    to 1 for each query; a relevant document higher up is never worth less. is_graded:
    whether a higher grade is worth more; else `of` gets 0 and 1. also: how ir_measures
    calls it. sees_order: whether the order of the first k counts. notes: for the
    manual. problem: what is wrong with the highest grade of a folder, or "".

    worst: of a `Doubt` and the parameters the grades that may be the worst for the
    first list, (n_trials, m); or these for each list, (2, n_trials, m), where the same
    document may count as relevant in one alone. bound: how far its least gain can be
    trusted, of BOUNDS."""

    label: str
    means: str | Callable[..., str]
    of: Callable[..., utils.MeanOrEach]
    is_graded: bool = False
    also: str = ""
    sees_order: bool = True
    parameters: dict[str, Parameter] = field(default_factory=dict)
    notes: str = ""
    problem: Callable[..., str] = lambda highest, **_: ""
    worst: Callable[..., np.ndarray] | None = None
    bound: str = NO_BOUND


@dataclass(frozen=True)
class MetricAsked:
    """A metric with its parameters. by: its name in tables and files."""

    by: str
    metric: Entry
    parameters: dict[str, Any]

    @property
    def label(self) -> str:
        """As people write it, with the parameters that need to be told."""
        told = {
            name: value
            for name, value in self.parameters.items()
            if self.metric.parameters[name].is_told
            or value != self.metric.parameters[name].usual
        }
        return self.metric.label + _in_brackets(told)

    def problem(self, highest: float) -> str:
        """What is wrong with the highest grade of a folder, or ""."""
        return self.metric.problem(highest, **self.parameters)

    def means(self, k: int) -> str:
        """What a reader gains from k results, in words."""
        means = self.metric.means
        if callable(means):
            return means(k, **self.parameters)
        return means.format(k, **self.parameters)

    def values(
        self,
        grades: np.ndarray,
        judged: Sequence[Sequence[float]],
        relevant: float | None = None,
    ) -> np.ndarray:
        """The metric of each query. grades: of the first k results, (n_queries, k).

        judged: all grades of each query. relevant: see `utils.score`."""
        if not self.metric.is_graded:
            grades = utils.is_relevant(grades, relevant)
            judged = [utils.is_relevant(row, relevant).tolist() for row in judged]
        return np.asarray(self.metric.of(grades, judged, **self.parameters))


@cache
def metrics() -> dict[str, Entry]:
    """All metrics by name: those of files in `metrics/`, and of other packages."""
    there = sorted(path.stem for path in METRIC_FILES.glob("[a-z]*.py"))
    names = [*utils.METRICS, *(name for name in there if name not in utils.METRICS)]
    package = f"{__package__}.{METRIC_FILES.name}"
    ours = {name: import_module(f"{package}.{name}").METRIC for name in names}
    theirs = {each.name: each.load() for each in entry_points(group=METRIC_PLUG_INS)}
    return ours | {name: theirs[name] for name in theirs if name not in ours}


@cache
def chosen(by: str) -> MetricAsked:
    """The metric that a text names, such as rbp or RBP(p=0.8). ValueError for none."""
    return metric_and_k(by)[0]


def metric_and_k(text: str) -> tuple[MetricAsked, int | None]:
    """The metric that a text asks for, and the number of results, if it names one.

    ValueError says which metrics there are, or what a parameter may be.

    >>> metric, k = metric_and_k("RBP(p=0.9)@20")
    >>> metric.by, metric.label, k
    ('rbp(p=0.9)', 'RBP(p=0.9)', 20)
    """
    parts = SPELLING.fullmatch(text)
    name, inside, k = parts.groups() if parts else (text, None, None)
    name = _named(name)
    if name is None:
        problem = f"{text!r}: there is {', '.join(metrics())}"
        raise utils.InputError(option="--metric", problem=problem)
    metric = metrics()[name]
    usual = {key: each.usual for key, each in metric.parameters.items()}
    given = {}
    for piece in filter(str.strip, (inside or "").split(",")):
        key, _, value = map(str.strip, piece.partition("="))
        given[key] = _value_of(text, metric, key, value)
    different = {key: each for key, each in given.items() if each != usual[key]}
    parameters = usual | given
    in_order = {key: different[key] for key in parameters if key in different}
    by = name + _in_brackets(in_order)
    if k and (len(k) > len(str(LARGEST_K)) or int(k) > LARGEST_K):
        raise utils.InputError(option="--metric", problem=f"{text!r:.80}: {TOO_MANY}")
    return MetricAsked(by, metric, parameters), int(k) if k else None


def labels_of_ordered() -> list[str]:
    """The labels of metrics for which the order of the first results counts."""
    return [each.label for each in metrics().values() if each.sees_order]


def problem_with(text: str) -> str:
    """What is wrong with a text that should name a metric, or ""."""
    if not isinstance(text, str):
        return f"{text!r} is no text: there is {', '.join(metrics())}"
    try:
        metric_and_k(text)
    except utils.InputError as error:
        return error.problem
    return ""


def _named(text):
    """The name of the metric that a text means, or None."""
    plain = _plain(text)
    for name, metric in metrics().items():
        if plain in map(_plain, (name, metric.label, metric.also)):
            return name
    return None


def _plain(text):
    return re.sub(r"[\s_-]", "", str(text)).casefold()


def _value_of(text, metric, key, value):
    """The value of a parameter, a number or a text, if it is fine."""
    if key not in metric.parameters:
        there = ", ".join(metric.parameters) or "none"
        problem = f"{text!r}: {metric.label} has no {key!r}; there is {there}"
        raise utils.InputError(option="--metric", problem=problem)
    parameter = metric.parameters[key]
    try:
        given = type(parameter.usual)(value.casefold())
        is_fine = parameter.is_fine(given)
    except ValueError:
        is_fine = False
    if not is_fine:
        problem = f"{text!r}: {key} has to be {parameter.expected}"
        raise utils.InputError(option="--metric", problem=problem)
    return given


def as_text(value: Any) -> str:
    """The value of a parameter, as people write it."""
    return f"{value:.12g}" if isinstance(value, float) else value


def _in_brackets(parameters):
    """Parameters as they stand behind a name; "" without any."""
    parts = [f"{key}={as_text(value)}" for key, value in parameters.items()]
    return f"({','.join(parts)})" if parts else ""


# --- The worst that missing grades can do ------------------------------------


def lowest_gain(metric: MetricAsked, doubt: Doubt) -> float:
    """What the first list gains over the second at least, whatever the grades are.

    See `Entry.worst`; of a metric without it −1, if the lists differ."""
    trials = np.zeros((1, 0))  # no grade is missing
    if metric.metric.worst is not None:
        trials = metric.metric.worst(doubt, **metric.parameters)
    elif len(doubt.places):
        first, other = doubt.lists
        are_same = (first == other).all() and not np.ptp(doubt.places, axis=1).any()
        return 0.0 if are_same else -1.0
    values = []
    for side, rows in enumerate(np.broadcast_to(trials, (2, *trials.shape[-2:]))):
        grades = np.zeros((len(rows), doubt.k + 1))
        grades[:, :-1] = doubt.lists[side]
        grades[:, doubt.places[:, side]] = rows
        judged = [[*doubt.judged, *row] for row in rows.tolist()]
        # the last column has what the list does not show
        values.append(metric.metric.of(grades[:, :-1], judged, **metric.parameters))
    return float(np.subtract(*values).min())


def one_after_the_other(order: np.ndarray, top: float) -> np.ndarray:
    """Trials in which the first n of some documents have the top grade, n from 0.

    order: the numbers of the documents.

    >>> one_after_the_other([1, 0], 3).tolist()
    [[0.0, 0.0], [0.0, 3.0], [3.0, 3.0]]
    """
    m = len(order)
    trials = np.zeros((m + 1, m))
    trials[:, order] = np.tri(m + 1, m, -1) * top
    return trials


def by_absence(doubt: Doubt, **_: Any) -> np.ndarray:
    """The worst for metrics of the first k as a set: `Entry.worst`.

    What the second list alone shows is relevant. If the first still gains, what both
    show makes its gain a smaller share; what it alone shows is not relevant."""
    is_shown = doubt.places < doubt.k
    order = np.lexsort((~is_shown[:, 1], is_shown[:, 0]))
    return one_after_the_other(order, doubt.top)


def every_trial(n: int, top: float) -> np.ndarray:
    """All trials in which each of n documents has 0 or the top grade: (2ⁿ, n)."""
    numbers = np.arange(2**n)[:, None]
    return (numbers >> np.arange(n) & 1) * float(top)
