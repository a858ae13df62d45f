"""From a folder's documents and queries to a choice, its differences and its files.

Queries are of two kinds, "generated" and
"judged". Tables of queries, rankings and choices are dicts of the kind.

A *setting* says what a search is made of, a dict. `text` and `vectors` are the
weights of the two parts, 0 if left out. `k1`, `b` and `heading` are options of BM25,
and `embedded` is the name of the vectors."""

import itertools
import json
import runpy
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from minsearch import Index

import utils
from course import (
    answering,
    corpus,
    decision,
    elastic,
    embedding,
    experiments,
    formats,
    intervals,
    llm,
    pooling,
    scoring,
    your_searches,
)

K = {"generated": 5, "judged": 10}
DEPTH = {"generated": 10, "judged": 100}  # results kept of each search
BY = {"generated": "mrr", "judged": "ndcg"}
LABELS = {"judged": "nDCG@10, typed queries", "generated": "MRR@5, generated questions"}
NEW = 200  # queries of a log of which a model grades results
BOARD_COLUMNS = ["queries", "split", "hit_rate", "mrr", "ndcg", "low", "high"]
BOARD_COLUMNS += ["judged_at_k", "ms_per_query", "chosen", "condensed"]
LONG = 200  # words; a text of more is long
# Words of a chunk, and between two beginnings: about 128 tokens, each chunk with its
# title, as is best in notebook 12
CUT = {"size": 100, "step": 100}
MOST_CHUNKS = 150_000  # on a processor: over an hour on two cores
MOST_CHUNKS_ELSEWHERE = 500_000  # on another device: about 5 GB of memory
ENOUGH = 20  # labels drawn at random that can correct a model
COLUMNS = [*BOARD_COLUMNS, "refused"]  # of 06's leaderboard.csv
BASELINE = "text: fields, no boost"  # the name of minsearch's search
SHOWN = ["low", "high", "condensed", "judged_at_k"]  # of a leaderboard
SAFE = {"text": 0.2, "vectors": 0.8, "embedded": "vectors"}  # see notebook 6
BM25 = [{"text": 1, **options} for options in experiments.BM25]
PLAIN = [{}, {"heading": 2}]  # options of BM25 in a sum
WEIGHTS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]  # of the vectors in a sum


# --- What is in the folder ---------------------------------------------------


def _n_words(documents):
    """How many words each document has, its title included: an array."""
    return np.array([len(corpus.heading_and_text(one).split()) for one in documents])


def looks(documents):
    """What to know of the documents before any search: a Series of counts."""
    frame, n_words = pd.DataFrame(documents), _n_words(documents)
    return pd.Series(
        {
            "documents": len(frame),
            "courses": frame["course"].nunique(),
            "exact copies": frame.duplicated(["course", "question", "text"]).sum(),
            "of fewer than 5 words": (n_words < 5).sum(),
            f"of more than {LONG} words": (n_words > LONG).sum(),
        }
    )


def n_asked(folder):
    """How many queries the folder's queries.csv has; 0 without the file."""
    path = Path(folder) / formats.LOG
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
        log["question"] = [_heading(document) for document in documents]
    return log[["question", "course", *own]].drop_duplicates().head(n)


def headings(documents):
    """The title of each id, or what its text begins with; "nothing" for no id."""
    return {one["id"]: _heading(one) for one in documents} | {"": "nothing"}


def with_ids(ids, titles):
    """Ids with their titles, a list of texts. titles: see `headings`."""
    return [f"{titles[id_]} ({id_})" if id_ else titles[id_] for id_ in ids]


def _heading(document):
    return document["question"] or document["text"][:60]


# --- The searches ------------------------------------------------------------


@dataclass(frozen=True)
class Vectors:
    """Vectors of documents, or of parts of them, and the score function they give.

    values: (n, dimension). rows: the place of the document of each vector. model: the
    name of the model, None for the default. chunks: how texts were cut, a dict of
    size and step in words; None where they are whole."""

    values: np.ndarray
    rows: np.ndarray
    scores: Callable
    model: str | None = None
    chunks: dict | None = None


