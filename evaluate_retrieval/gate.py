"""Is a search worse than the same of an earlier run? `run.py --baseline` asks.

Both runs are scored with the judgements of this run, query by query. So an edited
grade counts for both. A query of one of them alone is counted and left out. What the
outcomes mean is in docs/gate.md.

A baseline is a file that `write_baseline` wrote, or a leaderboard.csv with the runs
beside it. Rankings are dicts of query id: ids, best first. Qrels are dicts of query id:
dict of id: grade."""

import contextlib
import gzip
import io
import itertools
import json
import math
import os
import re
import unicodedata
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd

import utils
from course import corpus, experiments, intervals, trec
from evaluate_retrieval import decision, manifest

LABEL = experiments.METRIC
UNITS = {"generated": "documents", "judged": "needs"}
NOT_WORSE, WORSE, UNDECIDED, ERROR = range(4)  # the codes that run.py ends with
WORDS = ["not worse", "worse", "undecided", "error"]
FIRST = [ERROR, WORSE, UNDECIDED, NOT_WORSE]  # of several outcomes this counts
DELETED = 0.1  # of the baseline's queries may be gone
SHOWN = 10  # losses and gains each
SAME = 1e-9  # below it two values of a metric are the same
FORMAT = "baseline of the course's gate, 1"
BASELINE = "baseline.json.gz"
LARGEST = 1_000_000  # bytes of a baseline with all grades
SUMMARY = "GITHUB_STEP_SUMMARY"  # names the file of a job's summary on GitHub
MARKUP = r"""[\\`*_{}\[\]()#+!|~$@:<>&"'-]"""  # of Markdown and HTML


@dataclass(frozen=True)
class Outcome:
    """What the gate says of one kind of query.

    code: NOT_WORSE, WORSE, UNDECIDED or ERROR. names: of the new search and of the old.
    figures: metric, before, now, difference, low, high, queries, groups, wins, ties,
    losses and how, as far as they are known. sentences: why, then what else changed.
    losing, gaining: DataFrames with the SHOWN largest losses and gains. Columns:
    query_id, question, before, now, gain, first_before and first_now (three ids).
    counted_as: what an option makes of an undecided outcome, else ""."""

    kind: str
    code: int
    names: tuple
    figures: dict = field(default_factory=dict)
    sentences: list = field(default_factory=list)
    losing: pd.DataFrame = field(default_factory=pd.DataFrame)
    gaining: pd.DataFrame = field(default_factory=pd.DataFrame)
    counted_as: str = ""


@dataclass(frozen=True)
class Found:
    """What one search found for one kind of query, and the judgements.

    board: mean, low and high of a leaderboard. rankings: None without a run. questions
    and needs: by query id, as far as they are known. cut: whether qrels are only those
    that `ranked_only` keeps."""

    name: str
    board: dict = field(default_factory=dict)
    rankings: dict | None = None
    qrels: dict = field(default_factory=dict)
    questions: dict = field(default_factory=dict)
    needs: dict = field(default_factory=dict)
    cut: bool = False


# --- Which search ------------------------------------------------------------


def is_file(baseline):
    """Whether a baseline is a file of `write_baseline`, by its name."""
    return baseline.suffix == ".gz"


def asked_for(names, search=None):
    """The name that --search or else COURSE_INCUMBENT asks for, or None."""
    if search or not os.environ.get("COURSE_INCUMBENT"):
        return search
    return decision.incumbent_of([], names)


def picked(leaderboard, search=None):
    """A leaderboard's row of the search to compare, for each kind: a dict.

    It is the one that is asked for, else the chosen one, else your only one."""
    table = corpus.read_table(leaderboard, ["search", "queries"])
    names = list(table["search"].unique())
    try:
        wanted = asked_for(names, search)
    except ValueError as error:
        raise ValueError(f"{leaderboard}: {error}") from error
    if not wanted:
        table = utils.check_table(table, ["chosen"], leaderboard)
        rows = table[table["chosen"] == "True"]
        yours = [name for name in names if name.startswith(("own: ", "run: "))]
        if rows.empty and len(yours) == 1:
            rows = table[table["search"] == yours[0]]
        problem = "no search is chosen; name one with --search"
    else:
        rows = table[table["search"] == wanted]
        problem = f"no search {wanted!r}; it has {', '.join(names)}"
    if rows.empty:
        raise ValueError(f"{leaderboard}: {problem}")
    return rows.set_index("queries").to_dict("index")


