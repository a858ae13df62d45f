"""Test what goes from a folder to a choice: course/evaluation.py, on small tables."""

import json

import numpy as np
import pandas as pd
import pytest

from course import corpus, evaluation, experiments, formats, intervals

N = 60
FIRST, SECOND, NEVER = [[*row, *[""] * 8] for row in ("ab", "ba", "bc")]


def asked(kind):
    """N queries whose only right document is a, in ten folds."""
    document = "a" if kind == "generated" else {"a": 1, "b": 0}
    table = pd.DataFrame({"question": [f"q{n}" for n in range(N)], "course": "tv"})
    ids = [f"i{n}" for n in range(N)]
    return table.assign(
        document=[document] * N, need=ids, query_id=ids, fold=np.arange(N) % 10
    )


def ranked(*parts):
    """Rankings of N queries: how many there are of each."""
    return np.array([row for row, n in parts for _ in range(n)], dtype=object)


@pytest.mark.parametrize(("kind", "second"), [("generated", 1 / 2), ("judged", 0.631)])
def test_the_metric_of_a_kind_decides(kind, second):
    found = ranked((FIRST, 20), (SECOND, 20), (NEVER, 20))
    values = evaluation.values_of(asked(kind), found, kind).round(3)
    assert values.tolist() == [1] * 20 + [second] * 20 + [0] * 20


def test_a_choice_by_folds_is_worth_less_than_its_best():
    """One search is best in the folds 0 to 4, the other one in the rest."""
    queries = asked("judged")
    early = (queries["fold"] < 5).to_numpy()[:, None]
    found = {
        "early": np.where(early, FIRST, NEVER),
        "late": np.where(early, NEVER, FIRST),
    }
    best, expected, by_fold = evaluation.choose_by_folds(
        found, queries, "judged", "late"
    )
    assert expected == 0  # each fold is ranked by what the others, mostly not, like
    assert by_fold.tolist() == ["late"] * 5 + ["early"] * 5
    assert best == "late"  # both are equally good: the first named
    few = {name: ranking[:49] for name, ranking in found.items()}
    few = evaluation.choose_by_folds(few, queries[:49], "judged", "early")
    assert few[0] == "early"  # too few to choose on


def test_the_differences_of_both_kinds_are_one_family():
    test = {kind: asked(kind) for kind in ("generated", "judged")}
    good = ranked((FIRST, N))
    close = ranked((SECOND, 6), (FIRST, N - 6))
    rankings = {kind: {"good": good, "close": close} for kind in test}
    rankings["judged"]["bad"] = ranked((NEVER, N))
    chosen = {"generated": "close", "judged": "good"}
    found = evaluation.differences(rankings, test, chosen)
    assert found["generated"]["difference"].round(3).to_dict() == {"good": -0.05}
    assert found["judged"].index.tolist() == ["bad", "close"]  # the largest first
    raw = {}
    for kind, name in [("generated", "good"), ("judged", "close"), ("judged", "bad")]:
        values = [
            evaluation.values_of(test[kind], rankings[kind][one], kind)
            for one in (chosen[kind], name)
        ]
        raw[kind, name] = intervals.difference(values[0] - values[1], test[kind].need)
    corrected = intervals.holm(pd.Series({key: row["p"] for key, row in raw.items()}))
    for (kind, name), p in corrected.items():
        assert found[kind].loc[name, "p"] == pytest.approx(p)
        assert found[kind].loc[name, "low"] == pytest.approx(raw[kind, name]["low"])
    assert found["judged"].loc["close", "needed"] > N
    assert evaluation.differences({}, {}, {}) == {}


def test_a_search_alone_has_nothing_to_be_compared_with():
    test = {"judged": asked("judged")}
    rankings = {"judged": {"good": ranked((FIRST, N))}}
    assert evaluation.differences(rankings, test, {"judged": "good"})["judged"].empty


def test_the_leaders_results_are_graded_also_for_new_queries():
    pairs = pd.DataFrame({"query_id": ["1", "2", "3"], "document": list("abc")})
    pairs = pairs.assign(x=[1.0, 0, 0], y=[0, 0.5, 0], z=[0, 0, 1.0])
    log = asked("judged")[["question", "course"]]
    many = pd.concat([log.assign(question=log["question"] + f" {n}") for n in range(5)])
    searches = {
        name: lambda queries: [["a", "b"] + [""] * 8] * len(queries) for name in "xyz"
    }
    found = evaluation.pairs_to_grade(pairs, ["x", "y"], searches, many)
    assert found["document"][:2].tolist() == ["a", "b"]  # c is of z alone
    new = found[2:]
    assert new["query_id"].nunique() == evaluation.NEW
    assert set(new["kind"]) == {corpus.FROM_LOG}
    assert new["grade"].isna().all()
    for lacking, some in [({"x": searches["x"]}, many), (searches, many[:0])]:
        alone = evaluation.pairs_to_grade(pairs, ["x", "y"], lacking, some)
        assert alone["document"].tolist() == ["a", "b"]


