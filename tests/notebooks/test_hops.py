"""Test the agents of notebook 18, and what was recorded of them."""

import n18_hops as hops
import pytest
from recorders import agents
from their_collections import folder, prepared

from course import llm
from evaluate_retrieval.reading import corpus

DOCUMENTS = [
    {"id": id_, "question": title, "text": text, "section": "", "course": "all"}
    for id_, title, text in [
        ("a", "Red Bridge", "The Red Bridge is in Lindau."),
        ("b", "Lindau", "Lindau has four thousand boats."),
        ("c", "Boats", "A bridge may have a lamp."),
    ]
]
QUESTION = {
    "question": "how many boats has the town of the Red Bridge?",
    "subquestions": ["Red Bridge town", "boats Lindau"],
}


def test_a_loop_ends_when_it_repeats_itself_and_asks_with_what_it_was_shown(
    monkeypatch, tmp_path
):
    prompts, queries = [], iter(["boats Lindau", "boats Lindau"])

    def respond(prompt, *_, **__):
        prompts.extend(prompt)
        return [{"name": "Lindau", "query": next(queries)}]

    monkeypatch.setattr(llm, "respond", respond)
    find = hops.searcher(DOCUMENTS)
    records = {each["id"]: each for each in DOCUMENTS}
    calls = agents.loop(QUESTION, find, records, tmp_path / "x.jsonl")
    assert [call["asked"] for call in calls] == [QUESTION["question"], "boats Lindau"]
    assert all("The Red Bridge is in Lindau." in prompt for prompt in prompts)
    assert f"{QUESTION['question']}; boats Lindau" in prompts[1]
    assert [find(text, 1) for text in QUESTION["subquestions"]] == [["a"], ["b"]]


def test_answers_are_compared_as_squad_does():
    assert agents.exact_match("the Red bridge.", ["red bridge"]) == 1
    assert agents.f1("red red bridge", ["a red bridge", "town"]) == pytest.approx(0.8)
    assert agents.f1("no", ["yes"]) == agents.exact_match("", ["yes"]) == 0


@pytest.mark.slow
@pytest.mark.skipif(not folder("hops"), reason="no collections here")
@pytest.mark.parametrize(
    ("course", "n_documents", "n_relevant"),
    [("musique", 3_141, 478), ("hotpot", 1_971, 400)],
)
def test_the_recorded_lists_are_found_again(course, n_documents, n_relevant):
    documents, questions = agents.load(course, prepared() / "hops")
    kept, shown, sizes, _ = hops.recorded(course)
    assert (len(documents), kept["relevant"].map(len).sum()) == (
        n_documents,
        n_relevant,
    )
    find, texts = hops.searcher(documents), {each["id"]: each for each in documents}
    for row in questions.to_dict("records")[::10]:
        id_ = row["query_id"]
        assert {*kept["relevant"][id_]} == {*row["document"]}
        [call] = shown["one search"][id_]
        assert find(row["question"]) == call["ids"]
        parts = [call["ids"] for call in shown["sub-questions"].get(id_, [])]
        assert [find(text) for text in row["subquestions"]] == parts
    assert all(
        sizes[id_] == len(corpus.heading_and_text(texts[id_])) // 4 for id_ in sizes
    )
