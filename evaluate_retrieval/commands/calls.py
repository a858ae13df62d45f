"""`calls`: agents that search several times for a query, on a board and a page.

The scores are those of `measuring.calls`."""

import logging
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.commands import aloud, beginning, manifest, report, run
from evaluate_retrieval.commands.options import SearchOptions
from evaluate_retrieval.measuring import (
    calls,
    comparing,
    decision,
    intervals,
    metric,
    pairs,
    scored,
    steps,
)
from evaluate_retrieval.reading import corpus
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.reading.traces import PRODUCTION
from evaluate_retrieval.reading.writing import write_table, write_text
from evaluate_retrieval.searching.call_files import agents_in
from evaluate_retrieval.searching.names import full_names, named
from evaluate_retrieval.words import sentences, tiles
from evaluate_retrieval.words.constants import NOT_WORSE
from evaluate_retrieval.words.templates import chance, render
from evaluate_retrieval.words.terminal import step

COLUMNS = ["all found", "low", "high", "found", "first call", "recovery", "waste"]
COLUMNS += ["calls", "results", "tokens", "milliseconds"]
TOLD = ["all found", "found"]  # what differences are told of
MOST_QUESTIONS = 10  # questions that the page shows
CHARACTERS = 4  # of a token, about
SHARE_FOUND = "the share found"
MEANS_FOUND = "of the relevant documents of a question, those that an agent was shown"
COSTS = {"tokens": "tokens", "milliseconds": "ms", "calls": "calls"}
FIRST_LOOK = (
    "Decided on the share found, as evaluate decides at its first look; nobody counts "
    "how often agents were looked at. What nobody judged counts as not relevant."
)
TERMS_OF_AGENTS = {
    "all found": "The share of questions for which an agent was shown every relevant "
    "document.",
    "recovery": "Of what the first call lacked, the share that later ones found.",
    "waste": "Results that are not relevant, or were shown before.",
    "tokens": "Of what was shown; about one for four characters where an agent does "
    "not tell.",
}
HELP = "agents that search several times: what each call adds"
log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class CallsOptions(SearchOptions):
    """only_own: always, so it cannot be told."""

    only_own: bool = field(default=True, init=False)


OPTIONS = CallsOptions


# --- The work ----------------------------------------------------------------


def carry_out(options: CallsOptions) -> dict:
    """Compare the agents of a folder, and write calls.csv and calls.html: a dict.

    Searches of your own are agents, too. The others are compared with the incumbent,
    or with the first. ValueError without an agent, and for a folder without
    judgements."""
    with run.at_work(options) as options, manifest.recorded_run(options, {}):
        folder = steps.undivided(aloud.read_aloud(options))
        if folder.decides != "judged":
            problem = "no judged queries, so nothing to score"
            raise utils.InputError(options.source, problem)
        queries = folder.queries.reset_index(drop=True)
        agents = _agents_of(folder, options, queries)
        base = next(iter(agents))
        if options.incumbent:
            base = named(options.incumbent, agents, "--incumbent")
        return _agents_compared(folder, queries, agents, base, options.out)


def _agents_of(folder, options, queries):
    """All agents by name, each a dict of query id: calls. ValueError without any.

    A search of which many calls fail is none, see `steps.that_work`."""
    agents = {PRODUCTION: folder.calls} if folder.calls else {}
    agents |= agents_in(folder.source) if folder.source.is_dir() else {}
    with run.own_of(folder, options) as own, step("asking agents"):
        needed = full_names(options.incumbent) if options.incumbent else ()
        able, _ = steps.that_work(own, [queries], needed, fewest=0)
        for name, search in able.items():
            rankings = zip(queries["query_id"], search.find(queries), strict=True)
            one = {
                id_: [{"ids": list(filter(None, ids))}] for id_, ids in rankings if ids
            }
            agents[name] = one | {
                id_: answer.calls
                for id_, answer in search.answers.items()
                if answer.calls
            }
    if not agents:
        advice = "write calls.jsonl, or name a search of your own"
        raise utils.InputError(folder.source, "no agent", advice=advice)
    texts = {each["id"]: corpus.heading_and_text(each) for each in folder.documents}
    sizes = {id_: len(text) / CHARACTERS for id_, text in texts.items()}
    for name, agent in agents.items():
        _check(name, agent, queries, folder, sizes)
    return agents


