"""`make run` on other people's files, and its failures."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pandas as pd
import pooch
import pytest
import pytrec_eval
import run as script
from chat_server import chat_server, error

from course import corpus, trec
from evaluate_retrieval import gate, manifest, read

RUN = [sys.executable, str(corpus.ROOT / "scripts" / "run.py")]
BOARD = (
    "search queries split hit_rate mrr ndcg low high judged_at_k ms_per_query chosen"
)


@pytest.fixture(scope="module")
def messy(tmp_path_factory):
    """120 records of two renamed courses: an id twice, empty texts, placeholders, a row
    twice."""
    folder = tmp_path_factory.mktemp("own")
    names = {"machine-learning": "Küche & Garten", "llm-engineering": "ops"}
    documents = pd.DataFrame(corpus.load_documents()).replace({"course": names})
    documents = documents[documents["course"].isin(names.values())][::4][:120]
    documents.iloc[[7, 9], documents.columns.get_loc("text")] = ["", None]
    again = documents.iloc[[3]].assign(text="Another answer.", section=None)
    written = pd.concat([documents, again])
    written.to_json(folder / "documents-with-ids.json", orient="records")
    truth = corpus.load_ground_truth().replace({"course": names})
    truth = truth[truth["document"].isin(documents["id"])]
    truth.iloc[[5, 6], 0] = ["question1", "questions"]
    truth = pd.concat([truth, truth.iloc[[20]]])
    truth.to_csv(folder / "ground-truth-data.csv", index=False)
    return folder


def run(*arguments, cwd=None, **environment):
    given = {name: str(value) for name, value in environment.items()}
    how = {"capture_output": True, "text": True, "timeout": 900, "cwd": cwd}
    command = [*RUN, *map(str, arguments)]
    return subprocess.run(command, env=os.environ | given, **how)


@pytest.fixture(scope="module")
def beir(tmp_path_factory):
    """A run's results on our graded queries in BEIR's layout, and what it said."""
    folder = tmp_path_factory.mktemp("beir")
    results = tmp_path_factory.mktemp("results")
    documents = pd.DataFrame(corpus.load_documents())[["id", "question", "text"]]
    documents.columns = ["_id", "title", "text"]
    judged = pd.read_csv(corpus.ROOT / "data" / "judged-queries.csv")
    queries = judged[["query_id", "query"]].drop_duplicates()
    queries.columns = ["_id", "text"]
    for name, table in {"corpus": documents, "queries": queries}.items():
        table.to_json(folder / f"{name}.jsonl", orient="records", lines=True)
    (folder / "qrels").mkdir()
    qrels = judged[["query_id", "document", "grade"]]
    qrels.to_csv(folder / "qrels" / "test.tsv", sep="\t", index=False)
    return results, run(COURSE_DATA=folder, COURSE_RESULTS=results)


def test_beir_from_nothing_to_a_report_and_files_for_other_tools(beir):
    results, done = beir
    assert done.returncode == 0, done.stdout + done.stderr
    report = results / "report.html"
    for text in ("1,133 documents, 0 ids made", "only 05 is run", f"report: {report}"):
        assert text in done.stdout
    board = pd.read_csv(results / "leaderboard.csv")
    assert set(board["queries"]) == {"judged"}
    lines = (results / "qrels-judged.trec").read_text().splitlines()
    qrels = pytrec_eval.parse_qrel(lines)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut_10"})
    for row in board.itertuples():
        path = results / "runs" / "judged" / f"{trec.file_name(row.search)}.trec"
        found = pytrec_eval.parse_run(path.read_text().splitlines())
        scores = pd.DataFrame(evaluator.evaluate(found)).sum(axis=1) / len(qrels)
        assert scores.item() == pytest.approx(row.ndcg)
    html = report.read_text()
    assert board[board["chosen"]]["search"].item() in html
    assert not re.search(r"(src|href|url)\W+http", html)  # it opens without a network


def test_the_gate_reads_what_05_writes(beir, tmp_path, monkeypatch):
    old = beir[0]
    monkeypatch.setenv("COURSE_DATA", str(old / "converted"))
    new = shutil.copytree(old, tmp_path / "new")
    [outcome] = gate.compare(old / "baseline.json.gz", new, Path.exists)
    assert outcome.code == 0
    both = gate.compare(old / "leaderboard.csv", new, Path.exists)
    assert gate.lines(both) == gate.lines([outcome])
    assert "+0.000 (+0.000 to +0.000), paired: " in gate.lines(both)[1]
    board = pd.read_csv(old / "leaderboard.csv")
    board["chosen"] = board["ndcg"] == board["ndcg"].min()
    board.to_csv(new / "leaderboard.csv", index=False)
    [outcome] = gate.compare(old / "baseline.json.gz", new, Path.exists)
    assert outcome.code == 1
    assert len(outcome.losing) == 10
    assert outcome.losing["question"].str.len().min() > 0


def test_documents_alone_finish_and_say_what_to_do_next(tmp_path):
    texts = pd.Series([d["text"] for d in corpus.load_documents()[:250]])
    answers = texts.groupby(texts.index // 5).agg(" ".join).rename("answer")
    answers.to_csv(tmp_path / "faq.csv", index=False)
    given = {"COURSE_RESULTS": tmp_path, "EMBEDDING_CACHE": tmp_path / "v.sqlite"}
    done = run(COURSE_DATA=tmp_path / "faq.csv", **given)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "50 documents, 50 ids made" in done.stdout
    notebook = (tmp_path / "05-your-own-data.ipynb").read_text()
    assert all(text in notebook for text in ("No queries yet", "50 calls"))
    said = "each with its title, are searched, too: "  # they are many, and long
    report = (tmp_path / "report.html").read_text()
    assert all(said in text for text in (done.stdout, notebook, report))
    assert " of them to encode, about 1 min" in done.stdout
    assert " of them to encode" not in notebook  # `make run` has done it


def test_messy_data_are_run_and_each_oddity_is_said_once(messy, tmp_path):
    """With a relative folder, a key in the environment, a long TMPDIR, and no call."""
    long = tmp_path / ("long" * 30)
    long.mkdir()
    with chat_server(error(500)) as server:
        given = {"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": server.url}
        given |= {"PWD": messy.parent, "TMPDIR": long, "COURSE_RESULTS": tmp_path}
        done = run(cwd=messy.parent, COURSE_DATA=messy.name, **given)
        assert not server.requests
    assert done.returncode == 0, done.stdout + done.stderr
    odd = ["documents repeat the id", "documents with an empty text"]
    odd += ["2 questions are placeholders", "rows repeat an earlier row"]
    odd += ["ids in the column also are of no document"]
    assert [done.stdout.count(words) for words in ["warning:", *odd]] == [5, *[1] * 5]
    ran = {path.name for path in tmp_path.glob("[0-9]*.ipynb")}
    assert ran == {f"{script.OWN}.ipynb"}
    board = pd.read_csv(tmp_path / "leaderboard.csv")
    assert [column for column in board if column in BOARD.split()] == BOARD.split()
    assert set(board["split"]) == {"test"}
    assert set(board["queries"]) == {"generated"}  # this folder has no judged ones
    assert board["chosen"].sum() == 1
    assert board["mrr"].between(board["low"], board["high"]).all()


DOCUMENT = {"text": "Text.", "question": "", "section": "", "course": "all"}
DOCUMENTS = json.dumps([{"id": f"d{number}", **DOCUMENT} for number in range(30)])
TRUTH = "question,course,document\n"
FEW = TRUTH + "".join(f"Which is {n}?,all,d{n % 19}\n" for n in range(40))
JUDGED = "query_id,query,course,kind,document,grade\n"
SPACED = JUDGED + "q1,A?,all,typed,d1,1\nq 2,B?,all,typed,d1,1\n"
SPACE_AT = "row 1 (line 3), column query_id: 'q 2' has a space"
SPACED_DOCUMENT = DOCUMENTS.replace("d29", "d 29")
REFUSED = [  # a file of the folder of data, its content, what is wrong
    ("ground-truth-data.csv", "question,course\nA?,all\n", "no column document"),
    ("ground-truth-data.csv", FEW, "questions on 19 documents, and halves need 20"),
    ("ground-truth-data.csv", TRUTH, "no queries"),
    ("judged-queries.csv", JUDGED, "no queries"),
    ("queries.csv", "query_id,question,course\n", "no queries"),
    ("judged-queries.csv", SPACED, SPACE_AT),
    ("documents-with-ids.json", SPACED_DOCUMENT, "row 29, column id: 'd 29' has a"),
]


@pytest.fixture
def refusal(tmp_path, monkeypatch, capsys):
    """A function: the line with which run.py ends before any notebook is run."""
    for name in ("COURSE_DATA", "COURSE_RESULTS", "COURSE_RUN"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setattr(script, "run", lambda *_: pytest.fail("a notebook was run"))

    def refusal(*arguments):
        monkeypatch.setattr(sys, "argv", ["run.py", *arguments])
        with pytest.raises(SystemExit) as ended:
            script.main()
        assert ended.value.code == gate.ERROR
        return capsys.readouterr().err

    return refusal


@pytest.mark.parametrize(("name", "content", "problem"), REFUSED)
def test_data_that_no_notebook_can_use(refusal, tmp_path, name, content, problem):
    folder = tmp_path / "COURSE_DATA"
    folder.mkdir()
    (folder / "documents-with-ids.json").write_text(DOCUMENTS)
    (folder / name).write_text(content)
    assert refusal().startswith(f"error: {folder / name}: {problem}")


def test_results_where_no_folder_can_be(refusal, tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("")
    for results in (path, path / "inside"):
        monkeypatch.setenv("COURSE_RESULTS", str(results))
        assert f"COURSE_RESULTS={results}: no folder can be made there" in refusal()


OPTIONS = {
    "{}/nosuch.ipynb": "nosuch.ipynb: no such notebook",
    "--clean {}/nosuch.ipynb": "nosuch.ipynb: no such notebook",
    "--non-inferior": "--non-inferior is of no use without --baseline",
    "--allow-deleted": "--allow-deleted is of no use without --baseline",
    "--margin 7": "a margin of 7: it has to be",
    "--margin x": "argument --margin: invalid float value: 'x'",
    "--baselin": "expected one argument",
    "--non-inferior --allow-undecided": "exclude each other",
    "--baseline {}/nosuch.csv": "nosuch.csv",
    "--baseline {}/leaderboard.csv --search x": "board.csv: no search 'x'; it has a",
    "--baseline {}/leaderboard.csv": "board.csv: this run writes there",
}


@pytest.mark.parametrize("options", OPTIONS)
def test_options_of_no_use(refusal, tmp_path, monkeypatch, options):
    monkeypatch.setenv("COURSE_RESULTS", str(tmp_path))
    board = "search,queries,chosen\na,judged,True\n"
    (tmp_path / "leaderboard.csv").write_text(board)
    assert OPTIONS[options] in refusal(*options.format(tmp_path).split())


def test_an_error_that_nobody_thought_of_does_not_say_worse(refusal, monkeypatch):
    monkeypatch.setattr(script, "work", lambda _: {}["nosuch"])
    assert "KeyError: 'nosuch'" in refusal()


def test_a_search_of_your_own_alone_and_the_outcomes_of_the_gate(tmp_path):
    """Nothing of ours is built: there is no vector, and 05 alone is run."""
    data = shutil.copytree(corpus.ROOT / "data" / "es", tmp_path / "data")
    truth = pd.read_csv(data / "ground-truth-data.csv")[::5]
    truth.to_csv(data / "ground-truth-data.csv", index=False)
    mine = tmp_path / "mine.py"
    source = """from course import corpus
