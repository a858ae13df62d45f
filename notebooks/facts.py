"""Lesson 04: facts that models list, and what scores are made of them.

A matrix here has a row for each fact and a column for each context."""

import itertools

import numpy as np
import pandas as pd

from course import essays, llm, plots

FACTS_FILE = essays.DATA / "recorded-facts.jsonl"
COT_PROMPT = """Which unique facts does this answer state? First think step by step: go through it
sentence by sentence, say which separate claims each makes, and merge claims that repeat one
another. Then list the unique facts, each as one sentence that can be understood on its own.

answer: {answer}
"""  # noqa: E501
DIRECT_PROMPT = """How much of the answer do the contexts hold? Answer with one digit alone,
from 0 for nothing to 9 for all of it.

answer: {answer}

contexts:

{contexts}"""  # noqa: E501


def recorded_facts(prompt, answers, schema="Facts"):
    """What the large writer listed for each answer: dicts with facts.

    prompt: with {answer}. No model is ever called: a large model noted where
    these facts are stated."""
    responses = llm.load_responses(FACTS_FILE)
    prompts = [prompt.format(answer=answer) for answer in answers]
    return [responses[llm.request_key(llm.RECORDED, text, schema)] for text in prompts]


def fact_lists(io, answers):
    """The facts of each answer by two models and two prompts: dict of name: dicts.

    io: a prompt with {answer}. Replies to `COT_PROMPT` have their reasoning, too.
    The small model's lists are recorded; if calls are live, your model's come
    instead."""
    prompts = {"IO": (io, "Facts"), "CoT": (COT_PROMPT, "ReasonedFacts")}
    large = {}
    small = {}
    for name, (prompt, schema) in prompts.items():
        large[f"large, {name}"] = recorded_facts(prompt, answers, schema)
        texts = [prompt.format(answer=answer) for answer in answers]
        facts = llm.recorded_responses(texts, schema, FACTS_FILE, essays.QWEN)
        if llm.is_live():  # the browser's pydantic makes no models of a schema
            live = llm.ask(texts, _schema(schema), FACTS_FILE)
            facts = [listed.model_dump() for listed in live]
        small[f"small, {name}"] = facts
    return large | small


def _schema(name):
    """The form of a list of facts: the reasoning comes first where there is one."""
    from pydantic import create_model

    reasoning = {"reasoning": (str, ...)} if name == "ReasonedFacts" else {}
    return create_model(name, **reasoning, facts=(list[str], ...))


def direct_scores(contexts, answer):
    """The model's mean digit / 9, weighted by probability, for each set of contexts.

    contexts: names of each set's contexts. answer: the golden answer."""
    texts = essays.essay_contexts(essays.DATA)
    prompts = []
    for names in contexts:
        shown = "\n\n".join(texts[name] for name in names)
        prompts.append(DIRECT_PROMPT.format(contexts=shown, answer=answer))
    p = np.array(
        [llm.digit_probabilities(response) for response in essays.digits(prompts)]
    )
    return p @ np.arange(10) / p.sum(axis=1) / 9


def matrix(pairs, essay, names, column="stated"):
    """One column of `essays.fact_pairs`, a DataFrame: facts of an essay × contexts."""
    rows = pairs[pairs["essay"] == essay]
    return rows.pivot(index="fact", columns="context", values=column)[list(names)]


def picture(scores, title):
    """Show a matrix of scores, and below it its facts by number, folded."""
    numbers = [f"fact {number}" for number in range(1, len(scores) + 1)]
    short = scores.rename(columns=lambda name: name.split("-", 1)[1])
    plots.heat_map(short.set_axis(numbers), title, low=0, high=1)
    listed = pd.DataFrame({"fact": scores.index}, numbers)
    plots.folded(listed, "The facts by number")


def scored(pairs, sets):
    """What scorers give each combination of two to seven contexts of an essay.

    pairs: `essays.fact_pairs`, with the judge's `yes`. sets: dicts with essay,
    golden, others and answer. Columns: essay; notes, the coverage by the large
    model's; direct question; by facts; how many contexts, of seven."""
    tables = []
    for entry in sets:
        essay = entry["essay"]
        names = entry["golden"] + entry["others"]
        combinations = [
            list(chosen)
            for n in range(2, len(names) + 1)
            for chosen in itertools.combinations(names, n)
        ]
        table = pd.DataFrame({"essay": [essay] * len(combinations)})
        table["notes"] = _coverage(matrix(pairs, essay, names, "stated"), combinations)
        direct = direct_scores(combinations, entry["answer"])
        table["direct question"] = direct
        table["by facts"] = _coverage(matrix(pairs, essay, names, "yes"), combinations)
        sizes = [len(chosen) / len(names) for chosen in combinations]
        table["how many contexts"] = sizes
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _coverage(states, combinations):
    """The share of facts that any context of each combination states."""
    return [states[names].any(axis=1).mean() for names in combinations]


def errors(scored):
    """How far scorers are from the notes, by essay and on the mean, and their order.

    scored: of `scored`. A row for each scorer; the last column is the mean rank
    correlation with the notes within an essay."""
    scorers = ["direct question", "by facts", "how many contexts"]
    off = scored[scorers].sub(scored["notes"], axis=0).abs()
    table = off.groupby(scored["essay"]).mean().T
    table["mean error"] = off.mean()
    of_essays = scored.groupby("essay")[["notes", *scorers]]
    correlations = of_essays.corr("spearman")["notes"].unstack()
    table["rank correlation"] = correlations[scorers].mean()
    return table.rename_axis(columns=None)


def around(words, contexts, n=30):
    """Where words stand: a DataFrame with a row for each context that has one.

    words: each is looked up once a context. contexts: dict of name: text."""
    rows = []
    for word in words:
        for name, text in contexts.items():
            place = text.find(word)
            if place >= 0:
                shown = text[max(0, place - n) : place + len(word) + n].split()
                rows.append([word, name, " ".join(shown)])
    return pd.DataFrame(rows, columns=["words", "context", "text"]).set_index("words")
