"""What a folder's verdicts have used up: each look costs a part of the error.

Who looks again after each hundred judgements, or tries twenty searches one after the
other, has more chances to ship a search that gains nothing. So all verdicts on a folder
share one error. A *trial* is a new set of searches, or of drawn queries; its looks are
those at more judgements. Looking again at what was there is free."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import scipy  # loads its parts when they are used
from numpy.typing import ArrayLike

from evaluate_retrieval import utils
from evaluate_retrieval.measuring.grounds import grounds_of
from evaluate_retrieval.measuring.scored import Measured
from evaluate_retrieval.reading import kept
from evaluate_retrieval.reading.locks import held
from evaluate_retrieval.reading.writing import make_folder, write_text

SHIP = 0.01  # how often a search without a gain ships, in all looks at a folder
KEEP = 0.025  # how often one is kept out that gains the margin
LOOKS_IN = "looks"  # in the folder of what is kept beside the documents
ALONE = "alone"  # a folder there, of runs without a rival: they spend nothing


@dataclass(frozen=True)
class Look:
    """A verdict that was given.

    trial: its number, from 1. key: what the trial was about, a hash. state: of the
    judgements, a hash. shares: by candidate, the share of the drawn queries that were
    judged completely. name: of its file, "" where it has none. says: for people."""

    trial: int
    key: str
    state: str
    shares: Mapping[str, float]
    name: str = ""
    says: Mapping[str, object] = field(default_factory=dict)


def read_looks(source: Path, part: str = "") -> list[Look]:
    """The looks at a folder of documents so far, in order: [] where there are none.

    part: a folder of its own, for looks at other queries. ValueError names a file that
    is damaged."""
    place = kept.folder_of(source)
    looks = []
    for path in sorted((place / LOOKS_IN / part).glob("*.json")) if place else ():
        try:
            look = Look(**json.loads(path.read_text("utf-8")))
            _fail_unless_one(look)
        except (TypeError, ValueError, RecursionError) as error:
            problem = f"no look that this version wrote: {error}"
            raise utils.InputError(path, problem, advice="take it out") from error
        looks.append(replace(look, name=path.name))
    return looks


def _fail_unless_one(look):
    """ValueError for a look with values that none can have."""
    shares = {**look.shares}.values()
    are_shares = all(isinstance(each, int | float) and each >= 0 for each in shares)
    are_texts = isinstance(look.key, str) and isinstance(look.state, str)
    if type(look.trial) is not int or look.trial < 1 or not (are_shares and are_texts):
        raise ValueError(f"trial {look.trial!r:.20}, shares {look.shares!r:.60}")


@contextmanager
def alone_at(source: Path) -> Iterator[None]:
    """Keep other runs from looking at a folder meanwhile, where it can be written.

    Else two that look at once would spend the same part of the error."""
    place = kept.folder_of(source)
    with ExitStack() as stack:
        if place:
            with suppress(OSError):  # then no look is kept either, which is said
                make_folder(place / LOOKS_IN)
                stack.enter_context(held(place / LOOKS_IN))
        yield


def write_look(source: Path, look: Look, part: str = "") -> None:
    """Write a look into a file of its own; one with a name is there already.

    Its name has a hash, so that two branches that both go on from look 6 can be merged.

    part: see `read_looks`. Nothing is written of a file of documents. OSError
    where the folder cannot be written."""
    place = kept.folder_of(source)
    if look.name or place is None:
        return
    folder = place / LOOKS_IN / part
    make_folder(folder)
    content = {name: value for name, value in vars(look).items() if name != "name"}
    text = json.dumps(content, indent=1, sort_keys=True)
    while True:
        stems = [path.stem.split("-")[0] for path in folder.glob("*.json")]
        n = 1 + max(map(int, filter(str.isdecimal, stems)), default=0)
        path = folder / f"{n:04}-{hash_of(content)}.json"
        # another run may have taken the number: no look is lost
        with suppress(FileExistsError):
            return write_text(path, f"{text}\n", is_durable=True, is_new=True)


def look_at(
    measured: Measured,
    incumbent: str,
    looks: Iterable[Look],
    built_in: Iterable[str] = (),
) -> Look:
    """The look that a verdict on searches against the incumbent is: see `next_look`.

    A search of the user's is told by what it ranks, and one that is built in by its
    name: its settings are tuned anew with each grade. Where people go on judging, more
    grades are another look at the same trial; else other judgements are another
    trial."""
    is_growing = measured.judgements == "growing"
    names = [name for name in measured.values if name != incumbent]
    shares = dict.fromkeys(names, 1.0)
    if is_growing:
        shares = {name: grounds_of(measured, name, incumbent).share for name in names}
    state = ""
    if "document" in measured.queries:
        state = hash_of([sorted(qrel.items()) for qrel in _qrels(measured.queries)])
    told = {
        name: name if name in {*built_in} else hash_of(_told(measured, name))
        for name in measured.first
    }
    drawn = str(len(measured.values)) if is_growing else state
    trial = [sorted(told.items()), incumbent, str(measured.measure), drawn]
    return next_look(looks, hash_of(trial), state, shares)


def _told(measured, name):
    """What tells a search of the user's: the lists of its runs."""
    first, *others = (ids.tolist() for ids in measured.lists_of(name))
    return [first, others] if others else first


