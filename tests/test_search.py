"""Test searches, sums of scores, bad input and boards.

Our minsearch is tested against its own search, and top k against a sort."""

import warnings
from functools import partial

import bm25s
import numpy as np
import pandas as pd
import pytest
import Stemmer
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from minsearch import Index
from scipy import stats
from sklearn.metrics.pairwise import cosine_similarity

import corpus
import experiments
import intervals
import transfer
import utils

FIELDS = ["question", "text", "section"]
CELLS = st.sampled_from([-np.inf, -1.0, 0.0, 0.25, 0.5, 1e-300, 7.0])
SCORES = arrays(float, st.tuples(st.integers(0, 4), st.integers(0, 12)), elements=CELLS)
BOOST = {"question": 3.0, "section": 0.5}
BOOSTS = [None, BOOST, {"question": 0.44, "section": 0}, {"question": 0, "text": 0}]
DOCUMENTS, TRUTH = corpus.load_documents(), corpus.load_ground_truth()
QUERIES, INDEX = TRUTH[::6], Index(FIELDS, ["course"]).fit(DOCUMENTS)  # of all courses


def fit(documents, fields=FIELDS, **options):
    return Index(fields, ["course"], **options).fit(documents)


def document(id_, question="", text="", section="", course="c"):
    return {
        "id": id_,
        "question": question,
        "text": text,
        "section": section,
        "course": course,
    }


def ask(*questions, course="c", **columns):
    return pd.DataFrame({"question": questions, "course": course, **columns})


THREE = ask("one", "two", "three", document=["a", "b", "c"])
JUDGED = ask("one", "two", document=[{"a": 2, "b": 1}, {"c": 1, "d": 0}])
LOG3 = np.log2(3)


def assert_equals_minsearch(index, queries, boost=None, k=5):
    """Assert that our search ranks as minsearch's own does, but for ties.

    Ties come in document order."""
    boost, scores, courses = boost or {}, 0, np.array([d["course"] for d in index.docs])
    for field in index.text_fields:
        asked = index.vectorizers[field].transform(queries["question"])
        scores = scores + boost.get(field, 1) * cosine_similarity(
            asked, index.text_matrices[field]
        )
    scores = scores * (queries["course"].to_numpy()[:, None] == courses)
    position = {d["id"]: i for i, d in enumerate(index.docs)}
    rankings = utils.minsearch_search(index, boost, k)(queries)
    columns = queries["question"], queries["course"], scores, rankings
    for question, course, row, ranking in zip(*columns, strict=True):
        found = index.search(question, {"course": course}, boost, k, output_ids=True)
        ours, theirs = (
            [position[id_] for id_ in ranking if id_],
            [d["_id"] for d in found],
        )
        np.testing.assert_allclose(row[ours], row[theirs], rtol=0, atol=1e-12)
        assert ours == np.argsort(-row.round(12), kind="stable")[: len(ours)].tolist()
        assert ranking[len(ours) :].tolist() == [""] * (k - len(ours))


@pytest.mark.parametrize("boost", BOOSTS)
def test_minsearch_in_batches_equals_its_own_search(boost):
    assert_equals_minsearch(INDEX, QUERIES, boost)


def test_minsearch_without_courses_with_bigrams_and_with_ties_equals_its_own_search():
    everything = fit(
        [{**d, "course": "all", "whole": corpus.whole_text(d)} for d in DOCUMENTS]
    )
    assert_equals_minsearch(
        everything, QUERIES.assign(course="all"), {"section": 0.5}, k=10
    )
    options = {"sublinear_tf": True, "ngram_range": (1, 2)}
    bigrams = fit(everything.docs, ["whole"], vectorizer_params=options)
    assert_equals_minsearch(bigrams, QUERIES[::4].assign(course="all"))
    copies = [{**d, "id": f"{d['id']}-{i}"} for i in range(7) for d in DOCUMENTS[::20]]
    assert_equals_minsearch(fit(copies), QUERIES[::3], BOOST, 10)


