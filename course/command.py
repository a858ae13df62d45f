"""What `evaluate-retrieval` does: notebook 06 in one call, and what goes with it.

Each function takes a folder as `formats.convert` reads it, and works through the
functions of `evaluation`, as the notebook does."""

import math
import os
from dataclasses import dataclass
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
    formats,
    intervals,
    judging,
    plots,
    pooling,
    report,
    your_searches,
)

ES = "Elasticsearch: combined_fields"
# How much the gain of one search over another differs from query to query, as a
# standard deviation for each need: the lowest, the median and the highest of two pairs
# of searches on our queries and on each collection of notebook 08. A test computes them
SPREADS = {
    "another setting": {"lowest": 0.05, "median": 0.11, "highest": 0.18},
    "another kind of search": {"lowest": 0.15, "median": 0.25, "highest": 0.34},
}
SIZES = [0.01, 0.02, 0.03, 0.05, 0.1]  # differences that people ask for
CODES = {"ship": 0, "keep": 1, "undecided": 2}
ERROR = 3


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
    return Data(folder, documents, *corpus.load_halves(folder))


# --- Evaluate ----------------------------------------------------------------


@dataclass
class Candidates:
    """The searches by name, and what they are made of.

    settings: of those that `evaluation.builder` makes. scorers: score functions.
    searches: of all. yours: the names of your own. crossed: rankings of tuned ones, by
    name. embedded: vectors. safe: the search that is taken where nothing can choose."""

    yours: dict
    settings: dict
    scorers: dict
    searches: dict
    crossed: dict
    embedded: dict
    safe: str | None = None


def candidates(data):
    """Your searches, and ours as far as their packages are there: `Candidates`.

    Without sentence-transformers there are no vectors, and without ELASTICSEARCH_URL
    no search in Elasticsearch. A line says what is left out."""
    every_query = [*data.development.values(), *data.test.values()]
    yours = your_searches.own_searches(data.documents, every_query, data.folder)
    found = Candidates(yours, {}, {}, dict(yours), {}, {}, next(iter(yours), None))
    if your_searches.only_yours(data.documents, data.folder):
        return found
    fields = evaluation.fields_of(data.documents)
    index = Index(fields, ["course"]).fit(data.documents)
    scores = found.scorers[evaluation.BASELINE] = utils.minsearch_scores(index)
    search = utils.search_by_scores(scores, data.documents, k=10, above=0)
    found.searches[evaluation.BASELINE] = search
    settings = {"text: BM25": {"text": 1}}
    settings["text: BM25, heading × 2"] = {"text": 1, "heading": 2}
    if find_spec("sentence_transformers"):
        found.embedded |= evaluation.embed_all(
            data.documents, embedding.fetched_models()
        )
        for name in found.embedded:
            settings[name] = {"vectors": 1, "embedded": name}
        settings["hybrid: weight 0.8"] = evaluation.SAFE
    else:
        extra = 'pip install "retrieval-evaluation-course[course]"'
        print(f"no vectors: sentence-transformers is not installed ({extra})")
    found.safe = [*settings][-1] if found.embedded else "text: BM25"
    build = evaluation.builder(data.documents, found.embedded)
    for name, setting in settings.items():
        _add(found, build, data.documents, name, setting)
    _add_elasticsearch(found, data.documents, fields)
    for name, tried in _to_tune(found).items() if data.test else ():
        halves = data.documents, build, tried, data.development, data.test
        best, found.crossed[name] = evaluation.tuned(*halves, data.decides)
        _add(found, build, data.documents, name, best)
    return found


def _add(found, build, documents, name, setting):
    """Keep a setting, its score function, and the search for its ten best."""
    found.settings[name] = setting
    found.scorers[name] = build(setting)
    search = evaluation.search_of(documents, found.scorers[name], setting)
    found.searches[name] = search


