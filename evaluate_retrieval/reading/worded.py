"""Questions with an answer in words: ids that it cites, and documents that have it."""

import re
from collections.abc import Callable

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading import corpus, forms
from evaluate_retrieval.reading.columns import with_defaults
from evaluate_retrieval.reading.language import share_function
from evaluate_retrieval.reading.matching import folded
from evaluate_retrieval.reading.opening import Table

LEAST_WORDS = 5  # of an answer that is looked for
PROPOSED = 3  # documents for a question, at most
HALF = 0.5  # of an answer's words; a document with fewer is not proposed


def worded_answers(
    tables: list[Table], documents: utils.Documents, language: str
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Answers that name no document; judgements of those that cite some; and notes.

    The first: query_id, query, course, answer, and verbatim, a list of ids of the
    documents that have the answer word by word. Citations are ids, as in [12][34],
    and are read only where each is the id of a document. language: of the
    documents."""
    columns = ["query_id", "query", "course", "answer", "verbatim"]
    if not tables:
        return pd.DataFrame(columns=columns), pd.DataFrame(), []
    notes = []
    names = " and ".join(table.name for table in tables)
    answers = pd.concat([table.frame for table in tables], ignore_index=True)
    answers = answers[answers["answer"].str.strip() != ""]
    ids = {document["id"] for document in documents}
    cited = answers["answer"].map(lambda text: re.findall(forms.CITED, text))
    pairs = answers.assign(document=cited).explode("document").dropna(subset="document")
    pairs = pairs.drop_duplicates(["query_id", "document"])
    pairs = pairs if pairs["document"].isin(ids).all() else pairs[:0]
    pairs = with_defaults(pairs.drop(columns="answer").assign(grade="1", context=""))
    pairs = pairs.set_axis([f"{names} ({id_})" for id_ in pairs["query_id"]])
    if len(pairs):
        notes.append(
            f"{names}: {len(pairs):,} documents are cited, and read as relevant"
        )
    answers = answers[~answers["query_id"].isin(pairs["query_id"])]
    answers = answers.assign(verbatim=_verbatim(answers["answer"], documents))
    if len(answers):
        notes.append(f"{names}: {_sentences_on(answers, documents, language)}")
    return answers[columns], pairs, notes


def shares_of_answers(
    answers: pd.DataFrame, documents: utils.Documents, language: str
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Which share of the words of answers documents have, see `share_function`."""
    # as BM25 takes them, which then finds their words in the cache
    texts = map(corpus.whole_text, documents)
    return share_function(answers["answer"], texts, language)


def _sentences_on(answers, documents, language):
    """How many documents have these answers, or half of their words, in sentences."""
    shares = shares_of_answers(answers, documents, language)
    n_verbatim = answers["verbatim"].map(len).to_numpy()
    is_near = n_verbatim > 0
    for rows, columns in utils.blocks_of(answers, documents):
        is_near[rows] |= shares(rows, columns).max(axis=1) >= HALF
    sentences = (
        f"{len(answers):,} questions have an answer in words, and name no document. "
        f"The answer stands word by word in one document for {sum(n_verbatim == 1):,} "
        f"of them, and in several for {sum(n_verbatim > 1):,}. At least half of its "
        f"words are in some document for {sum(is_near):,}. None counts as judged"
    )
    if not is_near.any():
        return sentences
    return (
        f"{sentences}: evaluate-retrieval judge asks about these documents first, up "
        f"to {PROPOSED} for a question"
    )


def _verbatim(answers, documents):
    """Ids of the documents that have each answer word by word: a list of lists.

    An answer of fewer than five words may be in any."""
    texts = {document["id"]: folded(document["text"]) for document in documents}
    cleaned = list(map(folded, answers))
    # words between the first and the last one stand in a text as they are: few texts
    # have the rarest of them, and only these are read
    inner = [text.split()[1:-1] for text in cleaned]
    having = {word: [] for words in inner for word in words}
    for id_, text in texts.items():
        for word in having.keys() & {*text.split()}:
            having[word].append(id_)
    places = []
    for answer, words in zip(cleaned, inner, strict=True):
        is_long = len(words) + 2 >= LEAST_WORDS
        rarest = min((having[word] for word in words), key=len) if is_long else []
        places.append([id_ for id_ in rarest if answer in texts[id_]])
    return places