def embed_all(documents, fetched=()):
    """`Vectors` by name: of the default model, and of each model that is named.

    Where more than a tenth of the texts is long, also of chunks, see `CUT`. A line says
    how many there are and about how long they take, or that they are too many."""
    n = n_chunks(documents)
    if n:
        print(about_chunks(documents), flush=True)
    models = {"vectors": None, **{f"vectors: {name}": name for name in fetched}}
    texts = [corpus.heading_and_text(document) for document in documents]
    found = {}
    for name, model in models.items():
        values = embedding.embed(texts, model)
        scores = scoring.vector_scores(values, documents, model)
        found[name] = Vectors(values, np.arange(len(documents)), scores, model)
    if n and not are_too_many(n):
        parts, _ = _parts_of(documents, **CUT)
        left, seconds = embedding.work_left(map(corpus.heading_and_text, parts))
        minutes = max(1, round(seconds / 60))
        if left:
            print(f"{left:,} of them to encode, about {minutes} min", flush=True)
        found["vectors: chunks"] = embed_chunks(documents, **CUT)
    return found


def n_chunks(documents):
    """How many chunks `CUT` makes of the documents; 0 where few of them are long."""
    if (_n_words(documents) > LONG).mean() <= 0.1:
        return 0
    return sum(len(_starts(len(one["text"].split()), **CUT)) for one in documents)


def are_too_many(n):
    """Whether so many chunks are not embedded: a processor takes too long for them.

    Another device than a processor may have more."""
    if n <= MOST_CHUNKS or n > MOST_CHUNKS_ELSEWHERE:
        return n > MOST_CHUNKS
    return embedding.on_processor()


def about_chunks(documents):
    """How many chunks there are of long documents, or why there are none: sentences.

    Empty where few documents are long."""
    n = n_chunks(documents)
    if not n:
        return ""
    if not are_too_many(n):
        size = CUT["size"]
        chunks = f"Chunks of {size} words, each with its title,"
        return f"Many texts are long. {chunks} are searched, too: {n:,}."
    most = MOST_CHUNKS if n <= MOST_CHUNKS_ELSEWHERE else MOST_CHUNKS_ELSEWHERE
    return f"""Many texts are long, but {n:,} chunks are too many (over {most:,}).
So they are not cut: vectors are of the beginning of each text, as far as the model
reads. Searches of text read it all. For vectors of it all, take fewer documents,
a search of your own (COURSE_SEARCHES), Elasticsearch, or a GPU (EMBEDDING_DEVICE)."""


def chunks_of(document, size, step):
    """Copies of the document, each with a part of its text: `size` words.

    A part begins every `step` words."""
    words = document["text"].split()
    if len(words) <= size:
        return [document]
    starts = _starts(len(words), size, step)
    return [{**document, "text": " ".join(words[s : s + size])} for s in starts]


def _starts(n_words, size, step):
    """Where the chunks of a text begin."""
    return range(0, max(1, n_words - size + step), step)


def embed_chunks(documents, size, step):
    """`Vectors` of chunks, see `chunks_of`. A document scores as its best chunk."""
    parts, rows = _parts_of(documents, size, step)
    values = embedding.embed(map(corpus.heading_and_text, parts))
    of_chunks = scoring.vector_scores(values, parts)

    def scores(queries):
        for asked, columns, block in of_chunks(queries):
            found, first = np.unique(rows[columns], return_index=True)
            yield asked, found, np.maximum.reduceat(block, first, axis=1)

    return Vectors(values, rows, scores, chunks={"size": size, "step": step})


def _parts_of(documents, size, step):
    """The chunks of all documents, a list, and the place of each one's document."""
    parts, rows = [], []
    for row, document in enumerate(documents):
        cut = chunks_of(document, size, step)
        parts += cut
        rows += [row] * len(cut)
    return parts, np.array(rows)


