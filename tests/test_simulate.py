"""The simulation of docs/command.md, docs/gate.md and docs/online.md, on few draws."""

import numpy as np
import pytest
import simulate

from course import intervals
from evaluate_retrieval import decision


@pytest.mark.parametrize("name", simulate.NO_GAIN)
def test_a_population_gains_nothing_on_the_mean(name):
    rng = np.random.default_rng(0)
    draws = [simulate.NO_GAIN[name](rng, 2_000, 2) for _ in range(30)]
    means = [sums.sum(axis=1) / sizes.sum() for sums, sizes in draws]
    assert np.abs(np.mean(means)) < 0.004


def test_a_draw_ships_what_the_command_ships(monkeypatch):
    monkeypatch.setattr(intervals, "SWAPS", 10_000)
    rng, verdicts = np.random.default_rng(1), []
    for _ in range(20):
        needs = simulate.of_collections(rng, 286, 2, gain=0.05)
        measured = simulate.measured_of(*needs)
        verdicts.append(decision.decide(measured, incumbent="old").verdict == "ship")
        assert simulate.table_of(*needs)["ships"].any() == verdicts[-1]
    assert sum(verdicts) > 10


def test_two_teams_pick_their_best_results_in_turn():
    team_draft, rng = simulate.team_draft(), np.random.default_rng(2)
    rankings, first = {"a": [*"abcdefghij"], "b": [*"jbkalmnopq"]}, []
    for _ in range(200):
        shown, teams = team_draft(*rankings.values(), rng)
        assert len({*shown}) == 10
        assert sorted(teams) == [*"aaaaabbbbb"]
        for team, ranking in rankings.items():
            picks = [id_ for id_, its in zip(shown, teams, strict=True) if its == team]
            assert picks == sorted(picks, key=ranking.index)
        first.append(teams[0])
    assert 70 < first.count("a") < 130
    assert team_draft(["x"], ["x", "y"], rng)[0] == ["x", "y"]
