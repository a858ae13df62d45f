"""`judge`: judge pairs in the terminal. Each grade is on disk at once."""

import logging
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.commands import manifest, run
from evaluate_retrieval.commands.options import SearchOptions, is_name, option
from evaluate_retrieval.judging import (
    grading,
    judged_texts,
    next_pairs,
    sample,
    several,
)
from evaluate_retrieval.judging.several import pair_keys
from evaluate_retrieval.reading import corpus, locks
from evaluate_retrieval.reading.columns import with_defaults
from evaluate_retrieval.reading.files import read_csv
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.reading.graded import read_judged
from evaluate_retrieval.reading.joining import PAIR, asked, queries_of
from evaluate_retrieval.reading.listing import JUDGED
from evaluate_retrieval.reading.writing import write_bytes, write_table
from evaluate_retrieval.searching.own import Search, are_alone, went
from evaluate_retrieval.words import sentences
from evaluate_retrieval.words.constants import NOT_WORSE
from evaluate_retrieval.words.text import plain

LIST = "judge-next.csv"  # of the last run
FOUND = "queries.csv"
HELP = "judge pairs in the terminal"
COUNTED = {  # what `several.with_grades` counts, in words
    "replaced": "%s of them in place of an earlier one of the same person",
    "differ": "%s pairs have different grades of several people: the column grades has "
    "all; what most gave counts, else the lower one in the middle",
}
log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class JudgeOptions(SearchOptions):
    """name: becomes part of a file's name. more: queries of the log's sample."""

    name: str = option(
        "who judges",
        "me",
        is_fine=is_name,
        problem="a name has letters, digits, -, _ and . only",
    )
    more: int = option(
        "so many more queries of the log are drawn to be judged",
        0,
        metavar="N",
        convert=int,
        is_fine=lambda n: n > 0,
        problem="it has to be 1 or more",
    )


OPTIONS = JudgeOptions


def carry_out(options: JudgeOptions) -> dict:
    """Ask for the grades of pairs in the terminal: a dict.

    The lock is for the time before: several people may judge at once. ValueError
    where the documents are a file."""
    with run.at_work(options) as options:
        if not options.source.is_dir():
            problem = "no folder; judgements go beside the documents"
            raise utils.InputError(options.source, problem)
        folder = run.read_aloud(options)
        keep_judgements(folder)
        with run.own_of(folder, options) as own:
            pairs = pairs_to_judge(folder, own, options)
        for name, search in own.items():
            if search.errors:
                log.warning(sentences.trouble(name, went(search)))
        leaders = leading(folder, options.out)
    says = ask_in_terminal(folder, pairs, options.name, leaders)
    return {"says": says, "code": NOT_WORSE}


def pairs_to_judge(
    folder: Folder, own: dict[str, Search], options: JudgeOptions
) -> pd.DataFrame:
    """The pairs to judge: a DataFrame with the columns corpus.TO_JUDGE.

    Those of answers in words come first, see `next_pairs.of_answers`. Then come those
    of the list that the last run has written into options.out. Without
    one of this folder, and with options.more, they are a pool of its sample, see
    `pooled`. Pairs of documents and queries that are gone are left out, and the log
    counts them."""
    results = options.out
    path = results / LIST
    pairs = pd.DataFrame()
    proposed = next_pairs.of_answers(folder)
    if not options.more and path.exists() and path.read_bytes().count(b"\n") > 1:
        if manifest.has_written(results, LIST, folder.source):
            pairs = _listed_in(path)
        else:
            text = "%s was not written by the last run on %s: a new list is made"
            log.info(text, path, folder.source)
    if pairs.empty:
        pairs = pooled(folder, own, options)
    else:  # a list of the last run has no pair with a grade
        proposed = proposed[~pair_keys(proposed).isin(pair_keys(folder.judgements))]
    pairs = pd.concat([proposed, pairs]).drop_duplicates(PAIR, ignore_index=True)
    ids = [document["id"] for document in folder.documents]
    queries = queries_of(folder.judgements, folder.log)
    queries = pd.concat([queries, folder.answers]).drop_duplicates("query_id")
    is_there = pairs["document"].isin(ids) & asked(pairs).isin(asked(queries))
    if n_gone := (~is_there).sum():
        text = "%s of %s pairs are of no document or no query here, and left out"
        log.info(text, n_gone, len(pairs))
    return pairs[is_there]


def _listed_in(path):
    """The pairs of a list of the last run; none where it cannot be read any more."""
    try:
        return read_csv(path, corpus.TO_JUDGE)[corpus.TO_JUDGE]
    except (OSError, ValueError) as error:
        log.warning("%s; a new list is made", error)
        return pd.DataFrame()