def _add_elasticsearch(found, documents, fields):
    """Keep a search in Elasticsearch, if ELASTICSEARCH_URL names a node."""
    es = elastic.connect_elasticsearch() if os.getenv("ELASTICSEARCH_URL") else None
    if es:
        in_all = elastic.match_query(fields, "combined_fields")
        index = elastic.index_fields(es, "course-own", documents, fields)
        found.searches[ES] = elastic.elasticsearch_search(es, index, in_all, k=10)
        scores = elastic.elasticsearch_scores(es, index, in_all, documents, 1)
        found.scorers[ES] = scores


def _to_tune(found):
    """The settings to try, by the name of the search that is tuned."""
    tuned = {"text: BM25, tuned": evaluation.BM25}
    if found.embedded:
        tuned["hybrid: tuned"] = evaluation.sums(found.embedded)
    return tuned


@dataclass(frozen=True)
class Evaluated:
    """What came out: the decision, the boards and the files.

    pair: the chosen search and the one that it is set against. files: by name."""

    decided: decision.Decision
    chosen: dict
    boards: dict
    pair: tuple
    files: dict


def evaluate(source, out):
    """Read a folder, run all searches, decide, and write the report: `Evaluated`.

    out: the folder of results, a path. Where the folder has no queries, the report says
    what to do next, and None is returned."""
    data = read(source, out)
    looks, counts = evaluation.looks(data.documents), []
    for kind, queries in data.test.items():
        counts.append(f"{len(queries):,} {kind} queries")
    print(f"{len(data.documents):,} documents, {', '.join(counts) or 'no queries'}")
    ours = candidates(data)
    if not ours.searches:
        raise ValueError("there is no search: name yours with --searches")
    ends = [report.section("Documents", "", looks.to_frame("n"))]
    models = [found.model for found in ours.embedded.values() if found.model]
    made = report.made_with(source, dict.fromkeys(models))
    ends.append(report.section("How it was made", made))
    if not data.test:
        next_steps = report.section("Next steps", evaluation.advice(data.documents))
        return _write(out, [next_steps, *ends])
    found = _measured(data, ours, out)
    return _reported(data, ours, found, ends, out)


def _measured(data, ours, out):
    """Choose, rank, compare: a dict of what the report needs."""
    test, kind = data.test, data.decides
    chosen = evaluation.choose(
        ours.searches, data.development, test, ours.crossed, ours.safe
    )
    encode_ms = pd.Series(0.0, [*ours.settings])
    if ours.embedded:
        encode_ms = evaluation.milliseconds_to_encode(
            ours.settings, ours.embedded, test
        )
    boards, rankings = {}, {}
    for each in test:
        how = each, test, chosen, encode_ms, ours.crossed if each == kind else {}
        board = evaluation.board_of(ours.searches, data.documents, *how)
        boards[each], rankings[each] = board
    differences = evaluation.differences(rankings, test, chosen)
    close = report.undecided(differences[kind]).index
    of_kind = boards[kind], rankings[kind], test[kind], kind, ours.yours
    decided = evaluation.decided(chosen[kind], close, *of_kind)
    return {
        "chosen": chosen,
        "boards": boards,
        "rankings": rankings,
        "differences": differences,
        "decided": decided,
    }


