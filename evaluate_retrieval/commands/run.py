"""A run of the command on a folder: evaluate all searches, or compare two.

options: those of the command line, see `__main__.parser`, by their names. source
is the path of the documents, and out that of the folder of results."""

import logging
from contextlib import suppress
from dataclasses import dataclass, field, replace

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.commands import manifest, report, steps
from evaluate_retrieval.judging import labels, next_pairs
from evaluate_retrieval.measuring import decision, intervals, pairs, tuning
from evaluate_retrieval.measuring.baseline import (
    BASELINE,
    Kept,
    outcomes_as_json,
    outcomes_of,
    read_baseline,
    since_last,
    summary_lines,
    write_baseline,
    write_summary,
)
from evaluate_retrieval.measuring.metric import measures_of
from evaluate_retrieval.reading import trec
from evaluate_retrieval.reading.files import write_table
from evaluate_retrieval.reading.folder import FAILURES, read, written_causes
from evaluate_retrieval.searching import built_in, embedding
from evaluate_retrieval.searching.own import (
    Searching,
    are_alone,
    of_queries,
    own_searches,
)
from evaluate_retrieval.words.constants import UNDECIDED
from evaluate_retrieval.words.templates import line_of

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Evaluated:
    """What came out of a folder. Where no queries decide, the rest is None.

    files: paths that matter, which grow. figures: of the pair, see
    `pairs.summary`, or None where both names are one. failures: see
    `pairs.failures`. judge_next: see `next_pairs.next_to_judge`. changes: sentences,
    see `baseline.since_last`."""

    folder: object
    says: str
    files: list
    candidates: steps.Candidates | None = None
    results: steps.Results | None = None
    verdict: decision.Decision | None = None
    pair: tuple = ()
    figures: dict | None = None
    failures: pd.DataFrame | None = None
    judge_next: pd.DataFrame | None = None
    changes: list = field(default_factory=list)


def evaluate(options):
    """Evaluate a folder, decide, and write the files: a dict for --json."""
    evaluated, _ = _recorded(options, options.incumbent, {})
    verdict = evaluated.verdict
    results = evaluated.results
    result = {"says": evaluated.says, "files": evaluated.files}
    if verdict is None:
        return {**result, "code": UNDECIDED}
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
        "changes": evaluated.changes,
        **result,
        "code": decision.code(verdict),
    }


def _recorded(options, name, baseline):
    """Evaluate a folder under a manifest: `Evaluated`, and what is kept, see `kept_of`.

    name, baseline: see `searches_to_keep`. Nothing is kept without queries."""
    path = options.out / BASELINE
    last = {}
    kept = {}
    if manifest.has_written(options.out, BASELINE, options.source):
        with suppress(ValueError):  # of a former version
            last = read_baseline(path)
    with manifest.recorded_run(options, models()) as run_id:
        evaluated = _evaluated(options, run_id, last)
        if evaluated.verdict:
            kept = kept_of(evaluated, searches_to_keep(evaluated, name, baseline))
            write_baseline(path, kept, run_id)
            evaluated.files.append(path)
    return evaluated, kept


def _evaluated(options, run_id, last):
    """Read a folder, run all searches, decide, and write the files: `Evaluated`.

    last: what the last run kept, a dict of kind: `baseline.Kept`.
    Where the folder has no queries, the report says what to do next.
    ValueError where there is no search."""
    folder = read_aloud(options)
    out = options.out
    page = out / "report.html"
    if not folder.test:
        evaluated = Evaluated(folder, report.advice(folder), [page])
        report.advice_page(evaluated, run_id, page)
        return evaluated
    written_causes(out, options.source)  # one that cannot be read stops here
    folder, candidates = _candidates(folder, options)
    chosen = steps.choose(folder, candidates)
    results = steps.measure(folder, candidates, chosen)
    verdict = steps.verdict_on(folder, candidates, results, options.incumbent)
    pair = steps.pair_of(folder, candidates, results, verdict)
    kind = folder.decides
    measured = results.measured[kind]
    judge_next = next_pairs.next_to_judge(folder, results, verdict)
    evaluated = Evaluated(
        folder,
        verdict.says,
        [page],
        candidates,
        results,
        verdict,
        pair,
        pairs.summary(measured, pair) if pair[0] != pair[1] else None,
        _failures(folder, kind, results, out),
        judge_next,
    )
    ranked_again = {
        kind: kept.search
        for kind, kept in last.items()
        if kept.search in results.rankings.get(kind, ())
    }
    evaluated.changes.extend(since_last(last, kept_of(evaluated, ranked_again)))
    for sentence in evaluated.changes:
        log.info(sentence)
    board = results.boards[kind]
    queries = folder.test[kind]
    log.info(report.board_text(board, queries, measured.measure))
    _write_results(evaluated, out)
    report.page(evaluated, run_id, page)
    return evaluated