DOCUMENTS = corpus.load_documents()
WORDS = [corpus.content_words(corpus.whole_text(one)) for one in DOCUMENTS]
def search(question, course):
    shared = [len(corpus.content_words(question) & words) for words in WORDS]
    best = sorted(range(len(shared)), key=lambda place: -shared[place])
    return [DOCUMENTS[place]["id"] for place in best][{}:100]
SEARCHES = {{"mine": search}}
"""
    mine.write_text(source.format(0))
    given = {"COURSE_DATA": data, "COURSE_SEARCHES": mine, "COURSE_ONLY_OWN": 1}
    given["EMBEDDING_MODEL"] = tmp_path / "no-such-model"
    first = run(COURSE_RESULTS=tmp_path / "old", **given)
    assert first.returncode == 0, first.stdout + first.stderr
    assert "only 05 is run" in first.stdout
    board = pd.read_csv(tmp_path / "old" / "leaderboard.csv")
    assert set(board["search"]) == {"own: mine"}
    baseline, summary = tmp_path / "old" / "baseline.json.gz", tmp_path / "summary.md"
    mine.write_text(source.format(2))
    options = "--baseline", baseline, "--summary", summary
    worse = run(*options, COURSE_RESULTS=tmp_path / "new", **given)
    assert worse.returncode == 1, worse.stdout + worse.stderr
    assert ": worse: 'own: mine' against 'own: mine'" in worse.stdout
    assert "## Search: Worse" in summary.read_text()
    assert str(tmp_path) not in summary.read_text()
    given["COURSE_SEARCHES"] = ""
    none = run(*options, COURSE_RESULTS=tmp_path / "new", **given)
    assert none.returncode == 3
    assert "COURSE_ONLY_OWN: there is no search of your own" in none.stderr


def test_queries_that_choose_and_report_count_once():
    one, two = [1], [2, 3]
    development, test = {"generated": one, "judged": two}, {"generated": two}
    counts = script.count_queries(development, test | {"judged": two})
    assert counts == {"generated": 3, "judged": 2}


def test_other_peoples_copy_of_05_has_no_figure_of_ours_and_the_rest_say_whose():
    own = nbformat.read(script.NOTEBOOKS / f"{script.OWN}.ipynb", as_version=4)
    before = [cell.source for cell in own.cells]
    script.without_our_figures(own)
    left = [cell.source for cell in own.cells]
    gone = [source for source in before if source not in left]
    assert len(gone) > 15
    text = "".join(cell.source for cell in own.cells if cell.cell_type != "code")
    ours = set(re.findall(r"0\.\d{3}", "".join(gone)))
    assert len(ours) > 5
    text = text.split("## Exercises")[0]
    assert not [figure for figure in ours if figure in text]
    assert "terminal.run(terminal.yours(line))" in "".join(left)
    assert "faq /" not in "".join(left)  # the example is gone
    other = nbformat.read(script.NOTEBOOKS / "01-ground-truth.ipynb", as_version=4)
    script.without_our_figures(other)
    assert other.cells[0].source == script.NOT_YOURS


@pytest.fixture
def notebooks(tmp_path):
    """The paths of a notebook that runs and of one that fails."""
    paths = [tmp_path / "good.ipynb", tmp_path / "broken.ipynb"]
    for path, source in zip(paths, ["print(1)", "1 / 0"], strict=True):
        cells = [nbformat.v4.new_code_cell(source)]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return paths


def test_a_failed_run_is_kept_apart_and_shows_no_old_leaderboard(notebooks, tmp_path):
    broken, results = notebooks[1], tmp_path / "results"
    results.mkdir()
    (results / "leaderboard.csv").write_text("search,mrr\nof an old run,1\n")
    os.utime(results / "leaderboard.csv", (1, 1))
    before = broken.read_bytes()
    done = run(broken, COURSE_RESULTS=results)
    assert done.returncode == 3
    assert "ZeroDivisionError" in done.stdout
    assert "of an old run" not in done.stdout
    assert "ZeroDivisionError" in (results / broken.name).read_text()
    assert broken.read_bytes() == before


def test_the_manifest_says_what_went_in_and_what_came_out(notebooks, tmp_path):
    good, broken = notebooks
    data = shutil.copytree(corpus.ROOT / "data" / "es", tmp_path / "data")
    given = {"COURSE_RESULTS": tmp_path / "results", "COURSE_DATA": data}
    given["OPENAI_API_KEY"] = "a-secret-key"
    assert run(good, **given).returncode == 0
    content = (tmp_path / "results" / "run.json").read_text()
    about = json.loads(content)
    assert about["state"] == "done"
    assert about["inputs"].keys() == {path.name for path in data.iterdir()}
    assert about["outputs"]["good.ipynb"] == pooch.file_hash(
        tmp_path / "results" / "good.ipynb"
    )
    assert about["versions"]["minsearch"]
    assert "secret" not in content
    assert run(broken, **given).returncode == 3
    about = json.loads((tmp_path / "results" / "run.json").read_text())
    assert about["state"] == "failed"
    assert "good.ipynb" not in about["outputs"]  # of the run before


def test_documents_that_change_during_a_run_are_a_failure(notebooks, tmp_path):
    data = shutil.copytree(corpus.ROOT / "data" / "es", tmp_path / "data")
    queries = data / "judged-queries.csv"
    cell = f"open({str(queries)!r}, 'a').write('\\n')"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    nbformat.write(notebook, notebooks[0])
    given = {"COURSE_RESULTS": tmp_path / "results", "COURSE_DATA": data}
    done = run(notebooks[0], **given)
    assert done.returncode == 3
    assert "judged-queries.csv changed while the run read it" in done.stdout
    about = json.loads((tmp_path / "results" / "run.json").read_text())
    assert (about["state"], about["changed"]) == ("failed", ["judged-queries.csv"])


def test_two_runs_do_not_share_a_folder_of_results(notebooks, tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    with manifest.locked(results):
        first = manifest.begin(results, tmp_path / "data", ["run.py"])
        done = run(notebooks[0], COURSE_RESULTS=results)
    assert done.returncode == 3
    assert f"run {first.id}, process {os.getpid()} writes there" in done.stderr
    assert not (results / "good.ipynb").exists()
    after = run(notebooks[0], COURSE_RESULTS=results)  # the first never ended
    assert after.returncode == 0
    assert f"run {first.id} of {first.about['started']} did not end" in after.stdout


def test_what_is_gone_in_the_source_is_gone_in_the_converted_folder(tmp_path):
    source, into = tmp_path / "faq", tmp_path / "converted"
    source.mkdir()
    (source / "faq.csv").write_text("id,text\nd1,One.\nd2,Two.\n")
    (source / "ground-truth-data.csv").write_text(f"{TRUTH}Which?,all,d1\n")
    read.convert(source, into)
    assert (into / "ground-truth-data.csv").exists()
    (source / "ground-truth-data.csv").unlink()
    (into / "live-responses.jsonl").write_text("paid")
    read.convert(source, into)
    assert not (into / "ground-truth-data.csv").exists()
    (into / "ground-truth-data.csv").write_text("made by notebook 01")
    read.convert(source, into)
    assert (into / "ground-truth-data.csv").exists()
    assert (into / "live-responses.jsonl").read_text() == "paid"


def test_the_leaderboard_is_printed_once_and_before_its_notebook_is_through(tmp_path):
    first = tmp_path / "first.ipynb"
    write = "(corpus.results_folder() / 'leaderboard.csv').write_text"
    board = "search,mrr\\nour search,1\\n"
    sources = [f"from course import corpus\n{write}('{board}');", "1", "2"]
    cells = list(map(nbformat.v4.new_code_cell, sources))
    nbformat.write(nbformat.v4.new_notebook(cells=cells), first)
    second = shutil.copy(first, tmp_path / "second.ipynb")
    said = run(first, second, COURSE_RESULTS=tmp_path / "results").stdout
    assert re.findall("our search|(?:first|second) is through", said) == [
        "our search",
        "first is through",
        "second is through",
    ]


def test_the_notebook_with_the_leaderboard_is_run_first():
    first, *others = [path.name for path in script.lessons()]
    assert first.startswith("03-")
    assert others == sorted(others)
    assert len(others) == 4
    sources = (script.NOTEBOOKS / first).read_text()
    assert 'leaderboard.csv\\"' in sources


def test_in_place_refuses_without_elasticsearch(notebooks, tmp_path):
    given = {"COURSE_RESULTS": tmp_path / "results"}
    nowhere = "http://127.0.0.1:9"
    done = run("--in-place", notebooks[0], ELASTICSEARCH_URL=nowhere, **given)
    assert done.returncode == 3
    assert re.fullmatch(f"error: .*no healthy node at {nowhere}.*\n", done.stderr)


def test_pictures_of_the_text_lie_beside_the_executed_notebook(tmp_path):
    path, results = tmp_path / "picture.ipynb", tmp_path / "results"
    picture = nbformat.v4.new_markdown_cell("![one](../figures/02-metrics.svg)")
    nbformat.write(nbformat.v4.new_notebook(cells=[picture]), path)
    assert run(path, COURSE_RESULTS=results).returncode == 0
    [cell] = nbformat.read(results / path.name, as_version=4).cells
    assert cell.source == "![one](figures/02-metrics.svg)"
    assert (results / "figures" / "02-metrics.svg").is_file()


@pytest.mark.elasticsearch
def test_in_place_keeps_a_notebook_whose_neighbour_failed(notebooks, tmp_path):
    good = notebooks[0]
    before = [path.read_bytes() for path in notebooks]
    given = {"COURSE_RESULTS": tmp_path / "results"}
    assert run("--in-place", *notebooks, **given).returncode == 3
    assert [path.read_bytes() for path in notebooks] == before
    assert run("--in-place", good, **given).returncode == 0
    assert nbformat.read(good, 4).cells[0].outputs[0].text == "1\n"
