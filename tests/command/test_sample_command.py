"""`sample` draws queries of a log, says what they stand for, and loses no line."""

import numpy as np
import pandas as pd
import pytest

from evaluate_retrieval import api, utils
from evaluate_retrieval.commands import manifest
from evaluate_retrieval.judging import sample
from evaluate_retrieval.reading.kept import read_kept


def write_log(path, n=300):
    """A log of n queries, whose counts fall as those of logs do."""
    times = np.maximum(1, 400 // np.arange(1, n + 1))
    log = pd.DataFrame(
        {
            "query": [f"query {number}" for number in range(n)],
            "asked": times,
            "language": ["de" if number % 3 else "en" for number in range(n)],
        }
    )
    path.mkdir(exist_ok=True)
    log.to_csv(path / "queries.csv", index=False)
    return log


def drawn(out):
    return pd.read_csv(out / "sample.csv")


def test_a_sample_stands_for_its_lines(tmp_path):
    log = write_log(tmp_path / "log")
    out = tmp_path / "out"
    outcome = api.sample(tmp_path / "log", out=out, queries=60)
    table = drawn(out)
    assert len(table) == outcome["drawn"] == 60
    assert outcome["lines"] == log["asked"].sum()
    weights = table["weight"]
    assert np.average(weights) == pytest.approx(1)
    shares = table.groupby("segment")["weight"].sum() / weights.sum()
    strata = {row["stratum"]: row["lines"] for row in outcome["strata"]}
    for name, share in shares.items():  # the weighted sample is the log
        assert share == pytest.approx(strata[name] / outcome["lines"], abs=1e-4)
    effect = len(table) * (weights**2).sum() / weights.sum() ** 2
    assert outcome["design_effect"] == pytest.approx(effect, abs=1e-3)


def test_a_sample_does_not_stand_for_strata_of_which_none_is_drawn(tmp_path):
    tenants = [f"t{number // 4}" for number in range(240)]
    queries = [f"query {number}" for number in range(240)]
    log = pd.DataFrame({"query": queries, "asked": 2, "tenant": tenants})
    log.to_csv(tmp_path / "queries.csv", index=False)
    asked = {"queries": 45, "by": "tenant"}
    outcome = api.sample(tmp_path / "queries.csv", out=tmp_path / "out", **asked)
    assert "stand for 360 lines" in outcome.says
    assert "not stand for 120 lines of 15 strata of which none is" in outcome.says
    assert drawn(tmp_path / "out")["weight"].mean() == pytest.approx(1)
    outcome = api.sample(tmp_path / "queries.csv", out=tmp_path / "out", queries=60)
    assert "not stand for" not in outcome.says


def test_a_column_makes_strata_and_a_seed_another_draw(tmp_path):
    write_log(tmp_path / "log")
    outs = []
    for number, seed in enumerate(["", "", "b"]):
        out = tmp_path / f"out{number}"
        api.sample(tmp_path / "log", out=out, queries=40, by="language", seed=seed)
        outs.append(drawn(out))
    first, again, other = outs
    assert first.equals(again)
    assert {*first["query"]} != {*other["query"]}
    assert {*first["segment"]} == {
        f"{often}, {language}"
        for often in ("head", "middle", "tail")
        for language in ("de", "en")
    } & {*first["segment"]}
    assert first["segment"].nunique() >= 4
    with pytest.raises(utils.InputError) as caught:
        api.sample(tmp_path / "log", out=tmp_path / "none", by="tenant")
    assert caught.value.option == "--by"


@pytest.mark.parametrize(
    "text", ["mail to ann@example.org", "card 4111 1111 1111 1111", "+49 (30) 1234567"]
)
def test_what_looks_personal_is_left_out_and_counted(text, tmp_path, caplog):
    folder = tmp_path / "log"
    folder.mkdir()
    (folder / "queries.txt").write_text(
        f"one\n2026-11-29 10:15\n127.0.0.1:5432\n{text}\n", "utf-8"
    )
    api.sample(folder, out=tmp_path / "out")
    assert {*drawn(tmp_path / "out")["query"]} == {
        "one",
        "2026-11-29 10:15",
        "127.0.0.1:5432",
    }
    assert "25.0% of the lines" in caplog.text
    api.sample(folder, out=tmp_path / "all", keep_personal=True)
    kept = drawn(tmp_path / "all")["query"].str.lstrip("'")  # of no formula
    assert text in {*kept}


def test_written_into_the_folder_it_is_that_of_judge(tmp_path):
    folder = tmp_path / "log"
    write_log(folder)
    api.sample(folder, out=tmp_path / "out", queries=50, write=True)
    kept = read_kept(folder).sample
    assert kept["drawn"].sum() == 50
    assert kept["lines"].sum() == sum(np.maximum(1, 400 // np.arange(1, 301)))
    with pytest.raises(utils.InputError) as caught:
        api.sample(folder, out=tmp_path / "out", write=True)
    assert caught.value.path is not None
    manifest.check_ours(tmp_path / "out")  # judge may write there, too


def test_a_log_without_queries_is_refused(tmp_path):
    folder = tmp_path / "log"
    folder.mkdir()
    (folder / "documents.csv").write_text("id,text\na,one\n", "utf-8")
    with pytest.raises(utils.InputError) as caught:
        api.sample(folder, out=tmp_path / "out")
    assert "queries.txt" in caught.value.advice


@pytest.mark.parametrize("counts", [["3", "0"], ["1.5", "2"], ["many", "2"]])
def test_a_column_that_counts_nothing_is_the_users_own(counts):
    log = pd.DataFrame({"question": ["a", "b"], "count": counts})
    assert sample.times_of(log).tolist() == [1, 1]
