"""What a model asks about other people's documents, and where searches find them.

data/README.md says how this was recorded."""

import pandas as pd

import utils
from course import llm, our_data
from evaluate_retrieval.reading import corpus
from evaluate_retrieval.searching import scoring

OLD_COLLECTIONS = ["med", "cisi", "cacm", "vaswani"]
RECORD = "recorded-places.csv"
KINDS = ["model's questions", "model's queries"]
TYPED_PROMPT = """Somebody looks for the document below and has not read it.
What do they type into a search box? Write two such queries, as short as people type them:
two to six words, no question, no full sentence.
The second uses other words than the document where it can.

Examples for other documents:
{{"queries": ["keyboard keys stick", "clean under laptop keys"]}}
{{"queries": ["vitamin d winter", "lack of sun symptoms"]}}

title: {question}
text: {text}
"""  # noqa: E501
NINE = ["all-MiniLM-L6-v2", "all-mpnet-base-v2", "bge-small-en-v1.5"]
NINE += ["bge-small-en-v1.5, no prompt", "use-multilingual", "hybrid of notebook 3"]
NINE += ["two in a sum", "three in a sum", "four in a sum"]
METRICS = {"generated": ("mrr", 5, "document"), "judged": ("ndcg", 10, "need")}


def asked_by(writer, prompt, documents):
    """What a writer is recorded to have asked: a row for each question."""
    responses = llm.load_responses(our_data.FOLDER / "recorded-questions.jsonl")
    rows = []
    for document in documents:
        key = llm.request_key(writer, prompt.format(**document), "Questions")
        for question in responses.get(key, {"questions": []})["questions"]:
            rows.append((question, document["course"], document["id"]))
    return pd.DataFrame(rows, columns=utils.GROUND_TRUTH_COLUMNS)


def ours(documents):
    """14 searches on the course's queries that report: {kind: a column for each}.

    MRR@5 of generated questions, a row for each document; nDCG@10 of judged
    queries, a row for each need. Five searches by text are run, and nine are
    recorded."""
    recorded_values = our_data.recorded("recorded-searches.json")
    scores = scoring.tf_idf_scores(documents)
    scores["BM25, stems"] = scoring.bm25_scores(documents)
    _, test, _ = our_data.load_splits(our_data.FOLDER)
    tables = {}
    for kind, (metric, k, group) in METRICS.items():
        queries = test[kind]
        table = {name: recorded_values[name][kind] for name in NINE}
        for name in scores:
            search = utils.search_by_scores(scores[name], documents, k)
            table[name] = utils.score(queries, search(queries), k)[metric].to_numpy()
        tables[kind] = pd.DataFrame(table).groupby(queries[group].to_numpy()).mean()
    return tables


def recorded_places():
    """What a model asked about the collections of NAMES, a row for each text.

    Columns: document, kind (one of KINDS), shared (how many of its content
    words are the document's), collection, and for each of ten searches the
    rank of the document, 1 to 10, or 0."""
    return pd.read_csv(our_data.FOLDER / RECORD, dtype={"document": str})


def texts_by_id(documents):
    """What questions share words with: {id: heading and text}."""
    return {document["id"]: corpus.heading_and_text(document) for document in documents}


def half_boards(table, rng):
    """Boards by two random halves of a table's rows, each (2,000, n_searches)."""
    numbers = table.to_numpy()
    n = len(table)
    first = rng.random((2_000, n)).argsort(axis=1) < n // 2
    return first @ numbers / (n // 2), ~first @ numbers / (n - n // 2)
