"""TREC's files: runs and qrels, as other tools read and write them."""

import re
import sys
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from urllib.parse import quote, unquote

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading import corpus, files
from evaluate_retrieval.reading.writing import make_folder, write_text

# Columns of a line of a run, with tabs between them: the fourth and fifth are numbers.
RUN_LINE = r"([^\t]*\t){3}([-+]?(\d+(\.\d*)?|\.\d+)(?i:e[-+]?\d+)?\t){2}[^\t]*"
ROWS_SHOWN = 3
Ranked = dict[str, list[str]]  # of a run: the ids of each query, best first
LONGEST_NAME = 100  # bytes of the name of a file, which a disk limits to 255


def query_ids(queries: utils.Queries) -> list[str]:
    """The id of each query: query_id, or a hash of question, course, documents.

    A new query changes no other's id. A repeated row gets "-2", then "-3"."""
    if "query_id" in queries:
        return list(queries["query_id"])
    ids = []
    times = Counter()
    for question, course, document in queries[utils.GROUND_TRUTH_COLUMNS].to_numpy():
        documents = [document] if isinstance(document, str) else sorted(document)
        id_ = "g" + corpus.short_hash("\n".join([question, course, *documents]))
        times[id_] += 1
        ids.append(f"{id_}-{times[id_]}" if times[id_] > 1 else id_)
    return ids


def file_names(searches: Collection[str]) -> dict[str, str]:
    """The name of each search as that of a file.

    Where several would get one name, as "v 1" and "v-1", each gets a hash, too. So does
    one that is cut, see LONGEST_NAME."""
    able = sys.getfilesystemencoding()  # ASCII with LC_ALL=C
    names = {
        search: re.sub(r"[^\w.+^=-]+", "-", search.encode(able, "replace").decode(able))
        for search in searches
    }
    times = Counter(name.lower() for name in names.values())  # some disks see no case
    for search, name in names.items():
        short = name.encode()[:LONGEST_NAME].decode(errors="ignore")
        if times[name.lower()] > 1 or short != name:
            names[search] = f"{short}-{corpus.short_hash(search)}"
    return names


def quoted(id_: str) -> str:
    """An id as TREC's files have it: blanks and % as in an address, "a b" as a%20b.

    So other tools can read it, whose columns end at blanks."""
    # a byte order mark at the beginning of a file would be none of the id
    return re.sub(r"[\s%\ufeff]", lambda match: quote(match[0]), id_)


def write_trec(
    folder: str | Path,
    kind: str,
    queries: utils.Queries,
    rankings: Mapping[str, utils.Rankings],
    former: Collection[str] = (),
) -> list[Path]:
    """Write runs/KIND/NAME.trec for each search, and qrels-KIND.trec: their paths.

    queries: a DataFrame with document (an id, or a dict of id: grade), and
    with query_id or question and course. rankings: dict of search: ids, (n,
    k). Ids with blanks or % are `quoted`. TREC's grades are whole: where some have a
    fraction all are multiplied, which leaves nDCG as it is. former: paths of an
    earlier run, as seen from the folder: of these no run of this kind stays."""
    ids_of_queries = [quoted(id_) for id_ in query_ids(queries)]
    runs = Path(folder) / "runs" / kind
    make_folder(runs)
    # runs of searches that are gone would be taken for new ones
    for path in former:
        if (Path(folder) / path).parent == runs:
            (Path(folder) / path).unlink(missing_ok=True)
    qrels = utils.qrels_of(utils.right_answers(queries))
    factor = whole_factor(grade for qrel in qrels for grade in qrel.values())
    lines = [
        qrels_line(query_id, id_, factor * grade)
        for query_id, qrel in zip(query_ids(queries), qrels, strict=True)
        for id_, grade in qrel.items()
    ]
    paths = [Path(folder) / f"qrels-{kind}.trec"]
    write_text(paths[0], "".join(lines))
    for search, name in file_names(rankings).items():
        lines = []
        ranking = utils.checked_rankings(rankings[search], len(queries))
        for query_id, ids in zip(ids_of_queries, ranking, strict=True):
            # trec_eval sorts by score, and counts lines: a place without a document is
            # one, too
            for rank, id_ in enumerate(without_end(ids), start=1):
                id_ = quoted(id_) or f"no-document-{rank}"
                lines.append(f"{query_id} Q0 {id_} {rank} {1 / rank} {name}\n")
        paths.append(runs / f"{name}.trec")
        write_text(paths[-1], "".join(lines))
    return paths


