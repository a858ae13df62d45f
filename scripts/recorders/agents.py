"""Notebook 18: what agents were shown for questions of several hops, and answered."""

import json
import string
from collections import Counter

import n18_hops as hops

from course import answering, llm, our_data
from evaluate_retrieval.reading import corpus
from recorders import collections

MARKS = {*string.punctuation}
MORE = 15  # of one search, as many as those of the loop
N_CALLS = 3  # of the loop, at most
N_ASKED = 100  # questions of MuSiQue that the small model was asked
LONGEST = 24  # tokens of an answer
LONGEST_PASSAGE = 150  # words
FORM = {  # of the reply
    "type": "object",
    "properties": {
        name: {"type": "string", "maxLength": 80} for name in ("name", "query")
    },
    "required": ["name", "query"],
}
ANSWER = """{passages}

Answer the question with a name, a date or a few words, and nothing else.

Question: {question}
Answer:"""


def load(course, folder=collections.PREPARED / "hops"):
    """The documents and the questions of musique or hotpot: see `collections.load`.

    document: the supporting passages. subquestions, answers: lists."""
    documents, queries = collections.load(folder, course)
    lists = {
        name: queries[name].map(str.splitlines) for name in ("subquestions", "answers")
    }
    return documents, queries.assign(**lists)


def drawn(questions):
    """The questions that a small model was asked: N_ASKED of them, with a seed."""
    return questions.sample(N_ASKED, random_state=1)


def loop(question, find, records, path):
    """The calls of a small model: it reads what was found, and writes the next query.

    A call has asked and ids. The first query is the question. It ends after N_CALLS,
    or with a query that was there before. It asks as `llm.respond` does. records: a
    dict of id: document."""
    form = {"type": "json_schema", "json_schema": {"name": "next", "schema": FORM}}
    call = llm.call_for(
        lambda completion: json.loads(llm.text_of(completion)),
        {"response_format": form},
        timeout=600,
    )
    calls = [{"asked": question["question"], "ids": find(question["question"])}]
    while len(calls) < N_CALLS:
        asked = [each["asked"] for each in calls]
        prompt = hops.NEXT.format(
            passages=as_text([call["ids"] for call in calls], records),
            question=question["question"],
            asked="; ".join(asked),
        )
        reply = _reply(prompt, "next search", path, call)
        if (query := reply["query"].strip()) in ("", *asked):
            break
        calls.append({"asked": query, "ids": find(query)})
    return calls


def answer(question, lists, records, path):
    """What the small model answers from the passages of some lists of ids, a text."""
    passages = as_text(lists, records) or "There are no passages."
    prompt = ANSWER.format(passages=passages, question=question["question"])
    return _reply(prompt, "answer", path, llm.text_call(LONGEST))["text"].strip()


def _reply(prompt, schema, path, call):
    options = {"workers": 1, "by": answering.ANSWERED_BY}
    [reply] = llm.respond_to_all([prompt], schema, path, call, **options)
    return reply


def as_text(lists, records):
    """Passages as a prompt has them, each once, in the order of some lists of ids.

    A title, and at most LONGEST_PASSAGE words."""
    ids = dict.fromkeys(id_ for ids in lists for id_ in ids)
    return "\n\n".join(
        f"{records[id_]['question']}: "
        + " ".join(records[id_]["text"].split()[:LONGEST_PASSAGE])
        for id_ in ids
    )


def words_of(text):
    """The words of a short answer, as SQuAD compares them: no case, marks, articles."""
    text = "".join(letter for letter in text.lower() if letter not in MARKS)
    return [word for word in text.split() if word not in ("a", "an", "the")]


def exact_match(text, right):
    """1.0 if a text is one of the right answers, else 0.0 (Rajpurkar et al. 2016).

    >>> exact_match("The Eiffel Tower.", ["tower of London", "Eiffel tower"])
    1.0
    """
    return float(any(words_of(text) == words_of(each) for each in right))


def f1(text, right):
    """The F1 of the words of a text and of a right answer, the best of them.

    >>> f1("in Paris, France", ["Paris"])
    0.5
    """
    return max(_f1(words_of(text), words_of(each)) for each in right)


def _f1(said, wanted):
    shared = sum((Counter(said) & Counter(wanted)).values())
    return 2 * shared / (len(said) + len(wanted)) if shared else 0.0


def record(course, path):
    """What agents were shown for the questions of a collection: a dict for JSON.

    path: of the small model's replies. No texts are in it. Tokens are characters
    divided by four. lists: of one search, of each sub-question (with the right
    answers of the ones before in it), and of the small model."""
    documents, questions = load(course)
    find = hops.searcher(documents)
    records = {each["id"]: each for each in documents}
    asked = drawn(questions)["query_id"].to_list() if course == "musique" else []
    rows = {}
    shown = set()
    for row in questions.to_dict("records"):
        parts = [find(text, 2 * hops.K) for text in row["subquestions"]]
        lists = {"one": [find(row["question"], MORE)], "parts": parts}
        answers = {}
        if row["query_id"] in asked:
            calls = loop(row, find, records, path)
            lists["loop"] = [call["ids"] for call in calls]
            for name, ids in {"no passage": [], **hops.lists_of_agents(lists)}.items():
                text = answer(row, ids, records, path)
                right = row["answers"]
                answers[name] = [exact_match(text, right), round(f1(text, right), 4)]
        shown.update(id_ for ids in lists.values() for each in ids for id_ in each)
        rows[row["query_id"]] = {
            "kind": row["kind"],
            "relevant": list(row["document"]),
            "lists": lists,
            "answers": answers,
        }
    texts = {id_: corpus.heading_and_text(records[id_]) for id_ in sorted(shown)}
    sizes = {id_: len(text) // 4 for id_, text in texts.items()}
    return {"questions": rows, "sizes": sizes}


def agents():
    """What agents were shown for questions of several hops, and what was answered."""
    path = our_data.FOLDER / "hops.jsonl"
    kept = {course: record(course, path) for course in ("musique", "hotpot")}
    collections.keep(kept, hops.RECORD)
