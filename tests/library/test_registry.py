"""The metrics: what each promises, held against other tools and all missing grades."""

from importlib import import_module
from itertools import pairwise, product

import ir_measures
import metrics_table
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import judged, metric, registry
from evaluate_retrieval.measuring.metric import Measure, measures_of

IDS = "abcdefgh"
TOP = 3
# each metric as it usually is, and with other parameters
OTHERS = ["ndcg(gain=exponential)", "rbp(p=0.5)", f"err(max_grade={TOP})"]
ASKED = [*(name for name in metrics_table.names_of_ours() if name != "err"), *OTHERS]
GRADES = st.dictionaries(st.sampled_from(IDS), st.integers(0, TOP))
GAINS = {grade: 2**grade - 1 for grade in range(TOP + 1)}
DEEPEST = 6


def queries_of(qrels):
    return pd.DataFrame({"question": "q", "course": "c", "document": qrels})


def values_of(by, rankings, qrels, k, relevant=None):
    """A metric of each query, an array."""
    options = utils.pad(rankings), k, relevant, by
    return metric.scores_by_query(queries_of(qrels), *options)[by].to_numpy()


# --- What is asked for, and what is said of it --------------------------------


@pytest.mark.parametrize(
    ("text", "by", "label"),
    [
        ("ndcg", "ndcg", "nDCG@7"),
        ("nDCG@7", "ndcg", "nDCG@7"),
        ("nDCG(gain=linear)", "ndcg", "nDCG@7"),
        ("ndcg( gain = Exponential )@7", "ndcg(gain=exponential)", None),
        ("RBP", "rbp", "RBP(p=0.8)@7"),
        ("RBP(p=0.80)@7", "rbp", "RBP(p=0.8)@7"),
        ("rbp(p=0.95)", "rbp(p=0.95)", "RBP(p=0.95)@7"),
        ("ERR(max_grade=3)", "err(max_grade=3)", "ERR(max_grade=3)@7"),
        ("hit rate", "hit_rate", "hit rate@7"),
        ("Hit-Rate", "hit_rate", "hit rate@7"),
        ("AP@7", "average_precision", "MAP@7"),
    ],
)
def test_a_metric_is_asked_for_as_people_write_it(text, by, label):
    measure = measures_of(text, 7)["judged"]
    assert (measure.by, measure.k) == (by, 7)
    assert str(measure) == (label or "nDCG(gain=exponential)@7")
    again = measures_of(str(measure))["judged"]
    assert again == measure  # its label is a way to ask for it
    assert registry.chosen(measure.by).by == measure.by


def test_a_level_is_said_of_metrics_that_count_no_grades():
    labels = {by: str(Measure(by=by, relevant=2)) for by in ASKED}
    for by, label in labels.items():
        assert label.endswith("from grade 2") == ("ndcg" not in by and "err" not in by)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ndgc", "there is hit_rate, mrr, ndcg"),
        ("", "there is hit_rate"),
        ("ndcg@", "there is hit_rate"),
        ("rbp(p=1)", "p has to be above 0 and below 1"),
        ("rbp(p=high)", "p has to be above 0 and below 1"),
        ("rbp(p)", "p has to be above 0 and below 1"),
        ("rbp(q=1)", "RBP has no 'q'; there is p"),
        ("mrr(p=1)", "MRR has no 'p'; there is none"),
        ("ndcg(gain=square)", "gain has to be linear or exponential"),
        ("err(max_grade=nan)", "max_grade has to be a grade above 0"),
    ],
)
def test_what_cannot_be_asked_for_says_what_can(text, problem):
    assert problem in registry.problem_with(text)
    with refused(option="--metric"):
        measures_of(text or " ")


def test_what_is_no_text_is_no_metric():
    assert registry.problem_with(5).startswith("5 is no text: there is hit_rate")


def test_two_numbers_of_results_are_an_error():
    assert measures_of("rbp@20", 20)["judged"].k == 20
    with refused(option="--metric"):
        measures_of("rbp@20", 10)
    with refused(option="k"):
        measures_of("rbp@0")