def _failures(folder, kind, results, out):
    """See `pairs.failures`, with the causes that a person wrote.

    Those beside the documents count before those in out, of an earlier run."""
    causes = written_causes(out, folder.source)
    return pairs.failures(folder, kind, results.rankings[kind], causes)


def models():
    """The models that a run may ask, for its manifest: a dict of names."""
    return {"vectors": embedding.vector_settings()["model"] or embedding.NAME}


def read_aloud(options):
    """The folder of the options, after its notes and counts are logged."""
    folder = read(options.source, options.language)
    folder = replace(folder, measures=measures_of(options.metric, options.k))
    k = min(options.k or 0, len(folder.documents))
    for name, rankings in folder.runs.items():
        if all(len(ids) < k for ids in rankings.values()):
            problem = f"the run {name!r} has fewer results for each query"
            raise ValueError(f"{options.source}: --k {k}: {problem}")
    for note in [*folder.notes, *labels.remember(folder)]:
        log.info(note)
    effect = intervals.design_effect
    log.info(line_of("folder.txt.j2", folder=folder, effect=effect))
    return folder


def own_of(folder, options):
    """Your own searches, while the context lasts, see `own.own_searches`."""
    queries = [*folder.development.values(), *folder.test.values()]
    searching = Searching(
        options.searches,
        dict(options.search),
        options.python,
        options.timeout,
        options.jobs,
    )
    return own_searches(folder, queries, searching)


def _candidates(folder, options, names=(), kind=None):
    """The folder and its searches, `steps.Candidates`.

    names: of searches, if no others are needed: then ours are built only where
    these are not all yours. kind: of the queries, if no others are asked. What
    can fail early is checked first. Where nothing is tuned all queries
    report."""
    with own_of(folder, options) as own:
        are_own = [own.keys() & decision.full_names(name) for name in names]
        none_of_ours = names and all(are_own)
        only_own = options.only_own or none_of_ours or not folder.has_texts
        are_many = len(folder.documents) > built_in.LARGE
        only_own = are_alone(are_many, own, only_own)
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
    candidates = steps.candidates(folder, own, only_own, options.no_tuning)
    return folder, replace(candidates, failed=failed)


def _write_results(evaluated, out):
    """Write rankings, judgements, boards and tables, and the page of the pair."""
    folder = evaluated.folder
    results = evaluated.results
    tables = {"queries.csv": [], FAILURES: [evaluated.failures]}
    if folder.decides == "judged":
        tables["judge-next.csv"] = [evaluated.judge_next]
    for kind, queries in folder.test.items():
        of_queries = queries, results.rankings[kind]
        trec.write_trec(out, kind, *of_queries)
        by_query = pairs.query_table(*of_queries, results.measured[kind])
        tables["queries.csv"].append(by_query)
    pd.concat(results.boards.values()).to_csv(out / "leaderboard.csv")
    for name, parts in tables.items():
        write_table(pd.concat(parts), out / name)
    page = out / "pair.html"
    page.unlink(missing_ok=True)  # of an earlier run
    if evaluated.figures:
        report.pair_page(
            folder, results, evaluated.pair, evaluated.failures, evaluated.figures, page
        )
        evaluated.files.append(page)
    evaluated.files.extend(out / name for name in ("leaderboard.csv", *tables))


# --- The gate ----------------------------------------------------------------


