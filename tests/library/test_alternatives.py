"""Alternatives: a group is one document under several names, in every figure."""

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from evaluate_retrieval.measuring import metric, pairs
from evaluate_retrieval.reading import alternatives, joining

K = 4
IDS = "abcdefgh"
UNKNOWN = "xyz"  # which nobody judged
MEASURES = {
    "hit_rate": f"Success@{K}",
    "mrr": f"RR@{K}",
    "ndcg": f"nDCG@{K}",
    "recall": f"R@{K}",
    "precision": f"P@{K}",
}


@st.composite
def problems(draw):
    """Groups of documents, a grade of each, and the ids of a ranking.

    A group is a text, and its letters are documents."""
    ids = draw(st.permutations(IDS))
    cuts = sorted(draw(st.sets(st.integers(1, len(ids) - 1))))
    ends = zip([0, *cuts], [*cuts, len(ids)], strict=True)
    groups = ["".join(ids[start:end]) for start, end in ends]
    grades = {id_: draw(st.integers(1, 3)) for id_ in IDS}
    n_judged = draw(st.integers(1, len(groups)))
    qrel = {id_: grades[id_] for group in groups[:n_judged] for id_ in group}
    zeros = draw(st.sets(st.sampled_from(UNKNOWN)))
    ranking = draw(st.permutations(IDS + UNKNOWN))[: draw(st.integers(1, 9))]
    return groups[:n_judged], qrel | dict.fromkeys(zeros, 0), list(ranking)


def query_of(groups, qrel):
    """The queries of such a problem: one."""
    names = {id_: group[0] for group in groups if len(group) > 1 for id_ in group}
    queries = pd.DataFrame({"question": ["?"], "document": [qrel]})
    return queries.assign(alternatives=[names])


def by_another_tool(groups, qrel, ranking, relevant):
    """The figures of trec_eval, where each group is one document by its own name."""
    group_of = {id_: group for group in groups for id_ in group}
    grades = {}
    for id_, grade in qrel.items():
        name = group_of.get(id_, id_)
        grades[name] = max(grade, grades.get(name, 0))
    run = {}
    for rank, id_ in enumerate(ranking):
        name = group_of.get(id_, id_)
        run[f"nothing-{rank}" if name in run else name] = -float(rank)
    measures = {
        name: ir_measures.parse_measure(
            text.replace("@", f"(rel={relevant})@") if name != "ndcg" else text
        )
        for name, text in MEASURES.items()
    }
    found = ir_measures.calc_aggregate(measures.values(), {"q": grades}, {"q": run})
    return {name: found[measure] for name, measure in measures.items()}


@given(problems(), st.integers(1, 3))
def test_figures_are_those_of_a_problem_in_which_a_group_is_one_id(problem, relevant):
    groups, qrel, ranking = problem
    scores = metric.scores_by_query(query_of(groups, qrel), [ranking], K, relevant)
    expected = by_another_tool(groups, qrel, ranking, relevant)
    assert scores.loc[0].to_dict() == pytest.approx(expected, abs=1e-6)


@given(problems(), st.data())
def test_which_document_of_a_group_is_found_makes_no_difference(problem, data):
    groups, qrel, ranking = problem
    renamed = {}
    for group in groups:
        order = data.draw(st.permutations(group))
        renamed |= dict(zip(group, order, strict=True))
    other = [renamed.get(id_, id_) for id_ in ranking]
    queries = query_of(groups, qrel)
    measure = metric.Measure(k=K, relevant=2)
    scores, scores_of_other = (
        metric.two_estimates(queries, np.array([ids], dtype=object), K, "recall", 2)
        for ids in (ranking, other)
    )
    assert scores.equals(scores_of_other)
    first, second = (
        pairs.ranks_and_causes(queries, np.array([ids], dtype=object), measure)
        for ids in (ranking, other)
    )
    np.testing.assert_array_equal(first[0], second[0])
    assert first[1].tolist() == second[1].tolist()


@given(problems())
def test_a_ranking_with_one_of_each_group_is_perfect(problem):
    groups, qrel, _ = problem
    best = sorted(groups, key=lambda group: -max(qrel[id_] for id_ in group))
    ranking = [group[-1] for group in best]
    scores = metric.scores_by_query(query_of(groups, qrel), [ranking])
    perfect = ["hit_rate", "mrr", "ndcg", "recall", "precision"]
    assert scores.loc[0, perfect].tolist() == pytest.approx([1] * 5)
    shares = metric.two_estimates(query_of(groups, qrel), np.array([ranking]))
    shares = shares.loc[0, ["condensed", "judged_at_k"]].tolist()
    assert shares == pytest.approx([1, 1])


@given(problems())
def test_without_alternatives_figures_are_as_they_were(problem):
    _, qrel, ranking = problem
    queries = query_of([], qrel)
    plain = queries.drop(columns="alternatives")
    scores = metric.scores_by_query(queries, [ranking], K)
    assert scores.equals(metric.scores_by_query(plain, [ranking], K))


