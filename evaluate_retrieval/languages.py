"""The language that texts are in, and whether blanks part their words."""

import re
from collections import Counter

import bm25s
import snowballstemmer

from course import scoring

LANGUAGES = ["none", *snowballstemmer.algorithms()]
LEAST = 0.1  # of the words are common ones of a language, or it is not taken
COMMON = {  # words of languages that have a stemmer, and no list in bm25s
    "arabic": "في من على إلى أن التي الذي هذا هذه عن مع كان لا ما هو هي كيف هل",
    "greek": "και το της η να με του από για που δεν είναι στην στο των τον οι θα",
}


def language_of(texts, notes, language=None):
    """The language given, or that of texts, in Snowball's name. Sentences join notes.

    They say why it is this one, and count texts without blanks between words.
    It is the one with the most common words. "none" where these are less than
    LEAST of all words: no stems, and no common words are left out."""
    if n := sum(bool(re.search(f"[{scoring.NO_BLANKS}]", text)) for text in texts):
        notes.append(
            f"{n:,} of {len(texts):,} documents have text without blanks (Chinese, "
            "Japanese, Thai …): our text searches take pairs of its characters"
        )
    if language:
        return language
    words = Counter(re.findall(scoring.WORD, " ".join(texts).lower()))
    counts = {"english": 0}  # the first of several that are equal
    for language in LANGUAGES:
        name = "EN_PLUS" if language == "english" else language.upper()
        common = getattr(
            bm25s.stopwords, f"STOPWORDS_{name}", COMMON.get(language, "").split()
        )
        counts[language] = sum(words[word] for word in {*common})
    best = max(counts, key=counts.get)
    share = counts[best] / max(1, words.total())
    language = best if share >= LEAST else "none"
    notes.append(
        f"--language {language} is taken: {share:.0%} of the words are common ones "
        f"of {best}"
    )
    return language
