"""What `evaluate-retrieval` does, in one call, and what goes with it.

Each function takes a folder as `formats.convert` reads it, and works through the
functions of `evaluation`, as the notebook does."""

import itertools
import math
import os
import re
import unicodedata
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
from minsearch import Index

import utils
from course import (
    comparison,
    corpus,
    decision,
    elastic,
    embedding,
    evaluation,
    experiments,
    formats,
    gate,
    intervals,
    judging,
    llm,
    manifest,
    plots,
    pooling,
    report,
    your_searches,
)

ES = "Elasticsearch: combined_fields"
# How much the gain of one search over another differs from query to query, as a
# standard deviation for each need: the lowest, the median and the highest of two pairs
# of searches on our queries and on each collection of notebook 06. A test computes them
SPREADS = {
    "another setting": {"lowest": 0.05, "median": 0.11, "highest": 0.18},
    "another kind of search": {"lowest": 0.15, "median": 0.25, "highest": 0.34},
}
SIZES = [0.01, 0.02, 0.03, 0.05, 0.1]  # differences that people ask for
PAIR = "pair.html"
TUNED = ["text: BM25, tuned", "hybrid: tuned"]


@dataclass(frozen=True)
class Data:
    """A folder that was read.

    folder: in the course's form. documents: a list of dicts. development, test: dicts
    of the kind of queries. unanswered: judged queries without a relevant document."""

    folder: Path
    documents: list
    development: dict
    test: dict
    unanswered: pd.DataFrame

    @property
    def judged(self):
        """All judged queries with a relevant document, those that choose and report."""
        both = [some["judged"] for some in (self.development, self.test)]
        return pd.concat(both).drop_duplicates("query_id", ignore_index=True)

    @property
    def decides(self):
        """The kind of queries that decides, or None where there are none."""
        return next(reversed(self.test), None)


def read(source, out):
    """Read a folder or file: `Data`. The converted form goes into a folder of out.

    COURSE_DATA names it from then on, and COURSE_LANGUAGE the language that was found,
    unless it is set."""
    folder = formats.convert(source, out / "converted")
    os.environ["COURSE_DATA"] = str(folder)
    documents = corpus.load_documents(folder)
    texts = [document["text"] for document in documents]
    os.environ.setdefault("COURSE_LANGUAGE", formats.language_of(texts))
    return Data(folder, documents, *corpus.load_splits(folder))


# --- Evaluate ----------------------------------------------------------------


@dataclass
class Candidates:
    """The searches by name, and what they are made of.

    yours: your own. settings: of those that `evaluation.builder` makes. scorers: score
    functions. searches: all. crossed: rankings of tuned ones. All five are dicts of the
    name. embedded: vectors. held: how many documents each index has. safe: the search
    that is taken where nothing can choose. es: a client of Elasticsearch, or None."""

    yours: dict
    settings: dict
    scorers: dict
    searches: dict
    crossed: dict
    embedded: dict
    held: dict
    safe: str | None = None
    es: object = None

    @property
    def build(self):
        """Whether ours are built, too."""
        return bool(self.settings)


@dataclass(frozen=True)
class Results:
    """What was measured, dicts of the kind of queries.

    chosen: the name of the search. boards: leaderboards. rankings: by search, ids.
    differences: the chosen search minus each other, see `evaluation.differences`."""

    chosen: dict
    boards: dict
    rankings: dict
    differences: dict


