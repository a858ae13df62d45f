"""Print how often a test errs, and how wide its interval is, by which rule of needs.

Nothing gains here: the sign of a gain is turned at random, for all queries of a true
need together. What a rule joins wrongly makes intervals wider. What it takes apart
wrongly makes them too narrow. Markdown, for docs/evidence/needs.md."""

import sys
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from course import our_data
from evaluate_retrieval import utils
from evaluate_retrieval.measuring import intervals, metric
from evaluate_retrieval.reading import needs
from evaluate_retrieval.searching import scoring

sys.path.append(str(Path(__file__).parents[1]))  # so that `evidence` is found
from evidence import simulated

SWAPS = 999
RENAMINGS = 40  # of the former rule, which names decide
N_NEEDS = 24
N_WORDINGS = 6
N_SHARED = 56  # pages that answer a wording of two or three needs
N_OWN_PAGES = 120
BETWEEN = 0.18  # standard deviation of the gains of needs, and of wordings of one
WITHIN = 0.09
COLUMNS = ["needs", "worth", "p < 0.05", "p < 0.01", "width"]
CHOSEN = "chosen: share 0.5, near 0.5, 10 and 0.1"
OTHERS = {
    "share 0.34": needs.Limits(share=0.34),
    "share 0.67": needs.Limits(share=0.67),
    "share 1": needs.Limits(share=1),
    "near 0 (chains)": needs.Limits(near=0),
    "near 0.34": needs.Limits(near=0.34),
    "near 0.67": needs.Limits(near=0.67),
    "share 0.67, near 0": needs.Limits(share=0.67, near=0),
    "pages of 5 and 0.05": needs.Limits(few=5, many=0.05),
    "pages of 20 and 0.2": needs.Limits(few=20, many=0.2),
    "no page left out": needs.Limits(many=1),
}
RULES = {CHOSEN: needs.LIMITS} | OTHERS


@dataclass(frozen=True)
class Population:
    """Judged queries, and what one search gains over another on them.

    qrels: a dict of id: grade for each. truth: a number of each one's need.
    gains: (n_queries,), or None: then they are drawn for each need and wording."""

    name: str
    qrels: list[utils.Qrel]
    truth: np.ndarray
    gains: np.ndarray | None = None


# --- Populations -------------------------------------------------------------


def six_wordings(n_needs=N_NEEDS, n_shared=N_SHARED):
    """Needs of six wordings: a page that answers all, and one more for each.

    The other page is also that of a wording of one or two other needs."""
    qrels = []
    for number in range(n_needs * N_WORDINGS):
        need = number // N_WORDINGS
        qrels.append({f"page {need}": 1, f"more {number % n_shared}": 1})
    truth = np.repeat(np.arange(n_needs), N_WORDINGS)
    return Population("six wordings, a page more for each", qrels, truth)


def one_page_for_all(n_queries=N_OWN_PAGES):
    """Queries with a page of their own, and one page that answers all."""
    qrels = [{f"page {number}": 1, "contact": 1} for number in range(n_queries)]
    return Population("one page answers all", qrels, np.arange(n_queries))


def read_population(folder, name):
    """The answered queries of a folder in the course's form, their labels hidden.

    The gain is of BM25 with stems over BM25 without, in nDCG@10. Where nothing is
    labelled, each query is its own need."""
    with warnings.catch_warnings(action="ignore"):  # the command says them
        documents = our_data.load_documents(folder)
        queries, qrels = our_data.load_judged_queries(folder)
        table = pd.read_csv(folder / "judged-queries.csv", dtype=str)
    queries = queries.assign(document=qrels)
    best = queries["document"].map(needs.best_documents)
    queries = queries[best.map(len) > 0].reset_index(drop=True)
    values = []
    for stem in (True, False):
        scores = scoring.bm25_scores(documents, stem=stem)
        search = utils.search_by_scores(scores, documents)
        with warnings.catch_warnings(action="ignore"):  # few share a word
            rankings = utils.run_search(queries, search, 10)
        values.append(metric.two_estimates(queries, rankings)["ndcg"].to_numpy())
    is_labelled = "conversation" in table or table["need"].notna().any()
    truth = queries["need"] if is_labelled else queries["query_id"]
    codes = pd.factorize(truth)[0]
    return Population(name, list(queries["document"]), codes, values[0] - values[1])


# --- Rules -------------------------------------------------------------------


def former_needs(qrels, rng):
    """The rule before: the best document whose name has the smallest hash."""
    documents = sorted({id_ for qrel in qrels for id_ in qrel})
    hashes = dict(zip(documents, rng.permutation(len(documents)), strict=True))
    best = map(needs.best_documents, qrels)
    first = [min(hashes[id_] for id_ in documents) for documents in best]
    return pd.factorize(np.array(first))[0]


