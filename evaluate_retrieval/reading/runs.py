"""Runs of other tools: which documents they found for each query, best first."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading import columns, forms, trec
from evaluate_retrieval.reading.columns import Settings, sources_in
from evaluate_retrieval.reading.decoding import decoded
from evaluate_retrieval.reading.listing import suffix_of
from evaluate_retrieval.reading.opening import Table, open_tables, read_table, readers

OF_A_RANKING = [("query_id", "query"), ("document",)]
Runs = dict[str, trec.Ranked]  # by name
LINES = (".trec", ".run", ".txt")  # are never tables


def tables_in(path: Path, settings: Settings) -> list[Table]:
    """The tables of a file in runs/, as they were opened; none for TREC's lines.

    A file of tabs is one where its first line names a query and a document, and JSON
    where it is a list of records."""
    suffix = suffix_of(path)
    if suffix in LINES or suffix not in readers():
        return []
    if suffix == ".tsv":
        header = decoded(path, settings.encoding).partition("\n")[0]
        if not is_run(header.strip("\r").split("\t"), settings):
            return []
    tables = open_tables(path, settings.encoding)
    if suffix == ".json" and not is_run(tables[0].frame, settings):
        return []
    return list(chain(*map(_one_a_seed, tables)))


def _one_a_seed(table):
    """A table of runs with a column seed as one for each: runs of one system."""
    seeds = [name for name in table.frame if str(name).lower() == "seed"]
    if not seeds:
        return [table]
    return [
        replace(table, frame=rows, sheet=f"{table.sheet} seed {seed}".strip())
        for seed, rows in table.frame.groupby(seeds[0], sort=False)
    ]


def is_run(names: Iterable[str], settings: Settings) -> bool:
    """Whether columns of these names hold a query and a document."""
    sources = sources_in(names, settings.names("runs"))
    return all(not sources.keys().isdisjoint(group) for group in OF_A_RANKING)


def read_runs(
    paths: Iterable[Path], tables: Iterable[Table], known: Iterable[Table]
) -> Runs:
    """Runs by the name of their file: dicts of query id: ids, best first.

    paths: see `_read_run`. tables: see `_ranked_by`. known: queries, judgements and
    documents, whose ids and words count. ValueError names two files of one name."""
    none = pd.DataFrame(columns=["query_id", "query", "id", "document"])
    frame = pd.concat([none, *(table.frame for table in known)])
    ids = {*frame[["id", "query_id", "document"]].to_numpy().ravel()}
    texts = frame["query"].dropna().str.strip()
    by_text = dict(zip(texts, frame["query_id"].dropna(), strict=True))
    rankings = [(path, "", _read_run(path, ids)) for path in paths]
    rankings += [(each.path, each.sheet, _ranked_by(each, by_text)) for each in tables]
    runs = {}
    places = {}
    for path, sheet, ranking in rankings:
        name = f"{Path(path.name.removesuffix('.gz')).stem} {sheet}".strip()
        if name in runs:
            problem = f"{places[name]} is a run of this name, too"
            raise utils.InputError(path, problem, advice="rename one")
        places[name] = path
        runs[name] = ranking
    return runs


def _ranked_by(table, by_text):
    """The rankings of a table in our columns: a dict of query id: ids, best first.

    The highest score is best, else the lowest rank, else the first row. by_text: the
    id of each query, by its words. ValueError names a row whose number is none."""
    rows = table.frame
    of_words = rows["query"].str.strip().map(lambda words: by_text.get(words, words))
    ids = rows["query_id"].mask(rows["query_id"] == "", of_words)
    numbers = {}
    for name in ("rank", "score"):
        has_none = (rows[name].str.strip() == "").all()
        texts = rows[name].map(lambda text: columns.number_in(text, {}))
        numbers[name] = pd.to_numeric("0" if has_none else texts, errors="coerce")
        wrong = pd.Series(numbers[name], rows.index).isna()
        utils.fail_if_any(rows, wrong, name, table.path, "is no number")
    if (rows["score"].str.strip() == "").all():
        numbers["score"] = -numbers["rank"]
    ranked = rows[["document"]].assign(query_id=ids, **numbers)
    by_query = trec.by_score(ranked, table.path)
    # a row without a document says that nothing was found
    return {id_: list(filter(None, listed)) for id_, listed in by_query.items()}


def _read_run(path, ids=()):
    """The rankings of a run, a dict of query id: ids, best first.

    JSON has {query: {document: score}}, or lists of ids; for all else, and for
    ids, see `trec.read_trec_run`."""
    if suffix_of(path) != ".json":
        return trec.read_trec_run(path, ids)
    try:
        content = read_table(path).iloc[0].to_dict()
        values = forms.pairs_of(content)
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        problem = 'not a run: {"query": {"document": score}}'
        raise utils.InputError(path, f"{problem}: {error}") from error
    of_dicts = [name for name, found in content.items() if isinstance(found, Mapping)]
    is_scored = values["query_id"].isin(of_dicts)
    scores = trec.as_scores(values[is_scored], "grade", path, may_be_unsorted=True)
    if (scores != values.loc[is_scored, "grade"]).any():
        warning = "1, 2, 3 … in the order of the file, so they are read as ranks"
        warnings.warn(f"{path}: its numbers are {warning}, not as scores", stacklevel=2)
    values.loc[is_scored, "grade"] = scores
    values = values.sort_values("grade", ascending=False, kind="stable")
    return values.groupby("query_id")["document"].agg(list).to_dict()
