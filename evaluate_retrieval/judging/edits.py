"""What an edit has changed, and whether the grade of a text outlives it."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from evaluate_retrieval.judging import numbered
from evaluate_retrieval.judging.editions import Edition, content_of, title_of

INSERTED = 3  # words in a row that are new where none is gone: see SENTENCE
SENTENCE = 6  # words in a row that are new: they change no number that was there
PASSAGE = 12  # words in a row that are new: they say more, and take nothing back
MOVED = 3  # words in a row that stand elsewhere now
PHRASE = 3  # words in a row that may be put in other words
WORDING = 0.1  # of a text's words that may be
OFTEN = 2  # texts with one change, to be a change of all
NEGATION = r"n't$"
REWRITTEN = 10_000  # pairs of words that differ: nobody asks which one is misspelt
TURNS = rf"\d|^-|{NEGATION}"  # numbers and options of commands, too


@dataclass(frozen=True)
class Change:
    """What differs at one place of a text.

    deleted: words that are gone. added: what stands there now. is_wording: whether what
    is gone may be only a way to say it, see `_is_wording`."""

    deleted: list[int]
    added: list[int]
    is_wording: bool = False


def changes(old: np.ndarray, new: np.ndarray, edition: Edition) -> list[Change]:
    """What differs between an old text and one of the edition, in order.

    Common words, other forms of a word and mended typos are no changes. Nor is what
    stands elsewhere: MOVED words in a row, or a word of the title."""
    before = content_of(old, edition).tolist()
    after = content_of(new, edition).tolist()
    title = title_of(old)
    n_title = sum(~np.isin(title, edition.common))
    has_names = {*title[title & 1 == 1].tolist()} <= {*after}
    runs_before = {*_runs(before)}
    runs_after = {*_runs(after)}
    # autojunk would leave words out that a long text has often
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    differing = []
    for kind, start, end, first, last in matcher.get_opcodes():
        if kind == "equal":
            continue
        is_title = end <= n_title
        deleted = _without(before[start:end], runs_after)
        if is_title:
            deleted = [word for word in deleted if word not in after]
        added = _without(after[first:last], runs_before)
        if len(deleted) * len(added) <= REWRITTEN:
            deleted, added = _unlike(deleted, added, edition)
        if deleted or added:
            names = [each for each in added if each & 1 and has_names]
            n_names = sum(not _turns(each, edition, TURNS) for each in names)
            is_wording = _is_wording(deleted, added, is_title, after, n_names)
            differing.append(Change(deleted, added, is_wording))
    return differing


def _runs(words):
    """MOVED words in a row of a text, from each place."""
    return list(zip(*(words[at:] for at in range(MOVED)), strict=False))


def _without(words, runs):
    """Words that are in none of some runs of MOVED words."""
    places = [at for at, run in enumerate(_runs(words)) if run in runs]
    moved = {at + n for at in places for n in range(MOVED)}
    return [word for at, word in enumerate(words) if at not in moved]


def _unlike(deleted, added, edition):
    """Words that are gone and new ones, without those that are alike."""
    added = list(added)
    gone = []
    for word in deleted:
        alike = [each for each in added if edition.are_alike(word, each)]
        if alike:
            added.remove(alike[0])
        else:
            gone.append(word)
    return gone, added


def _is_wording(deleted, added, is_title, after, n_names):
    """Whether few words are gone, and maybe nothing of what they say.

    The text has them elsewhere, or other words stand there. One word for another one is
    another fact, but in a title. A name of code may be another one, but for a number.
    after: all words of the new text. n_names: how many of the new words may be names
    that stand for others."""
    if len(deleted) > PHRASE:
        return False
    if {*deleted} <= {*after} and not len(deleted) == len(added) == 1:
        return True
    n_gone = sum(word & 1 for word in deleted)
    if n_gone > n_names or not (added or is_title):
        return False
    # a name for a name is no word for a word
    n_others = len(deleted) + len(added) - 2 * n_gone
    return is_title or n_gone == len(deleted) or n_others > 2


def repeated(
    edits: Iterable[list[Change]], edition: Edition
) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Changes that an editor made throughout: a set of pairs of old and new words.

    OFTEN texts or more have them. edits: the changes of each different text. One that
    takes a negation away is never among them, nor one that adds a number or a negation,
    but within INSERTED words or more: a sentence that several texts got is about none
    of them."""
    counts = Counter(pair for each in edits for pair in set(map(_gone_and_new, each)))
    negations = {*map(edition.number, numbered.NO)}
    return {
        (deleted, added)
        for (deleted, added), n in counts.items()
        if n >= OFTEN
        and negations.isdisjoint(deleted)
        and (
            len(added) >= INSERTED > len(deleted)
            or not any(_turns(word, edition, TURNS) for word in added)
        )
    }


def _gone_and_new(change):
    """The words of a change, as one value."""
    return tuple(change.deleted), tuple(change.added)


def keeps_relevant(
    changes: list[Change],
    n_words: int,
    edition: Edition,
    throughout: Collection[tuple[tuple[int, ...], tuple[int, ...]]],
) -> bool:
    """Whether a text of n_words is still relevant after changes.

    throughout: see `repeated`; these count as no changes. No number or negation may be
    new in what was there, and no word gone but a share of WORDING that may be only a
    way to say it."""
    changes = [change for change in changes if _gone_and_new(change) not in throughout]
    gone = [change for change in changes if change.deleted]
    return (
        not any(_takes_back(change, edition) for change in changes)
        and all(change.is_wording for change in gone)
        and sum(len(change.deleted) for change in gone) <= WORDING * n_words
    )


def keeps_other(changes: list[Change]) -> bool:
    """Whether a text that was not relevant is still not after changes.

    No word may be new, and no number, negation or command gone from what is there."""
    return not any(
        change.added
        or (len(change.deleted) < SENTENCE and any(word & 1 for word in change.deleted))
        for change in changes
    )


def _takes_back(change, edition):
    """Whether new words may turn the meaning of those around them."""
    added = change.added
    if len(added) >= PASSAGE:
        return False
    is_short = len(added) < (SENTENCE if change.deleted else INSERTED)
    signs = TURNS if is_short else NEGATION
    return any(_turns(word, edition, signs) for word in added)


def _turns(word, edition, signs):
    """Whether a word of the edition is a negation, or has one of signs."""
    spelt = edition.spelt[word]
    return spelt in numbered.NO or bool(re.search(signs, spelt))