# --- Reading and writing -----------------------------------------------------


def files_of(kind, leaderboard, search):
    """The files with the judgements and with a search's run, beside a leaderboard."""
    board = corpus.read_table(leaderboard, ["search", "queries"])
    names = trec.file_names(board["search"][board["queries"] == kind])
    folder = leaderboard.parent
    return (
        folder / f"qrels-{kind}.trec",
        folder / "runs" / kind / f"{names[search]}.trec",
    )


def qrels_of(path):
    """The judgements in a file of TREC's form."""
    qrels = {}
    with open(path, encoding="utf-8") as file:
        for row in ir_measures.read_trec_qrels(file):
            qrels.setdefault(row.query_id, {})[row.doc_id] = row.relevance
    return qrels


def found_in(leaderboard, search=None):
    """`Found` of each kind, of a leaderboard and the files beside it."""
    found = {}
    for kind, row in picked(leaderboard, search).items():
        qrels, run = files_of(kind, leaderboard, row["search"])
        board = {name: row.get(name) for name in (experiments.BY[kind], "low", "high")}
        found[kind] = Found(row["search"], board)
        if qrels.exists() and run.exists():
            rankings = trec.read_run(run)
            found[kind] = replace(found[kind], rankings=rankings, qrels=qrels_of(qrels))
    return found


def with_texts(found):
    """`Found` by kind with the questions and needs of the data folder."""
    return {
        kind: replace(
            one, **dict(zip(["questions", "needs"], texts_of(kind), strict=True))
        )
        for kind, one in found.items()
    }


def texts_of(kind):
    """The questions and the needs in the data folder, two dicts by query id.

    Needs of generated questions come from the judgements: see `drawn_groups`."""
    quiet = contextlib.redirect_stdout(io.StringIO())  # the run has printed it
    with warnings.catch_warnings(action="ignore"), quiet:
        if kind == "judged":
            queries, _ = corpus.load_judged_queries()
            queries = queries.set_index("query_id")
            return queries["question"].to_dict(), queries["need"].to_dict()
        try:
            _, test = corpus.split_by_document(corpus.load_ground_truth())
        except FileNotFoundError:
            return {}, {}
    ids = trec.query_ids(test)
    return dict(zip(ids, test["question"], strict=True)), {}


def write_baseline(results, path, search=None):
    """Write what a later run is compared with into one file, and return its path.

    results: a folder with leaderboard.csv and runs/. search: see `picked`. The file
    has for each kind the search's rankings, grades, questions and needs. The same
    results give the same bytes. A ranking ends where it has K documents without a
    grade: documents can be deleted and K are left. Above LARGEST only grades that
    `ranked_only` keeps are written, which a line says. ValueError without runs."""
    leaderboard = results / "leaderboard.csv"
    kinds = with_texts(found_in(leaderboard, search))
    for found in kinds.values():
        if found.rankings is None:
            raise ValueError(f"{leaderboard}: no run of {found.name!r} is beside it")
    names = sorted({found.name for found in kinds.values()})
    about = {"run": manifest.id_of(results), "search": asked_for(names, search)}
    content = _in_bytes(about, kinds)
    if len(content) > LARGEST:
        whole = f"{len(content) / 1e6:.1f} MB with all grades"
        kinds = {kind: ranked_only(kind, found) for kind, found in kinds.items()}
        content = _in_bytes(about, kinds)
        print(f"{path.name}: {whole}; only those of ranked documents are kept")
    path.write_bytes(content)
    return path