def builder(documents, embedded):
    """A function: a setting -> its score function. embedded: see `embed_all`."""

    @lru_cache(maxsize=2)  # who tunes a sum asks for the same text again and again
    def bm25(options):
        return scoring.bm25_scores(documents, **dict(options))

    def build(setting):
        parts = {}
        if setting.get("text"):
            parts["text"] = bm25(tuple(_bm25_of(setting).items()))
        if setting.get("vectors"):
            parts["vectors"] = embedded[setting["embedded"]].scores
        if len(parts) == 1:
            return next(iter(parts.values()))
        return scoring.weighted_sum(parts.values(), [setting[part] for part in parts])

    return build


def _bm25_of(setting):
    """The options of BM25 in a setting."""
    return {key: setting[key] for key in ("k1", "b", "heading") if key in setting}


def search_of(documents, scores, setting):
    """The search for the ten best. Text alone finds nothing without a shared word."""
    above = -np.inf if setting.get("vectors") else 0
    return utils.search_by_scores(scores, documents, k=10, above=above)


def fields_of(documents):
    """The fields of the documents that have a text."""
    frame = pd.DataFrame(documents)[["question", "text", "section"]]
    return [field for field in frame if frame[field].str.strip().any()]


# --- The choice --------------------------------------------------------------


def values_of(queries, ranking, kind):
    """The metric of each query, a Series: reciprocal rank at 5, or nDCG at 10."""
    return utils.score(queries, ranking, K[kind])[BY[kind]]


def values_of_all(searches, test):
    """The metric of each query: by kind, a DataFrame with a column for each search."""
    return {
        kind: pd.DataFrame(
            {
                name: values_of(
                    queries, utils.run_search(queries, search, K[kind]), kind
                )
                for name, search in searches.items()
            }
        )
        for kind, queries in test.items()
    }


def rank_all(search, test, documents):
    """The rankings of a search, and its milliseconds a query: two dicts by kind."""
    rankings, milliseconds = {}, {}
    for kind, queries in test.items():
        deep = {kind: partial(search, k=DEPTH[kind])}
        new, times = experiments.timed_rankings(deep, queries, DEPTH[kind], documents)
        rankings |= new
        milliseconds |= times
    return rankings, milliseconds


def cross_fitted(build, settings, development, test, kind):
    """`experiments.cross_fit` on the queries of a kind, as its boards count them."""
    halves = development[kind], test[kind]
    return experiments.cross_fit(
        build, settings, *halves, K[kind], BY[kind], DEPTH[kind]
    )


def pair_differences(values, pairs, test):
    """Search a minus search b, query by query: a dict of label: DataFrame.

    values: by kind, a DataFrame with a row for each query and a column for each search.
    pairs: a dict of label: (a, b), names of columns. test: by kind, the queries in the
    order of the rows. Columns: see `intervals.difference`. The p values of all kinds
    are one family for Holm."""
    tables = {}
    for kind in LABELS:
        if kind in test:
            of = values[kind]
            gains = {label: of[a] - of[b] for label, (a, b) in pairs.items()}
            groups = intervals.groups_of(test[kind])
            tables[LABELS[kind]] = intervals.differences(gains, groups)
    return _as_one_family(tables)


def _as_one_family(tables):
    """A dict of tables, with all their p values corrected together by Holm."""
    if not tables:
        return {}
    corrected = intervals.holm(pd.concat(tables)["p"])
    return {
        label: table.assign(p=[corrected[label, name] for name in table.index])
        for label, table in tables.items()
    }


def by_label(gain, queries):
    """`by_slice` with every label, however few its queries, and the lowest first."""
    return by_slice(gain, queries, fewest=1)[::-1]


