"""What people read of facts: sentences, made once for terminal, JSON and pages."""

from collections.abc import Callable, Mapping
from typing import Any

from evaluate_retrieval.words.constants import FEW, UNITS
from evaluate_retrieval.words.templates import line_of
from evaluate_retrieval.words.text import bare_name, plain
from evaluate_retrieval.words.tiles import lost_much


def headline(decision: Any) -> str:
    """What a decision comes to, for the top of a page."""
    if decision.verdict != "undecided":
        return _first_words(decision)
    if decision.name is None:
        return "Not decided: no search keeps your limits"
    action = "keep" if decision.incumbent else "take"
    return f"Not decided: {action} “{_short_name(decision)}” for now"


def _first_words(decision):
    if decision.verdict == "undecided":
        return "Not decided"
    action = decision.verdict.capitalize() if decision.incumbent else "Take"
    return f"{action} “{_short_name(decision)}”"


def _short_name(decision):
    return bare_name(decision.name, [*decision.table.index, *decision.close])


def says(decision: Any) -> str:
    """A decision in words: see `decision.Decision`."""
    return f"{_first_words(decision)}. {why(decision)}"


def why(decision: Any) -> str:
    """A decision in words, without its first ones, which are a headline."""
    remarks = warnings(decision)
    n = len(decision.leaks)  # these go before all else
    parts = [*remarks[:n], reason(decision), *details(decision), *remarks[n:]]
    return " ".join(filter(None, parts))


def reason(decision: Any) -> str:
    """The sentence that a decision rests on."""
    return _of_decision(decision, "first")


def _of_decision(decision, part):
    losses = ""
    row = decision.row if decision.rival else {"why": "same"}
    if row["why"] != "same" and (row["n_lost"] or decision.verdict == "ship"):
        losses = lost_much(row, decision.rival, len(decision.table))
    facts = {"decision": decision, "row": row, "few": FEW, "units": UNITS}
    return line_of("decision.txt.j2", part=part, losses=losses, **facts)


def warnings(decision: Any) -> list[str]:
    """What must not be missed: what is forbidden, has failed, or breaks a limit."""
    leaks = [leak(name, n, decision.n) for name, n in decision.leaks.items()]
    failed = [
        trouble(name, each) for name, each in decision.went.items() if _failed(each)
    ]
    broken = [guard(row) for row in decision.guards if row["code"]]
    return [*leaks, *failed, *broken]


def _failed(went):
    """Whether calls failed, or nothing at all is found. went: see `own.Went`."""
    return went.n_failed or went.is_out


def details(decision: Any) -> list[str]:
    """What is to be known beside a reason and the warnings: sentences."""
    parts = [_of_decision(decision, "rest")]
    parts += [
        trouble(name, went) for name, went in decision.went.items() if not _failed(went)
    ]
    if decision.name in decision.leak_bounds and decision.name not in decision.leaks:
        parts.append(no_leak(decision.name, *decision.leak_bounds[decision.name]))
    parts += [
        guard(row)
        for row in decision.guards
        if not row["code"] and row["search"] == decision.name
    ]
    if decision.trial > 1:
        ship = f"to ship, p has to be below {decision.level:.2g}"
        parts.append(f"This is trial {decision.trial} on these queries: {ship}.")
    if decision.looks > 1:
        parts.append(looked_at(decision.looks))
    return parts


def looked_at(n: int) -> str:
    """How often judgements were looked at."""
    return f"Looks at these judgements so far: {n:,}."


def gate_look(facts: Mapping[str, Any]) -> str:
    """How often judgements were looked at, and whether a gate counts.

    facts: see `candidates.looking`."""
    n = len(facts["candidates"])
    if not n:
        told = f"{looked_at(facts['looks'])} A gate without --candidate does not count."
        return told if facts["looks"] > 1 else ""
    what = "This one counts" if facts["is_new"] else "This one was counted before"
    if n > 1:
        what += f": its {n:,} candidates are one look, and share one error"
    return f"{looked_at(facts['looks'])} {what}."


def leak(name: str, n: int, n_queries: int) -> str:
    """That a search shows forbidden documents."""
    return f"“{name}” shows a forbidden document for {n:,} of {n_queries:,} queries."


def no_leak(name: str, n_needs: int, bound: float) -> str:
    """That a search shows no forbidden document, and how often one still may."""
    sentence = (
        f"Of {n_needs:,} needs with forbidden documents none shows one with “{name}”"
    )
    return f"{sentence}: of all such needs at most {bound:.1%} do (95% sure)."


