"""Score functions: BM25, vectors, sums of both, and ten searches made of them."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import scipy  # loads its parts when they are used

from evaluate_retrieval import utils
from evaluate_retrieval.reading import corpus
from evaluate_retrieval.reading.language import words_of
from evaluate_retrieval.searching import embedding

# settings that are tried; the first is the default
BM25 = [
    {"k1": k1, "b": b, "heading": heading}
    for k1 in (1.2, 1.6, 2.0, 2.5)
    for b in (0.75, 0.5, 0.25, 0.1)
    for heading in (1, 2, 3, 4)
]
# the best of them on our typed queries
OUR_SETTING = {"k1": 1.6, "b": 0.25, "heading": 3}
COPIED_BOOSTS = {  # of tutorials, by name
    "copied boost": {"question": 3, "section": 0.5},
    "copied boost of 2026": {"question": 1, "text": 2, "section": 0.1},
    "no boost": {},
}


def tf_idf_scores(documents: utils.Documents) -> dict[str, utils.ScoreFunction]:
    """minsearch's TF-IDF with copied boosts and without, and in one field: by name."""
    from minsearch import Index  # with scikit-learn, which takes seconds

    index = Index(["question", "text", "section"], ["course"]).fit(documents)
    scores = {
        name: utils.minsearch_scores(index, boost)
        for name, boost in COPIED_BOOSTS.items()
    }
    scores["one field, sublinear"] = _one_field_scores(documents, sublinear_tf=True)
    return scores


def _one_field_scores(documents, **options):
    """minsearch's TF-IDF of each document as one text. options: of its vectorizer."""
    from minsearch import Index

    texts = [{**d, "all": corpus.whole_text(d)} for d in documents]
    index = Index(["all"], ["course"], vectorizer_params=options).fit(texts)
    return utils.minsearch_scores(index)


def text_and_vectors(documents: utils.Documents) -> list[utils.ScoreFunction]:
    """Two score functions: BM25 with stems, and vectors of title and text."""
    vectors = embedding.embed(map(corpus.heading_and_text, documents))
    return [bm25_scores(documents), vector_scores(vectors, documents)]


def ten_scores(documents: utils.Documents) -> dict[str, utils.ScoreFunction]:
    """A dict of name: score function. Five by text, one by vectors, four by both."""
    parts = text_and_vectors(documents)
    return {
        "one field": _one_field_scores(documents),
        "logarithm": _one_field_scores(documents, sublinear_tf=True),
        "BM25": bm25_scores(documents, stem=False),
        "BM25, stems": parts[0],
        "BM25, our setting": bm25_scores(documents, **OUR_SETTING),
        "vectors": parts[1],
        "sum, 0.8": weighted_sum(parts, [0.2, 0.8]),
        "sum, 0.5": weighted_sum(parts, [0.5, 0.5]),
        "RRF, 60": rrf_scores(parts, 60),
        "RRF, 1": rrf_scores(parts, 1),
    }


def bm25_scores(
    documents: utils.Documents,
    k1: float = 1.2,
    b: float = 0.75,
    heading: float = 1,
    stem: bool = True,
    language: str = "english",
) -> utils.ScoreFunction:
    """Score function of BM25 over heading, answer and section as one text.

    The scores are those of bm25s (Lucene's formula). Words are counted once for all
    settings. k1: from where on a repeated word adds little. b: how far long texts
    are held back, 0 to 1. heading: how many times its words count. stem, language:
    see `words_of`."""
    headings = tuple(document["question"] for document in documents)
    wholes = tuple(corpus.whole_text(document) for document in documents)
    counter, in_headings, in_wholes = _word_counts(headings, wholes, stem, language)
    # the whole text has the heading once already
    counts = in_wholes + (heading - 1) * in_headings
    n_words = np.asarray(counts.sum(axis=1)).ravel()
    held_back = k1 * (1 - b + b * n_words / n_words.mean())
    n_with_word = counts.getnnz(axis=0)
    rareness = np.log1p((len(documents) - n_with_word + 0.5) / (n_with_word + 0.5))
    data = counts.data / (counts.data + held_back.repeat(np.diff(counts.indptr)))
    data = (rareness[counts.indices] * data).astype(np.float32)
    # of each word in each text
    weights = scipy.sparse.csr_matrix(
        (data, counts.indices, counts.indptr), counts.shape
    )

    def scores(queries: utils.Queries) -> Iterator[utils.Block]:
        counts = counter.transform(words_of(queries["question"], stem, language))
        for rows, columns in utils.blocks_of(queries, documents):
            yield rows, columns, (counts[rows] @ weights[columns].T).toarray()

    return scores


