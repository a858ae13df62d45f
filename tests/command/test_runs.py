"""Runs of other tools as tables, and where ids lie in what searches answer."""

import json
import tomllib

import pytest
from refusals import refused

from evaluate_retrieval import line
from evaluate_retrieval.reading import understood
from evaluate_retrieval.reading.folder import read
from evaluate_retrieval.searching import returned
from evaluate_retrieval.words.constants import ERROR, NOT_WORSE, UNDECIDED

DOCUMENTS = "id,text\nd1,Turn it up.\nd2,Press it.\nd3,Ask.\n"
JUDGED = "query_id,query,document,grade\nq1,loud?,d1,1\nq2,dead?,d2,1\n"
NAMES = '[runs]\nquery = "asked"\ndocument = "page"\nrank = "place"\n'
RANKINGS = {"q1": ["d2", "d1"], "q2": ["d3"]}
TABLES = {  # a file in runs/, and columns.toml
    "mine.csv": ("query_id,doc_id,rank\nq1,d1,2\nq1,d2,1\nq2,d3,1\n", ""),
    "mine.tsv": (
        "score\tquery\tdoc\n-1\tloud?\td1\n0.5\tloud?\td2\n2\tdead?\td3\n",
        "",
    ),
    "mine.jsonl": (
        '{"asked": "loud?", "page": "d1", "place": 9}\n'
        '{"asked": "loud?", "page": "d2", "place": 3}\n'
        '{"asked": "dead?", "page": "d3", "place": 1}\n',
        NAMES,
    ),
    "mine.json": (
        '[{"qid": "q1", "id": "d2", "score": 2}, {"qid": "q1", "id": "d1", "score": 1},'
        '{"qid": "q2", "id": "d3"  , "score": 7}]',
        "",
    ),
}


@pytest.fixture
def folder(tmp_path):
    """A folder of documents and judgements, with runs/."""
    (tmp_path / "documents.csv").write_text(DOCUMENTS)
    (tmp_path / "judged-queries.csv").write_text(JUDGED)
    (tmp_path / "runs").mkdir()
    return tmp_path


@pytest.mark.parametrize("name", TABLES)
def test_a_table_in_runs_is_read_by_its_columns(name, folder):
    text, names = TABLES[name]
    (folder / "runs" / name).write_text(text)
    (folder / "columns.toml").write_text(names)
    assert read(folder).runs == {"mine": RANKINGS}
    account = understood.account_of(folder)
    assert account.runs == []
    [run] = [each for each in account.tables if each.section == "runs"]
    assert {"query", "query_id"} & {*run.sources}
    written = tomllib.loads(account.text)
    assert {run.sources[ours] for ours in written["runs"]} == {*run.sources.values()}


def test_a_table_elsewhere_is_a_run_where_columns_toml_names_its_columns(folder):
    rows = "asked,page,place,score\nloud?,d1,2,1\nloud?,d2,1,0\ndead?,d3,1,1\n"
    (folder / "results.csv").write_text(rows)
    assert read(folder).runs == {}
    (folder / "columns.toml").write_text(NAMES + 'score = "none"\n')
    assert read(folder).runs == {}  # it lacks a column that is named
    (folder / "columns.toml").write_text(NAMES + 'score = "score"\n')
    with pytest.warns(UserWarning, match="by score, not by rank"):
        assert read(folder).runs == {"results": {"q1": ["d1", "d2"], "q2": ["d3"]}}


def test_what_is_no_run_in_runs_is_named_and_a_number_that_is_none_an_error(folder):
    (folder / "runs" / "losses.csv").write_text("epoch,loss\n1,2\n")
    assert any("losses.csv: not read" in note for note in read(folder).notes)
    (folder / "runs" / "mine.csv").write_text("qid,doc,score\nq1,d1,high\n")
    with refused("mine.csv", line=2, column="score", value="high"):
        read(folder)


def test_two_runs_of_one_name_are_an_error_that_names_both(folder):
    (folder / "runs" / "mine.csv").write_text("qid,doc,rank\nq1,d1,1\n")
    (folder / "runs" / "mine.trec").write_text("q1 Q0 d2 1 1 x\n")
    with refused("mine.csv") as caught:
        read(folder)
    assert "mine.trec" in caught.value.problem


# --- What a search answers ----------------------------------------------------------

PATHS = {"list": "result.points", "id": "payload.doc_id"}
POINTS = {"result": {"points": [{"id": 1, "payload": {"doc_id": "d2"}}]}}


def test_lists_and_ids_are_found_where_columns_toml_says():
    assert returned.ids_of(POINTS, PATHS) == ["d2"]
    assert returned.ids_of({"ids": ["d1", 7]}, PATHS) == ["d1", "7"]
    calls = {"calls": [{"asked": "loud?", **POINTS}]}
    assert returned.answer_of(calls, PATHS)["calls"][0]["ids"] == ["d2"]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"result": {"hits": [], "took": 3}}, "there is no 'points' in hits, took"),
        (
            {"result": {"points": [{"payload": {"page": 3}}]}},
            r'the path "payload.doc_id": there is no \'doc_id\' in page',
        ),
        ([], "there is no 'result' in list"),
    ],
)
def test_a_path_to_nothing_is_named_with_what_is_there(answer, problem):
    with pytest.raises(returned.FormError, match=problem):
        returned.ids_of(answer, PATHS)


@pytest.mark.parametrize("is_program", [True, False])
def test_the_paths_hold_for_programs_and_functions(is_program, folder, capsys):
    listing = {"treffer": {"liste": [{"id": 1, "daten": {"nummer": "d2"}}]}}
    answer = (
        f"import json, sys\nANSWER = json.loads({json.dumps(json.dumps(listing))})\n"
    )
    path = folder / "s.py"
    words = ["--only-own", "--out", str(folder / "out")]
    if is_program:
        loop = "for _ in sys.stdin:\n    print(json.dumps(ANSWER), flush=True)\n"
        words += ["--search", f"ours={line.sys.executable} {path}"]
    else:
        loop = "SEARCHES = {'ours': lambda question: ANSWER}\n"
        words += ["--searches", str(path)]
    path.write_text(answer + loop)
    assert line.main([str(folder), *words]) == ERROR  # our lists have other names
    paths = '[results]\nlist = "treffer.liste"\nid = "daten.{}"\n'
    (folder / "columns.toml").write_text(paths.format("nummer"))
    assert line.main([str(folder), *words]) in (NOT_WORSE, UNDECIDED)
    leaders = (folder / "out" / "leaderboard.csv").read_text()
    assert "own: ours" in leaders
    (folder / "columns.toml").write_text(paths.format("page"))
    capsys.readouterr()
    assert line.main([str(folder), *words]) == ERROR
    assert "there is no 'page' in nummer" in capsys.readouterr().err
