"""Test how far people agree who graded, and what a verdict owes to them.

Four judges are simulated, with confusions that are stated here. No figure is of
people."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy
from sklearn.metrics import cohen_kappa_score

from evaluate_retrieval import evaluate, utils
from evaluate_retrieval.judging import agreed
from evaluate_retrieval.measuring import gains, graders, intervals, scored, tuning
from evaluate_retrieval.measuring.metric import Measure
from evaluate_retrieval.measuring.plan import SURE
from evaluate_retrieval.reading.graded import combined
from evaluate_retrieval.words.templates import render

N = 60  # queries of a folder
NOISE = 2.0  # of the new search: it is better, by so little that grades decide
# of each judge, how often a true grade of 0, 1 or 2 becomes which
CONFUSIONS = {
    "ann": [[0.97, 0.03, 0.0], [0.05, 0.90, 0.05], [0.0, 0.05, 0.95]],
    "ben": [[0.90, 0.09, 0.01], [0.10, 0.80, 0.10], [0.02, 0.13, 0.85]],
    "kind": [[0.60, 0.35, 0.05], [0.0, 0.70, 0.30], [0.0, 0.0, 1.0]],
    "strict": [[1.0, 0.0, 0.0], [0.40, 0.60, 0.0], [0.05, 0.45, 0.50]],
}
PEOPLE = [("ann", "ben"), ("kind", "strict"), ("ann", "kind"), ("ben", "strict")]
PEOPLE += [("ann", "strict"), ("ben", "kind")]


def judged(n_pairs=200, n_queries=50, seed=5, people=PEOPLE):
    """Grades of two simulated judges for each of some pairs: a table of judgements."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(n_pairs):
        query = number % n_queries
        true = rng.choice(3, p=[0.55, 0.25, 0.2])
        pair = people[query % len(people)]
        given = {name: rng.choice(3, p=CONFUSIONS[name][true]) for name in pair}
        cell = ";".join(f"{name}={grade}" for name, grade in given.items())
        rows.append((f"q{query}", f"d{number // n_queries}", cell))
    table = pd.DataFrame(rows, columns=["query_id", "document", "grades"])
    given = [graders.told_in(cell) for cell in table["grades"]]
    return table.assign(grade=combined(pd.DataFrame(given).astype(float)))


def grades_of(table, person):
    """The grades of a person, and those of the others of the same pairs."""
    mine, theirs = [], []
    for cell in table["grades"]:
        given = graders.told_in(cell)
        if person in given:
            mine += [int(given[person])] * (len(given) - 1)
            theirs += [int(given[name]) for name in given if name != person]
    return np.array(mine), np.array(theirs)


def test_agreement_is_what_scikit_learn_says_and_a_strict_judge_is_seen():
    table = judged()
    agreement = agreed.agreement_of(table)
    for person in CONFUSIONS:
        mine, theirs = grades_of(table, person)
        row = agreement.loc[person]
        kappa = cohen_kappa_score(mine, theirs, weights="quadratic")
        assert row["kappa"] == pytest.approx(kappa)
        assert row["kappa_low"] < kappa < row["kappa_high"]
        assert row["same"] == pytest.approx(np.mean(mine == theirs))
        assert row["above"] == pytest.approx(np.mean(mine - theirs))
        assert row["pairs"] == len(mine)
    assert agreement.loc["", "pairs"] == 200
    both_ways = [grades_of(table, person) for person in CONFUSIONS]
    mine, theirs = np.concatenate(both_ways, axis=1)
    kappa = cohen_kappa_score(mine, theirs, weights="quadratic")
    assert agreement.loc["", "kappa"] == pytest.approx(kappa)
    assert agreement.loc["kind", "above_low"] > 0
    assert agreement.loc["strict", "above_high"] < 0
    says = agreed.agreement_in_words(agreement)
    assert says.startswith("200 pairs have two grades, the same for ")
    assert f"κ {kappa:.2f}" in says