def _in_bytes(about, kinds):
    """The content of a baseline's file. about: its run and search."""
    packed = {kind: _packed(kind, found) for kind, found in kinds.items()}
    content = {"format": FORMAT, **about, "kinds": packed}
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return gzip.compress(text.encode(), mtime=0)


def ranked_only(kind, found):
    """`Found` with the grades of ranked documents, and a best one of each query.

    Then judgements that are added cannot be counted. One that is withdrawn counts only
    where the baseline's search ranked the document."""
    qrels = {}
    for query, qrel in found.qrels.items():
        ranking = until_enough(found.rankings.get(query, []), qrel, experiments.K[kind])
        kept = {*ranking, max(qrel, key=qrel.get)}
        qrels[query] = {id_: grade for id_, grade in qrel.items() if id_ in kept}
    return replace(found, qrels=qrels, cut=True)


def _packed(kind, found):
    """`Found` as lists and dicts for JSON: documents are numbers, in short."""
    rankings = {
        query: until_enough(found.rankings.get(query, []), qrel, experiments.K[kind])
        for query, qrel in found.qrels.items()
    }
    documents = sorted({*itertools.chain(*rankings.values(), *found.qrels.values())})
    number = {id_: place for place, id_ in enumerate(documents)}
    queries = []
    for query, qrel in sorted(found.qrels.items()):
        by_grade = {}
        for id_, grade in qrel.items():
            by_grade.setdefault(str(grade), []).append(number[id_])
        steps = {
            grade: np.diff(sorted(places), prepend=0).tolist()
            for grade, places in sorted(by_grade.items())
        }
        ranking = [number[id_] for id_ in rankings[query]]
        texts = found.questions.get(query, ""), found.needs.get(query, "")
        queries.append([query, *texts, ranking, steps])
    about = {"search": found.name, "metric": LABEL[kind], "cut": found.cut}
    return {**about, "documents": documents, "queries": queries}


def until_enough(ranking, qrel, k):
    """A ranking up to its k-th document without a grade."""
    kept, n_without = [], 0
    for id_ in ranking:
        if n_without == k:
            break
        kept.append(id_)
        n_without += id_ not in qrel
    return kept


def read_baseline(path, search=None):
    """`Found` of each kind in a file of `write_baseline`, and the search it names.

    That is None where the chosen search was written. ValueError for another file, and
    for one that lacks the search that is asked for."""
    text = corpus.read_text(path)
    try:
        content = json.loads(text)
        if content["format"] != FORMAT:
            raise ValueError(f"its format is {content['format']!r}")
        kinds = {
            kind: _unpacked(kind, packed) for kind, packed in content["kinds"].items()
        }
        if not kinds:
            raise ValueError("it has no queries")
        written = content["search"]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        problem = f"not a baseline that this version reads ({error!r:.60})"
        advice = f"take the {BASELINE} of a run"
        raise ValueError(f"{path}: {problem}; {advice}") from error
    names = list(dict.fromkeys(found.name for found in kinds.values()))
    try:
        wanted = asked_for(names, search)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    if wanted and names != [wanted]:
        held = [f"{found.name!r} for {kind} queries" for kind, found in kinds.items()]
        problem = f"{wanted!r} was not kept for all queries: it has {', '.join(held)}"
        advice = f"keep another run with --search {wanted!r}"
        raise ValueError(f"{path}: {problem}; {advice}")
    return kinds, written


def _unpacked(kind, packed):
    """`Found` of what `_packed` returned."""
    if packed["metric"] != LABEL[kind]:
        raise ValueError(f"it has {packed['metric']}, and not {LABEL[kind]}")
    documents = packed["documents"]
    found = Found(packed["search"], rankings={}, cut=packed["cut"])
    for query, question, need, ranking, steps in packed["queries"]:
        found.rankings[query] = [documents[number] for number in ranking]
        found.qrels[query] = {
            documents[number]: int(grade)
            for grade, places in steps.items()
            for number in itertools.accumulate(places)
        }
        found.questions[query], found.needs[query] = question, need
    return found