def _agents_compared(folder, queries, agents, base, out):
    """Score agents, and write what each finds: a dict. base: the name of one."""
    relevant = folder.measure.relevant
    qrels = _qrels_of(queries)
    names = _names_of(queries)
    tables = {}
    for agent, found in agents.items():
        once = {
            query_id: calls.named_once(found.get(query_id, []), names[query_id])
            for query_id in qrels
        }
        tables[agent] = calls.table(once, qrels, relevant)
    board = comparing.leaderboard(tables, queries, "all found", COLUMNS)
    board = board.rename_axis(None)
    rows = differences_of(tables, base, queries)
    if relevant is not None:
        log.info(f"Relevant is a document from grade {relevant:g} on.")
    whole = dict.fromkeys(["tokens", "milliseconds"], _whole)
    log.info(board.round(3).to_string(na_rep="", formatters=whole, line_width=79))
    if len(rows):
        log.info(f"\nEach agent minus “{base}”, 95 % intervals, p corrected by Holm:")
        log.info(rows.assign(p=rows["p"].map(chance)).round(3).to_string())
    by_query = pd.concat(tables, names=["agent", "query_id"]).reset_index()
    files = [out / "calls.csv", out / "calls.html"]
    write_table(by_query, files[0])
    verdict, measured = verdict_of(tables, queries, base, board)
    top = _top_of_agents(verdict, measured, tables, board)
    page = page_of(folder, queries, agents, tables, top, board, rows)
    write_text(files[1], page)
    shown = board.round(6).rename_axis("agent").reset_index()
    return {
        "board": shown.to_dict("records"),
        "incumbent": base,
        "relevant": relevant,
        "files": files,
        "differences": rows.round(6).reset_index().to_dict("records"),
        "headline": top["headline"],
        "says": f"{top['headline']}. {top['sentence']}",
        "code": NOT_WORSE,
    }


def _whole(number):
    """A number as a whole one; "" for none."""
    return "" if pd.isna(number) else f"{number:,.0f}"


def _names_of(queries):
    """The alternatives of each query, see `metric.under_one_name`: a dict by its id."""
    ids = queries["query_id"]
    if "alternatives" not in queries:
        return {query_id: {} for query_id in ids}
    return dict(zip(ids, queries["alternatives"], strict=True))


def _qrels_of(queries):
    """The grades of each query, a dict by its id; alternatives are one document."""
    names = _names_of(queries)
    return {
        query_id: metric.with_one_grade_each(qrel, names[query_id])
        for query_id, qrel in zip(queries["query_id"], queries["document"], strict=True)
    }


def _check(name, agent, queries, folder, sizes):
    """Count what an agent has that is not here; fill in tokens where none are told.

    A chunk is its document. sizes: about so many tokens has each document."""
    unknown = agent.keys() - {*queries["query_id"]}
    lacking = [id_ for id_ in queries["query_id"] if id_ not in agent]
    foreign = 0
    n_ids = 0
    for found in agent.values():
        for call in found:
            call["ids"] = [folder.chunks.get(id_, id_) for id_ in call["ids"]]
            foreign += sum(id_ not in sizes for id_ in call["ids"])
            n_ids += len(call["ids"])
            if folder.has_texts:
                tokens = sum(sizes.get(id_, 0) for id_ in call["ids"])
                call.setdefault("tokens", tokens)
    counts = {
        "queries here have no calls, and count as nothing found": len(lacking),
        "of its queries are not judged here": len(unknown),
        f"of {n_ids:,} ids are of no document, and count as not relevant": foreign,
    }
    for problem, n in counts.items():
        if n:
            log.warning(f"{name}: {n:,} {problem}")
    if len(lacking) == len(queries):
        raise ValueError(f"{name}: calls for none of the {len(queries):,} queries")


def differences_of(
    tables: dict[str, pd.DataFrame], base: str, queries: utils.Queries
) -> pd.DataFrame:
    """Each agent minus the base, by TOLD: a DataFrame; p is corrected for all rows."""
    groups = intervals.groups_of(queries)
    weights = intervals.weights_of(queries)
    gains: dict[Any, pd.Series] = {
        (name, by): table[by] - tables[base][by]
        for name, table in tables.items()
        for by in TOLD
        if name != base
    }
    index = pd.MultiIndex.from_tuples(list(gains), names=["agent", "measure"])
    rows = intervals.differences(gains, groups, weights).set_axis(index)
    rows["p"] = intervals.holm(rows["p"])
    return rows.assign(**rows[["low", "high"]].clip(-1, 1))


def verdict_of(
    tables: dict[str, pd.DataFrame],
    queries: utils.Queries,
    base: str,
    board: pd.DataFrame,
) -> tuple[decision.Decision, scored.Measured]:
    """Whether an agent should run instead of the base, by the rule of `evaluate`.

    By the share found, at a first look: nobody counts the looks at agents. What nobody
    judged counts as not relevant. Also what it rests on."""
    found = pd.DataFrame({name: table["found"] for name, table in tables.items()})
    measured = scored.Measured(
        found.reset_index(drop=True),
        intervals.groups_of(queries),
        intervals.weights_of(queries),
        queries=queries,
    )
    times = board["milliseconds"]
    verdict = decision.decide(measured, base, milliseconds=times)
    return replace(verdict, metric=SHARE_FOUND, bound=""), measured


