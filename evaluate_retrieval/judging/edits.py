"""What an edit has changed, and whether the grade of a text outlives it."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from difflib import SequenceMatcher
from itertools import chain

import numpy as np

from evaluate_retrieval.judging import numbered
from evaluate_retrieval.judging.editions import Edition, content_of

SENTENCE = 6  # words in a row that are new: they change no number that was there
PASSAGE = 12  # words in a row that are new: they say more, and take nothing back
OFTEN = 3  # texts in which a word has become another, to be renamed
NEGATION = r"n't$"
REWRITTEN = 10_000  # pairs of words that differ: nobody asks which one is misspelt
TURNS = rf"\d|^-|{NEGATION}"  # numbers and options of commands, too
Change = tuple[list[int], list[int]]  # words that are gone, and what stands there now


def changes(old: np.ndarray, new: np.ndarray, edition: Edition) -> list[Change]:
    """What differs between an old text and one of the edition, in order.

    Common words, other forms of a word and mended typos are no changes."""
    before = content_of(old, edition).tolist()
    after = content_of(new, edition).tolist()
    # autojunk would leave words out that a long text has often
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    differing = []
    for kind, start, end, first, last in matcher.get_opcodes():
        if kind == "equal":
            continue
        deleted = []
        added = after[first:last]
        if (end - start) * (last - first) > REWRITTEN:
            differing.append((before[start:end], added))
            continue
        for word in before[start:end]:
            alike = [each for each in added if edition.are_alike(word, each)]
            if alike:
                added.remove(alike[0])
            else:
                deleted.append(word)
        if deleted or added:
            differing.append((deleted, added))
    return differing


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
    deleted, added = change
    return (*deleted, *added) if len(deleted) == len(added) == 1 else None


def _n_texts(texts):
    """In how many texts each word is."""
    return Counter(chain.from_iterable(np.unique(words).tolist() for words in texts))


def are_safe(
    edits: Iterable[list[Change]],
    is_relevant: bool,
    edition: Edition,
    names: Collection[tuple[int, int]],
) -> bool:
    """Whether the grade of a text may stand for those that differ from it by edits.

    edits: the changes to each, see `changes`. names: see `renamed`. Of a relevant text
    no word may be gone but a renamed one, and no number or negation may be new in what
    was there. Of one that is not relevant no word may be new, and no number or negation
    gone from what is there."""
    for deleted, added in chain.from_iterable(edits):
        if is_relevant and _pair((deleted, added)) in names:
            continue
        if is_relevant and (deleted or _takes_back(added, edition)):
            return False
        if not is_relevant and (added or _had_mark(deleted)):
            return False
    return True


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
