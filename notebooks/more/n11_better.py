"""Notebook 11: names of models, queries that it reports on, and one by vectors.

data/README.md says how data/recorded-searches.json was made."""

import pandas as pd

from course import our_data

OURS = "all-MiniLM-L6-v2"
MPNET = "all-mpnet-base-v2"
BGE = "bge-small-en-v1.5"
USE = "use-multilingual"


def few(halves):
    """The halves with 200 generated questions: a reranker is slow."""
    generated = halves["generated"].sample(200, random_state=1, ignore_index=True)
    return halves | {"generated": generated}


def in_spanish(test):
    """Typed and generated queries on the English records, by language and kind."""
    folder = our_data.FOLDER / "es"
    needs = our_data.load_ground_truth(our_data.FOLDER).groupby("document")["need"]
    generated = pd.read_csv(folder / "questions-on-english-records.csv")
    generated["need"] = generated["document"].map(needs.first())
    typed = pd.read_csv(folder / "queries-on-english-records.csv")
    judged = test["judged"].merge(typed, on="query_id").reset_index(drop=True)
    return {
        "English": {
            "generated": generated.assign(question=generated["english"]),
            "judged": judged,
        },
        "Spanish": {
            "generated": generated,
            "judged": judged.assign(question=judged["query"]),
        },
    }


def knn_query(field, vectors, **options):
    """A query for `elasticsearch_search`: the records with the nearest vectors.

    field: of the type dense_vector. vectors: a dict of question: vector.
    Filtered on the course, inside the clause. options: they replace parts of
    the clause."""

    def query(question, course):
        clause = {
            "field": field,
            "query_vector": vectors[question].tolist(),
            "filter": {"term": {"course": course}},
            "k": 100,
            "num_candidates": 1_200,
        }
        return {"knn": clause | options}

    return query