def _top_of_agents(verdict, measured, tables, board):
    """The `beginning.opening` of the page, with what its picture shows."""
    base = str(verdict.incumbent)
    rival = verdict.rival
    first = {}
    pair = [base]
    if rival:
        pair = [rival, base]
        all_found = [tables[name]["all found"] for name in pair]
        gain = (all_found[0] - all_found[1]).to_numpy()
        first = {"n": len(gain), "counts": [int(each.sum()) for each in all_found]}
        first |= intervals.difference(pd.Series(gain), *measured.sample)
    costs = {
        unit: [float(board[column].get(name, np.nan)) for name in pair]
        for column, unit in COSTS.items()
    }
    shown = [
        tiles.gain_tile(first, "everything found"),
        tiles.risk_tile(verdict.row if rival else None, len(verdict.table)),
        tiles.cost_tile(costs),
    ]
    about = f"With “{rival}” instead of “{base}”:" if rival else ""
    top = beginning.opening(
        sentences.headline(verdict),
        sentences.reason(verdict),
        about,
        shown,
        details=[*sentences.details(verdict), FIRST_LOOK],
        terms=TERMS_OF_AGENTS
        | tiles.terms_of(SHARE_FOUND, MEANS_FOUND, verdict.margin, "needs"),
    )
    if rival:
        gains = report.with_counts(verdict.table, base, measured)
        top |= {
            "gains": gains,
            "order_of_all": sentences.order_of_all(gains, base, "agents"),
            "rule": beginning.rule_of(verdict),
            "shipped": verdict.name if verdict.verdict == "ship" else "",
        }
    return top | {"names": pair[::-1], "margin": verdict.margin}


def page_of(
    folder: Folder,
    queries: utils.Queries,
    agents: dict[str, dict],
    tables: dict[str, pd.DataFrame],
    top: dict[str, Any],
    board: pd.DataFrame,
    rows: pd.DataFrame,
) -> str:
    """The page of the base and the agent that is told of, with their calls: HTML.

    It shows the questions where one found most more than the other."""
    names = top["names"]
    gain = tables[names[-1]]["found"] - tables[names[0]]["found"]
    order = (
        gain.abs().sort_values(ascending=False, kind="stable").index[:MOST_QUESTIONS]
    )
    largest = queries.set_index("query_id", drop=False).loc[order]
    relevant = folder.measure.relevant
    qrels = _qrels_of(largest)
    one_names = _names_of(largest)
    questions = []
    for question in largest.itertuples():
        query_id = question.query_id
        marked = [
            marked_calls(
                agents[name].get(query_id, []),
                calls.relevant_ids(qrels[query_id], relevant),
                one_names[query_id],
            )
            for name in names
        ]
        questions.append((question, marked))
    slices = pairs.gains_by_slice(gain.to_numpy(), queries)
    return render(
        "agents.html.j2",
        weak=decision.WEAK,
        margin=top["margin"],
        top=top,
        names=names,
        sections=_agent_tables(board, rows, slices, names, relevant),
        questions=questions,
        titles=corpus.headings(folder.documents),
    )


def _agent_tables(board, rows, slices, names, relevant):
    """The tables of the page: see `report.section`."""
    text = "Means, with a 95 % interval of all found."
    if relevant is not None:
        text += f" A document is relevant from grade {relevant:g} on."
    sections = [report.section("The board", text, board.rename_axis("agent"))]
    columns = ["difference", "low", "high", "p"]
    if len(rows):
        rows = rows[columns].set_axis(map(": ".join, rows.index))
        text = f"Each minus “{names[0]}”. p is corrected by Holm for this table."
        folded = "All found and found, in figures"
        table = rows.rename_axis("agent and measure")
        sections.append(report.section("Differences", text, table, folded=folded))
    if len(names) > 1 and len(slices):
        slices = slices[["n", *columns]].set_axis(map(": ".join, slices.index))
        table = slices.rename(columns={"n": "queries"}).rename_axis("slice")
        text = (
            f"The share found by “{names[1]}” minus that by “{names[0]}”. p is "
            "corrected for all slices."
        )
        folded = "The figures of the slices"
        sections.append(report.section("By slice", text, table, folded=folded))
    return sections


def marked_calls(
    theirs: list[dict], relevant: list[str], names: dict[str, str]
) -> list[dict]:
    """The calls of an agent for one question, as the page shows them.

    A dict for each: asked; results, pairs of mark and id; found, the share of the
    relevant documents until then. relevant: ids. names: of alternatives, see
    `calls.named_once`."""
    once = calls.named_once(theirs, names)
    shares = calls.found_after(once, relevant)
    before: set[str] = set()
    marked = []
    for call, once_named, share in zip(theirs, once, shares, strict=True):
        marks = [
            "·" if name not in relevant else "○" if name in before else "●"
            for name in once_named["ids"]
        ]
        results = list(zip(marks, call["ids"], strict=True))
        marked.append({"asked": call.get("asked"), "results": results, "found": share})
        before |= {*once_named["ids"]}
    return marked
