"""A table of a kind gets our columns: documents, golden sets, answers, questions."""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from evaluate_retrieval.reading import columns
from evaluate_retrieval.reading.columns import Settings, sources_in
from evaluate_retrieval.reading.files import read_csv
from evaluate_retrieval.reading.forms import ANSWERED, RIGHT_ANSWERS
from evaluate_retrieval.reading.kinds import QUESTION
from evaluate_retrieval.reading.opening import INDEX, Table

EXPECTED = {  # of a golden set
    "query": QUESTION,
    "document": RIGHT_ANSWERS,
    "query_id": "query_id or qid or id or question_id",
}
OF_A_PAIR = {"document": columns.GRADED["document"]}
IN_WORDS = {  # of questions with an answer in words
    "query": QUESTION,
    "answer": ANSWERED,
    "query_id": "query_id or qid or id",
}


def as_documents(table: Table, settings: Settings) -> Table:
    """A table of documents with our columns.

    The ids of a dump of several indices have the index before them, where they are no
    ids without it."""
    frame = table.frame
    if INDEX in frame:
        if frame["id"].duplicated().any():
            ids = frame[INDEX] + "/" + frame["id"].astype(str)
            table = replace(table, frame=frame.assign(id=ids)).noted(
                f"{table.name}: ids stand in several indices, so index/id is the id, "
                f"as {ids.iloc[0]}"
            )
        table = replace(table, frame=table.frame.drop(columns=INDEX))
    needed = [(name,) for name in {"text": "", **settings.columns.get("documents", {})}]
    return columns.with_our_columns(table, settings.names("documents"), needed)


def expected_in(frame: pd.DataFrame) -> dict[str, str]:
    """The columns of a golden set that count, a dict of theirs: ours."""
    sources = sources_in(frame, EXPECTED)
    sources |= {} if "document" in sources else sources_in(frame, OF_A_PAIR)
    names = {theirs: ours for ours, theirs in sources.items()}
    ours = [name for name in columns.GRADED if name in frame and name not in names]
    return names | {name: name for name in ours}


def with_answer(table: Table) -> Table:
    """Questions with an answer in words: the columns query_id, query and answer."""
    sources = sources_in(table.frame, IN_WORDS)
    frame = table.frame[list(sources.values())].set_axis(list(sources), axis=1)
    frame = frame.astype(object).fillna("").map(columns.joined)
    asked = columns.read_queries(replace(table, frame=frame.drop(columns="answer")))
    return replace(asked, frame=asked.frame.assign(answer=frame["answer"]))


def of_questions(path: Path) -> Table:
    """Generated questions. One that stands in several rows has several documents."""
    frame = read_csv(path, ["question", "document"])
    frame = frame.assign(**{"course": "all", **frame})
    keys = [name for name in frame if name not in ("document", "also")]
    by_question = frame.groupby(keys, sort=False)["document"]
    if (by_question.transform("nunique") == 1).all():
        return Table(path, frame)
    ids = frame["document"] + " " + frame.get("also", "")
    all_ids = ids.groupby([frame[key] for key in keys]).transform(" ".join).str.split()
    is_first = ~frame.duplicated(keys)
    also = [
        " ".join(id_ for id_ in dict.fromkeys(ids) if id_ != document)
        for document, ids in zip(frame["document"], all_ids, strict=True)
    ]
    note = (
        f"{path.name}: {sum(~is_first):,} rows repeat a question with another document"
    )
    table = Table(path, frame.assign(also=also)[is_first])
    return table.noted(f"{note}: one question with several right documents")
