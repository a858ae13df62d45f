"""The queries that a verdict is about, in the order in which they are judged.

They are drawn once, or all that have a judgement: which of them count must not depend
on whose results were judged first. So a query whose grades are all 0 is one of them,
and so is one of the sample that nobody has judged yet."""

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading import kept
from evaluate_retrieval.reading.corpus import short_hash
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.reading.needs import as_compared
from evaluate_retrieval.reading.splits import divide


def kind_of_judgements(folder: Folder) -> str:
    """Of which kind the judgements of a folder are: of judged.KINDS_OF_JUDGEMENTS.

    What columns.toml says, or what was kept at the first run; else "growing" where
    `judge` has written, "listed" where no grade says that a document is not relevant,
    and "closed"."""
    if first := folder.declared or kept.first_kind(folder.source):
        return first
    if folder.sample is not None or any(folder.source.glob("judgements-*.csv")):
        return "growing"
    relevant = folder.measure.relevant if folder.measure else None
    is_list = utils.is_relevant(folder.judgements["grade"], relevant).all()
    return "listed" if is_list else "closed"


def estimand(folder: Folder) -> utils.Queries:
    """The queries that a verdict on a folder is about, in the order of judging.

    A DataFrame as folder.queries. Of the judged ones all that report, also without a
    relevant document; but where queries were drawn, these alone, with their weights. A
    query that is said to have no answer is none of them: it has no ranking to judge.
    With folder.only_answered those without a relevant document are none, either."""
    queries = folder.queries
    if folder.decides != "judged":
        return queries
    if not folder.only_answered:
        queries = pd.concat([queries, _unanswered(folder)], ignore_index=True)
    texts = queries["question"].map(as_compared)
    if folder.sample is None:
        order = texts.map(short_hash)  # which no grade changes
        return queries.iloc[order.argsort(kind="stable")].reset_index(drop=True)
    # by their texts: ids of a log may change as it grows
    drawn = folder.sample[folder.sample["drawn"]]
    drawn = drawn.set_index(drawn["query"].map(as_compared))
    queries = queries.set_axis(texts)
    unjudged = _unjudged(folder, drawn[~drawn.index.isin(texts)])
    if folder.only_answered:
        unjudged = unjudged[:0]
    queries = pd.concat([queries[texts.isin(drawn.index).to_numpy()], unjudged])
    queries["weight"] = drawn["weight"].reindex(queries.index)
    places = drawn["place"].reindex(queries.index).to_numpy()
    return queries.iloc[places.argsort(kind="stable")].reset_index(drop=True)


def deciding(folder: Folder, with_sealed: bool = False) -> list[utils.Queries]:
    """The tables of queries that verdicts are about; of the sealed ones, too, if asked.

    Empty where no queries decide."""
    folders = [folder, folder.sealed] if with_sealed else [folder]
    return [estimand(each) for each in folders if each and each.decides]


def _unanswered(folder):
    """The judged queries without a relevant document, of those that report."""
    queries = folder.unanswered
    if queries.empty:
        return queries
    has_none = queries["document"].map(lambda qrel: "" in qrel)
    queries = queries[~has_none]
    judged = folder.queries
    if folder.choosing is judged or queries.empty:
        return queries
    whole = pd.concat([judged, folder.choosing, queries])
    reporting = divide(whole)[1]["query_id"]
    return queries[queries["query_id"].isin(reporting)]


def _unjudged(folder, drawn):
    """The drawn queries that nobody has judged, as rows of queries.

    drawn: rows of the sample, by their texts as compared."""
    log = folder.log.set_index(folder.log["question"].map(as_compared))
    log = log[~log.index.duplicated()]
    rows = drawn[drawn.index.isin(log.index)].rename(columns={"query": "question"})
    rows = rows.assign(query_id=log["query_id"].reindex(rows.index))
    rows = rows.assign(need=rows["query_id"], document=[{} for _ in rows.index])
    rows["alternatives"] = [{} for _ in rows.index]
    own = log.columns.difference(rows.columns)
    return rows.join(log[own]).reindex(columns=folder.queries.columns)
