"""How many needs a verdict takes, and whether it comes then."""

import json
import runpy
from types import SimpleNamespace

import n06_claims as claims
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evaluate_retrieval import power, utils
from evaluate_retrieval.line import main
from evaluate_retrieval.measuring import (
    decision,
    graders,
    intervals,
    metric,
    pairs,
    plan,
    scored,
    tuning,
    verdicts,
)
from evaluate_retrieval.measuring.gains import expected
from evaluate_retrieval.reading import places
from evaluate_retrieval.words import sentences

N = 60
GAINS = pd.Series(np.random.default_rng(1).normal(0, 0.2, N))
GAINS = (GAINS - GAINS.mean()) / GAINS.std() * 0.2
SAMPLE = pd.Series(range(N)), None
FEW_SHIP = " ship nothing: a verdict takes 50 queries."


@pytest.mark.parametrize("margin", [0, 0.01, 0.03])
def test_power_answers_by_the_rule_of_a_plan(margin):
    """With gains of each spread that have no large loss."""
    table = plan.power([0.05, 0.02], margin)
    for name, spread in plan.SPREADS.unstack().items():
        gains = GAINS / 0.2 * spread
        gains = gains.clip(-0.5)
        gains *= spread / intervals.standard_error(gains, *SAMPLE) / np.sqrt(N)
        for size in [0.05, 0.02]:
            needs = plan.groups_to_ship(gains, SAMPLE, size, margin=margin)
            told = max(needs, tuning.FEW) if needs < 1_000_000 else pd.NA
            assert table.loc[size, name] is told or table.loc[size, name] == told
    for name, needs in table.loc[0.05].xs("median", level=1).items():
        assert plan.can_show(needs, margin)[name] == pytest.approx(0.05, rel=0.01)
    assert table.loc[0.02].isna().all() == (margin == 0.03)


def test_power_names_no_number_that_cannot_ship():
    table = plan.power()["another setting", "median"]
    assert table.to_list()[1:] == [462, 192, 95, tuning.FEW]
    assert table.isna().to_list() == [True, False, False, False, False]
    # without a margin half the gain takes four times the needs
    free = plan.power([0.01, 0.02], 0)["another setting", "highest"]
    assert free[0.01] == pytest.approx(4 * free[0.02], rel=0.01)
    z = stats.norm.isf(plan.LEVEL / 2) + stats.norm.isf(0.2)
    assert free[0.01] == pytest.approx((z * 0.18 / 0.01) ** 2, rel=0.01)


def test_a_plan_is_for_the_rule_that_ships():
    """The gain that four in five reach is significant, and promises the margin."""
    made = plan.plan_of(GAINS, SAMPLE, worth=0.03)
    assert made.more == made.needs - N
    five = plan.plan_of(GAINS, SAMPLE, worth=0.03, n_tests=5)
    for needs, level in [(made.needs, plan.LEVEL), (five.needs, plan.LEVEL / 5)]:
        error = 0.2 / np.sqrt(needs)
        gain = 0.03 - 0.842 * error
        assert gain / error > stats.norm.isf(level / 2)
        row = {
            "difference": gain,
            "low": gain - 1.96 * error,
            "high": gain + 1.96 * error,
        }
        assert expected(row, level / 2) == pytest.approx(decision.MARGIN, abs=1e-3)
    without = plan.plan_of(GAINS, SAMPLE)
    assert (without.worth, without.is_given) == (decision.MARGIN, False)
    enough = plan.plan_of(GAINS, SAMPLE, worth=0.5)
    assert (enough.needs, enough.more) == (tuning.FEW, 0)
    # what so many needs ship is what takes so many
    for rule in [(1, 0.01, 0.01), (5, 0.01, 0.001), (1, 0.3, 0.01)]:
        smallest = plan.smallest_to_ship(GAINS, SAMPLE, *rule)
        *tested, level = rule  # candidates, the margin, and below which p ships
        asked = GAINS, SAMPLE, smallest, *tested, lambda n, level=level: level
        n = plan.groups_to_ship(*asked)
        assert n == pytest.approx(N, abs=1)
        few = GAINS[:5], (pd.Series(range(5)), None)
        assert np.isnan(plan.smallest_to_ship(*few, *rule))
    assert smallest > 0.3


def of_two_people(n):
    """Two searches on n queries, and what two people who seldom agree do to them."""
    ids = [f"q{number}" for number in range(n)]
    qrels = [{"a": number % 2, "b": 1} for number in range(n)]
    queries = pd.DataFrame({"query_id": ids, "question": ids, "document": qrels})
    ranks = {"new": [["b", "a"]] * n, "old": [["a", "b"]] * n}
    lists = {name: utils.pad(rows, 2) for name, rows in ranks.items()}
    measured = scored.measured_of(queries, lists, metric.Measure(k=2), "closed")
    judgements = pd.DataFrame({"query_id": ids, "document": "a"})
    judgements["grades"] = "ann=1;ben=0"
    return graders.with_doubts(measured, judgements)


