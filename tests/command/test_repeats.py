"""Runs of one system are one candidate: its figures are means over them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from evidence import repeats as evidence
from evidence import simulated
from refusals import refused

from evaluate_retrieval import compare, evaluate
from evaluate_retrieval.measuring import grounds, judged, scored
from evaluate_retrieval.measuring.metric import Measure
from evaluate_retrieval.reading.columns import settings_in
from evaluate_retrieval.searching.own import Search
from evaluate_retrieval.searching.repeats import as_systems

N = 60
DOCUMENTS = [f"d{n}" for n in range(40)]


def rankings_of(seed):
    """Rankings of N queries: ten documents each, in a random order."""
    random = np.random.default_rng(seed)
    return np.array([random.permutation(DOCUMENTS)[:10] for _ in range(N)])


def queries_of(share_judged=1.0):
    """N queries with grades 0 and 1 for about so many of the documents."""
    random = np.random.default_rng(9)
    qrels = [
        {
            id_: int(random.random() < 0.3)
            for id_ in DOCUMENTS
            if random.random() < share_judged
        }
        | {"d0": 1}
        for _ in range(N)
    ]
    ids = [f"q{n}" for n in range(N)]
    table = pd.DataFrame({"query_id": ids, "question": ids, "need": ids})
    return table.assign(course="all", document=qrels)


@pytest.fixture
def folder(tmp_path):
    """A folder with judgements, today's run, and three seeds of another system."""
    root = tmp_path / "folder"
    (root / "runs").mkdir(parents=True)
    queries = queries_of()
    pd.DataFrame(
        {"id": DOCUMENTS, "text": [f"text of {id_}" for id_ in DOCUMENTS]}
    ).to_csv(root / "documents.csv", index=False)
    queries[["query_id", "question"]].to_csv(root / "queries.csv", index=False)
    rows = [
        (row["query_id"], id_, grade)
        for _, row in queries.iterrows()
        for id_, grade in row["document"].items()
    ]
    pd.DataFrame(rows, columns=["query_id", "doc_id", "grade"]).to_csv(
        root / "qrels.csv", index=False
    )
    for seed, name in enumerate(["today", "new-seed1", "new-seed2", "new-seed3"]):
        write_run(root / "runs" / f"{name}.trec", rankings_of(seed))
    return root


def write_run(path: Path, rankings):
    path.write_text(
        "".join(
            f"q{n} Q0 {id_} {rank} {1 / rank} run\n"
            for n, row in enumerate(rankings)
            for rank, id_ in enumerate(row, 1)
        )
    )


def test_a_column_seed_has_the_runs_of_one_system(folder):
    for path in (folder / "runs").glob("new-*"):
        path.unlink()
    rows = [
        (f"q{n}", id_, rank, seed)
        for seed in (1, 2, 3)
        for n, row in enumerate(rankings_of(seed))
        for rank, id_ in enumerate(row, 1)
    ]
    columns = ["query_id", "document", "rank", "seed"]
    table = pd.DataFrame(rows, columns=columns)
    table.to_csv(folder / "runs" / "other.csv", index=False)
    outcome = evaluated(folder)
    assert {row["search"] for row in outcome["leaderboard"]} == {
        "run: today",
        "run: other",
    }
    assert outcome["noise"]["run: other"]["n_runs"] == 3


def evaluated(folder, **options):
    return evaluate(
        folder, only_own=True, incumbent="today", out=folder.parent / "out", **options
    )


def ndcg(seed):
    measured = scored.measured_of(queries_of(), {"a": rankings_of(seed)}, Measure())
    return measured.values["a"].mean()


def test_three_seeds_are_one_candidate_with_their_mean(folder):
    result = evaluated(folder)
    assert [row["search"] for row in result["candidates"]] == ["run: new"]
    board = {row["search"]: row for row in result["leaderboard"]}
    assert board.keys() == {"run: new", "run: today"}
    mean = np.mean([ndcg(seed) for seed in (1, 2, 3)])
    assert board["run: new"]["ndcg"] == pytest.approx(mean, abs=1e-6)
    gain = result["candidates"][0]["difference"]
    assert gain == pytest.approx(mean - ndcg(0), abs=1e-6)


def test_a_seed_that_is_named_is_compared_by_itself(folder):
    out = folder.parent / "out"
    result = compare(folder, "new-seed1", "new-seed2", only_own=True, out=out)
    assert result["pair"] == ("run: new-seed1", "run: new-seed2")
    assert result["difference"] == pytest.approx(ndcg(1) - ndcg(2), abs=1e-6)
    result = compare(folder, "new", "today", only_own=True, out=out)
    assert result["pair"] == ("run: new", "run: today")


def test_columns_toml_says_which_runs_are_one_system_and_that_none_are(folder):
    (folder / "columns.toml").write_text('[repeats]\nb = ["new-seed1", "new-seed3"]\n')
    names = {row["search"] for row in evaluated(folder)["candidates"]}
    assert names == {"run: b", "run: new-seed2"}
    (folder / "columns.toml").write_text("[repeats]\n")
    assert len(evaluated(folder)["candidates"]) == 3
    (folder / "columns.toml").write_text('[repeats]\nb = ["new-seed1", "old"]\n')
    with refused(option="[repeats]"):
        evaluated(folder)


@pytest.mark.parametrize(
    "text", ['b = "a"', 'b = ["a"]', "b = [1, 2]", 'b = ["a", "a"]', '" " = ["a", "c"]']
)
def test_a_system_needs_two_names(text):
    with refused("columns.toml", option="[repeats]"):
        settings_in(f"[repeats]\n{text}\n", Path("columns.toml"))


