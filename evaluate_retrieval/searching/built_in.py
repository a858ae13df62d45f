"""The searches that the command brings: BM25, vectors, sums of both.

A *setting* says what a search is made of, a dict. `text` and `vectors` are the
weights of the two parts, 0 if left out. `k1`, `b` and `heading` are options of
BM25, and `embedded` is the name of the vectors."""

import itertools
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from evaluate_retrieval import utils
from evaluate_retrieval.reading import corpus
from evaluate_retrieval.reading.language import WORD
from evaluate_retrieval.searching import embedding, scoring
from evaluate_retrieval.searching.onnx_model import NoWeightsError
from evaluate_retrieval.words.constants import ADD_EXTRA

MINSEARCH = "text: fields, no boost"  # the name of minsearch's search
TUNED_TEXT = "text: BM25, tuned"
TUNED_SUM = "hybrid: tuned"
LONG = 200  # words; a text of more is long
CHUNK = 100  # words, about 128 tokens, without the title: best in notebook 12
MOST_CHUNKS = 150_000  # two cores take over twenty minutes for them
MANY_DOCUMENTS = 50_000  # of more nothing is embedded, unless a model is named
# to score a document by text for a query, on two cores, see docs/evidence/size.md
SECONDS = 2e-8
UNTUNED = 3  # searches by text
SOME_MINUTES = 120  # seconds; if a run of ours takes longer, that is told first
SUM = {"text": 0.2, "vectors": 0.8, "embedded": "vectors"}  # see notebook 06
BM25_SETTINGS = [{"text": 1, **options} for options in scoring.BM25]
HEADINGS = [{}, {"heading": 2}]  # options of BM25 in a sum
WEIGHTS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]  # of the vectors in a sum
Setting = dict[str, Any]
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Vectors:
    """The score function that vectors of documents, or of parts of them, give.

    model: the name of the model, None for the default."""

    scores: utils.ScoreFunction
    model: embedding.Model = None


@dataclass(frozen=True)
class BuiltIn:
    """A search of ours: a function of queries and k.

    scores: its score function. documents: those that it ranks. setting: what
    it is made of; {} for minsearch's."""

    scores: utils.ScoreFunction
    documents: utils.Documents
    setting: Setting = field(default_factory=dict)
    origin = "built in"

    def __call__(self, queries: utils.Queries, k: int = 10) -> utils.Rankings:
        # text alone finds nothing without a shared word
        above = -np.inf if self.setting.get("vectors") else 0
        return utils.search_by_scores(self.scores, self.documents, k, above)(queries)


# --- Vectors -----------------------------------------------------------------


def n_words(documents: utils.Documents) -> np.ndarray:
    """How many words each document has, its title included."""
    texts = map(corpus.heading_and_text, documents)
    return np.array([len(text.split()) for text in texts])


def n_chunks(documents: utils.Documents) -> int:
    """How many chunks the documents have; 0 where few of them are long."""
    if (n_words(documents) > LONG).mean() <= 0.1:
        return 0
    return sum(len(chunks_of(document)) for document in documents)


def about_chunks(documents: utils.Documents) -> str:
    """How many chunks there are of long documents, or why there are none: sentences.

    Empty where few documents are long."""
    n = n_chunks(documents)
    if not n:
        return ""
    if n <= MOST_CHUNKS:
        chunks = f"Chunks of {CHUNK} words, each with its title,"
        return f"Many texts are long. {chunks} are searched, too: {n:,}."
    return (
        f"Many texts are long, but {n:,} chunks are too many (over {MOST_CHUNKS:,}). "
        "So they are not cut: vectors are of the beginning of each text, as far as "
        "the model reads. Searches of text read it all."
    )


def chunks_of(document: utils.Document) -> utils.Documents:
    """Copies of the document, each with a part of its text: CHUNK words."""
    words = document["text"].split()
    if len(words) <= CHUNK:
        return [document]
    return [
        {**document, "text": " ".join(words[start : start + CHUNK])}
        for start in range(0, len(words), CHUNK)
    ]


def embedded(
    documents: utils.Documents, model: embedding.Model = None
) -> dict[str, Vectors]:
    """`Vectors` by name: of a model, and of each other one that is here.

    model: a folder or a name; None for EMBEDDING_MODEL, or else ours.

    Where more than a tenth of the texts is long, also of chunks, see
    `chunks_of`. {} where their package is missing, or there are too many texts.
    A warning says where the weights of ours cannot be had: text is searched alone."""
    asked_for = model or embedding.vector_settings()["model"]
    if len(documents) > MANY_DOCUMENTS and not asked_for:
        log.info(
            "over %s documents nothing is embedded; --model asks for it, but %s texts "
            "take long: better embed them in an engine, and name it with --searches",
            f"{MANY_DOCUMENTS:,}",
            f"{len(documents):,}",
        )
        return {}
    if not embedding.can_embed():
        log.info(
            "no vectors: onnxruntime is not installed (%s)", ADD_EXTRA.format("vectors")
        )
        return {}
    models = embedding.fetched_models()
    names = {"vectors": model, **{f"vectors: {name}": name for name in models}}
    texts = [corpus.heading_and_text(document) for document in documents]
    vectors = {}
    for name, its_model in names.items():
        try:
            values = embedding.embed(texts, its_model)
        except NoWeightsError as error:
            log.warning("no vectors: %s", error)
            return {}
        scores = scoring.vector_scores(values, documents, its_model)
        vectors[name] = Vectors(scores, its_model)
    if sentence := about_chunks(documents):
        log.info(sentence)
        if n_chunks(documents) <= MOST_CHUNKS:
            vectors["vectors: chunks"] = Vectors(chunk_scores(documents, model), model)
    return vectors