def whole_board(boards, chosen, milliseconds, test):
    """The leaderboards of all kinds as one table: that of `results/leaderboard.csv`.

    boards: by kind, see `experiments.leaderboard`. chosen: split and search, by kind.
    milliseconds: of a query, a dict of search: dict of kind, see `rank_all`. There the
    vectors are kept, so searches with vectors get the time to encode a query on top."""
    questions = next(iter(test.values()))["question"].head(256)
    encoding = embedding.milliseconds_to_encode(questions)
    tables = []
    for kind, board in boards.items():
        split, best = chosen.loc[kind, ["split", "search"]]
        times = np.array([milliseconds[name][kind] for name in board.index])
        times += encoding * board.index.str.contains("vectors|kNN|hybrid")
        own = {"ms_per_query": times, "chosen": board.index == best}
        tables.append(board.assign(queries=kind, split=split, **own))
    return pd.concat(tables)[BOARD_COLUMNS]


def write_searches(path, searches, test, documents, chosen):
    """Rank with each search, and write the leaderboard, rankings and judgements.

    path: of the leaderboard; runs/ and qrels-KIND.trec go beside it. chosen: the name
    of the search to ship. Returns the boards as `plots.searches` takes them."""
    found, times, boards = {kind: {} for kind in test}, {}, {}
    for name, search in searches.items():
        rankings, times[name] = rank_all(search, test, documents)
        for kind, ranking in rankings.items():
            found[kind][name] = ranking
    for kind, queries in test.items():
        boards[kind] = experiments.leaderboard(found[kind], queries, K[kind], BY[kind])
        formats.write_trec(path.parent, kind, queries, found[kind])
    shipped = pd.DataFrame({"split": "test", "search": chosen}, [*test])
    whole_board(boards, shipped, times, test).to_csv(path)
    return {
        LABELS[kind]: boards[kind].rename(columns={BY[kind]: "value"})
        for kind in LABELS
        if kind in boards
    }


def sums(embedded):
    """The settings of sums to try: BM25 with a heading × 1 and × 2, with all vectors.

    The first is the sum of notebook 6, with a weight of 0.8 for the vectors."""
    found = [SAFE]
    for options, name, weight in itertools.product(PLAIN, embedded, WEIGHTS):
        both = {"text": round(1 - weight, 1), "vectors": weight, "embedded": name}
        found.append({**options, **both})
    return found


def tuned(documents, build, settings, development, test, kind):
    """The best of the settings on the queries that choose, and rankings to report.

    build: see `builder`. Each query that reports is ranked with what is best on other
    folds. A line says how many folds agree with the best."""
    rankings, by_fold, best = experiments.cross_fit(
        lambda setting: search_of(documents, build(setting), setting),
        settings,
        development[kind],
        test[kind],
        K[kind],
        BY[kind],
        DEPTH[kind],
    )
    print(f"{by_fold.tolist().count(best)} of {len(by_fold)} folds choose {best}")
    return best, rankings


def choose_by_folds(found, queries, kind, fallback):
    """The best of several rankings of queries in folds, and what to expect of it.

    found: a dict of name: ids. fallback: the name that is chosen where the queries are
    too few to choose on. Returns the name; the mean of the metric where each fold
    is ranked by what is best on the others; and the choice of each fold, a Series."""
    ranking, by_fold, best = experiments.cross_fit(
        lambda name: lambda _: found[name],
        [fallback, *found],
        queries,
        queries,
        K[kind],
        BY[kind],
    )
    expected = values_of(queries, ranking, kind).mean()
    return best, expected, by_fold


def choose(searches, development, test, crossed, fallback):
    """The name of the search that is chosen for each kind of queries: a dict.

    On halves, the best on the development half. On folds of the same queries, the best
    on all of them; lines say what to expect. crossed: rankings of tuned searches, by
    name, see `tuned`. fallback: what is chosen where the queries are too few."""
    chosen = {}
    for kind, queries in test.items():
        able = your_searches.of_queries(searches, development[kind])
        if development[kind] is not queries:
            board = experiments.compare(able, development[kind], K[kind], BY[kind])
            chosen[kind] = board.index[0]
            continue
        found = {name: utils.run_search(queries, able[name], K[kind]) for name in able}
        best, expected, by_fold = choose_by_folds(
            found | crossed, queries, kind, fallback
        )
        agreed = by_fold.tolist().count(best)
        print(f"{kind} queries: {agreed} of {len(by_fold)} folds choose {best}")
        print(f"to be expected of the choice: {expected:.3f}")
        chosen[kind] = best
    return chosen


