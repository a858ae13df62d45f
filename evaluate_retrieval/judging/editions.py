"""Two editions of documents: which of today's texts is the one that was there?

Texts are compared by pairs of neighbouring words, without common ones. Sparse matrices
count what each two share, so that no loop runs over all pairs of texts."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase

import numpy as np
import pandas as pd
import scipy  # loads its parts when they are used
import snowballstemmer

from evaluate_retrieval import utils
from evaluate_retrieval.judging import numbered

OUTCOMES = ["same", "moved", "edited", "split", "merged", "ambiguous", "rewritten"]
OUTCOMES += ["gone"]
FREQUENT = 50  # different texts; what more of them have finds none
TEXTS_AT_ONCE = 500  # texts that are looked up at once
# Shares of pairs of neighbouring words. docs/evidence/labels.md has what they give.
HAS = 0.75  # of a text that another has, to be in it
ALIKE = 0.4  # of what two texts have together, to be one that was edited
NEAR = 0.9  # of the best one's share, for a second one to be as likely
HALF_OF_WORDS = 0.5  # of a text's words that another has, to be one that was rewritten
FEWEST_WORDS = 4  # of these words
MOST_IDS = 10  # ids that a text becomes; it may have two thousand copies
FEW_IDS = 3  # texts with one title, or that a text was rewritten to
SHORTEST = 5  # letters of a word that may be misspelt


@dataclass(frozen=True)
class Edition:
    """Documents as they are today, in words and in numbers.

    texts: the words of each document, a dict of id: array. spelt: a dict of number:
    word. usual: numbers of words that two or more documents have; a misspelt one is
    none. common: of words that come and go, see `numbered.PASSING`. number: the
    function of a word that gave the numbers. stem: one that cuts a word to its stem."""

    texts: dict[str, np.ndarray]
    spelt: dict[int, str]
    usual: frozenset[int]
    common: np.ndarray
    number: Callable[[str], int]
    stem: Callable[[str], str]

    def are_alike(self, old: int, new: int) -> bool:
        """Whether a new word is an old one, bent or mended: *open*, *opened*."""
        now = self.spelt.get(new)
        if old == new or now is None:
            return old == new
        if (old | new) & 1:
            return False
        before = self.spelt.get(old)
        if before is not None and self.stem(before) == self.stem(now):
            return True
        is_misspelt = len(now) >= SHORTEST and not {old, new} <= self.usual
        return is_misspelt and old in _misspelt(now, self.number)


@lru_cache(maxsize=1_000)
def _misspelt(word, number):
    """The numbers of a word with a letter more, less or another, or two swapped."""
    splits = [(word[:at], word[at:]) for at in range(1, len(word) + 1)]
    letters = {"", *ascii_lowercase, *word}
    spelt = {start + end[1::-1] + end[2:] for start, end in splits}
    for start, end in splits:
        spelt |= {start + each + rest for each in letters for rest in (end, end[1:])}
    return {number(each) for each in spelt}


def edition_of(
    documents: Iterable[utils.Document],
    is_former: bool = False,
    of_language: str = "english",
) -> Edition:
    """Documents as an `Edition`. is_former: numbered as version 1.3 did it.

    of_language: whose stems words have, a name of Snowball's, or none."""
    split = numbered.words_of_document
    number = numbered.number_of
    if is_former:
        split = numbered.former_words_of_document
        number = numbered.former_number_of
    texts = {}
    spelt = {}
    counts = Counter()
    for document in documents:
        words = split(document)
        numbers = list(map(number, words))
        texts[document["id"]] = np.array(numbers, dtype="<u4")
        spelt.update(zip(numbers, map(str.lower, words), strict=True))
        counts.update({*numbers})
    stem = str
    if of_language != "none":
        stem = lru_cache(snowballstemmer.stemmer(of_language).stemWord)
    usual = frozenset(word for word, n in counts.items() if n > 1)
    listed = numbered.PASSING.get(of_language, "").split()
    common = numbered.numbered(listed, number)
    return Edition(texts, spelt, usual, common, number, stem)


def content_of(words: np.ndarray, edition: Edition) -> np.ndarray:
    """Words without common ones; all of them where fewer than two are left."""
    words = words[words != numbered.TITLE_ENDS]
    content = words[~np.isin(words, edition.common)]
    return content if len(content) > 1 else words


# --- Which text became which -------------------------------------------------


@dataclass(frozen=True)
class _Today:
    """The different texts of an edition, by their places in a list.

    words: of each. ids: of the documents that have it. place_of: a dict of id: place.
    titled: for each title a dict of id: place."""

    words: list[np.ndarray]
    ids: list[list[str]]
    place_of: dict[str, int]
    titled: dict[bytes, dict[str, int]]


def matched(
    old_ids: Sequence[str], old: Sequence[np.ndarray], edition: Edition
) -> pd.DataFrame:
    """What became of each old text: a DataFrame with a row for each, in order.

    old_ids: the id that each had; an id may have had several texts. old: their words,
    numbered as those of the edition. Columns: outcome, of OUTCOMES; share, of
    neighbouring words that both texts have together; becomes, a list of ids, the
    likeliest first, at most MOST_IDS. same: its id has its words. moved: another id
    has, or several have. edited: one text is like it. split: several texts are parts of
    it, and have most of it. merged: a longer text has it. ambiguous: several texts are
    as likely. rewritten: none is like it, but one has its title, or half of its words.
    gone: none has."""
    today = _today_of(edition)
    fates = {
        _key(words): ("moved", 1.0, [place]) for place, words in enumerate(today.words)
    }
    edited = {_key(words): words for words in old if _key(words) not in fates}
    fates |= zip(edited, _fates(list(edited.values()), today, edition), strict=True)
    rows = [
        _row(id_, words, fates[_key(words)], today)
        for id_, words in zip(old_ids, old, strict=True)
    ]
    return pd.DataFrame(rows, columns=["outcome", "share", "becomes"])


