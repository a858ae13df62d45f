"""TREC's files: runs and qrels, as other tools read and write them."""

import re
import shutil
from collections import Counter
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd

import utils
from course import corpus

LONGEST_NAME = 100  # bytes of the name of a file, which a disk limits to 255


# --- TREC's files ------------------------------------------------------------


def query_ids(queries):
    """The id of each query: query_id, or a hash of question, course, documents.

    A new query changes no other's id. A repeated row gets "-2", then "-3"."""
    if "query_id" in queries:
        return list(queries["query_id"])
    ids, times = [], Counter()
    for question, course, document in queries[utils.GROUND_TRUTH_COLUMNS].to_numpy():
        wanted = [document] if isinstance(document, str) else sorted(document)
        id_ = "g" + corpus.short_hash("\n".join([question, course, *wanted]))
        times[id_] += 1
        ids.append(f"{id_}-{times[id_]}" if times[id_] > 1 else id_)
    return ids


def file_name(search):
    """The name of a search as that of a file; see `file_names` for several."""
    return re.sub(r"[^\w.+^=-]+", "-", search)


def file_names(searches):
    """The name of each search as that of a file, a dict.

    Where several would get one name, as "v 1" and "v-1", each gets a hash, too. So does
    one that is cut, see LONGEST_NAME."""
    names = {search: file_name(search) for search in searches}
    times = Counter(name.lower() for name in names.values())  # some disks see no case
    for search, name in names.items():
        short = name.encode()[:LONGEST_NAME].decode(errors="ignore")
        if times[name.lower()] > 1 or short != name:
            names[search] = f"{short}-{corpus.short_hash(search)}"
    return names


def write_trec(folder, kind, queries, rankings):
    """Write runs/KIND/NAME.trec for each search, and qrels-KIND.trec.

    queries: a DataFrame with document (an id, or a dict of id: grade), and
    with query_id or question and course. rankings: dict of search: ids, (n,
    k). TREC's grades are whole: where some have a fraction all are multiplied,
    which leaves nDCG as it is. Raises ValueError for an id with a space."""
    asked = query_ids(queries)
    runs = Path(folder) / "runs" / kind
    shutil.rmtree(runs, ignore_errors=True)
    runs.mkdir(parents=True)
    qrels = utils.qrels_of(utils.right_answers(queries))
    factor = _whole_factor(grade for qrel in qrels for grade in qrel.values())
    lines = []
    for query_id, qrel in zip(asked, qrels, strict=True):
        for id_, grade in qrel.items():
            lines.append(f"{query_id} 0 {id_} {round(factor * grade)}")
    _write(Path(folder) / f"qrels-{kind}.trec", lines, 4)
    names = file_names(rankings)
    for search, ranking in rankings.items():
        name, lines = names[search], []
        for query_id, ids in zip(asked, ranking, strict=True):
            last = max((rank for rank, id_ in enumerate(ids, 1) if id_), default=0)
            placed = enumerate(ids[:last], start=1)
            # trec_eval sorts by score, and counts lines: a line without a document, too
            found = dict.fromkeys(id_ or f"no-document-{rank}" for rank, id_ in placed)
            for rank, id_ in enumerate(found, start=1):
                lines.append(f"{query_id} Q0 {id_} {rank} {1 / rank} {name}")
        _write(runs / f"{name}.trec", lines, 6)


def _whole_factor(grades):
    """The power of ten, 1,000 at most, that makes the grades whole numbers."""
    grades = np.array([*grades], dtype=float)
    for factor in (1, 10, 100):
        if np.allclose(factor * grades, np.round(factor * grades)):
            return factor
    return 1_000


def _write(path, lines, n_columns):
    for line in lines:
        if len(line.split()) != n_columns:
            raise ValueError(f"{path}: TREC's format takes no id with a space: {line}")
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def read_run(path):
    """The rankings of a TREC run, a dict of query id: ids by falling score.

    An id may stand twice: see `utils.checked_rankings`."""
    try:
        scored = list(ir_measures.read_trec_run(str(path)))
    except ValueError as error:
        raise ValueError(f"{path}: not a TREC run: {error}") from error
    table = pd.DataFrame(scored, columns=["query_id", "doc_id", "score"])
    table = table.sort_values("score", ascending=False, kind="stable")
    ranked = table.groupby("query_id")["doc_id"]
    return {query_id: list(ids) for query_id, ids in ranked}
