"""The queries that a verdict is about, in the order in which they are judged.

They are drawn once, or all that have a judgement: which of them count must not depend
on whose results were judged first. So a query whose grades are all 0 is one of them,
and so is one of the sample that nobody has judged yet."""

from unicodedata import normalize

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading import kept
from evaluate_retrieval.reading.corpus import short_hash
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.reading.splits import divide


def kind_of(folder: Folder) -> str:
    """Of which kind the judgements of a folder are: of judged.KINDS_OF_JUDGEMENTS.

    What columns.toml says, or what was kept at the first run; else "growing" where
    `judge` has written, "listed" where no grade says that a document is not relevant,
    and "closed"."""
    if first := folder.declared or kept.first_kind(folder.source):
        return first
    if len(folder.sample) or any(folder.source.glob("judgements-*.csv")):
        return "growing"
    relevant = folder.measures["judged"].relevant if folder.measures else None
    is_list = utils.is_relevant(folder.judgements["grade"], relevant).all()
    return "listed" if is_list else "closed"


def estimand(folder: Folder) -> utils.Queries:
    """The queries that a verdict on a folder is about, in the order of judging.

    A DataFrame as folder.test. Of the judged ones all that report, also without a
    relevant document; but where queries were drawn, these alone, with their weights. A
    query that is said to have no answer is none of them: it has no ranking to judge."""
    kind = folder.decides
    queries = folder.test[kind]
    if kind != "judged":
        return queries
    queries = pd.concat([queries, _unanswered(folder)], ignore_index=True)
    sample = folder.sample.set_index("query_id")
    if len(sample):
        queries = queries[queries["query_id"].isin(sample.index)]
        queries = pd.concat([queries, _unjudged(folder, queries)], ignore_index=True)
        queries["weight"] = queries["query_id"].map(sample["weight"])
    places = places_of(queries, folder.sample)
    return queries.iloc[places.argsort(kind="stable")].reset_index(drop=True)


def places_of(queries: utils.Queries, sample: pd.DataFrame) -> pd.Series:
    """Where each query stands in the order of judging: something that can be sorted.

    By the sample; without one by a hash of the text, which no grade changes."""
    if len(sample):
        return queries["query_id"].map(sample.set_index("query_id")["place"])
    return queries["question"].map(hash_of_question)


def hash_of_question(question: str) -> str:
    """A hash of a question, the same for any blanks and small or capital letters."""
    return short_hash(" ".join(normalize("NFKC", question).lower().split()))


def _unanswered(folder):
    """The judged queries without a relevant document, of those that report."""
    queries = folder.unanswered
    if queries.empty:
        return queries
    has_none = queries["document"].map(lambda qrel: "" in qrel)
    queries = queries[~has_none]
    judged = folder.test["judged"]
    if folder.development["judged"] is judged or queries.empty:
        return queries
    whole = pd.concat([judged, folder.development["judged"], queries])
    reporting = divide(whole)[1]["query_id"]
    return queries[queries["query_id"].isin(reporting)]


def _unjudged(folder, queries):
    """The drawn queries that nobody has judged, as rows of queries."""
    sample = folder.sample
    rows = sample[~sample["query_id"].isin(queries["query_id"])]
    rows = rows.assign(
        question=rows["query"], need=rows["query_id"], document=[{} for _ in rows.index]
    )
    log = folder.log.drop_duplicates("query_id").set_index("query_id")
    own = log.columns.difference(rows.columns)
    return rows.join(log[own], "query_id").reindex(columns=queries.columns)
