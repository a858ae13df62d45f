"""Questions that take several passages: who searches for them, and how often.

MuSiQue and HotpotQA have questions whose supporting passages people marked. `make
collections` fetches them, and scripts/record.py records what agents were shown. An
agent is a dict of query id: calls, and a call a dict, see `course.calls`."""

import json

import pandas as pd

import utils
from course import corpus, llm, scoring

PREPARED = corpus.CACHE / "prepared" / "hops"  # where `make collections` writes them
K = 5  # passages of a call
MORE = 15  # of one search, as many as those of the loop
N_CALLS = 3  # of the loop, at most
N_ASKED = 100  # questions of MuSiQue that the small model was asked
LONGEST = 24  # tokens of an answer
LONGEST_PASSAGE = 150  # words
MODEL = "qwen2.5-coder-1.5b-instruct-q4_k_m"
NEXT = """{passages}

The passages above were found for this question: {question}
Searches until now: {asked}

The question has several parts. Name the person, place, work or organisation that the
passages give for its first part. Then write a short search query for the next part,
with that name in it."""
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


def load(course, folder=PREPARED):
    """The documents and the questions of musique or hotpot: dicts, and a DataFrame.

    `make collections` has prepared them, else FileNotFoundError. document: the
    supporting passages, a dict of id: grade. subquestions, answers: lists."""
    documents = corpus.load_documents(folder)
    documents = [each for each in documents if each["course"] == course]
    table = corpus.read_table(folder / "judged-queries.csv")
    queries, qrels = corpus.judged_from(table[table["course"] == course], {}, "hops")
    lists = {
        name: queries[name].map(str.splitlines) for name in ("subquestions", "answers")
    }
    return documents, queries.assign(document=qrels, **lists)


def drawn(questions):
    """The questions that a small model was asked: N_ASKED of them, with a seed."""
    return questions.sample(N_ASKED, random_state=1)


def searcher(documents):
    """A function of a text and k to the first k ids of BM25 with stems, a list."""
    scores, course = scoring.bm25_scores(documents), documents[0]["course"]
    search = utils.search_by_scores(scores, documents)

    def find(text, k=K):
        queries = pd.DataFrame({"question": [text], "course": course})
        return [id_ for id_ in search(queries, k=k)[0] if id_]

    return find


# --- Agents: each returns the calls for a question ----------------------------


def one_search(question, find, k=K):
    """The question is searched once."""
    return [{"asked": question["question"], "ids": find(question["question"], k)}]


def by_subquestions(question, find):
    """Each sub-question is searched, with the right answers of the ones before."""
    return [{"asked": text, "ids": find(text)} for text in question["subquestions"]]


def loop(question, find, records, path):
    """A small model reads what was found, and writes the next query.

    The first query is the question. It ends after N_CALLS, or with a query that was
    there before. It asks as `llm.respond` does. records: a dict of id: document."""
    form = {"type": "json_schema", "json_schema": {"name": "next", "schema": FORM}}
    call = llm.call_for(
        lambda completion: json.loads(llm.text_of(completion)),
        {"response_format": form},
        timeout=600,
    )
    calls = one_search(question, find)
    while len(calls) < N_CALLS:
        asked = [each["asked"] for each in calls]
        prompt = NEXT.format(
            passages=as_text(ids_shown(calls), records),
            question=question["question"],
            asked="; ".join(asked),
        )
        [reply] = _replies([prompt], "next search", path, call)
        if (query := reply["query"].strip()) in ("", *asked):
            break
        calls.append({"asked": query, "ids": find(query)})
    return calls


def answer(question, calls, records, path):
    """What the small model answers from the passages of some calls, a text."""
    call = llm.call_for(
        lambda completion: {"text": llm.text_of(completion, may_be_cut=True)},
        {"max_tokens": LONGEST},
        timeout=600,
    )
    passages = as_text(ids_shown(calls), records) or "There are no passages."
    prompt = ANSWER.format(passages=passages, question=question["question"])
    return _replies([prompt], "answer", path, call)[0]["text"].strip()


def _replies(prompts, schema, path, call):
    replies = llm.respond(prompts, schema, path, call, workers=1, by=MODEL)
    if None in replies:
        raise RuntimeError(f"{path} lacks a reply of {MODEL}; set COURSE_LLM=live")
    return replies


def ids_shown(calls):
    """The ids of all calls, in the order in which they were shown, each once."""
    return [*dict.fromkeys(id_ for call in calls for id_ in call["ids"])]


def as_text(ids, records):
    """Passages as a prompt has them: title, and at most LONGEST_PASSAGE words."""
    return "\n\n".join(
        f"{records[id_]['question']}: "
        + " ".join(records[id_]["text"].split()[:LONGEST_PASSAGE])
        for id_ in ids
    )
