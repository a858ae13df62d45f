"""Answers of a real Elasticsearch node: recorded once, replayed where none answers.

The client is Elastic's own. Only what carries its requests differs:
`Replaying` answers from a record, `Recording` asks a node and keeps what it
answers. So a cell is the same with and without a node, down to each request.

The record has no texts: both read along when an index is made, and hits are
positions of its documents. A search is known by its body and by what is in the
index. The last digits of a vector differ between processors, so a vector is
known by a sketch, sixteen small numbers, to which it has to be near."""

import hashlib
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
from elastic_transport import ApiResponseMeta, BaseNode, HttpHeaders
from elastic_transport import Urllib3HttpNode as HttpNode
from elastic_transport._node import NodeApiResponse

from evaluate_retrieval.reading.writing import write_bytes

MISSING = (
    "this request is not on the record of Elasticsearch {}: start a node with `make "
    "elasticsearch`, and run the notebook again from its first cell"
)
KEY_BYTES = 5  # bytes of a search's key
PLANES = 16  # numbers of a sketch
SCALE = 60  # of these numbers, which are small ones from -127 to 127
TOLERANCE = 1  # how near two are that count as equal
HEADERS = {"x-elastic-product": "Elasticsearch", "content-type": "application/json"}


def as_bytes(value: object) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def replace_vectors(value: Any, replace: Callable[[list[float]], Any]) -> Any:
    """JSON with each list of many floats replaced by what a function makes of it."""
    if isinstance(value, dict):
        return {key: replace_vectors(part, replace) for key, part in value.items()}
    if not isinstance(value, list):
        return value
    # a vector, and not a short list such as weights
    if len(value) > PLANES and isinstance(value[0], float):
        return replace(value)
    return [replace_vectors(part, replace) for part in value]


class Index:
    """The documents of an index, as the requests say that made it."""

    def __init__(self, body: dict[str, Any]):
        body.get("mappings", {}).pop("_meta", None)  # who made it, and when
        self.documents = []
        self.places = {}
        self.by_own_id = {}
        self.digest = hashlib.sha256(as_bytes(body))

    def add(self, document: dict[str, Any], id_: str | None = None) -> str:
        """Add a document, under the id that a node gave it; its id."""
        document = replace_vectors(document, lambda vector: None)
        id_ = str(len(self.documents)) if id_ is None else id_
        self.places[id_] = len(self.documents)
        self.by_own_id[document.get("id")] = len(self.documents)
        self.documents.append(document)
        # equal documents in the same order are the same index, whatever its name is
        self.digest.update(as_bytes(document))
        return id_

    def place_of(self, hit: dict[str, Any]) -> int:
        """The position of a hit; a batch asks for the field `id` alone."""
        if "fields" in hit:
            return self.by_own_id[hit["fields"]["id"][0]]
        return self.places[hit["_id"]]


class Record:
    """What a node answered: positions and scores of documents, by the search's key.

    Scores are kept of single searches and of first hits alone: those of
    batches would make the record three times as large, and a ranking does
    without them."""

    def __init__(self, path: Path):
        self.path = path
        self.version = ""
        self.indexes = {}
        self.answers = {}
        self.sketches = np.zeros((0, PLANES))
        if not path.exists():
            return
        with np.load(path) as file:
            arrays = dict(file)
        self.version = str(arrays["version"])
        self.sketches = arrays["sketches"].T.astype(float)
        parts = [
            np.split(arrays[name], arrays[f"n_{name}"].cumsum(dtype=int)[:-1])
            for name in ("places", "scores")
        ]
        for key, places, scores in zip(arrays["keys"].T, *parts, strict=True):
            # the shortest text of a float32, as a node writes it
            numbers = [float(str(score)) for score in scores]
            self.answers[key.tobytes()] = places.tolist(), numbers

    def apply(
        self, method: str, target: str, body: bytes, id_: str | None = None
    ) -> list[str]:
        """Do what a request does to an index; the ids of what it adds.

        id_: what a node gave a single document."""
        name, action = index_and_action(target)
        if method == "PUT" and not name:
            self.indexes[action] = Index(json.loads(body))
        elif action == "_doc":
            return [self.indexes[name].add(json.loads(body), id_)]
        elif action == "_bulk":
            return [
                self.indexes[name].add(document, str(header["index"]["_id"]))
                for header, document in in_pairs(body)
            ]
        return []

    def number_of(self, vector: list[float]) -> int:
        """The number of the sketch that is near a vector; a new one if none is."""
        # seeded: with other planes no recorded sketch would be known again
        planes = np.random.default_rng(0).normal(size=(len(vector), PLANES))
        sketch = np.clip(SCALE * (np.array(vector) @ planes), -127, 127)
        away = np.abs(self.sketches - sketch).max(axis=1, initial=0)
        if len(away) and away.min() < TOLERANCE:
            return int(away.argmin())
        self.sketches = np.vstack([self.sketches, sketch.round()])
        return len(self.sketches) - 1

    def key(self, index: str, body: dict[str, Any]) -> bytes:
        """What a search is known by: KEY bytes."""
        # a copy: the index may grow, and is hashed on from where it was
        digest = self.indexes[index].digest.copy()
        # numbers of sketches, since the last digits of vectors are not always the same
        digest.update(as_bytes(replace_vectors(body, self.number_of)))
        return digest.digest()[:KEY_BYTES]

    def keep(
        self,
        index: str,
        body: dict[str, Any],
        hits: list[dict[str, Any]],
        with_scores: bool,
    ) -> None:
        places = [self.indexes[index].place_of(hit) for hit in hits]
        scores = [hit["_score"] for hit in hits] if with_scores else []
        key = self.key(index, body)
        # a batch has no scores to keep, and must not wipe out those of a single search
        if scores or key not in self.answers:
            self.answers[key] = places, scores

    def save(self) -> None:
        """Write the record; seven bytes a search and two a hit, before compression."""
        keys = sorted(self.answers)
        kept = [self.answers[key] for key in keys]
        arrays = {
            "version": np.array(self.version),
            "keys": np.array([list(key) for key in keys], np.uint8).T,
            "n_places": np.array([len(places) for places, _ in kept], np.uint8),
            "n_scores": np.array([len(scores) for _, scores in kept], np.uint8),
            "places": np.array([n for places, _ in kept for n in places], np.uint16),
            "scores": np.array([n for _, scores in kept for n in scores], np.float32),
            "sketches": self.sketches.astype(np.int8).T,
        }
        content = io.BytesIO()
        np.savez_compressed(content, **arrays)
        write_bytes(self.path, content.getvalue())