def test_what_matches_nothing_is_padding_and_a_field_without_any_word_does_not_count():
    everywhere = ask("How do I submit the homework?", course="data-engineering")
    assert (utils.minsearch_search(INDEX)(everywhere) != "").all()
    assert (
        utils.minsearch_search(INDEX, dict.fromkeys(FIELDS, 0))(everywhere) == ""
    ).all()
    assert (
        utils.minsearch_search(INDEX)(everywhere.assign(course="pottery")) == ""
    ).all()
    assert not list(utils.blocks_of(everywhere.assign(course="pottery"), DOCUMENTS))
    assert (
        utils.minsearch_search(INDEX)(everywhere.assign(question="xyzzy plugh")) == ""
    ).all()
    three = fit(
        [document("a", "late refund"), document("b", "refund"), document("c", "other")]
    )
    for boost in None, {"section": 5}:
        assert_equals_minsearch(
            three, ask("refund", "nothing", "late other"), boost, k=4
        )


def test_tuning_boosts_computes_similarities_once_and_equals_a_search_for_each(
    monkeypatch,
):
    expected = experiments.tune(
        lambda b: utils.minsearch_search(INDEX, b, 7), BOOSTS, QUERIES, 7, "ndcg"
    )
    calls, similarities = [], utils.field_similarities
    monkeypatch.setattr(
        utils, "field_similarities", lambda *a: calls.append(a) or similarities(*a)
    )
    tuned = experiments.tune_boosts(INDEX, BOOSTS, QUERIES, 7, "ndcg")
    pd.testing.assert_frame_equal(tuned, expected)
    assert len(calls) == 1


@example(scores=np.full((2, 3), -np.inf), k=2)
@example(scores=np.zeros((1, 5)), k=2)
@given(scores=SCORES, k=st.integers(1, 15))
def test_top_k_equals_a_stable_sort(scores, k):
    orders = [
        [i for i in np.argsort(-row, kind="stable") if row[i] > -np.inf]
        for row in scores
    ]
    expected = [[*order, *[-1] * k][:k] for order in orders]
    np.testing.assert_array_equal(
        utils.top_k(scores, k), np.reshape(expected, (len(scores), k))
    )


def test_one_by_one_lifts_a_plain_function_and_pad_fills_and_cuts():
    found = {"refund": ["a", "b"], "paper": ["c"], "nothing": []}
    search = utils.one_by_one(lambda q, c: [{"id": f"{c}-{id_}"} for id_ in found[q]])
    assert search(ask(*found, course=[*"xyx"])).tolist() == [
        ["x-a", "x-b"],
        ["y-c", ""],
        ["", ""],
    ]
    assert utils.pad([["a", "b"], []], 1).tolist() == [["a"], [""]]
    assert utils.pad([["a"]], 3).tolist() == [["a", "", ""]]
    assert utils.pad([[], []]).shape == (2, 0)
    assert utils.pad([], 4).shape == (0, 4)


def fixed(*rankings):
    """A search function that always returns these rankings."""
    return lambda queries: utils.pad([list(ranking) for ranking in rankings])


def test_evaluate_gives_three_metrics_warns_of_narrow_rankings_and_counts_grades():
    search = fixed("axy", "xyb", "xyz")
    figures = utils.evaluate(THREE, search, k=3)
    assert figures == pytest.approx({"hit_rate": 2 / 3, "mrr": 4 / 9, "ndcg": 1.5 / 3})
    assert utils.evaluate(THREE, search, k=np.int64(2))["hit_rate"] == pytest.approx(
        1 / 3
    )
    assert utils.evaluate(THREE.set_index(pd.Index([9, 9, 4])), search, k=3) == figures
    assert utils.evaluate(THREE.to_dict("records"), search, k=3) == figures
    with pytest.warns(UserWarning, match="search returned 2 documents, not 5"):
        figures = utils.evaluate(THREE, fixed("ax", "bx", "xy"))
    assert figures["hit_rate"] == pytest.approx(2 / 3)
    # one query found fewer: there are no more
    with warnings.catch_warnings(action="error"):
        utils.evaluate(THREE, fixed("ax", "b", "xy"))
    ndcg = ((1 + 2 / LOG3) / (2 + 1 / LOG3) + 1 / LOG3) / 2
    figures = utils.evaluate(JUDGED, fixed("ba", "dc"), k=2)
    assert figures == pytest.approx({"hit_rate": 1, "mrr": 0.75, "ndcg": ndcg})