def test_the_interval_of_an_agreement_holds_the_truth_as_often_as_it_says():
    """Queries are drawn; the truth is the κ of very many such pairs."""
    people = [("ann", "ben")]
    mine, theirs = grades_of(judged(20_000, 5_000, 1, people), "ann")
    truth = cohen_kappa_score(mine, theirs, weights="quadratic")
    n_held = 0
    for seed in range(60):
        row = agreed.agreement_of(judged(120, 40, 100 + seed, people)).loc["ann"]
        n_held += row["kappa_low"] <= truth <= row["kappa_high"]
    assert 52 <= n_held <= 60


def test_three_people_on_a_pair_are_three_comparisons_and_one_pair():
    cells = ["ann=1;ben=1;eva=0"] * 4 + ["ann=1;ben=1"]
    table = pd.DataFrame({"query_id": [*"qrstu"], "document": "d", "grades": cells})
    says = agreed.agreement_in_words(agreed.agreement_of(table))
    told = "5 pairs have two or more grades, the same for 38% of 13 comparisons of two"
    assert says.startswith(told)
    shown = {"folder": "f", "style": "", "people": [], "n_open": 4}
    shown |= {"before": None, "after": None}
    page = render("lead.html.j2", agreement=agreed.agreement_of(table), **shown)
    assert "in 38% of 13 comparisons of two people, of 5 pairs." in page


def test_where_nobody_judged_twice_there_is_no_agreement():
    table = pd.DataFrame({"query_id": ["q"], "document": ["d"], "grades": ["ann=2"]})
    assert agreed.agreement_of(table).empty
    assert agreed.agreement_in_words(agreed.agreement_of(table)) == ""
    assert agreed.agreement_of(table.drop(columns="grades")).empty
    same = pd.DataFrame({"query_id": [*"qr"], "document": "d", "grades": "a=0;b=0"})
    row = agreed.agreement_of(same).loc[""]
    assert row["same"] == 1
    assert np.isnan(row["kappa"])  # nobody gave another grade
    assert "κ" not in agreed.agreement_in_words(agreed.agreement_of(same))


# --- Decisions -----------------------------------------------------------------------


def measured_by(table, n_queries):
    """Two searches on judged queries: the new one turns the first results round."""
    rng = np.random.default_rng(11)
    ids = [f"q{number}" for number in range(n_queries)]
    qrels = [
        dict(zip(part["document"], part["grade"], strict=True))
        for _, part in table.groupby("query_id", sort=False)
    ]
    ranked = {"old": [], "new": []}
    for qrel in qrels:
        documents = list(rng.permutation([*qrel]))
        ranked["old"].append(documents)
        guesses = [qrel[id_] + rng.normal(0, NOISE) for id_ in documents]
        better = [documents[place] for place in np.argsort(guesses)[::-1]]
        ranked["new"].append(better)
    queries = pd.DataFrame({"query_id": ids, "question": ids, "document": qrels})
    rankings = {name: utils.pad(rows, 4) for name, rows in ranked.items()}
    return scored.measured_of(queries, rankings, Measure(k=4), "closed")


def rule(gain, margin=0.01):
    """The rule for one candidate on a gain as it stands, by scipy alone: other code."""
    n = len(gain)
    test = scipy.stats.ttest_1samp(gain, 0)
    error = scipy.stats.sem(gain)
    lost = scipy.stats.binomtest(int((gain < -0.5).sum()), n, alternative="less")
    at_most = lost.proportion_ci(1 - SURE).high
    is_better = test.pvalue < 0.01 and test.confidence_interval(0.95).low > 0
    pays = gain.mean() > at_most - (gain < -0.5).mean()
    if is_better and pays and expected(gain.mean() / error) * error >= margin:
        return "ship new"
    high = gain.mean() + scipy.stats.t.isf(0.0125, n - 1) * error
    return "keep" if high < margin else "undecided"


def expected(ratio):
    """The gain that looks larger than this one half of the times that it ships."""
    limit = scipy.stats.norm.isf(0.005)
    if ratio <= limit:
        return 0.0
    grid = np.linspace(0, ratio, 20_001)
    shares = scipy.stats.norm.sf(ratio - grid) / scipy.stats.norm.sf(limit - grid)
    return grid[np.argmax(shares >= 0.5)]


