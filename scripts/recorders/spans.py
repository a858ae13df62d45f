"""Write the spans that real packages make into tests/command/traces, a file each.

From scripts, by python -m recorders.spans, in an environment with opentelemetry-sdk,
opentelemetry-exporter-otlp-proto-common, openinference-instrumentation-langchain and
-llama-index, langchain-classic, llama-index-core, langfuse, mlflow-skinny, alembic and
sqlalchemy. No server is asked."""

import json
import os
import tempfile
from contextlib import chdir
from pathlib import Path

import mlflow
from google.protobuf.json_format import MessageToDict
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.retrievers import BaseRetriever
from langfuse import Langfuse
from llama_index.core import retrievers, schema
from openinference.instrumentation import using_session
from openinference.instrumentation.langchain import LangChainInstrumentor
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as gen_ai

ROOT = Path(__file__).resolve().parent.parent.parent
TRACES = ROOT / "tests" / "command" / "traces"
N_DOCUMENTS = 40
K = 3
QUERIES = [
    "may i still join",
    "docker will not start on port 5432",
    "where are the recordings",
    "may i still join",
]


def documents() -> list[dict]:
    """The first records of the course, with short texts."""
    records = json.loads((ROOT / "data/documents-with-ids.json").read_text("utf-8"))
    return [{**each, "text": each["text"][:120]} for each in records[:N_DOCUMENTS]]


def nearest(query: str) -> list[dict]:
    """The records that have most words of a query."""
    words = {word for word in query.split() if len(word) > 2}
    return sorted(
        documents(),
        key=lambda each: -sum(word in each["text"].lower() for word in words),
    )[:K]


def provider() -> tuple[TracerProvider, InMemorySpanExporter]:
    """A provider of tracers, and what keeps their spans."""
    exporter = InMemorySpanExporter()
    tracers = TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    return tracers, exporter


def write(name: str, texts: list[str]) -> None:
    """Write a file of lines."""
    (TRACES / name).write_text("".join(f"{text}\n" for text in texts), "utf-8")


def as_lines(exporter: InMemorySpanExporter) -> list[str]:
    """The spans as OpenTelemetry's own exporter to a console writes them."""
    return [
        json.dumps(json.loads(span.to_json())) for span in exporter.get_finished_spans()
    ]


class Retriever(BaseRetriever):
    """One of LangChain. has_ids: whether its documents have ids."""

    has_ids: bool = True

    def _get_relevant_documents(self, query, *, run_manager):
        return [
            Document(
                id=each["id"] if self.has_ids else None,
                page_content=each["text"],
                metadata={"section": each["section"]},
            )
            for each in nearest(query)
        ]


class Reversed(BaseDocumentCompressor):
    """What comes after a retriever, as a reranker does: it turns the order round."""

    def compress_documents(self, documents, query, callbacks=None):
        return list(documents)[::-1]


def langchain() -> None:
    """OpenInference's spans of LangChain: with ids, without, and reranked."""
    reranked = ContextualCompressionRetriever(
        base_compressor=Reversed(), base_retriever=Retriever()
    )
    for name, retriever in {
        "langchain": Retriever(),
        "langchain-without-ids": Retriever(has_ids=False),
        "langchain-reranked": reranked,
    }.items():
        tracers, exporter = provider()
        LangChainInstrumentor().instrument(tracer_provider=tracers)
        for query in QUERIES:
            retriever.invoke(query)
        LangChainInstrumentor().uninstrument()
        write(f"{name}.jsonl", as_lines(exporter))
    tracers, exporter = provider()
    LangChainInstrumentor().instrument(tracer_provider=tracers)
    for number, query in enumerate(QUERIES):
        with using_session(f"session {number // 2}"):
            Retriever().invoke(query)
    LangChainInstrumentor().uninstrument()
    spans = MessageToDict(encode_spans(exporter.get_finished_spans()))
    write("langchain-otlp.json", [json.dumps(spans)])


class LlamaRetriever(retrievers.BaseRetriever):
    """One of LlamaIndex."""

    def _retrieve(self, query_bundle):
        return [
            schema.NodeWithScore(
                node=schema.TextNode(id_=each["id"], text=each["text"]), score=1.0
            )
            for each in nearest(query_bundle.query_str)
        ]


def llama_index() -> None:
    """OpenInference's spans of LlamaIndex: two for each search, one in the other."""
    tracers, exporter = provider()
    LlamaIndexInstrumentor().instrument(tracer_provider=tracers)
    for query in QUERIES:
        LlamaRetriever().retrieve(query)
    LlamaIndexInstrumentor().uninstrument()
    write("llama-index.jsonl", as_lines(exporter))


def opentelemetry() -> None:
    """Spans with the attributes that OpenTelemetry has for a retrieval.

    Every second one without its query and documents, which are opt-in there; the last
    trace searches twice, as an agent does."""
    tracers, exporter = provider()
    tracer = tracers.get_tracer("search")
    for number, query in enumerate(QUERIES):
        with tracer.start_as_current_span("answer") as root:
            root.set_attribute("input.value", f"please: {query}")
            for text in [query, "port in use"] if number == 2 else [query]:
                with tracer.start_as_current_span("retrieval faq") as span:
                    span.set_attribute(gen_ai.GEN_AI_OPERATION_NAME, "retrieval")
                    if number == 1:
                        continue
                    shown = [{"id": each["id"], "score": 1.0} for each in nearest(text)]
                    span.set_attribute(gen_ai.GEN_AI_RETRIEVAL_QUERY_TEXT, text)
                    span.set_attribute(
                        gen_ai.GEN_AI_RETRIEVAL_DOCUMENTS, json.dumps(shown)
                    )
    write("opentelemetry.jsonl", as_lines(exporter))


def langfuse() -> None:
    """What Langfuse's package sends, kept before it is sent."""
    tracers, exporter = provider()
    client = Langfuse(
        public_key="pk", secret_key="sk", host="http://127.0.0.1:9", timeout=1,
        flush_at=1_000, flush_interval=1_000, tracer_provider=tracers,
    )  # fmt: skip
    for query in QUERIES:
        with client.start_as_current_observation(
            as_type="retriever", name="search", input=query
        ) as span:
            shown = [
                {"id": each["id"], "content": each["text"]} for each in nearest(query)
            ]
            span.update(output=shown)
    write("langfuse.jsonl", as_lines(exporter))


def of_mlflow() -> None:
    """Traces of MLflow, from its own store in a file, without its tags."""
    # beside its database MLflow writes traces into the folder where it runs
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")

        @mlflow.trace(span_type="RETRIEVER")
        def retrieve(query):
            return [
                {"page_content": each["text"], "metadata": {"doc_uri": each["id"]}}
                for each in nearest(query)
            ]

        for query in QUERIES:
            retrieve(query)
        mlflow.flush_trace_async_logging()
        traces = mlflow.search_traces(return_type="list")
    records = [json.loads(trace.to_json()) for trace in traces]
    for record in records:  # these say which person and machine made them
        record["info"] |= {"tags": {}, "trace_metadata": {}}
    write("mlflow.jsonl", list(map(json.dumps, records)))


if __name__ == "__main__":
    TRACES.mkdir(exist_ok=True)
    for act in (langchain, llama_index, opentelemetry, of_mlflow, langfuse):
        act()
    os._exit(0)  # Langfuse would wait for a server that is not there
