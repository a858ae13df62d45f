"""The essays of notebook 04: their contexts, and the facts of the golden answers."""

import itertools
import json

import pandas as pd

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
