"""A run of the command on a folder, as far as several commands go the same way.

options: see `options.SearchOptions`."""

import logging
import shlex
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.commands import manifest, report
from evaluate_retrieval.commands.aloud import check_scale, read_aloud
from evaluate_retrieval.commands.evaluated import Evaluated
from evaluate_retrieval.commands.options import (
    DecidingOptions,
    MeasuringOptions,
    Options,
    SearchOptions,
)
from evaluate_retrieval.commands.pair import pair_page
from evaluate_retrieval.judging import next_pairs, settling
from evaluate_retrieval.measuring import (
    decision,
    guards,
    history,
    pairs,
    segments,
    steps,
    verdicts,
)
from evaluate_retrieval.measuring.baseline_file import (
    BASELINE,
    Kept,
    read_baseline,
    write_baseline,
)
from evaluate_retrieval.measuring.estimand import deciding
from evaluate_retrieval.measuring.keeping import kept_of, search_to_keep
from evaluate_retrieval.measuring.noise import noises_of
from evaluate_retrieval.measuring.since import since_last
from evaluate_retrieval.reading import trec
from evaluate_retrieval.reading.folder import Folder, located
from evaluate_retrieval.reading.kept import written_causes
from evaluate_retrieval.reading.listing import FAILURES
from evaluate_retrieval.reading.writing import make_folder, write_table
from evaluate_retrieval.searching import built_in, embedding
from evaluate_retrieval.searching.names import full_names, named
from evaluate_retrieval.searching.own import (
    Search,
    Searching,
    are_alone,
    costs_of,
    own_searches,
)
from evaluate_retrieval.searching.repeats import (
    ASKED_TWICE,
    as_systems_unless_named,
    asked_again,
    unsteady,
)
from evaluate_retrieval.words import sentences
from evaluate_retrieval.words.terminal import step

N_STEPS = 5  # of a run, once its folder is read
log = logging.getLogger(__name__)


@contextmanager
def at_work(options: Options) -> Iterator[Any]:
    """The options with whole paths, while no other run writes into the results.

    source is then the path of the documents, and out that of the results, which is
    made. FileNotFoundError for what is not there; ValueError where the results would
    lie among the documents, or in a folder that is not ours."""
    options = with_paths(options)
    with manifest.locked(options.out):
        yield options


def with_paths(options: Options) -> Options:
    """The options with whole paths, and the folder of results: see `at_work`."""
    if options.folder is None:
        raise utils.InputError(problem="no documents", advice="name a folder or a file")
    if isinstance(options, SearchOptions):
        model = options.model
        if model and not embedding.model_folder(model).is_dir():
            problem = "no such folder"
            raise utils.InputError(option="--model", value=model, problem=problem)
        if isinstance(options.searches, str | Path):
            options = replace(options, searches=located(options.searches))
    source = located(options.folder)
    out = Path(options.out).absolute()
    if out.resolve() == source:
        problem = "that is the folder of the documents"
        raise utils.InputError(option="--out", value=out, problem=problem)
    manifest.check_ours(out)
    make_folder(out)
    return replace(options, source=source, out=out)


def evaluated_and_kept(
    options: DecidingOptions,
    name: str | None,
    before: Kept | None,
    spends: bool = False,
) -> tuple[Evaluated, Kept | None]:
    """Evaluate a folder under a manifest: `Evaluated`, and what is kept, see `kept_of`.

    name, before: see `search_to_keep`. Nothing is kept without queries. spends:
    whether it is a look at the folder, see `looks`; a gate is none."""
    path = options.out / BASELINE
    last = None
    kept = None
    if manifest.has_written(options.out, BASELINE, options.source):
        with suppress(OSError, ValueError):  # of a former version
            last = read_baseline(path)
    with manifest.recorded_run(options, models(options)) as run_id:
        evaluated = replace(_evaluated(options, run_id, last, spends), run_id=run_id)
        results = evaluated.results
        if results and evaluated.candidates:
            search = search_to_keep(results, evaluated.candidates.went, name, before)
            kept = kept_of(evaluated.folder, results, search, options.by)
            costs = costs_of(evaluated.candidates.own)
            values = guards.guard_values(results.whole, search, costs)
            told: dict[str, Any] = {
                cost: values[cost]
                for cost in guards.COST_GUARDS
                if cost in options.limits
            }
            told["updates"] = before.updates + 1 if before else 0
            kept = replace(kept, **told)
            write_baseline(path, kept, run_id)
            files = [*evaluated.files, path]
            evaluated = replace(evaluated, files=files)
    return evaluated, kept


