"""The judge, the combinations and the two sets of notebooks 04 and 15.

The judge answers over HTTP, scores are held against brute force, and both sets are made
anew."""

import json
import math
import os
from unittest.mock import patch

import agreement
import numpy as np
import pandas as pd
import pytest
from chat_server import answer, chat_server
from notebook_cells import namespace_of
from sklearn import metrics

from course import answering, corpus, embedding, essays, exercises, llm


def test_notebook_15_judges_with_the_prompt_of_lesson_04():
    of_04 = namespace_of("04-fact-coverage", "judge")["JUDGE_PROMPT"]
    assert of_04 == answering.STATES


def judge(folder, reply):
    """The response of the judge to a prompt, and the body of the request."""
    with chat_server(reply) as server, patch.dict(os.environ, COURSE_LLM="live"):
        os.environ.update(OPENAI_BASE_URL=server.url, NO_PROXY="127.0.0.1")
        call = llm.judge_call(max_retries=0)
        (response,) = llm.respond(["prompt"], "digit", folder / "v.jsonl", call)
    return response, server.requests[0].body


def digit(top):
    """A reply whose one token has these probabilities."""
    logprobs = {token: math.log(p) for token, p in top.items()}
    return answer("", top_logprobs=logprobs)


P_AND_MASS = [
    (digit({"1": 0.5, " 1": 0.3, "0": 0.1, " 0": 0.1}), 0.8, 1),
    (digit({"Yes": 0.6, "1": 0.3, "0": 0.1}), 0.75, 0.4),
    (digit({"1": 0.6, "2": 0.3, "11": 0.1}), 1, 0.9),
]
NO_VERDICT = [
    (answer("1"), f"{llm.model()} returned no log probabilities: take another"),
    (digit({"Yes": 0.9, "No": 0.1}), "no digit among the likeliest tokens"),
    (answer("", top_logprobs={"0": -9999, "1": -9999}), "no digit among the likelie"),
    (answer(None, refusal="No!", top_logprobs={"1": -0.1}), "refused: No!"),
]


@pytest.mark.parametrize(("reply", "p", "mass"), P_AND_MASS)
def test_p_is_that_of_the_digits_among_the_top_tokens(tmp_path, reply, p, mass):
    response, body = judge(tmp_path, reply)
    how = {"logprobs": True, "top_logprobs": 20, "temperature": 0}
    assert llm.p_of(response) == pytest.approx(p, abs=1e-4)
    found = llm.digit_probabilities(response)
    assert found.sum() == pytest.approx(mass, abs=1e-4)
    assert body.items() >= {**how, "max_tokens": 1}.items()


def test_the_call_that_lesson_04_shows_is_the_judges_call(tmp_path):
    ask_judge = namespace_of("04-fact-coverage", "judge")["ask_judge"]
    reply = digit({"1": 0.6, "0": 0.2, "Yes": 0.2})
    with chat_server(reply) as server, patch.dict(os.environ, COURSE_LLM="live"):
        os.environ.update(OPENAI_BASE_URL=server.url, NO_PROXY="127.0.0.1")
        with patch.object(essays, "DATA", tmp_path):
            [response] = essays.digits(["prompt"], ask_judge)
    by_course, body = judge(tmp_path / "course", reply)
    assert server.requests[0].body == body
    assert llm.p_of(response) == pytest.approx(llm.p_of(by_course), abs=1e-4)


@pytest.mark.parametrize(("reply", "message"), NO_VERDICT)
def test_no_verdict_is_made_up(tmp_path, reply, message):
    with pytest.raises(RuntimeError, match=message):
        judge(tmp_path, reply)
    assert (tmp_path / llm.LIVE).read_bytes() == b""
    recorded = {"logprobs": {"0": -9999, "1": -9999}}  # by an earlier version
    assert math.isnan(llm.p_of(recorded))


@pytest.mark.parametrize(
    ("n", "least", "count"), [(7, 2, 120), (7, 1, 127), (1, 2, 0), (0, 0, 1)]
)
def test_number_of_combinations(n, least, count):
    members = essays.combinations(n, least)
    assert members.shape == (count, n)
    assert len(set(map(tuple, members))) == count


def test_a_matrix_has_facts_as_rows_and_the_contexts_in_the_order_given():
    row = {"essay": "e", "fact": "f", "context": "a", "stated": True}
    rows = [row, row | {"context": "b", "stated": False}, row | {"essay": "other"}]
    pairs = pd.DataFrame(rows)
    assert essays.matrix(pairs, "e", ["b", "a"]).to_numpy().tolist() == [[False, True]]


def test_each_fact_of_a_point_is_paired_with_both_contexts():
    points = pd.DataFrame({"point": ["p"], "context_a": ["a"], "context_b": ["b"]})
    lists = [{"facts": ["f", "g"]}]
    pairs = essays.point_pairs(points, lists, {"a": "A.", "b": "B."})
    assert set(pairs.itertuples(index=False, name=None)) == {
        ("p", fact, name, f"{name.upper()}.") for fact in "fg" for name in "ab"
    }


def test_a_direct_score_is_the_mean_digit_of_a_prompt_with_all_contexts(monkeypatch):
    asked = []
    logprobs = {"9": math.log(0.25), "0": math.log(0.25), "Yes": math.log(0.5)}
    monkeypatch.setattr(
        essays,
        "digits",
        lambda prompts: asked.extend(prompts) or [{"logprobs": logprobs}],
    )
    [first, *_] = texts = essays.essay_contexts(DATA)
    [score] = essays.direct_scores("{answer}: {contexts}", [[first, first]], "why")
    assert score == pytest.approx(0.5)
    assert asked == [f"why: {texts[first]}\n\n{texts[first]}"]


