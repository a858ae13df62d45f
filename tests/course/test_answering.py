"""From hit to answer: recorded and live answers, their stages, and the judges of 16."""

import n07_hits as hits
import pandas as pd
import pytest
from chat_server import answer, live

from course import answering, llm


def test_without_a_model_a_stage_says_where_the_best_record_is():
    """Notebook 07 has the stages of answers."""
    grades = [{"r4": 2, "r9": 1}, {"r5": 2, "r0": 1}, {"elsewhere": 1}, {"r0": 0}]
    ranking = [f"r{n}" for n in range(10)]
    queries = pd.DataFrame({"document": grades})
    stages = ["shown", "below the first 5", "not among 10", "no record answers it"]
    assert hits.stages_of(queries, [ranking] * 4).tolist() == stages


def test_answers_that_are_not_recorded_are_counted(tmp_path):
    with pytest.raises(RuntimeError, match="2 of 2"):
        answering.with_answers(pd.DataFrame({"prompt": ["one", "two"]}), tmp_path)


def test_a_refusal_is_told_from_an_answer():
    assert answering.refuses("I don’t know.")
    assert not answering.refuses("You should know SQL.")


@pytest.mark.parametrize("finish", ["stop", "length"])
def test_a_live_answer_is_asked_at_temperature_0_and_kept(tmp_path, finish):
    """Also one that ends at the limit."""
    rows = pd.DataFrame({"prompt": ["why?", "why?"]})
    with live(answer(" Yes. ", finish_reason=finish)) as server:
        for _ in range(2):
            answered = answering.with_answers(rows, tmp_path)
            assert answered["answer"].to_list() == ["Yes.", "Yes."]
    [request] = server.requests
    assert (request.body["temperature"], request.body["max_tokens"]) == (0, 160)


FACTS = pd.Series({"q1": ["a", "b"], "q2": ["b"]})


def rows_of(*answers):
    """Rows of q2, q1 and q3, the last without an answer, as `with_answers` has them."""
    table = pd.DataFrame({"query_id": ["q2", "q1", "q3"], "answer": answers})
    return table.assign(prompt=["two", "one", "three"]).set_index(pd.Index([5, 3, 4]))


def test_a_recorded_answer_has_its_reading_and_a_refusal_states_nothing(tmp_path):
    key = llm.request_key(answering.ANSWERED_BY, "two", "answer")
    readings = f"query_id,key,first,second\nq2,{key},1,x\n"
    (tmp_path / "answer-readings.csv").write_text(readings)
    rows = rows_of("Yes.", "I don't know.", "Yes.")
    for reading, of_two in (("first", "1"), ("second", "x")):
        stated = answering.read_facts(rows, FACTS, tmp_path, reading)
        assert stated.fillna("none").to_dict() == {5: of_two, 3: "00", 4: "none"}
    with pytest.raises(KeyError):
        answering.read_facts(rows_of("Yes.", "Yes.", ""), FACTS, tmp_path)