def test_a_wrong_k_or_boost_and_nothing_to_evaluate_are_errors():
    for k in 0, -1, 2.5, True, "5", None:
        for f in (
            partial(utils.minsearch_search, INDEX),
            partial(utils.evaluate, THREE, fixed()),
        ):
            with pytest.raises(
                ValueError, match=f"k must be a whole number from 1, not {k!r}"
            ):
                f(k=k)
    with pytest.raises(ValueError, match="boost: title not among"):
        utils.minsearch_search(INDEX, {"title": 2})
    with pytest.raises(ValueError, match="ground truth: no rows"):
        utils.evaluate(THREE[:0], fixed())
    for compare in (
        experiments.compare,
        experiments.leaderboard,
        partial(experiments.tune, fixed),
    ):
        with pytest.raises(ValueError, match=r"no search .*is given"):
            compare({}, THREE)


@pytest.mark.parametrize("column", ["question", "course", "document"])
def test_a_missing_column_or_an_empty_cell_is_an_error_that_names_it(column):
    for function in (
        utils.evaluate,
        lambda rows, search: experiments.leaderboard({"it": [["a"]] * 3}, rows),
    ):
        with pytest.raises(ValueError, match=f"ground truth: no column {column}"):
            function(THREE.drop(columns=column), fixed("a", "b", "c"))
    for empty in np.nan, None, "", "  ":
        spoiled = THREE.astype(object).set_index(pd.Index([7, 8, 9]))
        spoiled.loc[8, column] = empty
        with pytest.raises(
            ValueError, match=f"row 1, column {column}: .* is empty or NaN; 1 such"
        ):
            utils.evaluate(spoiled, fixed("a", "b", "c"))


def test_cross_fitting_ranks_each_query_by_what_is_best_on_the_other_folds(capsys):
    queries = ask(*map(str, range(60)), document="a").assign(fold=np.arange(60) % 3)
    right = {"low": range(0, 30), "high": range(25, 60), "own fold": range(0, 60, 3)}
    asked = []

    def build(setting):
        def search(some, k=2):
            asked.append(setting)
            rows = some["question"].astype(int).isin(right[setting])
            return utils.pad(
                [["a", setting] if row else ["x", setting] for row in rows]
            )

        return search

    rankings, by_fold, best = experiments.cross_fit(
        build, right, queries, queries, 2, "hit_rate"
    )
    assert (best, by_fold.tolist()) == ("high", ["high"] * 3)
    # each once, and the best once more
    assert asked == ["low", "high", "own fold", "high"]
    assert utils.score(queries, rankings)["hit_rate"].mean() == 35 / 60
    # what is best on the fold itself must not be chosen for it
    right |= {"own fold": range(0, 60, 3), "low": [], "high": []}
    _, by_fold, _ = experiments.cross_fit(build, right, queries, queries, 2, "hit_rate")
    assert by_fold.to_dict() == {0: "low", 1: "own fold", 2: "own fold"}
    halves = queries.assign(fold=0), queries[:9].assign(fold=1)
    right["high"] = range(60)
    rankings, by_fold, _ = experiments.cross_fit(build, right, *halves, 2, depth=2)
    assert (rankings[:, 1].tolist(), by_fold.to_dict()) == (["high"] * 9, {1: "high"})
    few = queries[:49]
    rankings, by_fold, best = experiments.cross_fit(build, right, few, few, 2)
    assert (best, set(by_fold)) == ("low", {"low"})
    assert (
        "49 queries are too few to tune on: the first setting"
        in capsys.readouterr().out
    )
    with pytest.raises(ValueError, match="no setting is given"):
        experiments.cross_fit(build, [], queries, queries)