@lru_cache(maxsize=2)  # who tunes counts the same words again and again
def _word_counts(headings, wholes, stem, language):
    """A CountVectorizer of the words of texts; their counts in headings, in wholes."""
    # takes seconds, and who has searches of their own needs none
    from sklearn.feature_extraction.text import CountVectorizer

    counter = CountVectorizer(analyzer=list, dtype=np.float32)
    in_wholes = counter.fit_transform(
        # where no text has a word, a vectorizer without any vocabulary would fail
        words or [""]
        for words in words_of(wholes, stem, language)
    )
    in_headings = counter.transform(words_of(headings, stem, language))
    return counter, in_headings, in_wholes


def vector_scores(
    vectors: np.ndarray, documents: utils.Documents, model: embedding.Model = None
) -> utils.ScoreFunction:
    """Return a score function of exact cosines.

    vectors: (n_documents, dimension), by `embed`. model: as in `embed`."""

    def scores(queries: utils.Queries) -> Iterator[utils.Block]:
        encoded = embedding.embed(queries["question"], model, "query")
        if vectors.shape != (len(documents), encoded.shape[1]):
            raise ValueError(
                f"vectors of shape {vectors.shape} for {len(documents)} documents in "
                f"{encoded.shape[1]} dimensions: of another model?"
            )
        for rows, columns in utils.blocks_of(queries, documents):
            yield rows, columns, encoded[rows] @ vectors[columns].T

    return scores


def standardise(scores: np.ndarray) -> np.ndarray:
    """Give each row mean 0 and standard deviation 1.

    A row of equal scores becomes 0."""
    spread = scores.std(axis=1, keepdims=True)
    away = scores - scores.mean(axis=1, keepdims=True)
    return away / np.where(spread > 1e-12, spread, 1)


def weighted_sum(
    parts: Sequence[utils.ScoreFunction], weights: Sequence[float]
) -> utils.ScoreFunction:
    """Score function: the weighted sum of several, each standardised query by query."""

    def total(blocks: list[np.ndarray]) -> np.ndarray | int:
        pairs = zip(weights, blocks, strict=True)
        return sum(weight * standardise(block) for weight, block in pairs)

    return _combined(parts, total)


def rrf_scores(
    parts: Sequence[utils.ScoreFunction], constant: float, depth: int = 100
) -> utils.ScoreFunction:
    """Return a score function of reciprocal rank fusion (Cormack et al. 2009).

    It sums 1 / (constant + rank) over several score functions. Of each only
    the first `depth` count, and only scores above 0. With a score of 0 a text
    shares no word with the query."""

    def by_rank(block: np.ndarray) -> np.ndarray:
        rank = scipy.stats.rankdata(-block, method="ordinal", axis=1)  # ties in order
        counts = (rank <= depth) & (block > 0)
        return np.where(counts, 1 / (constant + rank), 0)

    return _combined(parts, lambda blocks: sum(map(by_rank, blocks)))


def _combined(parts, combine):
    """Score function: what `combine` makes of the blocks of several, a list."""

    def scores(queries: utils.Queries) -> Iterator[utils.Block]:
        for of_parts in zip(*(part(queries) for part in parts), strict=True):
            rows, columns, _ = of_parts[0]
            for block in of_parts:
                if not all(map(np.array_equal, block[:2], [rows, columns])):
                    raise ValueError("the parts score other queries or documents")
            yield rows, columns, combine([block for _, _, block in of_parts])

    return scores
