"""What production already did: spans of retrievers become queries, a run, documents.

traces/ has what real packages wrote, once, by 20f913c2:scripts/recorders/spans.py (`git
show`). Forms that take a server or an account are made here from their
documentation: DOCUMENTED."""

import json
from itertools import cycle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate_retrieval import api
from evaluate_retrieval.reading import folder, opening, spans
from evaluate_retrieval.reading import traces as reading
from evaluate_retrieval.reading.matching import of_contents

TRACES = Path(__file__).parent / "traces"
JOIN, DOCKER, RECORDINGS = (
    "may i still join",
    "docker will not start on port 5432",
    "where are the recordings",
)
SHOWN = [{"id": "a", "content": "alpha"}, {"id": "b", "content": "beta"}]
DOCUMENTED = {  # one span each, which was asked "q" and showed a, then b
    "phoenix": {
        "span_kind": "RETRIEVER",
        "context.trace_id": "1",
        "attributes.input.value": "q",
        "attributes.retrieval.documents": [
            {"document.id": each["id"], "document.content": each["content"]}
            for each in SHOWN
        ],
    },
    "arize": {
        "attributes.openinference.span.kind": "RETRIEVER",
        "attributes.input.value": "q",
        "attributes.retrieval.documents.ids": ["a", "b"],
        "attributes.retrieval.documents.contents": ["alpha", "beta"],
    },
    "langfuse": {
        "type": "RETRIEVER",
        "id": "1",
        "trace_id": "1",
        "input": json.dumps({"query": "q"}),
        "output": json.dumps(SHOWN),
    },
    "langsmith": {
        "run_type": "retriever",
        "inputs": {"query": "q"},
        "outputs": {
            "documents": [
                {"page_content": each["content"], "metadata": {"id": each["id"]}}
                for each in SHOWN
            ]
        },
    },
    "otel-dify": {
        "attributes": {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.query.text": "q",
            "gen_ai.retrieval.documents": json.dumps(
                [{"document": {"source_id": each["id"]}} for each in SHOWN]
            ),
        }
    },
    "names": {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.query.text": "q",
        "gen_ai.retrieval.documents": [{"name": "a"}, {"name": "b"}],
    },
}


def of_file(name):
    [table] = opening.open_tables(TRACES / name, None)
    assert spans.are_spans(table.frame)
    return reading.traces_of([table])


def of_records(records, tmp_path, name="traces.jsonl"):
    path = tmp_path / name
    path.write_text("\n".join(map(json.dumps, records)), "utf-8")
    [table] = opening.open_tables(path, None)
    return reading.traces_of([table])


def lists_of(traces):
    by_query = traces.ranked.groupby("query", sort=False)["document"]
    return by_query.agg(list).to_dict()


NEAREST = lists_of(of_file("langchain.jsonl"))


@pytest.mark.parametrize("name", ["llama-index", "langfuse", "mlflow", "langchain"])
def test_each_package_says_the_same(name):
    traces = of_file(f"{name}.jsonl")
    assert lists_of(traces) == NEAREST
    assert {query: len(ids) for query, ids in NEAREST.items()} == dict.fromkeys(
        [JOIN, DOCKER, RECORDINGS], 3
    )
    asked = dict(zip(traces.queries["query"], traces.queries["asked"], strict=True))
    assert asked == {JOIN: "2", DOCKER: "1", RECORDINGS: "1"}
    ids = {id_ for ids in NEAREST.values() for id_ in ids}
    assert {*traces.texts["id"]} == ids
    assert traces.contents == {}


def test_what_comes_after_a_retriever_counts_and_is_said():
    traces = of_file("langchain-reranked.jsonl")
    assert lists_of(traces) == {query: ids[::-1] for query, ids in NEAREST.items()}
    assert any("in 4 traces a query has several lists" in note for note in traces.notes)