@pytest.mark.parametrize("kind", ["generated", "judged"])
def test_ir_measures_finds_our_figures_in_the_files(kind, tmp_path):
    found = ranked((FIRST, 20), (SECOND, 20), (NEVER, 20))
    formats.write_trec(tmp_path, kind, asked(kind), {"a search": found})
    ours = evaluation.by_us(asked(kind), found, kind)
    theirs = evaluation.by_ir_measures(tmp_path, kind, "a search")
    assert ours == pytest.approx(theirs)
    assert ours[1:] == pytest.approx([0.5, 0.5])  # MRR and MAP


def test_a_search_to_paste_keeps_its_settings_and_the_places_of_its_vectors(tmp_path):
    documents = [{"id": "a"}, {"id": "b"}]
    settings = {"k1": 2.0, "text": 0.3, "vectors": 0.7}
    evaluation.write_search(tmp_path / "new", documents, settings, np.eye(2))
    kept = json.loads((tmp_path / "new" / "settings.json").read_text())
    assert settings.items() <= kept.items()
    assert (kept["b"], kept["language"]) == (0.75, "english")
    assert np.load(tmp_path / "new" / "rows.npy").tolist() == [0, 1]
    evaluation.write_search(tmp_path, documents, settings, np.eye(3), rows=[0, 0, 1])
    assert np.load(tmp_path / "rows.npy").tolist() == [0, 0, 1]
    assert (tmp_path / "search.py").exists()


def test_pairs_are_subtracted_by_kind_and_their_p_values_are_one_family():
    test = {"generated": asked("generated"), "judged": asked("judged")}
    columns = {"a": [1, 0.5, 0] * 20, "b": [0.5, 0.5, 0] * 20}
    values = dict.fromkeys(test, pd.DataFrame(columns))
    found = evaluation.pair_differences(values, {"a minus b": ("a", "b")}, test)
    assert [*found] == ["nDCG@10, typed queries", "MRR@5, generated questions"]
    alone = intervals.difference(pd.Series([0.5, 0, 0] * 20), range(N))
    for table in found.values():
        assert table.loc["a minus b", "difference"] == pytest.approx(1 / 6)
        assert table.loc["a minus b", "p"] == pytest.approx(2 * alone["p"])


def test_a_gain_by_label_has_counts_and_the_lowest_first():
    queries = asked("judged").assign(kind=["typo", "error", "error"] * 20)
    table = evaluation.by_label(pd.Series([1, -1, 0] * 20), queries)
    assert table["n"].to_dict() == {"error": 40, "typo": 20}
    assert table["difference"].tolist() == [-0.5, 1]


def test_hits_go_to_the_range_of_their_shared_words():
    documents = [{"id": "a", "question": "red dag", "text": "", "section": ""}]
    queries = asked("generated").assign(question=["red dag", "blue door"] * 30)
    table = evaluation.hits_by_shared_words(
        {"first": ranked((FIRST, N)), "no": ranked((NEVER, N))}, queries, documents
    )
    assert table.index.tolist() == pytest.approx([0.1, 0.9])
    assert (table["first"].tolist(), table["no"].tolist()) == ([1, 1], [0, 0])


def test_the_whole_board_has_the_choice_of_each_kind_and_its_times():
    test = {"judged": asked("judged"), "generated": asked("generated")}
    development = test | {"generated": asked("generated")}  # another table: halves
    searches = {
        name: lambda queries, k=10, row=row: [row[:k]] * len(queries)
        for name, row in {"text": SECOND, "vectors": FIRST}.items()
    }
    ranks = {
        name: evaluation.rank_all(search, test, None)
        for name, search in searches.items()
    }
    found = {kind: {name: ranks[name][0][kind] for name in ranks} for kind in test}
    chosen = evaluation.choose(searches, found, development, test, "text")
    assert chosen["search"].tolist() == ["vectors"] * 2
    assert chosen["split"].tolist() == ["cross-fitted", "test"]
    boards = {
        kind: experiments.leaderboard(found[kind], test[kind], 5) for kind in test
    }
    times = {name: dict.fromkeys(test, 0.0) for name in searches}
    board = evaluation.whole_board(boards, chosen, times, test)
    assert board["chosen"].tolist() == [True, False] * 2  # the best is first
    assert (board["ms_per_query"] > 0).tolist() == [True, False] * 2