def test_a_repeated_id_is_still_told_and_the_second_of_a_group_is_not(recwarn):
    queries = query_of(["ab"], {"a": 1, "b": 1})
    assert metric.scores_by_query(queries, [["a", "b"]]).loc[0, "precision"] == 0.5
    assert not recwarn
    with pytest.warns(UserWarning, match="1 repeated ids"):
        metric.scores_by_query(queries, [["a", "b", "a"]])


def judgements(*rows):
    """Judgements of one query: rows of document, grade and group."""
    table = pd.DataFrame(rows, columns=["document", "grade", "alternatives"])
    return table.assign(query_id="q")


def test_groups_that_share_a_document_are_one():
    pairs = ["a1", "b1", "b2", "c2", "d3", "a3", "e4", "f4", "g "]
    rows = judgements(*[(id_, 1, label) for id_, label in pairs[:4]])
    rows = rows.set_axis(["line 1"] * 4)  # a cell with a list of ids
    graded, notes = alternatives.with_one_group_each(rows)
    assert graded["alternatives"].nunique() == 1
    more = judgements(*[(id_, 1, label) for id_, label in pairs])
    all_of_it = alternatives.with_one_group_each(more)[0].set_index("document")
    labels = all_of_it["alternatives"]
    assert labels.loc[[*"abcd"]].nunique() == 1
    assert labels.loc[[*"ef"]].tolist() == ["4", "4"]
    assert labels["g"] == ""
    assert notes[0].startswith("1 documents are in several groups")
    named, notes = alternatives.alternatives_of(graded.drop_duplicates("document"), {})
    assert {*named["q"]} == {*"abc"}
    assert len({*named["q"].values()}) == 1
    assert notes[0].startswith("1 groups of alternatives, 3 documents")


def test_documents_with_one_text_join_the_groups_of_their_copies():
    rows = judgements(("a", 2, "1"), ("b", 1, "1"), ("b-copy", 1, ""), ("c", 1, ""))
    twins = {"b": ["b", "b-copy"], "b-copy": ["b", "b-copy"]}
    named, notes = alternatives.alternatives_of(rows, twins)
    assert {*named["q"]} == {"a", "b", "b-copy"}
    assert (
        "1 groups of alternatives, or of documents with one text, have sev" in notes[1]
    )


def test_what_is_not_relevant_is_no_alternative():
    rows = judgements(("a", 2, "1"), ("b", 0, "1"))
    named, notes = alternatives.alternatives_of(rows, {})
    assert named == {}
    assert notes == ["1 documents of groups have grade 0, and are no alternatives"]


# --- Copies --------------------------------------------------------------------------


@given(
    texts=st.lists(st.sampled_from("xyz"), min_size=4, max_size=9),
    graded=st.dictionaries(
        st.tuples(st.sampled_from(["q", "r"]), st.integers(0, 8)), st.integers(0, 2)
    ),
)
def test_copies_have_the_highest_grade_that_a_query_gave_one_of_them(texts, graded):
    documents = [
        {"id": f"d{n}", "course": "", "question": "", "text": text}
        for n, text in enumerate(texts)
    ]
    pairs = {pair: graded[pair] for pair in graded if pair[1] < len(texts)}
    rows = [(query, f"d{n}", grade) for (query, n), grade in pairs.items()]
    table = pd.DataFrame(rows, columns=["query_id", "document", "grade"])
    shared = joining._of_twins(table, joining.twins_of(documents))
    expected = {}
    for (query, n), grade in pairs.items():
        for other, text in enumerate(texts):
            if text == texts[n] and (query, other) not in pairs:
                before = expected.get((query, f"d{other}"), 0)
                expected[query, f"d{other}"] = max(before, grade)
    pairs_shared = zip(shared["query_id"], shared["document"], strict=True)
    assert dict(zip(pairs_shared, shared["grade"], strict=True)) == expected
    assert len(shared) == len(expected)


def copies(n):
    return [
        {"id": f"d{number}", "course": "", "question": "", "text": "to be written"}
        for number in range(n)
    ]


def test_many_copies_share_one_list_and_questions_on_them_one_dict():
    twins = joining.twins_of(copies(20_000))  # else there were 400 million ids
    assert len({id(ids) for ids in twins.values()}) == 1
    questions = pd.DataFrame({"document": list(twins)})
    questions, _ = alternatives.with_copies(questions, twins)
    assert len({id(names) for names in questions[alternatives.COLUMN]}) == 1


def test_so_many_shared_grades_are_an_error_that_names_a_text(monkeypatch):
    monkeypatch.setattr(joining, "MOST_SHARED", 1_000)
    rows = [(f"q{n}", f"d{n}", 1) for n in range(10)]
    table = pd.DataFrame(rows, columns=["query_id", "document", "grade"])
    with refused() as caught:
        joining._of_twins(table, joining.twins_of(copies(200)))
    assert "200 documents have the text of 'd0', and 10 queries" in str(caught.value)
    assert len(joining._of_twins(table, joining.twins_of(copies(100)))) == 990
