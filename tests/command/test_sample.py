"""Test the sample of a log: one random order, drawn once, with weights."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from evaluate_retrieval.commands import asking
from evaluate_retrieval.judging import sample
from evaluate_retrieval.line import main
from evaluate_retrieval.measuring import gains, scored
from evaluate_retrieval.reading import files, folder

WORDS = ["kettle", "radio", "boiler", "lamp", "fridge", "cable", "plug", "fuse"]


def log_of(*lines):
    """A log with a row for each line; the ids say nothing."""
    table = pd.DataFrame({"question": lines, "course": "all"})
    return table.assign(query_id=[f"q{n}" for n in range(len(table))])


LINES = [f"head {n}" for n in range(6) for _ in range(20)]
LINES += [f"middle {n}" for n in range(30) for _ in range(3)]
LINES += [f"tail {n}" for n in range(90)]


@pytest.fixture
def shop(tmp_path):
    """A folder with a log of 23 lines: one query is two fifths of them."""
    there = tmp_path / "shop"
    there.mkdir()
    documents = [{"id": w, "text": f"How to mend the {w} at home."} for w in WORDS]
    (there / "documents.json").write_text(json.dumps(documents))
    typed = ["mend kettle"] * 9 + ["mend radio"] * 4 + ["mend lamp"] * 2
    typed += [f"mend {word}" for word in [*WORDS[2:3], *WORDS[4:]]]
    typed += ["home lamp", "home fuse", "home plug"]
    (there / "queries.txt").write_text("\n".join(typed))
    return there


def test_each_beginning_of_the_order_is_a_sample_by_strata():
    table = sample.draw(log_of(*LINES), n_each=20)
    assert list(table) == sample.SAMPLE_COLUMNS
    assert table["place"].tolist() == list(range(1, 127))
    n_drawn = table.groupby("kind")["drawn"].sum()
    assert n_drawn.to_dict() == {"head": 6, "middle": 20, "tail": 20}
    assert table["drawn"].tolist() == sorted(table["drawn"], reverse=True)
    shares = n_drawn / n_drawn.sum()
    for n in range(1, 47):
        counts = table["kind"][:n].value_counts().reindex(shares.index, fill_value=0)
        assert (counts - n * shares).abs().max() < 1.5


def test_neither_the_order_of_the_log_nor_a_grade_changes_the_order():
    table = sample.draw(log_of(*LINES))
    mixed = sample.draw(log_of(*np.random.default_rng(2).permutation(LINES)))
    assert table["query"].tolist() == mixed["query"].tolist()
    assert table["query"].tolist() != sorted(table["query"])
    # as random as a hash: the number in a name does not tell the place
    of_tail = table[table["kind"] == "tail"]
    numbers = of_tail["query"].str.split().str[1].astype(int)
    assert abs(np.corrcoef(numbers, of_tail["place"])[0, 1]) < 0.25


def test_a_weight_is_the_share_by_lines_over_the_share_of_the_sample():
    table = sample.draw(log_of(*LINES), n_each=20)
    by_kind = table.groupby("kind")["weight"].first()
    assert by_kind["head"] == pytest.approx(120 / 300 / (6 / 46))
    assert by_kind["middle"] == pytest.approx(90 / 300 / (20 / 46))
    assert by_kind["tail"] == pytest.approx(90 / 300 / (20 / 46))
    assert table["weight"][table["drawn"]].mean() == pytest.approx(1)
    assert table["weight"][~table["drawn"]].isna().all()


def test_a_sample_is_drawn_once_and_grows_only_by_its_order(tmp_path):
    nothing = pd.DataFrame({"query": []}, dtype=str)
    now = {"source": tmp_path, "judgements": nothing}
    first, says = sample.sample_of(SimpleNamespace(log=log_of(*LINES), **now))
    assert says == ["46 of 126 different queries are drawn"]
    sample.keep_sample(first, tmp_path)
    grown = [*LINES, *["new and often"] * 500, "new and once", "HEAD 1"]
    now = SimpleNamespace(log=log_of(*grown), **now)
    again, says = sample.sample_of(now)
    pd.testing.assert_frame_equal(again, first, check_dtype=False)
    assert says == ["queries new in the log, not in its judging/sample.csv: 2"]
    more, says = sample.sample_of(now, n_more=10)
    assert more["query"].tolist() == first["query"].tolist()
    assert more["drawn"].sum() == 56
    assert more["drawn"].tolist() == sorted(more["drawn"], reverse=True)
    assert says[1] == "10 more queries are drawn, 56 in all; all weights are new"
    by_kind = more.groupby("kind")["weight"].first()
    assert by_kind["head"] == pytest.approx(120 / 300 / (6 / 56))


def test_what_an_older_folder_has_judged_is_in_the_sample(tmp_path):
    judged = [f"Tail {n}" for n in range(0, 90, 3)] + ["head 2", "not in the log"]
    older = {"source": tmp_path, "judgements": pd.DataFrame({"query": judged})}
    table, says = sample.sample_of(SimpleNamespace(log=log_of(*LINES), **older))
    assert says[1] == "31 of them were judged before"
    drawn = table[table["drawn"]]
    texts = {sample.as_compared(text) for text in judged}
    assert texts - {*drawn["query"]} == {"not in the log"}
    assert drawn["kind"].value_counts().to_dict() == {
        "tail": 30,
        "middle": 20,
        "head": 6,
    }
    assert table["drawn"].tolist() == sorted(table["drawn"], reverse=True)
    assert drawn["weight"].mean() == pytest.approx(1)


def judged_questions(shown):
    """The questions that were shown, one after another, without repeats in a row."""
    lines = [line for line in "\n".join(shown).splitlines() if "QUERY  " in line]
    questions = pd.Series([line.partition("QUERY  ")[2] for line in lines])
    return questions[questions != questions.shift()].tolist()


def test_judge_writes_the_weights_and_goes_query_by_query(
    shop, tmp_path, monkeypatch, capsys
):
    shown = []

    def key():
        """The key of who knows the answer, and stops once, within a query."""
        texts = [text for text in shown if "QUERY  " in text]
        question, _, answer = texts[-1].partition("QUERY  ")[2].partition("\n")
        answer, _, _ = answer.partition("\n[")  # where the query is shown again
        is_answer = question.split()[1] in answer
        return "q" if len(texts) == 12 else "2" if is_answer else "0"

    monkeypatch.setattr(asking, "read_key", key)
    monkeypatch.setattr(asking.log, "info", lambda text, *_: shown.append(text))
    monkeypatch.setattr(sample.draw, "__defaults__", (3, (), None, ""))
    words = ["judge", str(shop), "--out", str(tmp_path / "out")]
    assert main(words) == 0
    assert main(words) == 0
    table = files.read_csv(shop / "judging" / "sample.csv")
    drawn = table[table["drawn"] == "yes"]
    questions = judged_questions(shown)
    # the second session begins with the query at which the first one stopped
    assert list(dict.fromkeys(questions)) == drawn["query"].tolist()
    assert len(questions) <= len(drawn) + 1
    judged = files.read_csv(shop / "judged-queries.csv")
    weights = judged.drop_duplicates("query").set_index("query")["weight"]
    assert weights.to_dict() == drawn.set_index("query")["weight"].to_dict()
    assert weights.nunique() > 1
    data = folder.read(shop)
    assert data.test["judged"]["weight"].astype(float).nunique() > 1
    assert len(data.log) == 23  # the sample is read as no query
    main(["evaluate", str(shop), "--out", str(tmp_path / "out"), "--no-tuning"])
    assert "design effect" in "".join(capsys.readouterr())

    n_before = len(shown)
    assert main([*words, "--more", "2"]) == 0
    more = files.read_csv(shop / "judging" / "sample.csv")
    assert (more["drawn"] == "yes").sum() == len(drawn) + 2
    new = more["query"][len(drawn) : len(drawn) + 2].tolist()
    assert judged_questions(shown[n_before:]) == new
    judged = files.read_csv(shop / "judged-queries.csv")
    after = judged.drop_duplicates("query").set_index("query")["weight"]
    of_sample = more[more["drawn"] == "yes"].set_index("query")["weight"]
    assert after.to_dict() == of_sample.to_dict()
    assert not after[weights.index].equals(weights)


EDITED = {
    "no weights": (("yes,1", "yes,0"), "column weight: '0' is not a number above 0"),
    "emptied": (("yes,1", "yes,"), "column weight: '' is not a number above 0"),
    "no lines": ((",1,yes", ",0,yes"), "column lines: '0' is not a number above 0"),
    "none drawn": (("yes,1", "no,"), "none of its drawn queries is judged"),
    "another log": (("kettle", "radiator"), "none of its drawn queries is judged"),
}


@pytest.mark.parametrize(("change", "problem"), EDITED.values(), ids=EDITED)
@pytest.mark.filterwarnings("ignore:.*all of one need")
def test_a_sample_without_queries_or_weights_is_refused(
    tmp_path, capsys, change, problem
):
    documents = "id,question,text\nd0,Kettle,red\nd1,Lamp,blue\n"
    (tmp_path / "documents.csv").write_text(documents)
    (tmp_path / "queries.txt").write_text("kettle\n")
    rows = [f"q{n},lamp {n},all,tail,d{i},{i}" for n in range(12) for i in (0, 1)]
    judged = ["query_id,query,course,kind,document,grade", *rows]
    (tmp_path / "judged-queries.csv").write_text("\n".join(judged))
    sample.keep_sample(sample.draw(log_of("kettle")), tmp_path)
    path = tmp_path / "judging" / "sample.csv"
    assert "1,yes,1" in path.read_text()
    path.write_text(path.read_text().replace(*change))
    words = [str(tmp_path), "--out", str(tmp_path / "out")]
    for command in ("evaluate", "judge"):
        assert main([command, *words]) == 3
        assert problem in capsys.readouterr().err


def test_where_all_weigh_the_same_no_column_is_written(tmp_path):
    sample.keep_sample(sample.draw(log_of(*WORDS)), tmp_path)
    assert sample.weights_by_text(tmp_path) == {}
    judged = pd.DataFrame({"query": WORDS})
    assert list(sample.judged_with_weights(judged, {})) == ["query"]
    weighed = sample.judged_with_weights(judged, {"kettle": 2.0})
    assert weighed["weight"].tolist() == ["2"] + ["1"] * 7
    kept = sample.judged_with_weights(weighed, {"radio": 0.5})
    assert kept["weight"].tolist() == ["2", "0.5"] + ["1"] * 6


@pytest.mark.slow
def test_without_weights_a_search_without_a_gain_ships():
    """A tenth of the lines gains 0.09, the others lose 0.01: half and half is judged.

    The weighted mean is 0. An outside review had 0.007 with weights, 0.85 without."""
    rng = np.random.default_rng(7)
    table = pd.DataFrame({"kind": ["often", "rare"] * 1_000, "drawn": False})
    table["lines"] = np.where(table["kind"] == "often", 9, 1)
    table.loc[:199, "drawn"] = True
    weights = sample.weighed(table)["weight"][:200].to_numpy()
    assert weights[:2] == pytest.approx([1.8, 0.2])
    means = np.where(table["kind"] == "often", -0.01, 0.09)[:200]
    ships = {"weighed": [], "as they are": []}
    for _ in range(25):
        gained = rng.normal(means, 0.12)
        values = pd.DataFrame({"old": np.zeros(200), "new": gained})
        for name, of_each in {"weighed": weights, "as they are": None}.items():
            measured = scored.Measured(values, pd.Series(range(200)), of_each)
            ships[name].append(gains.gains_table(measured, "old")["ships"])
    assert np.mean(ships["weighed"]) <= 0.04
    assert np.mean(ships["as they are"]) >= 0.6
