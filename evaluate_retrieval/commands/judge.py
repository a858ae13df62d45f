"""`judge`: judge pairs in the terminal, or on pages for several people."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.commands import aloud, asking, manifest, run
from evaluate_retrieval.commands.options import FILLED, SearchOptions, is_name, option
from evaluate_retrieval.judging import (
    agreed,
    dealing,
    grading,
    judged_texts,
    next_pairs,
    pages,
    room,
    sample,
    settling,
    taking,
)
from evaluate_retrieval.judging.adding import add as add  # lesson 05 adds with it
from evaluate_retrieval.judging.adding import keep_judgements
from evaluate_retrieval.judging.several import BY_HAND, pair_keys
from evaluate_retrieval.reading import corpus
from evaluate_retrieval.reading.files import read_csv
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.reading.graded import read_judged
from evaluate_retrieval.reading.joining import PAIR, asked, queries_of
from evaluate_retrieval.reading.listing import JUDGED
from evaluate_retrieval.reading.writing import write_text
from evaluate_retrieval.searching.own import Search, are_alone, went
from evaluate_retrieval.words import sentences
from evaluate_retrieval.words.constants import NOT_WORSE
from evaluate_retrieval.words.terminal import step

LIST = "judge-next.csv"  # of the last run
HELP = "judge pairs in the terminal, or on pages for several people"
WHAT_NAMES_ARE = "a name has letters, digits, -, _ and . only"
log = logging.getLogger(__name__)


def names_in(people: str | Sequence[str]) -> list[str]:
    """The names of "ann,ben", or of a list of them."""
    names = people.split(",") if isinstance(people, str) else list(people)
    return [name.strip() for name in names if name.strip()]


def are_names(people: str | Sequence[str]) -> bool:
    """Whether all of several people have a name, each another one."""
    names = names_in(people)
    return bool(names) and all(map(is_name, names)) and len({*names}) == len(names)


@dataclass(frozen=True, kw_only=True)
class JudgeOptions(SearchOptions):
    """name: becomes part of a file's name. more: queries of the log's sample.

    people: who judges, on pages or in terminals; each query goes to `each` of them.
    page: whether a page is written for each. add: files that such pages have saved.
    incumbent: cannot be told, as no search is compared."""

    name: str = option("who judges", "me", is_fine=is_name, problem=WHAT_NAMES_ARE)
    more: int = option(
        "so many more queries of the log are drawn to be judged",
        0,
        metavar="N",
        convert=int,
        is_fine=lambda n: n > 0,
        problem="it has to be 1 or more",
    )
    page: bool = option("a page for each person, to judge in a browser", False)
    people: Any = option(
        "who judges, with commas between the names",
        metavar="NAMES",
        is_fine=are_names,
        problem=f"each has to have another name; {WHAT_NAMES_ARE}",
    )
    each: int = option(
        "so many of the people judge each query",
        2,
        metavar="N",
        convert=int,
        is_fine=lambda n: n > 0,
        problem="it has to be 1 or more",
    )
    serve: bool = option("serve the pages to those in one room, until Ctrl-C", False)
    host: str = option(
        "where pages are served; 0.0.0.0 is for all who reach this machine",
        room.THIS_MACHINE,
        metavar="ADDRESS",
        **FILLED,
    )
    port: int = option(
        "where pages are served",
        room.PORT,
        metavar="N",
        convert=int,
        is_fine=lambda port: 0 <= port < 65_536,
        problem="it has to be below 65,536",
    )
    add: Any = option("take in files that pages have saved", nargs="+", metavar="FILE")
    incumbent: str | None = field(default=None, init=False)


OPTIONS = JudgeOptions


def carry_out(options: JudgeOptions) -> dict:
    """Ask for the grades of pairs in the terminal, or write pages that do: a dict.

    The lock is for the time before: several people may judge at once. ValueError
    where the documents are a file."""
    with run.at_work(options) as options:
        if not options.source.is_dir():
            problem = "no folder; judgements go beside the documents"
            raise utils.InputError(options.source, problem)
        folder = aloud.read_aloud(options)
        if options.add:
            return take_in_files(folder, options)
        keep_judgements(folder)
        with run.own_of(folder, options) as own, step("asking searches"):
            pairs = pairs_to_judge(folder, own, options)
        for name, search in own.items():
            if search.errors:
                log.warning(sentences.trouble(name, went(search)))
        leaders = asking.leading(folder, options.out)
        pairs = dealing.in_order(pairs, options.source)
        if options.people or options.page or options.serve:
            pairs = dealt(folder, pairs, options)
        if options.page:
            return write_pages(folder, pairs, options)
    if options.serve:
        return served_until_interrupted(folder, pairs, options, leaders)
    if options.people:
        pairs = dealing.of_person(pairs, options.name)
    says = asking.ask_in_terminal(folder, pairs, options.name, leaders)
    return {"says": says, "code": NOT_WORSE}


# --- Several people ------------------------------------------------------------------


def dealt(folder: Folder, pairs: pd.DataFrame, options: JudgeOptions) -> pd.DataFrame:
    """Pairs with who judges them, see `dealing.deal`; the folder keeps it."""
    people = names_in(options.people or [options.name])
    before = dealing.read_dealt(folder.source)
    n_each = min(options.each, len(people))
    rows = settling.last_rows(folder.source)[[*PAIR, "judge"]]
    judged = {*rows.itertuples(index=False, name=None)}
    pairs = dealing.deal(pairs, people, n_each, before, judged)
    pairs = dealing.with_texts(pairs, folder.documents)
    if len(pairs):
        dealing.keep_dealt(folder.source, pairs)
    return pairs


def _scale_of(folder):
    """The keys of a folder's scale, and its grades as texts."""
    keys = grading.keys_for(folder.judgements["grade"])
    return keys, [says.split()[0] for says in keys.values()]


