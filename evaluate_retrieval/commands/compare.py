"""`compare`: why one search beats another."""

from dataclasses import asdict, dataclass, replace

from evaluate_retrieval.commands import manifest, report, run, steps, verdicts
from evaluate_retrieval.commands.options import SearchOptions, margin, option
from evaluate_retrieval.measuring import decision, pairs, plan, tuning
from evaluate_retrieval.reading import trec
from evaluate_retrieval.searching.own import of_queries
from evaluate_retrieval.words.constants import UNDECIDED

HELP = "why one search beats another"


@dataclass(frozen=True, kw_only=True)
class CompareOptions(SearchOptions):
    """a and b: names of searches, with or without "own: "."""

    a: str = option("", place=True)
    b: str = option("", place=True)
    kind: str | None = option("of queries", choices=["judged", "generated"])
    margin: float = margin()


OPTIONS = CompareOptions


def carry_out(options: CompareOptions) -> dict:
    """Measure two searches, and write their page into the folder of results: a dict.

    kind: of the queries, else that which decides. The dict has pair, kind, the
    figures of `pairs.summary`, says, files and code: 0 if the first is shown to be no
    worse than the margin, 1 if it is worse by more, 2 if neither is shown, or there
    are fewer than tuning.FEW queries. ValueError for a search or queries that are not
    there."""
    with run.at_work(options) as options:
        return _compared(options)


def _compared(options: CompareOptions) -> dict:
    folder = run.read_aloud(options)
    run.check_scale(folder, options)
    names = (options.a, options.b)
    kind = options.kind or folder.decides
    if kind not in folder.test:
        there = ", ".join(folder.test) or "no queries that can decide"
        raise ValueError(f"{options.source}: no {kind} queries; there are {there}")
    folder, candidates = run.candidates_of(folder, options, names, kind)
    pair = (
        decision.named(options.a, candidates.searches),
        decision.named(options.b, candidates.searches),
    )
    if pair[0] == pair[1]:
        raise ValueError(f"both searches are {pair[0]!r}")
    two = {name: candidates.searches[name] for name in pair}
    able = of_queries(two, folder.test[kind])
    for name in pair:
        if name not in able:
            raise ValueError(f"{name!r} ranks less than half of the {kind} queries")
    candidates = replace(candidates, searches=two)
    results = steps.measure(folder, candidates, {kind: pair[0]})
    figures = pairs.summary(results.on(kind), pair)
    failed = run.failures_in(folder, kind, results, options.out)
    path = options.out / f"{'-against-'.join(trec.file_names(pair).values())}.html"
    manifest.sign(options.out, written=[path])
    report.pair_page(folder, results, pair, failed, figures, path, options.margin)
    says = [pairs.in_words(figures, pair), *candidates.failed.values()]
    result = {}
    if options.worth is not None and figures["groups"] > 1:
        planned = verdicts.plan_for(
            results.on(kind), pair, figures["queries"], options.worth
        )
        says.append(plan.plan_in_words(planned, pair[0], decision.UNITS[kind]))
        result = {"plan": asdict(planned)}
    code, _ = pairs.exit_code(figures, options.margin)
    if figures["queries"] < tuning.FEW:
        code = UNDECIDED
        says.append(f"Fewer than {tuning.FEW} queries decide nothing.")
    result |= {"says": " ".join(says), "files": [path], "code": code}
    return {"pair": pair, **figures, **result}