def _today_of(edition):
    places = {}  # of each different text
    today = _Today([], [], {}, {})
    for id_, words in edition.texts.items():
        place = places.setdefault(_key(words), len(places))
        if place == len(today.words):
            today.words.append(words)
            today.ids.append([])
        today.ids[place].append(id_)
        today.place_of[id_] = place
        # a book may have its title on each of its chunks: nothing loops over them
        today.titled.setdefault(title_of(words).tobytes(), {})[id_] = place
    return today


def _key(words):
    """What two texts have in common that have the same words."""
    return words[words != numbered.TITLE_ENDS].tobytes()


def title_of(words: np.ndarray) -> np.ndarray:
    """The words of the title; none without one, or where version 1.3 numbered them."""
    ends = np.flatnonzero(words == numbered.TITLE_ENDS)
    return words[: ends[0] if len(ends) else 0]


def _row(id_, words, fate, today):
    """The outcome, share and ids of an old text with an id. fate: of its words."""
    outcome, share, places = fate
    title = title_of(words).tobytes()
    titled = today.titled.get(title, {}) if title else {}
    if outcome == "gone":
        likely = titled if len(titled) <= FEW_IDS else {}
        ids = list(dict.fromkeys([*likely, *_ids_at(places, today)]))[:FEW_IDS]
        return ("rewritten" if ids else "gone"), share, ids
    if outcome == "split":
        return outcome, share, _ids_at(places, today)
    if today.place_of.get(id_) in places:
        return ("same" if outcome == "moved" else outcome), share, [id_]
    alike = [at for at in places if any(each in titled for each in today.ids[at])]
    places = alike if len(alike) == 1 else places
    ids = _ids_at(places, today)
    return (outcome if len(places) == 1 else "ambiguous"), share, ids


def _ids_at(places, today):
    """The ids of the texts at places, MOST_IDS at most."""
    return [id_ for each in places for id_ in today.ids[each]][:MOST_IDS]


def _fates(old, today, edition):
    """The outcome, the share and the places of today of each old text."""
    if not (old and today.words):
        return [("gone", 0.0, []) for _ in old]
    before = [content_of(words, edition) for words in old]
    after = [content_of(words, edition) for words in today.words]
    pairs = _shares(map(_neighbours, before), map(_neighbours, after))
    fates = [_fate(*each) for each in pairs]
    gone = [at for at, (outcome, *_) in enumerate(fates) if outcome == "gone"]
    single = _shares([np.unique(before[at]) for at in gone], map(np.unique, after))
    for at, (n, places, both, sizes) in zip(gone, single, strict=True):
        near = np.flatnonzero((both >= HALF_OF_WORDS * n) & (both >= FEWEST_WORDS))
        best = near[np.argsort(sizes[near] - both[near], kind="stable")[:1]]
        fates[at] = "gone", fates[at][1], places[best].tolist()
    return fates


def _fate(n, places, both, sizes):
    """The outcome of a text with n pairs of words, its share, and what it became.

    places: of the texts that share some. both: how many each shares. sizes: how many
    each has."""
    if not len(places):
        return "gone", 0.0, []
    alike = both / (n + sizes - both)
    in_new = both / n
    of_new = both / sizes
    parts = np.flatnonzero((of_new >= HAS) & (in_new < HAS))
    # far more than the whole text together: these are copies, and no parts
    if len(parts) > 1 and HAS <= in_new[parts].sum() <= 2 - HAS:
        return "split", in_new[parts].sum(), places[parts].tolist()
    best = alike.argmax()
    outcome = "edited"
    share = alike
    if alike[best] < ALIKE or in_new[best] >= HAS > of_new[best]:
        best = in_new.argmax()
        outcome = "merged"
        share = in_new
        if in_new[best] < HAS:
            return "gone", alike.max(), []
    near = np.flatnonzero(share >= NEAR * share[best])
    near = near[np.argsort(-share[near], kind="stable")]
    return outcome, share[best], places[near].tolist()


def _neighbours(words):
    """The pairs of neighbouring words of a text, an array of different numbers."""
    # a text of one word gets a pair, too, or nothing would be like it
    padded = np.append(words, [0] * (len(words) < 2)).astype("u8")
    return np.unique(padded[:-1] << np.uint64(32) | padded[1:])


def _shares(old, new):
    """What each old text shares with new ones: see `_fate` for what it yields.

    old, new: of each text an array of different features. Features that more than
    FREQUENT new texts have would pair each text with each: they are left out."""
    old = list(old)
    features = [*old, *new]
    numbers, columns = np.unique(np.concatenate(features), return_inverse=True)
    starts = np.cumsum([0, *map(len, features)])
    ones = np.ones(len(columns), dtype=np.int32)
    shape = len(features), len(numbers)
    matrix = scipy.sparse.csr_matrix((ones, columns, starts), shape=shape)
    is_rare = matrix[len(old) :].getnnz(axis=0) <= FREQUENT
    matrix = matrix[:, is_rare]
    before = matrix[: len(old)]
    after = matrix[len(old) :].T.tocsr()
    sizes = after.getnnz(axis=0)
    for start in range(0, len(old), TEXTS_AT_ONCE):
        block = before[start : start + TEXTS_AT_ONCE]
        shared = block @ after
        for row, n in enumerate(block.getnnz(axis=1)):
            at = slice(*shared.indptr[row : row + 2])
            places = shared.indices[at]
            yield n, places, shared.data[at], sizes[places]