def needs_by(qrels, limits):
    """A number of each query's need by limits, nothing else being known."""
    names = [f"q{number}" for number in range(len(qrels))]
    table = pd.DataFrame({"query_id": names, "question": names})
    return pd.factorize(needs.needs_of(table, qrels, limits=limits))[0]


# --- Figures -----------------------------------------------------------------


def drawn_gains(population, rng, n_draws):
    """Gains of which the mean is 0 in the long run, (n_queries, n_draws)."""
    truth = population.truth
    n_needs = truth.max() + 1
    if population.gains is None:
        of_needs = rng.normal(0, BETWEEN, (n_needs, n_draws))
        return of_needs[truth] + rng.normal(0, WITHIN, (len(truth), n_draws))
    signs = rng.choice([-1.0, 1.0], (n_needs, n_draws))
    return population.gains[:, None] * signs[truth]


def figures(codes, gains, rng):
    """What a test says by these needs: a dict of COLUMNS.

    codes: of each query. gains: (n_queries, n_draws)."""
    sizes = np.bincount(codes)
    n = len(sizes)
    worth = n / intervals.design_effect(sizes)
    if n < 2:  # no test, and no interval
        return dict(zip(COLUMNS, [n, worth, 0, 0, np.nan], strict=True))
    sums = np.zeros((n, gains.shape[1]))
    np.add.at(sums, codes, gains)
    totals = sums.sum(axis=0)
    turned = rng.choice([-1.0, 1.0], (SWAPS, n)) @ sums
    as_far = np.abs(turned) >= np.abs(totals) - 1e-9
    p = (1 + as_far.sum(axis=0)) / (1 + SWAPS)
    away = sums - sizes[:, None] * totals / sizes.sum()
    errors = np.sqrt(n / (n - 1) * (away**2).sum(axis=0)) / sizes.sum()
    width = 2 * stats.t.ppf(0.975, n - 1) * errors.mean()
    shares = [np.mean(p < 0.05), np.mean(p < 0.01)]
    return dict(zip(COLUMNS, [n, worth, *shares, width], strict=True))


def table_of(population, rules, n_draws, seed=1):
    """The figures of a population by each rule: a DataFrame."""
    rng = np.random.default_rng(seed)
    gains = drawn_gains(population, rng, n_draws)
    parts = np.array_split(gains, RENAMINGS, axis=1)
    former = [figures(former_needs(population.qrels, rng), part, rng) for part in parts]
    rows = {
        "the true needs": figures(population.truth, gains, rng),
        "each query alone": figures(np.arange(len(gains)), gains, rng),
        "former: a hash of the name": pd.DataFrame(former).mean().to_dict(),
    }
    for name, limits in rules.items():
        rows[name] = figures(needs_by(population.qrels, limits), gains, rng)
    return pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS)


def as_markdown(table, first):
    """A table of figures as Markdown. first: the title of its first column."""
    decimals = [0, 0, 3, 3, 3]
    rows = [
        [name, *(f"{value:.{n}f}" for value, n in zip(row, decimals, strict=True))]
        for name, row in table.iterrows()
    ]
    return simulated.markdown([first, *COLUMNS], rows).replace("nan", "–")


def main():
    parser = simulated.parser(__doc__)
    parser.add_argument("--draws", type=int, default=4_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    ours = read_population(our_data.FOLDER, "our typed queries, labels hidden")
    drawn = replace(ours, name=f"{ours.name}, gains drawn for each need", gains=None)
    for population in (six_wordings(), one_page_for_all(), ours, drawn):
        table = table_of(population, RULES, options.draws, options.seed)
        print(f"**{population.name}** ({len(population.qrels)} queries)\n")
        print(as_markdown(table, "rule"), end="\n\n")
    few = {name: RULES[name] for name in (CHOSEN, "near 0 (chains)")}
    rows = {}
    for folder in sorted(options.collections.glob("*/")):
        population = read_population(folder, folder.name)
        table = table_of(population, few, options.draws, options.seed)
        size = f"{folder.name} ({len(population.qrels)})"
        rows |= {f"{size}: {name}": row for name, row in table.iterrows()}
    if rows:
        print("**collections** (so many queries)\n")
        table = pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS)
        print(as_markdown(table, "collection and rule"))
    else:
        print(f"no collections in {options.collections}: run `make collections` first")


if __name__ == "__main__":
    sys.exit(main())
