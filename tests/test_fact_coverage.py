"""The judge, the combinations and the two sets of notebooks 04, 16 and 19.

The judge answers over HTTP, scores are held against brute force, and both sets are made
anew."""

import json
import math
import os
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from chat_server import answer, chat_server
from notebook_cells import namespace_of
from sklearn import metrics

import utils
from course import corpus, embedding, essays, exercises, intervals, llm


def test_notebook_16_judges_with_the_prompt_of_notebook_04():
    of_04, of_16 = (
        namespace_of(name, "judge")["JUDGE_PROMPT"]
        for name in ("04-fact-coverage", "16-judging-the-judge")
    )
    assert of_16 == of_04


def judge(folder, reply, samples=None):
    """The response of the judge to a prompt, and the body of the request."""
    with chat_server(reply) as server, patch.dict(os.environ, COURSE_LLM="live"):
        os.environ.update(OPENAI_BASE_URL=server.url, NO_PROXY="127.0.0.1")
        call = llm.judge_call(samples, max_retries=0)
        (response,) = llm.respond(["prompt"], "digit", folder / "v.jsonl", call)
    return response, server.requests[0].body


def digit(top):
    """A reply whose one token has these probabilities."""
    logprobs = {token: math.log(p) for token, p in top.items()}
    return answer("", top_logprobs=logprobs)


P_AND_MASS = [
    (digit({"1": 0.5, " 1": 0.3, "0": 0.1, " 0": 0.1}), None, 0.8, 1),
    (digit({"Yes": 0.6, "1": 0.3, "0": 0.1}), None, 0.75, 0.4),
    (digit({"1": 0.6, "2": 0.3, "11": 0.1}), None, 1, 0.9),
    (answer("1", " 1", "0", "maybe"), 4, 2 / 3, 0.75),
]
NO_VERDICT = [
    (answer("1"), None, f"{llm.model()} returned no log probabilities.*samples=20"),
    (digit({"Yes": 0.9, "No": 0.1}), None, "no digit among the likeliest tokens"),
    (answer(None, refusal="No!", top_logprobs={"1": -0.1}), None, "refused: No!"),
    (answer("yes", "no"), 2, "no sample is a digit"),
]


@pytest.mark.parametrize(("reply", "samples", "p", "mass"), P_AND_MASS)
def test_p_is_that_of_the_digits_among_the_top_tokens_or_samples(
    tmp_path, reply, samples, p, mass
):
    response, body = judge(tmp_path, reply, samples)
    how = {"logprobs": True, "top_logprobs": 20, "temperature": 0}
    how = {"n": 4, "temperature": 1} if samples else how
    assert llm.p_of(response) == pytest.approx(p, abs=1e-4)
    found = llm.digit_probabilities(response)
    assert found.sum() == pytest.approx(mass, abs=1e-4)
    assert body.items() >= {**how, "max_tokens": 1}.items()


@pytest.mark.parametrize(("reply", "samples", "message"), NO_VERDICT)
def test_no_verdict_is_made_up(tmp_path, reply, samples, message):
    with pytest.raises(RuntimeError, match=message):
        judge(tmp_path, reply, samples)
    assert (tmp_path / llm.LIVE).read_bytes() == b""


@pytest.mark.parametrize(
    ("n", "least", "count"), [(7, 2, 120), (7, 1, 127), (1, 2, 0), (0, 0, 1)]
)
def test_number_of_combinations(n, least, count):
    members = essays.combinations(n, least)
    assert members.shape == (count, n)
    assert len(set(map(tuple, members))) == count


@pytest.mark.parametrize(("n", "most"), [(17, 2**16), (1000, 10**400)])
def test_too_many_combinations_are_refused_before_anything_is_allocated(n, most):
    with pytest.raises(ValueError, match=rf"{n} contexts have 2\^{n} combinations"):
        essays.combinations(n, most=most)


