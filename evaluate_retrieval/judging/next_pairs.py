"""What to judge next, and what to do where there is nothing to decide on."""

import logging
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.judging import pooling
from evaluate_retrieval.measuring import decision
from evaluate_retrieval.reading import corpus, joining, worded
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.searching import built_in, embedding, scoring

log = logging.getLogger(__name__)


def next_to_judge(
    folder: Folder, results: Any, verdict: decision.Decision, n: int = 100
) -> pd.DataFrame:
    """The n results without a grade that tell the leaders apart soonest.

    Columns: corpus.TO_JUDGE. The leaders are the incumbent of the verdict and
    what leaves it undecided; else the chosen search and those that cannot be
    told from it. Empty where judged queries do not decide."""
    kind = folder.decides
    if kind != "judged":
        return pd.DataFrame(columns=corpus.TO_JUDGE)
    leaders = [results.chosen[kind], *decision.undecided(results.gains[kind])]
    if verdict.incumbent and verdict.rivals:
        leaders = [verdict.incumbent, *verdict.rivals]
    rankings = {name: results.rankings[kind][name] for name in leaders}
    k = folder.measures[kind].k
    listed = judge_next(rankings, folder.test[kind], k).head(n)
    log.info("leaders: %s; pairs to judge next: %s", len(leaders), len(listed))
    return listed


def judge_next(
    rankings: Mapping[str, utils.Rankings], queries: utils.Queries, k: int = 10
) -> pd.DataFrame:
    """The results without a grade that tell searches apart, the soonest first.

    rankings: a dict of name: ids, (n_queries, k or more). queries: with
    query_id, question, course, kind, and document, a dict of id: grade. A
    DataFrame with the columns corpus.TO_JUDGE. A grade moves the difference of
    two searches by the difference of what it adds to their DCG@k. A result that
    all show at the same rank changes nothing and is left out (Carterette, Allan
    and Sitaraman 2006)."""
    discounts = 1 / np.log2(np.arange(2, k + 2))
    rows = []
    for number, qrel in enumerate(queries["document"]):
        tops = [list(ranking[number][:k]) for ranking in rankings.values()]
        for id_ in dict.fromkeys(chain(*tops)):
            adds = [discounts[top.index(id_)] if id_ in top else 0 for top in tops]
            moved = max(adds) - min(adds)
            if id_ and id_ not in qrel and moved:
                rows.append((moved, number, id_))
    # stable: pairs that move as much stay in the order of the queries
    rows.sort(key=lambda row: -row[0])
    pairs = queries.iloc[[number for _, number, _ in rows]]
    pairs = pairs.assign(query=pairs["question"], document=[row[2] for row in rows])
    return pairs.assign(drawn="next")[corpus.TO_JUDGE]


def of_answers(folder: Folder, n_each: int = worded.PROPOSED) -> pd.DataFrame:
    """Questions with an answer in words, and the documents most like that: pairs.

    Columns: corpus.TO_JUDGE; drawn is "answer". A question has up to n_each documents:
    those with the answer word by word, then those with at least worded.HALF of its
    words, ranked by BM25 of question and answer. They are guesses, and no grades."""
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
    search = utils.search_by_scores(scores, folder.documents, n_each, above=0)
    nearest = search(asked)
    ids = [
        [id_ for id_ in dict.fromkeys([*verbatim, *row]) if id_][:n_each]
        for verbatim, row in zip(answers["verbatim"], nearest, strict=True)
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
    n_each: int = 20,
) -> pd.DataFrame:
    """What to judge of a folder with queries that nobody judged: a DataFrame of pairs.

    A sample of its queries, n_each of each stratum (see `pooling.sample_log`),
    with the first ten of each search: your own, and unless only_own ours by text,
    and by vectors if their packages are there. A question that was judged keeps
    its id. model: of the vectors, see `built_in.embedded`.
    ValueError where the folder has no queries."""
    if folder.log.empty:
        raise ValueError("no queries to judge: write some into queries.txt")
    log = folder.log
    documents = folder.documents
    log = log.assign(question=log["question"].str.strip()).drop_duplicates("question")
    log["query_id"] = log["question"].map(_ids_of(folder))
    strata = pooling.strata(folder.log["question"])
    sample = pooling.sample_log(strata, n_each, "all")[["question", "kind"]]
    searches = own
    if not only_own:
        vectors = built_in.embedded(documents, model)
        build = built_in.builder(documents, vectors, folder.language)
        ours = {name: build({"vectors": 1, "embedded": name}) for name in vectors}
        searches = {"text": build({"text": 1})} | ours | own
    return pooling.pool(sample.merge(log, on="question"), searches)