# --- What is reported --------------------------------------------------------


def milliseconds_to_encode(settings, embedded, test):
    """Milliseconds to encode a query in batches of 16: a Series, 0 without vectors.

    settings: those of the searches, by name. The vectors of all queries are kept."""
    questions = [text for queries in test.values() for text in queries["question"]]
    by_model = {}
    for model in dict.fromkeys(vectors.model for vectors in embedded.values()):
        embedding.embed(questions, model, role="query")
        by_model[model] = embedding.milliseconds_to_encode(questions[:256], model, 16)
    took = dict.fromkeys(settings, 0.0)
    for name, setting in settings.items():
        if setting.get("vectors"):
            took[name] = by_model[embedded[setting["embedded"]].model]
    return pd.Series(took, dtype=float)


def board_of(searches, documents, kind, test, chosen, encode_ms, crossed):
    """The leaderboard of one kind of queries, and the rankings: a dict of name: ids.

    test, chosen: dicts of the kind. encode_ms: see `milliseconds_to_encode`. crossed:
    rankings that replace a search's own, see `tuned`. ValueError for an id that is of
    no document."""
    queries = test[kind]
    able = your_searches.of_queries(searches, queries)
    deep = {name: partial(able[name], k=DEPTH[kind]) for name in able}
    depth = DEPTH[kind]
    rankings, ms = experiments.timed_rankings(deep, queries, depth, documents)
    rankings |= crossed
    measured = your_searches.milliseconds(able)  # NaN for a run
    ms[measured.index] = measured
    board = experiments.leaderboard(rankings, queries, K[kind], BY[kind])
    board["chosen"] = board.index == chosen[kind]
    board["ms_per_query"] = ms + encode_ms.reindex(ms.index, fill_value=0)
    return board, rankings


def labelled(boards):
    """Leaderboards for `plots.searches`: by label, the kind that decides first."""
    shown = {}
    for kind in reversed([*boards]):
        shown[LABELS[kind]] = boards[kind].rename(columns={BY[kind]: "value"})
    return shown


def refused_shares(scorers, queries, unanswered, share=0.05):
    """Share of the queries without an answer that each search could refuse: a Series.

    Each refuses `share` of the queries with an answer. scorers: score functions by
    name. The highest share is first, and the name of the Series counts these queries.
    It is empty where there are no such queries."""
    found = {}
    there_are_both = queries is not None and len(unanswered)
    for name, scores in scorers.items() if there_are_both else ():
        answerable = experiments.best_scores(scores, queries)
        hopeless = experiments.best_scores(scores, unanswered)
        found[name] = experiments.refused(answerable, hopeless, share)
    name = f"refused, of {len(unanswered)}"
    return pd.Series(found, name=name, dtype=float).sort_values(
        ascending=False, kind="stable"
    )


def differences(rankings, test, chosen, smallest=0.02):
    """The chosen search minus each other: a dict of kind: DataFrame.

    Columns: see `intervals.difference`; and needed, how many groups would show a
    difference of `smallest`. The p values of all kinds are one family for Holm."""
    tables = {}
    for kind, queries in test.items():
        groups = intervals.groups_of(queries)
        values = {
            name: values_of(queries, ranking, kind)
            for name, ranking in rankings[kind].items()
        }
        best = values.pop(chosen[kind])
        gains = {name: best - other for name, other in values.items()}
        table = intervals.differences(gains, groups)
        needed = [
            intervals.groups_needed(gain, groups, smallest) for gain in gains.values()
        ]
        table["needed"] = np.array(needed, dtype=float)
        tables[kind] = table.sort_values("difference", ascending=False)
    return _as_one_family(tables)