def candidates(data):
    """Your searches, and ours as far as their packages are there: `Candidates`.

    Without sentence-transformers there are no vectors; a line says so. In
    Elasticsearch one is built if there is a node: see `_add_elasticsearch`. ValueError
    where an index has fewer documents than the folder."""
    every_query = [*data.development.values(), *data.test.values()]
    yours = your_searches.own_searches(data.documents, every_query, data.folder)
    found = Candidates(yours, {}, {}, dict(yours), {}, {}, {}, next(iter(yours), None))
    if your_searches.only_yours(data.documents, data.folder):
        return found
    fields = evaluation.fields_of(data.documents)
    index = Index(fields, ["course"]).fit(data.documents)
    found.held["minsearch"] = len(index.docs)
    scores = found.scorers[evaluation.BASELINE] = utils.minsearch_scores(index)
    search = utils.search_by_scores(scores, data.documents, k=10, above=0)
    found.searches[evaluation.BASELINE] = search
    settings = {"text: BM25": {"text": 1}}
    settings["text: BM25, heading × 2"] = {"text": 1, "heading": 2}
    if find_spec("sentence_transformers"):
        is_ours = data.folder == corpus.ROOT / "data"
        models = [] if is_ours else embedding.fetched_models()
        found.embedded |= evaluation.embed_all(data.documents, models)
        for name, vectors in found.embedded.items():
            settings[name] = {"vectors": 1, "embedded": name}
            found.held[name] = len({*vectors.rows})
        settings["hybrid: weight 0.8"] = evaluation.SAFE
    else:
        extra = 'pip install "retrieval-evaluation-course[course]"'
        print(f"no vectors: sentence-transformers is not installed ({extra})")
    found.safe = [*settings][-1]
    if not found.embedded:
        found.safe = "text: BM25"
    build = evaluation.builder(data.documents, found.embedded)
    for name, setting in settings.items():
        _add(found, build, data.documents, name, setting)
    _add_elasticsearch(found, data.documents, fields)
    lost = {name: len(data.documents) - n for name, n in found.held.items()}
    if any(lost.values()):
        raise ValueError(f"documents lost on the way: {lost}")
    return found


def _add(found, build, documents, name, setting):
    """Keep a setting, its score function, and the search for its ten best."""
    found.settings[name] = setting
    found.scorers[name] = build(setting)
    search = evaluation.search_of(documents, found.scorers[name], setting)
    found.searches[name] = search


def _add_elasticsearch(found, documents, fields):
    """Keep a search in Elasticsearch, if its client is there and a node answers."""
    es = found.es = elastic.connect_elasticsearch()
    if es:
        in_all = elastic.match_query(fields, "combined_fields")
        index = elastic.index_fields(es, "course-own", documents, fields)
        found.held["Elasticsearch"] = es.count(index=index)["count"]
        found.searches[ES] = elastic.elasticsearch_search(es, index, in_all, k=10)
        scores = elastic.elasticsearch_scores(es, index, in_all, documents, 1)
        found.scorers[ES] = scores


def tune(data, ours):
    """Add BM25 and the sum, tuned on the queries that decide (`evaluation.tuned`)."""
    if not (ours.build and data.test):
        return
    text, both = TUNED
    tried = {text: evaluation.BM25}
    if ours.embedded:
        tried[both] = evaluation.sums(ours.embedded)
    build = evaluation.builder(data.documents, ours.embedded)
    for name, settings in tried.items():
        halves = data.development, data.test, data.decides
        best, ranking = evaluation.tuned(data.documents, build, settings, *halves)
        ours.crossed[name] = ranking
        _add(ours, build, data.documents, name, best)


def choose(data, ours):
    """The name of the search that is chosen for each kind: see `evaluation.choose`."""
    halves = data.development, data.test
    return evaluation.choose(ours.searches, *halves, ours.crossed, ours.safe)


def measure(data, ours, chosen):
    """Rank the queries that report, and compare: `Results`. chosen: see `choose`."""
    encode_ms = pd.Series(0.0, [*ours.settings])
    if ours.embedded:
        about = ours.settings, ours.embedded, data.test
        encode_ms = evaluation.milliseconds_to_encode(*about)
    boards, rankings = {}, {}
    for kind in data.test:
        crossed = ours.crossed if kind == data.decides else {}
        how = kind, data.test, chosen, encode_ms, crossed
        board = evaluation.board_of(ours.searches, data.documents, *how)
        boards[kind], rankings[kind] = board
    differences = evaluation.differences(rankings, data.test, chosen)
    return Results(chosen, boards, rankings, differences)


