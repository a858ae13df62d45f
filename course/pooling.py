"""What to judge: queries of a log, and a pool of results. And what nobody judged: two
estimates without it, and a model's grades.

A column `drawn` says why a pair was judged: "pool" or "next"."""

import warnings

import numpy as np
import pandas as pd

from course import corpus, llm, utils

PROMPT = """Somebody types a query into a search engine. Say whether the document is relevant.
Answer with one digit alone: 1 if it is, 0 if it is not.

document: {document}

query: {query}"""  # noqa: E501


# --- Queries of a log, and a pool of their results -----------------------------------


def strata(lines):
    """The different queries of a log, most frequent first, as they were typed first.

    Columns: question, lines (how often it was typed) and kind. The *tail* was
    typed once; the *head* are the most frequent ones, with about half of the
    other lines; the *middle* is the rest. Upper and lower case are the same
    query."""
    typed = pd.Series(lines, dtype=str).str.strip()
    typed = typed[typed != ""]
    spellings = typed.groupby(typed.str.lower())  # "Exit 137" is "exit 137"
    table = spellings.agg(question="first", lines="size").reset_index(drop=True)
    table = table.sort_values(
        ["lines", "question"], ascending=[False, True], ignore_index=True
    )

    often = table["lines"] > 1
    # how many lines have the queries that were typed more often?
    together = table.groupby("lines")["lines"].sum()[::-1]
    before = table["lines"].map(together.cumsum() - together)
    in_head = before < table.loc[often, "lines"].sum() / 2
    kinds = np.select([~often, in_head], ["tail", "head"], "middle")
    return table.assign(kind=kinds)


def sample_log(table, n_each, course, seed=1):
    """Up to n_each queries of each stratum, in random order, with an id.

    table: see `strata`. The order is random, so it does not give the stratum
    away."""
    shuffled = table.sample(frac=1, random_state=seed)
    sample = shuffled.groupby("kind").head(n_each)
    ids = [f"log{number:03d}" for number in range(len(sample))]
    return sample.assign(course=course, query_id=ids)


def pool(queries, searches, k=10, seed=1):
    """Pairs to judge: for each query the first k of all searches, in random order.

    searches: a dict of name: search function. A DataFrame with the columns
    corpus.TO_JUDGE: without ranks, and without the name of a search."""
    rankings = [utils.run_search(queries, search, k) for search in searches.values()]
    pools = []
    for of_query in zip(*rankings, strict=True):
        pools.append(sorted(set().union(*of_query) - {""}))
    pairs = queries.rename(columns={"question": "query"}).assign(document=pools)
    pairs = pairs.explode("document").dropna(subset="document")
    pairs = pairs.assign(drawn="pool")[corpus.TO_JUDGE]
    pairs = pairs.sample(frac=1, random_state=seed)
    return pairs.sort_values("query_id", kind="stable", ignore_index=True)


# --- What nobody judged --------------------------------------------------------------


def graded(pairs, documents, path):
    """P(relevant) of each pair by a language model, an array; NaN where none is known.

    It asks as `llm.respond` does: live, or as recorded beside path. A warning
    counts those for which the model named no digit; over 5 % of all they are a
    RuntimeError."""
    texts = {d["id"]: corpus.heading_and_text(d) for d in documents}
    prompts = []
    for id_, query in zip(pairs["document"], pairs["query"], strict=True):
        prompts.append(PROMPT.format(document=texts[id_], query=query))
    call = llm.judge_call(among="01", timeout=600)
    try:
        responses = llm.respond(prompts, "digit", path, call)
    except RuntimeError as error:
        responses = llm.recorded_responses(prompts, "digit", path)
        if responses.count(None) > 0.05 * len(responses):
            raise
        count = f"{responses.count(None)} of {len(responses)} pairs"
        warnings.warn(f"{count} have no grade: {error}", stacklevel=2)
    return np.array([llm.p_of(r) if r else np.nan for r in responses])


def condensed(rankings, documents):
    """The rankings without what nobody judged, in order: (n_queries, depth).

    A place without a document stays. documents: for each query a dict of id: grade."""
    rankings = np.asarray(rankings, dtype=object)
    rows = zip(rankings.tolist(), utils.qrels_of(documents), strict=True)
    kept = [[id_ for id_ in row if id_ in qrel or not id_] for row, qrel in rows]
    return utils.pad(kept, rankings.shape[1])


def two_estimates(ground_truth, rankings, k=10, by="ndcg"):
    """Two estimates of a metric at k, and the share of the first k that was judged.

    The columns of `utils.score`, as it is: they usually underrate a search that
    brings documents that nobody judged. condensed: the metric `by` without
    them, refilled from below; it usually overrates such a search. So the
    rankings should be deeper than k, 100 say. With all documents judged, the
    figure may lie outside the two (notebook 13). A DataFrame, a row for each
    query."""
    qrels = utils.qrels_of(utils.right_answers(ground_truth))
    rows = zip(rankings, qrels, strict=True)
    judged = [[id_ in qrel for id_ in row[:k] if id_] for row, qrel in rows]
    return utils.score(ground_truth, rankings, k).assign(
        condensed=utils.score(ground_truth, condensed(rankings, qrels), k)[by],
        judged_at_k=[np.mean(row) if row else np.nan for row in judged],
    )