# how its values are written, what a search does, and why there may be no value
GUARDRAILS: dict[str, tuple[Callable, str, str]] = {
    "empty": ("{:.1%}".format, "finds nothing for {}", ""),
    "p95_ms": ("{:,.0f} ms".format, "takes {} at p95", "nobody measured its time"),
    "mean_tokens": (
        "{:,.1f} tokens".format,
        "takes {} a query on average",
        "not every answer tells its tokens",
    ),
}


def guard(row: Mapping[str, Any]) -> str:
    """What a search has of a guardrail. row: see `guards.guards_of`."""
    if row["guard"] not in GUARDRAILS:
        return _loss_guard(row)
    form, what, unmeasured = GUARDRAILS[row["guard"]]
    if row["value"] is None:
        return f"“{row['search']}”: {unmeasured}, so no limit can be held."
    sentence = f"“{row['search']}” {what.format(form(row['value']))}"
    if row["against"] and row["before"] is not None:
        sentence += f" (“{row['against']}” {form(row['before'])})"
    may = "more than" if row["code"] else "within"
    return f"{sentence}: {may} the limit of {form(row['limit'])}."


def _loss_guard(row):
    """What a search loses by another metric. row: see `guards.loss_guard`."""
    name = f"“{row['search']}”"
    if row["value"] is None:
        return f"{name}: {row['guard']} cannot be told, as no two queries are judged."
    gain = row["value"] - row["before"]
    told = f"{name} has {gain:+.3f} of {row['guard']} ({row['low']:+.3f} to "
    told += f"{row['high']:+.3f}) against “{row['against']}”"
    may = {0: "loses less than", 2: "may lose more than", 4: "loses more than"}
    return f"{told}: it {may[row['code']]} the limit of {row['limit']:g}."


def leak_since(name: str, against: str, facts: Mapping[str, Any]) -> str:
    """That a search shows forbidden documents, and which of them are new.

    facts: n, of all queries with one, new, of those with a new one, n_queries; and
    first, a query and a document."""
    query, document = facts["first"]
    told = leak(name, facts["n"], facts["n_queries"]).rstrip(".")
    is_new = f"{facts['new']:,} of them with one that “{against}” does not show"
    if not facts["new"]:
        is_new = f"all of them with what “{against}” shows, too"
    return f"{told}, {is_new}, such as {plain(document)} for {plain(query)}."


def segments(rows: list[dict[str, Any]], name: str, unit: str = "needs") -> str:
    """What a search gains in each segment. rows: see `segments.segments_of`."""
    return line_of("segments.txt.j2", rows=rows, name=name, unit=unit)


def mix(figures: Mapping[str, Any], metric: str) -> str:
    """That another mix of queries moved a figure. figures: see `segments.mix_of`."""
    if not figures:
        return ""
    went = "fell" if figures["now"] < figures["before"] else "rose"
    contrary = "rose" if went == "fell" else "fell"
    was, share = figures["shares"]
    return (
        f"{metric} of all queries {went} from {figures['before']:.3f} to "
        f"{figures['now']:.3f}, and {contrary} in each segment: the mix of queries is "
        f"another. “{figures['segment']}” has {share:.0%} of them, and had {was:.0%}. "
        "The verdict compares the same queries."
    )


def trouble(name: str, went: Any) -> str:
    """That calls of a search failed, or that it finds nothing; "" if neither.

    went: see `own.Went`."""
    text = ""
    if went.n_failed:
        text = f"“{name}” failed for {went.n_failed:,} of {went.n_asked:,} queries"
        text += ", so nothing is said of it." if went.is_out else "."
    if went.n_empty and not (went.n_failed and went.is_out):
        n_empty = f"{went.n_empty:,} of {went.n_ranked:,} queries"
        text = f"{text} “{name}” finds nothing for {n_empty}".strip()
        if went.n_empty == went.n_ranked:
            text += ": is its index empty? Nothing is said of it"
        text += "."
    return text


def unsteady(name: str, n: int, n_asked: int) -> str:
    """That a search answers n of the first queries differently when asked again."""
    return (
        f"“{name}” gives {n} of the first {n_asked} queries another list when it is "
        "asked again, so a second run would give other figures. --repeat 3 asks each "
        "query three times, and says how much that matters"
    )


def on_no_board(n: int) -> str:
    """That n judged queries have nothing relevant."""
    return f"{n:,} judged queries have no relevant document, and are on no leaderboard"