def test_each_metric_says_what_a_reader_gains():
    for by in ASKED:
        words = Measure(by=by, k=12).means
        assert "{" not in words
        assert "12" in words or by == "hit_rate"
    gains = [Measure(by=by).means for by in ("ndcg", "ndcg(gain=exponential)")]
    assert "linear" in gains[0]
    assert "2^grade − 1" in gains[1]
    assert "linear" not in gains[1]


def test_the_page_has_the_metrics_that_there_are():
    page = metrics_table.METRICS_PAGE.read_text("utf-8")
    [table] = [each[0] for each in metrics_table.ROWS.finditer(page)]
    assert table == metrics_table.table_of(metrics_table.names_of_ours())


# --- Figures ------------------------------------------------------------------


def by_loop(by, ranking, qrel, k):
    """Metrics that ir_measures cannot compute here, by their definitions."""
    grades = [qrel.get(id_, 0) for id_ in ranking[:k]]
    value = 0.0
    reads_on = 1.0
    for rank, grade in enumerate(grades, 1):
        if by.startswith("rbp"):  # the reader looks at each rank with its chance
            p = 0.5 if "0.5" in by else 0.8
            value += (1 - p) * reads_on * (grade > 0)
            reads_on *= p
        else:
            stops = (2**grade - 1) / 2**TOP
            value += reads_on * stops / rank
            reads_on *= 1 - stops
    return value


def by_ir_measures(by, rankings, qrels, k):
    """A metric as ir_measures has it, of each query."""
    entry = registry.chosen(by).metric
    peer = getattr(ir_measures, entry.also)
    peer = peer(gains=GAINS) if "exponential" in by else peer
    run = {
        str(query): {id_: -float(rank) for rank, id_ in enumerate(row)}
        for query, row in enumerate(rankings)
    }
    known = {str(query): qrel or {"none": 0} for query, qrel in enumerate(qrels)}
    values = np.zeros(len(rankings))
    for each in ir_measures.iter_calc([peer @ k], known, run):
        values[int(each.query_id)] = each.value
    return values


@settings(deadline=None)
@given(
    cases=st.lists(st.tuples(st.permutations(IDS), GRADES), min_size=1, max_size=4),
    k=st.integers(1, 9),
)
def test_each_metric_is_that_of_ir_measures_or_of_its_definition(cases, k):
    rankings, qrels = zip(*cases, strict=True)
    for by in ASKED:
        values = values_of(by, rankings, qrels, k)
        if by.startswith(("rbp", "err")):
            expected = [by_loop(by, *case, k) for case in cases]
        else:
            expected = by_ir_measures(by, rankings, qrels, k)
        np.testing.assert_allclose(values, expected, atol=1e-9, err_msg=by)


def test_err_is_that_of_gdeval_where_the_scale_ends_at_4():
    gdeval = ir_measures.providers.registry["gdeval"]
    if not gdeval.is_available():
        pytest.skip("gdeval needs perl")
    rng = np.random.default_rng(3)
    rankings = [list(rng.permutation(list(IDS))) for _ in range(5)]
    qrels = [{id_: int(rng.integers(0, 5)) for id_ in IDS} for _ in rankings]
    run = {
        f"{query + 1}": {id_: -float(rank) for rank, id_ in enumerate(row)}
        for query, row in enumerate(rankings)
    }
    known = {f"{query + 1}": qrel for query, qrel in enumerate(qrels)}
    values = {
        int(each.query_id) - 1: each.value
        for each in gdeval.iter_calc([ir_measures.ERR @ 5], known, run)
    }
    ours = values_of("err(max_grade=4)", rankings, qrels, 5)
    assert [values[n] for n in range(5)] == pytest.approx(ours, abs=1e-5)


def test_err_of_the_library_is_that_of_lessons_and_refuses_a_higher_grade():
    lists = [list("abc"), list("cba")]
    qrels = [{"a": 2, "c": 1}, {"a": 2}]
    grades = utils.relevance(lists, qrels)
    ours = values_of("err(max_grade=3)", lists, qrels, 3)
    assert ours.tolist() == utils.err(grades, 3, per_query=True).tolist()
    with pytest.raises(ValueError, match="a grade of 2 is above max_grade 1"):
        values_of("err", lists, qrels, 3)
    assert "ERR(max_grade=2)" in registry.chosen("err").problem(2)
    assert registry.chosen("err").problem(1) == ""