def chunk_scores(
    documents: utils.Documents, model: embedding.Model
) -> utils.ScoreFunction:
    """The score function of documents that score as their best chunk.

    model: see `embedded`."""
    chunks = list(map(chunks_of, documents))
    rows = np.repeat(np.arange(len(documents)), list(map(len, chunks)))
    parts = list(itertools.chain(*chunks))
    values = embedding.embed(map(corpus.heading_and_text, parts), model)
    scores_of_chunks = scoring.vector_scores(values, parts, model)

    def scores(queries: utils.Queries) -> Iterator[utils.Block]:
        for places, columns, block in scores_of_chunks(queries):
            documents_of, first = np.unique(rows[columns], return_index=True)
            # columns ascend, so the chunks of a document are neighbours
            yield places, documents_of, np.maximum.reduceat(block, first, axis=1)

    return scores


# --- Searches ----------------------------------------------------------------


def builder(
    documents: utils.Documents, vectors: Mapping[str, Vectors], language: str
) -> Callable[[Setting], BuiltIn]:
    """A function: a setting -> `BuiltIn`. vectors: a dict of name: `Vectors`."""

    @lru_cache(maxsize=2)  # who tunes a sum needs the same text again and again
    def bm25(**options: Any) -> utils.ScoreFunction:
        return scoring.bm25_scores(documents, language=language, **options)

    def build(setting: Setting) -> BuiltIn:
        parts = []
        if setting.get("text"):
            names = [name for name in ("k1", "b", "heading") if name in setting]
            parts.append(bm25(**{name: setting[name] for name in names}))
        if setting.get("vectors"):
            parts.append(vectors[setting["embedded"]].scores)
        scores = parts[0]
        if len(parts) > 1:
            scores = scoring.weighted_sum(parts, [setting["text"], setting["vectors"]])
        return BuiltIn(scores, documents, setting)

    return build


def fields_of(documents: utils.Documents) -> list[str]:
    """The fields of the documents that have a text."""
    fields = ["question", "text", "section"]
    return [name for name in fields if any(each[name].strip() for each in documents)]


def untuned(
    documents: utils.Documents,
    build: Callable[[Setting], BuiltIn],
    vectors: Mapping[str, Vectors],
) -> dict[str, BuiltIn]:
    """Our searches that nothing is tuned in: a dict of name: `BuiltIn`."""
    fields = fields_of(documents)
    # scikit-learn's own pattern takes a sentence of Chinese for one word
    words = {"token_pattern": WORD}
    from minsearch import Index  # with scikit-learn, which takes seconds

    index = Index(fields, ["course"], vectorizer_params=words)
    scores = utils.minsearch_scores(index.fit(documents))
    searches = {MINSEARCH: BuiltIn(scores, documents)}
    settings: dict[str, Setting] = {"text: BM25": {"text": 1}}
    if "question" in fields:
        settings["text: BM25, heading × 2"] = {"text": 1, "heading": 2}
    for name in vectors:
        settings[name] = {"vectors": 1, "embedded": name}
    if vectors:
        settings["hybrid: weight 0.8"] = SUM
    return searches | {name: build(setting) for name, setting in settings.items()}


def about_time(n_documents: int, n_queries: int, n_settings: int) -> str:
    """A sentence on how long our searches take by text, "" up to SOME_MINUTES.

    n_settings: that are tried, beside UNTUNED searches."""
    n_rankings = n_settings + UNTUNED
    seconds = SECONDS * n_documents * n_queries * n_rankings
    if seconds <= SOME_MINUTES:
        return ""
    shorter = "--no-tuning takes a fraction of that. " if n_settings else ""
    return (
        f"Our searches rank {n_documents:,} documents for {n_queries:,} queries "
        f"{n_rankings} times: about {seconds / 60:.0f} minutes. {shorter}Or index the "
        "documents in Elasticsearch, say, name that search with --searches, and leave "
        "ours out with --only-own."
    )


def names(models: Iterable[str]) -> list[str]:
    """The names that searches of ours may have, before any is built. models: names."""
    return [
        MINSEARCH,
        "text: BM25",
        "text: BM25, heading × 2",
        TUNED_TEXT,
        "vectors",
        "vectors: chunks",
        "hybrid: weight 0.8",
        TUNED_SUM,
        *(f"vectors: {name}" for name in models),
    ]


def sums(vectors: Iterable[str]) -> list[Setting]:
    """The settings of sums to try: BM25 with a heading × 1 and × 2, with all vectors.

    The first is the sum of notebook 06, with a weight of 0.8 for the
    vectors."""
    settings = [SUM]
    for options, name, weight in itertools.product(HEADINGS, vectors, WEIGHTS):
        # 1 - 0.9 is 0.09999999999999998, and people read settings
        weights = {"text": round(1 - weight, 1), "vectors": weight}
        settings.append({**options, **weights, "embedded": name})
    return settings