def read(baseline, search=None):
    """`Found` of each kind in a baseline, and the search that it names, or None.

    ValueError names the file, also one of another run than its manifest's."""
    if is_file(baseline):
        return read_baseline(baseline, search)
    kinds = found_in(baseline, search)
    for kind, found in kinds.items():
        paths = files_of(kind, baseline, found.name)
        manifest.check_outputs(baseline.parent, [baseline, *paths])
    return kinds, None


def read_new(results, wrote, old_kinds, search=None):
    """`Found` of each kind in the results of this run.

    old_kinds: of the baseline. A kind of which it has rankings gets texts. ValueError
    for a file that is needed, and that this run has not written."""
    leaderboard = results / "leaderboard.csv"
    check_written(leaderboard, wrote)
    kinds = found_in(leaderboard, search)
    for kind, old in old_kinds.items():
        if old.rankings is not None and kind in kinds:
            for path in files_of(kind, leaderboard, kinds[kind].name):
                check_written(path, wrote)
            kinds |= with_texts({kind: kinds[kind]})
    return kinds


def check_written(path, wrote):
    """ValueError for a file that this run has not written."""
    if not wrote(path):
        raise ValueError(f"{path} was not written by this run")


# --- Comparing ---------------------------------------------------------------


def metric_of(kind, qrels, rankings):
    """The metric of each query of the judgements: a Series by query id."""
    measure = ir_measures.parse_measure(LABEL[kind])
    run = {
        query: {id_: 1 / rank for rank, id_ in enumerate(rankings[query], start=1)}
        for query in qrels
        if rankings.get(query)
    }
    values = pd.Series(0.0, index=sorted(qrels))
    for metric in ir_measures.iter_calc([measure], qrels, run):
        values[metric.query_id] = metric.value
    return values


def paired(kind, old, new):
    """The metric of each query before and now, and a sentence on what else changed.

    old, new: `Found`. Both Series are by query id. A document whose judgement is gone
    takes no place."""
    before, after = set(old.qrels), set(new.qrels)
    relevant = {query for query, qrel in new.qrels.items() if _is_scored(qrel)}
    shared, scored = before & after, before & relevant
    old_grades, grades = grades_of(old.qrels, shared), grades_of(new.qrels, shared)
    gone = old_grades.keys() - grades.keys()
    added = grades.keys() - old_grades.keys()
    added_or_edited = grades.items() - old_grades.items()
    sentence = (
        f"{len(after - before):,} queries added, "
        f"{len(before - after):,} queries deleted, "
        f"{len(shared - scored):,} queries without a relevant document, "
        f"{len(added_or_edited) - len(added):,} grades edited, "
        f"{len(added):,} judgements added, {len(gone):,} judgements gone."
    )
    if old.cut:
        sentence = sentence.replace(
            f"{len(added):,} judgements added", "judgements added were not counted"
        )
    judged = {query: new.qrels[query] for query in scored}
    values = [
        metric_of(
            kind, judged, {query: without(found, query, gone) for query in scored}
        )
        for found in (old, new)
    ]
    return *values, sentence


def _is_scored(qrel):
    """Whether a query has a relevant document."""
    return any(grade > 0 for grade in qrel.values())


def grades_of(qrels, query_ids):
    """The grades of these queries by query and document, a dict."""
    return {
        (query, id_): grade
        for query in query_ids
        for id_, grade in qrels[query].items()
    }


def without(found, query, gone):
    """The ranking of a query without documents whose judgement is gone."""
    ranking = found.rankings.get(query, [])
    return [id_ for id_ in ranking if (query, id_) not in gone]


def drawn_groups(kind, old, new, query_ids):
    """What an interval draws: needs, of generated questions by their documents."""
    if kind == "generated":
        pairs = (
            (f"query {query}", id_) for query in new.qrels for id_ in new.qrels[query]
        )
        known = corpus.linked(pairs)
        return [known.get(f"query {query}", query) for query in query_ids]
    needs = {**old.needs, **new.needs}
    return [needs.get(query) or query for query in query_ids]


