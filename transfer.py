"""What notebooks 08 to 10 share: collections that people judged, and ten searches.

Notebooks 02 and 03 explain the searches."""

from minsearch import Index

import corpus
import formats
import utils

# of experiments.BM25, on our typed queries
OUR_SETTING = {"k1": 1.6, "b": 0.25, "heading": 3}
TF_IDF = {"one field": {}, "logarithm": {"sublinear_tf": True}}


def ten_scores(documents):
    """A dict of name: score function. Five by text, one by vectors, four by both."""
    in_one_field = []
    for document in documents:
        in_one_field.append({**document, "all": corpus.heading_and_text(document)})
    scores = {}
    for name, options in TF_IDF.items():
        index = Index(["all"], ["course"], vectorizer_params=options).fit(in_one_field)
        scores[name] = utils.minsearch_scores(index)
    scores["BM25"] = utils.bm25_scores(documents, stem=False)
    scores["BM25, stems"] = utils.bm25_scores(documents)
    scores["BM25, our setting"] = utils.bm25_scores(documents, **OUR_SETTING)

    vectors = utils.embed(map(corpus.heading_and_text, documents))
    scores["vectors"] = utils.vector_scores(vectors, documents)

    both = [scores["BM25, stems"], scores["vectors"]]
    scores["sum, 0.8"] = utils.weighted_sum(both, [0.2, 0.8])
    scores["sum, 0.5"] = utils.weighted_sum(both, [0.5, 0.5])
    scores["RRF, 60"] = utils.rrf_scores(both, 60)
    scores["RRF, 1"] = utils.rrf_scores(both, 1)
    return scores


def ten_searches(documents):
    """A dict of name: search function, which returns ten ids."""
    scores = ten_scores(documents)
    return {
        name: utils.search_by_scores(scores[name], documents, k=10) for name in scores
    }


def read_collection(folder):
    """The documents and the judged queries of a collection of other people's files."""
    converted = corpus.results_folder() / "collections" / folder.name
    source = formats.convert(folder, converted)
    _, test, _ = corpus.load_halves(source)
    return corpus.load_documents(source), test["judged"]
