"""From searches to a choice, its differences and a decision, on small tables."""

from dataclasses import make_dataclass
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course import corpus, embedding, intervals
from evaluate_retrieval import built_in, decision, lists, steps
from evaluate_retrieval.measures import measures_of

N = 60
FIRST, SECOND, NEVER = [[*row, *[""] * 8] for row in ("ab", "ba", "bc")]
DOCUMENTS = [
    {"id": "a", "course": "tv", "section": "", "question": "No sound", "text": "Up."},
    {"id": "b", "course": "tv", "section": "", "question": "", "text": "Dark " * 300},
    {"id": "c", "course": "hi-fi", "section": "", "question": "Hum", "text": "Earth."},
]


def queries_of(kind):
    """N queries whose only right document is a, in ten folds."""
    document = "a" if kind == "generated" else {"a": 1, "b": 0}
    table = pd.DataFrame({"question": [f"q{n}" for n in range(N)], "course": "tv"})
    ids = [f"i{n}" for n in range(N)]
    return table.assign(
        document=[document] * N, need=ids, query_id=ids, fold=np.arange(N) % 10
    )


def ranked(*parts):
    """Rankings of N queries: how many there are of each row."""
    return np.array([row for row, n in parts for _ in range(n)], dtype=object)


def search_of(ranking, origin="built in"):
    """A search that returns a ranking, whatever is asked."""

    class Fixed:
        setting: dict = {}  # noqa: RUF012

        def __call__(self, queries, k=10):
            rows = [[*row, *[""] * k][:k] for row in ranking[: len(queries)]]
            return np.array(rows, dtype=object)

    fixed = Fixed()
    fixed.origin = origin
    return fixed


def folder_of(*kinds, halves=()):
    """A folder with queries of some kinds; those of `halves` are cut in two."""
    test = {kind: queries_of(kind) for kind in kinds}
    development = {
        kind: queries_of(kind) if kind in halves else test[kind] for kind in kinds
    }
    return SimpleNamespace(
        documents=DOCUMENTS,
        development=development,
        test=test,
        unanswered=pd.DataFrame(),
        log=pd.DataFrame(),
        decides=kinds[-1] if kinds else None,
        language="english",
        measures=measures_of(),
    )


# --- The choice --------------------------------------------------------------


def test_halves_choose_by_one_half_and_folds_by_all_of_them():
    folder = folder_of("generated", "judged", halves=["generated"])
    searches = {
        "second": search_of(ranked((SECOND, N))),
        "first": search_of(ranked((FIRST, N))),
    }
    candidates = steps.Candidates(searches, safe="second")
    chosen = steps.choose(folder, candidates)
    assert chosen == {"generated": "first", "judged": "first"}
    crossed = {"second": ranked((FIRST, N)), "first": ranked((NEVER, N))}
    candidates = steps.Candidates(searches, cross_fitted=crossed, safe="second")
    chosen = steps.choose(folder, candidates)
    assert chosen == {"generated": "first", "judged": "second"}


def test_too_few_queries_choose_the_safe_search(caplog):
    folder = folder_of("judged")
    folder.test["judged"] = folder.development["judged"] = queries_of("judged")[:49]
    searches = {
        "good": search_of(ranked((FIRST, N))),
        "safe": search_of(ranked((NEVER, N))),
    }
    chosen = steps.choose(folder, steps.Candidates(searches, safe="safe"))
    assert chosen == {"judged": "safe"}
    assert "49 queries are too few" in caplog.text


@pytest.mark.parametrize("halves", [(), ("judged",)])
def test_a_run_of_few_of_the_queries_is_not_chosen_and_no_incumbent(halves):
    folder = folder_of("judged", halves=halves)
    run, good = search_of(ranked((FIRST, N)), "run"), search_of(ranked((SECOND, N)))
    run.n_ranked = lambda queries: N if queries is not folder.test["judged"] else 20
    candidates = steps.Candidates({"run: few": run, "good": good}, safe="run: few")
    chosen = steps.choose(folder, candidates)
    assert chosen == {"judged": "good"}
    results = steps.measure(folder, candidates, chosen)
    assert steps.verdict_on(folder, candidates, results).incumbent is None
    with pytest.raises(ValueError, match="no search ranks half of the judged"):
        steps.choose(folder, steps.Candidates({"run: few": run}))


def test_a_leaderboard_has_the_chosen_one_and_the_rankings_of_the_tuned():
    folder = folder_of("judged")
    searches = {
        "second": search_of(ranked((SECOND, N))),
        "tuned": search_of(ranked((NEVER, N))),
    }
    crossed = {"tuned": ranked((FIRST + [""] * 90, N))}
    candidates = steps.Candidates(searches, cross_fitted=crossed)
    results = steps.measure(folder, candidates, {"judged": "tuned"})
    board = results.boards["judged"]
    assert board.index.tolist() == ["tuned", "second"]
    assert board["chosen"].tolist() == [True, False]
    assert results.rankings["judged"]["tuned"][0, 0] == "a"
    assert results.measured["judged"].values["tuned"].tolist() == [1] * N