def figures_of(kind, values, groups, anytime):
    """The difference with its interval, and counts of queries: a dict.

    values: the metric of each query before and now, two Series."""
    before, now = values
    gain = now - before
    if anytime:
        low, high = intervals.confidence_sequence(gain, groups)
        before, now = (one.groupby(groups).mean() for one in values)
    else:
        low, high = intervals.confidence_interval(gain, groups)
    difference = now.mean() - before.mean()
    counts = {"queries": len(gain), "groups": len(set(groups))}
    counts |= {"wins": int((gain > SAME).sum()), "losses": int((gain < -SAME).sum())}
    counts["ties"] = len(gain) - counts["wins"] - counts["losses"]
    means = {"before": before.mean(), "now": now.mean(), "difference": difference}
    how = "paired, at any time" if anytime else "paired"
    ends = {"low": low, "high": high, "how": how}
    return {"metric": LABEL[kind], **means, **ends, **counts}


def unpaired(kind, paths, old, new):
    """`figures_of` from the intervals in two leaderboards; paths: of these."""
    parts = []
    for path, found in zip(paths, (old, new), strict=True):
        row = {name: value for name, value in found.board.items() if value is not None}
        utils.check_table([row], [experiments.BY[kind], "low", "high"], path)
        parts.append(
            [float(row[name]) for name in (experiments.BY[kind], "low", "high")]
        )
    (before, old_low, old_high), (now, low, high) = parts
    gain = now - before
    down = math.hypot(now - low, old_high - before)  # squares add up
    up = math.hypot(high - now, before - old_low)
    means = {"before": before, "now": now, "difference": gain}
    ends = {"low": gain - down, "high": gain + up, "how": "not paired"}
    return {"metric": LABEL[kind], **means, **ends}


def changes(values, old, new):
    """A DataFrame of what each query gained, the largest loss first: see `Outcome`."""
    before, now = values
    questions = {**old.questions, **new.questions}
    rows = [
        {
            "query_id": query,
            "question": questions.get(query, ""),
            "before": before[query],
            "now": now[query],
            "gain": now[query] - before[query],
            "first_before": old.rankings.get(query, [])[:3],
            "first_now": new.rankings.get(query, [])[:3],
        }
        for query in before.index
    ]
    return pd.DataFrame(rows).sort_values("gain", kind="stable")


def verdict(low, high, margin):
    """The code that an interval gives, and the sentence that says why."""
    limit = f"{0 - margin:g}"  # 0, and not -0
    if low > -margin:
        return NOT_WORSE, f"The whole interval is above {limit}."
    if high < -margin:
        return WORSE, f"The whole interval is below {limit}."
    said = "it may be worse by more than the margin, or may not."
    if high < 0:
        said = "it is worse, but perhaps by less than the margin."
    return UNDECIDED, f"The interval includes {limit}: {said}"


def check_options(margin, non_inferior, allow_undecided):
    """ValueError for a margin that is none, and for options that contradict."""
    if not 0 <= margin < 1:
        raise ValueError(f"a margin of {margin:g}: it has to be from 0 to below 1")
    if non_inferior and allow_undecided:
        raise ValueError("--non-inferior and --allow-undecided exclude each other")


