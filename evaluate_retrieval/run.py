"""A run of the command on a folder: evaluate all searches, or compare two."""

import logging
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from course import corpus, embedding, experiments, intervals, llm, trec, utils
from evaluate_retrieval import (
    built_in,
    decision,
    gate,
    lists,
    pairs,
    report,
    steps,
    yours,
)
from evaluate_retrieval.folder import FAILURES, read, written_causes
from evaluate_retrieval.measures import measures_of

RESPONSES = "recorded-grades.jsonl"  # of a model that proposes grades
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Options:
    """What a run is asked for.

    source: a folder or file with the documents. out: the folder of results.
    searching: how your own searches are run. only_own: none of ours.
    incumbent: the name of the search that runs today. language: of the stems;
    None detects it. metric, k: see `measures_of`. no_tuning: nothing is tuned."""

    source: Path
    out: Path
    searching: yours.Searching = field(default_factory=yours.Searching)
    only_own: bool = False
    incumbent: str | None = None
    language: str | None = None
    metric: str | None = None
    k: int | None = None
    no_tuning: bool = False


@dataclass(frozen=True)
class Evaluated:
    """What came out. verdict, results and pair are None where no queries decide.

    failed: see `steps.Candidates`."""

    folder: object
    verdict: decision.Decision | None = None
    results: steps.Results | None = None
    pair: tuple = ()
    files: tuple = ()
    says: str = ""
    failed: dict = field(default_factory=dict)


def evaluate_folder(options, run_id):
    """Read a folder, run all searches, decide, and write the files: `Evaluated`.

    Where the folder has no queries, the report says what to do next.
    ValueError where there is no search."""
    folder = read_aloud(options)
    path = options.out / "report.html"
    if not folder.test:
        advice = lists.advice(folder)
        path.write_text(report.advice_page(folder, advice, run_id), encoding="utf-8")
        return Evaluated(folder, files=(path,), says=advice)
    folder, candidates = _candidates(folder, options)
    chosen = steps.choose(folder, candidates)
    results = steps.measure(folder, candidates, chosen)
    verdict = steps.verdict_on(folder, candidates, results, options.incumbent)
    pair = steps.pair_of(folder, candidates, results, verdict)
    measured = results.measured[folder.decides]
    figures = pairs.summary(measured, pair) if pair[0] != pair[1] else None
    tables = _tables(folder, results, verdict, options.out)
    board, queries = results.boards[folder.decides], folder.test[folder.decides]
    log.info(report.board_text(board, queries, measured.measure))
    files = _write_results(folder, results, pair, figures, tables, options.out)
    picture = path.with_suffix(".png")
    html = report.page(
        folder, candidates, results, verdict, pair, figures, tables, run_id, picture
    )
    path.write_text(html, encoding="utf-8")
    return Evaluated(
        folder, verdict, results, pair, (path, *files), verdict.says, candidates.failed
    )


def models():
    """The models that a run may ask, for its manifest: a dict of names."""
    language_model = llm.model() if llm.is_live() else None
    vectors = embedding.vector_settings()["model"] or embedding.NAME
    return {"vectors": vectors, "language model": language_model}


def read_aloud(options):
    """The folder of the options, after its notes and counts are logged."""
    folder = read(options.source, options.language)
    folder = replace(folder, measures=measures_of(options.metric, options.k))
    k = min(options.k or 0, len(folder.documents))
    for name, rankings in folder.runs.items():
        if all(len(ids) < k for ids in rankings.values()):
            problem = f"the run {name!r} has fewer results for each query"
            raise ValueError(f"{options.source}: --k {k}: {problem}")
    for note in folder.notes:
        log.info(note)
    counts = [f"{len(folder.documents):,} documents"]
    for kind, queries in folder.test.items():
        counts.append(f"{len(queries):,} {kind} queries")
        if (chosen_on := folder.development[kind]) is not queries:
            counts[-1] += f", and {len(chosen_on):,} on which settings are chosen"
        if "weight" in queries:
            effect = intervals.design_effect(queries["weight"])
            counts[-1] += (
                f", with weights: they tell as much as {len(queries) / effect:,.0f} "
                f"without (design effect {effect:.2f})"
            )
    log.info(", ".join(counts if folder.test else [*counts, "no queries"]))
    return folder


