"""Which queries ask for the same thing, a need; no name of theirs decides it.

Queries are one need if they share a label, a conversation, or a need that was frozen
in the folder. The others are one if their best documents overlap, see `Limits`:
paraphrases have the same answers. What is linked through others is one need, too.

Queries without a label or a conversation join those that have one only together, and
only where they overlap with one such need: a label is what a person said, so no
document links two labels. docs/evidence/needs.md says why these limits."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from unicodedata import normalize

import numpy as np
import pandas as pd
import scipy  # loads its parts when they are used

from evaluate_retrieval import utils
from evaluate_retrieval.reading.files import text_hash

STATED = ["need", "conversation"]  # columns of what a person said of a query
AT_ONCE = 500  # queries, each with all others
LONGEST_NEED = 60  # characters of a text that is a name
ROUNDING = 1e-9
OPEN = -1  # of a query without a need so far


@dataclass(frozen=True)
class Limits:
    """When two queries ask for the same, by their best documents.

    share: of the smaller set, which both have at least. near: of the queries that
    share so much with one of the two, the part that does with both, at least: else
    paraphrases are a chain, as soon as a page answers two needs. A document that
    is best for more than `few` queries, and for more than the part `many` of those
    that have one, says nothing of a query, and is left out."""

    share: float = 0.5
    near: float = 0.5
    few: int = 10
    many: float = 0.1


LIMITS = Limits()


# --- Needs -------------------------------------------------------------------


def needs_of(
    queries: utils.Queries,
    qrels: Sequence[utils.Qrel],
    frozen: Mapping[str, str] | None = None,
    limits: Limits = LIMITS,
) -> pd.Series:
    """The need of each query, a Series of texts.

    queries: a DataFrame with query_id, question, and where they are known need and
    conversation, texts that may be "". qrels: a dict of id: grade for each.
    frozen: a dict of query id: need, which is kept. A need is called by what was
    frozen, else by its label, its conversation, or a text: see `name_of`."""
    queries = queries.reset_index(drop=True)
    columns = ["query_id", "question", *STATED]
    queries = queries.reindex(columns=columns, fill_value="")
    stated = [queries[name] for name in STATED]
    known = frozen or {}
    kept = pd.Series([known.get(id_, "") for id_ in queries["query_id"]], dtype=str)
    codes = pd.factorize(kept.where(kept != "", None))[0]
    codes = _joined(codes, _same(stated))
    is_stated = (kept != "") | (stated[0] != "") | (stated[1] != "")
    codes = np.where(is_stated, codes[: len(queries)], OPEN)
    codes = _joined(codes, _overlaps(qrels, limits))
    return _called(codes, [kept, *stated, queries["question"].map(name_of)])


def as_compared(question: str) -> str:
    """A question without what two spellings differ in: blanks, and small letters."""
    return " ".join(normalize("NFKC", question).lower().split())


def name_of(question: str) -> str:
    """What a need is called by the text of a question: no id is in it.

    A need takes the smallest of its queries, and a fold the hash of its name:
    so what is added to a need may move this need, but no other one."""
    name = as_compared(question)
    if len(name) > LONGEST_NEED:
        name = f"{name[: LONGEST_NEED - 10]}… {text_hash(name)[:8]}"
    return name or "no text"


def best_documents(qrel: utils.Qrel) -> list[str]:
    """The documents of the highest grade, if it is above 0."""
    top = max(qrel.values(), default=0)
    return [document for document, grade in qrel.items() if grade == top > 0]


def _overlaps(qrels, limits):
    """Which queries ask for the same, see `Limits`: a sparse matrix of queries."""
    best = list(map(best_documents, qrels))
    rows = np.repeat(np.arange(len(best)), list(map(len, best)))
    columns = pd.factorize(np.array(list(chain(*best)), dtype=object))[0]
    n_queries = np.bincount(columns)
    most = max(limits.few, limits.many * len(np.unique(rows)))
    is_telling = n_queries[columns] <= most
    told = pd.DataFrame({"row": rows[is_telling], "column": columns[is_telling]})
    # many queries have the same documents: each set is compared once
    sets = told.sort_values("column").groupby("row")["column"].agg(tuple)
    numbers, different = pd.factorize(sets)
    sizes = np.array(list(map(len, different)), dtype=int)
    starts = np.repeat(np.arange(len(different)), sizes)
    ends = np.array(list(chain(*different)), dtype=int)
    table = _links(starts, ends, (len(different), len(n_queries)))
    overlap = _where(
        table,
        table.T,
        sizes,
        lambda both, first, second: (
            both >= limits.share * np.minimum(first, second) - ROUNDING
        ),
    )
    times = np.bincount(numbers, minlength=len(different))
    n_near = overlap @ times
    near = _where(
        (overlap * times).tocsr(),  # an older scipy makes it another kind
        overlap,
        n_near,
        lambda both, first, second: (
            both >= limits.near * (first + second - both) - ROUNDING
        ),
    )
    of_query = _links(sets.index, numbers, (len(best), len(different)))
    return (of_query @ (overlap * near) @ of_query.T).tocsr()


def _where(table, transposed, sizes, is_enough):
    """Which rows of a table share enough: a sparse matrix of rows.

    transposed: the table, or what it is multiplied with. is_enough: a function of
    what two rows share, and of the size of each."""
    transposed = transposed.tocsc()
    n_rows = table.shape[0]
    pairs = [np.empty((2, 0), dtype=int)]
    # a document of a tenth of the queries has many pairs: so many rows at once
    for start in range(0, n_rows, AT_ONCE):
        shared = (table[start : start + AT_ONCE] @ transposed).tocoo()
        rows = shared.row + start
        enough = is_enough(shared.data, sizes[rows], sizes[shared.col])
        pairs.append(np.array([rows[enough], shared.col[enough]]))
    starts, ends = np.hstack(pairs)
    return _links(starts, ends, (n_rows, n_rows))


def _links(rows, columns, shape):
    """A sparse matrix with 1 at these places."""
    return scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape)


def _same(stated):
    """What queries share: a sparse matrix of queries, and then of what they have.

    stated: Series of texts; "" is nothing to share."""
    n = len(stated[0])
    rows = []
    columns = []
    for values in stated:
        codes = pd.factorize(values.where(values != "", None))[0]
        has_one = np.flatnonzero(codes >= 0)
        rows.append(has_one)
        columns.append(codes[has_one] + n)
        n += codes.max(initial=-1) + 1
    links = _links(np.concatenate(rows), np.concatenate(columns), (n, n))
    return links + links.T


def _joined(codes, links):
    """A number for each query: those that have one keep it, others get one.

    codes: as many as links has rows, or fewer: then what follows has none, OPEN.
    Open ones that are linked, also through others, get one number: a new one, or
    that of the others to which they are linked, if these have only one."""
    codes = np.pad(codes, (0, links.shape[0] - len(codes)), constant_values=OPEN)
    is_open = codes == OPEN
    among = links[is_open]
    parts = scipy.sparse.csgraph.connected_components(among[:, is_open])[1]
    others = among[:, ~is_open].tocoo()
    touched = pd.DataFrame(
        {"part": parts[others.row], "code": codes[~is_open][others.col]}
    )
    touched = touched.drop_duplicates().drop_duplicates("part", keep=False)
    only = touched.set_index("part")["code"]
    anew = pd.Series(parts + codes.max(initial=OPEN) + 1)
    result = codes.copy()
    result[is_open] = pd.Series(parts).map(only).fillna(anew).astype(int)
    return result


def _called(codes, names):
    """A name for each number: the first of some Series that has one, a text.

    Of several the smallest; one that is taken is numbered, see `unnumbered`."""
    table = pd.concat([pd.DataFrame({"code": codes, "name": name}) for name in names])
    table["rank"] = np.repeat(np.arange(len(names)), len(codes))
    table = table[table["name"] != ""].sort_values(["rank", "name"])
    table = table.drop_duplicates("code")
    while (n_before := table.groupby("name").cumcount()).any():
        numbered = table["name"] + "~" + (n_before + 1).astype(str)
        table["name"] = table["name"].mask(n_before > 0, numbered)
    return pd.Series(codes).map(table.set_index("code")["name"])


def unnumbered(name: str) -> str:
    """The name of a need without the number that tells it from another one's."""
    return re.sub(r"~\d+$", "", name)