def test_without_ids_texts_are_looked_up():
    traces = of_file("langchain-without-ids.jsonl")
    texts = of_file("langchain.jsonl").texts
    documents = texts.assign(question="").to_dict("records")
    ids, notes = of_contents(traces.contents, documents)
    assert notes == []
    named = {
        query: [ids[id_] for id_ in ranked]
        for query, ranked in lists_of(traces).items()
    }
    assert named == NEAREST
    ids, notes = of_contents(traces.contents, documents[1:])
    assert len(ids) == len(documents) - 1
    assert "are in no document here" in notes[0]


def test_sessions_of_otlp_are_conversations():
    traces = of_file("langchain-otlp.json")
    turns = traces.queries[["query", "conversation", "turn"]].to_numpy().tolist()
    first, second = "session 0", "session 1"
    assert turns == [
        [JOIN, first, "1"],
        [DOCKER, first, "2"],
        [RECORDINGS, second, "1"],
        [JOIN, second, "2"],
    ]


def test_opentelemetry_says_what_is_not_recorded_and_an_agent_is_no_run():
    traces = of_file("opentelemetry.jsonl")
    assert list(lists_of(traces)) == [JOIN]
    [calls] = traces.calls.values()
    assert [call["asked"] for call in calls] == [RECORDINGS, "port in use"]
    queries = traces.queries.set_index("query_id")["query"]
    assert queries[next(iter(traces.calls))] == f"please: {RECORDINGS}"
    said = " ".join(traces.notes)
    assert "1 traces record no query or no documents" in said
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in said


@pytest.mark.parametrize("name", DOCUMENTED)
def test_each_documented_form_is_read(name, tmp_path):
    traces = of_records([DOCUMENTED[name]], tmp_path)
    assert lists_of(traces) == {"q": ["a", "b"]}


@pytest.mark.parametrize("suffix", ["parquet", "csv", "json"])
def test_a_table_of_any_kind_is_read(suffix, tmp_path):
    table = pd.DataFrame([DOCUMENTED["phoenix"], {"span_kind": "LLM"}])
    path = tmp_path / f"spans.{suffix}"
    if suffix == "parquet":
        table.to_parquet(path)
    elif suffix == "csv":
        column = "attributes.retrieval.documents"
        table.assign(**{column: table[column].map(json.dumps)}).to_csv(path)
    else:
        table.to_json(path, orient="records")
    [opened] = opening.open_tables(path, None)
    assert lists_of(reading.traces_of([opened])) == {"q": ["a", "b"]}


def retrieval(query, ids, end, **more):
    return {
        "trace_id": more.pop("trace", str(end)),
        "end_time": f"2026-11-0{end}T00:00:00Z",
        "attributes": {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.query.text": query,
            "gen_ai.retrieval.documents": [{"id": id_} for id_ in ids],
            **more,
        },
    }


def test_of_lists_that_changed_the_last_counts_in_any_order_of_the_file(tmp_path):
    lists = [["a", "b"], ["a", "c"], ["a", "c"]]
    spans_ = [retrieval("q", ids, end) for end, ids in enumerate(lists, start=1)]
    for order in ([0, 1, 2], [2, 1, 0]):
        traces = of_records([spans_[place] for place in order], tmp_path)
        assert lists_of(traces) == {"q": ["a", "c"]}
        assert any("1 queries have several lists over time" in n for n in traces.notes)
        assert any("75% of a list" in note for note in traces.notes)


def test_an_empty_list_is_an_answer(tmp_path):
    traces = of_records([retrieval("q", [], 1)], tmp_path)
    assert lists_of(traces) == {"q": [""]}
    assert len(traces.queries) == 1


def test_annotations_are_no_judgements(tmp_path):
    span = retrieval("q", ["a"], 1)
    span["attributes"]["annotations.0.annotation.label"] = "relevant"
    span["attributes"]["annotations.0.annotation.annotator_kind"] = "LLM"
    (tmp_path / "traces.jsonl").write_text(json.dumps(span), "utf-8")
    (tmp_path / "documents.csv").write_text("id,text\na,one\nb,two\n", "utf-8")
    assert folder.read(tmp_path).judgements.empty


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["id", "document", "metadata", "documents", "query", "0"])
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


