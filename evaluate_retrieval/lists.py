"""What to judge next, and what to do where there is nothing to decide on."""

from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from minsearch import Index

import utils
from course import (
    answering,
    corpus,
    embedding,
    experiments,
    intervals,
    llm,
    pooling,
    scoring,
)
from evaluate_retrieval import read, report, yours
from evaluate_retrieval.yours import own_searches


def lists_to_judge(data, ours, results, out):
    """What to judge next, and what a model graded: a dict of DataFrames.

    judge_next and judge_random are written into out, too. corrected and answers are
    empty without COURSE_LLM=live."""
    kind = data.decides
    tables = {
        "judge_next": pd.DataFrame(columns=corpus.TO_JUDGE),
        "judge_random": pd.DataFrame(columns=corpus.TO_JUDGE),
        "corrected": pd.DataFrame(),
        "answers": pd.DataFrame(),
    }
    if kind != "judged":
        return tables
    queries, rankings = data.test[kind], results.rankings[kind]
    best, folder = results.chosen[kind], data.folder
    leaders = [best, *report.undecided(results.differences[kind]).index]
    pairs = pooling.pairs_of(rankings, queries)
    n_left = pairs["grade"].isna().sum()
    print(f"{n_left:,} of {len(pairs):,} pairs are not judged; leaders: {len(leaders)}")
    tables["judge_next"] = pooling.judge_next(pairs, leaders)
    corpus.write_table(tables["judge_next"], out / "judge-next.csv")
    log = log_of(folder, data.development, data.documents)
    new = unjudged(log, queries, data.unanswered, folder)
    rest = pairs_with_draw(pairs, leaders, ours.searches, new, folder)
    tables["judge_random"] = random_draw(rest, out / "judge-random.csv")
    print(f"{len(tables['judge_random'])} pairs to judge at random")
    graded = corrected_by_labels(rest, leaders, data.documents, out)
    about = rankings[best], queries, data.unanswered, data.documents
    ended = answered(best, ours.searches[best], *about, folder, out)
    return tables | {"corrected": graded, "answers": ended}


NEW = 200  # queries of a log of which a model grades results
ENOUGH = 20  # labels drawn at random that can correct a model


def n_asked(folder):
    """How many queries the folder's queries.csv has; 0 without the file."""
    path = Path(folder) / read.LOG
    return len(corpus.read_table(path)) if path.exists() else 0


def advice(documents, n_queries=0):
    """What to do where no queries decide, with the price of generated ones.

    n_queries: how many there are that nobody judged."""
    n = len(documents)
    n_letters = sum(len(document["text"]) for document in documents)
    tokens = n_letters / 4 + 250 * n  # with 250 for the prompt
    dollars = (0.15 * tokens + 0.60 * 100 * n) / 1e6
    asks = """No queries yet, or none that can decide: judged ones take two needs.
Collect what people type, a line each, in queries.txt beside the documents, and judge it in
notebook 8: fifty queries are a start."""  # noqa: E501
    if n_queries:
        asks = f"""{n_queries:,} queries, and no judgements that can decide.
Judge what is found for fifty of them in notebook 8, which draws a sample."""
    return f"""{asks} Or let a model write questions, with COURSE_LLM=live
and notebook 1: {n:,} calls, about {tokens:,.0f} tokens in, at the prices of gpt-4o-mini
(0.15 and 0.60 dollars a million tokens in and out) {dollars:.2f} dollars."""


def log_of(folder, development, documents, n=1_000):
    """The first n different queries to compare rankings on.

    Columns: question, course, and the user's own, see `corpus.own_columns`. Of
    queries.csv, if the folder has it; else the queries that choose; else the titles
    of the documents, or what their texts begin with."""
    path, own = Path(folder) / "queries.csv", []
    if path.exists():
        log = pd.read_csv(path, dtype=str, keep_default_na=False)
        own = corpus.own_columns(log)
    elif development:
        log = pd.concat(development.values(), ignore_index=True)
        own = corpus.own_columns(log)
    else:
        log = pd.DataFrame(documents)
        log["question"] = [corpus.heading(document) for document in documents]
    return log[["question", "course", *own]].drop_duplicates().head(n)


# --- With a model, if it is asked for ------------------------------------------


def pairs_to_grade(pairs, leaders, searches, log):
    """The leaders' results for judged queries, and for NEW queries of a log.

    pairs: see `pooling.pairs_of`. searches: a dict of name: search function. Where a
    leader is a run that lacks the log's queries, the log is left out. log: a
    DataFrame of questions and courses that nobody judged."""
    ours = pairs[(pairs[leaders] > 0).any(axis=1)]
    new = log.head(NEW)
    if new.empty or not {*leaders} <= yours.of_queries(searches, new).keys():
        return ours
    ids = "log-" + (new["course"] + new["question"]).map(corpus.short_hash)
    qrels = [{} for _ in ids]
    new = new.assign(query_id=ids, kind=corpus.FROM_LOG, document=qrels)
    found = {name: utils.run_search(new, searches[name], 10) for name in leaders}
    return pd.concat([ours, pooling.pairs_of(found, new)], ignore_index=True)


