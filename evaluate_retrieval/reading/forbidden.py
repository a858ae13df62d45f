"""Documents that a query, or whoever has a role, must not see: by grades, and by
forbidden.csv."""

from pathlib import Path

import pandas as pd

from evaluate_retrieval import utils

FORBIDDEN_FILE = "forbidden.csv"


def forbidden_of(
    judged: list[pd.DataFrame],
    log: pd.DataFrame,
    ids: dict[str, list[str]],
    table: pd.DataFrame,
    folder: Path,
    below_zero: bool,
) -> tuple[dict[str, set[str]], list[str]]:
    """The documents that a query must not show: by its id a set of ids; and notes.

    judged, log: tables with query_id, question or query, and perhaps role. ids: of each
    document or chunk, the documents that it forbids. table: of the file in a folder,
    whose rows have a document, and a query (its id or its text) or a role: that of many
    queries. below_zero: whether grades below 0 forbid, too. ValueError for a row with
    neither, and for a query or a role that is not there."""
    forbidden = {}
    for graded in judged if below_zero else ():
        rows = graded[graded["grade"].astype(float) < 0]
        for query_id, id_ in zip(rows["query_id"], rows["document"], strict=True):
            forbidden.setdefault(query_id, set()).update(ids.get(id_, [id_]))
    if table.empty:
        return forbidden, []
    path = folder / FORBIDDEN_FILE
    table = table.reindex(columns=["query", "role", "document"], fill_value="")
    names = table[["query", "role"]].apply(lambda column: column.str.strip())
    is_blank = (names == "").all(axis=1)
    utils.fail_if_any(table, is_blank, "query", path, "has no query and no role")
    for column, by_name in _asked([*judged, log]).items():
        is_unknown = (names[column] != "") & ~names[column].isin(list(by_name))
        problem = f"is no {column} of the queries"
        utils.fail_if_any(table, is_unknown, column, path, problem)
        for name, id_ in zip(names[column], table["document"], strict=True):
            for query_id in by_name[name] if name else ():
                forbidden.setdefault(query_id, set()).update(ids.get(id_, [id_]))
    n_unknown = sum(~table["document"].isin(list(ids)))
    note = f"{path.name}: {n_unknown:,} rows are of documents that are not there"
    return forbidden, [note] if n_unknown else []


def _asked(queries):
    """The ids of queries by what a row may call them: their id or text, their role."""
    tables = [table.rename(columns={"query": "question"}) for table in queries]
    columns = ["query_id", "question", "role"]
    rows = pd.concat([pd.DataFrame(columns=columns), *tables])[columns].fillna("")
    rows = rows.drop_duplicates().map(lambda cell: str(cell).strip())
    by_text = rows.groupby("question")["query_id"].agg(set).to_dict()
    by_id = {query_id: {query_id} for query_id in rows["query_id"]}
    by_role = rows.groupby("role")["query_id"].agg(set).to_dict()
    return {"query": by_text | by_id, "role": by_role}