def decide(data, ours, results):
    """What to do, by the queries that decide: a `decision.Decision`.

    It says if a search is to be shipped that is worse on the other queries."""
    kind = data.decides
    close = report.undecided(results.differences[kind]).index
    of_kind = results.boards[kind], results.rankings[kind], data.test[kind]
    best = results.chosen[kind]
    found = evaluation.decided(best, close, *of_kind, kind, ours.yours)
    others = [_if_worse(found, other, data, results) for other in data.test]
    return replace(found, says=" ".join([found.says, *filter(None, others)]))


def _if_worse(decided, kind, data, results):
    """That the search to ship is worse than the incumbent on a kind, or nothing."""
    pair, rankings = (decided.name, decided.incumbent), results.rankings[kind]
    is_asked = decided.verdict == "ship" and rankings.keys() >= {*pair}
    if kind == data.decides or not is_asked:
        return ""
    about = comparison.summary(data.test[kind], rankings, pair, kind)
    if about["high"] >= 0 or about["p"] >= decision.WEAK:
        return ""
    lost = f"{-about['difference']:.3f} of {comparison.METRIC[kind]}"
    return f"On {kind} queries, which do not decide, it is worse by {lost}."


def pair_of(data, ours, results, decided):
    """The chosen search, and what it is set against: the incumbent, or the next best.

    Where the incumbent is not beaten, the first is the best of the candidates. Where
    there is one search only, both are it."""
    kind = data.decides
    best = results.chosen[kind]
    if decided.incumbent and decided.verdict != "ship" and len(decided.table):
        best = decided.table.index[0]
    _, other = evaluation.new_and_old(best, ours.yours, results.boards[kind])
    return best, decided.incumbent or other


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
    log = evaluation.log_of(folder, data.development, data.documents)
    new = evaluation.unjudged(log, queries, data.unanswered, folder)
    rest = evaluation.pairs_with_draw(pairs, leaders, ours.searches, new, folder)
    tables["judge_random"] = evaluation.random_draw(rest, out / "judge-random.csv")
    print(f"{len(tables['judge_random'])} pairs to judge at random")
    graded = evaluation.corrected_by_labels(rest, leaders, data.documents, out)
    about = rankings[best], queries, data.unanswered, data.documents
    ended = evaluation.answered(best, ours.searches[best], *about, folder, out)
    return tables | {"corrected": graded, "answers": ended}


def write_files(data, ours, results, pair, refused, out, known=None):
    """Write rankings, judgements, leaderboard, queries.csv, failures.csv, pair.html.

    pair: see `pair_of`. refused: see `evaluation.refused_shares`. known: what persons
    wrote, see `comparison.known_failures`; None reads it. Returns the paths by name."""
    for kind, queries in data.test.items():
        formats.write_trec(out, kind, queries, results.rankings[kind])
    halves = data.development, data.test
    board = out / "leaderboard.csv"
    evaluation.write_board(board, results.boards, *halves, refused)
    tables = [
        comparison.query_table(queries, results.rankings[kind], kind)
        for kind, queries in data.test.items()
    ]
    corpus.write_table(pd.concat(tables), out / comparison.QUERIES)
    kind = data.decides
    queries, rankings = data.test[kind], results.rankings[kind]
    known = comparison.known_failures(out, data.folder) if known is None else known
    failed = comparison.failures(queries, rankings, kind, data.documents, known)
    kept = comparison.with_earlier(failed, known)
    corpus.write_table(kept, out / formats.FAILURES)
    names = [board.name, comparison.QUERIES, formats.FAILURES]
    (out / PAIR).unlink(missing_ok=True)  # of an earlier run
    if pair[0] != pair[1]:
        html = report.pair_page(queries, rankings, pair, kind, data.documents, failed)
        (out / PAIR).write_text(html, encoding="utf-8")
        names.insert(0, PAIR)
    return {name: out / name for name in names}


def write_search(data, ours, name, out):
    """Write the folder search/ of a search of ours; what to paste, as text.

    Your own search is yours already."""
    if name in ours.settings:
        about = data.documents, ours.settings[name], ours.embedded
        evaluation.write_search(out / "search", *about)
    fields = evaluation.fields_of(data.documents)
    return evaluation.recipe(out / "search", name, fields)