def pooled(
    folder: Folder, own: dict[str, Search], options: JudgeOptions
) -> pd.DataFrame:
    """The pairs of the folder's sample, see `next_pairs.to_pool`: a DataFrame.

    The sample is drawn once and kept, see `sample.sample_of`; the log says what it
    is. Left out is what was judged: in this person's file from another list, or in
    none of the files of those who judge here."""
    drawn = mine = None
    if len(folder.log):
        drawn, sentences = sample.sample_of(folder, options.more)
        for sentence in sentences:
            log.info(sentence)
    only_own = are_alone(False, own, options.only_own)
    pairs = next_pairs.to_pool(folder, own, only_own, options.model, drawn)
    if drawn is not None:
        sample.keep_sample(drawn, folder.source)
    keys = pair_keys(pairs)
    done = {*pair_keys(folder.judgements)}
    for path in grading.judged_files(folder.source):
        graded = grading.last_grades(path).reset_index()
        done -= {*pair_keys(graded)}  # others may judge the same pairs
        if path.name == f"judgements-{options.name}.csv":
            mine = graded
    if mine is not None:
        done |= {*pair_keys(mine[mine["drawn"] != "pool"])}
    return pairs[~keys.isin(done)]


def leading(folder: Folder, results: Path) -> pd.DataFrame:
    """The rows of queries.csv of the two best searches, by query_id: a DataFrame.

    Empty where the last run was of another folder, or its table is not as it was."""
    if not manifest.has_written(results, FOUND, folder.source):
        return pd.DataFrame()
    try:
        table = read_csv(results / FOUND, ["queries", "query_id", "search"])
        table = table[table["queries"] == "judged"]
        metric = table.columns[3]  # behind queries, query_id and search
        values = table[metric].astype(float)
        table = table[["query_id", "search", "found"]]
    except (OSError, ValueError, IndexError, KeyError) as error:
        log.warning("the two best searches are not shown: %s", error)
        return pd.DataFrame()
    means = values.groupby(table["search"]).mean()
    is_best = table["search"].isin(means.nlargest(2).index)
    return table[is_best].set_index("query_id")


def ask_in_terminal(
    folder: Folder, pairs: pd.DataFrame, name: str, leaders: pd.DataFrame
) -> str:
    """Judge pairs, and add the judgements to the folder's: how many, in words.

    Each grade is on disk at once, in judgements-NAME.csv. In the end, also of
    an interrupt and of the input, judged-queries.csv beside the documents has
    all judgements, old and new; nothing is written where nobody has judged. The
    keys give the grades of `scale_of`. leaders: see `leading`. The log shows
    what there is to judge."""
    path = folder.source / f"judgements-{name}.csv"
    session = grading.Judging(pairs, path)
    before = {*session.done.items()}
    scale = scale_of(folder.judgements["grade"])
    if scale != [0, 1, 2]:
        session.keys = {str(i): f"{each:g} (key {i})" for i, each in enumerate(scale)}
    if session.note:
        log.info(session.note)
    keys = ", ".join(session.keys.values())
    log.info(f"{session}. Keys: {keys}; u goes back, q ends")
    try:
        _ask(session, folder, leaders)
    finally:
        keep_judgements(folder)
        now = {*session.done.items()} - before
        for sentence in judged_texts.remember(
            folder, [(at[0], at[4]) for at, _ in now]
        ):
            log.info(sentence)
    return str(session)


def scale_of(grades: Iterable[float]) -> list[float]:
    """The grades that the keys from 0 on give: a list of ten at most.

    Whole ones up to 9, at least to 2; else those that a folder has, or ten of
    them, from 0 to the highest."""
    there = sorted({0, *grades})
    if {*there} <= {*range(10)}:
        return list(range(max(2, int(there[-1])) + 1))
    ten = np.quantile(there, np.linspace(0, 1, 10), method="nearest")
    return np.unique(ten).tolist()


def _ask(session, folder, leaders):
    """Show an item, and wait for its key, until all are judged, or q, or the end.

    After the last item of a query it shows what the leaders found. Not before:
    who judges must not know which search found what."""
    records = {document["id"]: document for document in folder.documents}
    histories = {}
    for queries in (folder.log, folder.unanswered, *folder.test.values()):
        if "history" in queries:
            histories |= dict(zip(queries["query_id"], queries["history"], strict=True))
    while session.at:
        item = dict(zip(session.fields, session.at, strict=True))
        record = records[item["document"]]
        query_id = item["query_id"]
        history = histories.get(query_id, "")
        earlier = "".join(f"earlier: {line}\n" for line in history.splitlines())
        text = (
            f"{earlier}QUERY  {item['query']}\n\n{record['question']}\n{record['text']}"
        )
        log.info(f"\n{session}\n{text}\n\ngrade:")
        try:
            key = read_key().strip().lower()
        except EOFError:
            log.info("\nthe input has ended")
            return
        if key in ("q", "\3", "\4"):  # Ctrl-C on Windows, Ctrl-D
            return
        if key not in [*session.keys, "u", ""]:
            log.info(f"{key!r} is no key here: {', '.join(session.keys)}, u and q are")
        grading.judge(session, key)
        rows = leaders[leaders.index == query_id]
        waiting = {at[0] for at in session.items if at not in session.done}
        if key in session.keys and len(rows) == 2 and query_id not in waiting:
            log.info(_side_by_side(session, folder, query_id, rows))


