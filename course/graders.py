"""Models' grades and people's of the same pairs of query and document.

This module makes them: of TREC Deep Learning 2019 by three
graders of a public repository and by the course's open model, and of four older
collections by the open model alone. A table has a row for each pair. `ndcg_by` and the
others take a grader's name, a column of it."""

from itertools import combinations

import numpy as np
import pandas as pd
from sklearn.metrics import cohen_kappa_score

import utils
from course import corpus, experiments, formats, intervals, llm, pooling, scoring

PAIR = ["query", "document"]
FILES = {  # of the collection dl19, see scripts/collections.toml
    "people": "2019qrels-pass.txt",
    "FLAN-T5-large": "dl2019_test_4prompts_flant5large.txt",
    "Llama-3.3-70B": "dl2019_test_4prompts_llama70b.txt",
    "baseline": "dl2019_test_baseline.txt",
}
QWEN = "Qwen-1.5B"
TEXT = ["one field", "logarithm", "BM25", "BM25, stems", "BM25, our setting"]
WITH_MODEL = ["vectors", "sum, 0.8", "sum, 0.5", "RRF, 60", "RRF, 1"]
TEN = TEXT + WITH_MODEL  # the searches of `scoring.ten_searches`
DRAWN = 40  # pairs of each query that the open model grades
RECORD, OLD_RECORD = "recorded-dl19.csv", "recorded-grades.csv"


# --- Making the tables ---------------------------------------------------------------


def read_grades(folder):
    """The grades of FILES, a column each, by pair, in the order of people's file.

    folder: of the collection dl19. ValueError names a file that has other pairs."""
    table = None
    for name, file in FILES.items():
        rows = pd.read_csv(folder / file, sep=r"\s+", header=None, dtype=str)
        rows.columns = ["query", "run", "document", name]
        grades = rows.set_index(PAIR)[name].astype(int)
        table = grades.to_frame() if table is None else table
        if grades.index.has_duplicates or set(grades.index) != set(table.index):
            raise ValueError(f"{folder / file}: not one grade for each judged pair")
        table[name] = grades
    return table


def places_of(queries, rankings):
    """The rank that each search gives a pair among its first ten, else NaN: by pair.

    rankings: dict of name: ids, (n_queries, 10 or more). Pairs are in the order of the
    queries, and then as the searches find them."""
    rows = {}
    for number, query in enumerate(queries["query_id"]):
        for name, ranking in rankings.items():
            for rank, id_ in enumerate(ranking[number][:10], start=1):
                if id_:
                    rows.setdefault((query, id_), {})[name] = rank
    index = pd.MultiIndex.from_tuples(rows, names=PAIR)
    return pd.DataFrame(rows.values(), index, columns=list(rankings))


def p_relevant(documents, asked, pairs):
    """P(1) of each pair by the language model, with the prompt of `pooling`; a list.

    asked: the query's text by its id. pairs: (query, document) each."""
    texts = {one["id"]: corpus.heading_and_text(one) for one in documents}
    prompts = [
        pooling.PROMPT.format(document=texts[document], query=asked[query])
        for query, document in pairs
    ]
    path = corpus.ROOT / "data" / "recorded-verdicts.jsonl"
    call = llm.judge_call(timeout=600, among="01")
    return list(map(llm.p_of, llm.respond(prompts, "digit", path, call)))


def make(folder):
    """The table of RECORD anew: all judged pairs, and all that a search finds.

    folder: of the collection dl19. The language model grades DRAWN pairs of each query,
    drawn at random from its judged ones."""
    documents, queries = formats.read_collection(folder)
    ten = scoring.ten_searches(documents)
    rankings = {name: utils.run_search(queries, ten[name], 10) for name in TEN}
    judged = read_grades(folder)
    drawn = drawn_pairs(judged).index
    asked = queries.set_index("query_id")["question"]
    p = pd.Series(p_relevant(documents, asked, drawn), drawn, name=QWEN)
    places = places_of(queries, rankings)
    return judged.join(p.round(4)).join(places, how="outer").reset_index()


def drawn_pairs(judged):
    """DRAWN pairs of each query, at random: a part of a table by pair."""
    return judged.groupby("query").sample(DRAWN, random_state=1)