def without_end(ids: np.ndarray) -> np.ndarray:
    """A ranking without the empty places at its end; those before keep their ranks."""
    return ids[: max(np.flatnonzero(ids) + 1, default=0)]


def qrels_line(query_id: str, document: str, grade: float) -> str:
    """A line of qrels."""
    return f"{quoted(query_id)} 0 {quoted(document)} {round(grade)}\n"


def whole_factor(grades: Iterable[float]) -> int:
    """The power of ten, 1,000 at most, that makes the grades whole numbers."""
    grades = np.array(list(grades), dtype=float)
    for factor in (1, 10, 100):
        if np.allclose(factor * grades, np.round(factor * grades)):
            return factor
    return 1_000


def read_trec_run(path: Path, ids: Collection[str] = ()) -> Ranked:
    """The rankings of a run, a dict of query id: ids by falling score, then rank.

    Lines are TREC's, or have query, document and a rank or a score, as MS MARCO's,
    see `as_scores`.
    Ids with blanks are `quoted`, or there are tabs between all columns. ids: of
    documents and queries, as another tool may have written them: these stay, and all
    that are none of these are read as quoted. A warning counts lines whose rank gives
    them another place. ValueError names a line that is none of a run. An id may stand
    twice: see `utils.checked_rankings`."""
    rows = []
    is_short = False  # as MS MARCO has them: query, document, and a rank or a score
    for number, line in enumerate(files.read_text(path).split("\n"), start=1):
        tab = "\t" if line.count("\t") in (2, 5) else None
        fields = line.strip("\r").split(tab)
        if len(fields) == 3:
            is_short = True
            fields = [fields[0], "Q0", fields[1], "0", fields[2], ""]
        if fields and not re.fullmatch(RUN_LINE, "\t".join(fields)):
            problem = (
                "not a run: a line is a query, Q0, a document, a rank, a score and a "
                "name, or a query, a document and a rank or a score, with tabs between "
                f"them where ids have blanks: {line!r:.100}"
            )
            raise utils.InputError(path, problem, line=number)
        if fields:
            ours = [id_ if id_ in ids else unquote(id_) for id_ in fields[:3:2]]
            rows.append([*ours, *map(float, fields[3:5])])
    table = pd.DataFrame(rows, columns=["query_id", "document", "rank", "score"])
    if is_short:
        table["score"] = as_scores(table, "score", path)
    return by_score(table, path)


def by_score(rows: pd.DataFrame, path: Path) -> Ranked:
    """The rankings of rows of a run: by falling score, then rank, then their order.

    rows: query_id, document, rank and score. A warning as for `read_trec_run`."""
    # as trec_eval does, whatever the column of ranks says
    by = ["score", "rank"]
    ranked = rows.sort_values(by, ascending=[False, True], kind="stable")
    groups = ranked.groupby("query_id")
    if n := (groups["rank"].diff() < 0).sum():
        warnings.warn(f"{path}: {n:,} lines go by score, not by rank", stacklevel=2)
    return groups["document"].agg(list).to_dict()


def as_scores(
    rows: pd.DataFrame, column: str, path: Path, may_be_unsorted: bool = False
) -> pd.Series:
    """The numbers of a run as scores, whose highest is best: they, or minus ranks.

    rows: query_id, document and the column, in the order of the file. Numbers are ranks
    where those of each query are 0, 1, 2 … or 1, 2, 3 … in this order, and scores where
    they fall, or, with may_be_unsorted, rise and fall. All else may be either:
    ValueError shows both readings."""
    values = rows[column].astype(float)
    by_query = values.groupby(rows["query_id"], sort=False)
    first = by_query.transform("first")
    steps = by_query.diff().fillna(0)
    if (by_query.transform("size") == 1).all() or (steps <= 0).all():
        return values
    if ((values == first + by_query.cumcount()) & first.isin([0, 1])).all():
        return -values
    falls = (steps < 0).groupby(rows["query_id"]).any()
    rises = (steps > 0).groupby(rows["query_id"]).any()
    if may_be_unsorted and (falls & rises).any():
        return values
    name = rises[rises].index[0]
    shown = rows[rows["query_id"] == name].head(ROWS_SHOWN)
    listed = ", ".join(
        f"{id_} {value:g}"
        for id_, value in zip(shown["document"], values[shown.index], strict=True)
    )
    problem = (
        f"ranks or scores? The numbers of query {name} ({listed} …) are not "
        "1, 2, 3 …, and do not fall in the order of the file: as ranks the lowest is "
        "best, as scores the highest"
    )
    advice = "write ranks from 1 on, or the best first with the highest score"
    raise utils.InputError(path, problem, advice=advice)