def decided(name, close, board, rankings, queries, kind, yours):
    """What to do: a `decision.Decision`, which says it in words, too.

    name: the chosen search. close: names of those from which it cannot be told apart.
    board, rankings, queries: those of the kind that decides. yours: your own searches.
    The incumbent is named, or the only one of these."""
    values = {
        search: values_of(queries, ranking, kind)
        for search, ranking in rankings.items()
    }
    groups, times = intervals.groups_of(queries), board["ms_per_query"].to_dict()
    incumbent = decision.incumbent_of(yours, values)
    if incumbent is None:
        says = decision.of_new(name, close, values, groups, kind, times)
        is_sure = len(groups) >= experiments.FEW and not len(close)
        verdict = "ship" if is_sure else "undecided"
        return decision.Decision(verdict, name, pd.DataFrame(), says=says)
    found = decision.decide(incumbent, values, groups, times)
    says = decision.sentence(found, incumbent, kind)
    return replace(found, incumbent=incumbent, says=says)


def new_and_old(chosen, yours, board):
    """The chosen search, and the one to set against it: two names.

    The old one is yours, or else tuned BM25, or else the next best of the board."""
    others = [*yours, "text: BM25, tuned", *board.index]
    able = [name for name in others if name in board.index and name != chosen]
    return chosen, next(iter(able), chosen)


def gain_of(queries, new, old, kind):
    """What the rankings `new` gain over `old`, one value a query: a Series."""
    return values_of(queries, new, kind) - values_of(queries, old, kind)


