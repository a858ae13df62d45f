"""The searches that the command brings: BM25, vectors, sums of both, Elasticsearch.

A *setting* says what a search is made of, a dict. `text` and `vectors` are the
weights of the two parts, 0 if left out. `k1`, `b` and `heading` are options of BM25,
and `embedded` is the name of the vectors."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec

import numpy as np
import pandas as pd
from minsearch import Index

import utils
from course import corpus, elastic, embedding, experiments, scoring
from evaluate_retrieval.yours import only_yours, own_searches

ES = "Elasticsearch: combined_fields"


# --- Evaluate ----------------------------------------------------------------


@dataclass
class Candidates:
    """The searches by name, and what they are made of.

    yours: your own. settings: of those that `built_in.builder` makes. scorers: score
    functions. searches: all. crossed: rankings of tuned ones. All five are dicts of the
    name. embedded: vectors. held: how many documents each index has. safe: the search
    that is taken where nothing can choose. es: a client of Elasticsearch, or None."""

    yours: dict
    settings: dict
    scorers: dict
    searches: dict
    crossed: dict
    embedded: dict
    held: dict
    safe: str | None = None
    es: object = None

    @property
    def build(self):
        """Whether ours are built, too."""
        return bool(self.settings)


def candidates(data):
    """Your searches, and ours as far as their packages are there: `Candidates`.

    Without sentence-transformers there are no vectors; a line says so. In
    Elasticsearch one is built if there is a node: see `_add_elasticsearch`. ValueError
    where an index has fewer documents than the folder."""
    every_query = [*data.development.values(), *data.test.values()]
    yours = own_searches(data.documents, every_query, data.folder)
    found = Candidates(yours, {}, {}, dict(yours), {}, {}, {}, next(iter(yours), None))
    if only_yours(data.documents, data.folder):
        return found
    fields = fields_of(data.documents)
    index = Index(fields, ["course"]).fit(data.documents)
    found.held["minsearch"] = len(index.docs)
    scores = found.scorers[BASELINE] = utils.minsearch_scores(index)
    search = utils.search_by_scores(scores, data.documents, k=10, above=0)
    found.searches[BASELINE] = search
    settings = {"text: BM25": {"text": 1}}
    settings["text: BM25, heading × 2"] = {"text": 1, "heading": 2}
    if find_spec("sentence_transformers"):
        is_ours = data.folder == corpus.ROOT / "data"
        models = [] if is_ours else embedding.fetched_models()
        found.embedded |= embed_all(data.documents, models)
        for name, vectors in found.embedded.items():
            settings[name] = {"vectors": 1, "embedded": name}
            found.held[name] = len({*vectors.rows})
        settings["hybrid: weight 0.8"] = SAFE
    else:
        extra = 'pip install "retrieval-evaluation-course[course]"'
        print(f"no vectors: sentence-transformers is not installed ({extra})")
    found.safe = [*settings][-1]
    if not found.embedded:
        found.safe = "text: BM25"
    build = builder(data.documents, found.embedded)
    for name, setting in settings.items():
        add(found, build, data.documents, name, setting)
    _add_elasticsearch(found, data.documents, fields)
    lost = {name: len(data.documents) - n for name, n in found.held.items()}
    if any(lost.values()):
        raise ValueError(f"documents lost on the way: {lost}")
    return found


def add(found, build, documents, name, setting):
    """Keep a setting, its score function, and the search for its ten best."""
    found.settings[name] = setting
    found.scorers[name] = build(setting)
    search = search_of(documents, found.scorers[name], setting)
    found.searches[name] = search


def _add_elasticsearch(found, documents, fields):
    """Keep a search in Elasticsearch, if its client is there and a node answers."""
    es = found.es = elastic.connect_elasticsearch()
    if es:
        in_all = elastic.match_query(fields, "combined_fields")
        index = elastic.index_fields(es, "course-own", documents, fields)
        found.held["Elasticsearch"] = es.count(index=index)["count"]
        found.searches[ES] = elastic.elasticsearch_search(es, index, in_all, k=10)
        scores = elastic.elasticsearch_scores(es, index, in_all, documents, 1)
        found.scorers[ES] = scores


LONG = 200  # words; a text of more is long
# Words of a chunk, and between two beginnings: about 128 tokens, each chunk with its
# title, as is best in notebook 12
CUT = {"size": 100, "step": 100}
MOST_CHUNKS = 150_000  # on a processor: over an hour on two cores
MOST_CHUNKS_ELSEWHERE = 500_000  # on another device: about 5 GB of memory
BASELINE = "text: fields, no boost"  # the name of minsearch's search
SAFE = {"text": 0.2, "vectors": 0.8, "embedded": "vectors"}  # see notebook 6
BM25 = [{"text": 1, **options} for options in experiments.BM25]
PLAIN = [{}, {"heading": 2}]  # options of BM25 in a sum
WEIGHTS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]  # of the vectors in a sum


# --- What is in the folder ---------------------------------------------------


def n_words(documents):
    """How many words each document has, its title included: an array."""
    return np.array([len(corpus.heading_and_text(one).split()) for one in documents])


# --- The searches ------------------------------------------------------------


@dataclass(frozen=True)
class Vectors:
    """Vectors of documents, or of parts of them, and the score function they give.

    values: (n, dimension). rows: the place of the document of each vector. model: the
    name of the model, None for the default. chunks: how texts were cut, a dict of
    size and step in words; None where they are whole."""

    values: np.ndarray
    rows: np.ndarray
    scores: Callable
    model: str | None = None
    chunks: dict | None = None


def embed_all(documents, fetched=()):
    """`Vectors` by name: of the default model, and of each model that is named.

    Where more than a tenth of the texts is long, also of chunks, see `CUT`. A line says
    how many there are and about how long they take, or that they are too many."""
    n = n_chunks(documents)
    if n:
        print(about_chunks(documents), flush=True)
    models = {"vectors": None, **{f"vectors: {name}": name for name in fetched}}
    texts = [corpus.heading_and_text(document) for document in documents]
    found = {}
    for name, model in models.items():
        values = embedding.embed(texts, model)
        scores = scoring.vector_scores(values, documents, model)
        found[name] = Vectors(values, np.arange(len(documents)), scores, model)
    if n and not are_too_many(n):
        parts, _ = _parts_of(documents, **CUT)
        left, seconds = embedding.work_left(map(corpus.heading_and_text, parts))
        minutes = max(1, round(seconds / 60))
        if left:
            print(f"{left:,} of them to encode, about {minutes} min", flush=True)
        found["vectors: chunks"] = embed_chunks(documents, **CUT)
    return found


def n_chunks(documents):
    """How many chunks `CUT` makes of the documents; 0 where few of them are long."""
    if (n_words(documents) > LONG).mean() <= 0.1:
        return 0
    return sum(len(_starts(len(one["text"].split()), **CUT)) for one in documents)


def are_too_many(n):
    """Whether so many chunks are not embedded: a processor takes too long for them.

    Another device than a processor may have more."""
    if n <= MOST_CHUNKS or n > MOST_CHUNKS_ELSEWHERE:
        return n > MOST_CHUNKS
    return embedding.on_processor()


def about_chunks(documents):
    """How many chunks there are of long documents, or why there are none: sentences.

    Empty where few documents are long."""
    n = n_chunks(documents)
    if not n:
        return ""
    if not are_too_many(n):
        size = CUT["size"]
        chunks = f"Chunks of {size} words, each with its title,"
        return f"Many texts are long. {chunks} are searched, too: {n:,}."
    most = MOST_CHUNKS if n <= MOST_CHUNKS_ELSEWHERE else MOST_CHUNKS_ELSEWHERE
    return f"""Many texts are long, but {n:,} chunks are too many (over {most:,}).
