"""`compare`: why one search beats another."""

from dataclasses import asdict, dataclass, replace

from evaluate_retrieval import utils
from evaluate_retrieval.commands import aloud, manifest, run
from evaluate_retrieval.commands.evaluated import Evaluated
from evaluate_retrieval.commands.options import MeasuringOptions, option
from evaluate_retrieval.commands.pair import pair_page
from evaluate_retrieval.measuring import pairs, steps, verdicts
from evaluate_retrieval.reading import trec
from evaluate_retrieval.searching.names import named
from evaluate_retrieval.searching.own import of_queries
from evaluate_retrieval.words import sentences
from evaluate_retrieval.words.constants import FEW, LEFT_OUT, UNDECIDED, UNITS
from evaluate_retrieval.words.terminal import step

HELP = "why one search beats another"


@dataclass(frozen=True, kw_only=True)
class CompareOptions(MeasuringOptions):
    """a and b: names of searches, with or without "own: "."""

    a: str = option('a search, also without the "own: " of its name', place=True)
    b: str = option("the search that it is compared with", place=True)


OPTIONS = CompareOptions


def carry_out(options: CompareOptions) -> dict:
    """Measure two searches, and write their page into the folder of results: a dict.

    It has pair, kind, the figures of `pairs.summary`, says, files and code: 0 if the
    first is shown to be no worse than the margin, 1 if it is worse by more, 2 if
    neither is shown, or there are fewer than FEW queries. ValueError for a search or
    queries that are not there."""
    with run.at_work(options) as options:
        return _compared(options)


def _compared(options: CompareOptions) -> dict:
    folder = aloud.read_aloud(options)
    run.check_scale(folder, options)
    if folder.decides is None:
        problem = "there are no queries that can decide"
        raise utils.InputError(options.source, problem)
    names = (options.a, options.b)
    with step("asking and tuning searches", 1, 3):
        folder, candidates = run.candidates_of(folder, options, names)
    pair = (
        named(options.a, candidates.searches),
        named(options.b, candidates.searches),
    )
    if pair[0] == pair[1]:
        raise utils.InputError(problem="is both searches", value=pair[0])
    two = {name: candidates.searches[name] for name in pair}
    able = of_queries(two, folder.queries)
    for name in pair:
        if name not in able:
            problem = f"ranks less than half of the {folder.decides} queries"
            raise utils.InputError(problem=problem, value=name)
    candidates = replace(candidates, searches=two)
    with step("ranking", 2, 3):
        results = steps.measure(folder, candidates, pair[0])
    with step("deciding", 3, 3):
        figures = pairs.summary(results.whole, pair, margin=options.margin)
    path = options.out / f"{'-against-'.join(trec.file_names(pair).values())}.html"
    manifest.sign(options.out, written=[path])
    evaluated = Evaluated(
        folder,
        files=[path],
        candidates=candidates,
        results=results,
        pair=pair,
        figures=figures,
        first=pairs.first_relevant(pairs.that_count(results.whole, figures), pair),
        failures=run.failures_in(folder, results, options.out),
        margin=options.margin,
    )
    pair_page(evaluated, path)
    went = candidates.went
    says = [sentences.pair(figures, pair), *[LEFT_OUT] * options.only_answered]
    says += [sentences.trouble(name, went[name]) for name in went]
    result = {}
    if options.worth is not None and figures["groups"] > 1:
        n = figures["queries"]
        planned = verdicts.plan_for(results.whole, pair, n, options)
        says.append(sentences.plan(planned, pair[0], UNITS[figures["kind"]]))
        result = {"plan": asdict(planned)}
    code, _ = pairs.exit_code(figures, options.margin)
    doubtful = ("bound", "incumbent", "nearly")
    if code == UNDECIDED and figures["why"] in doubtful:
        says.append(folder.measure.bound)
    if figures["queries"] < FEW:
        code = UNDECIDED
        says.append(f"Fewer than {FEW} queries decide nothing.")
    result |= {"says": " ".join(filter(None, says)), "files": [path], "code": code}
    return {"pair": pair, **figures, **result}