def compare(
    baseline,
    results,
    wrote,
    margin=0.01,
    search=None,
    non_inferior=False,
    anytime=False,
    allow_deleted=False,
    allow_undecided=False,
):
    """An `Outcome` for each kind of query of the baseline: a list.

    baseline: the path of a file of `write_baseline`, or of a leaderboard.csv. results:
    the folder of this run. wrote: whether this run has written a file, a function of
    its path. margin: of the metric. search: see `picked`. non_inferior: what is
    undecided has the code WORSE. anytime: intervals that hold at every look, see
    `intervals.confidence_sequence`. allow_deleted: more than DELETED of the baseline's
    queries may be gone. allow_undecided: an interval that includes -margin has the code
    NOT_WORSE. ValueError for files that cannot be compared."""
    check_options(margin, non_inferior, allow_undecided)
    old_kinds, written = read(baseline, search)
    if not os.environ.get("COURSE_INCUMBENT"):
        search = search or written
    new_kinds = read_new(results, wrote, old_kinds, search)
    paths = baseline, results / "leaderboard.csv"
    options = {"allow_deleted": allow_deleted, "allow_undecided": allow_undecided}
    outcomes = []
    for kind, old in old_kinds.items():
        if kind not in new_kinds:
            said = f"The baseline has {kind} queries, and this run has none."
            outcomes.append(Outcome(kind, ERROR, ("", old.name), sentences=[said]))
        elif old.rankings is None:
            if anytime:
                raise ValueError(f"{baseline}: --anytime needs the runs beside it")
            outcomes.append(_of_boards(kind, paths, old, new_kinds[kind], margin))
        else:
            asked = margin, anytime
            outcomes.append(_of_runs(kind, old, new_kinds[kind], *asked, **options))
    if non_inferior:
        outcomes = [_shown_or_worse(outcome) for outcome in outcomes]
    for kind in new_kinds.keys() - old_kinds.keys():
        said = f"The baseline has no {kind} queries: they are not compared."
        outcomes[0].sentences.append(said)
    return outcomes


def _of_boards(kind, paths, old, new, margin):
    """The `Outcome` of two leaderboards without runs; paths: of these."""
    figures = unpaired(kind, paths, old, new)
    code, said = verdict(figures["low"], figures["high"], margin)
    why = "No run is beside the baseline, so its queries cannot be paired."
    advice = f"Take the {BASELINE} of a run as the baseline."
    names, code = (new.name, old.name), code or UNDECIDED
    return Outcome(kind, code, names, figures, [said, why, advice])


def _of_runs(kind, old, new, margin, anytime, allow_deleted, allow_undecided):
    """The `Outcome` of two runs, query by query."""
    names = new.name, old.name
    *values, changed = paired(kind, old, new)
    scored = values[0].index
    groups = np.array(drawn_groups(kind, old, new, scored), dtype=object)
    if len(set(groups)) < 2:
        where = f"in {len(set(groups))} {UNITS[kind]}; it takes two"
        said = f"{len(scored)} {kind} queries can be scored in both runs, {where}."
        advice = "Make a new baseline."
        return Outcome(kind, ERROR, names, sentences=[said, advice, changed])
    figures = figures_of(kind, values, groups, anytime)
    code, said = verdict(figures["low"], figures["high"], margin)
    sentences, counted_as = [said], ""
    if code == UNDECIDED and allow_undecided:
        code, counted_as = NOT_WORSE, "undecided, which --allow-undecided lets pass"
    known = {query for query, qrel in old.qrels.items() if _is_scored(qrel)}
    gone = known.difference(scored)
    if len(gone) > DELETED * len(known):
        sentences.append(
            f"{len(gone):,} of {len(known):,} queries of the baseline are gone, or "
            "have no relevant document any more: more than a tenth."
        )
        if not allow_deleted:
            code, counted_as = code or UNDECIDED, ""
            advice = "Accept it with --allow-deleted, or make a new baseline."
            sentences.append(advice)
    table = changes(values, old, new)
    losing = table[table["gain"] < -SAME].head(SHOWN)
    gaining = table[table["gain"] > SAME][::-1].head(SHOWN)
    sentences.append(changed)
    tables = losing, gaining
    return Outcome(kind, code, names, figures, sentences, *tables, counted_as)


def _shown_or_worse(outcome):
    """An `Outcome` where what is undecided counts as worse."""
    if outcome.code != UNDECIDED:
        return outcome
    return replace(
        outcome, code=WORSE, counted_as="not shown to be no worse (--non-inferior)"
    )


