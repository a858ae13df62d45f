"""The essays of lessons 04 and 15: their contexts, facts, and a judge of both."""

import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd

from course import llm, our_data

DATA = our_data.FOLDER
QWEN = "qwen2.5-coder-1.5b-instruct-q4_k_m"


def essay_contexts(folder: Path) -> dict[str, str]:
    """The contexts of notebook 04, a dict of name: text, chunks of essays first."""
    contexts = {}
    for path in sorted(folder.glob("essays/*.md")):
        text = path.read_text("utf-8")
        for start in range(0, len(text), 2_000):
            contexts[f"{path.stem}-{start // 2_000}"] = text[start : start + 2_000]
    return contexts | json.loads((folder / "essay-contexts.json").read_text("utf-8"))


def digits(prompts: list[str], call: llm.ModelCall | None = None) -> list[dict]:
    """The recorded, or live, answer of one digit to each prompt.

    call: what asks a live model, else `llm.judge_call`."""
    path = DATA / "recorded-verdicts.jsonl"
    call = call or llm.judge_call()
    return llm.respond_to_all(prompts, "digit", path, call, by=QWEN)


def judged(prompt: str, pairs: pd.DataFrame) -> np.ndarray:
    """The judge's score, p(1), of each row of pairs with a text and a fact.

    prompt: with {context} and {fact}."""
    rows = zip(pairs["text"], pairs["fact"], strict=True)
    prompts = [prompt.format(context=text, fact=fact) for text, fact in rows]
    return np.array([llm.p_of(response) for response in digits(prompts)])


def fact_pairs(folder: Path) -> pd.DataFrame:
    """Each fact of the golden answers with each context: a row for each pair.

    Columns: essay, fact, context, text; own, whether the context is one of the
    seven of its essay; stated, whether the large model's notes say that it
    states the fact."""
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
        # each once, and those of the essay before all others
        own_first = dict.fromkeys([*own, *contexts])
        for fact, name in itertools.product(facts, own_first):
            of_pair = name in own, (fact, name) in stated
            rows.append([entry["essay"], fact, name, contexts[name], *of_pair])
    columns = ["essay", "fact", "context", "text", "own", "stated"]
    return pd.DataFrame(rows, columns=columns)
