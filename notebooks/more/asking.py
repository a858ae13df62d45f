"""Let a model ask about other people's documents, and see where searches find them."""

import json

import numpy as np
import pandas as pd

import utils
from course import corpus, llm, scoring
from evaluate_retrieval import read

NAMES = ["med", "cisi", "cacm", "vaswani"]
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


def asked_by(writer, prompt, documents):
    """What a writer is recorded to have asked: a row for each question."""
    responses = llm.load_responses(corpus.ROOT / "data" / "recorded-questions.jsonl")
    rows = []
    for document in documents:
        key = llm.request_key(writer, prompt.format(**document), "Questions")
        answer = responses.get(key, {"questions": []})
        rows += [(q, document["course"], document["id"]) for q in answer["questions"]]
    return pd.DataFrame(rows, columns=utils.GROUND_TRUTH_COLUMNS)


def ours(documents):
    """14 searches on the course's queries that report: {kind: a column for each}.

    MRR@5 of generated questions, a row for each document; nDCG@10 of judged queries, a
    row for each need. Five searches by text are run, and nine are recorded."""
    data = corpus.ROOT / "data"
    recorded = json.loads((data / "recorded-searches.json").read_text("utf-8"))
    scores = scoring.tf_idf_scores(documents)
    scores["BM25, stems"] = scoring.bm25_scores(documents)
    _, test, _ = corpus.load_splits(data)
    tables = {}
    how = {"generated": ("mrr", 5, "document"), "judged": ("ndcg", 10, "need")}
    for kind, (metric, k, group) in how.items():
        queries = test[kind]
        table = {name: recorded[name][kind] for name in NINE}
        for name in scores:
            search = utils.search_by_scores(scores[name], documents, k)
            table[name] = utils.score(queries, search(queries), k)[metric].to_numpy()
        of_group = pd.DataFrame(table).groupby(queries[group].to_numpy())
        tables[kind] = of_group.mean()
    return tables


def places(prompt, schema):
    """Where ten searches find documents by what a model asks: see `asked_in`.

    Recorded; or anew where calls are live and all four collections are here. prompt,
    schema: of the questions; short queries have TYPED_PROMPT."""
    data, folder = corpus.ROOT / "data", corpus.collections_folder()
    if not llm.is_live() or not all((folder / name).is_dir() for name in NAMES):
        return pd.read_csv(data / RECORD, dtype={"document": str})
    kinds = {KINDS[0]: (200, prompt, schema), KINDS[1]: (50, TYPED_PROMPT, typed())}
    path = data / "recorded-questions.jsonl"
    found = pd.concat([asked_in(folder / name, kinds, path) for name in NAMES])
    found.to_csv(corpus.results_folder() / RECORD, index=False)
    return found.reset_index(drop=True)


def typed():
    """The schema of two short queries."""
    from typing import Annotated

    from pydantic import BaseModel, Field, StringConstraints

    text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]

    class TypedQueries(BaseModel):
        queries: list[text] = Field(min_length=2, max_length=2)

    return TypedQueries


def asked_in(folder, kinds, path):
    """What a model asks about a collection, and where ten searches find the document.

    folder: of the collection. kinds: {kind: (number of documents, prompt, schema)}; a
    schema has one list of texts. 200 documents are drawn; a kind takes the first of
    them. path: as `llm.ask` takes it. Returns a DataFrame: document, kind, shared (how
    many of the content words are the document's), a column for each search with the
    rank, 1 to 10, or 0, and collection."""
    documents, _ = read.read_collection(folder)
    chosen = pd.Series(documents).sample(200, random_state=1).tolist()
    rows = []
    for kind, (number, prompt, schema) in kinds.items():
        some = chosen[:number]
        prompts = [prompt.format(**document) for document in some]
        answers = llm.ask(prompts, schema, path, workers=8, timeout=600)
        for document, answer in zip(some, answers, strict=True):
            [texts] = answer.model_dump().values()
            whose = document["course"], document["id"], kind
            rows += [(text, *whose) for text in texts]
    asked = pd.DataFrame(rows, columns=["question", "course", "document", "kind"])
    texts = asked["document"].map(texts_of(documents))
    asked["shared"] = corpus.shared_words(asked["question"], texts).round(3)
    for name, search in scoring.ten_searches(documents).items():
        found = utils.relevance(utils.run_search(asked, search, 10), asked["document"])
        asked[name] = np.where(found.any(axis=1), found.argmax(axis=1) + 1, 0)
    return asked.drop(columns=["question", "course"]).assign(collection=folder.name)


def texts_of(documents):
    """What questions share words with: {id: heading and text}."""
    return {document["id"]: corpus.heading_and_text(document) for document in documents}