GOOD = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": "q"}
GOOD |= {"gen_ai.retrieval.documents": [{"id": "a"}, {"id": "b"}]}
GOOD = {"trace_id": "1", "end_time": "2026-01-01T00:00:00Z", "attributes": GOOD}
SCRIPT = "<script>alert(1)</script>\x1b[2J\x00\ud800"
HUGE = "9" * 100_000
LEVELS = json.loads("[" * 400 + "]" * 400)
OF_ANY_KIND = [["a", 1], {"a": 1}, float("nan"), float("inf"), 1e308, HUGE, SCRIPT]
OF_ANY_KIND += [None, True, 10**4000]
OTLP = {"key": ["x"], "value": {"kvlistValue": [1]}}
OTLP = {"traceId": "a", "attributes": [OTLP, {"value": None}, "x", None]}
SPOILT = [  # a span each, beside a good one
    *(
        {**GOOD, name: value}
        for name in ("trace_id", "session_id", "parent_id", "end_time", "name")
        for value in OF_ANY_KIND
    ),
    *({**GOOD, "trace_id": "2", "attributes": value} for value in OF_ANY_KIND),
    *({"attributes": {"gen_ai.operation.name": value}} for value in OF_ANY_KIND),
    *({"resourceSpans": [{"scopeSpans": [{"spans": value}]}]} for value in OF_ANY_KIND),
    *({"resourceSpans": value} for value in [*OF_ANY_KIND, [{"scopeSpans": [None]}]]),
    {"resourceSpans": [{"scopeSpans": [{"spans": [OTLP]}]}]},
    {"info": [1], "data": {"spans": [1, None, {"attributes": [SCRIPT]}]}},
    {"info": SCRIPT, "data": "{{{"},
    {**GOOD, "k" * 100_000: 1},
    {**GOOD, "attributes": {**GOOD["attributes"], "more": "[" * 100_000}},
]


def test_hostile_spans_beside_a_good_one_end_in_words(tmp_path):
    """A line that is nested too deep stops its file; all others leave the good one."""
    (tmp_path / "documents.csv").write_text("id,text\na,alpha\nb,beta\n")
    path = tmp_path / "traces.jsonl"
    path.write_text("\n".join(map(json.dumps, [*SPOILT, GOOD])))
    told = folder.read(tmp_path)
    assert ["a", "b"] in told.runs["production"].values()
    " ".join([*told.notes, *told.log["question"]]).encode()
    path.write_text("\n".join(map(json.dumps, [{**GOOD, "name": LEVELS}, GOOD])))
    told = folder.read(tmp_path)
    assert "over 100 levels" in told.notes[0]
    assert not told.runs


@given(query=ANYTHING, shown=ANYTHING, as_text=st.booleans())
def test_whatever_a_span_records_ends_in_texts(query, shown, as_text):
    record = {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.query.text": json.dumps(query) if as_text else query,
        "gen_ai.retrieval.documents": json.dumps(shown) if as_text else shown,
    }
    table = opening.Table(Path("spans.jsonl"), pd.DataFrame([record], dtype=object))
    traces = reading.traces_of([table])
    cells = [*traces.ranked.to_numpy().ravel(), *traces.queries.to_numpy().ravel()]
    assert all(isinstance(cell, str) for cell in cells)
    for cell in cells:
        cell.encode("utf-8")


def write_folder(path, has_documents=True):
    path.mkdir()
    titles = [f"topic {number}" for number in range(60)]
    if has_documents:
        texts = pd.DataFrame({"id": titles, "text": [f"{t} is here" for t in titles]})
        texts.to_csv(path / "documents.csv", index=False)
    records = [
        retrieval(f"find {title}", [titles[(place + n) % 60] for n in range(3)], 1)
        | {"trace_id": title}
        for place, title in enumerate(titles)
    ]
    lines = "\n".join(map(json.dumps, records))
    (path / "traces.jsonl").write_text(lines, "utf-8")
    judged = pd.DataFrame(
        {"query": [f"find {title}" for title in titles], "document": titles, "grade": 1}
    )
    judged.to_csv(path / "judged-queries.csv", index=False)
    return path


