"""A folder of documents, queries and judgements, as the command holds it."""

import os
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from course import corpus
from evaluate_retrieval.read import convert, language_of


@dataclass(frozen=True)
class Data:
    """A folder that was read.

    folder: in the course's form. documents: a list of dicts. development, test: dicts
    of the kind of queries. unanswered: judged queries without a relevant document."""

    folder: Path
    documents: list
    development: dict
    test: dict
    unanswered: pd.DataFrame

    @property
    def judged(self):
        """All judged queries with a relevant document, those that choose and report."""
        both = [some["judged"] for some in (self.development, self.test)]
        return pd.concat(both).drop_duplicates("query_id", ignore_index=True)

    @property
    def decides(self):
        """The kind of queries that decides, or None where there are none."""
        return next(reversed(self.test), None)


def read(source, out):
    """Read a folder or file: `Data`. The converted form goes into a folder of out.

    COURSE_DATA names it from then on, and COURSE_LANGUAGE the language that was found,
    unless it is set."""
    folder = convert(source, out / "converted")
    os.environ["COURSE_DATA"] = str(folder)
    documents = corpus.load_documents(folder)
    texts = [document["text"] for document in documents]
    os.environ.setdefault("COURSE_LANGUAGE", language_of(texts))
    return Data(folder, documents, *corpus.load_splits(folder))