def failures_of(data, ours, results):
    """The queries for which the chosen search finds nothing relevant: a DataFrame."""
    kind, titles = data.decides, evaluation.headings(data.documents)
    search = ours.searches[results.chosen[kind]]
    return evaluation.failures(data.development[kind], search, kind, titles)


def write_report(data, ours, results, decided, pair, tables, out, source):
    """Write report.html: the decision, then why, then everything else. Its path.

    tables: by name, see `report.sections`, and recipe, a text. source: what is said
    of where the documents come from."""
    kind = data.decides
    boards, best = results.boards, results.chosen[kind]
    picture, title = out / "report.png", f"First on {kind} queries"
    title = f"{title}: {plots.label_of(boards[kind].index[0])}"
    baseline = TUNED[0] if TUNED[0] in boards[kind].index else None
    plots.save_searches(picture, evaluation.labelled(boards), title, baseline)
    cost = report.costs(boards[kind]["ms_per_query"], best)
    about = boards, results.differences, data.test, results.chosen
    page = report.sections(*about, tables)
    page.append(report.to_paste(best, tables["recipe"], best in ours.settings))
    if pair[0] != pair[1]:
        of_kind = data.test[kind], results.rankings[kind], pair, kind
        says = comparison.sentence(comparison.summary(*of_kind), pair, kind)
        page.insert(
            0, report.section("A against B", f"{says} Query by query:", link=PAIR)
        )
    page += [*report.of_yours(ours.yours), *_about(data, ours, source)]
    return _write(out, page, report.lead(decided.says, cost, picture))


def next_steps(data):
    """What to do where no queries decide, in words."""
    return evaluation.advice(data.documents, evaluation.n_asked(data.folder))


def write_advice(data, ours, out, source):
    """Write report.html where there are no queries: what to do next. Its path."""
    said = next_steps(data)
    page = [report.section("Next steps", said), *_about(data, ours, source)]
    return _write(out, page)


def _about(data, ours, source):
    """The sections on the documents, and on how the report was made."""
    said = f"{len(data.documents):,} documents were read."
    if ours.held:
        said += f" Each of {len(ours.held)} indexes has all of them."
    if ours.embedded:
        said += f" {evaluation.about_chunks(data.documents)}"
    looks = evaluation.looks(data.documents).to_frame("n")
    models = dict.fromkeys(found.model for found in ours.embedded.values())
    made = report.made_with(source, models)
    return [
        report.section("Documents", said, looks),
        report.section("How it was made", made),
    ]


def _write(out, sections, top=None):
    path = out / "report.html"
    path.write_text(report.render(sections, top), encoding="utf-8")
    return path


@dataclass(frozen=True)
class Evaluated:
    """What came out: the decision, the boards and the files, by name."""

    decided: decision.Decision
    results: Results
    pair: tuple
    files: dict


def _check_early(data, ours):
    """ValueError for what would fail only after all searches have run."""
    if not ours.searches:
        raise ValueError("there is no search: name yours with --searches")
    tuned = TUNED if ours.build and data.test else []
    decision.incumbent_of(ours.yours, [*ours.searches, *tuned])
    if llm.is_live() and not find_spec("openai"):
        advice = 'pip install "retrieval-evaluation-course[course]"'
        raise ValueError(f"COURSE_LLM=live: openai is not installed ({advice})")


def evaluate(source, out):
    """Read a folder, run all searches, decide, and write the report: `Evaluated`.

    out: the folder of results, a path. Where the folder has no queries, the report says
    what to do next, and None is returned. ValueError where there is no search."""
    data = read(source, out)
    counts = [f"{len(some):,} {kind} queries" for kind, some in data.test.items()]
    print(f"{len(data.documents):,} documents, {', '.join(counts) or 'no queries'}")
    known = comparison.known_failures(out, data.folder)
    ours = candidates(data)
    try:
        return _evaluated(data, ours, known, source, out)
    finally:
        elastic.forget(ours.es)


