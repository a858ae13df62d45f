"""Notebooks 06 and 14: searches and queries of collections that people judged."""

import json
import os
from pathlib import Path

import n06_claims as claims
import n06_sums as sums
import n14_asking as asking
import pandas as pd
import prepare_collections

import utils
from course import elastic, our_data
from evaluate_retrieval.reading import corpus, files, language, places
from evaluate_retrieval.reading.writing import write_table, write_text
from evaluate_retrieval.searching import embedding, scoring

# what `make collections` fetches, and where it writes what it prepares
FETCHED = Path(os.environ.get("COLLECTIONS") or places.CACHE / "collections")
PREPARED = prepare_collections.PREPARED
LARGER_MODELS = {"bge": "bge-small-en-v1.5", "mpnet": "all-mpnet-base-v2"}


def collection(name):
    """The documents, and the queries with a relevant one, of a collection.

    name: one of `claims.NAMES` or `claims.VERSIONS`. `make collections` has
    prepared it, else FileNotFoundError. document: in the queries, a dict of
    id: grade. StackFAQ's answers come without their titles, which the queries
    paraphrase, and LiveQA-Med's questions as they were sent, unless the
    version says otherwise."""
    name, _, version = name.partition(", ")
    documents = our_data.load_documents(PREPARED / name)
    queries, qrels = our_data.load_judged_queries(PREPARED / name)
    if name == "stackfaq" and version != "titles":
        documents = [document | {"question": ""} for document in documents]
    queries = queries.assign(document=qrels)
    queries = queries[[any(qrel.values()) for qrel in qrels]]
    if name == "liveqa":
        kind = "summary" if version == "summaries" else "message"
        queries = queries[queries["kind"] == kind]
    return documents, queries.reset_index(drop=True)


def load(folder, course):
    """The documents and the queries of a part of a prepared collection.

    They are dicts, and a DataFrame; document: a dict of id: grade, also of
    documents that are not there: nobody can find them. FileNotFoundError where
    `make collections` has not prepared the folder."""
    documents = our_data.load_documents(folder)
    path = folder / "judged-queries.csv"
    table = files.read_csv(path)
    queries, qrels = corpus.judged_from(table[table["course"] == course], {}, path)
    documents = [each for each in documents if each["course"] == course]
    return documents, queries.assign(document=qrels)


def searches_to_record(documents, es, models):
    """`claims.searches_to_test`, and what a notebook does not run: by name.

    models: names of LARGER_MODELS whose vectors are compared, too. es: a client of a
    node, which adds `title_searches` where there are titles."""
    searches = claims.searches_to_test(documents)
    texts = [corpus.heading_and_text(document) for document in documents]
    for name in models:
        vectors = embedding.embed(texts, LARGER_MODELS[name])
        scores = scoring.vector_scores(vectors, documents, LARGER_MODELS[name])
        searches[name] = utils.search_by_scores(scores, documents)
    if any(document["question"] for document in documents):
        searches |= title_searches(es, documents)
    return searches


def title_searches(es, documents):
    """Searches by Elasticsearch with a title × 1 and × 3, by name; ten ids each."""
    of_stems = [
        document
        | {field: language.stems_of(document[field]) for field in elastic.TEXT_FIELDS}
        for document in documents
    ]
    plain = elastic.index_fields(es, "transfer", documents, elastic.TEXT_FIELDS)
    stemmed = elastic.index_fields(
        es, "transfer", of_stems, elastic.TEXT_FIELDS, "whitespace"
    )
    searches = {}
    for title, boost in {"": "", ", title × 3": "^3"}.items():
        fields = [f"question{boost}", *elastic.TEXT_FIELDS[1:]]
        for kind in "best_fields", "combined_fields":
            query = elastic.match_query(fields, kind)
            search = elastic.elasticsearch_search(es, plain, query, k=10)
            searches[kind + title] = search
        query = _of_stems(elastic.match_query(fields))
        search = elastic.elasticsearch_search(es, stemmed, query, k=10)
        searches["best_fields, stems" + title] = search
    return searches


def _of_stems(query):
    """A query that asks for the stems of a question."""
    return lambda question, course: query(language.stems_of(question), course)


def features(documents, queries):
    """What `sums.recorded_features` has of a collection's queries, a row for each.

    document: in the queries, a dict of id: grade."""
    questions = queries["question"]
    texts = asking.texts_by_id(documents)
    by_text, by_vectors = [
        utils.search_by_scores(scores, documents, k=10)(queries)
        for scores in scoring.text_and_vectors(documents)
    ]
    first = [texts.get(ids[0], "") for ids in by_text]
    pairs = zip(by_text, by_vectors, strict=True)
    shared = []
    for question, qrel in zip(questions, queries["document"], strict=True):
        relevant = [texts[id_] for id_, grade in qrel.items() if grade > 0]
        shares = corpus.shared_words([question] * len(relevant), relevant)
        shared.append(shares.round(3).mean())
    table = {
        "words": questions.map(language.content_words).map(len),
        "overlap": corpus.shared_words(questions, first),
        "agreement": [len({*ids} & {*by_vector}) / 10 for ids, by_vector in pairs],
        "shared": shared,
    }
    return pd.DataFrame(table).round(3)


def keep(record, name):
    """Write a record into data/, as JSON under a name."""
    write_text(our_data.FOLDER / name, json.dumps(record))


def collections():
    """nDCG@10 of each query of collections that people judged, by the searches of 6."""
    es = elastic.connect_elasticsearch()
    if not es:
        raise RuntimeError("a part of the searches needs a node")
    read = {name: collection(name) for name in claims.NAMES + claims.VERSIONS}
    documents = our_data.load_documents(our_data.FOLDER)
    read["ours"] = documents, our_data.load_splits(our_data.FOLDER)[1]["judged"]
    tables = {}
    for name, (documents, queries) in read.items():
        models = () if name in claims.VERSIONS else LARGER_MODELS
        searches = searches_to_record(documents, es, models)
        for key, values in claims.values_on(name, searches, queries).items():
            tables[key] = values.reset_index().to_dict("list")
    keep(tables, claims.RECORD)


def queries():
    """The features of each query of these collections."""
    tables = [
        features(*collection(name)).assign(collection=name) for name in claims.NAMES
    ]
    write_table(pd.concat(tables), our_data.FOLDER / sums.RECORD)
