"""From search results to an answer: the prompt, and where an answer was lost.

Notebook 07 shows both."""

import numpy as np
import pandas as pd
from pydantic import BaseModel, Field

import utils
from course import corpus, llm

LONGEST = 160  # tokens of an answer
REFUSAL = "I don't know"

STATES = """Say whether the context states the fact. Answer with one digit alone:
1 if it does, 0 if it does not.

context: {context}

fact: {fact}"""
NEEDED = """Which facts does a good answer to the question state? List one to four of them, from
the record alone. Write each as one short sentence.

record: {record}

question: {question}"""  # noqa: E501

# Where an answer can be lost, from the corpus to the last word
STAGES = [
    "right",
    "shown",  # without a model nothing more is known
    "stated wrongly",
    "shown, not used",
    "below the first {k}",
    "not among {depth}",
    "refused, rightly",
    "no record answers it",  # without a model nothing more is known
    "answered, though no record does",
]


def prompt_of(question, course, records):
    """The one prompt. The records come first: a longer list begins as a short one.

    course: its name, or "" where the documents are not those of a course."""
    of_course = f" of students of the online course {course}" if course else ""
    parts = [f"You answer questions{of_course}."]
    if records:
        of_course = " of the course's FAQ" if course else ""
        parts.append(f"Use only these records{of_course}:")
    for number, record in enumerate(records, 1):
        parts.append(f"Record {number}: {record['question']}\n{record['text']}")
    parts.append(
        "Answer the question below in one to three sentences. Give the commands and "
        f"names that help. Only if nothing here helps with it, reply: {REFUSAL}."
    )
    parts.append(f"Question: {question}\nAnswer:")
    return "\n\n".join(parts)


def load_contexts(folder=None):
    """What a model was shown, from answer-contexts.csv: a DataFrame, a row an answer.

    Columns: query_id, search, records (their ids), question, course, need, prompt."""
    folder = corpus.data_folder(folder)
    records = {d["id"]: d for d in corpus.load_documents(folder)}
    queries, _ = corpus.load_judged_queries(folder)
    queries = queries[["query_id", "question", "course", "need"]]
    table = pd.read_csv(folder / "answer-contexts.csv", keep_default_na=False)
    table = table.merge(queries, how="left", validate="many_to_one")
    prompts = []
    for row in table.itertuples():
        shown = [records[id_] for id_ in row.records.split()]
        prompts.append(prompt_of(row.question, row.course, shown))
    return table.assign(prompt=prompts)


def answer_call():
    """A function for `llm.respond` that asks for an answer; None if not live."""
    if not llm.is_live():
        return None
    openai, name = llm.client(timeout=600)

    def call(prompt):
        completion = openai.chat.completions.create(
            model=name,
            messages=[{"role": "user", "content": prompt}],
            max_tokens=LONGEST,
            temperature=0,
        )
        return {
            "answer": llm.text_of(completion).strip(),
            "finish": completion.choices[0].finish_reason,
            "tokens": llm.tokens_of(completion),
        }

    return call


def answers_to(prompts, path, by=llm.RECORDED):
    """The answer to each prompt, a list of texts. It asks as `llm.respond` does.

    RuntimeError counts the prompts that have none."""
    responses = llm.respond(prompts, "answer", path, answer_call(), workers=2, by=by)
    responses = _all_of(responses, "prompts have no answer", path)
    return [response["answer"] for response in responses]


class NeededFacts(BaseModel):
    """The facts that an answer to a question needs, by a model."""

    facts: list[str] = Field(min_length=1, max_length=4)


def needed_facts(questions, records, path):
    """What an answer to each question needs, by a model: a list of lists of facts.

    records: a text for each question that answers it. It asks as `llm.ask` does."""
    both = zip(questions, records, strict=True)
    prompts = [NEEDED.format(question=asked, record=text) for asked, text in both]
    found = llm.ask(prompts, NeededFacts, path, timeout=600)
    return [needed.facts for needed in _all_of(found, "questions have no facts", path)]


def fact_scores(answers, facts, path, by=llm.RECORDED):
    """P(the answer states the fact) by a model: an array for each answer.

    facts: a list for each answer. It asks as `llm.respond` does. Notebook 17
    measures this judge."""
    facts = list(facts)
    both = zip(answers, facts, strict=True)
    prompts = [STATES.format(context=a, fact=fact) for a, some in both for fact in some]
    call = llm.judge_call(among="01", timeout=600)
    found = llm.respond(prompts, "digit", path, call, by=by)
    p = [
        llm.p_of(response) for response in _all_of(found, "facts are not judged", path)
    ]
    ends = np.cumsum([len(some) for some in facts])
    return np.split(np.array(p), ends)[: len(facts)]


