"""From search results to an answer: the prompt, and where an answer was lost."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from course import llm, our_data
from evaluate_retrieval import utils
from evaluate_retrieval.measuring import intervals

LONGEST_ANSWER = 160  # tokens of an answer
ANSWERED_BY = "qwen2.5-coder-1.5b-instruct-q4_k_m"  # the recorded answers
REFUSAL = "I don't know"
STATES = """Say whether the context states the fact. Answer with one digit alone:
1 if it does, 0 if it does not.

context: {context}

fact: {fact}"""


def prompt_of(question: str, course: str, records: Sequence[utils.Document]) -> str:
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


def load_contexts(folder: Path) -> pd.DataFrame:
    """What a model was shown, from answer-contexts.csv: a DataFrame, a row an answer.

    Columns: query_id, search, records (their ids), question, course, need,
    prompt."""
    documents = {d["id"]: d for d in our_data.load_documents(folder)}

    def records_of(row: Any) -> list[utils.Document]:
        return [documents[id_] for id_ in row.records.split()]

    return with_prompts(folder, "answer-contexts.csv", records_of)


def with_prompts(
    folder: Path, name: str, records_of: Callable[[Any], list[utils.Document]]
) -> pd.DataFrame:
    """A file of what a model was shown, with columns of its query, and the prompt.

    records_of: a function of a row, which returns the records that were shown."""
    queries, _ = our_data.load_judged_queries(folder)
    queries = queries[["query_id", "question", "course", "need"]]
    table = pd.read_csv(folder / name, dtype=str, keep_default_na=False)
    table = table.merge(queries, how="left", validate="many_to_one")
    rows = table.itertuples()
    prompts = [prompt_of(row.question, row.course, records_of(row)) for row in rows]
    return table.assign(prompt=prompts)


def answer_call() -> llm.ModelCall | None:
    """A function for `llm.respond` that asks for an answer; None if not live."""
    return llm.text_call(LONGEST_ANSWER, "answer")


def with_answers(
    rows: pd.DataFrame, folder: Path, live: bool = True, of: str = "answer"
) -> pd.DataFrame:
    """Rows of `load_contexts` with what the model said: columns answer and refuses.

    It asks as `llm.respond` does, live or as recorded in the folder; RuntimeError
    counts the prompts that have no answer. live: False for the recorded answers in any
    case; KeyError for a prompt without one. of: "answer", or "page-answer" for the
    rows of `pages.load_answers`."""
    path = folder / f"recorded-{of}s.jsonl"
    prompts = rows["prompt"].tolist()
    if live:
        options = {"workers": 2, "by": ANSWERED_BY}
        call = answer_call()
        responses = llm.respond_to_all(prompts, "answer", path, call, **options)
    else:
        by_key = llm.load_responses(path)
        responses = [by_key[key] for key in keys_of(prompts)]
    answers = [response["answer"] for response in responses]
    return rows.assign(answer=answers, refuses=list(map(refuses, answers)))


def keys_of(prompts: Iterable[str]) -> list[str]:
    """The keys of the recorded answers to some prompts."""
    return [llm.request_key(ANSWERED_BY, prompt, "answer") for prompt in prompts]


def read_facts(
    rows: pd.DataFrame,
    needed: pd.Series,
    folder: Path,
    reading: str = "first",
    live: bool = True,
    of: str = "answer",
) -> pd.Series:
    """Which facts each answer states: a Series of texts, a character for each fact.

    1 stated, x the contrary stated, 0 neither; NaN where a query needs no
    facts. rows: of `with_answers`. needed: lists of facts, a Series by
    query_id. reading: "first" or "second" of the recorded answers; KeyError
    for an answer without it. Answers of a live model have none: a model says 1
    or 0 (`fact_scores`). live: False where the rows have recorded answers in
    any case. of: as in `with_answers`."""
    needing = rows[rows["query_id"].isin(needed.index)]
    facts = needing["query_id"].map(needed)
    if live and llm.is_live():
        path = folder / "recorded-verdicts.jsonl"
        scores = fact_scores(needing["answer"], facts, path)
        stated = ["".join("01"[int(p >= 0.5)] for p in row) for row in scores]
        return pd.Series(stated, needing.index).reindex(rows.index)
    path = folder / f"{of}-readings.csv"
    readings = pd.read_csv(path, dtype=str, index_col="key")[reading]
    stated = facts.map(lambda row: "0" * len(row))
    # nobody read a refusal: it states nothing
    prompts = needing.loc[needing["answer"] != f"{REFUSAL}.", "prompt"]
    stated[prompts.index] = readings.loc[keys_of(prompts)].to_numpy()
    return stated.reindex(rows.index)


def means(table: pd.DataFrame, groups: pd.Series) -> pd.DataFrame:
    """The mean of each column, with a 95 % interval: difference, low and high.

    table: a row for each query. groups: one label a query
    (`intervals.groups_of`). The columns are those that `plots.forest`
    takes."""
    rows = {}
    for name, values in table.items():
        low, high = intervals.confidence_interval(values, groups)
        rows[name] = {"difference": values.mean(), "low": low, "high": high}
    return pd.DataFrame.from_dict(rows, orient="index")


def gains(
    table: pd.DataFrame, pairs: Iterable[tuple[str, str]], groups: pd.Series
) -> pd.DataFrame:
    """One column of a table minus another: a row for each pair of names.

    table: a row for each query; those where one of the two is NaN are left
    out. groups: one label a query, a Series with the table's index. Columns:
    difference, low, high (95 %) and p, corrected for the number of pairs
    (`intervals.holm`)."""
    rows = {}
    for first, second in pairs:
        gain = (table[first] - table[second]).dropna()
        name = f"{first} minus {second}"
        rows[name] = intervals.difference(gain, groups[gain.index])
    differences = pd.DataFrame.from_dict(rows, orient="index")
    return differences.assign(p=intervals.holm(differences["p"]))


def fact_scores(
    answers: Iterable[str],
    facts: Iterable[list[str]],
    path: Path,
    by: str = llm.RECORDED,
) -> list[np.ndarray]:
    """P(the answer states the fact) by a model: an array for each answer.

    facts: a list for each answer. It asks as `llm.respond` does. Notebook 16
    measures this judge."""
    facts = list(facts)
    prompts = []
    for answer, of_answer in zip(answers, facts, strict=True):
        prompts += [STATES.format(context=answer, fact=fact) for fact in of_answer]
    p = digit_scores(prompts, path, by)
    ends = np.cumsum([len(of_answer) for of_answer in facts])
    return np.split(p, ends)[: len(facts)]


def digit_scores(prompts: list[str], path: Path, by: str = llm.RECORDED) -> np.ndarray:
    """P(1) / (P(0) + P(1)) of the model's digit for each prompt.

    It asks as `llm.respond` does. RuntimeError counts the prompts without
    one."""
    call = llm.judge_call(among="01", timeout=600)
    responses = llm.respond_to_all(prompts, "digit", path, call, by=by)
    return np.array(list(map(llm.p_of, responses)))


def refuses(answer: str) -> bool:
    """Whether an answer says that it does not know."""
    # some models write it with a typographic apostrophe
    return REFUSAL in answer.replace("’", "'")