@pytest.mark.parametrize(
    ("names", "systems"),
    [
        (["run: a-seed1", "run: a-seed2"], ["run: a"]),
        (["run: a_seed_1", "own: a_seed_2"], ["run: a_seed_1", "own: a_seed_2"]),
        (["run: a", "run: a-seed1", "run: a-seed2"], ["run: a", "run: a seeds"]),
        (["run: seed1", "run: seed2"], ["run: seeds"]),
        (["run: a.seed=41", "run: a.seed=42", "own: b"], ["own: b", "run: a"]),
        (["run: a-seed1"], ["run: a-seed1"]),
        (["run: bm25-k1", "run: bm25-k2"], ["run: bm25-k1", "run: bm25-k2"]),
        (["run: seedling1", "run: seedling2"], ["run: seedling1", "run: seedling2"]),
    ],
)
def test_runs_whose_names_differ_in_a_seed_are_one_system(names, systems):
    merged = as_systems({name: Search(name, {}) for name in names})
    assert list(merged) == systems


@pytest.mark.parametrize(
    "declared",
    [
        {"x": ["a", "run: a"]},  # one run by two names
        {"x": ["a", "b"], "y": ["b", "c"]},
        {str(n): ["a", "b"] for n in range(1_000)},
    ],
    ids=["by two names", "of two systems", "of a thousand"],
)
def test_a_run_is_of_one_system_and_counts_once(declared):
    searches = {f"run: {name}": Search(name, {}) for name in "abc"}
    with refused(option="[repeats]"):
        as_systems(searches, declared)


def test_a_query_is_complete_when_every_run_of_a_system_is_judged():
    queries = queries_of(0.9)
    runs = [rankings_of(seed) for seed in (1, 2)]
    measured = scored.measured_of(
        queries,
        {"today": rankings_of(0), "new": runs[0]},
        Measure(),
        "growing",
        {"new": runs[1:]},
    )
    ground = grounds.grounds_of(measured, "new", "today")
    is_complete = judged.are_complete(queries["document"], [rankings_of(0), *runs])
    assert ground.why == "complete"
    assert len(ground.gain) == judged.n_before_first_gap(is_complete)
    one = scored.measured_of(
        queries, {"today": rankings_of(0), "new": runs[0]}, Measure(), "growing"
    )
    assert len(ground.gain) <= len(grounds.grounds_of(one, "new", "today").gain)


def test_the_bound_on_a_system_is_the_mean_of_the_bounds_on_its_runs():
    queries = queries_of(0.5)
    kept = {"today": rankings_of(0), "new": rankings_of(1)}
    of_both = scored.measured_of(
        queries, kept, Measure(), "closed", {"new": [rankings_of(2)]}
    )
    bounds = []
    for seed in (1, 2):
        lists = kept | {"new": rankings_of(seed)}
        alone = scored.measured_of(queries, lists, Measure(), "closed")
        bounds.append(grounds.least_gain(alone, "new", "today"))
    least = grounds.least_gain(of_both, "new", "today")
    assert least.to_numpy() == pytest.approx(np.mean(bounds, axis=0))


def test_a_system_is_not_shipped_if_one_of_its_runs_shows_what_is_forbidden(folder):
    rows = pd.read_csv(folder / "qrels.csv")
    (leak,) = [*({*rankings_of(3)[0]} - {*rankings_of(1)[0], *rankings_of(0)[0]})][:1]
    rows.loc[(rows["query_id"] == "q0") & (rows["doc_id"] == leak), "grade"] = -1
    rows.to_csv(folder / "qrels.csv", index=False)
    (folder / "columns.toml").write_text('below_zero = "forbidden"\n')
    says = evaluated(folder)["says"]
    assert "“run: new” shows a forbidden document for 1 of 60 queries" in says
    assert "“run: today” shows" not in says


# --- Compared with itself -------------------------------------------------------------


@pytest.fixture
def _quick():
    with simulated.single_queries(), evidence.judging.fewer_swaps():
        yield


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize(("own", "n_runs"), [(0.1, 3), (0.6, 1), (1.0, 5)])
def test_the_simulation_says_what_the_command_does(own, n_runs):
    rng = np.random.default_rng(4)
    for _ in range(15):
        usual = rng.choice(simulated.VALUES, size=140)
        sides = [evidence.drawn_runs(rng, own, n_runs, usual) for _ in range(2)]
        assert evidence.told_quickly(*sides) == evidence.told_of(*sides)


def test_so_much_of_the_variance_of_one_run_is_its_own():
    rng = np.random.default_rng(4)
    usual = rng.choice(simulated.VALUES, size=20_000)
    for own in evidence.OWN:
        runs = evidence.drawn_runs(rng, own, 4, usual)
        within = runs.var(axis=0, ddof=1).mean()
        assert within == pytest.approx(own * np.var(simulated.VALUES), rel=0.05)
    lost = evidence.drawn_runs(rng, 0.3, 4, usual, loss=0.01)
    assert usual.mean() - lost.mean() == pytest.approx(0.01, abs=0.005)


@pytest.mark.usefixtures("_quick")
def test_a_search_is_seldom_told_from_itself():
    """Of 150 draws 5 % are seven or eight: sixteen would be a mistake of ours."""
    for runs in ((1, 1), (3, 3)):
        told = evidence.shares_of(0.6, runs, 140, 150)
        assert told["interval misses 0"] < 0.107
        assert told["worse"] <= 0.04
        assert told["ships"] <= 0.04