def test_production_is_the_incumbent_without_a_line_of_code(tmp_path):
    source = write_folder(tmp_path / "folder")
    searches = {"other": lambda question, course: [question.removeprefix("find ")]}
    outcome = api.evaluate(
        source, searches=searches, out=tmp_path / "out", only_own=True
    )
    assert outcome["incumbent"] == "run: production"
    board = {row["search"]: row["ndcg"] for row in outcome["leaderboard"]}
    assert board["run: production"] == pytest.approx(1)


def test_several_files_of_spans_are_one_run(tmp_path):
    source = write_folder(tmp_path / "folder")
    lines = (source / "traces.jsonl").read_text("utf-8").splitlines()
    (source / "traces.jsonl").write_text("\n".join(lines[:30]), "utf-8")
    (source / "traces-2.jsonl").write_text("\n".join(lines[30:]), "utf-8")
    read = folder.read(source)
    assert len(read.runs["production"]) == 60
    assert len(read.log) == 60


def test_queries_of_a_file_are_those_of_the_run(tmp_path):
    source = write_folder(tmp_path / "folder")
    frame = pd.DataFrame({"query_id": ["mine"], "query": ["find topic 3"]})
    frame.to_csv(source / "queries.csv", index=False)
    assert folder.read(source).runs["production"]["mine"][0] == "topic 3"


def test_what_was_shown_is_the_documents_where_there_are_no_others(tmp_path):
    (tmp_path / "traces.jsonl").write_text(
        (TRACES / "langchain-without-ids.jsonl").read_text("utf-8"), "utf-8"
    )
    read = folder.read(tmp_path)
    ids = {document["id"] for document in read.documents}
    assert {*np.concatenate(list(read.runs["production"].values()))} <= ids
    assert any("what was never shown cannot be found" in note for note in read.notes)
    assert read.log["asked"].tolist() == ["2", "1", "1"]


# --- Logs and clicks ----------------------------------------------------------------


def write_ubi(path, is_bulk=False):
    """Queries and events as UBI has them: of "q" a and b were shown, b was clicked."""
    queries = [
        {
            "query_id": "1",
            "user_query": "q",
            "client_id": "c",
            "timestamp": "2026-01-01T00:00:00Z",
            "query_response_hit_ids": ["a", "b"],
        }
    ]
    lines = []
    for record in queries:
        lines += [{"index": {"_index": "ubi_queries"}}] if is_bulk else []
        lines.append(record)
    (path / "ubi_queries.ndjson").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    event = {"action_name": "click", "query_id": "1", "event_attributes": {}}
    event["event_attributes"] = {
        "object": {"object_id": "b"},
        "position": {"ordinal": 2},
    }
    seen = {**event, "action_name": "impression"}
    (path / "ubi_events.ndjson").write_text(
        "\n".join(map(json.dumps, [seen, event, event])), "utf-8"
    )
    (path / "documents.csv").write_text("id,text\na,one\nb,two\n", "utf-8")


@pytest.mark.parametrize("is_bulk", [False, True])
def test_hits_of_ubi_are_a_run_and_clicks_are_no_grades(is_bulk, tmp_path):
    write_ubi(tmp_path, is_bulk)
    read = folder.read(tmp_path)
    [ids] = read.runs["production"].values()
    assert ids == ["a", "b"]
    assert read.log["question"].tolist() == ["q"]
    assert read.judgements.empty
    clicked = "2 clicks on 1 pairs of a query and a document: they are no grades, and"
    assert any(clicked in note for note in read.notes)


def test_clicks_stand_beside_what_was_judged(tmp_path):
    write_ubi(tmp_path)
    (tmp_path / "judged-queries.csv").write_text(
        "query,document,grade\nq,a,0\nQ,b,1\nother,a,1\n", "utf-8"
    )
    said = " ".join(folder.read(tmp_path).notes)
    shares = "100% of 1 with a click, 100% of 1 with one at 2 and 3, 50% of 2 without"
    assert f"Relevant are, of judged pairs, {shares}" in said