So they are not cut: vectors are of the beginning of each text, as far as the model
reads. Searches of text read it all. For vectors of it all, take fewer documents,
a search of your own (COURSE_SEARCHES), Elasticsearch, or a GPU (EMBEDDING_DEVICE)."""


def chunks_of(document, size, step):
    """Copies of the document, each with a part of its text: `size` words.

    A part begins every `step` words."""
    words = document["text"].split()
    if len(words) <= size:
        return [document]
    starts = _starts(len(words), size, step)
    return [{**document, "text": " ".join(words[s : s + size])} for s in starts]


def _starts(n_words, size, step):
    """Where the chunks of a text begin."""
    return range(0, max(1, n_words - size + step), step)


def embed_chunks(documents, size, step):
    """`Vectors` of chunks, see `chunks_of`. A document scores as its best chunk."""
    parts, rows = _parts_of(documents, size, step)
    values = embedding.embed(map(corpus.heading_and_text, parts))
    of_chunks = scoring.vector_scores(values, parts)

    def scores(queries):
        for asked, columns, block in of_chunks(queries):
            found, first = np.unique(rows[columns], return_index=True)
            yield asked, found, np.maximum.reduceat(block, first, axis=1)

    return Vectors(values, rows, scores, chunks={"size": size, "step": step})


def _parts_of(documents, size, step):
    """The chunks of all documents, a list, and the place of each one's document."""
    parts, rows = [], []
    for row, document in enumerate(documents):
        cut = chunks_of(document, size, step)
        parts += cut
        rows += [row] * len(cut)
    return parts, np.array(rows)


def builder(documents, embedded):
    """A function: a setting -> its score function. embedded: see `embed_all`."""

    @lru_cache(maxsize=2)  # who tunes a sum asks for the same text again and again
    def bm25(options):
        return scoring.bm25_scores(documents, **dict(options))

    def build(setting):
        parts = {}
        if setting.get("text"):
            parts["text"] = bm25(tuple(_bm25_of(setting).items()))
        if setting.get("vectors"):
            parts["vectors"] = embedded[setting["embedded"]].scores
        if len(parts) == 1:
            return next(iter(parts.values()))
        return scoring.weighted_sum(parts.values(), [setting[part] for part in parts])

    return build


def _bm25_of(setting):
    """The options of BM25 in a setting."""
    return {key: setting[key] for key in ("k1", "b", "heading") if key in setting}


def search_of(documents, scores, setting):
    """The search for the ten best. Text alone finds nothing without a shared word."""
    above = -np.inf if setting.get("vectors") else 0
    return utils.search_by_scores(scores, documents, k=10, above=above)


def fields_of(documents):
    """The fields of the documents that have a text."""
    frame = pd.DataFrame(documents)[["question", "text", "section"]]
    return [field for field in frame if frame[field].str.strip().any()]


def sums(embedded):
    """The settings of sums to try: BM25 with a heading × 1 and × 2, with all vectors.

    The first is the sum of notebook 6, with a weight of 0.8 for the vectors."""
    found = [SAFE]
    for options, name, weight in itertools.product(PLAIN, embedded, WEIGHTS):
        both = {"text": round(1 - weight, 1), "vectors": weight, "embedded": name}
        found.append({**options, **both})
    return found
