"""Make what notebooks read as recorded: replies of a language model, and searches.

answers (notebook 7), pages (12), graded (16): run with COURSE_LLM=live,
OPENAI_BASE_URL and OPENAI_MODEL; `make local-llm` prints them. Each goes on where it
was stopped. Replies go to data/live-responses.jsonl. graded needs `make collections`.
searches (11): needs `make models`, and half an hour on two cores."""

import json
import sys
from functools import cache, partial
from itertools import product

import machine
import numpy as np

import utils
from course import answering, corpus, embedding, experiments, llm, scoring

sys.path.append(str(machine.ROOT / "notebooks" / "more"))
import better
import graded_answers
from pages import build, load_answers, tokens_of, ways_of

DATA = corpus.ROOT / "data"
FIRST = 20  # results of the first stage that the reranker reads
WEIGHTS = [0.3, 0.1, 0.2, 0.4, 0.5, 0.7, 1.0]  # of the reranker, mixed in


# --- Replies of a language model ---------------------------------------------


def ask(rows, name):
    """Ask for the answer to each prompt of a table, and say how many are left."""
    prompts = rows["prompt"].tolist()
    replies = llm.respond(
        prompts,
        "answer",
        DATA / name,
        answering.answer_call(),
        workers=2,
        by=answering.ANSWERED_BY,
    )
    print(f"{replies.count(None):,} of {len(prompts):,} prompts have no answer yet")


def answers():
    """The answers that data/answer-contexts.csv lists."""
    ask(answering.load_contexts(DATA), "recorded-answers.jsonl")


def pages():
    """The answers that data/page-answers.csv lists."""
    tokens = tokens_of(build(corpus.load_documents(DATA))[0])
    rows = load_answers(DATA, tokens, ways_of(tokens))
    ask(rows, "recorded-page-answers.jsonl")


def graded():
    """What judges say of answers that people graded."""
    path = corpus.collections_folder() / graded_answers.FILE
    table = graded_answers.judged(path, DATA / "graded-verdicts.jsonl")
    table.to_csv(DATA / graded_answers.RECORDED, index=False)


# --- Searches ----------------------------------------------------------------


def values_of(queries, rankings, kind):
    return experiments.values_of(queries, rankings, kind).round(4).tolist()


def measured(search, halves):
    """The metric of each query of a search: a list for each kind of queries."""
    return {
        kind: values_of(queries, search(queries), kind)
        for kind, queries in halves.items()
    }


def chosen(build, settings, choosing, halves):
    """The same with the setting that is best on other queries, and the choices."""
    results, choices = {}, {}
    for kind, queries in halves.items():
        k, metric = experiments.K[kind], experiments.BY[kind]
        rankings, by_fold, _ = experiments.cross_fit(
            build, settings, choosing[kind], queries, k, metric
        )
        results[kind] = values_of(queries, rankings, kind)
        choices[kind] = by_fold.tolist()
    return results | {"choices": choices}


def searches():
    """The metric of each query, by search. Costs and times stay as they are."""
    path = DATA / "recorded-searches.json"
    results = json.loads(path.read_text("utf-8"))
    documents = corpus.load_documents(DATA)
    development, test, _ = corpus.load_splits(DATA)
    search_by = partial(utils.search_by_scores, documents=documents, k=10)

    text = scoring.bm25_scores(documents, heading=2)
    by_vectors = vector_scores(documents)
    for name, scores in by_vectors.items():
        results[name] = measured(search_by(scores), test)

    parts = [text, *map(by_vectors.get, (better.OURS, better.BGE, better.MPNET))]

    def summed(fifths):
        return search_by(scoring.weighted_sum(parts, np.divide(fifths, 5)))

    all_fifths = [row for row in product(range(6), repeat=4) if sum(row) == 5]
    for n, number in enumerate(["two", "three", "four"], 2):
        settings = [row for row in all_fifths if not any(row[n:])]
        results[f"{number} in a sum"] = chosen(summed, settings, development, test)

    stages = {
        "weak stage": scoring.tf_idf_scores(documents)["copied boost"],
        "strong stage": scoring.weighted_sum(parts[:2], [0.2, 0.8]),
    }
    choosing, halves = better.few(development), better.few(test)
    log_odds = reranker(documents)
    for name, first in stages.items():

        def mixed(weight, first=first):
            return search_by(reranked(first, log_odds, weight))

        results[name] = measured(search_by(first), halves)
        results[f"{name}, reranked"] = measured(mixed(1), halves)
        results[f"{name}, mixed in"] = chosen(mixed, WEIGHTS, choosing, halves)

    for language, halves in better.in_spanish(test).items():
        for name in ("text", better.OURS, better.USE):
            search = search_by(by_vectors.get(name, text), above=-1)
            results[f"{name}, {language}"] = measured(search, halves)
    path.write_text(json.dumps(results), encoding="utf-8")


def vector_scores(documents):
    """Score functions by the vectors of each model: a dict by name."""
    scores = {}
    texts = [corpus.heading_and_text(document) for document in documents]
    for model in (better.OURS, better.MPNET, better.USE, better.BGE):
        name = None if model == better.OURS else model
        vectors = embedding.embed(texts, name)
        scores[model] = scoring.vector_scores(vectors, documents, name)
    of_bge = embedding.embed(texts, better.BGE)

    def without_prompt(queries):
        encoded = embedding.embed(queries["question"], better.BGE)  # as documents
        for rows, columns in utils.blocks_of(queries, documents):
            yield rows, columns, encoded[rows] @ of_bge[columns].T

    return scores | {f"{better.BGE}, no prompt": without_prompt}


def reranker(documents):
    """A function of a question and a document's number: the log odds of "relevant".

    Each pair by itself: in a batch of 8-bit integers the scale of one would depend on
    its neighbours."""
    import onnxruntime
    from tokenizers import Tokenizer

    folder = embedding.MODELS / "reranker"
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(512)
    model = onnxruntime.InferenceSession(folder / "model.onnx")

    @cache
    def log_odds(question, number):
        text = corpus.heading_and_text(documents[number])
        pair = tokenizer.encode(question, text)
        inputs = {"input_ids": [pair.ids], "attention_mask": [pair.attention_mask]}
        [logits], *_ = model.run(None, inputs | {"token_type_ids": [pair.type_ids]})
        return logits[1] - logits[0]

    return log_odds


def reranked(first, log_odds, weight):
    """A score function: the best of another one, mixed with the reranker."""

    def scores(queries):
        questions = queries["question"].tolist()
        for rows, columns, block in first(queries):
            best = utils.top_k(block, min(FIRST, len(columns)))
            by_reranker = [
                [log_odds(questions[row], number) for number in numbers]
                for row, numbers in zip(rows, columns[best], strict=True)
            ]
            of_reranker = scoring.standardise(np.array(by_reranker))
            of_first = scoring.standardise(np.take_along_axis(block, best, 1))
            mixed = (1 - weight) * of_first + weight * of_reranker
            ranked = block.astype(float) - 1e6  # below, in the order they had
            np.put_along_axis(ranked, best, mixed, 1)
            yield rows, columns, ranked

    return scores


if __name__ == "__main__":
    actions = [answers, pages, graded, searches]
    sys.exit(machine.act(__doc__, {action: {} for action in actions}))