def own_of(folder, options):
    """Your own searches, while the context lasts, see `yours.own_searches`."""
    queries = [*folder.development.values(), *folder.test.values()]
    return yours.own_searches(folder, queries, options.searching)


def _candidates(folder, options, names=(), kind=None):
    """The folder and its searches, `steps.Candidates`.

    names: of searches, if no others are needed: then ours are built only where
    these are not all yours. kind: of the queries, if no others are asked. What
    can fail early is checked first. Where nothing is tuned all queries
    report."""
    with own_of(folder, options) as own:
        are_own = [
            {name, f"own: {name}", f"run: {name}"} & own.keys() for name in names
        ]
        only_own = options.only_own or (bool(names) and all(are_own))
        only_own = yours.are_alone(len(folder.documents), own, only_own)
        ours = [] if only_own else built_in.names(embedding.fetched_models())
        needed = {decision.named(name, [*own, *ours]) for name in names}
        incumbent = decision.incumbent_of(options.incumbent, own, [*own, *ours])
        if names:
            own = {name: own[name] for name in own if name in needed}
        needed.add(incumbent)
        if only_own or options.no_tuning:
            folder = steps.undivided(folder)
        tables = [*folder.development.values(), *folder.test.values()]
        if kind:
            tables = [folder.test[kind]]
        own, failed = steps.that_work(own, tables, needed, fewest=2 if only_own else 0)
    if llm.is_live() and not find_spec("openai"):
        advice = 'pip install "retrieval-evaluation-course[course]"'
        raise ValueError(f"COURSE_LLM=live: openai is not installed ({advice})")
    candidates = steps.candidates(folder, own, only_own, options.no_tuning)
    return folder, replace(candidates, failed=failed)


def _tables(folder, results, verdict, out):
    """What the report and the files show beside the boards: a dict of tables."""
    kind = folder.decides
    causes = pd.concat([written_causes([*out.glob(FAILURES)]), folder.causes])
    judge_next = lists.next_to_judge(folder, results, verdict)
    if llm.is_live() and len(judge_next):
        path = out / RESPONSES
        judge_next = lists.with_proposals(judge_next, folder.documents, path)
    return {
        "failures": pairs.failures(folder, kind, results.rankings[kind], causes),
        "judge_next": judge_next,
    }


def _write_results(folder, results, pair, figures, tables, out):
    """Write rankings, judgements, boards and tables; the paths that matter, a list."""
    kind, by_query = folder.decides, []
    for name, queries in folder.test.items():
        rankings = results.rankings[name]
        trec.write_trec(out, name, queries, rankings)
        of_queries = queries, rankings, results.measured[name]
        by_query.append(pairs.query_table(*of_queries))
    pd.concat(results.boards.values()).to_csv(out / "leaderboard.csv")
    corpus.write_table(pd.concat(by_query), out / "queries.csv")
    corpus.write_table(tables["failures"], out / FAILURES)
    names = ["leaderboard.csv", "queries.csv", FAILURES]
    if kind == "judged":
        corpus.write_table(tables["judge_next"], out / "judge-next.csv")
        names.append("judge-next.csv")
    (out / "pair.html").unlink(missing_ok=True)  # of an earlier run
    if figures:
        failed = tables["failures"]
        html = report.pair_page(folder, results, pair, kind, failed, figures)
        (out / "pair.html").write_text(html, encoding="utf-8")
        names.insert(0, "pair.html")
    return [out / name for name in names]