def test_the_share_judged_counts_queries_as_their_weights_say():
    folder = folder_of("judged")
    folder.test["judged"]["weight"] = [1.0] * 30 + [3.0] * 30
    half = search_of(ranked((FIRST, 30), (NEVER, 30)))
    candidates = steps.Candidates({"half": half})
    results = steps.measure(folder, candidates, {"judged": "half"})
    share = results.boards["judged"].loc["half", "judged_at_k"]
    assert results.measured["judged"].judged["half"] == share == pytest.approx(0.625)


def test_the_differences_of_both_kinds_are_one_family():
    test = {kind: queries_of(kind) for kind in ("generated", "judged")}
    good = ranked((FIRST, N))
    close = ranked((SECOND, 6), (FIRST, N - 6))
    rankings = {"good": good, "close": close}
    measured = {
        kind: decision.measured_of(queries, rankings, measures_of()[kind])
        for kind, queries in test.items()
    }
    measured["judged"].values["bad"] = 0.0
    chosen = {"generated": "close", "judged": "good"}
    tables = steps.differences_from_chosen(measured, chosen)
    assert tables["generated"]["difference"].round(3).to_dict() == {"good": -0.05}
    assert tables["judged"].index.tolist() == ["bad", "close"]  # the largest first
    raw = {}
    for kind, name in [("generated", "good"), ("judged", "close"), ("judged", "bad")]:
        values = measured[kind].values
        gain = values[chosen[kind]] - values[name]
        raw[kind, name] = intervals.difference(gain, test[kind]["need"])["p"]
    for (kind, name), p in intervals.holm(pd.Series(raw)).items():
        assert tables[kind].loc[name, "p"] == pytest.approx(p)


@pytest.mark.parametrize(
    ("splits", "n"),
    [(("", ""), 2 * N), (("test", "test"), 2 * N), (("dev", "test"), N)],
)
def test_halves_are_joined_unless_they_are_the_collections_own(splits, n):
    halves = [{"judged": queries_of("judged").assign(split=name)} for name in splits]
    folder = make_dataclass("Halves", ["development", "test"])(*halves)
    assert len(steps.undivided(folder).test["judged"]) == n


def test_a_search_alone_has_nothing_to_be_compared_with():
    folder = folder_of("judged")
    candidates = steps.Candidates({"good": search_of(ranked((FIRST, N)), "own")})
    results = steps.measure(folder, candidates, {"judged": "good"})
    assert results.differences["judged"].empty
    verdict = steps.verdict_on(folder, candidates, results)
    assert steps.pair_of(folder, candidates, results, verdict) == ("good", "good")


@pytest.mark.parametrize(
    ("own", "rows", "rival"),
    [(["x"], 3, "x"), (["run: not ranked"], 3, built_in.TUNED_TEXT), ([], 1, "a")],
)
def test_the_rival_is_yours_or_tuned_text_or_the_next_best(own, rows, rival):
    names = ["a", built_in.TUNED_TEXT, "x"][:rows]
    board = pd.DataFrame(index=names)
    results = SimpleNamespace(boards={"judged": board}, chosen={"judged": "a"})
    verdict = decision.Decision("undecided", "a", pd.DataFrame())
    searches = {name: search_of([], "own") for name in own}
    candidates = steps.Candidates(searches)
    pair = steps.pair_of(folder_of("judged"), candidates, results, verdict)
    assert pair == ("a", rival)


def test_shares_refused_are_of_queries_without_an_answer():
    def scorer(best):
        def scores(queries):
            return [(np.arange(len(queries)), [0], best(queries)[:, None])]

        return built_in.BuiltIn(scores, None)

    searches = {
        "none": scorer(lambda queries: np.ones(len(queries))),
        "all": scorer(lambda queries: (queries["course"] == "tv").to_numpy(float)),
        "own: x": search_of([], "own"),
    }
    candidates, queries = steps.Candidates(searches), queries_of("judged")
    hopeless = queries.assign(course="else")[:7]
    shares = steps.refused_shares(candidates, queries, hopeless)
    assert shares.to_dict() == {"all": 1, "none": 0}
    assert steps.refused_shares(candidates, queries, hopeless[:0]).empty


# --- Our searches ------------------------------------------------------------


def test_a_setting_says_which_parts_score_and_what_is_no_result(monkeypatch):
    monkeypatch.setattr(embedding, "fetched_models", list)
    vectors = built_in.embedded(DOCUMENTS)
    assert list(vectors) == ["vectors", "vectors: chunks"]  # one of three is long
    build = built_in.builder(DOCUMENTS, vectors)
    queries = pd.DataFrame({"question": ["sound"], "course": ["tv"]})
    settings = {
        "text": {"text": 1, "heading": 2},
        "vectors": {"vectors": 1, "embedded": "vectors"},
        "chunks": {"vectors": 1, "embedded": "vectors: chunks"},
        "sum": built_in.SUM,
    }
    results = {
        name: [id_ for id_ in build(setting)(queries)[0] if id_]
        for name, setting in settings.items()
    }
    assert results.pop("text") == ["a"]
    assert all(ids == ["a", "b"] for ids in results.values())


