"""Write what real engines answer into tests/command/engines, a file each.

From scripts, by python -m recorders.engines, in an environment with qdrant-client,
milvus-lite, pymilvus, chromadb, lancedb, langserve, langchain-core, fastapi, httpx and
numpy. ELASTICSEARCH_URL names a node. All run in this process or on this machine.
Vectors are made up: what counts is the form of the answer."""

import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import lancedb
from fastapi import FastAPI
from fastapi.testclient import TestClient
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from langserve import add_routes
from pymilvus import MilvusClient
from qdrant_client import QdrantClient, models
from qdrant_client.http.models import QueryResponse

ROOT = Path(__file__).resolve().parent.parent.parent
ENGINES = ROOT / "tests" / "command" / "engines"
TEXTS = {"a": "may i still join", "b": "docker will not start", "c": "recordings"}
VECTORS = {"a": [1.0, 0.0], "b": [0.8, 0.6], "c": [0.0, 1.0]}
QUERY = [1.0, 0.1]  # a is nearest, then b, then c


def write(name, answer):
    """Keep an answer, a value of JSON, under a name."""
    path = ENGINES / f"{name}.json"
    path.write_text(json.dumps(answer, indent=1, default=str) + "\n")


def asked(url, body=None, method=None):
    """What a server answers, read from JSON; after a wait, where it starts still."""
    data = body if isinstance(body, bytes) else body and json.dumps(body).encode()
    kind = "x-ndjson" if isinstance(body, bytes) else "json"
    headers = {"Content-Type": f"application/{kind}"}
    for _ in range(100):
        try:
            with urlopen(
                Request(url, data, headers, method=method), timeout=30
            ) as response:
                return json.loads(response.read())
        except URLError as error:
            if getattr(error, "code", None):
                raise RuntimeError(error.read()) from error
            time.sleep(0.3)
    raise TimeoutError(url)


def elasticsearch():
    """`_search` and `_msearch` of a node."""
    url = os.environ["ELASTICSEARCH_URL"]
    index = f"{url}/recorded-course-forms"
    for id_, text in TEXTS.items():
        asked(f"{index}/_doc/{id_}?refresh=true", {"text": f"{text} course"}, "PUT")
    query = {"query": {"match": {"text": "join docker course"}}}
    write("elasticsearch", asked(f"{index}/_search", query))
    lines = f"{{}}\n{json.dumps(query)}\n".encode()
    write("elasticsearch-msearch", asked(f"{index}/_msearch", lines))
    asked(index, method="DELETE")


def qdrant():
    """The local mode, as the client has it; and in JSON, with what REST puts around."""
    client = QdrantClient(":memory:")
    vectors = models.VectorParams(size=2, distance=models.Distance.COSINE)
    client.create_collection("faq", vectors)
    points = [
        models.PointStruct(
            id=str(uuid.uuid5(uuid.NAMESPACE_URL, id_)),
            vector=VECTORS[id_],
            payload={"doc_id": id_, "text": TEXTS[id_]},
        )
        for id_ in TEXTS
    ]
    client.upsert("faq", points)
    answer: QueryResponse = client.query_points("faq", QUERY, with_payload=True)
    result = answer.model_dump(mode="json")
    write("qdrant", {"result": result, "status": "ok", "time": 0.001})
    write("qdrant-search", {"result": result["points"], "status": "ok", "time": 0.001})
    groups = client.query_points_groups("faq", group_by="doc_id", query=QUERY)
    grouped = groups.model_dump(mode="json")
    write("qdrant-groups", {"result": grouped, "status": "ok", "time": 0.001})


def milvus(folder):
    """The local mode: what the client returns, in JSON."""
    client = MilvusClient(str(folder / "milvus.db"))
    client.create_collection("faq", dimension=2, auto_id=True)
    rows = [{"vector": VECTORS[id_], "doc_id": id_} for id_ in TEXTS]
    client.insert("faq", rows)
    answer = client.search("faq", [QUERY], limit=3, output_fields=["doc_id"])
    write("milvus", [[dict(hit) for hit in hits] for hits in answer])


def chroma(folder):
    """The server's own REST, on this machine."""
    chroma = Path(sys.executable).parent / "chroma"
    words = [chroma, "run", "--path", folder / "chroma", "--port", "8385"]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    try:
        base = "http://127.0.0.1:8385/api/v2"
        asked(f"{base}/heartbeat")
        base += "/tenants/default_tenant/databases/default_database/collections"
        id_ = asked(base, {"name": "faq"})["id"]
        ids = list(TEXTS)
        rows = {
            "ids": ids,
            "embeddings": list(VECTORS.values()),
            "documents": list(TEXTS.values()),
            "metadatas": [{"source": f"{each}.md"} for each in ids],
        }
        asked(f"{base}/{id_}/add", rows)
        query = {"query_embeddings": [QUERY], "n_results": 3}
        write("chroma", asked(f"{base}/{id_}/query", query))
    finally:
        server.terminate()
        server.wait()


def lance(folder):
    """A table on disk: rows as dicts."""
    rows = [{"id": id_, "text": TEXTS[id_], "vector": VECTORS[id_]} for id_ in TEXTS]
    table = lancedb.connect(folder / "lance").create_table("faq", rows)
    write("lancedb", table.search(QUERY).limit(3).to_list())


def langserve():
    """A retriever behind LangServe: its documents have ids of their own making."""
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_documents(
        [Document(text, metadata={"source": id_}) for id_, text in TEXTS.items()]
    )
    app = FastAPI()
    retriever = store.as_retriever(search_kwargs={"k": 3})
    add_routes(app, retriever, path="/faq")
    add_routes(
        app,
        RunnableLambda(lambda text: {"context": retriever.invoke(text), "answer": "…"}),
        path="/chain",
    )
    with TestClient(app) as client:
        body = {"input": TEXTS["a"]}
        write("langserve", client.post("/faq/invoke", json=body).json())
        write("langserve-chain", client.post("/chain/invoke", json=body).json())


def main():
    """Write all of them."""
    ENGINES.mkdir(exist_ok=True)
    elasticsearch()
    qdrant()
    lance(folder := Path(tempfile.mkdtemp()))
    langserve()
    chroma(folder)
    milvus(folder)


if __name__ == "__main__":
    main()