def _pages_for(folder, pairs):
    """The grades of a folder, and a function: the page of a person, and its policy."""
    keys, grades = _scale_of(folder)
    examples = pages.agreed_pairs(folder.judgements, pairs["query_id"], grades)
    rules = settling.rules_of(folder.source)

    def page_for(person: str, served: dict[str, Any] | None = None) -> tuple[str, str]:
        theirs = dealing.of_person(pairs, person)
        rows = settling.last_rows(folder.source)
        judged = {*map(tuple, rows.loc[rows["judge"] == person, PAIR].to_numpy())}
        places = enumerate(map(tuple, theirs[PAIR].to_numpy()))
        done = [place for place, pair in places if pair in judged]
        facts = keys, examples, rules, done, served
        return pages.judging_page(folder, theirs, person, *facts)

    return keys, grades, page_for


def write_pages(folder: Folder, pairs: pd.DataFrame, options: JudgeOptions) -> dict:
    """Write a page for each person, judge-NAME.html: a dict.

    pairs: see `dealt`."""
    _, _, page_for = _pages_for(folder, pairs)
    people = dealing.who_judges(pairs, names_in(options.people or []))
    files = []
    for person in people:
        files.append(options.out / f"judge-{person}.html")
        write_text(files[-1], page_for(person)[0])
    manifest.sign(options.out, files)
    n_queries = pairs["query_id"].nunique()
    says = (
        f"{len(pairs):,} pairs of {n_queries:,} queries for {len(people)} people. Send "
        "each the page with the name. What they save goes in with "
        "“evaluate-retrieval judge FOLDER --add FILES”."
    )
    if pairs.empty:
        says = "There is nothing to judge."
    return {"says": says, "files": files, "code": NOT_WORSE}


