"""Which pairs are asked first, and of whom.

Queries come in the folder's one random order, and all pairs of one together. Those that
several people judge are dealt: judging/dealt.csv beside the documents keeps who judges
which pair, when it was dealt, and a hash of the text that was shown."""

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.judging import grading
from evaluate_retrieval.reading import corpus, locks
from evaluate_retrieval.reading.files import read_csv
from evaluate_retrieval.reading.joining import PAIR
from evaluate_retrieval.reading.kept import SAMPLE, read_kept
from evaluate_retrieval.reading.listing import KEPT_IN
from evaluate_retrieval.reading.needs import as_compared
from evaluate_retrieval.reading.writing import make_folder, write_table

DEALT = f"{KEPT_IN}/dealt.csv"
DEALT_COLUMNS = [*corpus.TO_JUDGE, "text", "people", "left", "time"]


def in_order(pairs: pd.DataFrame, source: Path) -> pd.DataFrame:
    """Pairs as they are asked: query after query, in the order of the folder source.

    That is the one of its sample, else that of a hash of the texts, as verdicts count
    them. Queries that have an answer in words come first. Within a query a hash gives
    the order, so that no place tells a rank."""
    texts = pairs["query"].map(as_compared)
    sample = read_kept(source, SAMPLE).sample
    places: dict[str, float] = {}
    if sample is not None:
        places = sample.set_index(sample["query"].map(as_compared))["place"].to_dict()
    has_answer = (pairs["drawn"] == "answer").groupby(pairs["query_id"])
    keys = pd.DataFrame(
        {
            "is_later": ~has_answer.transform("any").astype(bool),
            "place": texts.map(places).astype(float).fillna(np.inf),
            "hash": texts.map(corpus.short_hash),
            "query_id": pairs["query_id"],
            "pair": (texts + "\n" + pairs["document"]).map(corpus.short_hash),
        },
        index=pairs.index,
    )
    order = keys.sort_values(list(keys), kind="stable").index
    return pairs.loc[order].reset_index(drop=True)


def deal(
    pairs: pd.DataFrame,
    people: Sequence[str],
    n_each: int,
    before: pd.DataFrame | None = None,
    judged: Collection[tuple[str, str, str]] = (),
) -> pd.DataFrame:
    """Pairs with the columns people, who judges them, as in "ann;ben", and left.

    Each query goes to n_each of the people, in the order of the pairs: to those with
    the fewest pairs so far, and then to those who have judged least with each other. So
    each query is complete before the next ones begin. before: of an earlier deal, see
    `read_dealt`. People keep their queries while they are there, and others take over
    the rest of who has left. judged: query_id, document and person of what was judged,
    which stays theirs. left: who was dealt a pair before, and is no more."""
    had: dict[str, list[str]] = {}
    if before is not None:
        each = before.assign(person=before["people"].str.split(";")).explode("person")
        had = each.groupby("query_id")["person"].unique().map(list).to_dict()
    sizes = pairs.groupby("query_id", sort=False).size()
    loads = dict.fromkeys(people, 0)
    stay = {}
    for query_id, n in sizes.items():
        there = [person for person in had.get(query_id, []) if person in loads]
        stay[query_id] = there[:n_each]
        for person in stay[query_id]:
            loads[person] += n
    together: Counter[frozenset[str]] = Counter()
    chosen = {}
    for query_id, n in sizes.items():
        chosen[query_id] = _next_of(loads, together, n_each, n, stay[query_id])
        for person in chosen[query_id]:
            loads[person] += n * (person not in stay[query_id])
            together.update(frozenset([person, each]) for each in chosen[query_id])
    rows = []
    for query_id, document in pairs[PAIR].to_numpy().tolist():
        ever = list(dict.fromkeys([*had.get(query_id, []), *chosen[query_id]]))
        done = [person for person in ever if (query_id, document, person) in judged]
        now = list(dict.fromkeys([*done, *chosen[query_id]]))[: max(n_each, len(done))]
        left = [person for person in had.get(query_id, []) if person not in now]
        rows.append((";".join(sorted(now, key=ever.index)), ";".join(left)))
    dealt = pd.DataFrame(rows, pairs.index, ["people", "left"], dtype=str)
    return pairs.assign(**dealt)


def _next_of(loads, together, n_each, n, stay):
    """The people who get the next query, of n pairs: a list that begins with stay.

    By load alone the same two would always be last, and judge with nobody else."""
    least = min(loads.values())
    chosen = list(stay)
    while len(chosen) < n_each:
        keys = {
            person: (
                loads[person] > least + n,
                sum(together[frozenset([person, each])] for each in chosen),
                loads[person],
            )
            for person in loads
            if person not in chosen
        }
        chosen.append(min(keys, key=keys.__getitem__))
    return chosen


def hash_of_text(document: utils.Document) -> str:
    """A hash of what is shown of a document."""
    return corpus.short_hash(f"{document['question']}\n{document['text']}")


def with_texts(pairs: pd.DataFrame, documents: utils.Documents) -> pd.DataFrame:
    """Pairs with the column text: a hash of their document, see `hash_of_text`."""
    needed = {*pairs["document"]}
    hashes = {
        document["id"]: hash_of_text(document)
        for document in documents
        if document["id"] in needed
    }
    return pairs.assign(text=pairs["document"].map(hashes))


def read_dealt(source: Path) -> pd.DataFrame:
    """What was dealt in a folder, DEALT_COLUMNS; empty where nothing was."""
    path = source / DEALT
    if not path.is_file():
        return pd.DataFrame(columns=DEALT_COLUMNS, dtype=str)
    needed = [*PAIR, "text", "people"]  # a query may have no kind
    return read_csv(path, needed).reindex(columns=DEALT_COLUMNS, fill_value="")


def keep_dealt(source: Path, dealt: pd.DataFrame) -> None:
    """Add a deal to those of a folder; of a pair that was there the later counts.

    A text that was edited since is another one, and both are kept."""
    path = source / DEALT
    make_folder(path.parent)
    with locks.held(path):
        dealt = dealt.assign(time=grading.now())
        table = pd.concat([read_dealt(source), dealt[DEALT_COLUMNS]])
        table = table.drop_duplicates([*PAIR, "text"], keep="last")
        write_table(table, path)


def of_person(pairs: pd.DataFrame, person: str) -> pd.DataFrame:
    """The pairs that were dealt to a person, as a list to judge has them."""
    people = pairs["people"].str.split(";")
    is_theirs = people.map(lambda names: person in names).astype(bool)
    return pairs.loc[is_theirs, corpus.TO_JUDGE]


def who_judges(pairs: pd.DataFrame, people: Collection[str]) -> list[str]:
    """The people whom pairs were dealt to. people: if any, no others."""
    there = dict.fromkeys(pairs["people"].str.split(";").explode())
    return [name for name in there if not people or name in people]
