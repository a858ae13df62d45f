"""From search results to an answer: the prompt, and where an answer was lost.

Notebook 14 shows both."""

import numpy as np
import pandas as pd

import corpus
import llm

LONGEST = 160  # tokens of an answer
REFUSAL = "I don't know"

AGREES = """Say whether the answer gives the help that the reference gives. Answer with one
digit alone: 1 if it does, 0 if it does not.

question: {question}

reference: {reference}

answer: {answer}"""  # noqa: E501

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


def answer_call(client, model):
    """A function for `llm.respond` that asks for an answer to a prompt."""

    def call(prompt):
        completion = client.chat.completions.create(
            model=model,
            messages=[{"role": "user", "content": prompt}],
            max_tokens=LONGEST,
            temperature=0,
        )
        choice, usage = completion.choices[0], completion.usage
        return {
            "answer": choice.message.content.strip(),
            "finish": choice.finish_reason,
            "tokens": [usage.prompt_tokens, usage.completion_tokens],
        }

    return call


def answers_to(prompts, path, by=llm.RECORDED, workers=2):
    """The answer to each prompt, a list of texts. It asks as `llm.respond` does.

    RuntimeError counts the prompts that have none."""
    call = answer_call(*llm.client(timeout=600)) if llm.is_live() else None
    responses = llm.respond(prompts, "answer", path, call, workers, by=by)
    if None in responses:
        count = f"{responses.count(None)} of {len(responses)} prompts have no answer"
        raise RuntimeError(f"{count} in {path}: set COURSE_LLM=live")
    return [response["answer"] for response in responses]


def agreement(table, path, by=llm.RECORDED):
    """P(the answer gives the help of the reference) by a model, an array.

    table: columns question, reference (a text that answers it) and answer. It asks
    as `llm.respond` does. Notebook 15 measures how well such a judge does."""
    columns = table[["question", "reference", "answer"]]
    prompts = [AGREES.format(**row) for row in columns.to_dict("records")]
    call = llm.judge_call(*llm.client(timeout=600)) if llm.is_live() else None
    responses = llm.respond(prompts, "digit", path, call, by=by)
    if None in responses:
        count = f"{responses.count(None)} of {len(responses)} answers are not judged"
        raise RuntimeError(f"{count} in {path}: set COURSE_LLM=live")
    return np.array([llm.p_of(response) for response in responses])


def refuses(answer):
    """Whether an answer says that it does not know."""
    return REFUSAL in answer.replace("’", "'")


def outcomes(queries, rankings, documents, path, k=5):
    """What becomes of each query if a model answers it from its first k results.

    queries, rankings: as for `funnel`. Answers and verdicts are asked as
    `llm.respond` does, live or as recorded at path. Returns a DataFrame with answer,
    p and outcome, as `funnel` takes it. p is by `agreement` with the first of the
    query's best records; it is NaN where there is none, or the answer refuses.
    Without facts an answer is never called wrong where a record answers: it is
    "right" or "none"."""
    record_of = {document["id"]: document for document in documents}
    shown = [[record_of[id_] for id_ in ids[:k] if id_] for ids in rankings.tolist()]
    both = zip(queries["question"], queries["course"], shown, strict=True)
    prompts = [prompt_of(*row) for row in both]
    table = queries[["question"]].assign(answer=answers_to(prompts, path))
    qrels = corpus.qrels_of(corpus.right_answers(queries))
    best = [_best_record(qrel) for qrel in qrels]
    known = np.array([id_ is not None for id_ in best])
    said = ~table["answer"].map(refuses).to_numpy()
    texts = [corpus.heading_and_text(record_of[id_]) if id_ else "" for id_ in best]
    to_judge = table.assign(reference=texts)[known & said]
    table["p"] = np.nan
    table.loc[known & said, "p"] = agreement(to_judge, path)
    table["outcome"] = np.where(said & ~known, "wrong", "none")
    table.loc[table["p"] >= 0.5, "outcome"] = "right"
    return table


def funnel(queries, rankings, k=5, outcomes=None):
    """Where the answer to each query was lost: a Series of stages, in their order.

    queries: a ground truth. The records with a query's best grade answer it;
    without a grade above 0 no record does. rankings: ids,
    (n_queries, depth). The first k are shown to a model. outcomes: what became of
    each query's answer, "right", "wrong", or "none" where it states nothing that is
    needed or refuses; None without a model. ValueError for another outcome."""
    rankings = np.asarray(rankings, dtype=object)
    if outcomes is None:
        outcomes = [None] * len(queries)
    known = {None, "right", "wrong", "none"}
    if unknown := sorted(set(outcomes) - known, key=str):
        raise ValueError(f"funnel: outcome {unknown[0]!r}; expected right, wrong, none")
    qrels = corpus.qrels_of(corpus.right_answers(queries))
    rows = zip(qrels, rankings.tolist(), outcomes, strict=True)
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
        by_outcome = {None: "no record answers it", "none": "refused, rightly"}
        return by_outcome.get(outcome, "answered, though no record does")
    if outcome == "right":
        return "right"
    wanted = {id_ for id_, grade in qrel.items() if grade == best}
    if wanted.isdisjoint(ids):
        return "not among {depth}"
    if wanted.isdisjoint(ids[:k]):
        return "below the first {k}"
    shown = {None: "shown", "wrong": "stated wrongly", "none": "shown, not used"}
    return shown[outcome]