def test_scores_of_several_blocks_of_a_course_are_all_ranked(monkeypatch):
    """A large corpus is scored some queries at a time."""
    largest = max(
        len([d for d in DOCUMENTS if d["course"] == c]) for c in set(QUERIES["course"])
    )
    monkeypatch.setattr(utils, "BLOCK", 3 * largest)
    blocks = list(utils.blocks_of(QUERIES, DOCUMENTS))
    assert len(blocks) > 50
    assert sorted(row for rows, _ in blocks for row in rows) == list(
        range(len(QUERIES))
    )
    assert_equals_minsearch(INDEX, QUERIES[:40])


def test_a_nan_score_is_an_error_that_names_query_and_document():
    scores = part(([0], [0, 1], [[0.5, np.nan]]))
    search = utils.search_by_scores(scores, [document("a"), document("b")])
    with pytest.raises(ValueError, match="score of document 'b' for 'why' is NaN"):
        search(ask("why"))


def test_no_queries_give_no_rankings_and_another_k_can_be_asked_for():
    search = utils.minsearch_search(INDEX, k=3)
    assert search(QUERIES[:0]).shape == (0, 3)
    assert search(QUERIES[:4], k=7).shape == (4, 7)
    with pytest.raises(ValueError, match="queries: no rows"):
        utils.run_search(QUERIES[:0], search)


def test_refusal_at_the_same_price_for_answerable_queries():
    scores = part(([1, 0], [0, 2], [[0.2, 0.7], [0.1, 0.3]]))
    best = experiments.best_scores(scores, ask("x", "y", "z"))
    assert best.tolist() == [0.3, 0.7, -np.inf]
    answerable = np.arange(100) / 100  # the lowest five of a hundred are refused
    assert experiments.refused(answerable, [0.01, 0.04, 0.5, -np.inf]) == 0.75
    assert experiments.refused(answerable, [0.1, 0.4], share=0.2) == 0.5


def test_unjudged_results_are_bracketed_by_raw_and_condensed_lists():
    """b and c answer the query, and x and y were never judged.

    So the truth lies between the two figures."""
    queries = ask("q", document=[{"b": 2, "c": 1, "n": 0}])
    found = np.array([["x", "b", "y", "n", "c"]], dtype=object)
    assert experiments.condensed(found, queries["document"]).tolist() == [
        ["b", "n", "c", "", ""]
    ]
    ideal = 2 + 1 / LOG3
    both = experiments.bracket(queries, found, k=3).loc[0]
    assert both["ndcg"] == pytest.approx(2 / LOG3 / ideal)
    # refilled from below
    assert both["condensed"] == pytest.approx((2 + 1 / 2) / ideal)
    assert both["judged_at_k"] == pytest.approx(1 / 3)


def part(*blocks):
    """A score function that always yields these blocks."""
    return lambda queries: (tuple(map(np.array, block)) for block in blocks)