@pytest.fixture(scope="module")
def doubtful():
    """200 pairs of 50 queries, judged twice: the table, and two searches."""
    table = judged()
    measured = measured_by(table, 50)
    return table, graders.with_doubts(measured, table)


@pytest.fixture(scope="module")
def by_hand(doubtful):
    """Gains of new over old where one grade is drawn for each pair: loops."""
    table, measured = doubtful
    n_draws = 250
    rng = np.random.default_rng(3)
    rows = []
    for _ in range(n_draws):
        picked = table["grades"].map(
            lambda cell: float(rng.choice([*graders.told_in(cell).values()]))
        )
        drawn = table.assign(grade=picked)
        gains = []
        for number, (_, part) in enumerate(drawn.groupby("query_id", sort=False)):
            qrel = dict(zip(part["document"], part["grade"], strict=True))
            values = {}
            for name in ("old", "new"):
                found = [qrel[id_] for id_ in measured.first[name][number]]
                ideal = sorted(qrel.values(), reverse=True)
                discounts = 1 / np.log2(np.arange(2, 6))
                best = np.dot(ideal, discounts)
                values[name] = np.dot(found, discounts) / best if best else 0.0
            gains.append(values["new"] - values["old"])
        rows.append(gains)
    return np.array(rows)


def test_drawn_grades_give_the_values_that_loops_give(doubtful, by_hand):
    _, measured = doubtful
    mine = measured.doubts["new"] - measured.doubts["old"]
    assert mine.shape == (1_000, 50)
    assert mine.mean() == pytest.approx(by_hand.mean(), abs=0.003)
    deviation = by_hand.mean(axis=1).std()
    assert mine.mean(axis=1).std() == pytest.approx(deviation, rel=0.15)
    assert measured.doubt("new", "old", 50) == pytest.approx(mine.mean(axis=1).std())


RULE = ("old", None, 0.01, "new")  # incumbent, errors, margin, rival


def test_how_often_a_decision_turns_is_what_other_code_counts(doubtful, by_hand):
    table, measured = doubtful
    graded = graders.graded_by(measured, table, *RULE, gains.known_of(measured, "old"))
    today = rule(measured.gain("new", "old").to_numpy())
    mine = measured.doubts["new"] - measured.doubts["old"]
    turned = np.mean([rule(gains) != today for gains in mine])
    assert graded.turned == pytest.approx(turned, abs=0.002)  # the same draws
    by_loops = np.mean([rule(gains) != today for gains in by_hand])
    assert 0.1 < by_loops < 0.9  # else the test would see nothing
    assert graded.turned == pytest.approx(by_loops, abs=0.1)
    assert set(graded.alone) == {*CONFUSIONS}
    for person in graded.alone:
        given = table["grades"].map(graders.told_in)
        grades = [
            float(of_pair.get(person, grade))
            for of_pair, grade in zip(given, table["grade"], strict=True)
        ]
        by_person = measured_gain(table.assign(grade=grades), measured)
        assert graded.gain_by(person)["difference"] == pytest.approx(by_person)


def test_a_decision_turns_by_the_queries_that_count(doubtful, monkeypatch):
    """People differ on the last queries alone, and the first ones decide."""
    monkeypatch.setattr(tuning, "FEW", 20)
    table, measured = doubtful
    n = 25
    doubts = {name: values.copy() for name, values in measured.doubts.items()}
    for name, values in doubts.items():
        values[:, :n] = measured.values[name][:n]
    of_last = scored.replace(measured, doubts=doubts)
    known = gains.known_of(of_last, "old")
    ground = known.grounds["new"]
    first = gains.Known({"new": scored.replace(ground, gain=ground.gain[:n])}, {})
    turned = [
        graders.graded_by(of_last, table, *RULE, each).turned for each in (known, first)
    ]
    assert turned[0] > turned[1] == 0


def test_a_search_that_is_left_out_is_so_by_each_persons_grades(doubtful):
    table, measured = doubtful
    lists = {**measured.ranked, "barred": measured.ranked["new"]}
    parts = measured.queries, lists, measured.measure, measured.judgements
    whole = graders.with_doubts(scored.measured_of(*parts), table)
    known = gains.known_of(measured, "old")
    graded = graders.graded_by(whole.without(["barred"]), table, *RULE, known)
    assert {name for each in graded.alone.values() for name in each.table.index} == {
        "new"
    }


