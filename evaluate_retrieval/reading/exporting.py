"""Judgements in the forms of other tools, which `forms` and `trec` read back.

graded: `Folder.judgements`, of which query_id, query, document and grade count here."""

import json
from collections.abc import Callable

import pandas as pd

from evaluate_retrieval.reading import trec

BY_TEXT = ["query", "document"]


def _of_quepid(graded, index):
    """Quepid's CSV, which its import of ratings takes."""
    rows = graded[[*BY_TEXT, "grade"]].set_axis(["query", "docid", "rating"], axis=1)
    rows = rows.assign(rating=rows["rating"].map("{:g}".format))
    return rows.to_csv(index=False, lineterminator="\n")


def _of_workbench(graded, index):
    """The body that the workbench of OpenSearch takes: PUT …/judgments."""
    ratings = [
        {
            "query": query,
            "ratings": [
                {"docId": id_, "rating": f"{float(grade)}"}
                for id_, grade in rows[["document", "grade"]].to_numpy()
            ],
        }
        for query, rows in graded.groupby("query", sort=False)
    ]
    content = {"name": index, "type": "IMPORT_JUDGMENT", "judgmentRatings": ratings}
    return _json(content)


def _of_rank_eval(graded, index):
    """A body for _rank_eval of Elasticsearch and OpenSearch, with one template.

    What it asks for in the template is to be replaced by the search that is measured.
    Grades there are whole."""
    factor = trec.whole_factor(graded["grade"])
    match = {"query": "{{question}}", "fields": ["*"], "lenient": True}
    template = {"inline": {"query": {"multi_match": match}}}
    requests = [
        {
            "id": query_id,
            "template_id": "search",
            "params": {"question": rows["query"].iloc[0]},
            "ratings": [
                {"_index": index, "_id": id_, "rating": round(factor * grade)}
                for id_, grade in rows[["document", "grade"]].to_numpy()
            ],
        }
        for query_id, rows in graded.groupby("query_id", sort=False)
    ]
    content = {
        "templates": [{"id": "search", "template": template}],
        "requests": requests,
        "metric": {"dcg": {"k": 10, "normalize": True}},
    }
    return _json(content)


def _of_trec(graded, index):
    """TREC's qrels."""
    rows = graded[["query_id", "document", "grade"]].itertuples(index=False, name=None)
    factor = trec.whole_factor(graded["grade"])
    return "".join(
        trec.qrels_line(query_id, id_, factor * grade) for query_id, id_, grade in rows
    )


def _json(content):
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


# by the name of the form: the file's name, what makes its text, and whether a query is
# its text there, and has no id
EXPORTS: dict[str, tuple[str, Callable[[pd.DataFrame, str], str], bool]] = {
    "quepid": ("quepid.csv", _of_quepid, True),
    "workbench": ("workbench.json", _of_workbench, True),
    "rank-eval": ("rank-eval.json", _of_rank_eval, False),
    "trec": ("qrels.txt", _of_trec, False),
}


def exported(graded: pd.DataFrame, form: str, index: str) -> tuple[str, list[str]]:
    """The judgements in a form of EXPORTS as text, and notes on what it cannot hold.

    index: the name of the index, or of the list of judgements, in their tool."""
    _, write, by_text = EXPORTS[form]
    rows = graded.drop_duplicates(BY_TEXT if by_text else ["query_id", "document"])
    notes = []
    if n := len(graded) - len(rows):
        told = "grades are of a query and a document that stand there already"
        notes.append(f"{n:,} {told}: the first counts")
    factor = 1 if by_text else trec.whole_factor(rows["grade"])
    if factor > 1:
        notes.append(f"grades are whole there: all are multiplied by {factor:,}")
    return write(rows, index), notes
