"""Spans of traces, whoever made them: what a retriever was asked, and what it showed.

A retriever's span is known by an attribute, see FORMS_OF_SPANS: that of OpenTelemetry
(in OTLP's JSON, too), OpenInference, Phoenix, Arize, Langfuse, LangSmith or MLflow."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from sys import intern
from typing import Any

import pandas as pd
from pandas.api.types import is_list_like

from evaluate_retrieval.reading.files import encodable

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HITS = "query_response_hit_ids"  # of UBI: the ids that were shown
OUTPUT_VALUE = "output.value"  # of OpenInference: has ids that documents may lack there


@dataclass(frozen=True)
class Form:
    """Spans of a kind: values of the attribute that says so, and where is what.

    values: in small letters; none, where the attribute is one of this kind alone, as
    UBI's list of hits is. asked, shown: attributes in small letters, joined by "or":
    the first that is there counts."""

    values: tuple[str, ...]
    asked: str
    shown: str


OPEN_INFERENCE = Form(
    ("retriever", "reranker"),
    "reranker.query or input.value",
    f"reranker.output_documents or retrieval.documents or {OUTPUT_VALUE}",
)
FORMS_OF_SPANS = {  # by the attribute that says what a span is, in small letters
    "gen_ai.operation.name": Form(
        ("retrieval",), "gen_ai.retrieval.query.text", "gen_ai.retrieval.documents"
    ),
    "openinference.span.kind": OPEN_INFERENCE,
    "span_kind": OPEN_INFERENCE,
    "langfuse.observation.type": Form(
        ("retriever",), "langfuse.observation.input", "langfuse.observation.output"
    ),
    "mlflow.spantype": Form(
        ("retriever", "reranker"), "mlflow.spaninputs", "mlflow.spanoutputs"
    ),
    "span_type": Form(("retriever", "reranker"), "inputs", "outputs"),
    "run_type": Form(("retriever",), "inputs", "outputs"),
    HITS: Form((), "user_query", HITS),
    "type": Form(("retriever",), "input", "output"),
}
# Attributes, in small letters: the first that is there counts
TRACE_NAMES = "trace_id or traceid or context.trace_id or trace.id"
PARENT_NAMES = (
    "parent_id or parent_span_id or parentspanid or parent_observation_id or "
    "parentobservationid or parent_run_id"
)
SESSION_NAMES = (
    "gen_ai.conversation.id or session.id or session_id or sessionid or "
    "langfuse.session.id or conversation_id or thread_id"
)
TIME_NAMES = (  # ends go before beginnings
    "end_time or endtimeunixnano or end_time_unix_nano or end_time_ns or endtime or "
    "start_time or starttimeunixnano or start_time_unix_nano or start_time_ns or "
    "starttime or timestamp"
)
ROOT_NAMES = (  # of what a trace was asked
    "input.value or gen_ai.input.messages or langfuse.observation.input or "
    "mlflow.spaninputs or inputs or input"
)
# Where a text lies in what was asked, and a document in what was shown
IN_A_QUERY = (
    "query or question or input or user_input or query_str or query_text or q or "
    "prompt or text or search_query"
)
IN_AN_ANSWER = (
    "documents or results or result or output or outputs or nodes or hits or "
    "source_documents or retrieved_documents or chunks or data or matches"
)
ID_NAMES = (
    "id or document_id or doc_id or id_ or source_id or doc_uri or _id or chunk_id or "
    "metadata.id or metadata.doc_id or metadata.document_id or metadata.doc_uri or "
    "metadata.chunk_id or metadata.source or source or uri or file_name or name"
)
TEXT_NAMES = "content or page_content or text or body or pagecontent or chunk"
QUOTED = r"'([^']*)'|\"([^\"]*)\""
AFTER_A_DOT = re.compile(r"\.(\d+)\.")


@dataclass
class Retrieval:
    """What a retriever was asked, and what it showed: pairs of id and text."""

    trace: str
    ended: str
    query: str
    documents: list[tuple[str, str]]
    session: str = ""


# --- Spans, whoever made them ---------------------------------------------------------


def are_spans(frame: pd.DataFrame) -> bool:
    """Whether a table holds spans of traces, one of which is a retriever's."""
    names = {str(name).lower().removeprefix("attributes.") for name in frame}
    if not names & {"resourcespans", "attributes", "info", "spans", *FORMS_OF_SPANS}:
        return False
    return any(_retriever_form(span) for span in attributes_in(frame))


