"""Other people's files, read and written: tables, BEIR's folders and TREC's formats."""

import ir_measures
import numpy as np
import pandas as pd
import pytest

import utils
from course import corpus, formats

ROWS = [
    {"Problem": "It won't start", "Solution": "Press the\nred button, twice.", "nr": 7},
    {"Problem": "No sound", "Solution": "Turn it up;\u2028or ask.", "nr": 8},
    {"Problem": None, "Solution": "Nothing else helps.", "nr": None},
]
NAMES = 'text = "Solution"\nquestion = "Problem"\nid = "nr"\n'
TABLES = ["own.csv", "own.tsv", "own.json", "own.jsonl", "own.parquet"]
BEIR = """{"_id": "d1", "title": "Sound", "text": "Turn it up."}
{"_id": "d2", "text": "Press."}
"""
ASKED = '{"_id": "301", "text": "no sound"}\n{"_id": "302", "text": "dead"}'
TOPICS = "<top>\n<num> Number: 301\n<title> no sound\n<desc> It is quiet.\n</top>\n"
TOPICS += "<top>\n<num> Number: 302\n<title> dead\n</top>\n"
HEADER = "query-id\tcorpus-id\tscore\n"
QRELS = HEADER + "301\td1\t2\n301\td2\t-1\n302\td2\t1\n"
OWN = "question,course,document\nWhy?,all,1\n"


