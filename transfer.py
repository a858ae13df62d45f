"""Collections that people judged, and ten searches, which several notebooks share.

Notebook 08 has `read_collection`, `ten_scores` and, with six searches more by
Elasticsearch, `title_searches`. 09 and 10 have `ten_searches`, and 13 has
`ten_scores`. Notebooks 02 and 03 explain the searches."""

from minsearch import Index

import corpus
import elastic
import formats
import utils

# of experiments.BM25, on our typed queries
OUR_SETTING = {"k1": 1.6, "b": 0.25, "heading": 3}
TF_IDF = {"one field": {}, "logarithm": {"sublinear_tf": True}}


def ten_scores(documents):
    """A dict of name: score function. Five by text, one by vectors, four by both."""
    in_one_field = []
    for document in documents:
        in_one_field.append({**document, "all": corpus.whole_text(document)})
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


FIELDS = ["question", "text", "section"]


def stems_of(text):
    """The stems of a text with blanks between, without common words."""
    return " ".join(utils.words_of([text])[0])


def title_searches(es, documents):
    """Searches by Elasticsearch with a title × 1 and × 3, by name; ten ids each."""
    of_stems = [
        document | {field: stems_of(document[field]) for field in FIELDS}
        for document in documents
    ]
    plain = _index(es, documents, "standard")
    stemmed = _index(es, of_stems, "whitespace")
    searches = {}
    for title, boost in {"": "", ", title × 3": "^3"}.items():
        fields = [f"question{boost}", *FIELDS[1:]]
        for kind in "best_fields", "combined_fields":
            query = elastic.match_query(fields, kind)
            search = elastic.elasticsearch_search(es, plain, query, k=10)
            searches[kind + title] = search
        query = _of_stems(elastic.match_query(fields))
        search = elastic.elasticsearch_search(es, stemmed, query, k=10)
        searches["best_fields, stems" + title] = search
    return searches


def _index(es, documents, analyzer):
    """A new index of FIELDS that an analyzer cuts into words."""
    properties = {field: {"type": "text", "analyzer": analyzer} for field in FIELDS}
    properties |= {key: {"type": "keyword"} for key in ("id", "course")}
    return elastic.index_documents(
        es, "transfer", documents, {"properties": properties}
    )


def _of_stems(query):
    """A query that asks for the stems of a question."""
    return lambda question, course: query(stems_of(question), course)


def read_collection(folder):
    """The documents and the judged queries of a collection of other people's files."""
    converted = corpus.results_folder() / "collections" / folder.name
    source = formats.convert(folder, converted)
    _, test, _ = corpus.load_halves(source)
    return corpus.load_documents(source), test["judged"]