def measured_gain(table, measured):
    qrels = [
        dict(zip(part["document"], part["grade"], strict=True))
        for _, part in table.groupby("query_id", sort=False)
    ]
    queries = measured.queries.assign(document=qrels)
    theirs = scored.measured_of(queries, measured.ranked, measured.measure, "closed")
    return theirs.gain("new", "old").mean()


def test_disagreement_widens_the_interval_of_a_verdict_once(doubtful):
    _, measured = doubtful
    certain = scored.replace(measured, doubts={})
    wide = gains.gains_table(measured, "old").loc["new"]
    narrow = gains.gains_table(certain, "old").loc["new"]
    doubt = measured.doubt("new", "old", 50)
    assert doubt > 0.002
    assert wide["difference"] == narrow["difference"]
    z = scipy.stats.norm.isf(0.025)
    half = (narrow["high"] - narrow["low"]) / 2
    assert (wide["high"] - wide["low"]) / 2 == pytest.approx(np.hypot(half, z * doubt))
    assert wide["p"] > narrow["p"]
    assert wide["most"] > narrow["most"]
    # as a bootstrap of queries that draws a grade with each resample
    rng = np.random.default_rng(2)
    gained = measured.doubts["new"] - measured.doubts["old"]
    means = [
        gained[rng.integers(1_000), rng.integers(50, size=50)].mean()
        for _ in range(4_000)
    ]
    by_draws = scipy.stats.t.isf(0.025, 49) * np.std(means) * np.sqrt(50 / 49)
    # the grades that count, the lower ones, vary more from query to query
    assert (wide["high"] - wide["low"]) / 2 == pytest.approx(by_draws, rel=0.15)


def test_what_nobody_judged_twice_is_decided_as_before(doubtful):
    table, measured = doubtful
    alone = table.assign(grades="ann=" + table["grade"].map("{:g}".format))
    assert graders.with_doubts(measured, alone).doubts == {}
    assert graders.with_doubts(measured, alone.drop(columns="grades")).doubts == {}
    same = table.assign(grades="ann=1;ben=1")
    assert graders.with_doubts(measured, same).doubts == {}
    settled = table.assign(grades="ann=1;ben=2;settled=2")
    assert graders.with_doubts(measured, settled).doubts == {}
    certain = scored.replace(measured, doubts={})
    assert graders.graded_by(certain, table, *RULE, None) is None
    figures = {"difference": 0.1, "low": 0.0, "high": 0.2, "p": 0.04}
    frame = pd.DataFrame([figures])
    assert intervals.widened(frame, 0.0) is frame


def test_the_report_says_what_it_owes_to_who_graded(tmp_path):
    source = tmp_path / "faq"
    source.mkdir()
    documents = [
        {"id": f"d{n}", "question": f"T{n}", "text": f"w{n}"} for n in range(40)
    ]
    (source / "documents.json").write_text(json.dumps(documents))
    rng = np.random.default_rng(1)
    rows = []
    for number in range(N):
        for document in range(4):
            grades = rng.integers(0, 3, size=2)
            cell = f"ann={grades[0]};ben={grades[1]}"
            rows.append(
                (f"q{number}", f"ask {number}", f"d{document}", min(grades), cell)
            )
    columns = ["query_id", "query", "document", "grade", "grades"]
    pd.DataFrame(rows, columns=columns).to_csv(
        source / "judged-queries.csv", index=False
    )
    searches = {
        "old": lambda question, course: ["d0", "d1", "d2", "d3"],
        "new": lambda question, course: ["d3", "d2", "d1", "d0"],
    }
    how = {"searches": searches, "incumbent": "old", "only_own": True}
    result = evaluate(source, out=tmp_path / "out", **how)
    assert "draw one of them for each pair" in result.says
    assert "the grades of one person" in result.says
    assert [each["person"] for each in result["graders"]["alone"]] == ["ann", "ben"]
    page = (tmp_path / "out/report.html").read_text()
    assert "Who judged" in page
    assert "240 pairs have two grades" in page
