"""The essays of lesson 04: their contexts, and the facts of the golden answers.

A matrix here has a row for each fact and a column for each context."""

import itertools
import json

import numpy as np
import pandas as pd

from course import llm, our_data

DATA = our_data.FOLDER
FACTS_FILE = DATA / "recorded-facts.jsonl"
QWEN = "qwen2.5-coder-1.5b-instruct-q4_k_m"


def essay_contexts(folder):
    """The contexts of notebook 04, a dict of name: text, chunks of essays first."""
    contexts = {}
    for path in sorted(folder.glob("essays/*.md")):
        text = path.read_text("utf-8")
        for start in range(0, len(text), 2_000):
            contexts[f"{path.stem}-{start // 2_000}"] = text[start : start + 2_000]
    return contexts | json.loads((folder / "essay-contexts.json").read_text("utf-8"))


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
        facts = llm.recorded_responses(texts, schema, FACTS_FILE, QWEN)
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


def digits(prompts, call=None):
    """The recorded, or live, answer of one digit to each prompt.

    call: what asks a live model, else `llm.judge_call`."""
    path = DATA / "recorded-verdicts.jsonl"
    call = call or llm.judge_call()
    return llm.respond_to_all(prompts, "digit", path, call, by=QWEN)


def judged(prompt, pairs):
    """The judge's score, p(1), of each row of pairs with a text and a fact: an array.

    prompt: with {context} and {fact}."""
    rows = zip(pairs["text"], pairs["fact"], strict=True)
    prompts = [prompt.format(context=text, fact=fact) for text, fact in rows]
    return np.array([llm.p_of(response) for response in digits(prompts)])


def direct_scores(prompt, contexts, answers):
    """The model's mean digit / 9, weighted by probability, for each set of contexts.

    prompt: with {contexts} and {answer}. contexts: names of each set's
    contexts. answers: the golden answer of each, or one text for all."""
    texts = essay_contexts(DATA)
    prompts = []
    answers = [answers] * len(contexts) if isinstance(answers, str) else answers
    for names, answer in zip(contexts, answers, strict=True):
        shown = "\n\n".join(texts[name] for name in names)
        prompts.append(prompt.format(contexts=shown, answer=answer))
    p = np.array([llm.digit_probabilities(response) for response in digits(prompts)])
    return p @ np.arange(10) / p.sum(axis=1) / 9


def fact_pairs(folder):
    """Each fact of the golden answers with each context: a row for each pair.

    Columns: essay, fact, context, text; own, whether the context is one of the
    seven of its essay; stated, whether the readers say that it states the
    fact."""
    contexts = essay_contexts(folder)
    sets = json.loads((folder / "continuous-set.json").read_text("utf-8"))
    records = pd.read_json(folder / "recorded-facts.jsonl", lines=True)
    written = records["response"][records["model"] == llm.RECORDED]
    lists = [response["facts"] for response in written if "reasoning" in response]
    annotations = pd.read_csv(folder / "fact-annotations.csv")
    stated = set(zip(annotations["fact"], annotations["context"], strict=True))
    rows = []
    for entry, facts in zip(sets, lists, strict=True):
        own = entry["golden"] + entry["others"]
        own_first = dict.fromkeys([*own, *contexts])
        for fact, name in itertools.product(facts, own_first):
            of_pair = name in own, (fact, name) in stated
            rows.append([entry["essay"], fact, name, contexts[name], *of_pair])
    columns = ["essay", "fact", "context", "text", "own", "stated"]
    return pd.DataFrame(rows, columns=columns)


def matrix(pairs, essay, names, column="stated"):
    """One column of `fact_pairs` as a DataFrame: facts of an essay × these contexts."""
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