def _evaluated(data, ours, known, source, out):
    """`evaluate` with the searches that were built."""
    _check_early(data, ours)
    if not data.test:
        write_advice(data, ours, out, source)
        return None
    tune(data, ours)
    kind, chosen = data.decides, choose(data, ours)
    results = measure(data, ours, chosen)
    decided = decide(data, ours, results)
    pair = pair_of(data, ours, results, decided)
    asked, rankings = data.test[kind], results.rankings[kind]
    refused = evaluation.refused_shares(ours.scorers, asked, data.unanswered)
    tables = lists_to_judge(data, ours, results, out)
    tables["failures"] = failures_of(data, ours, results)
    tables["funnel"] = evaluation.funnels(rankings, asked, data.unanswered)
    tables["refused"] = refused
    tables["recipe"] = write_search(data, ours, chosen[kind], out)
    files = write_files(data, ours, results, pair, refused, out, known)
    path = write_report(data, ours, results, decided, pair, tables, out, source)
    return Evaluated(decided, results, pair, {path.name: path, **files})


def as_json(found):
    """What came out, for --json: a dict."""
    boards = {kind: board.round(6) for kind, board in found.results.boards.items()}
    table = found.decided.table.round(6).rename_axis("search").reset_index()
    return {
        "verdict": found.decided.verdict,
        "search": found.decided.name,
        "incumbent": found.decided.incumbent,
        "says": found.decided.says,
        "candidates": table.to_dict("records"),
        "chosen": found.results.chosen,
        "leaderboard": {
            kind: board.reset_index().to_dict("records")
            for kind, board in boards.items()
        },
        "pair": list(found.pair),
        "files": found.files,
        "code": decision.code(found.decided),
    }


# --- Compare -----------------------------------------------------------------


def compare(source, pair, out, kind=None, margin=decision.MARGIN):
    """Write the page of two searches of the last run into out: a dict.

    pair: names, with or without "own: ". kind: of the queries, else that which decides.
    The dict has pair, kind, the figures of `comparison.summary`, says, file and code:
    0 if the first is shown to be no worse than the margin, 1 if it is worse by more, 2
    if neither is shown, or there are fewer than experiments.FEW queries. Judgements may
    be newer than the run; a line says which files are. ValueError for a search that the
    last run does not have, for other queries, and for documents that are gone."""
    gate.check_options(margin, False, False)
    data = read(source, out)
    kind = kind or data.decides
    if kind not in data.test:
        there = ", ".join(data.test) or "no queries that can decide"
        wanted = f"no {kind} queries; " if kind else ""
        raise ValueError(f"{source}: {wanted}there are {there}")
    queries = data.test[kind]
    rankings = comparison.runs_of(out, kind, queries)
    _check_ids(rankings, data.documents, out)
    if newer := manifest.changed_since(out, source):
        print(f"changed since the run: {', '.join(newer)}")
    pair = tuple(decision.named(name, rankings) for name in pair)
    if pair[0] == pair[1]:
        raise ValueError(f"both searches are {pair[0]!r}")
    about = comparison.summary(queries, rankings, pair, kind)
    known = comparison.known_failures(out, data.folder)
    some = {name: rankings[name] for name in pair}
    failed = comparison.failures(queries, some, kind, data.documents, known)
    html = report.pair_page(queries, rankings, pair, kind, data.documents, failed)
    names = formats.file_names(rankings)
    path = out / f"{names[pair[0]]}-against-{names[pair[1]]}.html"
    path.write_text(html, encoding="utf-8")
    says = comparison.sentence(about, pair, kind)
    code, _ = gate.verdict(about["low"], about["high"], margin)
    if len(queries) < experiments.FEW:
        code = gate.UNDECIDED
        says += f" Fewer than {experiments.FEW} queries decide nothing."
    return {"pair": pair, "kind": kind, **about} | {
        "says": says,
        "file": str(path),
        "code": code,
    }


def _check_ids(rankings, documents, out):
    """ValueError if a run found documents that are gone."""
    known = {"", *(document["id"] for document in documents)}
    for name, ranking in rankings.items():
        gone = [id_ for id_ in ranking.ravel() if id_ not in known]
        if gone:
            raise ValueError(
                f"{out}: {name!r} found {gone[0]!r}, which is no document any more; "
                f"run `evaluate-retrieval FOLDER --out {out}` first"
            )


