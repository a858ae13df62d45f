"""What to judge next, and what to do where there is nothing to decide on."""

import logging

import numpy as np
import pandas as pd

from course import corpus, llm, pooling
from evaluate_retrieval import built_in, decision

PAIR_COLUMNS = [*corpus.JUDGED_COLUMNS, "grade"]
log = logging.getLogger(__name__)


def next_to_judge(folder, results, verdict, n=100):
    """The n results without a grade that tell the leaders apart soonest: a DataFrame.

    Columns: corpus.TO_JUDGE. The leaders are the incumbent of the verdict and
    what leaves it undecided; else the chosen search and those that cannot be
    told from it. Empty where judged queries do not decide."""
    kind = folder.decides
    if kind != "judged":
        return pd.DataFrame(columns=corpus.TO_JUDGE)
    rankings, queries = results.rankings[kind], folder.test[kind]
    leaders = [results.chosen[kind]]
    leaders += decision.undecided(results.differences[kind]).index.tolist()
    if verdict.rivals:
        leaders = [verdict.incumbent, *verdict.rivals]
    pairs = pairs_of(rankings, queries)
    ids = {document["id"] for document in folder.documents}
    listed = judge_next(pairs[pairs["document"].isin(ids)], leaders, n)
    log.info("leaders: %s; pairs to judge next: %s", len(leaders), len(listed))
    return listed


def pairs_of(rankings, queries, k=10):
    """Every query with each document that a search has among its first k.

    rankings: a dict of name: ids, (n_queries, k or more). queries: with
    query_id, question, course, kind, and document, a dict of id: grade.
    Returns a DataFrame: the pair, its grade or NaN, and for each search what a
    grade of 1 adds to its DCG@k, 1 / log2(1 + rank), or 0."""
    discounts = 1 / np.log2(np.arange(2, k + 2))
    rows = {}
    for name, ranking in rankings.items():
        for number, ids in enumerate(np.asarray(ranking)[:, :k].tolist()):
            for discount, id_ in zip(discounts, ids, strict=False):
                if id_:
                    rows.setdefault((number, id_), {}).setdefault(name, discount)
    pairs = pd.DataFrame(rows.values(), columns=list(rankings)).fillna(0.0)
    numbers = [number for number, _ in rows]
    shown = queries.iloc[numbers].reset_index(drop=True)
    documents = [id_ for _, id_ in rows]
    qrels = zip(shown["document"], documents, strict=True)
    grades = [qrel.get(id_) for qrel, id_ in qrels]
    shown = shown.rename(columns={"question": "query"})
    shown = shown.assign(document=documents, grade=pd.Series(grades, dtype=float))
    return pd.concat([shown[PAIR_COLUMNS], pairs], axis=1)


def judge_next(pairs, leaders, n=100):
    """The n pairs without a grade that tell the leaders apart soonest.

    pairs: see `pairs_of`. leaders: names of searches. A grade moves the
    difference of two searches by the difference of what it adds to each. A
    result that all leaders show at the same rank changes nothing and is left
    out (Carterette, Allan and Sitaraman 2006)."""
    spread = pairs[leaders].max(axis=1) - pairs[leaders].min(axis=1)
    useful = pairs[pairs["grade"].isna() & (spread > 0)]
    order = spread[useful.index].sort_values(ascending=False, kind="stable")
    first = useful.loc[order.index, corpus.JUDGED_COLUMNS].head(n)
    return first.assign(drawn="next")


def with_proposals(pairs, documents, path):
    """Pairs to judge with what a model proposes: two more columns.

    model_says_relevant: its probability, from 0 to 1. model: its name. They
    are a model's, and nobody's judgements: `judge` does not show them, and no
    figure counts them. path: of the responses, which are kept."""
    says = pooling.graded(pairs, documents, path)
    return pairs.assign(model_says_relevant=says.round(3), model=llm.model())


def to_pool(folder, own, n_each=20):
    """What to judge of a folder with queries that nobody judged: a DataFrame of pairs.

    A sample of its queries, n_each of each stratum (see `pooling.sample_log`),
    with the first ten of each search: by text, by vectors if their packages
    are there, and your own. A question that was judged keeps its id.
    ValueError where the folder has no queries."""
    if folder.log.empty:
        raise ValueError("no queries to judge: write some into queries.txt")
    log, documents = folder.log, folder.documents
    log = log.assign(question=log["question"].str.strip()).drop_duplicates("question")
    judged = dict(folder.judgements[["query", "query_id"]].to_numpy())
    rows = zip(log["question"], log["query_id"], strict=True)
    log["query_id"] = [judged.get(question, id_) for question, id_ in rows]
    strata = pooling.strata(folder.log["question"])
    sample = pooling.sample_log(strata, n_each, "all")[["question", "kind"]]
    vectors = built_in.embedded(documents)
    build = built_in.builder(documents, vectors, folder.language)
    searches = {"text": build({"text": 1})}
    for name in vectors:
        searches[name] = build({"vectors": 1, "embedded": name})
    return pooling.pool(sample.merge(log, on="question"), searches | own)


def advice(folder):
    """What to do where no queries decide, in words.

    With how many calls it takes to let a model write questions."""
    n, n_queries = len(folder.documents), len(folder.log)
    asks = (
        "No queries yet, or none that can decide: judged ones take two needs. "
        "Collect what people type, a line each, in queries.txt beside the documents, "
        "and judge what is found: fifty queries are a start."
    )
    if n_queries:
        asks = (
            f"{n_queries:,} queries, and no judgements that can decide. Judge what is "
            "found for fifty of them."
        )
    return (
        f"{asks} “evaluate-retrieval judge FOLDER” asks in the terminal. Or let a "
        f"model write questions, as notebook 01 does with COURSE_LLM=live: {n:,} calls."
    )