def test_weighted_sum_adds_standardised_scores_of_equal_blocks_with_a_weight_each():
    rows, root = np.array([[1.0, 2, 3], [5, 5, 5], [0.1, 0.1, 0.1]]), np.sqrt(1.5)
    expected = [[-root, 0, root], [0] * 3, [0] * 3]
    np.testing.assert_allclose(utils.standardise(rows), expected, atol=1e-15)
    assert utils.standardise(np.array([[4.0]])).tolist() == [[0.0]]
    a = part(([0], [0, 1, 2], [[1.0, 2, 3]]), ([1], [3, 4], [[10.0, 30]]))
    b = part(([0], [0, 1, 2], [[8.0, 2, 2]]), ([1], [3, 4], [[7.0, 7]]))
    (rows, columns, first), (_, _, second) = utils.weighted_sum([a, b], [2, 0.5])(None)
    assert (rows.tolist(), columns.tolist()) == ([0], [0, 1, 2])
    ends, root = 2 * root, np.sqrt(2)
    np.testing.assert_allclose(first, [[root / 2 - ends, -root / 4, ends - root / 4]])
    np.testing.assert_allclose(second, [[-2, 2]])
    one = part(([0], [0, 1], [[1.0, 2]]))
    unlike = part(([0], [0, 2], [[1.0, 2]])), part(([1], [0, 1], [[1.0, 2]]))
    bad = [(other, [1, 1], "other queries or documents") for other in unlike]
    bad += [
        (one, [1], "zip"),
        (one, [1, 1, 1], "zip"),
        (part(*[*one(None)] * 2), [1, 1], "zip"),
    ]
    for other, weights, message in bad:
        with pytest.raises(ValueError, match=message):
            list(utils.weighted_sum([one, other], weights)(None))


def test_rrf_scores_sum_reciprocal_ranks_of_the_first_scores_above_zero():
    text = part(([0], [0, 1, 2], [[0.0, 3, 1]]))
    vectors = part(([0], [0, 1, 2], [[0.9, 0.2, 0.1]]))
    [(_, columns, total)] = utils.rrf_scores([text, vectors], 1)(None)
    assert columns.tolist() == [0, 1, 2]
    # the first document has no word of the query, so that only vectors rank it
    np.testing.assert_allclose(total, [[1 / 2, 1 / 2 + 1 / 3, 1 / 3 + 1 / 4]])
    [(_, _, first_only)] = utils.rrf_scores([text, vectors], 60, depth=1)(None)
    np.testing.assert_allclose(first_only, [[1 / 61, 1 / 61, 0]])
    other = part(([0], [0, 1, 3], [[1.0, 2, 3]]))
    with pytest.raises(ValueError, match="other queries or documents"):
        list(utils.rrf_scores([text, other], 1)(None))


def test_vector_scores_rank_by_cosine_within_the_course(monkeypatch):
    axes = {
        "north": [0.0, 1],
        "east": [1.0, 0],
        "north-east": [0.6, 0.8],
        "beyond": [1.0, 0, 0],
    }
    monkeypatch.setattr(
        utils, "embed", lambda texts, *_: np.array([axes[t] for t in texts], "f")
    )
    documents = [
        document("e"),
        document("n"),
        document("ne"),
        document("other", course="d"),
    ]
    vectors = utils.embed(["east", "north", "north-east", "north"], None)
    search = utils.search_by_scores(
        utils.vector_scores(vectors, documents), documents, k=3
    )
    assert search(ask("north", "east")).tolist() == [["n", "ne", "e"], ["e", "ne", "n"]]
    for question, some in ("beyond", documents), ("north", documents[:1]):
        with pytest.raises(ValueError, match=r"shape \(4, 2\) .*another model"):
            list(utils.vector_scores(vectors, some)(ask(question)))


def test_rankings_that_are_too_short_are_scored_at_k_and_not_at_their_length():
    short = utils.pad([["a"], ["c"]])
    full = utils.pad([["a", "x", "y"], ["c", "x", "y"]])
    pd.testing.assert_frame_equal(
        utils.score(JUDGED, short, 3), utils.score(JUDGED, full, 3)
    )
    board = experiments.leaderboard({"it": short}, JUDGED, 3, "ndcg")
    assert board["ndcg"].item() == pytest.approx(
        utils.score(JUDGED, full, 3)["ndcg"].mean()
    )


def found_by(searches, queries, k=2):
    return experiments.timed_rankings(searches, queries, k)