def test_people_who_differ_cost_needs():
    """A verdict goes by a wider interval then, on more needs as on these."""
    pair = "new", "old"
    measured = of_two_people(N)
    doubt = measured.doubt(*pair, N)
    later = of_two_people(4 * N).doubt(*pair, 4 * N)
    assert later == pytest.approx(doubt / 2, rel=0.1)  # as the error of the mean is
    made = plan.plan_of(GAINS, SAMPLE, 0.03, doubt=0.02)
    assert made.needs > plan.plan_of(GAINS, SAMPLE, 0.03).needs
    error = 0.2 / np.sqrt(made.needs)
    gain = 0.03 - 0.842 * error
    half = 1.96 * np.hypot(error, 0.02 * np.sqrt(N / made.needs))
    row = {"difference": gain, "low": gain - half, "high": gain + half}
    assert expected(row, plan.LEVEL / 2) == pytest.approx(decision.MARGIN, abs=1e-3)
    certain = scored.replace(measured, doubts={})
    smallest = [pairs.summary(each, pair)["smallest"] for each in (measured, certain)]
    assert smallest[0] > 1.05 * smallest[1]
    asked = SimpleNamespace(worth=0.05, margin=0.01)
    by_people, by_one = (
        verdicts.plan_for(each, pair, N, asked) for each in (measured, certain)
    )
    assert by_people.needs > by_one.needs
    assert by_people.chances[50] < by_one.chances[50]


def test_weights_and_needs_of_unequal_size_cost_needs():
    weights = np.where(np.arange(N) % 2, 1.8, 0.2)
    made = plan.plan_of(GAINS, (SAMPLE[0], weights), worth=0.03)
    assert made.effect == pytest.approx(intervals.design_effect(weights))
    assert made.needs > 1.3 * plan.plan_of(GAINS, SAMPLE, worth=0.03).needs
    assert "design effect of 1.6" in sentences.plan(made, "new")


def test_the_chance_to_ship_is_that_of_the_posterior():
    """By drawing: a true gain, then the groups that come, then the rule."""
    rng = np.random.default_rng(5)
    gain = GAINS + 0.05
    n_more = 200
    n = N + n_more
    true = rng.normal(
        0.05 * N / (N + plan.PRIOR), 0.2 / np.sqrt(N + plan.PRIOR), 40_000
    )
    new = rng.normal(true, 0.2 / np.sqrt(n_more))
    means = (N * 0.05 + n_more * new) / n
    error = 0.2 / np.sqrt(n)
    limit = stats.norm.isf(plan.LEVEL / 2) * error
    rows = [
        {"difference": gain, "low": gain - 1.96 * error, "high": gain + 1.96 * error}
        for gain in np.linspace(limit, limit + 0.05, 200)
    ]
    promised = [expected(row, plan.LEVEL / 2) for row in rows]
    least = rows[np.searchsorted(promised, decision.MARGIN)]["difference"]
    ships = np.mean(means > max(limit, least))
    assert plan.chance_to_ship(gain, SAMPLE, n_more) == pytest.approx(ships, abs=0.01)
    chances = plan.plan_of(gain, SAMPLE).chances
    strict = {"level": lambda n: np.full(np.shape(n), 0.001)}
    asked = plan.plan_of(gain, SAMPLE, worth=0.05, **strict)
    assert asked.needs > plan.plan_of(gain, SAMPLE, worth=0.05).needs
    assert all(asked.chances[n] < chances[n] for n in chances)
    assert list(chances) == plan.MORE
    assert sorted(chances.values()) == list(chances.values())
    assert plan.chance_to_ship(gain, SAMPLE, 200, n_tests=5) < chances[200]


def test_a_plan_says_needs_minutes_and_chances():
    made = plan.plan_of(GAINS + 0.05, SAMPLE, worth=0.03, pairs_each=15)
    assert made.minutes(100) == 100 * 15 * plan.PAIR_SECONDS / 60
    says = sentences.plan(made, "new")
    minutes = f"{round(made.minutes(made.more)):,} minutes"
    assert says.startswith(
        f"A gain of 0.03 ships four times in five with {made.needs} needs: judge "
        f"{made.more} more ({minutes})."
    )
    assert "“new” ships after 50 more (250 minutes) with a chance of" in says
    assert "the margin" not in says
    without = sentences.plan(plan.plan_of(GAINS, SAMPLE), "new")
    assert without.startswith("A gain of 0.01 (the margin; --worth names what")
    assert "minutes" not in without
    # a search has to be expected to gain the margin, so half of these never ship
    assert "ships less often than four times in five, even with a million" in without