@settings(deadline=None)
@given(ranking=st.permutations(IDS), qrel=GRADES, k=st.integers(1, 9))
def test_each_metric_is_a_share_and_no_worse_for_a_better_document_higher_up(
    ranking, qrel, k
):
    better = list(ranking)
    for place, (above, below) in enumerate(pairwise(ranking)):
        if qrel.get(below, 0) > qrel.get(above, 0):
            better[place], better[place + 1] = below, above
            break
    best = sorted(qrel, key=qrel.get, reverse=True)
    rankings = [list(ranking), better, [*best, *(set(IDS) - set(best))]]
    for by in ASKED:
        value, higher, highest = values_of(by, rankings, [qrel] * 3, k)
        assert 0 <= value <= higher + 1e-12 <= highest + 2e-12 <= 1 + 3e-12, by
        entry = registry.chosen(by).metric
        if not entry.sees_order:
            again = [list(ranking[:k][::-1])]
            assert values_of(by, again, [qrel], k)[0] == pytest.approx(value)
        top = metric.highest(queries_of([qrel]), Measure(by=by, k=k))
        assert top == pytest.approx(highest), by


def test_some_ranking_shows_whether_a_metric_sees_the_order():
    both = [list("ab"), list("ba")]
    for by in ASKED:
        first, other = values_of(by, both, [{"a": 1}] * 2, 2)
        assert (first != other) == registry.chosen(by).metric.sees_order, by


def test_empty_lists_and_no_relevant_document_are_zero():
    for by in ASKED:
        assert values_of(by, [[], ["a"]], [{"a": 1}, {"b": 0}], 3).tolist() == [0, 0]


# --- The worst that missing grades can do --------------------------------------


def least_of_all(by, lists, qrel, measure, highest):
    """The least gain over all grades of the shown documents that have none."""
    unknown = sorted(set(lists[0][: measure.k] + lists[1][: measure.k]) - qrel.keys())
    trials = [
        qrel | dict(zip(unknown, grades, strict=True))
        for grades in product(range(highest + 1), repeat=len(unknown))
    ]
    first, other = (
        values_of(by, [ids] * len(trials), trials, measure.k, measure.relevant)
        for ids in lists
    )
    return (first - other).min()


@pytest.mark.parametrize("by", ASKED)
@settings(deadline=None, max_examples=30)
@given(
    lists=st.lists(st.permutations(IDS).map(list), min_size=2, max_size=2),
    qrel=st.dictionaries(st.sampled_from(IDS), st.integers(0, TOP), min_size=4),
    k=st.integers(1, DEEPEST),
    relevant=st.sampled_from([None, 2]),
)
def test_no_grades_are_worse_than_the_worst(lists, qrel, k, relevant, by):
    """All grades are tried, 0 to the highest. So few documents are always exact."""
    measure = Measure(by=by, k=k, relevant=relevant)
    highest = max(*qrel.values(), relevant or 0) or 1
    if by.startswith("err"):
        highest = TOP
    first, other = (utils.pad([ids], k) for ids in lists)
    least = judged.worst_gains(queries_of([qrel]), first, other, measure)[0]
    expected = least_of_all(by, lists, qrel, measure, highest)
    assert least == pytest.approx(expected, abs=1e-9)


WORSE = {  # than with 0 and the highest grade alone, or by what each adds to a DCG
    "ndcg": (["efg", "beh"], {"b": 3, "c": 1, "d": 1}, "efg", -0.847),
    "recall": (["efgiy", "yefzg"], {"a": 1}, "efgi", -1 / 2),
    "hit_rate": (["efgiy", "yefzg"], {}, "efgi", -1),
    "mrr": (["efgiy", "yefzg"], {}, "efgi", -4 / 5),
}


