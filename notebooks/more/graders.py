"""Models' grades and people's of the same pairs of query and document.

This module makes them: of TREC Deep Learning 2019 by three graders of a public
repository and by the course's open model, and of four older collections by the open
model alone. A table has a row for each pair, and a column for each grader."""

import agreement
import numpy as np
import pandas as pd

import utils
from course import corpus, experiments, llm, pooling, scoring
from evaluate_retrieval import read

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
    documents, queries = read.read_collection(folder)
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
    documents, queries = read.read_collection(folder)
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
    discounts = 1 / np.log2(table[TEN] + 1)
    gains = discounts.fillna(0).mul(table[who].fillna(0), axis=0)
    grades = table[table[who].notna()].sort_values(who, ascending=False)
    ranks = grades.groupby("query").cumcount() + 1
    ideal = (
        (grades[who] / np.log2(ranks + 1))[ranks <= 10].groupby(grades["query"]).sum()
    )
    gains = gains.groupby(table["query"]).sum().loc[ideal.index]
    return gains.div(ideal.where(ideal > 0, 1), axis=0)


def order(boards, who, draws=2_000):
    """How far a grader orders the searches as people do: tau, low and high, a dict.

    boards: dict of grader: `ndcg_by`, with "people". The range is the middle 95 % of
    the draws of queries."""
    both = [boards["people"], boards[who]]
    means = [board.mean().to_numpy()[None] for board in both]
    drawn = experiments.drawn_boards(both, np.random.default_rng(1), draws)
    ends = experiments.middle(experiments.tau(*drawn))
    return {"tau": experiments.tau(*means)[0], "low": ends["low"], "high": ends["high"]}


def with_labels(verdicts, labels, groups, n=100, draws=200):
    """What n labels tell of a share of yes, with a grader's verdicts and without.

    verdicts, labels: 1 or 0 of each pair, by the grader and by people. groups: one a
    pair; the figure is the mean over groups of their shares. Each draw takes groups
    anew, and n of their pairs at random, which have labels. A DataFrame, a row for each
    way: the mean absolute error, and of the 95 % intervals of
    `agreement.prediction_powered` the mean width and the share that covers the truth,
    which is by the labels of all pairs."""
    table = pd.DataFrame({"verdict": verdicts, "label": labels}).astype(float)
    places = list(table.groupby(np.asarray(groups)).indices.values())
    truth = np.mean([table["label"].to_numpy()[place].mean() for place in places])
    rows = {"verdicts alone": [], "labels alone": [], "corrected": []}
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        drawn = [places[i] for i in rng.integers(len(places), size=len(places))]
        sizes = [len(place) for place in drawn]
        group = np.repeat(range(len(drawn)), sizes)
        weights = 1 / np.repeat(sizes, sizes)
        sample = table.iloc[np.concatenate(drawn)].reset_index(drop=True)
        labelled = sample["label"].where(rng.permutation(len(sample)) < n)
        models = {"labels alone": 0 * sample["verdict"], "corrected": sample["verdict"]}
        for name, model in models.items():
            estimate = agreement.prediction_powered(weights, model, labelled, group)
            low, high = estimate["low"], estimate["high"]
            error = abs(estimate["corrected"] - truth)
            rows[name].append([error, high - low, low <= truth <= high])
        rows["verdicts alone"].append([abs(estimate["model"] - truth), np.nan, np.nan])
    columns = ["error", "width", "covers"]
    means = {name: np.mean(values, axis=0) for name, values in rows.items()}
    return pd.DataFrame.from_dict(means, orient="index", columns=columns)