def make_old(name, folder):
    """300 results of ten searches on an older collection, as OLD_RECORD has them.

    Whether people listed each as relevant, P(1) by the model, and who found it."""
    documents, queries = formats.read_collection(folder)
    queries = queries.assign(query_id=range(len(queries)))
    ten = scoring.ten_searches(documents)
    rankings = {name: utils.run_search(queries, ten[name], 10) for name in TEN}
    places = places_of(queries, rankings).sample(300, random_state=1)
    listed = queries["document"]
    people = [int(id_ in listed[query]) for query, id_ in places.index]
    p = p_relevant(documents, queries["question"], places.index)
    table = places.notna().astype(int).assign(model=p, collection=name)
    table.insert(0, "people", people)
    return table.reset_index()


def recorded(name=RECORD):
    """A table as data/ has it: RECORD or OLD_RECORD."""
    return pd.read_csv(corpus.ROOT / "data" / name, dtype=dict.fromkeys(PAIR, str))


def record(table, name=RECORD):
    """Write a table into the results folder, as data/ has it, with whole numbers."""
    whole = table.convert_dtypes()
    whole.to_csv(corpus.results_folder() / name, index=False)


# --- What the notebook asks of them --------------------------------------------------


def ndcg_by(who, table):
    """nDCG@10 of each query by each search, by the grades of one grader: a DataFrame.

    table: as `recorded` returns it. A pair without a grade counts as 0. The best
    possible ranking is that grader's own."""
    graded = table.assign(grade=table[who].fillna(0))
    known = graded[graded[who].notna()].groupby("query")["grade"].agg(list)
    values = {}
    for name in TEN:
        found = graded[graded[name].notna()]
        relevance = found.pivot(index="query", columns=name, values="grade")
        relevance = relevance.reindex(index=known.index, columns=range(1, 11))
        values[name] = utils.ndcg(relevance.fillna(0), known, per_query=True)
    return pd.DataFrame(values, index=known.index)


def order(boards, who, draws=2_000):
    """How far a grader orders the searches as people do: tau, low and high, a dict.

    boards: dict of grader: `ndcg_by`, with "people". The range is the middle 95 % of
    the draws of queries."""
    both = [boards["people"], boards[who]]
    means = [board.mean().to_numpy()[None] for board in both]
    drawn = experiments.drawn_boards(both, np.random.default_rng(1), draws)
    ends = experiments.middle(experiments.tau(*drawn))
    return {"tau": experiments.tau(*means)[0], "low": ends["low"], "high": ends["high"]}


