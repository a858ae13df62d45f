"""Make what notebooks read as recorded; a command is named after what it writes.

answers (notebook 7), page_answers (12), graded (16): run with COURSE_LLM=live,
OPENAI_BASE_URL and OPENAI_MODEL; `make local-llm` prints them. Each goes on where it
was stopped. Replies go to data/live-responses.jsonl. graded, collections and queries
(6) need `make collections`; collections also `make models` and a node. conversations
(17) and agents (18) need both, the model and the collections."""

import json
import os
import sys
from pathlib import Path

import machine
import pandas as pd

from course import answering, elastic, llm, our_data
from evaluate_retrieval.reading import places

sys.path.append(str(machine.ROOT / "notebooks" / "more"))
import n06_claims as claims
import n06_sums as sums
import n12_pages as pages
import n16_graded_answers as graded_answers
import n17_turns as turns
import n18_hops as hops

DATA = our_data.FOLDER
COLLECTIONS = Path(os.environ.get("COLLECTIONS") or places.CACHE / "collections")


def ask(rows, name):
    """Ask for the answer to each prompt of a table, and say how many are missing."""
    prompts = rows["prompt"]
    call = answering.answer_call()
    by = answering.ANSWERED_BY
    replies = llm.respond([*prompts], "answer", DATA / name, call, workers=2, by=by)
    print(f"{replies.count(None):,} of {len(prompts):,} prompts have no answer yet")


def answers():
    """The answers that data/answer-contexts.csv lists."""
    ask(answering.load_contexts(DATA), "recorded-answers.jsonl")


def page_answers():
    """The answers that data/page-answers.csv lists."""
    tokens = pages.tokens_of(pages.build(our_data.load_documents(DATA))[0])
    rows = pages.load_answers(DATA, tokens, pages.ways_of(tokens))
    ask(rows, "recorded-page-answers.jsonl")


def graded():
    """What judges say of answers that people graded."""
    path = COLLECTIONS / graded_answers.FILE
    table = graded_answers.with_judges(path, DATA / "graded-verdicts.jsonl")
    table.to_csv(DATA / graded_answers.RECORD_FILE, index=False)


def collections():
    """nDCG@10 of each query of collections that people judged, by the searches of 6."""
    es = elastic.connect_elasticsearch()
    if not es:
        raise RuntimeError("a part of the searches needs a node")
    read = {name: claims.collection(name) for name in claims.NAMES + claims.VERSIONS}
    read["ours"] = (
        our_data.load_documents(DATA),
        our_data.load_splits(DATA)[1]["judged"],
    )
    tables = {}
    for name, (documents, queries) in read.items():
        models = () if name in claims.VERSIONS else claims.LARGER_MODELS
        searches = claims.searches_to_test(documents, es, models)
        for key, values in claims.values_on(name, searches, queries).items():
            tables[key] = values.reset_index().to_dict("list")
    (DATA / claims.RECORD).write_text(json.dumps(tables), encoding="utf-8")


def queries():
    """The features of each query of these collections."""
    tables = [
        sums.features(*claims.collection(name)).assign(collection=name)
        for name in claims.NAMES
    ]
    pd.concat(tables).to_csv(DATA / sums.RECORD, index=False)


def conversations():
    """nDCG@10 of each turn of conversations, by what is sent and by search."""
    tables = {}
    for domain in turns.DOMAINS:
        documents, queries = turns.load(domain)
        queries["model's rewrite"] = turns.rewritten(queries, DATA / turns.REWRITES)
        ours = turns.values(documents, turns.with_forms(queries))
        folder = COLLECTIONS / "turns"
        theirs = turns.values_of_retrievers(domain, queries, folder)
        tables[domain] = turns.as_record(queries, ours.join(theirs))
    (DATA / turns.RECORD).write_text(json.dumps(tables), encoding="utf-8")


def agents():
    """What agents were shown for questions of several hops, and what was answered."""
    path = DATA / "hops.jsonl"
    kept = {course: hops.record(course, path) for course in ("musique", "hotpot")}
    (DATA / hops.RECORD).write_text(json.dumps(kept), encoding="utf-8")


if __name__ == "__main__":
    COMMANDS = (
        agents,
        answers,
        page_answers,
        graded,
        collections,
        queries,
        conversations,
    )
    sys.exit(machine.act(__doc__, *COMMANDS))