def code(outcomes):
    """The exit code of several outcomes; see FIRST. ValueError without any."""
    codes = {outcome.code for outcome in outcomes}
    if not codes:
        raise ValueError("the gate has nothing to compare")
    return next(code for code in FIRST if code in codes)


# --- What it says ------------------------------------------------------------


def verdict_of(outcome):
    """The verdict in words."""
    return outcome.counted_as or WORDS[outcome.code]


def lines(outcomes):
    """The outcomes as lines of text. Texts of users are on one line each."""
    said = []
    for outcome in outcomes:
        new, old = outcome.names
        named = f"{new!r} against {old!r}" if new else repr(old)
        said.append(f"{outcome.kind}: {verdict_of(outcome)}: {named}")
        if outcome.figures:
            said.append(f"    {_in_words(outcome)}")
        said += [f"    {sentence}" for sentence in outcome.sentences]
        for title, table in _tables(outcome):
            said.append(f"    {title}:")
            for row in table.itertuples():
                moved = f"{row.before:.3f} to {row.now:.3f}"
                ids = f"{_ids(row.first_before)}; now {_ids(row.first_now)}"
                text = (
                    f"{plain(row.query_id)} “{plain(row.question, 80)}”: {plain(ids)}"
                )
                said.append(f"      {row.gain:+.3f} ({moved}) {text}")
    return said


def _in_words(outcome):
    """The figures of an outcome as a sentence, with as many as are known."""
    figures = outcome.figures
    ends = f"{figures['low']:+.3f} to {figures['high']:+.3f}"
    said = f"{figures['metric']} {figures['difference']:+.3f} ({ends}), "
    if "queries" not in figures:
        return said + figures["how"]
    units = f"{figures['groups']:,} {UNITS[outcome.kind]}"
    counts = "{wins:,} better, {ties:,} the same, {losses:,} worse".format(**figures)
    return f"{said}{figures['how']}: {figures['queries']:,} queries, {units}; {counts}"


def _tables(outcome):
    """The tables of an outcome that have rows, with titles."""
    both = {"largest losses": outcome.losing, "largest gains": outcome.gaining}
    return [(title, table) for title, table in both.items() if len(table)]


def _ids(ids):
    return ", ".join(ids) or "nothing"


def plain(text, longest=200):
    """A text of users on one line: no control characters, cut to its first letters."""
    seen = " ".join(str(text).split())
    seen = "".join(one for one in seen if unicodedata.category(one)[0] != "C")
    return seen if len(seen) <= longest else f"{seen[: longest - 1]}…"


def cell(text, longest=200):
    """A text of users for a table in Markdown: on one line, and no markup."""
    return re.sub(MARKUP, lambda found: f"&#{ord(found[0])};", plain(text, longest))


def _row(*cells):
    return f"| {' | '.join(cells)} |"


def markdown(outcomes):
    """The outcomes in Markdown, for the summary of a job."""
    headings = ["queries", "search", "against", "metric", "before", "now"]
    headings += ["difference", "95 % interval", "better / same / worse", "verdict"]
    counts = next(one for one in outcomes if one.code == code(outcomes))
    title = verdict_of(counts).capitalize()
    said = [f"## Search: {title}", "", _row(*headings), _row(*["---"] * len(headings))]
    for outcome in outcomes:
        names, figures = map(cell, outcome.names), outcome.figures
        values = ["–"] * 6
        if figures:
            three = "{before:.3f}|{now:.3f}|{difference:+.3f}".format(**figures)
            ends = "{low:+.3f} to {high:+.3f}, {how}".format(**figures)
            values = [cell(figures["metric"]), *three.split("|"), ends, "–"]
        if "wins" in figures:
            values[-1] = "{wins:,} / {ties:,} / {losses:,}".format(**figures)
        said.append(_row(outcome.kind, *names, *values, f"**{verdict_of(outcome)}**"))
    for outcome in outcomes:
        kind = outcome.kind
        said += ["", *(f"- {kind}: {cell(one)}" for one in outcome.sentences)]
        for title, table in _tables(outcome):
            said += ["", f"<details><summary>{kind}: {title}</summary>", ""]
            headings = ["query", "question", "before", "now", "first three before"]
            said += [_row(*headings, "first three now"), _row(*["---"] * 6)]
            for row in table.itertuples():
                moved = f"{row.before:.3f}", f"{row.now:.3f}"
                ids = map(cell, [_ids(row.first_before), _ids(row.first_now)])
                said.append(_row(cell(row.query_id), cell(row.question), *moved, *ids))
            said += ["", "</details>"]
    return "\n".join([*said, ""])


