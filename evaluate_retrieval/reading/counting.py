"""What was counted in a folder, in sentences."""

from collections import Counter
from collections.abc import Iterable, Sized

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading import corpus
from evaluate_retrieval.words.sentences import on_no_board


def each_once(notes: Iterable[str]) -> list[str]:
    """Each note once, with how often it was given, if that was several times."""
    times = Counter(notes)
    return [f"{note} ({n:,} times)" if n > 1 else note for note, n in times.items()]


def twin_notes(twins: Sized) -> list[str]:
    """A sentence that counts documents with one text, or none."""
    problem = (
        "documents have a text that another one has: a grade of one is a grade of all "
        "of them, and they count as one document"
    )
    return [f"{len(twins):,} {problem}"] if twins else []


def grade_shares(grades: pd.Series) -> str:
    """Each grade with its share of all, in words: "60% are 1, 40% are 2"."""
    shares = grades.value_counts(normalize=True).sort_index()
    return ", ".join(f"{share:.0%} are {grade:g}" for grade, share in shares.items())


def query_notes(
    log: pd.DataFrame,
    judgements: pd.DataFrame,
    unanswered: pd.DataFrame,
    queries: pd.DataFrame,
    relevant: float | None,
) -> list[str]:
    """Sentences that count queries, judgements, and queries that no figure counts."""
    judged = judgements.drop_duplicates("query_id")
    if log.empty and judged.empty:
        return []
    grades = f"{len(judged):,} judged, {len(judgements):,} grades"
    if relevant is not None:
        share = utils.is_relevant(judgements["grade"], relevant).mean()
        grades += f", {share:.0%} of them relevant, from {relevant:g}"
    elif judgements["grade"].nunique() > 1 and judgements["grade"].min() > 0:
        shares = grade_shares(judgements["grade"])
        grades += f", none of them 0: {shares}; each counts as relevant"
    elif judgements["grade"].min() > 0:  # not where there are none
        grades += ", none of them 0: what is not listed counts as not relevant"
    counts = {
        "judged queries are drawn for single pairs: no figure of a ranking counts "
        "them": sum(judged["kind"] == corpus.FROM_LOG),
        "judged queries repeat the text of an earlier one; each counts": (
            sum(judged.duplicated(["query", "course"]))
        ),
    }
    sentences = [on_no_board(len(unanswered))] if len(unanswered) else []
    sentences += [f"{n:,} {problem}" for problem, n in counts.items() if n]
    if "conversation" in queries:
        turns = queries["conversation"].replace("", None)
        sentences.append(
            f"{turns.count():,} judged queries are turns of {turns.nunique():,} "
            "conversations; the turns of a conversation are one need"
        )
    return [f"{max(len(log), len(judged)):,} queries, {grades}", *sentences]
