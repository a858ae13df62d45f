"""Measure ratios of speed in one run: `make bench`."""

import json
import logging
import resource
import shutil
import subprocess
import sys
import tempfile
import timeit
from functools import partial
from pathlib import Path

import bm25s
import machine
import numpy as np
import pandas as pd
import pytrec_eval
from minsearch import Index

import utils
from course import elastic, our_data
from evaluate_retrieval.reading import corpus, language
from evaluate_retrieval.reading.writing import write_table
from evaluate_retrieval.searching import embedding, onnx_model, scoring

TREC_EVAL = {"success_100", "recip_rank", "recall_100", "map_cut_100", "ndcg_cut_100"}
BOOST = {"question": 3.0, "section": 0.5}
MAPPING = {"properties": {name: {"type": "keyword"} for name in ("course", "id")}}
# prints what a command took; in a process of its own, since a child's memory begins
# with its parent's
MEASURED = """import resource, subprocess, sys, time
started = time.perf_counter()
code = subprocess.run(sys.argv[1:], capture_output=True).returncode
memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
print(f"code {code}, {time.perf_counter() - started:.0f} s, {memory:.1f} GB")"""
COMMAND = [sys.executable, "-m", "evaluate_retrieval"]
N_DOCUMENTS = 200_000  # of the command's run
N_QUERIES = 2_000
N_SPANS = 100_000


def row(what, goal, slow, fast, *arguments):
    """Print how many times faster the second way is, and the goal.

    Its best call counts. Garbage is collected as usual: timeit by itself turns that
    off."""
    before = timeit.timeit(lambda: slow(*arguments), "gc.enable()", number=1)
    calls = timeit.repeat(lambda: fast(*arguments), "gc.enable()", repeat=3, number=1)
    after = min(calls)
    line = f"{what}: {before:.3f} s / {after:.4f} s = {before / after:.1f}, goal {goal}"
    print(line, flush=True)


def bench_minsearch(documents, questions):
    """Time questions one by one, in a batch, and with similarities that are kept."""
    index = Index(elastic.TEXT_FIELDS, ["course"]).fit(documents)
    one_by_one = utils.one_by_one(
        lambda question, course: index.search(question, {"course": course}, BOOST)
    )
    batch = utils.minsearch_search(index, BOOST)
    row("minsearch: one by one / batch", 25, one_by_one, batch, questions)
    similarities = list(utils.field_similarities(index, questions))
    again = utils.minsearch_search(index, BOOST, kept=similarities)
    row("minsearch: one by one / kept", 300, one_by_one, again, questions)


def bench_metrics(what, rankings, qrels):
    """Time five metrics, from Python's dicts and lists. qrels: a dict a query."""
    ids = [str(place) for place in range(len(qrels))]
    qrels = dict(zip(ids, qrels, strict=True))
    run = {
        id_: {document: -float(rank) for rank, document in enumerate(ranking)}
        for id_, ranking in zip(ids, rankings, strict=True)
    }
    judged = [list(qrel.values()) for qrel in qrels.values()]
    counts = np.array([np.count_nonzero(query) for query in judged])
    grades = utils.relevance(rankings, pd.Series(list(qrels.values())))

    def theirs():
        pytrec_eval.RelevanceEvaluator(qrels, TREC_EVAL).evaluate(run)

    def ours():
        utils.hit_rate(grades), utils.mrr(grades), utils.ndcg(grades, judged)
        utils.recall(grades, counts), utils.average_precision(grades, counts)

    row(f"five metrics, {what}: pytrec_eval / utils", 9, theirs, ours)


def bench_bm25(documents, questions):
    """Time bm25s, asked once a course, and our search. Both know the words."""
    index = bm25s.BM25(k1=1.2, b=0.75)
    index.index(
        language.words_of(map(corpus.whole_text, documents)), show_progress=False
    )
    words = np.array(language.words_of(questions["question"]), dtype=object)
    courses = np.array([document["course"] for document in documents])

    def by_course(questions):
        for course, rows in questions.groupby("course").indices.items():
            mask = (courses == course).astype(np.float32)
            asked = words[rows].tolist()
            index.retrieve(asked, k=5, weight_mask=mask, show_progress=False)

    search = utils.search_by_scores(scoring.bm25_scores(documents), documents)
    row("BM25: bm25s / ours", 4.5, by_course, search, questions)


def bench_encoding(documents):
    """Time the model by torch, in ONNX and in 8 bits."""
    texts = list(dict.fromkeys(map(corpus.heading_and_text, documents)))
    models = {
        "torch": embedding.bundled_model(),
        "ONNX": onnx_model.fetched_model(embedding.MODELS / onnx_model.FOLDER_NAME),
        "8 bits": embedding.model_in_8_bits(),
    }
    for name, goal in {"ONNX": 1.5, "8 bits": 4}.items():
        ways = [partial(encode, texts, models[each]) for each in ("torch", name)]
        row(f"encoding: torch / {name}", goal, *ways)


def encode(texts, model):
    """Vectors as `embed` makes them, none of which is kept."""
    loaded = embedding.embedding_model(model)
    lengths = embedding._lengths(texts, loaded)
    list(embedding._encode(texts, lengths, loaded, "document"))


def bench_elasticsearch(es, documents, questions):
    """Time searches of a node, one by one and in bulk."""
    name = elastic.index_documents(es, "course-bench", documents, MAPPING)
    query = elastic.match_query(elastic.TEXT_FIELDS)

    def search_one(question, course):
        answer = es.search(index=name, size=5, **query(question, course))
        return [hit["_source"] for hit in answer["hits"]["hits"]]

    batch = elastic.elasticsearch_search(es, name, query)
    batch(questions)  # warms the node: it compiles what runs often
    one_by_one = utils.one_by_one(search_one)
    row("Elasticsearch: one by one / _msearch", 4.5, one_by_one, batch, questions)
    es.indices.delete(index=name)


