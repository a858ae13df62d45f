"""Test what notebook 15 asks of models' grades, on small tables by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score
from their_collections import folder

import utils
from course import corpus, graders, intervals, llm

DL19 = folder("dl19")
LONG = {"people": [3, 0, 1, 0], "baseline": [0, 2, 1, 3]}


def table():
    """Two queries: each search finds d1 first; vectors also u, which nobody judged."""
    rows = pd.DataFrame({"query": ["q1", "q1", "q2", "q2"]}).assign(**LONG)
    rows["document"] = ["d1", "d2", "d1", "d2"]
    for name in graders.TEN:
        rows[name] = [1.0, np.nan, 1.0, np.nan]
    unjudged = {"query": "q1", "document": "u", "vectors": 2.0}
    return pd.concat([rows, pd.DataFrame([unjudged])], ignore_index=True)


def test_a_ranking_is_worth_what_each_grader_says_and_unjudged_results_count_as_0():
    by_people = graders.ndcg_by("people", table())
    by_model = graders.ndcg_by("baseline", table())
    assert by_people["BM25"].tolist() == [1.0, 1.0]
    assert by_people["vectors"].tolist() == [1.0, 1.0]
    ideal = 3 + 1 / np.log2(3)
    assert by_model["BM25"].tolist() == pytest.approx([0.0, 1 / ideal])
    asked = pd.DataFrame({"question": ["a", "b"], "course": "all"})
    wanted = asked.assign(document=[{"d1": 3, "d2": 0}, {"d1": 1, "d2": 0}])
    found = utils.score(wanted, [["d1", "u"], ["d1", ""]], 10)["ndcg"]
    assert by_people["vectors"].tolist() == found.tolist()


def test_kappas_are_those_of_scikit_learn_and_their_intervals_hold_them():
    rng = np.random.default_rng(1)
    truly, queries = rng.random(400) < 0.3, np.repeat(np.arange(20), 20)
    verdicts = pd.DataFrame({"a": truly ^ (rng.random(400) < 0.2)})
    verdicts["b"] = truly ^ (rng.random(400) < 0.1)
    found = intervals.kappas(verdicts, truly, queries)
    for name, row in found.iterrows():
        wanted = cohen_kappa_score(truly, verdicts[name])
        assert row["difference"] == pytest.approx(wanted)
        assert row["low"] < wanted < row["high"]
    gap = intervals.kappa_differences(verdicts, truly, queries, "b").loc["a"]
    assert gap["difference"] == pytest.approx(found["difference"].diff().iloc[1])
    assert gap["low"] > 0


def test_a_cut_is_chosen_on_other_queries_and_gains_where_the_scale_is_shifted():
    people = np.tile([0, 1, 2, 3], 30)
    queries = np.repeat([f"q{number}" for number in range(10)], 12)
    rows = pd.DataFrame({"query": queries, "people": people})
    rows["kind"] = np.minimum(people + 1, 3)  # calls a 1 a 2
    fitted, cuts = graders.cut_on_others(
        rows["kind"], rows["people"] >= 2, rows["query"], [1, 2, 3]
    )
    assert cuts == [3] * 5
    assert (fitted == (people >= 2)).all()
    found = graders.cut_gain(rows, "kind", 2, 2, [1, 2, 3])
    assert found["cuts"] == [3]
    assert found["fitted"] == 1
    assert found["gain"] == pytest.approx(1 - found["usual"])
    assert found["low"] > 0


def test_the_fold_that_a_cut_is_used_on_does_not_choose_it():
    grades = pd.Series([1] * 10 + [2] * 90)
    queries = np.repeat(np.arange(10), 10)
    true = pd.Series(np.r_[np.ones(10), np.tile([0, 1], 45)].astype(bool))
    _, with_it = graders.cut_on_others(grades, true, queries, [1, 2])
    changed = true.copy()
    changed[queries == 3] = ~changed[queries == 3]
    _, without = graders.cut_on_others(grades, changed, queries, [1, 2])
    dealt = np.random.default_rng(1).permutation(10) % 5
    assert with_it[dealt[3]] == without[dealt[3]]


def boards():
    rng = np.random.default_rng(2)
    worth = np.linspace(0.2, 0.8, len(graders.TEN))
    people = pd.DataFrame(rng.normal(worth, 0.02, (30, 10)), columns=graders.TEN)
    return {"people": people, "same": people + 0.1, "opposite": 1 - people}


def test_a_grader_with_the_same_order_costs_nothing_and_one_with_the_opposite_all():
    both = boards()
    same = graders.order(both, "same", draws=50)
    assert same == {"tau": 1.0, "low": 1.0, "high": 1.0}
    assert graders.order(both, "opposite", draws=50)["tau"] == -1
    assert graders.cost_of_choosing(both, "same", 50)["difference"] == 0
    cost = graders.cost_of_choosing(both, "opposite", 50)["difference"]
    means = both["people"].mean()
    assert cost == pytest.approx(means.max() - means.min(), abs=0.02)


def test_verdicts_on_pairs_of_searches_are_counted_and_kept_by_kind():
    signs = {who: graders.signs(board) for who, board in boards().items()}
    assert len(signs["people"]) == 45
    counts = graders.agreements(signs)
    assert (counts.sum() == 45).all()
    told = int((signs["people"] != 0).sum())
    assert told > 30
    assert counts.loc["both tell, same", "same"] == told
    assert counts.loc["both tell, opposite", "opposite"] == told
    assert len(graders.of_one_kind(signs["people"])) == 20
    quiet = {**signs, "same": signs["same"] * 0}
    assert graders.agreements(quiet).loc["people alone tell", "same"] == told


def test_leads_and_who_found_a_result():
    lead = graders.leads({"people": boards()["people"]})["people"]
    assert lead.mean() == pytest.approx(0.333, abs=0.02)
    rows = pd.DataFrame(np.nan, index=range(4), columns=graders.TEN)
    rows.loc[0, "BM25"] = rows.loc[1, "RRF, 60"] = 3.0
    rows.loc[2, ["BM25", "vectors"]] = 1.0
    assert graders.found_by(rows).tolist() == ["words", "models", "both", "none"]


def test_precision_is_of_what_a_search_found_and_errors_are_from_all_pairs():
    rows = pd.DataFrame({"query": [1, 1, 2], "people": [1, 0, 1], "model": [0.5, 1, 0]})
    for name in graders.TEN:
        rows[name] = [1, 1, 0]
    rows["BM25"] = [1.0, np.nan, 4.0]
    found = graders.precision_by("people", rows)
    assert (found["BM25"], found["vectors"]) == (1.0, 0.5)
    assert graders.precision_by("model", rows)["BM25"] == 0.25

    def estimates(who, table, labelled):
        return {"model": graders.precision_by(who, table)}

    errors = graders.errors(estimates, "model", rows, n=2, draws=3)
    assert errors.shape == (30, 1)
    assert errors.loc["BM25", "model"].tolist() == [-0.75] * 3
    halves = graders.by_list(rows)
    assert (halves["listed"].tolist(), halves["not listed"].tolist()) == ([0.5, 0], [1])
    ends = graders.spread({"this": errors}, "model")
    assert list(ends.columns) == ["low", "high", "difference"]


def test_an_order_by_precision_is_compared_on_drawn_queries():
    rng = np.random.default_rng(3)
    rows = pd.DataFrame({"query": np.repeat(np.arange(20), 15)})
    for name in graders.TEN:
        rows[name] = np.where(rng.random(300) < 0.5, 1.0, np.nan)
    rows["people"] = rows[graders.TEN[5:]].notna().sum(axis=1) > 2
    same = graders.order_by_precision("people", rows, draws=20)
    assert min(same.values()) > 0.95  # two searches may have equal shares
    rows["model"] = 1 - rows["people"]
    other = graders.order_by_precision("model", rows, draws=20)
    assert max(other.values()) < -0.95


@pytest.mark.parametrize("name", [graders.RECORD, graders.OLD_RECORD])
def test_a_table_is_written_as_data_has_it(name, tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_RESULTS", str(tmp_path))
    graders.record(graders.recorded(name), name)
    assert (tmp_path / name).read_bytes() == (corpus.ROOT / "data" / name).read_bytes()


def test_places_are_ranks_in_the_order_in_which_searches_find_them():
    queries = pd.DataFrame({"query_id": ["q1", "q2"]})
    rankings = {"a": [["d2", "d1"], ["d3", ""]], "b": [["d1", "d9"], ["", ""]]}
    found = graders.places_of(queries, rankings)
    pairs = [("q1", "d2"), ("q1", "d1"), ("q1", "d9"), ("q2", "d3")]
    assert list(found.index) == pairs
    assert found["a"].tolist()[:2] == [1, 2]
    assert found.loc[("q1", "d1"), "b"] == 1
    assert np.isnan(found.loc[("q2", "d3"), "b"])


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A folder of grades, a corpus, and a model that says how long a prompt is."""
    for name, file in graders.FILES.items():
        lines = [f"q1 0 d{n} {n % 4}" for n in range(graders.DRAWN + 2)]
        separator = " Q0 " if name == "people" else " 0 "
        lines = [line.replace(" 0 ", separator, 1) for line in lines]
        (tmp_path / file).write_text("\n".join(lines) + "\n")
    documents = [
        {"id": f"d{n}", "question": "", "text": "x" * n, "section": "", "course": "all"}
        for n in range(graders.DRAWN + 3)
    ]
    qrel = {f"d{n}": n % 4 for n in range(graders.DRAWN + 2)}
    queries = pd.DataFrame({"query_id": ["q1"], "question": ["x"], "course": "all"})
    queries = queries.assign(document=[qrel])

    def search(asked):
        row = [f"d{graders.DRAWN + 2}", "d0", *[""] * 8]
        return np.array([row] * len(asked), dtype=object)

    def respond(prompts, schema, path, call):
        return [{"logprobs": {"1": np.log(len(p) / 1e3), "0": 0.0}} for p in prompts]

    monkeypatch.setattr(
        graders.formats, "read_collection", lambda _: (documents, queries)
    )
    monkeypatch.setattr(
        graders.scoring, "ten_searches", lambda _: dict.fromkeys(graders.TEN, search)
    )
    monkeypatch.setattr(llm, "respond", respond)
    return tmp_path


