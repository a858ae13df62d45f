"""What to judge next, and what to do where there is nothing to decide on."""

from importlib.util import find_spec

import numpy as np
import pandas as pd
from minsearch import Index

from course import corpus, embedding, llm, pooling, scoring, utils
from evaluate_retrieval import decision


def judge_next(folder, results, n=100):
    """The n results without a grade that tell the leaders apart soonest: a DataFrame.

    Columns: corpus.TO_JUDGE. The leaders are the chosen search and those that cannot be
    told from it. Empty where judged queries do not decide."""
    kind = folder.decides
    if kind != "judged":
        return pd.DataFrame(columns=corpus.TO_JUDGE)
    rankings, queries = results.rankings[kind], folder.test[kind]
    leaders = [results.chosen[kind]]
    leaders += decision.undecided(results.differences[kind]).index.tolist()
    pairs = pooling.pairs_of(rankings, queries)
    ids = {document["id"] for document in folder.documents}
    return pooling.judge_next(pairs[pairs["document"].isin(ids)], leaders, n)


def with_proposals(pairs, documents, path):
    """Pairs to judge with what a model proposes: two more columns.

    model_says_relevant: its probability, from 0 to 1. model: its name. They are a
    model's, and nobody's judgements: `judge` does not show them, and no figure counts
    them. path: of the responses, which are kept."""
    says = pooling.graded(pairs, documents, path)
    return pairs.assign(model_says_relevant=says.round(3), model=llm.model())


def to_pool(folder, own, n_each=20):
    """What to judge of a folder with queries that nobody judged: a DataFrame of pairs.

    A sample of its queries, n_each of each stratum (see `pooling.sample_log`), with the
    first ten of each search: by text, by vectors if their packages are there, and your
    own. ValueError where the folder has no queries."""
    if folder.log.empty:
        raise ValueError("no queries to judge: write some into queries.txt")
    log, documents = folder.log, folder.documents
    log = log.assign(question=log["question"].str.strip())
    columns = log.groupby("question")[["course", "query_id"]].first()
    sample = pooling.sample_log(pooling.strata(log["question"]), n_each, "all")
    sample[columns.columns] = columns.loc[sample["question"]].to_numpy()
    index = Index(["question", "text", "section"], ["course"]).fit(documents)
    searches = {"text": utils.minsearch_search(index, k=10)}
    if find_spec("sentence_transformers"):
        vectors = embedding.embed(map(corpus.heading_and_text, documents))
        scores = scoring.vector_scores(vectors, documents)
        searches["vectors"] = utils.search_by_scores(scores, documents, k=10)
    return pooling.pool(sample, searches | own)


def advice(folder):
    """What to do where no queries decide, in words.

    With how many calls and tokens it takes to let a model write questions."""
    n, n_queries = len(folder.documents), len(folder.log)
    n_letters = np.sum([len(document["text"]) for document in folder.documents])
    tokens = n_letters / 4 + 250 * n  # with 250 for the prompt
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
        f"model write questions, as notebook 01 does with COURSE_LLM=live: {n:,} "
        f"calls, about {tokens:,.0f} tokens in and {100 * n:,} out."
    )
