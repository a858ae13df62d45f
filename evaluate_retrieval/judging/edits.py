"""What an edit has changed, and whether the grade of a text outlives it."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain

import numpy as np

from evaluate_retrieval.judging import numbered
from evaluate_retrieval.judging.editions import Edition, content_of, title_of

SENTENCE = 6  # words in a row that are new: they change no number that was there
PASSAGE = 12  # words in a row that are new: they say more, and take nothing back
MOVED = 3  # words in a row that stand elsewhere now
PHRASE = 3  # words in a row that may be put in other words
WORDING = 0.05  # of a text's words that may be
OFTEN = 3  # texts in which a word has become another, to be renamed
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
    n_title = sum(~np.isin(title_of(old), edition.common))
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
            is_wording = _is_wording(deleted, added, is_title, after)
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


def _is_wording(deleted, added, is_title, after):
    """Whether few words are gone, and maybe nothing of what they say.

    No number or name of code is, and other words stand there, or the text has the
    deleted ones elsewhere. One word for another one is another fact, but in a title.
    after: all words of the new text."""
    if len(deleted) > PHRASE or any(word & 1 for word in deleted):
        return False
    if is_title:
        return True
    return len(added) + len(deleted) > 2 if added else {*deleted} <= {*after}


def renamed(
    edits: Iterable[list[Change]], texts: Iterable[np.ndarray], edition: Edition
) -> set[tuple[int, int]]:
    """Words that became another one throughout: a set of pairs of old and new.

    In OFTEN texts or more, and at most half as many of today's have the word as had it.
    edits: the changes of each different text. texts: all, as they were. A word is not
    renamed to a number or a negation."""
    counts = Counter(chain.from_iterable(set(map(_pair, each)) for each in edits))
    had = _n_texts(texts)
    have = _n_texts(edition.texts.values())
    return {
        pair
        for pair, n in counts.items()
        if n >= OFTEN
        and pair is not None
        and 2 * have[pair[0]] <= had[pair[0]]
        and not _turns(pair[1], edition, TURNS)
    }


def _pair(change):
    """The words of a change of one word to another, else None."""
    words = (*change.deleted, *change.added)
    return words if len(change.deleted) == len(change.added) == 1 else None


def _n_texts(texts):
    """In how many texts each word is."""
    return Counter(chain.from_iterable(np.unique(words).tolist() for words in texts))


def keeps_relevant(
    changes: list[Change],
    n_words: int,
    edition: Edition,
    names: Collection[tuple[int, int]],
) -> bool:
    """Whether a text of n_words is still relevant after changes.

    names: see `renamed`. No number or negation may be new in what was there, and no
    word gone but renamed ones, and a share of WORDING that may be only a way to say
    it."""
    changes = [change for change in changes if _pair(change) not in names]
    gone = [change for change in changes if change.deleted]
    return (
        not any(_takes_back(change.added, edition) for change in changes)
        and all(change.is_wording for change in gone)
        and sum(len(change.deleted) for change in gone) <= WORDING * n_words
    )


def keeps_other(changes: list[Change]) -> bool:
    """Whether a text that was not relevant is still not after changes.

    No word may be new, and no number or negation gone from what is there."""
    return not any(change.added or _had_mark(change.deleted) for change in changes)


def _takes_back(added, edition):
    """Whether new words may turn the meaning of those around them."""
    if len(added) >= PASSAGE:
        return False
    signs = TURNS if len(added) < SENTENCE else NEGATION
    return any(_turns(word, edition, signs) for word in added)


def _turns(word, edition, signs):
    """Whether a word of the edition is a negation, or has one of signs."""
    spelt = edition.spelt[word]
    return spelt in numbered.NO or bool(re.search(signs, spelt))


def _had_mark(deleted):
    """Whether a number, a negation or a command is gone from what is there."""
    return len(deleted) < SENTENCE and any(word & 1 for word in deleted)