def test_events_alone_are_a_log_with_counts(tmp_path):
    lines = ["action_name,query_id,user_query,object_id"]
    lines += ["click,1,one,a", "click,1,one,a", "click,2,one,a", "click,3,two,a"]
    (tmp_path / "events.csv").write_text("\n".join(lines), "utf-8")
    (tmp_path / "documents.csv").write_text("id,text\na,one\n", "utf-8")
    log = folder.read(tmp_path).log
    assert dict(zip(log["question"], log["asked"], strict=True)) == {
        "one": "2",
        "two": "1",
    }


@pytest.mark.parametrize("first", [0, 1])
def test_queries_and_events_in_one_file_count_each_as_what_it_is(first, tmp_path):
    write_ubi(tmp_path)
    lines = (tmp_path / "ubi_queries.ndjson").read_text("utf-8").splitlines()
    (tmp_path / "ubi_queries.ndjson").unlink()
    for place, shown in enumerate(["a", "b"], start=first):
        event = {"action_name": "click", "query_id": "1", "object_id": shown}
        lines.append(json.dumps(event | {"position": place}))
    lines.append(json.dumps({"action_name": "click", "query_id": "2"} | SHOWN[0]))
    lines[-1] = lines[-1].replace('"id"', '"object_id"')
    (tmp_path / "ubi_events.ndjson").write_text("\n".join(lines), "utf-8")
    graded = "query,document,grade\nq,a,0\nq,b,1\nother,a,1\n"
    (tmp_path / "judged-queries.csv").write_text(graded, "utf-8")
    read = folder.read(tmp_path)
    assert [*read.runs["production"].values()] == [["a", "b"]]
    said = " ".join(read.notes)
    assert "1 clicks are of no query here, and do not count" in said
    assert "0% of 1 with one at rank 1, 100% of 1 with one at 2 and 3" in said


PAIRS = pd.DataFrame({"query": ["q", "q", "r"], "product_id": ["a", "b", "b"]})
COUNTED = ["clicks", "Clicks (30 days)", "numClicks", "click_count", "CTR", "ctr_30d"]
COUNTED += ["click-through rate", "page_views", "orders", "AddToCart", "add to carts"]
COUNTED += [
    "impressions",
    "count",
    "frequency",
    "purchased",
    "clicked_at",
    "total sales",
]
GRADES = ["grade", "relevance", "label", "rating", "score", "Judgment"]


def write_table(frame, path):
    if path.suffix == ".xlsx":
        frame.to_excel(path, index=False)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, sep="\t" if path.suffix == ".tsv" else ",", index=False)
    (path.parent / "documents.csv").write_text("id,text\na,one\nb,two\n", "utf-8")


@pytest.mark.parametrize(
    ("name", "suffix"),
    [*zip([*COUNTED, *GRADES], cycle(["csv", "tsv", "xlsx", "jsonl"]), strict=False)],
)
def test_what_people_clicked_is_no_grade_and_a_grade_is(name, suffix, tmp_path):
    write_table(PAIRS.assign(**{name: [2, 0, 1]}), tmp_path / f"found.{suffix}")
    read = folder.read(tmp_path)
    said = " ".join(read.notes)
    if name in GRADES:
        assert read.judgements["grade"].tolist() == [2, 0, 1]
        assert "clicks" not in said
        return
    assert read.judgements.empty
    assert sorted(read.log["question"]) == ["q", "r"]
    assert f"found.{suffix}: counts what people opened" in said
    if name != "impressions":
        assert " clicks on 2 pairs of a query and a document: they are no" in said