def _reported(data, ours, found, ends, out):
    """Write all files of results: `Evaluated`."""
    test, kind = data.test, data.decides
    queries, rankings = test[kind], found["rankings"][kind]
    boards, chosen = found["boards"], found["chosen"]
    best, decided = chosen[kind], found["decided"]
    other = (
        decided.incumbent or evaluation.new_and_old(best, ours.yours, boards[kind])[1]
    )
    pair = _pair(decided, best, other)
    refused = evaluation.refused_shares(ours.scorers, queries, data.unanswered)
    for each, asked in test.items():
        formats.write_trec(out, each, asked, found["rankings"][each])
    evaluation.write_board(
        out / "leaderboard.csv", boards, data.development, test, refused
    )
    tables = [
        comparison.query_table(asked, found["rankings"][each], each)
        for each, asked in test.items()
    ]
    corpus.write_table(pd.concat(tables), out / "queries.csv")
    known = comparison.known_failures(out, data.folder)
    failed = comparison.failures(queries, rankings, kind, data.documents, known)
    corpus.write_table(failed, out / comparison.FAILURES)
    page = _sections(data, ours, found, refused, out)
    if len(pair) == 2:
        html = report.pair_page(queries, rankings, pair, kind, data.documents, failed)
        (out / "pair.html").write_text(html, encoding="utf-8")
        about = comparison.summary(queries, rankings, pair, kind)
        said = f"{comparison.sentence(about, pair, kind)} Query by query:"
        page.insert(0, report.section("Why", said, link="pair.html"))
    picture = out / "report.png"
    title = f"First on {kind} queries: {boards[kind].index[0]}"
    plots.save_searches(picture, evaluation.labelled(boards), title)
    cost = report.costs(boards[kind]["ms_per_query"], best)
    top = report.lead(decided.says, cost, picture)
    page += report.of_yours(ours.yours)
    _write(out, [*page, *ends], top)
    names = ["report.html", "leaderboard.csv", "queries.csv", comparison.FAILURES]
    files = {name: str(out / name) for name in names}
    return Evaluated(decided, chosen, boards, pair, files)


def _pair(decided, best, other):
    """The two searches whose page is written; one where there is no other."""
    if decided.incumbent and decided.verdict != "ship" and len(decided.table):
        best = decided.table.index[0]  # the best of the candidates
    return (best, other) if best != other else (best,)


def _sections(data, ours, found, refused, out):
    """The sections of the report on the queries, and the files that they name."""
    kind, test, boards = data.decides, data.test, found["boards"]
    rankings, chosen = found["rankings"][kind], found["chosen"]
    titles, best = evaluation.headings(data.documents), chosen[kind]
    asked = data.development[kind]
    tables = {
        "failures": evaluation.failures(asked, ours.searches[best], kind, titles),
        "funnel": evaluation.funnels(rankings, test[kind], data.unanswered),
        "answers": pd.DataFrame(),
        "judge_next": pd.DataFrame(columns=corpus.TO_JUDGE),
        "judge_random": pd.DataFrame(columns=corpus.TO_JUDGE),
        "corrected": pd.DataFrame(),
        "refused": refused,
    }
    if kind == "judged":
        close = report.undecided(found["differences"][kind]).index
        leaders, pairs = [best, *close], pooling.pairs_of(rankings, test[kind])
        tables["judge_next"] = pooling.judge_next(pairs, leaders)
        corpus.write_table(tables["judge_next"], out / "judge-next.csv")
        log = evaluation.log_of(data.folder, data.development, data.documents)
        new = evaluation.unjudged(log, test[kind], data.unanswered, data.folder)
        where = leaders, ours.searches, new, data.folder
        rest = evaluation.pairs_with_draw(pairs, *where)
        draw = evaluation.random_draw(rest, out / "judge-random.csv")
        tables["judge_random"] = draw
        corrected = evaluation.corrected_by_labels(rest, leaders, data.documents, out)
        tables["corrected"] = corrected
        about = rankings[best], test[kind], data.unanswered, data.documents
        ended = evaluation.answered(best, ours.searches[best], *about, data.folder, out)
        tables["answers"] = ended
    page = report.sections(boards, found["differences"], test, chosen, tables)
    in_folder, fields = best in ours.settings, evaluation.fields_of(data.documents)
    if in_folder:
        setting = ours.settings[best]
        evaluation.write_search(out / "search", data.documents, setting, ours.embedded)
    recipe = evaluation.recipe(out / "search", best, fields)
    return [*page, report.to_paste(best, recipe, in_folder)]


def _write(out, sections, top=None):
    """Write report.html."""
    page = report.render(sections, top)
    (out / "report.html").write_text(page, encoding="utf-8")


