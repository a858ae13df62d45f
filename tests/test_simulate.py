"""The simulation of docs/command.md, docs/gate.md and docs/online.md, on few draws."""

import numpy as np
import pytest
import simulate

from evaluate_retrieval import decision


@pytest.mark.parametrize("name", simulate.NO_GAIN)
def test_a_population_gains_nothing_on_the_mean(name):
    rng = np.random.default_rng(0)
    draws = [simulate.NO_GAIN[name](rng, 2_000, 2) for _ in range(30)]
    means = [sums.sum(axis=1) / sizes.sum() for sums, sizes in draws]
    assert np.abs(np.mean(means)) < 0.004


def test_a_draw_ships_what_the_command_ships():
    rng, n_shipped = np.random.default_rng(1), 0
    for _ in range(20):
        sums, sizes = simulate.of_collections(rng, 286, 2, gain=0.05)
        measured = simulate.measured_of(sums, sizes)
        verdict = decision.decide(measured, incumbent="old").verdict
        assert simulate.ships(sums, sizes) == (verdict == "ship")
        n_shipped += verdict == "ship"
    assert n_shipped > 10


def test_two_teams_pick_their_best_results_in_turn():
    team_draft, rng = simulate.team_draft(), np.random.default_rng(2)
    a, b = list("abcdefghij"), list("jbkalmnopq")
    first = []
    for _ in range(200):
        shown, teams = team_draft(a, b, rng)
        assert len({*shown}) == len(shown) == len(teams) == 10
        assert teams.count("a") == teams.count("b") == 5
        for team, ranking in {"a": a, "b": b}.items():
            mine = [id_ for id_, its in zip(shown, teams, strict=True) if its == team]
            assert mine == [id_ for id_ in ranking if id_ in mine]
        first.append(teams[0])
    assert 70 < first.count("a") < 130
    assert team_draft(["x"], ["x", "y"], rng, k=10)[0] == ["x", "y"]
    assert team_draft([], [], rng) == ([], [])