def by_slice(gain, queries, fewest=10):
    """The mean gain in each kind of judged query, or else each course: a DataFrame.

    gain: one a query. Columns as of `intervals.difference`; n, the number of queries;
    p is corrected by Holm. Slices of fewer than `fewest` groups are left out."""
    groups = intervals.groups_of(queries)
    by = "kind" if "kind" in queries else "course"
    rows = {}
    for name, places in queries.reset_index(drop=True).groupby(by).groups.items():
        if groups[places].nunique() >= fewest:
            row = intervals.difference(np.asarray(gain)[places], groups[places])
            rows[name] = {**row, "n": len(places)}
    columns = ["difference", "low", "high", "p", "n"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    table["p"] = intervals.holm(table["p"])
    return table.sort_values("difference", ascending=False)


def failures(queries, search, kind, titles):
    """The queries for which a search finds nothing relevant: a DataFrame.

    Among its first K. titles: see `headings`. Columns: question; wanted, the record
    with the best grade; and found first, both with their ids."""
    found = utils.run_search(queries, search, K[kind])
    qrels = utils.qrels_of(utils.right_answers(queries))
    best = [max(qrel, key=qrel.get) for qrel in qrels]
    table = queries[["question"]].assign(wanted=with_ids(best, titles))
    table["found first"] = with_ids(found[:, 0], titles)
    missed = utils.score(queries, found)["hit_rate"].to_numpy() == 0
    return table[missed]


def funnels(rankings, queries, unanswered, k=5):
    """Where an answer would be lost, a row of shares for each search.

    rankings: a dict of name: ids, (n_queries, depth). A model is shown the first k.
    unanswered: the queries that no record answers. Stages of no query are left out,
    but not "shown"."""
    right = [*utils.right_answers(queries), *[{}] * len(unanswered)]
    every_query = pd.DataFrame({"document": right})
    shares = {}
    for name, found in rankings.items():
        nothing = np.full((len(unanswered), np.shape(found)[1]), "", dtype=object)
        stages = answering.funnel(every_query, np.vstack([found, nothing]), k)
        shares[name] = stages.value_counts(normalize=True, sort=False)
    table = pd.DataFrame(shares)
    table = table[(table.max(axis=1) > 0) | (table.index == "shown")].T
    return table.sort_values("shown", ascending=False)


# --- With a model, if it is asked for ------------------------------------------


def pairs_to_grade(pairs, leaders, searches, log):
    """The leaders' results for judged queries, and for NEW queries of a log.

    pairs: see `pooling.pairs_of`. searches: a dict of name: search function. Where a
    leader is a run that lacks the log's queries, the log is left out. log: a
    DataFrame of questions and courses that nobody judged."""
    ours = pairs[(pairs[leaders] > 0).any(axis=1)]
    new = log.head(NEW)
    if new.empty or not {*leaders} <= your_searches.of_queries(searches, new).keys():
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
    yours = your_searches.own_searches(documents, [log], folder)
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
    depth = DEPTH["judged"]
    if len(unanswered) and your_searches.of_queries({name: search}, unanswered):
        others = utils.run_search(unanswered, partial(search, k=depth), depth)
        queries, found = pd.concat([queries, unanswered]), np.vstack([found, others])
    places = np.random.default_rng(1).permutation(len(queries))[:100]
    drawn, found = queries.iloc[places].reset_index(drop=True), found[places]
    print(f"{len(drawn)} answers, and up to four calls of one token to judge each")
    about, needed, path = drawn, {}, Path(folder) / formats.FACTS
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


# --- Files -------------------------------------------------------------------


def write_search(to, documents, setting, embedded):
    """Write a folder with search.py and all that it needs.

    setting: of the search. embedded: see `embed_all`. A search of text alone gets no
    vectors."""
    language = corpus.course_language()
    vectors = embedded.get(setting.get("embedded", "vectors"))
    settings = {"k1": 1.2, "b": 0.75, "heading": 1, "text": 0, "vectors": 0} | setting
    settings.pop("embedded", None)
    settings |= {"language": language, "stopwords": scoring.stopwords_of(language)}
    settings |= embedding.where_from(vectors and vectors.model)
    if vectors and vectors.chunks:
        settings["chunks"] = vectors.chunks
    to.mkdir(parents=True, exist_ok=True)
    (to / "settings.json").write_text(json.dumps(settings, indent=1))
    (to / "documents.json").write_text(json.dumps(documents))
    for name in ("vectors", "rows"):
        (to / f"{name}.npy").unlink(missing_ok=True)  # of another search
    if settings["vectors"]:
        np.save(to / "vectors.npy", vectors.values)
        np.save(to / "rows.npy", vectors.rows)
    shutil.copy(Path(__file__).parent / "alone" / "search.py", to)


def recipe(folder, name, fields):
    """What to paste of a search, as text: its settings in the folder, as JSON.

    A model that is a folder of this machine is called by the folder's name. Your own
    search is yours; Elasticsearch has a request and minsearch an index, with fields."""
    if name.startswith(("own: ", "run: ")):
        return "It is yours already."
    if name.startswith("Elasticsearch"):
        in_all = elastic.match_query(fields, "combined_fields")
        return json.dumps(in_all("QUESTION", "COURSE"), indent=1)
    if name == BASELINE:
        return f'minsearch.Index({fields}, ["course"]).fit(documents)'
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    if Path(settings["model"]).is_absolute():
        settings["model"] = Path(settings["model"]).name
    return json.dumps(settings, indent=1)


def same_alone(folder, search, queries):
    """Whether the script in a folder finds the same ten, without the course: bools."""
    alone = runpy.run_path(str(folder / "search.py"))["search"]
    pairs = zip(queries["question"], queries["course"], strict=True)
    found = utils.pad([alone(*pair) for pair in pairs], 10)
    return (found == search(queries)).all(axis=1)


def write_board(path, boards, development, test, refused):
    """Write the leaderboards of all kinds as one table.

    refused: a Series by search, of the last kind; see `refused_shares`."""
    for kind, board in boards.items():
        board["queries"] = kind
        same = development[kind] is test[kind]
        board["split"] = "cross-fitted" if same else "test"
        board["refused"] = refused if kind == [*boards][-1] else np.nan
    if boards:
        pd.concat(boards.values())[COLUMNS].to_csv(path)