def write(folder, files):
    """Files of a folder, by name, which may name a folder in it."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("in_folder", [True, False])
def test_documents_alone_in_any_table(tmp_path, name, in_folder, capsys):
    table, path = pd.DataFrame(ROWS).astype({"nr": "Int64"}), tmp_path / name
    if path.suffix in (".csv", ".tsv"):
        table.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    elif path.suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_json(path, orient="records", lines=path.suffix == ".jsonl")
    write(tmp_path, {"columns.toml": NAMES})
    folder = formats.convert(tmp_path if in_folder else path, tmp_path / "into")
    documents = corpus.load_documents(folder)
    assert "3 documents, 1 ids made" in capsys.readouterr().out
    assert [d["text"] for d in documents] == [row["Solution"] for row in ROWS]
    assert [d["question"] for d in documents] == ["It won't start", "No sound", ""]
    made = corpus.document_id(documents[2])
    assert [d["id"] for d in documents] == ["7", "8", made]
    assert corpus.load_halves(folder)[:2] == ({}, {})
    assert formats.convert(folder, tmp_path / "x") == folder  # of the course's form
    write(tmp_path, {"columns.toml": NAMES.replace("Problem", "Titel")})
    with pytest.raises(ValueError, match=f"{name}: no column Titel; found Problem"):
        formats.convert(path, tmp_path / "x")


@pytest.mark.parametrize("trec", [True, False])
def test_queries_and_grades_of_beir_and_of_trec(tmp_path, trec, capsys):
    files = {"queries.jsonl": ASKED, "qrels/test.tsv": QRELS}
    if trec:
        qrels = "301 0 d1 2\n301 0 d2 -1\n302 0 d2 1\n"
        files = {"topics.txt": TOPICS, "qrels.txt": qrels}
    write(tmp_path, {"corpus.jsonl": BEIR, **files})
    folder = formats.convert(tmp_path, tmp_path / "into")
    queries, qrels = corpus.load_judged_queries(folder)
    assert list(queries["query_id"]) == ["301", "302"]
    assert list(queries["question"]) == ["no sound", "dead"]
    assert list(queries["split"]) == ([""] * 2 if trec else ["test"] * 2)
    assert qrels == [{"d1": 2, "d2": 0}, {"d2": 1}]
    assert "2 queries, 2 judged, 3 grades" in capsys.readouterr().out


def test_splits_stay_and_a_query_in_several_counts_in_the_first(tmp_path, capsys):
    """301 is in all three files, 302 in train and dev, and 303 in train alone."""
    lines = {
        "train": "301\td2\t1\n302\td1\t2\n303\td1\t1\n",
        "dev": "301\td2\t2\n302\td2\t1\n",
        "test": "301\td1\t1\n",
    }
    files = {f"qrels/{split}.tsv": HEADER + rows for split, rows in lines.items()}
    asked = ASKED + '\n{"_id": "303", "text": "quiet"}'
    write(tmp_path, {"corpus.jsonl": BEIR, "queries.jsonl": asked, **files})
    folder = formats.convert(tmp_path, tmp_path / "into")
    queries, qrels = corpus.load_judged_queries(folder)
    assert list(queries["split"]) == ["test", "dev", "train"]
    assert qrels == [{"d1": 1}, {"d2": 1}, {"d1": 1}]
    said = capsys.readouterr().out
    assert "2 queries stand in several splits; test counts, then dev" in said
    assert "3 queries, 3 judged, 3 grades" in said


def test_judgements_of_unknown_documents_are_counted_and_left_out(tmp_path, capsys):
    qrels = QRELS + "301\tgone\t2\n302\tgone\t2\n301\tnor\t1\n"  # one half
    write(tmp_path, {"corpus.jsonl": BEIR, "queries.jsonl": ASKED})
    write(tmp_path, {"qrels/test.tsv": qrels})
    folder = formats.convert(tmp_path, tmp_path / "into")
    assert corpus.load_judged_queries(folder)[1] == [{"d1": 2, "d2": 0}, {"d2": 1}]
    what = "judgements name a document that the corpus lacks; they are left out"
    assert f"test.tsv: 3 {what}\n" in capsys.readouterr().out
    write(tmp_path, {"qrels/test.tsv": qrels + "301\tthis\t1\n"})
    problem = r"test\.tsv: row 3 \(line 5\), column document: 'gone' is in no other"
    with pytest.raises(ValueError, match=problem):
        formats.convert(tmp_path, tmp_path / "into")


JUDGED = "query_id,query,course,kind,need,document,grade\n"
TV = "id,text,course\n1,Turn the sound up.,tv\n2,The remote is dead.,tv\n"


def test_judged_queries_without_a_course_are_of_all_documents(tmp_path, capsys):
    rows = "q1,no sound,all,typed,q1,1,2\nq2,dead,all,typed,q2,2,2\n"
    write(tmp_path, {"documents.csv": TV, "judged-queries.csv": JUDGED + rows})
    folder = formats.convert(tmp_path, tmp_path / "into")
    said = "judged-queries.csv: queries without a course, so no search filters on it"
    assert said in capsys.readouterr().out
    assert {one["course"] for one in corpus.load_documents(folder)} == {"all"}
    assert len(corpus.load_halves(folder)[1]["judged"]) == 2


def test_a_judged_query_of_a_course_without_documents_is_named(tmp_path):
    rows = "q1,no sound,tv,typed,q1,1,2\nq2,dead,all,typed,q2,2,2\n"
    write(tmp_path, {"documents.csv": TV, "judged-queries.csv": JUDGED + rows})
    folder = formats.convert(tmp_path, tmp_path / "into")
    problem = r"judged-queries\.csv: row 1 \(line 3\), column course: 'all' is not a"
    with pytest.raises(ValueError, match=problem):
        corpus.load_halves(folder)
    with_log = rows.replace("all,typed", f"all,{corpus.FROM_LOG}")
    write(folder, {"judged-queries.csv": JUDGED + with_log})
    assert len(corpus.load_judged_queries(folder)[0]) == 1  # a log is left out anyway


def test_facts_and_runs_beside_a_table_are_copied_and_go_when_they_go(tmp_path):
    facts = "query_id,fact\nq1,the volume\n"
    files = {"tickets.csv": TV, "answer-facts.csv": facts}
    write(tmp_path, files | {"runs/theirs.trec": "q1 Q0 1 1 0.5 t\n"})
    folder = formats.convert(tmp_path, tmp_path / "into")
    assert (folder / "answer-facts.csv").read_text() == facts
    assert (folder / "runs" / "theirs.trec").read_text().startswith("q1 Q0 1")
    (tmp_path / "answer-facts.csv").unlink()
    (tmp_path / "runs" / "theirs.trec").unlink()
    formats.convert(tmp_path, folder)
    assert not (folder / "answer-facts.csv").exists()
    assert not [*folder.glob("runs/*")]


def test_a_log_of_queries_is_kept_and_nothing_of_an_earlier_time(tmp_path):
    asked = "no sound\r\n\r\nq9\tdead\tstill\n"
    write(tmp_path, {"documents.csv": "answer\nTurn it up.\n", "queries.txt": asked})
    write(tmp_path, {"into/judged-queries.csv": "old"})
    folder = formats.convert(tmp_path, tmp_path / "into")
    log = pd.read_csv(folder / "queries.csv", dtype=str, keep_default_na=False)
    assert log["query_id"].tolist() == ["q1", "q9"]
    assert log["question"].tolist() == ["no sound", "dead\tstill"]
    assert corpus.load_halves(folder)[:2] == ({}, {})


def test_generated_questions_go_when_their_documents_change(tmp_path):
    write(tmp_path, {"documents.csv": "id,answer\n1,Turn it up.\n"})
    folder = formats.convert(tmp_path, tmp_path / "into")
    write(folder, {"ground-truth-data.csv": OWN})  # as notebook 01 does
    formats.convert(tmp_path, folder)
    assert (folder / "ground-truth-data.csv").read_text() == OWN
    write(tmp_path, {"documents.csv": "id,answer\n1,Turn it down.\n"})
    formats.convert(tmp_path, folder)
    assert not (folder / "ground-truth-data.csv").exists()
    write(tmp_path, {"ground-truth-data.csv": OWN})  # the user's own stay
    formats.convert(tmp_path, folder)
    assert (folder / "ground-truth-data.csv").read_text() == OWN


def test_queries_without_a_course_search_all_documents(tmp_path, capsys):
    write(tmp_path, {"documents.csv": "id,text,course\n1,Up.,tv\n2,Down.,radio\n"})
    write(tmp_path, {"queries.csv": "id,query\n1,no sound\n", "qrels.txt": "1 0 2 1\n"})
    folder = formats.convert(tmp_path, tmp_path / "into")
    assert {d["course"] for d in corpus.load_documents(folder)} == {"all"}
    assert list(corpus.load_judged_queries(folder)[0]["course"]) == ["all"]
    said = capsys.readouterr().out
    assert "queries without a course, so no search filters on it" in said
    write(tmp_path, {"queries.csv": "id,query,course\n1,no sound,tv\n"})
    folder = formats.convert(tmp_path, tmp_path / "into")
    assert {d["course"] for d in corpus.load_documents(folder)} == {"tv", "radio"}


ONE = {"queries.txt": "1\tA?\n"}
TWO_LOGS = {"a.csv": "text\nx\n", "queries.txt": "q", "topics.txt": "q"}
SPACE = "has a space, which TREC's format forbids"
NO_ROWS = "no queries; write some into it, or take the file out"
PROBLEMS = [
    ({}, "needs one file with documents .* found nothing"),
    ({"a.csv": "text\nx", "b.csv": "text\ny"}, r"needs one .* found a\.csv, b\.csv"),
    ({"a.csv": "note\nx\n"}, r"a\.csv: no column text or answer .*; found note"),
    ({"a.json": '{"note": "x"}'}, r"a\.json: no column text .*; found note"),
    ({"a.jsonl": '{"text": "x"}\n{"text"\n'}, r"a\.jsonl: line 2 is not readable as"),
    ({"a.json": '["x"]'}, r"a\.json: record 0 is not a JSON object: x"),
    (TWO_LOGS, "at most one with queries"),
    ({"a.parquet": "no parquet"}, r"a\.parquet: not readable as Parquet"),
    ({"queries.csv": "id,query\n1, \n"}, r"s\.csv: row 0 .*, column query: ' ' is"),
    ({"queries.csv": "id,query\n1,a\n1,b\n"}, r"row 1 \(line 3\), .*: '1' stands"),
    ({**ONE, "qrels.txt": "1 0 d2 1\n1 0 d2 y\n"}, "line 2: not a query"),
    ({**ONE, "qrels.txt": "2 0 d2 1\n"}, "column query_id: '2' is in no other file"),
    ({**ONE, "qrels.txt": "1 0 d3 1\n"}, "column document: 'd3' is in no other file"),
    ({"a.csv": "id,text\n1,x\n1 2,y\n"}, rf"row 1 \(line 3\), .*: '1 2' {SPACE}"),
    ({"queries.txt": "q 1\tA?\n"}, rf"queries\.txt: row 0, .*: 'q 1' {SPACE}"),
    ({"queries.csv": "id,query\n"}, rf"queries\.csv: {NO_ROWS}"),
    ({"queries.jsonl": " \n"}, rf"queries\.jsonl: {NO_ROWS}"),
]


@pytest.mark.parametrize(("files", "message"), PROBLEMS)
def test_what_cannot_be_read_names_file_row_and_column(tmp_path, files, message):
    if any(name.startswith("q") for name in files) and "a.csv" not in files:
        write(tmp_path, {"corpus.jsonl": BEIR})
    write(tmp_path, files)
    with pytest.raises(ValueError, match=message):
        formats.convert(tmp_path, tmp_path / "into")


LANGUAGES = {
    "english": "How do I get the logs of a container that does not start?",
    "german": "Wie bekomme ich die Ausgaben eines Containers, der nicht startet?",
    "french": "Comment voir les journaux du conteneur qui ne veut pas d\u00e9marrer ?",
    "spanish": "\u00bfC\u00f3mo veo los registros de un contenedor que no arranca?",
}


def test_the_language_is_that_of_the_common_words():
    for language, text in LANGUAGES.items():
        assert formats.language_of([text]) == language
    assert formats.language_of(["", "xyzzy 42"]) == "english"
    for folder, language in {"data": "english", "data/es": "spanish"}.items():
        documents = corpus.load_documents(corpus.ROOT / folder)
        assert formats.language_of(d["text"] for d in documents) == language


GENERATED = pd.DataFrame({"question": ["Why?", "How?", "Why?"], "course": "all"})
GENERATED["document"] = ["a", "b", "a"]


def test_ids_of_generated_questions_stay_when_others_come_or_go():
    why, how, again = formats.query_ids(GENERATED)
    assert (why, again) == ("gf0f4d4b4", "gf0f4d4b4-2")  # of baselines that people keep
    assert formats.query_ids(GENERATED.iloc[1:]) == [how, why]
    more = formats.query_ids(GENERATED.iloc[[2, 1, 0, 0]])
    assert more == [why, how, again, f"{why}-3"]
    for column in GENERATED:
        assert formats.query_ids(GENERATED.assign(**{column: "x"}))[0] != why
    graded = GENERATED.iloc[:1].assign(document=[{"a": 1, "b": 0}])
    edited = graded.assign(document=[{"b": 2, "a": 0}])
    assert formats.query_ids(graded) == formats.query_ids(edited)
    named = GENERATED.assign(query_id=["1", "2", "3"])
    assert formats.query_ids(named) == ["1", "2", "3"]


def test_a_run_has_each_id_once_and_scores_that_fall_with_rank(tmp_path):
    rows = [["a", "b", "a", "c"], ["b", "", "", ""], [""] * 4]
    rankings = np.array(rows, dtype=object)
    formats.write_trec(tmp_path, "generated", GENERATED, {"of an old run": rankings})
    formats.write_trec(tmp_path, "generated", GENERATED, {"my search": rankings})
    path = tmp_path / "runs" / "generated" / "my-search.trec"
    assert [*path.parent.iterdir()] == [path]
    columns = ["query", "Q0", "id", "rank", "score", "tag"]
    run = pd.read_csv(path, sep=" ", names=columns)
    why, how, _ = formats.query_ids(GENERATED)
    assert run["query"].tolist() == [why, why, why, how]
    assert run["id"].tolist() == ["a", "b", "c", "b"]
    assert run["rank"].tolist() == [1, 2, 3, 1]
    assert (run["score"].diff().dropna()[:2] < 0).all()
    qrels = (tmp_path / "qrels-generated.trec").read_text().splitlines()
    assert qrels[:2] == [f"{why} 0 a 1", f"{how} 0 b 1"]


def test_qrels_list_every_right_answer_of_a_question_in_the_same_order(tmp_path):
    several = GENERATED.assign(also=["c a2", "", "d"])
    formats.write_trec(tmp_path, "generated", several, {})
    lines = (tmp_path / "qrels-generated.trec").read_text().splitlines()
    assert [line.split()[2] for line in lines] == ["a", "a2", "c", "b", "a", "d"]


def test_fractional_grades_are_kept_and_give_other_tools_the_same_ndcg(tmp_path):
    graded = QRELS.replace("d1\t2", "d1\t0.25").replace("d2\t1", "d2\t1.5")
    files = {"corpus.jsonl": BEIR, "queries.jsonl": ASKED, "qrels/test.tsv": graded}
    folder = formats.convert(write(tmp_path, files), tmp_path / "into")
    queries, qrels = corpus.load_judged_queries(folder)
    assert qrels == [{"d1": 0.25, "d2": 0}, {"d2": 1.5}]
    asked = queries.assign(document=[{"d1": 0.25, "d2": 0.5}, {"d2": 1.5}])
    rankings = [["d1", "d2"], ["d1", "d2"]]
    formats.write_trec(tmp_path, "judged", asked, {"one": rankings})
    lines = (tmp_path / "qrels-judged.trec").read_text().splitlines()
    assert lines == ["301 0 d1 25", "301 0 d2 50", "302 0 d2 150"]
    by = [ir_measures.nDCG @ 10], ir_measures.read_trec_qrels("\n".join(lines))
    run = ir_measures.read_trec_run(str(tmp_path / "runs/judged/one.trec"))
    [found] = ir_measures.calc_aggregate(*by, run).values()
    ours = utils.evaluate(asked, lambda _: np.array(rankings, dtype=object), k=2)
    assert ours["ndcg"] == pytest.approx(found)


def test_an_id_with_a_space_is_refused(tmp_path):
    spaced = GENERATED.iloc[:1].assign(document="d 1")
    with pytest.raises(ValueError, match=r"no id with a space: g\w{8} 0 d 1 1"):
        formats.write_trec(tmp_path, "generated", spaced, {})