def _qrels(queries):
    return [
        qrel if isinstance(qrel, dict) else {str(qrel): 1}
        for qrel in queries["document"]
    ]


def hash_of(content: object) -> str:
    """A hash of lists and dicts of plain values."""
    return sha256(json.dumps(content, default=float).encode()).hexdigest()[:16]


def errors_of(looks: Iterable[Look], look: Look) -> dict[str, tuple[float, float]]:
    """What a look may spend on one side, by candidate: for *ship*, and for *keep*."""
    looks = list(looks)
    return {
        name: (level(SHIP, looks, look, name), level(KEEP, looks, look, name))
        for name in look.shares
    }


def n_looks(looks: Iterable[Look], look: Look | None = None) -> int:
    """How often judgements were looked at so far. look: of this run, if it is one."""
    return len(list(looks)) + bool(look and not look.name)


def n_trials(looks: Iterable[Look]) -> int:
    """How many trials there were so far.

    Two branches may have used one number: then those of both count."""
    trials = {look.key: look.trial for look in looks}
    return max([len(trials), *trials.values()])


def next_look(
    looks: Iterable[Look], key: str, state: str, shares: Mapping[str, float]
) -> Look:
    """The look at a trial and a state of the judgements: that of before, or a new one.

    key, state, shares: see `Look`."""
    looks = list(looks)
    trials = {look.key: look.trial for look in looks}
    trial = trials.get(key, 1 + n_trials(looks))
    for look in looks:
        if (look.key, look.state) == (key, state):
            return look
    return Look(trial, key, state, dict(shares))


def level(error: float, looks: Iterable[Look], look: Look, candidate: str) -> float:
    """What a look may spend of an error on one side, for a candidate.

    Trial n has error / (n (n + 1)), so that all trials together have no more than the
    error. A trial with one look, at complete judgements, has all of it. Looks on the
    way take z / √share as their limit, z of half of the error, and so does the last:
    sums of queries in random order are like Brownian motion, which ever crosses such a
    line with twice the chance that it ends above it (the reflection principle). So it
    holds for any number of looks, and early ones need overwhelming evidence, as by
    O'Brien and Fleming (1979)."""
    of_trial = _of_trial(error, look.trial)
    share = min(look.shares[candidate], 1.0)
    if share <= 0:
        return 0.0
    others = [each for each in looks if each.key == look.key]
    if share == 1 and not any(0 < o.shares.get(candidate, 0) < 1 for o in others):
        return of_trial
    limit = scipy.stats.norm.isf(of_trial / 2)
    return float(scipy.stats.norm.sf(limit / share**0.5))


def _of_trial(error, trial):
    """What a trial has of an error on one side."""
    return error / (trial * (trial + 1))


def levels_later(
    shares: ArrayLike, trial: int, n_trials: int, is_growing: bool
) -> np.ndarray:
    """Below which p a later look ships a search: an array as shares.

    shares: of the queries of today's look, those that are judged completely then. Above
    1 more are drawn, which is another trial, and so are all other judgements where
    nobody goes on judging, see `look_at`. trial: of today; n_trials: of all looks."""
    anew = np.full(np.shape(shares), _of_trial(SHIP, n_trials + 1))
    if not is_growing:
        return 2 * anew
    limit = scipy.stats.norm.isf(_of_trial(SHIP, trial) / 2)
    way = np.clip(shares, 1e-9, 1)
    on_the_way = scipy.stats.norm.sf(limit / np.sqrt(way))
    return 2 * np.where(np.asarray(shares) > 1 + 1e-9, anew, on_the_way)
