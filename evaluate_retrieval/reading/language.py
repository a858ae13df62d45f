"""Words of texts, their stems, and the language that texts are in."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from itertools import chain

import bm25s
import numpy as np
import scipy  # loads its parts when they are used
import snowballstemmer

LANGUAGES = ["none", *snowballstemmer.algorithms()]
LEAST = 0.1  # of the words are common ones of a language, or it is not taken
COMMON = {  # words of languages that have a stemmer, and no list in bm25s
    "arabic": "في من على إلى أن التي الذي هذا هذه عن مع كان لا ما هو هي كيف هل",
    "greek": "και το της η να με του από για που δεν είναι στην στο των τον οι θα",
}
SPANISH = """
al algo algún alguna algunas algunos ante antes aquí así aunque cada casi como
cómo con contra cual cuál cuáles cuando cuándo cuanto cuánta cuántas cuánto
cuántos de del desde donde dónde dos el él ella ellas ellos en entre era eran
es esa esas ese eso esos esta está están estas este esto estos fue ha haber han
hasta hay he la las le les lo los más me mi mis mientras mucho muy nada ni no
nos nosotros nuestra nuestro otra otras otro otros para pero poco por porque
pues que qué quien quién se según ser si sí sino sobre solo su sus también
tampoco tan tanto te tengo tiene tienen toda todas todo todos tu tus tú un una
unas uno unos ya yo
"""
# Thai, Lao, Burmese, Khmer, kana and Han are written without blanks between words.
NO_BLANKS = (
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u109f\u1780-\u17d3"
    r"\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\uff66-\uff9f\U00020000-\U0003ffff"
)
# A regular expression of a word, in group 1: two of these characters (pairs overlap),
# or one that is alone; elsewhere two letters or more, or one before ++ or # (C++, C#).
# In the text below, "-" stands for these characters.
WORD = (
    r"(?=([-]{2}|(?<![-])[-]|[^\W-]{2,}|[^\W-](?:\+\+|#(?!\w))))(?:[^\W-]+|[-])"
).replace("-", NO_BLANKS)


# --- Words -------------------------------------------------------------------


def words_of(
    texts: Iterable[str], stem: bool = True, language: str = "english"
) -> list[list[str]]:
    """The words of each text in lower case, without common ones: a list of lists.

    See WORD. stem: cut to their stems, by Snowball. language: a name of
    Snowball's; its common words are left out if bm25s lists them. "none": no
    stems, no common words. KeyError for one without a stemmer."""
    return _tokenized(tuple(texts), language, stem and language != "none")


def share_function(
    texts: Iterable[str], among: Iterable[str], language: str
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """A function of rows and columns: which share of its words others have.

    It takes places of some texts, and of some of among, and returns an array (n_rows,
    n_columns): of the different words of a text, without common ones, the share that
    stands in the other text. It is 0 where a text has no words. See `words_of`."""
    words = [{*each} for each in words_of(texts, language=language)]
    numbers = {word: n for n, word in enumerate(dict.fromkeys(chain(*words)))}
    counts = _incidence(words, numbers)
    others = _incidence(map(set, words_of(among, language=language)), numbers)
    sizes = np.maximum(1, list(map(len, words)))

    def shares(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        shared = (counts[rows] @ others[columns].T).toarray()
        return shared / sizes[rows, None]

    return shares


def _incidence(sets, numbers):
    """Which words each set has: a sparse matrix. numbers: of the words that count."""
    columns = [[numbers[word] for word in each if word in numbers] for each in sets]
    ends = np.cumsum([0, *map(len, columns)])
    flat = np.array(list(chain(*columns)), dtype=np.int32)
    shape = (len(columns), len(numbers))
    return scipy.sparse.csr_matrix((np.ones(len(flat)), flat, ends), shape)


def stems_of(text: str) -> str:
    """The stems of an English text with blanks between, without common words."""
    return " ".join(words_of([text])[0])


@lru_cache(maxsize=6)  # whoever tunes asks for the same words again and again
def _tokenized(texts, language, stem):
    stemmer = snowballstemmer.stemmer(language) if stem else None
    return bm25s.tokenize(
        texts,
        token_pattern=WORD,
        stopwords=stopwords_of(language),
        stemmer=stemmer,
        return_ids=False,
        show_progress=False,
    )


def stopwords_of(language: str) -> str | list[str]:
    """The name of a language's common words in bm25s; [] where it lists none."""
    is_listed = hasattr(bm25s.stopwords, f"STOPWORDS_{language.upper()}")
    return language if is_listed or language == "english" else []


@cache
def _common_words():
    """The common words of English and Spanish."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # takes seconds

    return ENGLISH_STOP_WORDS | set(SPANISH.split())


def content_words(text: str) -> set[str]:
    """Return the set of words of a text, in lower case.

    English and Spanish stop words are left out."""
    return set(re.findall(r"\b\w\w+\b", text.lower())) - _common_words()


# --- The language ------------------------------------------------------------


def language_of(
    texts: Sequence[str], language: str | None = None
) -> tuple[str, list[str]]:
    """The language given, or that of texts, in Snowball's name; and sentences on it.

    They say why it is this one, and count texts without blanks between words.
    It is the one with the most common words. "none" where these are less than
    LEAST of all words: no stems, and no common words are left out."""
    notes = []
    if n := sum(bool(re.search(f"[{NO_BLANKS}]", text)) for text in texts):
        notes.append(
            f"{n:,} of {len(texts):,} documents have text without blanks (Chinese, "
            "Japanese, Thai …): our text searches take pairs of its characters"
        )
    if language:
        return language, notes
    words = Counter(re.findall(WORD, " ".join(texts).lower()))
    counts = {"english": 0}  # the first of several that are equal
    for name in LANGUAGES:
        # bm25s' short list of English lacks "how", "what" and the like
        listed = "EN_PLUS" if name == "english" else name.upper()
        common = getattr(
            bm25s.stopwords, f"STOPWORDS_{listed}", COMMON.get(name, "").split()
        )
        counts[name] = sum(words[word] for word in {*common})
    best = max(counts, key=counts.get)
    share = counts[best] / max(1, words.total())
    taken = best if share >= LEAST else "none"
    notes.append(
        f"--language {taken} is taken: {share:.0%} of the words are common ones of "
        f"{best}"
    )
    return taken, notes
