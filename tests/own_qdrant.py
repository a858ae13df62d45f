"""A search of one's own in Qdrant, in this process: pip install qdrant-client."""

import json
from pathlib import Path

from qdrant_client import QdrantClient, models

from course import embedding

documents = json.loads(Path(__file__).with_name("documents.json").read_text())
vectors = embedding.embed([document["text"] for document in documents])
client = QdrantClient(":memory:")  # or QdrantClient(url=…)
size = models.VectorParams(size=vectors.shape[1], distance=models.Distance.COSINE)
client.create_collection("manuals", vectors_config=size)
client.upload_collection("manuals", vectors=vectors, payload=documents)


def by_qdrant(question, course, query):
    """Ask for the points that fit the product and the language of the query."""
    fits = [
        models.FieldCondition(key=name, match=models.MatchValue(value=query[name]))
        for name in ("product", "language")
    ]
    [vector] = embedding.embed([question], role="query")
    only = models.Filter(must=fits)
    answer = client.query_points("manuals", vector, query_filter=only, limit=100)
    return [point.payload["id"] for point in answer.points]


SEARCHES = {"qdrant": by_qdrant}
