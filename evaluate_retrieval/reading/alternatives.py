"""Alternatives: documents that answer alike, as a person or their texts say.

One is enough: a group is one document under several names, and counts once, see
`metric.under_one_name`."""

from collections import Counter, defaultdict
from collections.abc import Mapping

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading import corpus
from evaluate_retrieval.reading.columns import sources_in
from evaluate_retrieval.reading.opening import Table

COLUMN = "alternatives"  # of judgements: a label of the group; of queries: a dict
UNSURE = "group"  # is called so, but may as well say of which kind a query is


def names_that_hold(table: Table, names: Mapping[str, str]) -> dict[str, str]:
    """The names of our columns, without COLUMN where nothing of the table is that.

    A column UNSURE counts where it groups documents of a query. ValueError where it
    says one thing of each query, and the same of several: then it may be a column of
    queries. columns.toml, or the name COLUMN, makes it certain."""
    sources = sources_in(table.frame, names)
    source = sources.get(COLUMN, "")
    of_query = [sources[name] for name in ("query_id", "query") if name in sources]
    is_certain = source.lower() != UNSURE or " or " not in names[COLUMN]
    if is_certain or not of_query:
        return dict(names)
    rows = table.frame.astype(object).fillna("").astype(str)
    rows = rows[rows[source].str.strip() != ""]
    if not rows.duplicated([*of_query, source]).any():
        return {ours: theirs for ours, theirs in names.items() if ours != COLUMN}
    by_query = rows.groupby(of_query)[source]
    labels = by_query.first()
    if (by_query.nunique() == 1).all() and labels.duplicated().any():
        shown = rows[[*of_query, source]].head(3).to_dict("records")
        raise ValueError(
            f"{table.path}: the column {source} is the same in all rows of a query, "
            f"and of several queries, as in {shown}. If one document of a group is "
            f'enough, call it {COLUMN}, or write [judgements] {COLUMN} = "{source}" '
            "into columns.toml; if it says of which kind a query is, give it another "
            "name"
        )
    return dict(names)


def with_one_group_each(graded: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Judgements in which a document of a query is in one group at most; notes.

    Groups that share a document become one. Judgements without any group have no
    column for it."""
    if COLUMN not in graded:
        return graded, []
    labels = graded[COLUMN].str.strip()
    if (labels == "").all():
        return graded.drop(columns=COLUMN), []
    n_shared = 0
    one_label = {}  # of each pair
    rows = graded.assign(**{COLUMN: labels})[labels != ""]
    for query_id, part in rows.groupby("query_id", sort=False):
        by_document = part.groupby("document", sort=False)[COLUMN].unique()
        n_shared += sum(len(names) > 1 for names in by_document)
        pairs = ((names[0], name) for names in by_document for name in names)
        first = corpus.linked(pairs)
        for document, names in by_document.items():
            one_label[query_id, document] = first[names[0]]
    pairs = zip(graded["query_id"], graded["document"], strict=True)
    graded = graded.assign(**{COLUMN: [one_label.get(pair, "") for pair in pairs]})
    if not n_shared:
        return graded, []
    note = f"{n_shared:,} documents are in several groups of alternatives of a query"
    return graded, [f"{note}: such groups count as one"]


def alternatives_of(
    graded: pd.DataFrame, twins: Mapping[str, list[str]]
) -> tuple[dict[str, dict[str, str]], list[str]]:
    """The alternatives among the judgements of each query, and notes that count them.

    A dict of query id: a dict of id: the id that names its group. They are documents of
    one group, or with one text, see `joining.twins_of`, whose grade is above 0."""
    rows = graded.assign(**{COLUMN: graded.get(COLUMN, "")})
    is_twin = rows["document"].isin(list(twins))
    rows = rows[(rows[COLUMN] != "") | is_twin]
    rows = rows.drop_duplicates(["query_id", "document"])
    relevant = rows[rows["grade"] > 0]
    named = {
        query_id: names
        for query_id, part in relevant.groupby("query_id", sort=False)
        if (names := _names_in(part, twins))
    }
    pairs = zip(relevant["query_id"], relevant["document"], strict=True)
    names = [named.get(query_id, {}).get(id_, "") for query_id, id_ in pairs]
    relevant = relevant.assign(name=names)
    groups = relevant[relevant["name"] != ""].groupby(["query_id", "name"])
    sizes = groups.size()[groups[COLUMN].max() != ""]
    n_differ = (groups["grade"].nunique() > 1).sum()
    n_none = ((rows["grade"] == 0) & (rows[COLUMN] != "")).sum()
    notes = {
        f"{len(sizes):,} groups of alternatives, {sizes.sum():,} documents: one of a "
        "group is enough, and a group counts as one document": len(sizes),
        f"{n_differ:,} groups of alternatives, or of documents with one text, have "
        "several grades: the highest counts": n_differ,
        f"{n_none:,} documents of groups have grade 0, and are no alternatives": n_none,
    }
    return named, [note for note, n in notes.items() if n]


def _names_in(part, twins):
    """The alternatives of one query: a dict of id: the id that names its group."""
    groups = defaultdict(list)
    for document, label in zip(part["document"], part[COLUMN], strict=True):
        if label:
            groups["label", label].append(document)
        if document in twins:
            groups["text", twins[document][0]].append(document)
    pairs = ((ids[0], id_) for ids in groups.values() for id_ in ids)
    names = corpus.linked(pairs)
    sizes = Counter(names.values())
    return {id_: name for id_, name in names.items() if sizes[name] > 1}


def with_alternatives(
    queries: utils.Queries, named: Mapping[str, dict[str, str]]
) -> utils.Queries:
    """Queries with the column COLUMN, a dict of id: the id of its group, for each.

    Without any alternatives there is no such column. named: by query id."""
    if not named:
        return queries
    alternatives = [named.get(query_id, {}) for query_id in queries["query_id"]]
    return queries.assign(**{COLUMN: alternatives})