def test_too_many_chunks_are_not_embedded_and_this_is_said(monkeypatch):
    n = built_in.n_chunks(DOCUMENTS)
    monkeypatch.setattr(built_in, "MOST_CHUNKS", n - 1)
    monkeypatch.setattr(embedding, "fetched_models", list)
    assert list(built_in.embedded(DOCUMENTS)) == ["vectors"]
    assert f"{n} chunks are too many (over {n - 1})" in built_in.about_chunks(DOCUMENTS)
    few_long = DOCUMENTS + 8 * DOCUMENTS[:1]
    assert built_in.n_chunks(few_long) == 0
    assert built_in.about_chunks(few_long) == ""


@given(lengths=st.lists(st.integers(0, 450), min_size=1, max_size=5))
def test_chunks_hold_every_word_once_and_are_counted(lengths):
    documents = [
        {"id": "a", "question": "", "text": " ".join(map(str, range(n)))}
        for n in lengths
    ]
    chunks = [built_in.chunks_of(document) for document in documents]
    for document, parts in zip(documents, chunks, strict=True):
        assert " ".join(part["text"] for part in parts) == document["text"]
        assert all(len(part["text"].split()) <= 100 for part in parts)
    n = sum(map(len, chunks)) if max(lengths) > built_in.LONG else 0
    assert built_in.n_chunks(documents) == n


def test_a_document_is_scored_by_its_best_chunk():
    documents = corpus.load_documents()[::40]
    scores_of = built_in.chunk_scores(documents, 20)
    queries = pd.DataFrame({"question": ["docker", "homework"]})
    queries["course"] = documents[0]["course"]
    [(rows, columns, block)] = scores_of(queries)
    assert list(rows) == [0, 1]
    for column, scores in zip(columns, block.T, strict=True):
        parts = built_in.chunks_of(documents[column], 20)
        vectors = embedding.embed(map(corpus.heading_and_text, parts))
        cosines = embedding.embed(queries["question"], role="query") @ vectors.T
        np.testing.assert_allclose(scores, cosines.max(axis=1), atol=1e-5)


def test_sums_try_the_safe_one_first_and_each_part_with_each_weight():
    settings = built_in.sums(["x", "y"])
    assert settings[0] == built_in.SUM
    assert len(settings) == 1 + 2 * 2 * 9
    assert all(round(s["text"] + s["vectors"], 9) == 1 for s in settings)
    assert {"heading": 2, "text": 0.3, "vectors": 0.7, "embedded": "y"} in settings


def test_documents_are_read_in_their_language_whatever_came_before(monkeypatch):
    """A German folder, then an English one, in one process."""
    monkeypatch.setattr(built_in, "find_spec", lambda _: None)
    german = [document | {"text": "die Häuser der Kinder"} for document in DOCUMENTS]
    queries = pd.DataFrame({"question": ["houses"], "course": ["tv"]})
    english = [document | {"text": "the house is dark"} for document in DOCUMENTS]
    for documents, language in [(german, "german"), (english, "english")]:
        folder = folder_of("judged")
        folder.documents, folder.language = documents, language
        searches = steps.candidates(folder, {}).searches
    assert searches["text: BM25"](queries)[0][0] in "ab"


# --- Lists -------------------------------------------------------------------


def test_what_is_judged_next_is_what_the_leaders_show():
    folder = folder_of("judged")
    folder.test["judged"]["kind"] = "typed"
    new = ranked((["c", "", "a", *[""] * 7], N))
    searches = {"old": search_of(ranked((FIRST, N))), "new": search_of(new)}
    results = steps.measure(folder, steps.Candidates(searches), {"judged": "old"})
    results.differences["judged"]["p"] = 1.0  # they cannot be told apart
    verdict = decision.Decision("undecided", "old", pd.DataFrame())
    pairs = lists.next_to_judge(folder, results, verdict)
    assert set(pairs["document"]) == {"c"}
    assert list(pairs) == corpus.TO_JUDGE
    assert lists.next_to_judge(folder_of("generated"), results, verdict).empty


def test_advice_counts_calls_and_the_queries_that_are_there():
    folder = folder_of()
    assert "3 calls" in lists.advice(folder)
    folder.log = pd.DataFrame({"question": ["a", "b"]})
    assert lists.advice(folder).startswith("2 queries, and no judgements")


def test_queries_called_null_and_na_are_judged_too(monkeypatch):
    monkeypatch.setattr(built_in, "find_spec", lambda _: None)
    folder = folder_of()
    questions = ["null", "NA", "hum"]
    folder.log = pd.DataFrame(
        {"query_id": ["q1", "q2", "q3"], "question": questions, "course": "hi-fi"}
    )
    folder.judgements = pd.DataFrame([["q9", "hum"]], columns=["query_id", "query"])
    search = search_of(ranked((["c", *[""] * 9], 3)), "own")
    pool = lists.to_pool(folder, {"own: x": search})
    assert set(pool["query"]) == {*questions}
    assert set(pool["query_id"]) == {"q1", "q2", "q9"}  # as it was judged
    folder.log = pd.DataFrame()
    with pytest.raises(ValueError, match="no queries to judge"):
        lists.to_pool(folder, {})