def test_the_table_is_made_of_grades_of_a_models_answers_and_of_ranks(small):
    found = graders.make(small).set_index("document")
    assert len(found) == graders.DRAWN + 3
    unjudged = found.loc[f"d{graders.DRAWN + 2}"]
    assert np.isnan(unjudged["people"])
    assert unjudged["BM25"] == 1
    assert found.loc["d0", "BM25"] == 2
    assert found[graders.QWEN].count() == graders.DRAWN
    assert found.loc["d3", "Llama-3.3-70B"] == 3
    assert list(found.columns) == list(graders.recorded().columns.drop("document"))


def test_an_older_collection_is_sampled_from_what_ten_searches_find(small, monkeypatch):
    monkeypatch.setattr(pd.DataFrame, "sample", lambda self, n, random_state: self)
    found = graders.make_old("med", small)
    old = graders.recorded(graders.OLD_RECORD)
    assert sorted(found.columns) == sorted(old.columns)
    assert found["people"].tolist() == [0, 1]
    assert found["BM25"].tolist() == [1, 1]


def test_a_file_that_grades_other_pairs_is_an_error_that_names_it(small):
    path = small / graders.FILES["baseline"]
    path.write_text(path.read_text().replace("d7 ", "d700 "))
    with pytest.raises(ValueError, match=f"{path.name}: not one grade"):
        graders.read_grades(small)


@pytest.mark.skipif(not DL19, reason="no dl19 here; COLLECTIONS names a folder")
def test_recorded_grades_are_those_of_the_files_and_the_drawn_pairs_have_a_p():
    grades = graders.read_grades(DL19)
    recorded = graders.recorded().set_index(graders.PAIR)
    judged = recorded[recorded["people"].notna()]
    whole = grades.sort_index()
    assert judged.sort_index()[list(graders.FILES)].astype(int).equals(whole)
    asked = judged.index[judged[graders.QWEN].notna()]
    assert set(asked) == set(graders.drawn_pairs(grades).index)
