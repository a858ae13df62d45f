"""Small versions of the tables in docs/evidence/verdicts.md, on made-up queries."""

import numpy as np
import pandas as pd
import pytest
from evidence import judging, people, reuse

from evaluate_retrieval.judging import next_pairs
from evaluate_retrieval.measuring import gains, grounds, looks, scored

N_QUERIES = 200
DRAWS = 200


@pytest.fixture(scope="module")
def population():
    """Queries with grades, and rankings of three searches, of which none is better.

    A search finds 4 of 20 documents that only it may have, and 8 that all may have."""
    rng = np.random.default_rng(1)
    documents = []
    lists = {name: [] for name in (*judging.PAIR, judging.THIRD)}
    for query in range(N_QUERIES):
        shared = [f"q{query}-{number}" for number in range(12)]
        ids = list(shared)
        for name, of_search in lists.items():
            own = [f"q{query}-{name}-{number}" for number in range(4)]
            found = [*rng.choice(shared, 8, replace=False), *own]
            of_search.append(list(rng.permutation(found)))
            ids += own
        relevant = rng.random(len(ids)) < rng.choice([0, 0.1, 0.4])
        documents.append(dict(zip(ids, relevant.astype(int).tolist(), strict=True)))
    names = [f"q{query}" for query in range(N_QUERIES)]
    queries = pd.DataFrame({"query_id": names, "question": names, "course": "all"})
    queries = queries.assign(kind="typed", document=documents)
    return queries, {name: np.array(ids, dtype=object) for name, ids in lists.items()}


@pytest.fixture(autouse=True)
def _fewer_swaps():
    with judging.fewer_swaps():
        yield


def looks_of_the_library(queries, lists, scheme, rows, swapped):
    """Of each look the pairs that are judged, complete queries, verdict and figure.

    By what the command calls, which is slow."""
    drawn, ranked = people.in_order_of_judging(queries, lists, rows)
    both = judging.either_way(ranked, swapped)
    whole = drawn["document"]
    of_roles = both | {"third": ranked[judging.THIRD]}
    begun = judging.judged_first(whole, of_roles, judging.SCHEMES[scheme])
    state = drawn.assign(document=begun)
    earlier = []
    n_judged = 0
    verdict = ""
    asked = whole
    while not verdict and len(asked):
        measured = scored.measured_of(state, both, people.MEASURE, "growing")
        look = looks.look_at(measured, "incumbent", earlier)
        errors = looks.errors_of(earlier, look)
        row = gains.gains_table(measured, "incumbent", errors).iloc[0]
        earlier.append(look)
        verdict = "ship" if row["ships"] else "keep" if row["below"] else ""
        n = int(row["n"])
        seen = measured.gain("candidate", "incumbent")[:n].mean() if n else 0.0
        yield n_judged, n, verdict, seen
        asked = next_pairs.judge_next(both, state).head(judging.AT_ONCE)
        more = asked.groupby("query_id")["document"].agg(list)
        ids = [more.get(query, []) for query in state["query_id"]]
        qrels = judging.graded(state["document"], ids, whole)
        state = state.assign(document=qrels)
        n_judged += len(asked)


@pytest.mark.parametrize("scheme", judging.SCHEMES)
def test_looks_at_the_first_queries_are_those_of_the_library(population, scheme):
    known = judging.known_of(*population, scheme)
    rng = np.random.default_rng(2)
    drawn = judging.drawn(rng, np.full(N_QUERIES, 0.5), 120)
    quick = []
    judging.judged_to_the_end(known, *drawn, looked=quick)
    slow = list(looks_of_the_library(*population, scheme, *drawn))
    assert len(slow) > 1 or scheme == "both"
    for mine, its in zip(quick, slow, strict=False):
        if its[1] != mine[1]:  # nearly all is judged: then two estimates may agree
            assert its[1] == 120
            continue
        assert mine[:3] == its[:3]
        assert mine[3] == pytest.approx(its[3])