def write_summary(outcomes, path=None):
    """Append `markdown` to a file, else to the one that GitHub names, if there is one.

    outcomes: of `compare`, or a text: an error. It returns the path, or None where
    nothing was written."""
    path = path or os.environ.get(SUMMARY)
    if path:
        if isinstance(outcomes, str):
            said = f"**The gate: error.** {cell(outcomes, 2_000)}"
        else:
            said = markdown(outcomes)
        with open(path, "a", encoding="utf-8") as file:
            file.write(said + "\n")
    return path or None


# --- What the two command lines share ----------------------------------------

ALONE = ["non_inferior", "anytime", "allow_deleted", "allow_undecided", "summary"]


def add_options(parser):
    """Add the options of a comparison to a parser of a command line."""
    add, flag = parser.add_argument, {"action": "store_true"}
    add("--margin", type=float, default=decision.MARGIN, help="of the metric")
    add("--search", help="the one to compare, and to keep as a baseline")
    add("--non-inferior", **flag, help="undecided counts as worse: 1")
    add("--allow-undecided", **flag, help="an undecided difference counts as 0")
    add("--allow-deleted", **flag, help="many queries of the baseline may be gone")
    add("--anytime", **flag, help="an interval for looking again and again")
    add("--summary", type=Path, help=f"append Markdown to it; else to {SUMMARY}")


def check_baseline(arguments, results):
    """ValueError for a baseline that is of no use, or would be overwritten."""
    baseline = arguments.baseline
    given = arguments.non_inferior, arguments.allow_undecided
    check_options(arguments.margin, *given)
    if baseline:
        read(baseline, arguments.search)
        if baseline.resolve().parent == results.resolve():
            raise ValueError(f"{baseline}: this run writes there; name a copy")
        return
    given = [name for name in ALONE if getattr(arguments, name)]
    if given:
        option = given[0].replace("_", "-")
        raise ValueError(f"--{option} is of no use without --baseline")


def keep(this_run, search=None):
    """Write the baseline of this run, if it has a leaderboard; its path or None."""
    if not this_run.wrote(this_run.results / "leaderboard.csv"):
        return None
    try:
        return write_baseline(this_run.results, this_run.results / BASELINE, search)
    except ValueError as error:
        if search:
            raise
        print(f"no {BASELINE} is written: {error}")


def ask(arguments, this_run):
    """Compare this run with the baseline, print and summarise it: the outcomes."""
    names = ["margin", "search", *(name for name in ALONE if name != "summary")]
    options = {name: getattr(arguments, name) for name in names}
    found = this_run.results, this_run.wrote
    outcomes = compare(arguments.baseline, *found, **options)
    print(*lines(outcomes), sep="\n")
    write_summary(outcomes, arguments.summary)
    return outcomes


def as_json(outcomes):
    """The outcomes as a dict of plain values, with the code to end with."""
    kinds = [
        {
            "kind": one.kind,
            "code": one.code,
            "searches": list(one.names),
            **one.figures,
            "sentences": one.sentences,
            "losing": one.losing.to_dict("records"),
            "gaining": one.gaining.to_dict("records"),
        }
        for one in outcomes
    ]
    ends = code(outcomes)
    return {"says": f"The gate: {WORDS[ends]}.", "outcomes": kinds, "code": ends}