@pytest.mark.parametrize(
    ("file", "more", "settings", "column"),
    [
        ("judged-queries.csv", {"clicks": [1, 0, 1]}, "", "clicks"),
        ("qrels.csv", {"n_views": [1, 0, 1]}, "", "n_views"),
        ("log.csv", {"ctr": [0.1, 0, 0.2]}, '[judgements]\ngrade = "ctr"', "ctr"),
        ("golden.csv", {"relevant_ids": "a", "clicks": [1, 0, 1]}, "", "clicks"),
    ],
)
def test_clicks_in_the_place_of_grades_are_an_error(
    file, more, settings, column, tmp_path
):
    frame = PAIRS.assign(**more)
    if "relevant_ids" in more:
        frame = frame.drop(columns="product_id")
    write_table(frame, tmp_path / file)
    (tmp_path / "columns.toml").write_text(settings, "utf-8")
    with pytest.raises(ValueError, match=rf"{file}.*'{column}'.*no grades"):
        folder.read(tmp_path)


@pytest.mark.filterwarnings("ignore:.*all of one need")
@pytest.mark.parametrize(
    "more",
    [
        {"clicks": [5, 0, 2], "grade": [0, 1, 2]},
        {"asked": [7, 7, 9], "order": [1, 2, 1]},
        {"count": [7, 7, 9]},  # of the query
        {"token_count": [70, 20, 90], "note": "click here"},
    ],
)
def test_judged_pairs_with_other_numbers_stay_judged(more, tmp_path):
    write_table(PAIRS.assign(**more), tmp_path / "pairs.csv")
    grades = folder.read(tmp_path).judgements["grade"].tolist()
    assert grades == more.get("grade", [1, 1, 1])


@pytest.mark.filterwarnings("ignore:.*all of one need")
def test_more_clicks_are_compared_with_higher_grades(tmp_path):
    pairs = {"query": "q", "document": ["a", "b", "c"]}
    write_table(pd.DataFrame(pairs | {"clicks": [9, 4, 0]}), tmp_path / "found.csv")
    when = {"times": "ann=2026-01-01T00:00:00Z"}  # as judge writes them
    graded = pd.DataFrame(pairs | {"grade": [2, 0, 1]} | when)
    graded.to_csv(tmp_path / "judged-queries.csv", index=False)
    documents = pd.DataFrame({"id": ["a", "b", "c"], "text": ["one", "two", "three"]})
    documents.to_csv(tmp_path / "documents.csv", index=False)
    said = " ".join(folder.read(tmp_path).notes)
    assert "13 clicks on 2 pairs" in said
    assert "the one with more clicks is graded higher in 67% of 3 pairs" in said


UBI = {"query_id": "1", "user_query": "q", "query_response_hit_ids": ["a", "b"]}
CLICK = {"action_name": "click", "query_id": "1", "object_id": "b"}


def of_ubi(queries, events, path):
    """What is read of records of UBI, in a file of each, and the notes."""
    for name, records in {"queries": queries, "events": events}.items():
        lines = "\n".join(map(json.dumps, records))
        (path / f"{name}.ndjson").write_text(lines, "utf-8")
    (path / "documents.csv").write_text("id,text\na,one\nb,two\n", "utf-8")
    read = folder.read(path)
    return read, " ".join(read.notes)


@pytest.mark.parametrize(
    ("hits", "found"),
    [
        (["a", "b"], ["a", "b"]),
        ("a,b", ["a", "b"]),
        ("a; b", ["a", "b"]),
        ("['a', 'b']", ["a", "b"]),
        ("['a' 'b']", ["a", "b"]),
        ('["a", "b"]', ["a", "b"]),
        ("[a b]", ["a", "b"]),
        ([], []),
        ("", []),
        (None, []),
    ],
)
def test_hits_of_ubi_in_all_spellings(hits, found, tmp_path):
    queries = [UBI, {**UBI, "query_id": "2", "user_query": "r"}]
    queries[1]["query_response_hit_ids"] = hits
    read, _ = of_ubi(queries, [CLICK], tmp_path)
    ids = dict(zip(read.log["question"], read.log["query_id"], strict=True))
    assert read.runs["production"][ids["q"]] == ["a", "b"]
    assert list(filter(None, read.runs["production"][ids["r"]])) == found


ACTIONS = ["click", "item_click", "click-through", "clickthrough", "click_through"]
ACTIONS += ["clickThrough", "ITEM_CLICK", "product_purchase", "Add to cart"]
FIELD = {"object": {"object_id_field": "sku", "sku": "b"}, "x": None}