def log_to_judge(folder, n_each=20):
    """What to judge of a folder in our form with a log, queries.csv.

    Returns a sample, n_each queries of each stratum (see `pooling.sample_log`) with the
    ids and courses of the file; a dict of searches with ten ids each: by text, by
    vectors if their packages are there, and your own; and the documents."""
    documents = corpus.load_documents(folder)
    log = pd.read_csv(folder / "queries.csv", dtype=str, keep_default_na=False)
    log["question"] = log["question"].str.strip()
    # errors before what is long
    yours = own_searches(documents, [log], folder)
    known = log.groupby("question")[["course", "query_id"]].first()
    few = pooling.sample_log(pooling.strata(log["question"]), n_each, "all")
    few[known.columns] = known.loc[few["question"]].to_numpy()
    index = Index(["question", "text", "section"], ["course"]).fit(documents)
    searches = {"text": utils.minsearch_search(index, k=10)}
    if find_spec("sentence_transformers"):
        vectors = embedding.embed(map(corpus.heading_and_text, documents))
        scores = scoring.vector_scores(vectors, documents)
        searches["vectors"] = utils.search_by_scores(scores, documents, k=10)
    return few, searches | yours, documents


def unjudged(log, queries, unanswered, folder):
    """The queries of the folder's queries.csv that are not judged; else none.

    log: see `log_of`. queries, unanswered: the judged ones."""
    if not (Path(folder) / "queries.csv").exists():
        return log.head(0)
    judged = pd.concat([queries, unanswered])["question"]
    columns = ["question", "course", *corpus.own_columns(log)]
    return log.loc[~log["question"].isin(judged), columns]


def pairs_with_draw(pairs, leaders, searches, log, folder):
    """`pairs_to_grade` with how each grade was drawn, see `pooling.how_drawn`.

    Empty where one search leads."""
    if len(leaders) < 2:
        return pd.DataFrame({"grade": [], "drawn": []})
    rest = pairs_to_grade(pairs, leaders, searches, log)
    return pooling.how_drawn(rest, folder)


def random_draw(pairs, path):
    """`pooling.judge_random` where a pair has no grade, else no pair; kept at path."""
    drawn = pd.DataFrame(columns=corpus.TO_JUDGE)
    if pairs["grade"].isna().any():
        drawn = pooling.judge_random(pairs)
    corpus.write_table(drawn, path)
    return drawn


def corrected_by_labels(pairs, leaders, documents, out):
    """DCG@10 of the leaders by a model's grades, corrected: a row for each.

    pairs: see `pairs_with_draw`. The model's grades go to recorded-grades.jsonl in
    out. Empty without live calls, where all pairs have a grade, or with fewer than
    ENOUGH labels of a random draw, which a line says."""
    if not (pairs["grade"].isna().any() and llm.is_live()):
        return pd.DataFrame()
    n_random = (pairs["drawn"] == "random").sum()
    if n_random < ENOUGH:
        print(f"Judge {ENOUGH - n_random} more pairs of judge-random.csv first.")
        return pd.DataFrame()
    print(f"{len(pairs):,} calls of one token each")
    p = pooling.graded(pairs, documents, out / "recorded-grades.jsonl")
    p = np.where(np.isnan(p), np.nanmean(p), p)  # no digit: the model's mean
    labels = pairs["grade"] / pairs["grade"].max()
    rows = {}
    for name in leaders:
        by = pairs[name], p, labels, pairs["query_id"], pairs["drawn"]
        rows[name] = intervals.prediction_powered(*by)
    return pd.DataFrame.from_dict(rows, orient="index")


def answered(name, search, found, queries, unanswered, documents, folder, out):
    """Where the answers of a model are lost: a row of shares, named after the search.

    found: the rankings of the queries, (n_queries, depth); search ranks those without
    an answer. It takes at most 100 of them, drawn with a seed. Facts come from
    answer-facts.csv in the folder (query_id, fact), or else from the model. The
    answers go to answers.csv in out. It is empty without live calls."""
    if not llm.is_live():
        return pd.DataFrame()
    depth = experiments.DEPTH["judged"]
    if len(unanswered) and yours.of_queries({name: search}, unanswered):
        others = utils.run_search(unanswered, partial(search, k=depth), depth)
        queries, found = pd.concat([queries, unanswered]), np.vstack([found, others])
    places = np.random.default_rng(1).permutation(len(queries))[:100]
    drawn, found = queries.iloc[places].reset_index(drop=True), found[places]
    print(f"{len(drawn)} answers, and up to four calls of one token to judge each")
    about, needed, path = drawn, {}, Path(folder) / read.FACTS
    if Path(folder) != corpus.ROOT / "data":
        about = drawn.assign(course="")
    if path.exists():
        table = corpus.read_table(path, ["query_id", "fact"])
        needed = table.groupby("query_id")["fact"].agg(list).to_dict()
    kept = out / "answers.jsonl"
    answers = answering.outcomes(about, found, documents, kept, facts=needed)
    corpus.write_table(answers, out / "answers.csv")
    stages = answering.funnel(drawn, found, became=answers["outcome"])
    shares = stages.value_counts(normalize=True, sort=False)
    return shares[shares > 0].to_frame(name).T