def cost_of_choosing(boards, who, halves=2_000):
    """What it costs to choose a search by a grader, and not by people: a dict.

    Half of the queries choose, at random; people's nDCG@10 on the other half says what
    the choice costs. `experiments.middle` of the halves: a range, no interval."""
    rng, n = np.random.default_rng(1), len(boards[who])
    people, grader = boards["people"].to_numpy(), boards[who].to_numpy()
    first = rng.random((halves, n)).argsort(axis=1) < n // 2
    by_people, by_grader = first @ people, first @ grader
    other, every = ~first @ people / (n - n // 2), np.arange(halves)
    best, chosen = by_people.argmax(axis=1), by_grader.argmax(axis=1)
    return experiments.middle(other[every, best] - other[every, chosen])


def signs(board):
    """Which search of each pair is significantly better: 1 the first, -1, or 0.

    board: see `ndcg_by`. A Series by pair; p values are corrected by Holm for all."""
    gains = {(a, b): board[a] - board[b] for a, b in combinations(board, 2)}
    table = intervals.differences(gains, range(len(board)))
    is_sure = intervals.holm(table["p"]) < 0.05
    return np.sign(table["difference"]).where(is_sure, 0).astype(int)


def agreements(by):
    """How a grader's verdicts on pairs of searches fit people's: counts, a DataFrame.

    by: dict of grader: `signs`, with "people"."""
    people, counts = by["people"], {}
    for who in [name for name in by if name != "people"]:
        both = (people != 0) & (by[who] != 0)
        counts[who] = {
            "both tell, same": both & (people == by[who]),
            "both tell, opposite": both & (people != by[who]),
            "people alone tell": (people != 0) & ~both,
            "model alone tells": (by[who] != 0) & ~both,
            "neither tells": (people == 0) & (by[who] == 0),
        }
        counts[who] = {name: int(found.sum()) for name, found in counts[who].items()}
    return pd.DataFrame(counts)


def of_one_kind(some):
    """The pairs of `signs` that are both of TEXT, or both of WITH_MODEL."""
    return some[[(first in TEXT) == (second in TEXT) for first, second in some.index]]


def cut_on_others(grades, true, queries, cuts, folds=5):
    """Yes or no by the cut that fits best on *other* queries: verdicts, and the cuts.

    grades: a Series, where a yes is a grade of at least the cut. true: people's yes.
    Queries are dealt into folds at random. Each fold has the cut with the highest
    kappa on the others."""
    names = np.unique(queries)
    dealt = np.random.default_rng(1).permutation(len(names)) % folds
    fold = pd.Series(dealt, names)[queries].to_numpy()
    verdicts, chosen = np.zeros(len(grades), dtype=bool), []
    for number in range(folds):
        others = fold != number
        kappas = [cohen_kappa_score(true[others], grades[others] >= c) for c in cuts]
        chosen.append(cuts[int(np.argmax(kappas))])
        verdicts[~others] = grades[~others] >= chosen[-1]
    return verdicts, chosen


def cut_gain(table, who, wanted, usual, cuts):
    """What a cut that others chose gains in kappa, a dict: see `cut_on_others`.

    wanted: from which of people's grades on a pair is relevant. usual: the grader's
    usual cut. usual, fitted: kappa by each. gain, low, high: their difference."""
    graded = table[table[who].notna()]
    truly, queries = graded["people"] >= wanted, graded["query"]
    fitted, chosen = cut_on_others(graded[who], truly, queries, cuts)
    verdicts = pd.DataFrame({"usual": graded[who] >= usual, "fitted": fitted})
    kappas = intervals.kappas(verdicts, truly, queries)["difference"]
    gain = intervals.kappa_differences(verdicts, truly, queries, "fitted").loc["usual"]
    gain = gain.rename({"difference": "gain"})
    return {"cuts": sorted(set(chosen)), **kappas, **gain}


def precision_by(who, table):
    """The share of each search's first ten results that somebody calls relevant.

    table: a row for each pair, with the columns TEN: not NaN, or not 0, where a search
    has it among its first ten. who: a column of 0 and 1, or of probabilities."""
    found = table[TEN].fillna(0) > 0
    return found.mul(table[who].astype(float), axis=0).sum() / found.sum()


def errors(estimates, who, table, n=100, draws=200):
    """What several estimates miss with n labels of people: a DataFrame.

    estimates: a function of who, table and its labelled rows, which returns a dict of
    name: figure of each search. n rows are drawn anew each time. The truth is people's
    `precision_by` of all rows. A row for each draw and search, a column for each
    estimate."""
    truth = precision_by("people", table)
    found = []
    for seed in range(draws):
        labelled = table.sample(n, random_state=seed)
        found.append(pd.DataFrame(estimates(who, table, labelled)).sub(truth, axis=0))
    return pd.concat(found)


def spread(errors, way):
    """Mean and middle 95 % of one estimate's errors in several tables: a DataFrame.

    errors: dict of name: `errors`. Its columns are those that `plots.forest` takes."""
    rows = {name: table[way].quantile([0.025, 0.975]) for name, table in errors.items()}
    ends = pd.DataFrame.from_dict(rows, orient="index").set_axis(
        ["low", "high"], axis=1
    )
    return ends.assign(difference=[table[way].mean() for table in errors.values()])


def by_list(table):
    """P(1) of what people listed, and of what they did not list: a dict of Series."""
    listed = table["people"] == 1
    return {
        "listed": table.loc[listed, "model"],
        "not listed": table.loc[~listed, "model"],
    }


def order_by_precision(who, table, draws=200):
    """How far a grader's `precision_by` orders searches as people's: see `order`."""
    rng = np.random.default_rng(1)
    rows_of = list(table.groupby("query").indices.values())

    def tau(some):
        boards = [precision_by(one, some).to_numpy()[None] for one in ("people", who)]
        return experiments.tau(*boards)[0]

    drawn = []
    for _ in range(draws):
        numbers = rng.integers(len(rows_of), size=len(rows_of))
        drawn.append(tau(table.iloc[np.concatenate([rows_of[n] for n in numbers])]))
    ends = experiments.middle(drawn)
    return {"tau": tau(table), "low": ends["low"], "high": ends["high"]}


def leads(boards):
    """By how much searches with a model lead those by words, of each query: DataFrame.

    A column for each grader: mean nDCG@10 of WITH_MODEL minus that of TEXT."""
    lead = {
        who: board[WITH_MODEL].mean(axis=1) - board[TEXT].mean(axis=1)
        for who, board in boards.items()
    }
    return pd.DataFrame(lead)


def found_by(table):
    """Who found each pair: "words" alone, "models" alone, "both" or "none": a Series.

    words: a search of TEXT. models: one of WITH_MODEL."""
    words = table[TEXT].notna().any(axis=1)
    models = table[WITH_MODEL].notna().any(axis=1)
    kinds = np.select(
        [words & models, words, models], ["both", "words", "models"], "none"
    )
    return pd.Series(kinds, table.index)