@pytest.mark.parametrize(
    ("events", "told"),
    [
        *(([CLICK | {"action_name": name}], "1 clicks on 1 pairs") for name in ACTIONS),
        (
            [
                CLICK | {"action_name": name}
                for name in ("impression", "click", "remove_from_cart", "impression")
            ],
            "3 events are no clicks, and not used: impression (2), remove_from_cart",
        ),
        (
            [
                {"action_name": "on_search", "query_id": "9", "message": "R"},
                CLICK | {"query_id": "9"},
            ],
            "1 clicks on 1 pairs",
        ),
        (
            [
                CLICK | {"object_id": None},
                CLICK | {"event_attributes": '{"object": {"object_id": "b"}}'},
            ],
            "1 clicks name no document, and do not count",
        ),
        (
            [
                {"action_name": "click", "query_id": "1", "event_attributes": written}
                for written in (FIELD, str(FIELD), json.dumps(FIELD))
            ],
            "3 clicks on 1 pairs",
        ),
    ],
)
def test_events_of_ubi_in_all_spellings(events, told, tmp_path):
    assert told in of_ubi([UBI], events, tmp_path)[1]


def test_queries_without_hits_give_events_their_words(tmp_path):
    queries = [{"query_id": "1", "user_query": "q", "client_id": "c"}]
    read, said = of_ubi(queries, [CLICK], tmp_path)
    assert read.log["question"].tolist() == ["q"]
    assert "1 clicks on 1 pairs" in said


@pytest.mark.filterwarnings("ignore:.*all of one need")
def test_whole_numbers_of_parquet_are_ids(tmp_path):
    hits = [np.array([1.0, 2.0]), np.array([2.0])]
    frame = pd.DataFrame([UBI, {**UBI, "query_id": "2", "user_query": "r"}])
    frame.assign(query_response_hit_ids=hits).to_parquet(tmp_path / "ubi.parquet")
    events = pd.DataFrame([CLICK, CLICK]).assign(object_id=[1.0, None])
    events.to_parquet(tmp_path / "events.parquet")
    (tmp_path / "documents.csv").write_text("id,text\n1,one\n2,two\n", "utf-8")
    judged = "query,document,grade\nq,1,1\nq,2,0\n"
    (tmp_path / "judged-queries.csv").write_text(judged, "utf-8")
    read = folder.read(tmp_path)
    assert ["1", "2"] in [*read.runs["production"].values()]
    assert "100% of 1 with a click" in " ".join(read.notes)


@pytest.mark.parametrize(
    "times",
    [
        ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123Z"],
        ["2026-01-01T09:00:00+09:00", "2026-01-01T00:00:01Z"],
        ["2026-01-01 00:00:00", "2026-01-01T00:00:00.5+00:00"],
        ["1767225600", "1767225600500"],
        ["1767225600000000001", "2026-01-01T00:00:01Z"],
        ["", "2026-01-01T00:00:00Z"],
    ],
)
def test_the_last_list_is_the_last_in_time(times, tmp_path):
    spans_ = [
        {**retrieval("q", ids, end), "end_time": times[end]}
        for end, ids in enumerate([["a"], ["b"]])
    ]
    for order in (spans_, spans_[::-1]):
        assert lists_of(of_records(order, tmp_path)) == {"q": ["b"]}


def test_queries_without_recorded_documents_are_a_log(tmp_path):
    span = retrieval("q", [], 1)
    del span["attributes"]["gen_ai.retrieval.documents"]
    lines = [json.dumps({**span, "trace_id": trace}) for trace in "ab"]
    (tmp_path / "traces.jsonl").write_text("\n".join(lines), "utf-8")
    (tmp_path / "documents.csv").write_text("id,text\na,one\n", "utf-8")
    read = folder.read(tmp_path)
    assert read.log[["question", "asked"]].to_numpy().tolist() == [["q", "2"]]
    assert read.runs == {}
    assert any("2 times a query is recorded: they are a log" in n for n in read.notes)