def test_leaderboards_of_plain_and_of_judged_queries_by_hand():
    searches = {"poor": fixed("xa", "xb", "xy"), "good": fixed("ax", "bx", "xc")}
    rankings, ms = found_by(searches, THREE)
    assert (ms > 0).all()
    board = experiments.leaderboard(rankings, THREE, k=2)
    assert (board.index.name, *board.index) == ("search", "good", "poor")
    expected = [[1, 5 / 6, (2 + 1 / LOG3) / 3], [2 / 3, 1 / 3, 2 / LOG3 / 3]]
    np.testing.assert_allclose(board[["hit_rate", "mrr", "ndcg"]], expected)
    half = stats.t.ppf(0.975, 2) * stats.sem([1, 1, 0.5])
    assert board.loc["good", ["low", "high"]].tolist() == pytest.approx(
        [5 / 6 - half, 5 / 6 + half]
    )
    assert board["p_best"].tolist() == pytest.approx([1, 2 / 2**3])
    assert board[["condensed", "judged_at_k"]].isna().all(axis=None)
    searches = {
        "mrr": fixed("ax", ["d", ""]),
        "ndcg": fixed("ab", "dc"),
        "none": fixed("xy", "xy"),
    }
    board = experiments.leaderboard(
        found_by(searches, JUDGED)[0], JUDGED, k=2, by="ndcg"
    )
    assert board.index.tolist() == ["ndcg", "mrr", "none"]
    assert board["judged_at_k"].tolist() == pytest.approx([1, 3 / 4, 0])
    assert board["ndcg"].tolist() == pytest.approx(
        [(1 + 1 / LOG3) / 2, 1 / (2 + 1 / LOG3), 0]
    )
    assert board["p_best"].tolist() == pytest.approx([1, 1, 1])  # 0.5, twice, by Holm


