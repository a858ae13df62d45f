"""Test conversations: what is drawn together, what a search gets, what a judge sees."""

import json

import pandas as pd
import pytest
from refusals import refused

from evaluate_retrieval.commands import asking
from evaluate_retrieval.measuring import intervals, pairs
from evaluate_retrieval.reading import corpus, files, folder
from evaluate_retrieval.searching import own

MESSAGES = [{"role": "user", "content": "is it red?"}, {"role": "bot", "content": "no"}]
TURNS = [  # query_id, conversation, turn; in no order
    ("b2", "b", "2"),
    ("a10", "a", "10"),
    ("a1", "a", "1"),
    ("a2", "a", "2"),
    ("alone", "", ""),
    ("b1", "b", "1"),
]


@pytest.fixture
def chat(tmp_path):
    """A function: a folder of turns, as it is read. Other columns may be given."""

    def made(columns=(), rows=TURNS):
        queries = pd.DataFrame(rows, columns=["id", "conversation", "turn"])
        queries = queries.assign(text="ask " + queries["id"], **dict(columns))
        queries.to_json(tmp_path / "queries.jsonl", orient="records", lines=True)
        documents = [{"id": id_, "text": f"text of {id_}"} for id_ in "xy"]
        (tmp_path / "documents.json").write_text(json.dumps(documents))
        lines = [f"{id_} 0 x 1\n" for id_ in queries["id"]]
        (tmp_path / "qrels.txt").write_text("".join(lines))
        return folder.read(tmp_path)

    return made


def test_turns_are_drawn_with_their_conversation_and_get_what_was_asked_before(chat):
    read = chat()
    queries = read.test["judged"].set_index("query_id")
    groups = queries.assign(group=intervals.groups_of(queries).to_numpy())["group"]
    together = groups.groupby(groups).groups.values()
    assert {frozenset(ids) for ids in together} == {
        frozenset({"a1", "a2", "a10"}),
        frozenset({"b1", "b2"}),
        frozenset({"alone"}),
    }
    assert queries.groupby("need")["fold"].nunique().max() == 1
    assert queries["history"].to_dict() == {
        "a1": "",
        "a2": "ask a1",
        "a10": "ask a1\nask a2",
        "alone": "",
        "b1": "",
        "b2": "ask b1",
    }
    sent = own._messages_of(queries.reset_index(), "mine")
    assert sent["b2"].items() >= {"turn": "2", "history": "ask b1"}.items()
    assert any("5 judged queries are turns of 2 conv" in note for note in read.notes)
    slices = pairs.slices_of(queries)
    assert not {"conversation", "history"} & {*slices}
    assert slices[pairs.PLACE].value_counts().to_dict() == {
        "follow-up": 3,
        "first turn": 2,
        "(empty)": 1,
    }


def test_needs_that_a_conversation_joins_are_one(chat):
    needs = chat({"need": ["n", "m", "m", "", "n", "o"]}).test["judged"]["need"]
    assert needs.nunique() == 2  # b with alone by n; a by its conversation


def test_generated_questions_of_a_conversation_are_drawn_together():
    table = pd.DataFrame(
        {"question": [*"pqrs"], "document": [*"abca"], "course": "all"}
    )
    table["conversation"] = ["1", "1", "2", ""]
    needs = corpus.ground_truth_from(table, {}, "made")["need"]
    assert needs[0] == needs[1] == needs[3] != needs[2]  # the last shares a document


def test_without_a_turn_the_order_of_the_rows_counts(chat):
    rows = [(id_, conversation, None) for id_, conversation, _ in TURNS]
    queries = pd.DataFrame(rows, columns=["query_id", "conversation", "turn"])
    queries = queries.drop(columns="turn").assign(question=queries["query_id"])
    found = corpus.with_history(queries, "queries.csv").set_index("query_id")
    assert found["turn"].to_list() == ["1", "1", "2", "3", "", "2"]
    assert found.loc["a2", "history"] == "a10\na1"


def test_messages_are_lines_and_a_wrong_turn_is_named(chat):
    queries = chat({"history": [MESSAGES] * 6}).test["judged"]
    assert {*queries["history"]} == {"user: is it red?\nbot: no"}
    with refused("queries.jsonl", column="turn", value="first"):
        chat(rows=[("a", "c", "first"), ("b", "c", "2")])


def test_a_judge_sees_the_history_and_the_new_row_keeps_its_turn(
    chat, capfd, monkeypatch
):
    read = chat()
    pair = {"query_id": "b2", "query": "ask b2", "course": "all", "kind": "typed"}
    to_judge = pd.DataFrame([pair | {"document": "y", "drawn": "next"}])
    shown = []
    monkeypatch.setattr(asking.log, "info", lambda text, *_: shown.append(str(text)))
    monkeypatch.setattr(asking, "read_key", lambda: "2")
    asking.ask_in_terminal(read, to_judge, "me", pd.DataFrame())
    assert any("earlier: ask b1\nQUERY  ask b2" in text for text in shown)
    table = files.read_csv(read.source / "judged-queries.csv")
    table = table.assign(conversation="c", turn=table.index.astype(str))
    table.to_csv(read.source / "judged-queries.csv", index=False)