def attributes_in(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The attributes of each span of a table, with its own fields beside them."""
    for record in frame.to_dict("records"):
        for span in _nested(record):
            yield _flat(span)


def _nested(record):
    """The spans in a record: of OTLP's JSON, of a trace of MLflow's, or itself."""
    if is_list_like(record.get("resourceSpans")):
        for resource in _objects_in(record["resourceSpans"]):
            for scope in _objects_in(resource.get("scopeSpans")):
                yield from _objects_in(scope.get("spans"))
        return
    spans = _parsed(_object(record.get("data", record)).get("spans"))
    if is_list_like(spans) and not isinstance(spans, dict):
        info = _object(record.get("info", record.get("trace_metadata")))
        kept = info.get("trace_metadata", info)
        session = kept.get("mlflow.trace.session", "") if isinstance(kept, dict) else ""
        for span in _objects_in(spans):
            yield {"session.id": session, **span}
        return
    yield record


def _objects_in(value):
    """The objects of a list; of what is no list, none."""
    parts = value if is_list_like(value) and not isinstance(value, dict) else []
    return [part for part in parts if isinstance(part, dict)]


def _flat(span):
    """A span's fields and attributes, by name in small letters."""
    flat = {}
    for name, value in span.items():
        name = str(name).removeprefix("attributes.")
        if name == "attributes" and is_list_like(value):
            pairs = (
                value.items()
                if isinstance(value, dict)
                else map(_otlp, _objects_in(value))
            )
            flat |= {str(key): part for key, part in pairs}
        elif name == "context" and isinstance(value, dict):
            flat |= value
        elif name not in flat:
            flat[name] = value
    flat = {name.lower(): value for name, value in flat.items()}
    there = {name: value for name, value in flat.items() if _is_there(value)}
    if HITS in flat:  # a column, so none is a query without results
        there.setdefault(HITS, [])
    return there


def _otlp(attribute):
    """The name and value of an attribute in OTLP's JSON."""
    return attribute.get("key", ""), _value(attribute.get("value"))


def _value(value):
    if not isinstance(value, dict) or not value:
        return value
    [(kind, inside), *_] = value.items()
    if kind not in ("arrayValue", "kvlistValue"):
        return inside
    parts = _objects_in(inside.get("values")) if isinstance(inside, dict) else []
    if kind == "arrayValue":
        return [_value(part) for part in parts]
    return {str(name): part for name, part in map(_otlp, parts)}


def _is_there(value):
    if isinstance(value, str):  # most are, and this is asked for each
        return value != ""
    return is_list_like(value) or not pd.isna(value)


def _first(names, values):
    """The value of the first of these names, joined by "or", that is there, or ""."""
    for name in names.split(" or "):
        if name in values and _is_there(values[name]):
            return values[name]
    return ""


def _retriever_form(span):
    """The form of a retriever's span, or None for another span."""
    for name, form in FORMS_OF_SPANS.items():
        kind = str(span.get(name, "")).strip('"').rpartition(".")[2].lower()
        if kind in form.values or (not form.values and name in span):
            return form
    return None


def _parsed(value):
    """What the text of a value says in JSON, or the value."""
    if isinstance(value, str) and value[:1] in ("{", "[", '"'):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _object(value):
    """The object that a value is, or that its text holds; {} for all else."""
    value = _parsed(value)
    return value if isinstance(value, dict) else {}


def _query_in(value, depth=4):
    """The text of what was asked: it, or the first likely one in an object."""
    value = _parsed(value)
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, dict) and depth:
        names = IN_A_QUERY.split(" or ")
        named = [value[name] for name in names if _is_there(value.get(name))]
        parts = [*named, *(part for part in value.values() if is_list_like(part))]
        return next(filter(None, (_query_in(part, depth - 1) for part in parts)), "")
    if is_list_like(value) and depth:  # messages of a chat: the last
        parts = [part.get("content", part) for part in value if isinstance(part, dict)]
        parts = parts or [part for part in value if isinstance(part, str)]
        return _query_in(parts[-1], depth - 1) if parts else ""
    return ""


def _shown_in(span, names):
    """What a span showed, each a list of objects or ids, as it is recorded."""
    for name in names.split(" or "):
        inside = {key: span[key] for key in span if key.startswith(f"{name}.")}
        if inside:
            yield _numbered(name, inside)
        value = _parsed(span.get(name))
        if name == HITS and isinstance(value, str):
            value = _hit_ids(value)
        while isinstance(value, dict):
            value = _parsed(_first(IN_AN_ANSWER, value))
        if is_list_like(value):
            are_objects = all(isinstance(part, dict) for part in value)
            if are_objects or name != OUTPUT_VALUE:  # there a text may be anything
                yield list(value)