def hold_against_baseline(options):
    """Evaluate a folder, and hold a search against that of an earlier run: a dict."""
    baseline = read_baseline(options.baseline)
    if options.baseline.resolve().parent == options.out.resolve():
        raise ValueError(f"{options.baseline}: this run writes there; name a copy")
    name = options.candidate or options.incumbent
    evaluated, kept = _recorded(options, name, baseline)
    if not kept:
        raise ValueError(f"{options.source}: there are no queries that can decide")
    choices = options.margin, options.anytime, options.allow_deleted
    outcomes = outcomes_of(baseline, kept, *choices)
    for outcome in outcomes:
        outcome.sentences.extend(evaluated.candidates.failed.values())
    for line in summary_lines(outcomes):
        log.info(line)
    if options.summary:
        write_summary(outcomes, options.summary)
    return outcomes_as_json(outcomes)


def searches_to_keep(evaluated, name, baseline):
    """The search of each kind of query that a baseline keeps: a dict of names.

    name: of the search, or None. Then it is that of the baseline, a dict of kind:
    `baseline.Kept`, as far as it was ranked; else the chosen one. ValueError for a name
    that no search has, and for a search of the baseline that failed."""
    names = dict(evaluated.results.chosen)
    failed = evaluated.candidates.failed
    for kind, rankings in evaluated.results.rankings.items():
        before = baseline[kind].search if kind in baseline else None
        if name:
            names[kind] = decision.named(name, rankings)
        elif before in rankings:
            names[kind] = before
        elif before in failed:
            raise ValueError(failed[before])
    return names


def kept_of(evaluated, searches):
    """What a baseline keeps of a search of each kind of query: dict of `baseline.Kept`.

    searches: a dict of kind: name."""
    kept = {}
    for kind, search in searches.items():
        queries = evaluated.folder.test[kind]
        ids = trec.query_ids(queries)
        table = queries[["question"]].assign(
            query_id=ids,
            need=intervals.groups_of(queries),
            weight=intervals.weights_of(queries),
        )
        rankings = evaluated.results.rankings[kind][search]
        ranked = [[*trec.without_end(row)] for row in rankings]
        qrels = utils.qrels_of(utils.right_answers(queries))
        kept[kind] = Kept(
            search,
            table,
            dict(zip(ids, ranked, strict=True)),
            dict(zip(ids, qrels, strict=True)),
            evaluated.folder.measures[kind],
            evaluated.folder.hashes,
        )
    return kept


# --- Two searches ------------------------------------------------------------


def compare_two(options):
    """Measure two searches, and write their page into the folder of results: a dict.

    options: a and b, names with or without "own: "; kind, of the queries, else
    that which decides. The dict has pair, kind, the figures of `pairs.summary`,
    says, files and code: 0 if the first is shown to be no worse than the margin, 1
    if it is worse by more, 2 if neither is shown, or there are fewer than
    tuning.FEW queries. ValueError for a search or queries that are not
    there."""
    folder = read_aloud(options)
    names = (options.a, options.b)
    kind = options.kind or folder.decides
    if kind not in folder.test:
        there = ", ".join(folder.test) or "no queries that can decide"
        raise ValueError(f"{options.source}: no {kind} queries; there are {there}")
    folder, candidates = _candidates(folder, options, names, kind)
    pair = tuple(decision.named(name, candidates.searches) for name in names)
    if pair[0] == pair[1]:
        raise ValueError(f"both searches are {pair[0]!r}")
    two = {name: candidates.searches[name] for name in pair}
    able = of_queries(two, folder.test[kind])
    for name in pair:
        if name not in able:
            raise ValueError(f"{name!r} ranks less than half of the {kind} queries")
    candidates = replace(candidates, searches=two)
    results = steps.measure(folder, candidates, {kind: pair[0]})
    figures = pairs.summary(results.measured[kind], pair)
    failed = _failures(folder, kind, results, options.out)
    path = options.out / f"{'-against-'.join(trec.file_names(pair).values())}.html"
    report.pair_page(folder, results, pair, failed, figures, path)
    says = [pairs.sentence(figures, pair), *candidates.failed.values()]
    code, _ = pairs.exit_code(figures, options.margin)
    if figures["queries"] < tuning.FEW:
        code = UNDECIDED
        says.append(f"Fewer than {tuning.FEW} queries decide nothing.")
    result = {"says": " ".join(says), "files": [path], "code": code}
    return {"pair": pair, **figures, **result}