def test_a_live_model_reasons_before_it_lists_facts(tmp_path, monkeypatch):
    listed = {"reasoning": "One claim.", "facts": ["A."]}
    prompts, forms = namespace_of("04-fact-coverage", "prompt"), []

    def reply(body):
        forms.append([*body["response_format"]["json_schema"]["schema"]["properties"]])
        return answer(json.dumps({name: listed[name] for name in forms[-1]}))

    answers = [read_json("continuous-set.json")[0]["answer"]]
    live = tmp_path / llm.LIVE
    with chat_server(reply) as server, patch.dict(os.environ, COURSE_LLM="live"):
        os.environ.update(OPENAI_BASE_URL=server.url, NO_PROXY="127.0.0.1")
        (tmp_path / "facts.jsonl").write_bytes(essays.FACTS_FILE.read_bytes())
        monkeypatch.setattr(essays, "FACTS_FILE", tmp_path / "facts.jsonl")
        lists = essays.fact_lists(prompts["IO_PROMPT"], prompts["COT_PROMPT"], answers)
    assert forms == [["facts"], ["reasoning", "facts"]]
    assert lists["small, CoT"] == [listed]
    assert len(lists["large, CoT"][0]["facts"]) == 18
    assert len(live.read_text("utf-8").splitlines()) == 2


def test_tables_of_exercises_are_bool_and_of_many_shapes():
    tables = exercises.random_tables(20)
    assert len(tables) == 20
    assert len({table.shape for table in tables}) > 5
    assert all(t.dtype == bool and min(t.shape) >= 2 for t in tables)
    assert max(max(t.shape) for t in tables) == 8


def test_auc_and_its_differences_are_those_of_scikit_learn_drawn_by_group():
    rng = np.random.default_rng(3)
    true = np.tile([True, False, False], 20)
    good = rng.random(60) + 0.5 * true
    scores = pd.DataFrame({"good": good, "poor": rng.random(60).round(1)})
    groups = np.repeat(range(20), 3)
    table = agreement.aucs(scores, true, groups)
    for name in scores:
        auc = metrics.roc_auc_score(true, scores[name])
        assert table.loc[name, "AUC"] == pytest.approx(auc)
        assert table.loc[name, "low"] < auc < table.loc[name, "high"]
    minus = agreement.aucs(scores, true, groups, "good")
    assert list(minus.index) == ["poor"]
    gain = table.loc["good", "AUC"] - table.loc["poor", "AUC"]
    assert minus.loc["poor", "difference"] == pytest.approx(gain)
    assert minus.loc["poor", "low"] > 0
    # a group as often again says nothing new
    twice = pd.concat([scores, scores], ignore_index=True)
    again = agreement.aucs(twice, np.tile(true, 2), np.tile(groups, 2))
    pd.testing.assert_frame_equal(again, table)


# --- The committed sets, made anew

DATA = corpus.ROOT / "data"


def read_json(name):
    return json.loads((DATA / name).read_text("utf-8"))


CHUNKS = essays.essay_contexts(DATA)
for other in read_json("essay-contexts.json"):
    del CHUNKS[other]


def test_the_recorded_answer_is_the_reply_to_the_prompt_that_is_shown():
    first = read_json("continuous-set.json")[0]
    passages = "\n\n".join(CHUNKS[name] for name in first["golden"])
    shown = namespace_of("04-fact-coverage", "prompt")["ANSWER_PROMPT"]
    prompt = shown.format(question=first["question"], passages=passages)
    recorded = llm.load_responses(DATA / "recorded-essay-answer.jsonl")
    assert list(recorded) == [llm.request_key(essays.QWEN, prompt, "Answer")]


def test_the_discrete_set_is_what_vectors_retrieve_labelled_by_the_rule():
    model, points = embedding.bundled_model(), []
    vectors = embedding.embed(CHUNKS.values(), model)
    for number, entry in enumerate(read_json("essay-questions.json"), 1):
        question = entry["question"]
        [asked] = embedding.embed([question], model)
        cosines = dict(zip(CHUNKS, vectors @ asked, strict=True))
        one, two, _, four, five = sorted(cosines, key=cosines.get)[:-6:-1]
        points.append((f"{number:02}-first", question, one, two, 1))
        points.append((f"{number:02}-last", question, four, five, 0))
    assert len(points) == 30
    committed = pd.read_csv(DATA / "discrete-set.csv")
    columns = ["point", "question", "context_a", "context_b", "rule"]
    assert list(committed[columns].itertuples(index=False, name=None)) == points


def test_readings_of_the_discrete_set_agree_and_leave_23_points():
    readings = pd.read_csv(DATA / "discrete-set.csv")[["rule", "pass_1", "pass_2"]]
    assert (readings["pass_1"] == readings["pass_2"]).all()
    counts = readings.groupby(["rule", "pass_1"]).size().to_dict()
    assert counts.pop((1, "ambiguous")) + counts.pop((0, "ambiguous")) == 7
    assert counts == {(0, "0"): 12, (1, "0"): 2, (1, "1"): 9}


def test_the_continuous_set_has_four_chunks_of_one_essay_and_three_of_others():
    first, *others = read_json("continuous-set.json")
    essay = first["golden"][0].removesuffix("0")
    own = [name for name in CHUNKS if name.startswith(essay)]
    assert first["golden"] == own[:4]
    # drawn without a recorded seed, so the three are written down
    drawn = ["railway-time-1", "lighthouse-lenses-2", "soil-and-nitrogen-1"]
    assert first["others"] == drawn
    assert set(drawn) <= set(CHUNKS) - set(own)
    assert [len(entry["golden"]) for entry in others] == [3] * 5