def _evaluated(options, run_id, last, spends):
    """Read a folder, run all searches, decide, and write the files: `Evaluated`.

    spends: see `evaluated_and_kept`. last: what the last run kept, or None. Where the
    folder has no queries, the report says what to do next. ValueError where there is no
    search."""
    folder = read_aloud(options)
    out = options.out
    page = out / "report.html"
    check_scale(folder, options)
    verdicts.keep_kind(folder)
    if folder.decides is None:
        evaluated = Evaluated(folder, [page])
        report.advice_page(evaluated, run_id, page)
        return evaluated
    written_causes(out, options.source)  # one that cannot be read stops here
    with step("asking and tuning searches", 1, N_STEPS):
        folder, candidates = candidates_of(folder, options)
    with step("choosing", 2, N_STEPS):
        chosen = steps.choose(folder, candidates)
    with step("ranking", 3, N_STEPS):
        results = steps.measure(folder, candidates, chosen)
    since = _changes_since(last, folder, results)
    incumbent = verdicts.incumbent_in(candidates, results.whole, options.incumbent)
    record = None
    if spends:
        if options.losses and incumbent is None:
            problem = "no search runs today, of which something may be lost"
            advice = "--incumbent names it"
            raise utils.InputError(option="--guard", problem=problem, advice=advice)
        kept = kept_of(folder, results, search_to_keep(results, name=incumbent))
        record = history.record_of(kept, results, run_id, since)
    with step("deciding", 4, N_STEPS):
        asked = folder, candidates, results, options, incumbent
        verdict = verdicts.verdict_at(*asked, record)
    pair = steps.pair_of(candidates, results, verdict)
    figures = verdicts.figures_of(results, pair, verdict)
    first = {}
    if figures:
        first = pairs.first_relevant(pairs.that_count(results.whole, figures), pair)
    evaluated = Evaluated(
        folder,
        files=[page],
        candidates=candidates,
        results=results,
        verdict=verdict,
        pair=pair,
        figures=figures,
        first=first,
        failures=failures_in(folder, results, out),
        judge_next=next_pairs.next_to_judge(folder, results, verdict),
        plan=verdicts.planned(results.whole, verdict, options),
        since=since,
        runs=history.runs_of(folder.source),
        noise=noises_of(results.whole),
        margin=options.margin,
        segments=segments.by_column(results.whole, pair, options.by, options.margin),
    )
    for sentence in evaluated.changes:
        log.info(sentence)
    for name, noise in evaluated.noise.items():
        log.info(sentences.noise(name, asdict(noise), len(results.whole.values)))
    n_out = sum(went.is_out for went in candidates.went.values())
    log.info(report.board_text(results.board, folder.queries, folder.measure, n_out))
    n_leaders = len(next_pairs.leaders_of(results, verdict))
    if n_leaders > 1 and len(evaluated.judge_next):
        named_so = shlex.quote(str(options.folder))
        n_pairs = len(evaluated.judge_next)
        log.info(sentences.to_tell_apart(n_leaders, n_pairs, named_so))
    with step("writing", 5, N_STEPS):
        files = [page, *_write_results(evaluated, out)]
        if spends:
            files += settling.write_lead_page(folder, folder.judgements, out, page.name)
        evaluated = replace(evaluated, files=files)
        report.page(evaluated, run_id, page)
    return evaluated


def _changes_since(last, folder, results):
    """What has changed since the last run: see `since_last`. last: `Kept`, or None."""
    is_again = last and last.measure.kind == folder.decides
    if not is_again or last.search not in results.rankings:
        return []
    try:
        return since_last(last, kept_of(folder, results, last.search))
    except Exception as error:  # a file that was edited gives any
        problem = f"{type(error).__name__}: {error}"
        log.warning("the last run's %s is not as it was: %s", BASELINE, problem)
        return []


