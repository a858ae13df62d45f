"""From searches to a choice, its differences and a decision, on small tables."""

from dataclasses import make_dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from refusals import refused

from evaluate_retrieval.commands.options import DecidingOptions
from evaluate_retrieval.judging import next_pairs
from evaluate_retrieval.measuring import (
    decision,
    gains,
    intervals,
    scored,
    steps,
    verdicts,
)
from evaluate_retrieval.measuring.metric import measures_of
from evaluate_retrieval.searching import built_in, embedding

N = 60
FIRST, SECOND, NEVER = [[*row, *[""] * 98] for row in ("ab", "ba", "bc")]
DOCUMENTS = [
    {"id": "c", "course": "tv", "section": "", "question": "Hum", "text": "Earth."}
]


def queries_of(kind="judged"):
    """N queries whose only right document is a, in ten folds."""
    document = "a" if kind == "generated" else {"a": 1, "b": 0}
    table = pd.DataFrame({"question": [f"q{n}" for n in range(N)], "course": "tv"})
    ids = [f"i{n}" for n in range(N)]
    return table.assign(
        document=[document] * N, need=ids, query_id=ids, fold=np.arange(N) % 10
    )


def ranked(row, n=N, then=NEVER):
    """Rankings of N queries: n times the first row, and then another."""
    return np.array([row] * n + [then] * (N - n), dtype=object)


def search_of(ranking, origin="built in"):
    """A search that returns a ranking, whatever is asked."""

    def search(queries, k=10):
        return ranking[: len(queries), :k]

    search.origin, search.setting = origin, {}
    return search


def folder_of(kind=None, halves=False, n=N):
    """A folder with n queries of a kind, which are cut in two where halves says so."""
    queries = queries_of(kind)[:n]
    choosing = queries.copy() if halves else queries
    return SimpleNamespace(
        documents=DOCUMENTS,
        choosing=choosing,
        queries=queries,
        development={kind: choosing},
        test={kind: queries},
        unanswered=pd.DataFrame(),
        log=pd.DataFrame(),
        judgements=pd.DataFrame({"grade": [1, 0]}),
        sample=None,
        declared="",
        only_answered=False,
        sealed=None,
        forbidden={},
        source=Path("nowhere"),
        decides=kind,
        language="english",
        measure=measures_of()[kind or "judged"],
    )


# --- The choice --------------------------------------------------------------

SEARCHES = {"second": search_of(ranked(SECOND)), "first": search_of(ranked(FIRST))}


def test_halves_choose_by_one_half_and_folds_by_what_was_tuned_without_them():
    crossed = {"second": ranked(FIRST), "first": ranked(NEVER)}
    candidates = steps.Candidates(SEARCHES, cross_fitted=crossed, safe="second")
    assert steps.choose(folder_of("generated", halves=True), candidates) == "first"
    assert steps.choose(folder_of("judged"), candidates) == "second"


@pytest.mark.parametrize(("n", "name"), [(49, "second"), (50, "first")])
def test_too_few_queries_choose_the_safe_search(n, name):
    folder = folder_of("judged", n=n)
    assert steps.choose(folder, steps.Candidates(SEARCHES, safe="second")) == name


@pytest.mark.parametrize("halves", [False, True])
def test_a_run_of_few_of_the_queries_is_not_chosen_and_no_incumbent(halves):
    folder = folder_of("judged", halves=halves)
    run, good = search_of(ranked(FIRST), "run"), search_of(ranked(SECOND))
    run.n_ranked = lambda queries: N if queries is not folder.queries else 20
    candidates = steps.Candidates({"run: few": run, "good": good}, safe="run: few")
    chosen = steps.choose(folder, candidates)
    assert chosen == "good"
    results = steps.measure(folder, candidates, chosen)
    options = DecidingOptions(folder="faq")
    assert verdicts.incumbent_in(candidates, results.whole, None) is None
    assert verdicts.verdict_on(folder, candidates, results, options).incumbent is None
    with refused(folder.source):
        steps.choose(folder, steps.Candidates({"run: few": run}))


def test_a_leaderboard_has_the_rankings_of_the_tuned():
    folder = folder_of("judged")
    searches = {"second": search_of(ranked(SECOND)), "tuned": search_of(ranked(NEVER))}
    candidates = steps.Candidates(searches, cross_fitted={"tuned": ranked(FIRST)})
    board = steps.measure(folder, candidates, "tuned").board
    assert board["chosen"].to_dict() == {"tuned": True, "second": False}
    assert board["ndcg"].round(3).to_dict() == {"tuned": 1, "second": 0.631}


def test_the_differences_from_the_chosen_search_are_one_family():
    rankings = {"good": ranked(FIRST), "close": ranked(SECOND, 6, FIRST)}
    measured = scored.measured_of(queries_of(), rankings, measures_of()["judged"])
    measured.values["bad"] = 0.0
    table = steps.gains_over_chosen(measured, "good")
    assert table.index.tolist() == ["bad", "close"]  # the lowest first
    raw = {}
    for name in ("close", "bad"):
        gain = measured.gain("good", name)
        raw[name] = intervals.difference(gain, queries_of()["need"])["p"]
    for name, p in intervals.holm(pd.Series(raw)).items():
        assert table.loc[name, "p"] == pytest.approx(p)