def room_for(
    folder: Folder,
    pairs: pd.DataFrame,
    leaders: pd.DataFrame | None = None,
    names: Sequence[str] = (),
) -> room.Room:
    """What a server has to know of the people who judge: `room.Room`.

    pairs: see `dealt`. leaders: see `settling.to_settle`. names: see
    `dealing.who_judges`. One more seat is for who leads: to settle, and to see all."""
    keys, grades, page_of = _pages_for(folder, pairs)

    def page_for(person: str, seat: str) -> tuple[str, str]:
        if person == BY_HAND:
            return lead()
        return page_of(person, {"post": "/grades", "seat": seat})

    def lead() -> tuple[str, str]:
        keep_judgements(folder)
        judged = folder.judgements
        if (folder.source / JUDGED).exists():
            judged = read_judged(folder.source / JUDGED).frame
        page = settling.lead_page(folder, judged, shows_all=False)
        return page, pages.policy_without_script()

    def settle() -> tuple[str, str]:
        served = {"post": "/grades", "seat": seats[BY_HAND]}
        page, policy, _ = settling.settle_page(folder, keys, leaders, served)
        return page, policy

    seats = room.seats_for([*dealing.who_judges(pairs, names), BY_HAND])
    return room.Room(folder, grades, seats, page_for, settle)


def served_until_interrupted(
    folder: Folder, pairs: pd.DataFrame, options: JudgeOptions, leaders: pd.DataFrame
) -> dict:
    """Serve the pages until Ctrl-C, and add what was judged: a dict."""
    of_room = room_for(folder, pairs, leaders, names_in(options.people or []))
    with room.server_of(of_room, options.host, options.port) as server:
        links = room.links_of(of_room, server)
        lead = links.pop(BY_HAND)
        for person, link in links.items():
            log.info("%s: %s", person, link)
        log.info("who leads: %s and %s", lead, lead.replace("/?", "/settle?"))
        log.info("each link is one person's, and these are said once. Ctrl-C ends")
        try:
            server.serve_forever()
        except KeyboardInterrupt as end:
            if type(end) is not KeyboardInterrupt:  # somebody else has ended it
                raise
        finally:
            keep_judgements(folder)
            rows = settling.last_rows(folder.source)
            judged = list(rows[PAIR].itertuples(index=False, name=None))
            for sentence in judged_texts.remember(folder, judged):
                log.info(sentence)
    people = settling.progress_of(folder.source)
    n_judged = sum(each["judged"] for each in people)
    n_dealt = sum(each["dealt"] for each in people)
    says = f"{n_judged:,} of {n_dealt:,} grades are in the folder."
    return {"says": says, "code": NOT_WORSE}


def take_in_files(folder: Folder, options: JudgeOptions) -> dict:
    """Take in files that pages have saved, and add them to the judgements: a dict.

    All of them, or none: ValueError names the first that is wrong. Pages for what comes
    next are written, see `settling`."""
    files = options.add
    keys, grades = _scale_of(folder)
    paths = [files] if isinstance(files, str | Path) else files
    several = [
        taking.of_this_folder(read_csv(path, taking.SAVED), path, folder, grades)
        for path in map(Path, paths)
    ]
    n_edited = sum(n for _, n in several)
    if n_edited:
        text = "%s grades are of documents that were edited since: they are left out"
        log.warning(text, f"{n_edited:,}")
    rows = pd.concat([taken for taken, _ in several])
    n_new = taking.take_in(folder.source, rows)
    keep_judgements(folder)
    graded = rows[rows["grade"] != grading.CANNOT_TELL]
    again = list(graded[PAIR].drop_duplicates().itertuples(index=False, name=None))
    for sentence in judged_texts.remember(folder, again if n_new else []):
        log.info(sentence)
    says = f"{n_new:,} of {len(rows):,} grades are new, and are in the folder now."
    judged = read_judged(folder.source / JUDGED).frame
    agreement = agreed.agreement_of(judged)
    says = f"{says} {agreed.agreement_in_words(agreement)}".strip()
    report = "report.html"
    if not manifest.has_written(options.out, report, folder.source):
        report = ""
    written = settling.write_lead_page(folder, judged, options.out, report)
    leaders = asking.leading(folder, options.out)
    page, _, n_open = settling.settle_page(folder, keys, leaders)
    if n_open:
        written.insert(0, options.out / "judge-settle.html")
        write_text(written[0], page)
        says += f" {n_open:,} pairs have different grades: settle them together."
    manifest.sign(options.out, written)
    return {"says": says, "files": written, "code": NOT_WORSE}


# --- Which pairs ---------------------------------------------------------------------


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
