"""Questions that take several passages: who searches for them, and how often.

MuSiQue and HotpotQA have questions whose supporting passages people marked. `make
collections` fetches them, and scripts/record.py records what agents were shown. An
agent is a dict of query id: calls, and a call a dict, see `measuring.calls`."""

import pandas as pd

import utils
from course import our_data
from evaluate_retrieval.measuring import calls, comparing
from evaluate_retrieval.searching import call_files, scoring

RECORD = "recorded-hops.json"
AGENTS = ["one search", "one search, 15", "small model", "sub-questions"]
K = 5  # passages of a call
# what asks a small model for its next query
NEXT = """{passages}

The passages above were found for this question: {question}
Searches until now: {asked}

The question has several parts. Name the person, place, work or organisation that the
passages give for its first part. Then write a short search query for the next part,
with that name in it."""


def searcher(documents):
    """A function of a text and k to the first k ids of BM25 with stems, a list."""
    scores = scoring.bm25_scores(documents)
    course = documents[0]["course"]
    search = utils.search_by_scores(scores, documents)

    def find(text, k=K):
        queries = pd.DataFrame({"question": [text], "course": course})
        return [id_ for id_ in search(queries, k=k)[0] if id_]

    return find


def lists_of_agents(lists):
    """The ids that each of AGENTS was shown, by call. lists: of a recorded question."""
    return {
        "one search": [lists["one"][0][:K]],
        "one search, 15": lists["one"],
        "small model": lists.get("loop", []),
        "sub-questions": [ids[:K] for ids in lists["parts"]],
    }


def recorded(course):
    """The recorded questions of musique or hotpot, and their agents.

    Questions: a DataFrame with kind and relevant, a list of ids; the index is their
    id. Agents: a dict of name: dict of id: calls with tokens, see `measuring.calls`:
    *one search* (5 results), *one search, 15*, *sub-questions* (5 each) and *small
    model*; the last one was asked 100 questions. sizes: tokens of each id. answers:
    exact match and F1, a DataFrame with two levels of columns."""
    kept = our_data.recorded(RECORD)[course]
    rows = kept["questions"]
    sizes = kept["sizes"]
    agents = {name: {} for name in AGENTS}
    answers = {}
    for id_, row in rows.items():
        for name, lists in lists_of_agents(row["lists"]).items():
            if lists:
                agents[name][id_] = [
                    {"ids": ids, "tokens": sum(map(sizes.get, ids))} for ids in lists
                ]
        if row["answers"]:
            answers[id_] = {
                (measure, name): value
                for name, values in row["answers"].items()
                for measure, value in zip(["exact match", "F1"], values, strict=True)
            }
    questions = pd.DataFrame.from_dict(rows, orient="index")
    answers = pd.DataFrame.from_dict(answers, orient="index")
    return questions[["kind", "relevant", "lists"]], agents, sizes, answers


def by_joining(questions):
    """What a perfect agent's lists are worth by how they are joined: a DataFrame.

    A row for each way: one search, and the lists of sub-questions joined and cut at
    ten, taken in turns and cut, or uncut. Columns: hit rate, found, all found."""
    rows = []
    for relevant, lists in zip(questions["relevant"], questions["lists"], strict=True):
        parts = lists["parts"]
        rankings = {
            "one search, ten": lists["one"][0][:10],
            "sub-questions, joined, ten": call_files.joined(parts, "joined", 10),
            "sub-questions, in turns, ten": call_files.joined(parts, "in turns", 10),
            "sub-questions, all": call_files.joined(parts),
        }
        for name, ids in rankings.items():
            scores = calls.scores([{"ids": ids}], relevant)
            rows.append(scores | {"way": name, "hit rate": scores["found"] > 0})
    columns = ["hit rate", "found", "all found"]
    return pd.DataFrame(rows).groupby("way", sort=False)[columns].mean()


def gains_by_kind(questions, agents, first, second):
    """How much more often an agent finds all than another one, by kind of question.

    A DataFrame with a row for each kind, see `comparing.by_slice`."""
    relevant = questions["relevant"].to_dict()
    all_found = [
        calls.table(agents[name], relevant)["all found"] for name in (first, second)
    ]
    gain = all_found[0] - all_found[1]
    table = comparing.by_slice(gain, questions[["kind"]], questions.index)
    return table.loc["kind"].drop(columns=["groups", "smallest"])