def _side_by_side(session, folder, query_id, rows):
    """Two lists of a query as text: rank, title and grade of each result.

    rows: of queries.csv, one for each search."""
    titles = corpus.headings(folder.documents)
    before = folder.judgements.query("query_id == @query_id").set_index("document")
    done = {at[4]: grade for at, grade in session.done.items() if at[0] == query_id}
    grades = {**before["grade"], **done}

    def shown(quoted: str) -> str:
        id_ = unquote(quoted)
        return f"{plain(titles.get(id_, id_), 40):40}{grades.get(id_, '')!s:>4}"

    ids = rows.set_index("search")["found"].str.split(expand=True)
    table = ids.fillna("").map(shown).T
    return table.set_axis(table.index + 1).to_string()


def read_key() -> str:
    """A key of the terminal, without Enter; where stdin is none, `input`."""
    if not sys.stdin.isatty():
        return input()
    if sys.platform == "win32":
        import msvcrt

        return msvcrt.getwch()
    import termios
    import tty

    before = termios.tcgetattr(0)
    try:
        tty.setcbreak(0, termios.TCSADRAIN)
        return os.read(0, 9).decode(errors="replace")  # an arrow has several letters
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)


def keep_judgements(folder: Folder) -> None:
    """Add all that was judged in a folder to its judged-queries.csv.

    Also what is left of a session that was killed, whoever judged."""
    path = folder.source / JUDGED
    files = grading.judged_files(folder.source)
    n = add(
        path,
        *files,
        older=folder.judgements.fillna("").astype(str),
        weights={} if "weight" in folder.log else sample.weights_by_text(folder.source),
    )
    if path.exists():
        log.info(f"{path} has {n:,} judgements")
        for old in folder.source.glob("qrels*"):
            log.info(f"take {old.name} out of the folder: {path.name} has all of it")


def add(
    path: Path,
    *files: Path,
    older: pd.DataFrame | None = None,
    weights: Mapping[str, float] | None = None,
) -> int:
    """Add what was judged to judged-queries.csv; how many judgements it has then.

    path: of it; where nothing is there, older counts, a DataFrame of judgements.
    files: of judgements. Taken is what a file got since it was last added, and what
    is not there. weights: of the queries, see `sample.judged_with_weights`. Of one
    person the later grade of a pair counts, and those of several are all kept, see
    `several`. The log counts both. People who judge at once add one after another;
    the former file is kept, see `writing.write_table`. ValueError names a file that
    is none of judgements."""
    with locks.held(path):
        is_first = not path.exists()  # then nothing was added to it
        table = (
            pd.DataFrame(older) if is_first else with_defaults(read_judged(path).frame)
        )
        contents = {file: file.read_bytes() for file in files}
        given = [_given_in(file, table, is_first) for file in files]
        added = [
            file
            for file, grades in zip(files, given, strict=True)
            if grades["is_new"].any()
        ]
        if added:
            table, counts = several.with_grades(table, pd.concat(given))
            for name, n in counts.items():
                if n:
                    log.info(COUNTED[name], f"{n:,}")
        before = table.get("weight")
        table = sample.judged_with_weights(table, weights or {})
        # --more gives new weights to what has some
        is_weighed = (
            not is_first and before is not None and not table["weight"].equals(before)
        )
        if added or is_weighed:
            blank = table.columns[(table == "").all()].difference(corpus.JUDGED_COLUMNS)
            write_table(table.drop(columns=blank), path, keep_former=True)
        for file in added:
            write_bytes(_mark_of(file), contents[file], like=file)
    return len(table)


def _mark_of(file):
    """Where a file of judgements is kept as it was when it was last added."""
    return file.with_name(f".{file.name}.added")


def _given_in(file, table, is_first):
    """The grades of a file, with is_new: which a table of judgements has not.

    is_first: whether the table was made without such files."""
    n_added = 0 if is_first else grading.n_added(file, _mark_of(file))
    grades = _with_own_texts(grading.last_grades(file).reset_index(), table)
    grades["is_new"] = several.is_new(grades, table, n_added)
    if n_new := grades["is_new"].sum():
        log.info("%s: %s grades added", file.name, n_new)
    return grades


def _with_own_texts(grades, table):
    """Grades of a file with what a table has of their queries: texts, and turns.

    A row of that file is one line, and the text of a query may have several."""
    turns = table.drop_duplicates("query_id").set_index("query_id")
    own = {}
    for name in ("query", "kind"):
        texts = grades["query_id"].map(dict(turns[name])).astype(object).fillna("")
        is_same = texts.map(grading.one_line) == grades[name]
        own[name] = texts.where(is_same, grades[name])
    columns = turns.columns.intersection(corpus.TURN)
    return grades.assign(**own).join(turns[columns], "query_id")