def failures_in(folder: Folder, results: steps.Results, out: Path) -> pd.DataFrame:
    """See `pairs.failures`, with the causes that a person wrote.

    Those beside the documents count before those in out, of an earlier run."""
    causes = written_causes(out, folder.source)
    return pairs.failures(folder, results.rankings, causes)


def models(options: SearchOptions) -> dict[str, str]:
    """The models that a run may ask, for its manifest: a dict of names."""
    return {"vectors": embedding.model_name(options.model)}


def own_of(
    folder: Folder, options: SearchOptions
) -> AbstractContextManager[dict[str, Search]]:
    """Your own searches, while the context lasts, see `own.own_searches`."""
    queries = []
    if folder.decides:
        queries = [folder.choosing, folder.queries]
        queries += deciding(folder, options.release)
    is_file = isinstance(options.searches, Path)
    searching = Searching(
        file=options.searches if is_file else None,
        commands=options.search,
        functions={} if is_file else options.searches or {},
        python=options.python,
        timeout=options.timeout,
        jobs=options.jobs,
        paths=folder.results,
    )
    return own_searches(folder, queries, searching)


def candidates_of(
    folder: Folder, options: MeasuringOptions, names: Sequence[str] = ()
) -> tuple[Folder, steps.Candidates]:
    """The folder and its searches, `steps.Candidates`.

    names: of searches, if no others are needed: then ours are built only where
    these are not all yours. What can fail early is checked first. Where nothing is
    tuned all queries report."""
    with own_of(folder, options) as own:
        own = as_systems_unless_named(own, folder.repeats, names)
        own = asked_again(own, options.repeat)
        are_own = [own.keys() & full_names(name) for name in names]
        none_of_ours = names and all(are_own)
        only_own = options.only_own or none_of_ours or not folder.has_texts
        are_many = len(folder.documents) > built_in.MANY_DOCUMENTS
        only_own = are_alone(are_many, own, only_own)
        ours = [] if only_own else built_in.names(embedding.fetched_models())
        needed: set[str | None] = {named(name, [*own, *ours]) for name in names}
        incumbent = decision.incumbent_of(options.incumbent, own, [*own, *ours])
        if names:
            own = {name: own[name] for name in own if name in needed}
        needed.add(incumbent)
        if only_own or options.no_tuning:
            folder = steps.undivided(folder)
        tables = [folder.choosing, folder.queries]
        tables += deciding(folder, options.release)
        own, troubles = steps.that_work(
            own, tables, needed, fewest=2 if only_own else 0
        )
        if not options.ask_once:
            for name, n in unsteady(own, tables[0]).items():
                log.warning(
                    sentences.unsteady(name, n, min(len(tables[0]), ASKED_TWICE))
                )
    candidates = steps.candidates(
        folder, own, only_own, options.no_tuning, options.model
    )
    return folder, replace(candidates, went=troubles)


def _write_results(evaluated, out):
    """Write rankings, judgements, boards and tables, and the page of the pair: paths.

    What people open first comes first."""
    folder = evaluated.folder
    results = evaluated.results
    former = manifest.written_before(out)
    queries = folder.queries
    trec.write_trec(out, folder.decides, queries, results.rankings, former=former)
    by_query = pairs.query_table(queries, results.rankings, results.measured)
    tables = {"queries.csv": by_query, FAILURES: evaluated.failures}
    if folder.decides == "judged":
        tables["judge-next.csv"] = evaluated.judge_next
    write_table(results.board.reset_index(), out / "leaderboard.csv")
    for name, table in tables.items():
        write_table(table, out / name)
    page = out / "pair.html"
    page.unlink(missing_ok=True)  # of an earlier run
    files = [out / name for name in ("leaderboard.csv", *tables)]
    if not evaluated.figures:
        return files
    pair_page(evaluated, page)
    return [page, *files]
