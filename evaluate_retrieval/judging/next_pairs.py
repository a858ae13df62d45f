"""What to judge next, and what to do where there is nothing to decide on."""

import logging
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.judging import pooling, sample
from evaluate_retrieval.measuring import decision
from evaluate_retrieval.reading import corpus, joining, kept, worded
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.reading.needs import as_compared
from evaluate_retrieval.searching import built_in, embedding, scoring

MOST_PAIRS = 100  # pairs that a run asks for
log = logging.getLogger(__name__)


def next_to_judge(
    folder: Folder, results: Any, verdict: decision.Decision
) -> pd.DataFrame:
    """The first results without a grade that tell the leaders apart: a DataFrame.

    Columns: corpus.TO_JUDGE, see `judge_next`. The leaders are the incumbent of the
    verdict and what leaves it undecided; else the chosen search and those that cannot
    be told from it. Empty where judged queries do not decide."""
    if folder.decides != "judged":
        return pd.DataFrame(columns=corpus.TO_JUDGE)
    whole = results.whole
    rankings = {
        f"{name} {number}": ids
        for name in leaders_of(results, verdict)
        for number, ids in enumerate(whole.lists_of(name))
    }
    return judge_next(rankings, whole.queries, folder.measure.k).head(MOST_PAIRS)


def leaders_of(results: Any, verdict: decision.Decision) -> list[str]:
    """The searches that a verdict cannot tell apart, see `next_to_judge`: names."""
    if verdict.incumbent and verdict.rivals:
        return [verdict.incumbent, *verdict.rivals]
    if verdict.close:
        return list(verdict.close)
    return [results.chosen, *decision.undecided(results.gains)]


def judge_next(
    rankings: Mapping[str, utils.Rankings], queries: utils.Queries, k: int = 10
) -> pd.DataFrame:
    """The results without a grade that tell searches apart, query after query.

    rankings: a dict of name: ids, (n_queries, k or more). queries: in the order of
    judging, with query_id, question, course, kind, and document, a dict of id: grade. A
    DataFrame with the columns corpus.TO_JUDGE. The order of the queries does not depend
    on what was found: a verdict counts those that are judged completely, so they must
    be no better for one search than for another. In a query the first are those whose
    grade moves the difference of two searches most, by what they add to DCG@k
    (Carterette, Allan and Sitaraman 2006). A result that all show at one rank changes
    hardly anything, and is asked last; of equal lists none is asked."""
    discounts = 1 / np.log2(np.arange(2, k + 2))
    rows = []
    for number, qrel in enumerate(queries["document"]):
        tops = [list(ranking[number][:k]) for ranking in rankings.values()]
        if all(top == tops[0] for top in tops):
            continue
        of_query = []
        for id_ in dict.fromkeys(chain(*tops)):
            adds = [discounts[top.index(id_)] if id_ in top else 0 for top in tops]
            if id_ and id_ not in qrel:
                of_query.append((max(adds) - min(adds), number, id_))
        rows += sorted(of_query, key=lambda row: -row[0])
    rows.sort(key=lambda row: row[0] == 0)
    pairs = queries.iloc[[number for _, number, _ in rows]]
    pairs = pairs.assign(query=pairs["question"], document=[row[2] for row in rows])
    return pairs.assign(drawn="next")[corpus.TO_JUDGE]


def of_answers(folder: Folder) -> pd.DataFrame:
    """Questions with an answer in words, and the documents most like that: pairs.

    Columns: corpus.TO_JUDGE; drawn is "answer". A question has up to worded.PROPOSED
    documents: those with the answer word by word, then those with at least worded.HALF
    of its words, ranked by BM25 of question and answer. They are guesses, and no
    grades."""
    answers = folder.answers
    if answers.empty or not folder.has_texts:
        return pd.DataFrame(columns=corpus.TO_JUDGE)
    shares = worded.shares_of_answers(answers, folder.documents, folder.language)
    by_text = scoring.bm25_scores(folder.documents, language=folder.language)

    def scores(queries: utils.Queries) -> Iterator[utils.Block]:
        for rows, columns, block in by_text(queries):
            yield rows, columns, block * (shares(rows, columns) >= worded.HALF)

    # an answer's words alone may be in all documents: "switch it off, and wait"
    asked = answers.assign(question=answers["query"] + " " + answers["answer"])
    search = utils.search_by_scores(scores, folder.documents, worded.PROPOSED, above=0)
    ids = [
        [id_ for id_ in dict.fromkeys([*verbatim, *row]) if id_][: worded.PROPOSED]
        for verbatim, row in zip(answers["verbatim"], search(asked), strict=True)
    ]
    questions = answers["query"].str.strip()
    strata = pooling.strata(folder.log["question"])
    kinds = dict(zip(strata["question"].str.lower(), strata["kind"], strict=True))
    pairs = answers.assign(
        query_id=questions.map(_ids_of(folder)).fillna(answers["query_id"]),
        query=questions,
        kind=questions.str.lower().map(kinds).fillna("tail"),
        document=ids,
        drawn="answer",
    )
    pairs = pairs.explode("document").dropna(subset="document")
    return pairs[corpus.TO_JUDGE].drop_duplicates(joining.PAIR, ignore_index=True)


def _ids_of(folder):
    """The id of each question: a dict. One that was judged keeps its id."""
    log = folder.log.assign(question=folder.log["question"].str.strip())
    log = log.drop_duplicates("question")
    ids = dict(log[["question", "query_id"]].to_numpy())
    return ids | dict(folder.judgements[["query", "query_id"]].to_numpy())


def to_pool(
    folder: Folder,
    own: Mapping[str, utils.SearchFunction],
    only_own: bool = False,
    model: embedding.Model = None,
    drawn: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """What to judge of a folder with queries that nobody judged: a DataFrame of pairs.

    drawn: its sample, see `sample.sample_of`, or None for a new one. The queries
    come in its order, each with all of its pairs: the first ten of each search,
    your own, and unless only_own ours by text, and by vectors if their packages are
    there. A question that was judged keeps its id. model: of the vectors, see
    `built_in.embedded`.
    ValueError where the folder has no queries."""
    if folder.log.empty:
        advice = "write some into queries.txt"
        raise utils.InputError(problem="no queries to judge", advice=advice)
    if drawn is None:
        drawn = sample.draw(folder.log)
    documents = folder.documents
    log = folder.log.assign(compared=folder.log["question"].map(as_compared))
    # those of the log, which may have lost some
    log = log.drop(columns="kind", errors="ignore").drop_duplicates("compared")
    chosen = drawn[drawn["drawn"]]
    chosen = chosen.assign(compared=chosen["query"].map(as_compared))
    chosen = chosen[["compared", "query", "kind"]].merge(log, on="compared")
    kept.fail_if_none_drawn(chosen, folder.source)
    ids = chosen["query"].map(_ids_of(folder)).fillna(chosen["query_id"])
    queries = chosen.assign(question=chosen.pop("query"), query_id=ids)
    searches = own
    if not only_own:
        vectors = built_in.embedded(documents, model)
        build = built_in.builder(documents, vectors, folder.language)
        ours = {name: build({"vectors": 1, "embedded": name}) for name in vectors}
        searches = {"text": build({"text": 1})} | ours | own
    pairs = pooling.pool(queries, searches)
    places = dict(zip(queries["query_id"], range(len(queries)), strict=True))
    in_place = {"key": lambda ids: ids.map(places), "kind": "stable"}
    return pairs.sort_values("query_id", ignore_index=True, **in_place)