def as_json(found):
    """What came out as a dict of plain values, for --json."""
    boards = {kind: board.round(6) for kind, board in found.boards.items()}
    table = found.decided.table.round(6).rename_axis("search").reset_index()
    return {
        "verdict": found.decided.verdict,
        "search": found.decided.name,
        "incumbent": found.decided.incumbent,
        "says": found.decided.says,
        "candidates": _plain(table),
        "chosen": found.chosen,
        "leaderboard": {k: _plain(board.reset_index()) for k, board in boards.items()},
        "pair": list(found.pair),
        "files": found.files,
        "code": decision.code(found.decided),
    }


def _plain(table):
    """The rows of a table as dicts, whose missing values are None."""
    rows = table.astype(object).where(table.notna(), None)
    return rows.to_dict("records")


# --- Compare -----------------------------------------------------------------


def compare(source, pair, out, kind=None, margin=decision.MARGIN):
    """Write the page of two searches of the last run into out: a dict.

    pair: names, with or without "own: ". kind: of the queries, else that which decides.
    The dict has pair, kind, the figures of `comparison.summary`, says, file and code:
    0 if the first is shown to be no worse than the margin, 1 if it is worse by more, 2
    if neither is shown. ValueError for a search that the last run does not have."""
    data = read(source, out)
    kind = kind or data.decides
    if kind not in data.test:
        there = ", ".join(data.test) or "no queries"
        raise ValueError(f"{source}: no {kind} queries; there are {there}")
    queries = data.test[kind]
    rankings = comparison.runs_of(out, kind, queries)
    pair = tuple(decision.named(name, rankings) for name in pair)
    if pair[0] == pair[1]:
        raise ValueError(f"both searches are {pair[0]!r}")
    about = comparison.summary(queries, rankings, pair, kind)
    known = comparison.known_failures(data.folder, out)
    some = {name: rankings[name] for name in pair}
    failed = comparison.failures(queries, some, kind, data.documents, known)
    html = report.pair_page(queries, rankings, pair, kind, data.documents, failed)
    names = formats.file_names(rankings)
    path = out / f"{names[pair[0]]}-against-{names[pair[1]]}.html"
    path.write_text(html, encoding="utf-8")
    says = comparison.sentence(about, pair, kind)
    code = CODES["undecided"]
    if about["low"] > -margin:
        code = CODES["ship"]
    elif about["high"] < -margin:
        code = CODES["keep"]
    return {"pair": pair, "kind": kind, **about} | {
        "says": says,
        "file": str(path),
        "code": code,
    }


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
    run lists to judge next, or a pool of the folder's queries. In the end
    judged-queries.csv beside the documents has all judgements, old and new."""
    data = read(source, out)
    records = {document["id"]: document for document in data.documents}
    pairs = _to_judge(data, out, draw)
    source = Path(source)
    beside = source if source.is_dir() else source.parent
    session = judging.Judging(pairs, beside / f"judgements-{who}.csv")
    keys = ", ".join(session.keys.values())
    print(f"{session}. Keys: {keys}; u goes back, q ends")
    while session.at:
        item = dict(zip(session.fields, session.at, strict=True))
        record = records[item["document"]]
        text = f"{record['question']}\n{record['text']}"
        print(f"\n{session}\nQUERY  {item['query']}\n\n{text}\n", flush=True)
        key = input("grade: ").strip().lower()
        if key == "q":
            break
        judging.judge(session, key)
    judged = beside / formats.JUDGED
    n = judging.add(data.folder / formats.JUDGED, session.path, judged)
    print(f"{session}; {judged} has {n:,} judgements")
    return judged


def _to_judge(data, out, draw):
    """The pairs to judge: a DataFrame with the columns corpus.TO_JUDGE."""
    for name in [draw] if draw else ["next"]:
        path = out / f"judge-{name}.csv"
        if path.exists():
            pairs = corpus.read_table(path, corpus.TO_JUDGE)
            if len(pairs):
                return pairs[corpus.TO_JUDGE]
        if draw:
            raise ValueError(f"{path}: nothing to judge; run the evaluation first")
    few, searches, _ = evaluation.log_to_judge(data.folder)
    return pooling.pool(few, searches)
