"""Lesson 04: facts that models list, and what scores are made of them.

A matrix here has a row for each fact and a column for each context."""

import numpy as np

from course import essays, llm

FACTS_FILE = essays.DATA / "recorded-facts.jsonl"


def recorded_facts(prompt, answers, schema="Facts"):
    """What the large writer listed for each answer: dicts with facts.

    prompt: with {answer}. No model is ever called: readers annotated these
    facts."""
    responses = llm.load_responses(FACTS_FILE)
    prompts = [prompt.format(answer=answer) for answer in answers]
    return [responses[llm.request_key(llm.RECORDED, text, schema)] for text in prompts]


def fact_lists(io, cot, answers):
    """The facts of each answer by two models and two prompts: dict of name: dicts.

    io, cot: prompts with {answer}; replies to cot have their reasoning, too.
    The small model's lists are recorded; if calls are live, your model's come
    instead."""
    prompts = {"IO": (io, "Facts"), "CoT": (cot, "ReasonedFacts")}
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


def direct_scores(prompt, contexts, answers):
    """The model's mean digit / 9, weighted by probability, for each set of contexts.

    prompt: with {contexts} and {answer}. contexts: names of each set's
    contexts. answers: the golden answer of each, or one text for all."""
    texts = essays.essay_contexts(essays.DATA)
    prompts = []
    answers = [answers] * len(contexts) if isinstance(answers, str) else answers
    for names, answer in zip(contexts, answers, strict=True):
        shown = "\n\n".join(texts[name] for name in names)
        prompts.append(prompt.format(contexts=shown, answer=answer))
    p = np.array(
        [llm.digit_probabilities(response) for response in essays.digits(prompts)]
    )
    return p @ np.arange(10) / p.sum(axis=1) / 9


def matrix(pairs, essay, names, column="stated"):
    """One column of `essays.fact_pairs`, a DataFrame: facts of an essay × contexts."""
    rows = pairs[pairs["essay"] == essay]
    return rows.pivot(index="fact", columns="context", values=column)[list(names)]


def point_pairs(points, lists, contexts):
    """Each fact of a point with each of its two contexts: a row for each pair.

    points: DataFrame with point, context_a and context_b. lists: dicts with
    facts, one a point. contexts: dict of name: text. Columns: point, fact,
    context, text."""
    facts = [listed["facts"] for listed in lists]
    pairs = points[["point", "context_a", "context_b"]].assign(fact=facts)
    pairs = pairs.explode("fact").melt(["point", "fact"], value_name="context")
    return pairs.assign(text=pairs["context"].map(contexts)).drop(columns="variable")
