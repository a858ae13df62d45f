"""Queries that people judged, with the lists of a few searches: what is drawn from.

Six collections, of which people judged all documents, or deep pools. A document that
they do not list counts as not relevant. `make collections` fetches them."""

from functools import cache

import numpy as np
import pandas as pd
from evidence.simulated import PREPARED
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from course import our_data
from evaluate_retrieval import utils
from evaluate_retrieval.measuring import metric, scored
from evaluate_retrieval.reading import corpus
from evaluate_retrieval.searching import scoring

NAMES = ["med", "cisi", "cacm", "vaswani", "dl19", "liveqa"]
DEPTH = 100  # results of each search: two estimates need those below the first ten
SETTINGS = {"stems": {}, "b 0.6": {"b": 0.6}, "k1 0.9": {"k1": 0.9}}
MEASURE = metric.Measure()


@cache
def judged_by_people(folder=PREPARED):
    """All queries, a DataFrame with their grades, and a dict of name: rankings."""
    parts = [_collection(folder / name) for name in NAMES]
    queries = pd.concat([part for part, _ in parts], ignore_index=True)
    names = parts[0][1]
    lists = {name: np.concatenate([part[name] for _, part in parts]) for name in names}
    return queries, lists


def _collection(folder):
    """The queries of a collection, and the rankings of each search, by name."""
    documents = our_data.load_documents(folder)
    queries, qrels = our_data.load_judged_queries(folder)
    queries = queries.assign(document=qrels)
    if folder.name == "liveqa":  # each question is there as it was sent, and in short
        queries = queries[queries["kind"] == "message"]
    queries = queries.reset_index(drop=True)
    lists = {
        name: utils.search_by_scores(scores, documents, DEPTH, above=0)(queries)
        for name, scores in _searches(documents).items()
    }
    prefix = f"{folder.name}:"
    # ids are of one collection: so no document of another has the same
    queries["document"] = [
        {prefix + id_: grade for id_, grade in qrel.items()}
        for qrel in queries["document"]
    ]
    lists = {
        name: np.where(ids == "", "", prefix + ids.astype(object))
        for name, ids in lists.items()
    }
    queries["query_id"] = prefix + queries["query_id"]
    queries["course"] = "all"
    columns = ["query_id", "question", "course", "kind", "document"]
    return queries[columns], lists


def _searches(documents):
    """Score functions by name: topics of words, words, and BM25 in three settings."""
    texts = [corpus.heading_and_text(document) for document in documents]
    words = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    of_words = words.fit_transform(texts)
    topics = TruncatedSVD(200, random_state=1).fit(of_words)
    of_topics = topics.transform(of_words)
    lengths = np.linalg.norm(of_topics, axis=1)
    lengths[lengths == 0] = 1  # a text without a word that counts
    columns = np.arange(len(documents))

    def by_words(queries):
        asked = words.transform(queries["question"])
        yield np.arange(len(queries)), columns, (asked @ of_words.T).toarray()

    def by_topics(queries):
        asked = topics.transform(words.transform(queries["question"]))
        yield np.arange(len(queries)), columns, asked @ (of_topics.T / lengths)

    by_bm25 = {
        name: scoring.bm25_scores(documents, **setting)
        for name, setting in SETTINGS.items()
    }
    return {"topics": by_topics, "words": by_words} | by_bm25


def values_of(queries, lists):
    """nDCG@10 of each query by all that people judged: a DataFrame by search."""
    return scored.measured_of(queries, lists, MEASURE, "listed").values


def in_order_of_judging(queries, lists, rows):
    """Some rows of the queries, each a query of its own, with their lists.

    rows: numbers, also one several times: with replacement."""
    drawn = queries.iloc[rows].reset_index(drop=True)
    drawn["query_id"] = [f"q{number}" for number in range(len(rows))]
    drawn["need"] = drawn["query_id"]
    return drawn, {name: ids[rows] for name, ids in lists.items()}


def chances(difference, gain):
    """How likely the candidate has the better list of each query, for a true gain.

    difference: what one search gains over the other, by query. With a half for all, the
    gain is 0: each list belongs to either search, by a coin. Else the coin is turned
    towards the better list, as much for every query."""
    turned = gain / 2 / np.abs(difference).mean()
    return 0.5 + turned * np.sign(difference)