def test_a_leaderboard_resamples_groups_and_corrects_its_p_values():
    """Thirty copies of one document's question are one observation and not thirty."""
    n, rng = 600, np.random.default_rng(1)
    documents = [f"d{i // 5}" for i in range(n)]
    queries = ask(*map(str, range(n)), document=documents)
    hard = np.repeat(rng.random(n // 5) < 0.5, 5)
    rows = [["x" if h else id_] for h, id_ in zip(hard, documents, strict=True)]
    board = experiments.leaderboard({"it": utils.pad(rows)}, queries, k=1)
    low, high = intervals.confidence_interval(~hard, documents)
    assert board.loc["it", ["low", "high"]].tolist() == pytest.approx([low, high])
    alone = intervals.confidence_interval(~hard, range(n))
    assert high - low > 1.8 * (alone[1] - alone[0])
    needs = queries.assign(need=documents, document=[{id_: 1} for id_ in documents])
    board = experiments.leaderboard({"it": utils.pad(rows)}, needs, k=1)
    assert board.loc["it", ["low", "high"]].tolist() == pytest.approx([low, high])
    others = {
        f"s{i}": utils.pad([[d if rng.random() < 0.5 else "x"] for d in documents])
        for i in range(3)
    }
    board = experiments.leaderboard(others, queries, k=1)
    best, *rest = board.index
    reached = {
        name: utils.score(queries, others[name], 1)["mrr"] for name in board.index
    }
    p = [
        intervals.permutation_p_value(reached[name], reached[best], documents)
        for name in rest
    ]
    assert board["p_best"].iloc[1:].tolist() == pytest.approx(
        intervals.holm(pd.Series(p)).tolist()
    )


def test_bm25_ranks_as_bm25s_does_on_the_documents_of_a_course():
    some = [
        document for document in DOCUMENTS if document["course"] == "machine-learning"
    ]
    asked = TRUTH[TRUTH["course"] == "machine-learning"].head(200)
    words = partial(
        bm25s.tokenize, stemmer=Stemmer.Stemmer("english"), show_progress=False
    )
    plain = bm25s.BM25(k1=0.9, b=0.4)
    plain.index(words(list(map(corpus.whole_text, some))), show_progress=False)
    places, expected = plain.retrieve(
        words(asked["question"].tolist()), k=5, show_progress=False
    )
    scores = utils.bm25_scores(some, k1=0.9, b=0.4)
    found = utils.search_by_scores(scores, some, k=5, above=0)(asked)
    ids = np.array([document["id"] for document in some])
    assert (ids[places] == found).mean() > 0.99  # but for ties
    ((_, _, block),) = scores(asked)
    assert np.allclose(-np.sort(-block, axis=1)[:, :5], expected, rtol=1e-5)


def test_bm25_stems_in_the_language_asked_for_and_stays_within_the_course(monkeypatch):
    texts = {
        "a": "the containers were running",
        "b": "los contenedores corrían",
        "c": "nothing",
    }
    documents = [
        {"id": id_, "question": "", "text": text, "section": "", "course": "x"}
        for id_, text in texts.items()
    ]
    documents.append({**documents[0], "id": "d", "course": "y"})

    def first(question, **options):
        search = utils.search_by_scores(
            utils.bm25_scores(documents, **options), documents, above=0
        )
        return search(pd.DataFrame({"question": [question], "course": ["x"]}))[
            0
        ].tolist()

    assert first("container runs") == ["a", "", "", "", ""]
    assert first("container runs", stem=False) == ["", "", "", "", ""]
    assert first("the") == ["", "", "", "", ""]  # a stop word
    monkeypatch.setenv("COURSE_LANGUAGE", "spanish")
    assert first("contenedor corriendo")[0] == "b"
    monkeypatch.setenv("COURSE_LANGUAGE", "klingon")
    with pytest.raises(
        ValueError, match="COURSE_LANGUAGE: no stemmer for 'klingon'; there is"
    ):
        first("container")


def test_bm25_takes_documents_without_words_and_counts_a_heading_as_often_as_asked():
    empty = [{"id": "a", "question": "", "text": "", "section": "", "course": "x"}]
    asked = pd.DataFrame({"question": ["word", ""], "course": ["x", "x"]})
    search = utils.search_by_scores(utils.bm25_scores(empty), empty, k=1, above=0)
    assert search(asked).tolist() == [[""], [""]]
    in_heading = {
        "id": "a",
        "question": "kiwi",
        "text": "plum",
        "section": "",
        "course": "x",
    }
    documents = [
        in_heading,
        {**in_heading, "id": "b", "question": "plum", "text": "kiwi"},
    ]
    for heading, expected in (1, [1, 1]), (3, [1, 0]):
        ((_, _, block),) = utils.bm25_scores(documents, heading=heading)(
            asked.replace("word", "kiwi")[:1]
        )
        assert (block[0] >= block[0, 0]).astype(int).tolist() == expected


def test_every_right_answer_of_a_question_counts():
    truth = pd.DataFrame(
        {"question": ["q", "r"], "course": "x", "document": ["a", "b"]}
    )
    rankings = [["c", "a"], ["c", "b"]]
    assert corpus.right_answers(truth) == ["a", "b"]
    assert utils.score(truth, rankings)["mrr"].tolist() == [0.5, 0.5]
    several = truth.assign(also=["c d", ""])
    assert corpus.right_answers(several) == [{"a", "c", "d"}, "b"]
    assert utils.score(several, rankings)["mrr"].tolist() == [1, 0.5]
    # still grouped by the document
    assert intervals.groups_of(several).tolist() == ["a", "b"]


def test_each_of_the_ten_searches_finds_the_record_that_is_asked_for():
    documents = corpus.load_documents(corpus.ROOT / "data")[:60]
    asked = pd.DataFrame(documents).assign(question=[d["text"] for d in documents])
    ten = transfer.ten_searches(documents)
    assert len(ten) == 10
    for name, search in ten.items():
        found = utils.run_search(asked, search, 10)
        assert (found[:, 0] == asked["id"]).mean() > 0.95, name