def noise(name: str, noise: Mapping[str, Any], n_queries: int) -> str:
    """What the runs of a search differ in. noise: the fields of `noise.Noise`."""
    flips = noise["flips"]
    shown = f" ({', '.join(map(str, flips[:3]))} …)" if flips else ""
    return (
        f"“{name}” was asked {noise['n_runs']} times, and counts with its mean. Scores "
        f"of {noise['changed']:,} of {n_queries:,} queries change, and {len(flips):,} "
        f"are sometimes found and sometimes not{shown}. {noise['share']:.0%} of the "
        f"variance of its figure is its own. Asked once, the interval would be "
        f"{noise['once']:.2f} times as wide, and {noise['endless']:.2f} times if asked "
        "without end."
    )


def since(facts: Mapping[str, Any]) -> str:
    """What has changed a figure since the last run. facts: see `since.since_last`."""
    sentence = (
        "Since the last run {metric} of “{search}” went from {old:.3f} to {new:.3f}"
    )
    sentence += " ({queries}): {by_labels:+.3f} by the labels, {by_search:+.3f} by the"
    sentence += " search. {moved:,} documents have another id. {changes}"
    return sentence.format_map(facts)


def between_runs(row: Mapping[str, Any]) -> str:
    """What is another between a run and the one before. row: of `history.runs_of`."""
    return line_of("between.txt.j2", row=row)


def n_runs(n: int) -> str:
    """Of how many runs there are figures."""
    return f"Runs so far: {n:,}." if n else "No run has kept its figures here yet."


def pair(
    figures: Mapping[str, Any], names: tuple[str, str], parts: str = "first rest"
) -> str:
    """The figures of two searches. figures: see `pairs.summary`; parts: of the text."""
    losses = ""
    if figures["groups"] > 1:
        losses = lost_much(figures, names[0], figures["n_candidates"])
    facts = {"figures": figures, "names": names, "units": UNITS, "losses": losses}
    texts = [line_of("pair.txt.j2", part=part, **facts) for part in parts.split()]
    return " ".join(filter(None, texts))


def pair_headline(figures: Mapping[str, Any], names: tuple[str, str]) -> str:
    """What two searches come to, for the top of their page."""
    new, old = (bare_name(name, names) for name in names)
    if figures["groups"] < 2:
        return f"Too little is judged to compare “{new}” with “{old}”"
    if figures["order"]:
        return f"“{new}” is {figures['order']} than “{old}”"
    if figures["order_as_it_is"]:
        return f"Unjudged results could turn the order of “{new}” and “{old}”"
    return f"“{new}” and “{old}” cannot be told apart"


def order_of_all(table: Any, base: str, noun: str = "searches") -> str:
    """How many rows of a table are better than a base, and worse: one sentence."""
    if len(table) == 1:
        [row] = table.to_dict("records")
        said = (
            f"significantly {row['order']} than"
            if row["order"]
            else "not decided against"
        )
        return f"“{table.index[0]}” is {said} “{base}”"
    better, worse = (int(table["order"].eq(word).sum()) for word in ("better", "worse"))
    of_all = f"Of {len(table)} {noun}, {better or 'none'}"
    return f"{of_all} significantly better than “{base}”, {worse or 'none'} worse"


def made_of(setting: Mapping[str, Any]) -> str:
    """What a search of ours adds up, such as words 0.2 + vectors 0.8; else ""."""
    parts = {"words": setting.get("text"), "vectors": setting.get("vectors")}
    added = [f"{name} {weight:g}" for name, weight in parts.items() if weight]
    return " + ".join(added) if len(added) > 1 else ""


def plan(plan: Any, name: str, unit: str = "needs") -> str:
    """A plan: see `plan.Plan`. name: of the search that may ship."""
    return line_of("plan.txt.j2", plan=plan, name=name, unit=unit)


def setting(setting: Mapping[str, Any]) -> str:
    """A setting that was tuned, without what is the same in all: "k1 1.5, b 0.75"."""
    numbers = {name: value for name, value in setting.items() if value != str(value)}
    return ", ".join(f"{name} {value:g}" for name, value in numbers.items())


def to_tell_apart(n_leaders: int, n_pairs: int, folder: str) -> str:
    """How many grades may tell the leaders apart, and the command that takes them."""
    return (
        f"{n_leaders} searches cannot be told apart. {n_pairs:,} grades may tell:\n"
        f"  evaluate-retrieval judge {folder}"
    )


def graders(graded: Any, n_draws: int) -> str:
    """What a decision owes to who graded: see `graders.Graded`."""
    return line_of("graders.txt.j2", graded=graded, n_draws=n_draws)


def list_to_judge(n_pairs: int, n_queries: int, minutes: int) -> str:
    """How long it takes to judge the pairs of judge-next.csv."""
    pairs = f"{n_pairs:,} pairs of {n_queries:,} queries"
    return f"judge-next.csv has {pairs}, about {minutes:,} minutes."