def evaluated_as_json(evaluated):
    """What came out, for --json: a dict."""
    verdict, results = evaluated.verdict, evaluated.results
    result = {"says": evaluated.says, "files": evaluated.files}
    if verdict is None:
        return {**result, "code": gate.UNDECIDED}
    kind = evaluated.folder.decides
    table = verdict.table.round(6).rename_axis("search").reset_index()
    return {
        "verdict": verdict.verdict,
        "search": verdict.name,
        "incumbent": verdict.incumbent,
        "decides": kind,
        "metric": str(evaluated.folder.measures[kind]),
        "candidates": table.to_dict("records"),
        "chosen": results.chosen,
        "leaderboard": {
            name: board.round(6).reset_index().to_dict("records")
            for name, board in results.boards.items()
        },
        "pair": evaluated.pair,
        **result,
        "code": decision.code(verdict),
    }


# --- The gate ----------------------------------------------------------------


def kept_of(evaluated, name=None, baseline=None):
    """What a baseline keeps of each kind of query: a dict of `gate.Kept`.

    name: of the search. Without one it is that of a baseline, as far as it was
    ranked; else the chosen one of each kind. ValueError for a name that no
    search has."""
    results, kept = evaluated.results, {}
    for kind, queries in evaluated.folder.test.items():
        rankings, search = results.rankings[kind], results.chosen[kind]
        if name:
            search = decision.named(name, rankings)
        elif baseline and kind in baseline:
            before = baseline[kind].search
            if before in evaluated.failed and before not in rankings:
                raise ValueError(evaluated.failed[before])
            search = before if before in rankings else search
        ids = trec.query_ids(queries)
        table = queries[["question"]].assign(
            query_id=ids,
            need=intervals.groups_of(queries),
            weight=intervals.weights_of(queries),
        )
        ranked = [[*trec.without_end(row)] for row in rankings[search]]
        qrels = utils.qrels_of(utils.right_answers(queries))
        kept[kind] = gate.Kept(
            search,
            table,
            dict(zip(ids, ranked, strict=True)),
            dict(zip(ids, qrels, strict=True)),
            evaluated.folder.measures[kind],
        )
    return kept


# --- Two searches ------------------------------------------------------------


def compare_two(options, names, kind=None, margin=decision.MARGIN):
    """Measure two searches, and write their page into the folder of results: a dict.

    names: with or without "own: ". kind: of the queries, else that which
    decides. The dict has pair, kind, the figures of `pairs.summary`, says,
    files and code: 0 if the first is shown to be no worse than the margin, 1
    if it is worse by more, 2 if neither is shown, or there are fewer than
    experiments.FEW queries. ValueError for a search or queries that are not
    there."""
    folder = read_aloud(options)
    kind = kind or folder.decides
    if kind not in folder.test:
        there = ", ".join(folder.test) or "no queries that can decide"
        raise ValueError(f"{options.source}: no {kind} queries; there are {there}")
    folder, candidates = _candidates(folder, options, names, kind)
    pair = tuple(decision.named(name, candidates.searches) for name in names)
    if pair[0] == pair[1]:
        raise ValueError(f"both searches are {pair[0]!r}")
    two = candidates.only(pair)
    able = yours.of_queries(two.searches, folder.test[kind])
    for name in pair:
        if name not in able:
            raise ValueError(f"{name!r} ranks less than half of the {kind} queries")
    results = steps.measure(folder, two, {kind: pair[0]})
    figures = pairs.summary(results.measured[kind], pair)
    causes = written_causes([*options.out.glob(FAILURES)])
    failed = pairs.failures(folder, kind, results.rankings[kind], causes)
    files = trec.file_names(pair)
    path = options.out / f"{files[pair[0]]}-against-{files[pair[1]]}.html"
    html = report.pair_page(folder, results, pair, kind, failed, figures)
    path.write_text(html, encoding="utf-8")
    says = [pairs.sentence(figures, pair)]
    says += [f"{why}." for why in candidates.failed.values()]
    code, _ = pairs.exit_code(figures, margin)
    if figures["queries"] < experiments.FEW:
        code = gate.UNDECIDED
        says.append(f"Fewer than {experiments.FEW} queries decide nothing.")
    says = " ".join(says)
    result = {"says": says, "files": [path], "code": code}
    return {"pair": pair, **figures, **result}