def _all_of(found, problem, path):
    """The responses; RuntimeError counts those that are missing."""
    if None in found:
        count = f"{found.count(None)} of {len(found)} {problem}"
        raise RuntimeError(f"{count} in {path}: set COURSE_LLM=live")
    return found


def refuses(answer):
    """Whether an answer says that it does not know."""
    return REFUSAL in answer.replace("’", "'")


def outcomes(queries, rankings, documents, path, k=5, facts=None):
    """What becomes of each query if a model answers it from its first k results.

    queries, rankings: as for `funnel`. facts: a dict of query_id: what its answer
    has to state; the model lists those of other queries, from the first of their best
    records. Everything is asked as `llm.respond` does, live or as recorded at path.
    Returns a DataFrame: answer; facts; p, the mean of `fact_scores`, NaN where no
    record answers the query or the answer refuses; and outcome, as `funnel` takes
    it. This judge sees no contradictions: where a record answers the query an
    outcome is "right", from a p of 0.5 on, or "nothing"."""
    record_of = {document["id"]: document for document in documents}
    shown = [[record_of[id_] for id_ in ids[:k] if id_] for ids in rankings.tolist()]
    table = queries[["query_id", "question"]].copy()
    both = zip(table["question"], queries["course"], shown, strict=True)
    table["answer"] = answers_to([prompt_of(*row) for row in both], path)
    qrels = utils.qrels_of(utils.right_answers(queries))
    table["best"] = [_best_record(qrel) for qrel in qrels]
    table["said"] = ~table["answer"].map(refuses)
    judged = table[table["said"] & table["best"].notna()]
    needed = dict(facts or {})
    lacks = judged[~judged["query_id"].isin(needed)]
    texts = [corpus.heading_and_text(record_of[id_]) for id_ in lacks["best"]]
    found = needed_facts(lacks["question"], texts, path)
    needed |= zip(lacks["query_id"], found, strict=True)
    scores = fact_scores(judged["answer"], judged["query_id"].map(needed), path)
    table["facts"] = table["query_id"].map(needed)
    table["p"] = np.nan
    table.loc[judged.index, "p"] = [score.mean() for score in scores]
    wrong, right = table["said"] & table["best"].isna(), table["p"] >= 0.5
    table["outcome"] = np.select([wrong, right], ["wrong", "right"], "nothing")
    return table.drop(columns=["best", "said"])


def funnel(queries, rankings, k=5, became=None):
    """Where the answer to each query was lost: a Series of stages, in their order.

    queries: a ground truth. The records with a query's best grade answer it;
    without a grade above 0 no record does. rankings: ids,
    (n_queries, depth). The first k are shown to a model. became: the outcome of
    each query's answer, "right", "wrong", or "nothing" where it states nothing that
    is needed or refuses; None without a model. ValueError for another outcome."""
    rankings = np.asarray(rankings, dtype=object)
    if became is None:
        became = [None] * len(queries)
    known = {None, "right", "wrong", "nothing"}
    if unknown := sorted(set(became) - known, key=str):
        expected = "expected right, wrong, nothing"
        raise ValueError(f"funnel: outcome {unknown[0]!r}; {expected}")
    qrels = utils.qrels_of(utils.right_answers(queries))
    rows = zip(qrels, rankings.tolist(), became, strict=True)
    stages = [_stage(qrel, ids, k, outcome) for qrel, ids, outcome in rows]
    depth = rankings.shape[1]
    names = {stage: stage.format(k=k, depth=depth) for stage in STAGES}
    found = pd.Categorical(stages, STAGES, ordered=True).rename_categories(names)
    return pd.Series(found, index=queries.index)


def _best_record(qrel):
    """The first record with the best grade, or None where no grade is above 0."""
    best = max(qrel.values(), default=0)
    return next((id_ for id_, grade in qrel.items() if grade == best > 0), None)


def _stage(qrel, ids, k, outcome):
    best = max(qrel.values(), default=0)
    if best <= 0:
        by_outcome = {None: "no record answers it", "nothing": "refused, rightly"}
        return by_outcome.get(outcome, "answered, though no record does")
    if outcome == "right":
        return "right"
    wanted = {id_ for id_, grade in qrel.items() if grade == best}
    if wanted.isdisjoint(ids):
        return "not among {depth}"
    if wanted.isdisjoint(ids[:k]):
        return "below the first {k}"
    shown = {None: "shown", "wrong": "stated wrongly", "nothing": "shown, not used"}
    return shown[outcome]