def test_without_an_incumbent_gains_are_those_of_a_verdict():
    rankings = {"good": FIRST, "close": SECOND, "bad": NEVER}
    ranked_by = {name: ranked(row) for name, row in rankings.items()}
    ranked_by["close"] = ranked(SECOND, 3, FIRST)
    measured = scored.measured_of(queries_of(), ranked_by, measures_of()["judged"])
    table = steps.gains_over_best(measured, "good")
    assert table.index.tolist() == ["close", "bad"]  # the best first
    assert table["order"].tolist() == ["", "worse"]
    assert table["p"].tolist() == gains.gains_table(measured, "good")["p"].tolist()
    few = steps.gains_over_best(measured.head(49), "good")
    assert few["order"].tolist() == ["", ""]  # so few tell nothing


def test_without_an_incumbent_only_complete_queries_decide():
    """80 queries are drawn, 12 are judged, and nobody judged what the other shows."""
    ids = [f"q{n}" for n in range(80)]
    graded = [{"a": 1, "b": 0} if n < 12 else {} for n in range(80)]
    queries = pd.DataFrame({"query_id": ids, "need": ids, "document": graded})
    lists = {"good": ranked(["a", "b"], 80), "other": ranked(["c", "d"], 80)}
    whole = scored.measured_of(queries, lists, measures_of()["judged"], "growing")
    board = pd.DataFrame({"ms_per_query": 1.0}, index=["good", "other"])
    gained = steps.gains_over_chosen(whole, "good")
    results = steps.Results("good", board, lists, whole, whole, gained)
    candidates = steps.Candidates({name: search_of(lists[name]) for name in lists})
    options = DecidingOptions(folder="faq")
    made = verdicts.verdict_on(folder_of("judged"), candidates, results, options)
    assert (made.verdict, made.reason) == ("undecided", "close")


@pytest.mark.parametrize(
    ("splits", "n"),
    [(("", ""), 2 * N), (("test", "test"), 2 * N), (("dev", "test"), N)],
)
def test_halves_are_joined_unless_they_are_the_collections_own(splits, n):
    choosing, queries = (queries_of().assign(split=name) for name in splits)
    names = ["choosing", "queries", "development", "test", "decides"]
    halves = {"judged": choosing}, {"judged": queries}
    folder = make_dataclass("Halves", names)(choosing, queries, *halves, "judged")
    assert len(steps.undivided(folder).test["judged"]) == n


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
    candidates, queries = steps.Candidates(searches), queries_of()
    hopeless = queries.assign(course="else")[:7]
    shares = steps.refused_shares(candidates, queries, hopeless)
    assert shares.to_dict() == {"all": 1, "none": 0}


# --- Lists -------------------------------------------------------------------


def test_what_is_judged_next_is_what_the_leaders_show():
    folder = folder_of("judged")
    folder.queries["kind"] = "typed"
    searches = {"old": search_of(ranked(FIRST))}
    searches["new"] = search_of(ranked(["c", "", "a", *[""] * 97]))
    results = steps.measure(folder, steps.Candidates(searches), "old")
    results.gains["order"] = ""  # they cannot be told apart
    verdict = decision.Decision("undecided", "close", "old")
    pairs = next_pairs.next_to_judge(folder, results, verdict)
    assert set(pairs["document"]) == {"c"}
    assert next_pairs.next_to_judge(folder_of("generated"), results, verdict).empty


def test_queries_called_null_and_na_are_judged_too(monkeypatch):
    monkeypatch.setattr(embedding, "can_embed", lambda: False)
    folder = folder_of()
    folder.log = pd.DataFrame({"question": ["null", "NA", "hum"], "course": "tv"})
    folder.log["query_id"] = ["q1", "q2", "q3"]
    folder.judgements = pd.DataFrame([["q9", "hum"]], columns=["query_id", "query"])
    search = search_of(ranked(["c", *[""] * 99]), "own")
    pool = next_pairs.to_pool(folder, {"own: x": search})
    ids = {"null": "q1", "NA": "q2", "hum": "q9"}  # as it was judged
    assert dict(pool[["query", "query_id"]].to_numpy()) == ids
    monkeypatch.setattr(built_in, "builder", None)  # none of ours is asked
    alone = next_pairs.to_pool(folder, {"own: x": search}, only_own=True)
    assert {*alone["document"]} == {"c"}
    folder.log = pd.DataFrame()
    with refused(advice="write some into queries.txt"):
        next_pairs.to_pool(folder, {})


def test_what_takes_long_is_told_first_and_many_texts_are_not_embedded(
    monkeypatch, caplog
):
    sentence = built_in.about_time(200_000, 1_010, 64)
    assert "about 5 minutes" in sentence
    assert "--no-tuning" in sentence
    assert "--no-tuning" not in built_in.about_time(200_000, 100_000, 0)
    assert not built_in.about_time(20_000, 1_000, 64)
    monkeypatch.setattr(built_in, "MANY_DOCUMENTS", 1)
    monkeypatch.delenv("EMBEDDING_MODEL", raising=False)
    caplog.set_level("INFO")
    documents = [{"question": "", "section": "", "text": "a"}] * 2
    assert built_in.embedded(documents) == {}
    assert "over 1 documents nothing is embedded" in caplog.text