def in_pairs(body: bytes) -> Iterator[tuple[Any, Any]]:
    """The lines of a request of many parts: what is to be done, and with what."""
    lines = [json.loads(line) for line in body.splitlines()]
    return zip(lines[::2], lines[1::2], strict=True)


def index_and_action(target: str) -> Iterator[str]:
    """The two parts of a request's path; the index is "" where there is one part."""
    path = urlsplit(target).path.strip("/")
    return map(unquote, path.rpartition("/")[::2])


def searches_of(target: str, body: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name of the index, body) of each search in a request; none in any other."""
    name, action = index_and_action(target)
    if action == "_search":
        yield name, json.loads(body)
    elif action == "_msearch":
        for header, search in in_pairs(body):
            yield header["index"], search


class Recording(HttpNode):
    """A connection to a node. What it answers goes into the class's record."""

    record: Record

    def perform_request(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: Any = None,
        **options: Any,
    ) -> NodeApiResponse:
        answer = super().perform_request(method, target, body, headers, **options)
        if answer.meta.status < 300 and body:
            content = json.loads(answer.body)
            self.record.apply(method, target, body, content.get("_id"))
            parts = content.get("responses")
            # a batch wraps its parts in `responses`
            is_single = "hits" in content
            searches = searches_of(target, body)
            for (name, search), part in zip(searches, parts or [content], strict=False):
                hits = part.get("hits", {}).get("hits", [])
                self.record.keep(name, search, hits, is_single or len(hits) == 1)
        return answer


class Replaying(BaseNode):
    """Answers as a node did, from the class's record. It makes no connection.

    RuntimeError for a search that is not on the record."""

    record: Record
    _CLIENT_META_HTTP_CLIENT = ("rp", "1")

    def perform_request(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: Any = None,
        **options: Any,
    ) -> NodeApiResponse:
        content = json.dumps(self.answer(method, target, body or b"")).encode()
        meta = ApiResponseMeta(200, "1.1", HttpHeaders(HEADERS), 0.0, self.config)
        return NodeApiResponse(meta, content)

    def answer(self, method: str, target: str, body: bytes) -> dict[str, Any]:
        responses = [self.hits(*search) for search in searches_of(target, body)]
        if responses:
            return {"responses": responses} if "_msearch" in target else responses[0]
        ids = self.record.apply(method, target, body)
        if "_bulk" in target:
            return {"errors": False, "items": [{"index": {"status": 201}} for _ in ids]}
        if ids:
            return {"_id": ids[0], "result": "created"}
        if method == "GET" and "-course-" in target:  # indexes, none of them old
            state = {"mappings": {}, "settings": {"index": {"creation_date": "0"}}}
            return dict.fromkeys(self.record.indexes, state)
        nodes = {"recorded": {"version": self.record.version}}
        return {"acknowledged": True, "nodes": nodes}

    def hits(self, index: str, body: dict[str, Any]) -> dict[str, Any]:
        """What a node answered to a search, with the documents of its index."""
        key = self.record.key(index, body)
        if key not in self.record.answers:
            raise RuntimeError(MISSING.format(self.record.version))
        places, scores = self.record.answers[key]
        documents = self.record.indexes[index].documents
        names = body.get("docvalue_fields", [])
        source = body.get("_source", True)
        scores = scores or [None] * len(places)
        hits = []
        for place, score in zip(places, scores, strict=True):
            document = documents[place]
            hit = {"_index": index, "_id": str(place), "_score": score}
            if "stored_fields" not in body:
                fields = document if source is True else source
                hit["_source"] = {name: document[name] for name in fields}
            if names:
                hit["fields"] = {name: [document[name]] for name in names}
            hits.append(hit)
        return {"status": 200, "hits": {"hits": hits}}