def write_many(folder, n_documents=N_DOCUMENTS, n_queries=N_QUERIES):
    """Write documents of made words, queries of five of them, and two runs."""
    rng = np.random.default_rng(1)
    shares = 1 / np.arange(1, 50_001)
    words = rng.choice(len(shares), (n_documents, 60), p=shares / shares.sum())
    texts = [" ".join(f"w{number}" for number in row) for row in words]
    documents = pd.DataFrame({"id": range(n_documents), "title": "", "text": texts})
    documents.to_json(folder / "documents.jsonl", orient="records", lines=True)
    ids = rng.choice(n_documents, (n_queries, 100))
    asked = [" ".join(texts[id_].split()[:5]) for id_ in ids[:, 0]]
    queries = pd.DataFrame({"query_id": range(n_queries), "question": asked})
    write_table(queries, folder / "queries.csv")
    qrels = [f"{query} 0 {id_} 1" for query, id_ in enumerate(ids[:, 0])]
    (folder / "qrels.txt").write_text("\n".join(qrels))
    (folder / "runs").mkdir()
    for name in ("first", "second"):
        lines = [
            f"{query} Q0 {id_} {rank} {-rank} {name}"
            for query, row in enumerate(rng.permuted(ids, axis=1))
            for rank, id_ in enumerate(row)
        ]
        (folder / "runs" / f"{name}.trec").write_text("\n".join(lines))


def bench_start():
    """Print the processor seconds until the command works, the least of three runs."""
    lines = {
        "import evaluate_retrieval": [
            sys.executable,
            "-c",
            "import evaluate_retrieval",
        ],
        "--version": [*COMMAND, "--version"],
        "--help": [*COMMAND, "--help"],
        "compare --help": [*COMMAND, "compare", "--help"],
        "two runs of 60 queries": [*COMMAND, "{}", "--only-own", "--out", "{}/results"],
        "demo": [*COMMAND, "demo", "{}/demo"],
    }
    goals = {"import evaluate_retrieval": 0.1, "--version": 0.1, "--help": 0.3}
    goals |= {"demo": 6}
    with tempfile.TemporaryDirectory() as folder:
        write_many(Path(folder), n_documents=100, n_queries=60)
        for what, words in lines.items():
            times = []
            for _ in range(3):
                shutil.rmtree(f"{folder}/demo", ignore_errors=True)
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                command = [word.format(folder) for word in words]
                subprocess.run(command, capture_output=True)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                user = after.ru_utime - before.ru_utime
                times.append(user + after.ru_stime - before.ru_stime)
            goal = f", goal {goals[what]}" if what in goals else ""
            print(f"{what}: {min(times):.2f} s of processor{goal}", flush=True)


def bench_traces():
    """Time `sample` on the spans of many retrievals, of five documents each."""
    rng = np.random.default_rng(1)
    texts = [
        " ".join(f"w{n}" for n in row) for row in rng.integers(3_000, size=(5_000, 60))
    ]
    with tempfile.TemporaryDirectory() as folder:
        with (Path(folder) / "traces.jsonl").open("w") as lines:
            for number in range(N_SPANS):
                asked, *shown = rng.integers(len(texts), size=6)
                attributes = {
                    "openinference.span.kind": "RETRIEVER",
                    "input.value": " ".join(texts[asked].split()[:3]),
                }
                for rank, place in enumerate(shown):
                    name = f"retrieval.documents.{rank}.document"
                    attributes[f"{name}.id"] = f"d{place}"
                    attributes[f"{name}.content"] = texts[place]
                span = {"trace_id": f"{number}", "attributes": attributes}
                lines.write(f"{json.dumps(span)}\n")
        took = measured(folder, "sample", folder)
        print(f"sample of {N_SPANS:,} spans: {took}, goal 10 s, 1 GB", flush=True)


def measured(folder, *words):
    """What the command took, in words. Its results are in a folder there."""
    command = [sys.executable, "-c", MEASURED, *COMMAND, *words]
    command += ["--out", f"{folder}/results"]
    return subprocess.check_output(command, text=True).strip()


def bench_command():
    """Time the command on many documents: on runs alone, and with ours by text."""
    goals = {"--only-own": "180 s, 2 GB", "--no-tuning": "600 s, 6 GB"}
    with tempfile.TemporaryDirectory() as folder:
        write_many(Path(folder))
        for option, goal in goals.items():
            took = measured(folder, folder, option)
            what = f"{N_DOCUMENTS:,} documents, {N_QUERIES:,} queries, {option}"
            print(f"{what}: {took}, goal {goal}", flush=True)
            shutil.rmtree(
                f"{folder}/runs", ignore_errors=True
            )  # else ours are left out


def main():
    logging.getLogger("course").setLevel("ERROR")
    documents = our_data.load_documents()
    questions = our_data.load_ground_truth()
    bench_minsearch(documents, questions)
    typed = our_data.load_splits()[1]["judged"]
    search = utils.search_by_scores(scoring.bm25_scores(documents), documents, k=100)
    bench_metrics("typed queries", search(typed), typed["document"])
    one_each = [{document: 1} for document in questions["document"]]
    bench_metrics("generated questions", search(questions), one_each)
    bench_bm25(documents, questions)
    bench_encoding(documents)
    if es := elastic.connect_elasticsearch():
        bench_elasticsearch(es, documents, questions)
    bench_start()
    bench_traces()
    bench_command()


if __name__ == "__main__":
    machine.parser(__doc__).parse_args()
    main()
