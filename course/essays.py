"""The essays of notebook 04: their contexts, and the facts of the golden answers.

A matrix here has a row for each fact and a column for each context."""

import itertools
import json
import re

import numpy as np
import pandas as pd
from minsearch import Index

import utils
from course import embedding, scoring
from course.llm import RECORDED, load_responses, request_key


def essay_contexts(folder):
    """The contexts of notebook 04, a dict of name: text, chunks of essays first."""
    contexts = {}
    for path in sorted(folder.glob("essays/*.md")):
        text = path.read_text("utf-8")
        for start in range(0, len(text), 2_000):
            contexts[f"{path.stem}-{start // 2_000}"] = text[start : start + 2_000]
    return contexts | json.loads((folder / "essay-contexts.json").read_text("utf-8"))


def recorded_facts(prompts, schema, path):
    """What the large writer answered to each prompt, as objects of `schema`.

    No model is ever called: readers annotated these facts."""
    responses = load_responses(path)
    keys = [request_key(RECORDED, prompt, schema.__name__) for prompt in prompts]
    return [schema.model_validate(responses[key]) for key in keys]


def fact_pairs(folder):
    """Each fact of the golden answers with each context: a row for each pair.

    Columns: essay, fact, context, text; own, whether the context is one of the
    seven of its essay; stated, whether the readers say that it states the fact."""
    contexts = essay_contexts(folder)
    sets = json.loads((folder / "continuous-set.json").read_text("utf-8"))
    records = pd.read_json(folder / "recorded-facts.jsonl", lines=True)
    written = records["response"][records["model"] == RECORDED]
    lists = [response["facts"] for response in written if "reasoning" in response]
    annotations = pd.read_csv(folder / "fact-annotations.csv")
    stated = set(zip(annotations["fact"], annotations["context"], strict=True))
    rows = []
    for entry, facts in zip(sets, lists, strict=True):
        own = entry["golden"] + entry["others"]
        others = [name for name in contexts if name not in own]
        for fact, name in itertools.product(facts, own + others):
            row = {
                "essay": entry["essay"],
                "fact": fact,
                "context": name,
                "text": contexts[name],
                "own": name in own,
                "stated": (fact, name) in stated,
            }
            rows.append(row)
    return pd.DataFrame(rows)


def matrix(pairs, essay, names, column="stated"):
    """One column of `fact_pairs` as a DataFrame: facts of an essay × these contexts."""
    rows = pairs[pairs["essay"] == essay]
    return rows.pivot(index="fact", columns="context", values=column)[list(names)]


def matrices(pairs, own, column="stated"):
    """The matrix of each essay as an array, in a dict.

    own: dict of essay: names of its contexts."""
    return {name: matrix(pairs, name, own[name], column).to_numpy() for name in own}


def combinations(n_contexts, smallest=2, most=2**16):
    """Sets of at least `smallest` contexts: bool, (n_combinations, n_contexts).

    ValueError if 2^n_contexts is more than `most`."""
    if n_contexts > 30 or 2**n_contexts > most:
        many = f"{n_contexts} contexts have 2^{n_contexts} combinations"
        raise ValueError(f"{many}, more than {most:,}: take fewer contexts")
    every = list(itertools.product([False, True], repeat=n_contexts))
    members = np.array(every, dtype=bool).reshape(2**n_contexts, n_contexts)
    return members[members.sum(axis=1) >= smallest]


def combined_scores(scores, members, soft=False):
    """The mean over facts of an OR over contexts: (n_combinations,), from 0 to 1.

    scores: (n_facts, n_contexts), yes or no, or probabilities. members: see
    `combinations`. The hard OR takes 0.5 and more for a yes; the soft one is
    1 - the product of all 1 - p. ValueError without facts."""
    if not len(scores):
        raise ValueError("no facts, so no share of them")
    p = scores if soft else (scores >= 0.5).astype(float)
    none = [np.prod(1 - p[:, row], axis=1).mean() for row in members]
    return 1 - np.array(none)


def facts_of(written):
    """All facts of the objects that a writer returned, one after the other."""
    return [fact for listed in written for fact in listed.facts]


def share_found(facts, others, least=0.8):
    """The share of the facts that have a cosine of `least` with any of the others."""
    cosines = embedding.embed(facts) @ embedding.embed(others).T
    return float((cosines.max(axis=1) >= least).mean())


def point_pairs(points, facts, contexts):
    """Each fact of a point with each of its two contexts: a row for each pair.

    points: DataFrame with point, context_a and context_b. facts: a list for each
    point. contexts: dict of name: text. Columns: point, fact, context, text."""
    pairs = points[["point", "context_a", "context_b"]].assign(fact=list(facts))
    pairs = pairs.explode("fact").melt(["point", "fact"], value_name="context")
    return pairs.assign(text=pairs["context"].map(contexts)).drop(columns="variable")


def rankings(sets, contexts):
    """All contexts, best first, for the question of each set: three searches.

    sets: dicts with a question. contexts: dict of name: text. Returns a dict of
    text (TF-IDF), vectors and hybrid (half and half): names, (n_sets, n_contexts)."""
    documents = pd.DataFrame({"id": contexts.keys(), "text": contexts.values()})
    documents = documents.assign(course="").to_dict("records")
    queries = pd.DataFrame({"question": [entry["question"] for entry in sets]})
    queries = queries.assign(course="")
    index = Index(["text"], ["course"], vectorizer_params={"sublinear_tf": True})
    text = utils.minsearch_scores(index.fit(documents))
    vectors = embedding.embed(list(contexts.values()))
    vectors = scoring.vector_scores(vectors, documents)
    hybrid = scoring.weighted_sum([text, vectors], [0.5, 0.5])
    found = {}
    for name, scores in {"text": text, "vectors": vectors, "hybrid": hybrid}.items():
        search = utils.search_by_scores(scores, documents, k=len(documents))
        found[name] = search(queries)
    return found


def nearest_sentences(facts, texts):
    """The highest cosine of each fact with a sentence of its text, a list.

    facts, texts: a fact and a text for each pair."""
    split = {text: re.split(r"(?<=[.!?])\s+", text) for text in texts}
    every = [*dict.fromkeys(facts), *itertools.chain(*split.values())]
    vectors = dict(zip(every, embedding.embed(every), strict=True))
    nearest = []
    for fact, text in zip(facts, texts, strict=True):
        nearest.append(max(vectors[one] @ vectors[fact] for one in split[text]))
    return nearest