@pytest.mark.parametrize("scheme", judging.SCHEMES)
def test_whoever_is_judged_first_gains_nothing_by_that(population, scheme):
    known = judging.known_of(*population, scheme)
    rng = np.random.default_rng(3)
    chance = people.chances(known.after[0], 0.0)
    ended = [
        judging.judged_to_the_end(known, *judging.drawn(rng, chance, 140))
        for _ in range(DRAWS)
    ]
    row = judging.row_of(ended, 0.0)
    error = pd.DataFrame(ended)["seen"].std() / DRAWS**0.5
    assert abs(row["seen - true"]) < 3 * error
    assert row["ship"] <= 0.02
    # of a gain that is there it says so
    chance = people.chances(known.after[0], 0.8 * np.abs(known.after[0]).mean())
    ended = [
        judging.judged_to_the_end(known, *judging.drawn(rng, chance, 140))
        for _ in range(20)
    ]
    assert judging.row_of(ended, 0.0)["ship"] > 0.9


def test_a_coin_that_is_turned_gives_the_gain():
    difference = np.array([0.5, -0.1, 0.0, 0.4])
    chance = people.chances(difference, 0.05)
    assert (2 * chance - 1) @ difference / 4 == pytest.approx(0.05)


def test_of_twenty_releases_without_a_gain_hardly_one_ships(population):
    values = reuse.values_by_pool(*population)
    rng = np.random.default_rng(4)
    shipped = [
        any(reuse.ships_in_turn(reuse.roles_drawn(rng, values, 140, 20)[0]))
        for _ in range(DRAWS)
    ]
    assert np.mean(shipped) <= 2 * looks.SHIP


@pytest.mark.parametrize("pool", reuse.POOLS)
def test_bounds_of_a_closed_pool_are_those_of_the_library(population, pool):
    queries, lists = population
    lists = lists | dict.fromkeys(["b 0.6", "k1 0.9"], lists[judging.THIRD])
    roles = reuse.POOLS[pool]
    either = judging.PAIR, judging.PAIR[::-1]
    both = [reuse._in_pool(queries, lists, roles, own) for own in either]
    rows, swapped = judging.drawn(np.random.default_rng(5), np.full(N_QUERIES, 0.5), 60)
    told = reuse._told(both, rows, swapped, roles)
    drawn, ranked = people.in_order_of_judging(queries, lists, rows)
    own = judging.either_way(ranked, swapped)
    of_roles = ranked | own | {"third": ranked[judging.THIRD]}
    pooled = judging.judged_first(drawn["document"], of_roles, roles)
    state = drawn.assign(document=pooled)
    measured = scored.measured_of(state, own, people.MEASURE, "closed")
    row = gains.gains_table(measured, "incumbent").iloc[0]
    assert told["seen"] == pytest.approx(row["difference"])
    assert (told["ship"], told["keep"]) == (row["ships"], row["below"])
    ground = grounds.grounds_of(measured, "candidate", "incumbent")
    assert told["at most"] == pytest.approx(ground.worse[0].mean())
    assert ground.why == ("incumbent" if "incumbent" in roles else "bound")


@pytest.mark.slow
def test_by_what_people_judged_no_order_of_judging_ships_more():
    if not (people.PREPARED / people.NAMES[0]).exists():
        pytest.skip("needs `make collections`")
    queries, lists = people.judged_by_people()
    table = judging.table_of(queries, lists, 400, (140,))
    by_gain = table.groupby(level=1)
    assert by_gain["ship"].max()[0.0] <= 0.02
    assert by_gain["keep"].max()[0.01] <= 0.04
    assert table["seen - true"].abs().max() <= 0.008


@pytest.mark.parametrize(("loss", "most"), [(0.008, 10), (0.0, 20)])
def test_a_reference_stops_losses_that_add_up(loss, most):
    rng = np.random.default_rng(6)
    requests = [rng.normal(-loss, 0.05, 140) for _ in range(reuse.PULL_REQUESTS)]
    told = reuse._merged(requests)
    assert told["passed"] >= 18
    assert told["merged with it"] <= most
    assert told["stopped"] == (loss > 0)