@pytest.mark.parametrize("by", WORSE)
def test_a_grade_in_between_or_one_document_alone_may_be_the_worst(by):
    lists, relevant, irrelevant, expected = WORSE[by]
    qrel = relevant | dict.fromkeys(irrelevant, 0)
    first, other = (utils.pad([list(ids)]) for ids in lists)
    measure = Measure(by=by, k=first.shape[1])
    least = judged.worst_gains(queries_of([qrel]), first, other, measure)
    assert least == pytest.approx([expected], abs=1e-3)
    highest = max(qrel.values()) or 1
    pair = [list(ids) for ids in lists]
    assert least[0] == pytest.approx(least_of_all(by, pair, qrel, measure, highest))


MORE = {"average_precision": "MOST_TRIED", "err": "MOST_IN_BOTH"}


@settings(deadline=None, max_examples=40)
@given(
    lists=st.lists(st.permutations(IDS).map(list), min_size=2, max_size=2),
    qrel=st.dictionaries(st.sampled_from(IDS), st.integers(0, TOP), min_size=3),
    k=st.integers(2, DEEPEST),
    by=st.sampled_from(["average_precision", f"err(max_grade={TOP})"]),
)
def test_a_cautious_bound_is_never_too_high(lists, qrel, k, by):
    """As where more documents are unknown than are tried together: here none are."""
    name = by.partition("(")[0]
    module = import_module(f"evaluate_retrieval.measuring.metrics.{name}")
    measure = Measure(by=by, k=k)
    highest = TOP if name == "err" else 1
    first, other = (utils.pad([ids], k) for ids in lists)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, MORE[name], 0)
        least = judged.worst_gains(queries_of([qrel]), first, other, measure)[0]
    assert least <= least_of_all(by, lists, qrel, measure, highest) + 1e-9
    assert least >= -1 - 1e-9


def test_of_a_metric_whose_worst_nobody_knows_all_may_be_lost(monkeypatch):
    entry = registry.Entry("top", "of {}", lambda relevance, judged: relevance[:, 0])
    monkeypatch.setitem(registry.metrics(), "top_one", entry)
    measure = Measure(by="top_one", k=2)
    lists = [["a", "x"], ["a", "b"], ["x", "b"]]
    others = [["b", "a"], ["b", "a"], ["x", "b"]]
    qrels = [{"a": 1, "b": 0}] * 3
    least = judged.worst_gains(
        queries_of(qrels), utils.pad(lists), utils.pad(others), measure
    )
    assert least.tolist() == [-1, 1, 0]  # unjudged, judged, the same lists
    assert "No bound of top is known" in measure.bound
    registry.chosen.cache_clear()


def test_an_exact_bound_needs_no_words():
    for by in ASKED:
        entry = registry.chosen(by).metric
        words = Measure(by=by).bound
        assert bool(words) == (entry.bound != registry.EXACT)
        assert entry.worst is not None
        assert not words or entry.label in words


def test_alternatives_are_one_document_in_each_metric():
    qrel = {"a": 2, "b": 2, "c": 1}
    one = queries_of([{"a": 2, "c": 1}])
    both = queries_of([qrel]).assign(alternatives=[{"a": "a", "b": "a"}])
    for by in ASKED:
        values = [
            metric.scores_by_query(queries, [ids], 3, by=by)[by].item()
            for queries, ids in [(both, ["b", "a", "c"]), (one, ["a", "", "c"])]
        ]
        assert values[0] == pytest.approx(values[1]), by
        measure = Measure(by=by, k=3)
        least = [
            judged.worst_gains(queries, utils.pad([ids]), utils.pad([last]), measure)
            for queries, ids, last in [
                (both, ["b", "a", "x"], ["x", "c", "a"]),
                (one, ["a", "", "x"], ["x", "c", "a"]),
            ]
        ]
        assert least[0] == pytest.approx(least[1]), by


@pytest.mark.parametrize("by", ASKED)
def test_without_unjudged_results_a_metric_is_computed_again(by):
    table = metric.two_estimates(
        queries_of([{"a": 1, "b": 0}]), np.array([["x", "b", "a"]]), 2, by
    )
    expected = values_of(by, [["b", "a"]], [{"a": 1, "b": 0}], 2)
    assert table["condensed"].tolist() == expected.tolist()