# --- Power -------------------------------------------------------------------


def power():
    """How many needs show which difference of nDCG@10: a DataFrame by difference.

    A test with so many finds it four times in five. Columns: for each of SPREADS the
    number with the lowest, the median and the highest spread. Queries that ask for the
    same count as one need."""
    rows = {
        size: {
            (name, which): math.ceil((intervals.POWER * spread / size) ** 2)
            for name, spreads in SPREADS.items()
            for which, spread in spreads.items()
        }
        for size in SIZES
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("difference")


def can_show(n_groups):
    """The difference of nDCG@10 that so many needs show, by SPREADS: a Series."""
    middle = {name: spreads["median"] for name, spreads in SPREADS.items()}
    return intervals.POWER * pd.Series(middle) / math.sqrt(n_groups)


# --- Judge -------------------------------------------------------------------


def judge(source, out, who="me", draw=None):
    """Judge pairs in the terminal; each grade is on disk at once. Returns the path.

    draw: "next" or "random", a list of the last run in out. Else it is what the last
    run lists to judge next, or a pool of the folder's queries. In the end, also of an
    interrupt and of the input, judged-queries.csv beside the documents has all
    judgements, old and new. None is returned, and nothing written, where nothing was
    judged. ValueError for what is no folder: judgements go into it."""
    source = Path(source)
    if not source.is_dir():
        raise ValueError(f"{source}: no folder; judgements go beside the documents")
    if not re.fullmatch(r"[\w.-]+", who):
        raise ValueError(f"--name {who!r}: a name has letters, digits, -, _ and . only")
    with manifest.locked(out):
        data = read(source, out)
        pairs = _to_judge(data, out, draw)
    records = {document["id"]: document for document in data.documents}
    gone = ~pairs["document"].isin([*records])
    if gone.any():
        print(f"{gone.sum()} of {len(gone)} pairs are of no document, and left out")
    session = judging.Judging(pairs[~gone], source / f"judgements-{who}.csv")
    keys = ", ".join(session.keys.values())
    print(f"{session}. Keys: {keys}; u goes back, q ends")
    try:
        _ask(session, records)
    finally:
        judged = _add_judgements(data, session, source)
    return judged


def _ask(session, records):
    """Show an item, and wait for its key, until all are judged, or q, or the end."""
    while session.at:
        item = dict(zip(session.fields, session.at, strict=True))
        record = records[item["document"]]
        text = f"QUERY  {item['query']}\n\n{record['question']}\n{record['text']}"
        print(f"\n{session}\n{printable(text)}\n", flush=True)
        try:
            key = input("grade: ").strip().lower()
        except EOFError:
            print("\nthe input has ended")
            return
        if key == "q":
            return
        judging.judge(session, key)


def _add_judgements(data, session, folder):
    """Write judged-queries.csv of old judgements and those of a session: its path.

    None where nothing was judged."""
    if not session.done:
        return None
    judged = folder / formats.JUDGED
    n = judging.add(data.folder / formats.JUDGED, session.path, judged)
    print(f"{session}; {judged} has {n:,} judgements")
    for old in [*folder.glob("qrels*"), *folder.glob("*.REL")]:
        print(f"take {old.name} out of the folder: {judged.name} has all of it")
    return judged


def printable(text):
    """A text for a terminal: without control characters, such as escape sequences."""
    kept = (one in "\n\t" or unicodedata.category(one) != "Cc" for one in text)
    return "".join(itertools.compress(text, kept))


def _to_judge(data, out, draw):
    """The pairs to judge: a DataFrame with the columns corpus.TO_JUDGE."""
    path = out / f"judge-{draw or 'next'}.csv"
    if path.exists() and corpus.read_text(path).count("\n") > 1:
        return corpus.read_table(path, corpus.TO_JUDGE)[corpus.TO_JUDGE]
    if draw:
        raise ValueError(f"{path}: nothing to judge; run the evaluation first")
    if not (data.folder / formats.LOG).exists():
        raise ValueError("no queries to judge: write some into queries.txt")
    few, searches, _ = evaluation.log_to_judge(data.folder)
    return pooling.pool(few, searches)
