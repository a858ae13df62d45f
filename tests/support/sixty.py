"""Sixty documents, a judged and a generated query for each, and searches of these."""

import json
from contextlib import redirect_stdout
from io import StringIO

import pandas as pd

from evaluate_retrieval.line import main

N = 60
SEARCHES = """
def at(place):
    def search(question, course):
        number = int(question[1:])
        return [f"d{(number + place - each) % 60}" for each in range(place + 1)]

    return search


SEARCHES = {"first": at(0), "second": at(1), "third": at(2), "also": at(2)}
"""


def write_folder(path):
    """Write data/ and searches.py into a folder. "first" has each document first."""
    (path / "data").mkdir()
    (path / "searches.py").write_text(SEARCHES)
    ids = pd.Series([f"d{n}" for n in range(N)])
    texts = pd.DataFrame({"id": ids, "text": "text of " + ids})
    texts.to_csv(path / "data" / "documents.csv", index=False)
    queries = "q" + ids.str[1:]
    judged = pd.DataFrame({"query_id": queries, "query": queries, "document": ids})
    judged.assign(grade=1).to_csv(path / "data" / "judged-queries.csv", index=False)
    asked = pd.DataFrame({"question": queries, "document": ids})
    asked.to_csv(path / "data" / "ground-truth-data.csv", index=False)
    return path


def write_agents(folder, n, agents):
    """A folder of n questions, each of which takes two documents, and its agents.

    agents: by name, how many documents of each question are found, in calls."""
    (folder / "calls").mkdir(parents=True)
    texts = [{"id": f"d{number}", "text": f"text {number}"} for number in range(2 * n)]
    (folder / "documents.json").write_text(json.dumps(texts))
    queries = [f"q{number},number {number}\n" for number in range(n)]
    (folder / "queries.csv").write_text("".join(["id,text\n", *queries]))
    pairs = [(f"q{number // 2}", f"d{number}") for number in range(2 * n)]
    qrels = "".join(f"{query} 0 {id_} 1\n" for query, id_ in pairs)
    (folder / "qrels.txt").write_text(qrels)
    for name, n_found in agents.items():
        calls = [
            {"query_id": query, "ids": [id_], "tokens": 1020, "milliseconds": 2}
            for query, id_ in pairs
            if int(id_[1:]) % 2 < n_found
        ]
        text = "".join(json.dumps(call) + "\n" for call in calls)
        (folder / "calls" / f"{name}.jsonl").write_text(text)


def said(folder, *words):
    """The exit code and the facts of a command on such a folder."""
    line = [*words[:1], folder / "data", "--searches", folder / "searches.py"]
    line += ["--only-own", "--json", "--out", folder / "out", *words[1:]]
    with redirect_stdout(StringIO()) as shown:
        code = main([*map(str, line)])
    return code, json.loads(shown.getvalue())
