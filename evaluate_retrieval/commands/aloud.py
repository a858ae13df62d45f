"""A folder that is read aloud: what is in it is told, before anything is measured."""

import logging
from dataclasses import replace

from evaluate_retrieval import utils
from evaluate_retrieval.commands.options import SearchOptions
from evaluate_retrieval.judging import judged_texts
from evaluate_retrieval.measuring import intervals, looks, registry, verdicts
from evaluate_retrieval.measuring.metric import asked_for, measures_of
from evaluate_retrieval.reading.counting import grade_shares
from evaluate_retrieval.reading.folder import Folder, read
from evaluate_retrieval.reading.listing import NOT_READ, TEXTS
from evaluate_retrieval.words import sentences
from evaluate_retrieval.words.constants import UNITS
from evaluate_retrieval.words.templates import line_of

log = logging.getLogger(__name__)
SCALE = 3  # so many different grades, and none 0, are a scale and no list
POOLED = 5  # grades a query: of so many some are of what is not relevant


def read_aloud(options: SearchOptions) -> Folder:
    """The folder of the options, after its notes and counts are logged."""
    whole = read(options.source, options.language, relevant=options.relevant)
    folder = whole.of_kind(options.queries)
    measures = measures_of(options.metric, options.k, options.relevant)
    given = {
        "measure": measures[folder.decides or "judged"],
        "only_answered": options.only_answered,
    }
    sealed = replace(folder.sealed, **given) if folder.sealed else None
    folder = replace(folder, sealed=sealed, **given)
    _, named_k = asked_for(options.metric or folder.measure.by, options.k)
    most = min(named_k or 0, len(folder.documents))
    for name, rankings in folder.runs.items():
        longest = max(map(len, rankings.values()), default=most)
        if longest < most:
            problem = f"the run {name!r} has at most {longest} results for a query"
            raise utils.InputError(options.source, problem, option="--k", value=named_k)
    was_used = (folder.source / TEXTS).is_file() and not looks.read_looks(folder.source)
    # in the last sentence on the folder; its own results are no surprise
    n_ties = verdicts.n_ties(folder)
    told = {f"{options.out.name}/ {NOT_READ}"}
    if n_ties == len(folder.unanswered):
        told.add(sentences.on_no_board(n_ties))
    for note in [*folder.notes, *judged_texts.remember(folder)]:
        if note not in told:
            log.info(note)
    if was_used and len(folder.unanswered):
        n_new = f"{len(folder.unanswered):,}"
        log.info(
            "a verdict here is new: on all queries, also on %s without a relevant "
            "document, which versions up to 1.3 left out",
            n_new,
        )
    shown = {
        "folder": folder,
        "effect": intervals.design_effect,
        "n_needs": intervals.n_needs,
        "units": UNITS,
        "n_ties": n_ties,
        "others": [kind for kind in whole.test if kind not in folder.test],
    }
    log.info(line_of("folder.txt.j2", **shown))
    n = len(folder.documents)
    if folder.decides and n <= folder.measure.k:
        by_order = ", ".join(registry.labels_of_ordered())
        log.info(
            f"{n} documents, and {folder.measure.k} results count: a search may find "
            f"all of them, so only their order tells searches apart ({by_order}). --k "
            "takes fewer results"
        )
    return folder


def check_scale(folder: Folder, options: SearchOptions) -> None:
    """ValueError where a scale of several grades has no 0, and no --relevant is given.

    Of grades from 1 to 4, or of stars, the lowest mostly says that a document is not
    relevant. One or two grades, as 1 and 2, and few of them a query, are those of lists
    of relevant documents: BEIR's qrels are often such."""
    grades = folder.judgements["grade"]
    chosen = folder.measure.chosen
    if problem := chosen.problem(grades.max() if len(grades) else 0):
        raise utils.InputError(option="--metric", value=chosen.label, problem=problem)
    is_pool = len(grades) >= POOLED * folder.judgements["query_id"].nunique()
    shares = grades.value_counts(normalize=True).sort_index()
    is_scale = is_pool and len(shares) >= SCALE and shares.index[0] > 0
    if options.relevant is None and is_scale:
        advice = (
            "say from which a document is relevant, for example --relevant "
            f"{shares.index[len(shares) // 2]:g}; with --relevant "
            f"{shares.index[0]:g} all are"
        )
        problem = f"{len(shares)} grades, and none is 0: {grade_shares(grades)}"
        raise utils.InputError(folder.judged_in, problem, advice=advice)