def _hit_ids(text):
    """The ids of a text: 'a,b', "['a', 'b']" of Python, or "['a' 'b']" of NumPy."""
    inside = text.strip().strip("[]()")
    quoted = [one or two for one, two in re.findall(QUOTED, inside)]
    separator = r"[\s,;|]+" if text.lstrip()[:1] in ("[", "(") else r"\s*[,;|]\s*"
    return quoted or [part for part in re.split(separator, inside.strip()) if part]


def _numbered(name, values):
    """Documents whose attributes have numbers, or of which each attribute is a list."""
    documents = {}
    for key, value in values.items():
        key = key[len(name) :]
        if match := AFTER_A_DOT.match(key):
            documents.setdefault(int(match[1]), {})[key[match.end() :]] = value
        elif is_list_like(value):
            for number, part in enumerate(value):
                one = key[1:].removesuffix("s")  # ids, contents, metadatas
                documents.setdefault(number, {})[one] = part
    return [documents[number] for number in sorted(documents)]


def id_of(value: Any) -> str:
    """An id as a text: a whole number without the .0 that Parquet gives it."""
    is_whole = isinstance(value, float) and value.is_integer()
    return encodable(str(int(value) if is_whole else value))


def _document(shown, names):
    """The id of a document that was shown, and its text; "" for what is not recorded.

    names: of what an id may be called."""
    shown = _parsed(shown)
    if not isinstance(shown, dict):
        return ("", "") if is_list_like(shown) else (id_of(shown), "")
    shown = {
        str(key).lower().removeprefix("document."): value
        for key, value in shown.items()
    }
    for name, prefix in {"document": "", "node": "", "metadata": "metadata."}.items():
        inside = _object(shown.get(name))
        shown |= {f"{prefix}{key}".lower(): value for key, value in inside.items()}
    id_ = _first(names, shown)
    text = _first(TEXT_NAMES, shown)
    return (
        "" if is_list_like(id_) else id_of(id_),
        "" if is_list_like(text) else intern(encodable(str(text))),  # is shown often
    )


def moment(text: str) -> tuple[int, str]:
    """What to sort times by, in whatever form: nanoseconds since 1970, and the text.

    A number is of seconds, or thousandths, millionths or billionths of one; a time
    without a zone is UTC."""
    bare = text.strip()
    if re.fullmatch(r"\d{10,19}(\.\d*)?", bare):
        return int(bare.replace(".", "").ljust(19, "0")[:19]), bare
    with suppress(ValueError, OverflowError):
        time = datetime.fromisoformat(bare)
        time = time if time.tzinfo else time.replace(tzinfo=UTC)
        return (time - EPOCH) // timedelta(microseconds=1) * 1000, bare
    return 0, bare.rjust(40)


def recorded_in(
    spans: Iterable[Mapping[str, Any]], names: str
) -> tuple[list[Retrieval], dict[str, str], list[Retrieval]]:
    """The retrievals of spans; what each trace was asked as a whole, by its id; and of
    each trace that records no query or no documents one without documents. names: of
    what an id may be called."""
    sessions = {}
    retrievals = []
    roots = {}
    silent = {}
    for number, span in enumerate(spans):
        trace = encodable(str(_first(TRACE_NAMES, span))) or f"span {number}"
        if session := encodable(str(_first(SESSION_NAMES, span))):
            sessions.setdefault(trace, session)
        form = _retriever_form(span)
        if form is None:
            if not _first(PARENT_NAMES, span):
                roots[trace] = encodable(_query_in(_first(ROOT_NAMES, span)))
            continue
        query = encodable(_query_in(_first(form.asked, span)))
        recorded = [
            [_document(each, names) for each in shown]
            for shown in _shown_in(span, form.shown)
        ]
        ended = str(_first(TIME_NAMES, span))
        if not query or not recorded:
            silent[trace] = Retrieval(trace, ended, query, [])
            continue
        whole = [shown for shown in recorded if all(id_ for id_, _ in shown)]
        documents = next(filter(None, whole), recorded[0])
        retrievals.append(Retrieval(trace, ended, query, documents))
    heard = {each.trace for each in retrievals}
    lacking = [each for trace, each in silent.items() if trace not in heard]
    for each in (*retrievals, *lacking):
        each.session = sessions.get(each.trace, "")
    return retrievals, roots, lacking