def test_combined_scores_against_brute_force():
    scores = np.random.default_rng(1).integers(0, 11, (3, 6)) / 10  # some are 0.5
    members = essays.combinations(6, smallest=1)
    hard = essays.combined_scores(scores, members)
    soft = essays.combined_scores(scores, members, soft=True)
    for row, a, b in zip(members, hard, soft, strict=True):
        assert a == pytest.approx(utils.coverage(scores[:, row] >= 0.5))
        none = [math.prod(1 - p for p in fact) for fact in scores[:, row]]
        assert b == pytest.approx(1 - np.mean(none))
    with pytest.raises(ValueError, match="no facts"):
        essays.combined_scores(scores[:0], members)


def test_a_matrix_has_facts_as_rows_and_the_contexts_in_the_order_given():
    row = {"essay": "e", "fact": "f", "context": "a", "stated": True}
    rows = [row, row | {"context": "b", "stated": False}, row | {"essay": "other"}]
    pairs = pd.DataFrame(rows)
    assert essays.matrix(pairs, "e", ["b", "a"]).to_numpy().tolist() == [[False, True]]
    assert essays.matrices(pairs, {"e": ["a"]})["e"].tolist() == [[True]]


def test_each_fact_of_a_point_is_paired_with_both_contexts():
    points = pd.DataFrame({"point": ["p"], "context_a": ["a"], "context_b": ["b"]})
    pairs = essays.point_pairs(points, [["f", "g"]], {"a": "A.", "b": "B."})
    assert set(pairs.itertuples(index=False, name=None)) == {
        ("p", fact, name, f"{name.upper()}.") for fact in "fg" for name in "ab"
    }


def test_a_fact_in_its_own_words_is_found_and_nearest_to_its_sentence():
    facts = ["The cable broke in 1858.", "Bread needs salt."]
    assert essays.share_found(facts, facts[:1]) == 0.5
    text = "Bread needs salt. It was a long day."
    near, far = essays.nearest_sentences([facts[1], facts[0]], [text, text])
    assert near == pytest.approx(1, abs=1e-4)
    assert far < 0.5


def test_rankings_have_every_context_once():
    contexts = {"a": "A red lamp.", "b": "A blue lamp.", "c": "Bread."}
    found = essays.rankings([{"question": "red lamp"}, {"question": "bread"}], contexts)
    assert set(found) == {"text", "vectors", "hybrid"}
    for ids in found.values():
        assert [sorted(row) for row in ids] == [["a", "b", "c"]] * 2
        assert ids[:, 0].tolist() == ["a", "c"]


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
    table = intervals.aucs(scores, true, groups)
    for name in scores:
        auc = metrics.roc_auc_score(true, scores[name])
        assert table.loc[name, "AUC"] == pytest.approx(auc)
        assert table.loc[name, "low"] < auc < table.loc[name, "high"]
    minus = intervals.auc_differences(scores, true, groups, "good")
    assert list(minus.index) == ["poor"]
    gain = table.loc["good", "AUC"] - table.loc["poor", "AUC"]
    assert minus.loc["poor", "difference"] == pytest.approx(gain)
    assert minus.loc["poor", "low"] > 0
    # a group as often again says nothing new
    twice = pd.concat([scores, scores], ignore_index=True)
    again = intervals.aucs(twice, np.tile(true, 2), np.tile(groups, 2))
    pd.testing.assert_frame_equal(again, table)


def test_alpha_ndcg_by_hand():
    of_19 = namespace_of("19-which-contexts-are-enough", "ranking")
    alpha_dcg, alpha_ndcg = of_19["alpha_dcg"], of_19["alpha_ndcg"]
    stated = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1]])
    assert alpha_dcg(stated) == pytest.approx(2 + 0.5 / np.log2(3) + 1 / 2)
    assert alpha_ndcg(stated[:, [0, 2, 1]], 3) == pytest.approx(1)
    ideal = 2 + 1 / np.log2(3)
    for alpha, again in [(0.5, 0.5), (1, 0)]:
        dcg = 2 + again / np.log2(3)
        assert alpha_ndcg(stated, 2, alpha) == pytest.approx(dcg / ideal)


# --- The committed sets, made anew

DATA = corpus.ROOT / "data"


def read_json(name):
    return json.loads((DATA / name).read_text("utf-8"))


CHUNKS = essays.essay_contexts(DATA)
for other in read_json("essay-contexts.json"):
    del CHUNKS[other]


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
