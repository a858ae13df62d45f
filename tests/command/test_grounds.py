"""On which queries a verdict rests, and what unjudged results could do to it."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from scipy import stats

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import gains, grounds, judged, looks, scored, verdicts
from evaluate_retrieval.measuring.estimand import estimand, kind_of_judgements
from evaluate_retrieval.measuring.metric import Measure
from evaluate_retrieval.reading import kept
from evaluate_retrieval.reading.corpus import short_hash
from evaluate_retrieval.reading.folder import read
from evaluate_retrieval.reading.needs import as_compared
from evaluate_retrieval.words import sentences

N = 80
IDS = list("abcdefgh")


def table_of(qrels):
    """Queries with these judgements, each a need of its own."""
    names = [f"q{number}" for number in range(len(qrels))]
    table = pd.DataFrame({"query_id": names, "question": names, "need": names})
    return table.assign(course="all", document=list(qrels))


def measured(qrels, new, old, judgements):
    """What two searches are worth that show the same lists for each query."""
    rankings = {
        "new": utils.pad([new] * len(qrels)),
        "old": utils.pad([old] * len(qrels)),
    }
    k = Measure(k=len(new))
    return scored.measured_of(table_of(qrels), rankings, k, judgements)


# --- The worst that unjudged results can do -----------------------------------------


@settings(deadline=None, max_examples=60)
@given(
    lists=st.lists(st.permutations(IDS), min_size=2, max_size=2),
    grades=st.dictionaries(
        st.sampled_from(IDS), st.sampled_from([0, 1, 2]), min_size=2
    ),
    by=st.sampled_from(["ndcg", "precision", "recall", "mrr", "hit_rate"]),
)
def test_no_grades_are_worse_than_the_worst(lists, grades, by):
    """All grades of what nobody judged are tried: 0, or the highest."""
    measure = Measure(by=by, k=3)
    first, other = (utils.pad([each], 3) for each in lists)
    least = judged.worst_gains(table_of([grades]), first, other, measure)[0]
    open_ids = sorted({*first[0], *other[0]} - grades.keys())
    top = max(grades.values()) or 1
    trials = [
        grades | dict(zip(open_ids, each, strict=True))
        for each in product([0, top], repeat=len(open_ids))
    ]
    many = table_of(trials)
    values = [
        utils.score(many, np.repeat(ranked, len(trials), axis=0), 3)[by]
        for ranked in (first, other)
    ]
    assert least == pytest.approx((values[0] - values[1]).min())


# --- Which queries count ------------------------------------------------------------


def test_a_query_is_complete_where_no_missing_grade_could_tell():
    first = [utils.pad([["a", "b"]] * 4), utils.pad([["a", "c"]] * 4)]
    qrels = [{}, {"b": 0}, {"b": 0, "c": 1}, {"a": 1}]
    assert judged.are_complete(qrels, first).tolist() == [False, False, True, False]
    same = [first[0], first[0]]
    assert judged.are_complete(qrels, same).all()  # a tie, whatever it shows
    assert judged.n_before_first_gap(np.array([True, True, False, True])) == 2
    assert judged.n_before_first_gap(np.array([True])) == 1


def test_people_who_go_on_judging_count_up_to_the_first_gap():
    whole = {"a": 1, "b": 0, "c": 0, "d": 0}
    qrels = [whole] * 60 + [{"a": 1}] + [whole] * 19
    found = measured(qrels, list("abx"), list("bcx"), "growing")
    ground = grounds.grounds_of(found, "new", "old")
    assert (ground.why, len(ground.gain), ground.share) == ("complete", 60, 0.75)
    row = gains.gains_table(found, "old").loc["new"]
    assert (row["n"], row["ships"]) == (60, True)


def test_a_query_whose_grades_are_all_0_is_a_tie_and_counts():
    good = {"a": 1, "b": 0, "c": 0}
    nothing = {"a": 0, "b": 0, "c": 0}
    found = measured([good, nothing] * 40, ["a", "b"], ["b", "c"], "growing")
    row = gains.gains_table(found, "old").loc["new"]
    assert (row["n"], row["why"]) == (80, "all")
    assert row["difference"] == pytest.approx(0.5)


def test_an_old_pool_decides_by_the_worst_or_by_what_the_old_search_had():
    pool = {"b": 1, "c": 0}  # of the old search alone
    found = measured([pool] * N, ["b", "x"], ["c", "b"], "closed")
    row = gains.gains_table(found, "old").loc["new"]
    assert (row["why"], row["ships"], row["below"]) == ("incumbent", True, False)
    less = measured([{"b": 1, "d": 0}] * N, ["b", "x"], ["c", "b"], "closed")
    row = gains.gains_table(less, "old").loc["new"]
    assert (row["why"], row["ships"], row["below"]) == ("bound", False, False)
    assert row["lowest"] < 0 < row["difference"]
    # what nobody judged may be as good as anything: the new search is not kept out
    worse = measured([{"b": 1, "c": 0}] * N, ["x", "y"], ["b", "c"], "closed")
    assert not gains.gains_table(worse, "old")["below"].item()
    known = measured(
        [{"b": 1, "c": 0, "x": 0, "y": 0}] * N, ["x", "y"], ["b", "c"], "closed"
    )
    assert gains.gains_table(known, "old")["below"].item()


def test_a_promise_is_by_the_estimate_that_loses_most():
    gain = pd.Series(np.random.default_rng(1).normal(0.2, 0.01, N))
    least = gain - 0.9 * (np.arange(N) < 6)  # if what nobody judged is as bad as it can
    values = pd.DataFrame({"old": 0.5, "new": 0.5 + gain})
    found = scored.Measured(values, pd.Series(range(N)))
    ground = grounds.Grounds(gain, (least,), (gain,), "bound")
    estimates = gains.estimated(found, {"new": ground})["new"]
    row = gains.compared(found, ground, estimates)
    assert (row["n_lost"], row["lost"]) == (0, 0)
    assert row["at_most"] > 6 / N


def test_a_list_of_what_is_relevant_counts_as_it_stands():
    found = measured([{"a": 1}] * N, ["a", "x"], ["y", "a"], "listed")
    row = gains.gains_table(found, "old").loc["new"]
    assert (row["why"], row["ships"]) == ("taken", True)
    assert found.condensed is None


def test_what_no_grade_can_tell_apart_is_equal():
    both = measured([{"a": 1}] * N, ["a", "x"], ["x", "a"], "growing")
    as_a_set = replace(both, measure=Measure(by="recall", k=2))
    row = gains.gains_table(as_a_set, "old").loc["new"]
    assert (row["why"], row["high"], row["below"]) == ("same", 0, True)


def test_a_gate_is_sure_whatever_nobody_judged():
    pool = {"a": 1, "b": 0}
    worse = measured([pool] * N, ["x", "b"], ["a", "b"], "closed")
    ground = grounds.grounds_of_gate(worse, "new", "old")
    assert ground.why == "alone"
    assert ground.gain.mean() == -1
    assert ground.worse[0].mean() > -1  # x may be relevant, too


# --- The queries that a verdict is about --------------------------------------------


def folder_in(path, sample=True, declared=""):
    """A folder with five queries: two answered, one not, one without an answer."""
    path.mkdir()
    texts = [{"id": id_, "text": f"Page {id_} on a subject"} for id_ in IDS]
    pd.DataFrame(texts).to_csv(path / "documents.csv", index=False)
    names = ["q1", "q2", "q3", "q4", "q5"]
    log = pd.DataFrame({"query_id": names, "query": [f"what is {n}" for n in names]})
    log.to_csv(path / "queries.csv", index=False)
    rows = [("q1", "a", 1), ("q1", "b", 0), ("q2", "b", 2), ("q3", "c", 0)]
    graded = pd.DataFrame(rows, columns=["query_id", "document", "grade"])
    graded = graded.merge(log, on="query_id")
    graded.to_csv(path / "judged-queries.csv", index=False)
    if declared:
        (path / "columns.toml").write_text(f'judgements_are = "{declared}"\n')
    if sample:
        drawn = log[log["query_id"] != "q2"].assign(
            place=[4, 2, 1, 3],
            course="all",
            kind="tail",
            lines=1,
            drawn="yes",
            weight=2,
        )
        (path / "judging").mkdir()
        drawn[kept.SAMPLE_COLUMNS].to_csv(path / "judging" / "sample.csv", index=False)
    return read(path)


def test_the_drawn_queries_count_in_their_order_judged_or_not(tmp_path):
    folder = folder_in(tmp_path / "drawn")
    queries = estimand(folder)
    assert queries["query_id"].tolist() == ["q4", "q3", "q5", "q1"]  # not q2
    assert queries["document"].tolist()[:2] == [{}, {"c": 0}]
    assert queries["weight"].tolist() == [2, 2, 2, 2]
    assert kind_of_judgements(folder) == "growing"


def test_without_a_sample_all_judged_queries_count_in_an_order_of_their_texts(tmp_path):
    folder = folder_in(tmp_path / "all", sample=False)
    queries = estimand(folder)
    assert sorted(queries["query_id"]) == ["q1", "q2", "q3"]
    assert queries["question"].map(as_compared).map(short_hash).is_monotonic_increasing
    assert as_compared("What  IS q1 ") == as_compared("what is q1")


def test_of_which_kind_judgements_are_is_declared_kept_or_seen(tmp_path):
    folder = folder_in(tmp_path / "pool", sample=False)
    assert kind_of_judgements(folder) == "closed"
    (folder.source / "judgements-ann.csv").touch()
    assert kind_of_judgements(folder) == "growing"
    kept.keep_first_kind(folder.source, "listed")  # one grade of 0 never flips a folder
    assert kind_of_judgements(folder) == "listed"
    declared = folder_in(tmp_path / "declared", declared="closed")
    assert kind_of_judgements(declared) == "closed"
    with refused("columns.toml", option="judgements_are"):
        folder_in(tmp_path / "wrong", declared="open")


def test_minutes_stand_beside_what_is_to_be_judged_next():
    pairs = pd.DataFrame({"query_id": ["q1"] * 40 + ["q2"] * 20, "document": "d"})
    minutes = verdicts.minutes_of(pairs)
    assert minutes == 20
    says = "judge-next.csv has 60 pairs of 2 queries, about 20 minutes."
    assert sentences.list_to_judge(60, 2, minutes) == says


# --- What a look may spend ----------------------------------------------------------


def test_all_looks_together_spend_no_more_than_the_error():
    taken = []
    for trial in range(1, 30):
        for share in (0.2, 0.5, 0.8, 1.0):
            look = looks.next_look(taken, f"trial {trial}", str(share), {"new": share})
            taken.append(look)
    spent = [
        looks.level(looks.SHIP, taken[:n], look, "new") for n, look in enumerate(taken)
    ]
    assert taken[-1].trial == 29
    assert spent[3] == pytest.approx(looks.SHIP / 4)  # half of what the trial has
    assert spent[3] > 1_000 * spent[0]  # early looks spend hardly anything
    assert sum(spent[3::4]) < looks.SHIP / 2
    alone = looks.next_look(taken, "one look", "", {"new": 1.0})
    assert looks.level(looks.SHIP, taken, alone, "new") == pytest.approx(
        looks.SHIP / 30 / 31
    )


@pytest.mark.parametrize("n_looks", [1, 2, 5, 40])
def test_looks_at_a_search_without_a_gain_ship_it_no_more_often_than_one(n_looks):
    """Walks of 200 steps: how many are ever above the limit at one of the looks?"""
    rng = np.random.default_rng(8)
    sums = rng.normal(size=(20_000, 200)).cumsum(axis=1)
    shares = np.arange(1, n_looks + 1) / n_looks
    taken = []
    crossed = np.zeros(len(sums), dtype=bool)
    for share in shares:
        look = looks.next_look(taken, "trial", str(share), {"new": share})
        error = looks.level(0.2, taken, look, "new")
        n = round(200 * share)
        crossed |= sums[:, n - 1] / n**0.5 > stats.norm.isf(error)
        taken.append(look)
    assert crossed.mean() < 0.1 + 3 * 0.0021  # a trial has half of 0.2
    assert crossed.mean() > (0.09 if n_looks == 1 else 0.045)


@pytest.mark.parametrize("share", [0.3, 0.7, 1])
def test_what_a_later_look_will_take_is_known_before(share):
    """More of the drawn queries are judged, or others are: as it comes then."""
    taken = [looks.next_look([], "other searches", "", {"new": 1.0})]
    now = looks.next_look(taken, "trial", "some", {"new": 0.2})
    taken.append(now)
    trials = now.trial, looks.n_trials(taken)
    later = looks.next_look(taken, "trial", "more", {"new": share})
    other = looks.next_look(taken, "more queries", "", {"new": 1.0})
    for look, is_growing, at in [(later, True, share), (other, True, 2)]:
        expected = 2 * looks.level(looks.SHIP, taken, look, "new")
        assert looks.levels_later(at, *trials, is_growing) == pytest.approx(expected)
    assert looks.levels_later(share, *trials, False) == pytest.approx(expected)


def test_looking_again_at_what_was_there_is_free(tmp_path):
    look = looks.next_look([], "key", "state", {"new": 1.0})
    looks.write_look(tmp_path, look)
    [first] = looks.read_looks(tmp_path)
    again = looks.next_look([first], "key", "state", {"new": 1.0})
    assert again == first
    looks.write_look(tmp_path, again)
    assert len(looks.read_looks(tmp_path)) == 1
    level = looks.level(looks.SHIP, [first], again, "new")
    assert level == pytest.approx(looks.SHIP / 2)
    other = looks.next_look([first], "another search", "state", {"new": 1.0})
    assert other.trial == 2
    (tmp_path / "judging" / "looks" / first.name).write_text("{}")
    with refused(first.name):
        looks.read_looks(tmp_path)


def test_a_look_is_told_by_what_a_search_ranks_and_ours_by_their_names():
    qrels = [{"a": 1, "b": 0, "c": 0}] * N
    found = measured(qrels, ["a", "b"], ["b", "c"], "closed")
    look = looks.look_at(found, "old", [])
    assert looks.look_at(found, "old", [look]) is look
    moved = measured(qrels, ["b", "a"], ["b", "c"], "closed")
    assert looks.look_at(moved, "old", [look]).trial == 2
    ours = looks.look_at(found, "old", [], ["new"])
    assert looks.look_at(moved, "old", [ours], ["new"]) is ours
    # more grades are another look at one trial only where people go on judging
    more = [{"a": 1, "b": 0, "c": 1}] * N
    for judgements, trial in [("closed", 2), ("growing", 1)]:
        first = looks.look_at(
            measured(qrels, ["a", "b"], ["b", "c"], judgements), "old", []
        )
        then = measured(more, ["a", "b"], ["b", "c"], judgements)
        assert looks.look_at(then, "old", [first]).trial == trial
