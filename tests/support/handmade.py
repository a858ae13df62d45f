"""Queries, searches and folders that several tests make."""

import pandas as pd

import utils
from course import our_data


def ask(*questions, **columns):
    """Queries of one course."""
    return pd.DataFrame({"question": questions, "course": "c", **columns})


def fixed(*rankings):
    """A search function that always returns these rankings."""
    return lambda queries: utils.pad([list(ranking) for ranking in rankings])


def write_part(folder, documents):
    """Write some of our records, and the typed queries that they answer."""
    documents.to_json(folder / "documents-with-ids.json", orient="records")
    judged = pd.read_csv(our_data.FOLDER / "judged-queries.csv", dtype=str)
    judged = judged[judged["document"].isin(documents["id"])]
    judged.to_csv(folder / "judged-queries.csv", index=False)
