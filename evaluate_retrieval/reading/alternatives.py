"""Alternatives: documents that answer alike, as a person or their texts say.

One is enough: a group is one document under several names, and counts once, see
`metric.under_one_name`."""

from collections import Counter, defaultdict

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading import corpus
from evaluate_retrieval.reading.columns import sources_in
from evaluate_retrieval.reading.opening import Table

Twins = dict[str, list[str]]  # of documents with one text: all ids, by each
COLUMN = "alternatives"  # of judgements: a label of the group; of queries: a dict
GRADED_PAIR = ["query_id", "document"]
UNSURE = "group"  # is called so, but may as well say of which kind a query is


def may_hold(table: Table, names: dict[str, str]) -> bool:
    """Whether the column COLUMN of a table, if it has one, may be of alternatives.

    A column UNSURE counts where it groups documents of a query. ValueError where it
    says one thing of each query, and the same of several: then it may be a column of
    queries. columns.toml, or the name COLUMN, makes it certain."""
    sources = sources_in(table.frame, names)
    source = sources.get(COLUMN, "")
    of_query = [sources[name] for name in ("query_id", "query") if name in sources]
    is_certain = source.lower() != UNSURE or " or " not in names[COLUMN]
    if is_certain or not of_query:
        return True
    rows = table.frame.astype(object).fillna("").astype(str)
    rows = rows[rows[source].str.strip() != ""]
    if not rows.duplicated([*of_query, source]).any():
        return False
    by_query = rows.groupby(of_query)[source]
    labels = by_query.first()
    if (by_query.nunique() == 1).all() and labels.duplicated().any():
        shown = rows[[*of_query, source]].head(3).to_dict("records")
        problem = f"the same in all rows of a query, and of several, as in {shown}"
        advice = (
            f"if one document of a group is enough, call it {COLUMN}, or write "
            f'[judgements] {COLUMN} = "{source}" into columns.toml; if it says of '
            "which kind a query is, give it another name"
        )
        raise utils.InputError(table.path, problem, column=source, advice=advice)
    return True


def with_one_group_each(graded: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Judgements in which a document of a query is in one group at most; notes.

    Groups that share a document become one. Judgements without any group have no
    column for it."""
    if COLUMN not in graded:
        return graded, []
    labels = graded[COLUMN].str.strip()
    if (labels == "").all():
        return graded.drop(columns=COLUMN), []
    graded = graded.assign(**{COLUMN: labels.mask(labels == "")})
    by_pair = graded.groupby(GRADED_PAIR)[COLUMN]
    first = by_pair.transform("first").fillna("")
    # by place: after a list of ids was taken apart the index has a line several times
    is_shared = (by_pair.transform("nunique") > 1).to_numpy()
    shared = graded.assign(first=first.to_numpy())[is_shared].dropna(subset=COLUMN)
    graded = graded.assign(**{COLUMN: first.to_numpy()})
    if shared.empty:
        return graded, []
    one_label = {}
    for query_id, part in shared.groupby("query_id"):
        pairs = zip(part["first"], part[COLUMN], strict=True)
        for label, name in corpus.linked(pairs).items():
            one_label[query_id, label] = name
    pairs = zip(graded["query_id"], first, strict=True)
    names = [one_label.get((query_id, label), label) for query_id, label in pairs]
    n = len(shared.drop_duplicates(GRADED_PAIR))
    note = f"{n:,} documents are in several groups of alternatives of a query"
    return graded.assign(**{COLUMN: names}), [f"{note}: such groups count as one"]


def alternatives_of(
    graded: pd.DataFrame, twins: Twins
) -> tuple[dict[str, dict[str, str]], list[str]]:
    """The alternatives among the judgements of each query, and notes that count them.

    A dict of query id: a dict of id: the id that names its group. They are documents of
    one group, or with one text, see `joining.twins_of`, whose grade is above 0."""
    rows = graded.assign(**{COLUMN: graded.get(COLUMN, "")})
    is_twin = rows["document"].isin(list(twins))
    rows = rows[(rows[COLUMN] != "") | is_twin]
    rows = rows.drop_duplicates(GRADED_PAIR)
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
    return {id_: name for id_, name in sorted(names.items()) if sizes[name] > 1}


def with_copies(
    questions: utils.Queries, twins: Twins
) -> tuple[utils.Queries, list[str]]:
    """Questions with one known document each, of which a copy is as good; notes.

    twins: see `joining.twins_of`. The first of the copies becomes the known document,
    so that all questions on them are one group, and COLUMN has them all."""
    has_copies = questions["document"].isin(list(twins))
    if not has_copies.any():
        return questions, []
    known = [twins.get(id_, [id_])[0] for id_ in questions["document"]]
    # a dict for all questions on a text, which may have ten thousand copies
    by_name = {id_: dict.fromkeys(twins.get(id_, ()), id_) for id_ in {*known}}
    names = [by_name[id_] for id_ in known]
    note = (
        f"{has_copies.sum():,} generated questions have a document that is there "
        "several times: each copy counts as it"
    )
    return questions.assign(document=known, **{COLUMN: names}), [note]


def with_alternatives(
    queries: utils.Queries, named: dict[str, dict[str, str]]
) -> utils.Queries:
    """Queries with the column COLUMN, a dict of id: the id of its group, for each.

    Without any alternatives there is no such column. named: by query id."""
    if not named:
        return queries
    alternatives = [named.get(query_id, {}) for query_id in queries["query_id"]]
    return queries.assign(**{COLUMN: alternatives})