def test_evaluate_compare_and_power_plan_for_what_a_gain_is_worth(tmp_path, capsys):
    rng = np.random.default_rng(2)
    words = ["red", "blue", "green", "old", "new", "cold", "warm", "loud"]
    names = [f"{a} {b}" for a in words for b in words if a != b]
    rows = "".join(
        f'{{"id": "d{n}", "text": "{name}"}}\n' for n, name in enumerate(names)
    )
    (tmp_path / "documents.jsonl").write_text(rows)
    lines = ["query_id,query,document,grade"]
    runs = {"one": [], "two": []}
    for n, name in enumerate(names):
        lines += [f"q{n},{name}?,d{n},1", f"q{n},{name}?,d{(n + 1) % 56},0"]
        for run in runs.values():
            ids = [f"d{n}", f"d{(n + 1) % 56}"]
            if rng.random() < 0.5:
                ids.reverse()
            run += [f"q{n} Q0 {id_} {r} {9 - r} x" for r, id_ in enumerate(ids, 1)]
    (tmp_path / "judged-queries.csv").write_text("\n".join(lines))
    (tmp_path / "runs").mkdir()
    for name, run in runs.items():
        (tmp_path / "runs" / f"{name}.trec").write_text("\n".join(run))
    out = ["--out", str(tmp_path / "out"), "--only-own", "--incumbent", "one"]
    main(["evaluate", str(tmp_path), *out, "--worth", "0.04"])
    said = capsys.readouterr().out
    assert "A gain of 0.04 ships four times in five with" in said
    assert "with a chance of" in said
    main(["evaluate", str(tmp_path), *out])
    assert "A gain of 0.01 (the margin; --worth names" in capsys.readouterr().out
    words = ["compare", str(tmp_path), "two", "one"]
    main([*words, *out[:3], "--worth", "0.04", "--json"])
    result = json.loads(capsys.readouterr().out)
    assert "A gain of 0.04 ships four times in five with" in result["says"]
    assert result["plan"]["worth"] == 0.04
    assert 0.5 < result["plan"]["pairs_each"] < 1.5  # half of the lists differ
    assert main(["power", "--worth", "0.04"]) == 0
    [row] = [line for line in capsys.readouterr().out.splitlines() if "0.04 " in line]
    assert str(plan.power([0.04]).iloc[0, 1]) in row
    assert main(["power", "--worth", "0.04", "--margin", "0.04"]) == 0
    assert "even a million are too few, by a margin of 0.04" in capsys.readouterr().out
    assert main(["power", "--worth", "2"]) == 3


def test_power_counts_what_a_verdict_is_about(tmp_path):
    """Queries without a relevant document, too; fewer than FEW ship nothing."""
    (tmp_path / "documents.csv").write_text("id,text\nd1,one\nd2,two\n")
    rows = [f"q{n},about {n},d1,{n % 5 > 0:d}\n" for n in range(60)]
    path = tmp_path / "judged-queries.csv"
    path.write_text("query_id,query,document,grade\n" + "".join(rows))
    result = power(tmp_path)
    assert result["groups"] == 60
    assert result["shown"] == plan.can_show(60).to_dict()
    assert result["needed"]["0.01"] == [None] * 6
    assert power(tmp_path, margin=0)["shown"] == plan.can_show(60, 0).to_dict()
    path.write_text("query_id,query,document,grade\n" + "".join(rows[:49]))
    few = power(tmp_path)
    assert few.says.endswith("49 needs of " + tmp_path.name + FEW_SHIP)
    assert few["shown"] == {"another setting": None, "another kind of search": None}


def pairs_of_spreads():
    """Pairs of searches, and what each gains: by name, tuples of gains and groups."""
    pairs = {
        "another setting": [
            ("BM25, our setting", "BM25, stems"),
            ("sum, 0.8", "sum, 0.5"),
        ],
        "another kind of search": [
            ("vectors", "BM25, stems"),
            ("sum, 0.8", "BM25, stems"),
        ],
    }
    for name, named in pairs.items():
        of_pairs = []
        for collection in ["ours", *claims.NAMES]:
            table = claims.recorded_values(collection).reset_index()
            of_pairs += [(table[a] - table[b], table["need"]) for a, b in named]
        yield name, of_pairs


def spread_of(gain, groups):
    return intervals.standard_error(gain, groups) * np.sqrt(groups.nunique())


def test_the_spreads_are_those_of_the_collections():
    for name, of_pairs in pairs_of_spreads():
        spreads = [spread_of(*pair) for pair in of_pairs]
        expected = np.median(spreads), min(spreads), max(spreads)
        written = plan.SPREADS[name]
        given = [written[which] for which in ("median", "lowest", "highest")]
        assert given == pytest.approx(expected, abs=0.006)


def test_what_is_known_before_is_what_another_setting_gains():
    of_pairs = dict(pairs_of_spreads())["another setting"]
    ratios = [np.mean(gain) / spread_of(gain, groups) for gain, groups in of_pairs]
    assert 1 / np.mean(np.square(ratios)) == pytest.approx(plan.PRIOR, abs=0.5)


@pytest.mark.slow
def test_the_table_of_the_manual_comes_out_small():
    """What the plan names ships in about 0.8, and the chances come true."""
    evidence = runpy.run_path(str(places.ROOT / "scripts" / "evidence" / "plan.py"))
    table = evidence["after_the_plan"](n_draws=8, seed=2)
    shares = table["ships then"].astype(float)
    assert 0.62 < shares.mean() < 0.94  # of 64 draws
    came = evidence["chances_that_come"](n_draws=10, seed=2)
    assert came["predicted"].mean() == pytest.approx(came["ships"].mean(), abs=0.1)
