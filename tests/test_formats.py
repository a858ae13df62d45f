"""Other people's files, read and written: tables, BEIR's folders and TREC's formats."""

import json
import re
import sys
import zipfile

import ir_measures
import numpy as np
import pandas as pd
import pytest

import utils
from course import corpus, trec
from evaluate_retrieval import read, yours

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
    folder = read.convert(tmp_path if in_folder else path, tmp_path / "into")
    documents = corpus.load_documents(folder)
    assert "3 documents, 1 ids made" in capsys.readouterr().out
    assert [d["text"] for d in documents] == [row["Solution"] for row in ROWS]
    assert [d["question"] for d in documents] == ["It won't start", "No sound", ""]
    made = corpus.document_id(documents[2])
    assert [d["id"] for d in documents] == ["7", "8", made]
    assert corpus.load_splits(folder)[:2] == ({}, {})
    assert read.convert(folder, tmp_path / "x") == folder  # of the course's form
    write(tmp_path, {"columns.toml": NAMES.replace("Problem", "Titel")})
    with pytest.raises(ValueError, match=f"{name}: no column Titel; found Problem"):
        read.convert(path, tmp_path / "x")


@pytest.mark.parametrize("trec", [True, False])
def test_queries_and_grades_of_beir_and_of_trec(tmp_path, trec, capsys):
    files = {"queries.jsonl": ASKED, "qrels/test.tsv": QRELS}
    if trec:
        qrels = "301 0 d1 2\n301 0 d2 -1\n302 0 d2 1\n"
        files = {"topics.txt": TOPICS, "qrels.txt": qrels}
    write(tmp_path, {"corpus.jsonl": BEIR, **files})
    folder = read.convert(tmp_path, tmp_path / "into")
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
    folder = read.convert(tmp_path, tmp_path / "into")
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
    folder = read.convert(tmp_path, tmp_path / "into")
    assert corpus.load_judged_queries(folder)[1] == [{"d1": 2, "d2": 0}, {"d2": 1}]
    what = "judgements name a document that the corpus lacks; they are left out"
    assert f"test.tsv: 3 {what}\n" in capsys.readouterr().out
    write(tmp_path, {"qrels/test.tsv": qrels + "301\tthis\t1\n"})
    problem = r"test\.tsv: row 3 \(line 5\), column document: 'gone' is in no other"
    with pytest.raises(ValueError, match=problem):
        read.convert(tmp_path, tmp_path / "into")


JUDGED = "query_id,query,course,kind,need,document,grade\n"
TV = "id,text,course\n1,Turn the sound up.,tv\n2,The remote is dead.,tv\n"


def test_judged_queries_without_a_course_are_of_all_documents(tmp_path, capsys):
    rows = "q1,no sound,all,typed,q1,1,2\nq2,dead,all,typed,q2,2,2\n"
    write(tmp_path, {"documents.csv": TV, "judged-queries.csv": JUDGED + rows})
    folder = read.convert(tmp_path, tmp_path / "into")
    said = "judged-queries.csv: queries without a course, so no search filters on it"
    assert said in capsys.readouterr().out
    assert {one["course"] for one in corpus.load_documents(folder)} == {"all"}
    assert len(corpus.load_splits(folder)[1]["judged"]) == 2


def test_a_judged_query_of_a_course_without_documents_is_named(tmp_path):
    rows = "q1,no sound,tv,typed,q1,1,2\nq2,dead,all,typed,q2,2,2\n"
    write(tmp_path, {"documents.csv": TV, "judged-queries.csv": JUDGED + rows})
    folder = read.convert(tmp_path, tmp_path / "into")
    problem = r"judged-queries\.csv: row 1 \(line 3\), column course: 'all' is not a"
    with pytest.raises(ValueError, match=problem):
        corpus.load_splits(folder)
    with_log = rows.replace("all,typed", f"all,{corpus.FROM_LOG}")
    write(folder, {"judged-queries.csv": JUDGED + with_log})
    assert len(corpus.load_judged_queries(folder)[0]) == 1  # a log is left out anyway


def test_facts_and_runs_beside_a_table_are_copied_and_go_when_they_go(tmp_path):
    facts = "query_id,fact\nq1,the volume\n"
    files = {"tickets.csv": TV, "answer-facts.csv": facts}
    write(tmp_path, files | {"runs/theirs.trec": "q1 Q0 1 1 0.5 t\n"})
    folder = read.convert(tmp_path, tmp_path / "into")
    assert (folder / "answer-facts.csv").read_text() == facts
    assert (folder / "runs" / "theirs.trec").read_text().startswith("q1 Q0 1")
    (tmp_path / "answer-facts.csv").unlink()
    (tmp_path / "runs" / "theirs.trec").unlink()
    read.convert(tmp_path, folder)
    assert not (folder / "answer-facts.csv").exists()
    assert not [*folder.glob("runs/*")]


def test_a_log_of_queries_is_kept_and_nothing_of_an_earlier_time(tmp_path):
    asked = "no sound\r\n\r\nq9\tdead\tstill\n"
    write(tmp_path, {"documents.csv": "answer\nTurn it up.\n", "queries.txt": asked})
    write(tmp_path, {"into/judged-queries.csv": "old"})
    folder = read.convert(tmp_path, tmp_path / "into")
    log = pd.read_csv(folder / "queries.csv", dtype=str, keep_default_na=False)
    assert log["query_id"].tolist() == ["q1", "q9"]
    assert log["question"].tolist() == ["no sound", "dead\tstill"]
    assert corpus.load_splits(folder)[:2] == ({}, {})


def test_generated_questions_go_when_their_documents_change(tmp_path):
    write(tmp_path, {"documents.csv": "id,answer\n1,Turn it up.\n"})
    folder = read.convert(tmp_path, tmp_path / "into")
    write(folder, {"ground-truth-data.csv": OWN})  # as notebook 01 does
    read.convert(tmp_path, folder)
    assert (folder / "ground-truth-data.csv").read_text() == OWN
    write(tmp_path, {"documents.csv": "id,answer\n1,Turn it down.\n"})
    read.convert(tmp_path, folder)
    assert not (folder / "ground-truth-data.csv").exists()
    write(tmp_path, {"ground-truth-data.csv": OWN})  # the user's own stay
    read.convert(tmp_path, folder)
    assert (folder / "ground-truth-data.csv").read_text() == OWN


def test_queries_without_a_course_search_all_documents(tmp_path, capsys):
    write(tmp_path, {"documents.csv": "id,text,course\n1,Up.,tv\n2,Down.,radio\n"})
    write(tmp_path, {"queries.csv": "id,query\n1,no sound\n", "qrels.txt": "1 0 2 1\n"})
    folder = read.convert(tmp_path, tmp_path / "into")
    assert {d["course"] for d in corpus.load_documents(folder)} == {"all"}
    assert list(corpus.load_judged_queries(folder)[0]["course"]) == ["all"]
    said = capsys.readouterr().out
    assert "queries without a course, so no search filters on it" in said
    write(tmp_path, {"queries.csv": "id,query,course\n1,no sound,tv\n"})
    folder = read.convert(tmp_path, tmp_path / "into")
    assert {d["course"] for d in corpus.load_documents(folder)} == {"tv", "radio"}


ONE = {"queries.txt": "1\tA?\n"}
TWO_LOGS = {"a.csv": "text\nx\n", "queries.txt": "q", "topics.txt": "q"}
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
    ({**ONE, "qrels.txt": "1 0 d2 1\n1 0 d2 y\n"}, r"\(line 2\), column grade: .y"),
    ({**ONE, "qrels.txt": "2 0 d2 1\n"}, "column query_id: '2' is in no other file"),
    ({**ONE, "qrels.txt": "1 0 d3 1\n"}, "column document: 'd3' is in no other file"),
    ({"queries.csv": "id,query\n"}, rf"queries\.csv: {NO_ROWS}"),
    ({"queries.jsonl": " \n"}, rf"queries\.jsonl: {NO_ROWS}"),
]


@pytest.mark.parametrize(("files", "message"), PROBLEMS)
def test_what_cannot_be_read_names_file_row_and_column(tmp_path, files, message):
    if any(name.startswith("q") for name in files) and "a.csv" not in files:
        write(tmp_path, {"corpus.jsonl": BEIR})
    write(tmp_path, files)
    with pytest.raises(ValueError, match=message):
        read.convert(tmp_path, tmp_path / "into")


LANGUAGES = {
    "english": "How do I get the logs of a container that does not start?",
    "german": "Wie bekomme ich die Ausgaben eines Containers, der nicht startet?",
    "french": "Comment voir les journaux du conteneur qui ne veut pas d\u00e9marrer ?",
    "spanish": "\u00bfC\u00f3mo veo los registros de un contenedor que no arranca?",
}


def test_the_language_is_that_of_the_common_words():
    for language, text in LANGUAGES.items():
        assert read.language_of([text]) == language
    assert read.language_of(["", "xyzzy 42"]) == "english"
    for folder, language in {"data": "english", "data/es": "spanish"}.items():
        documents = corpus.load_documents(corpus.ROOT / folder)
        assert read.language_of(d["text"] for d in documents) == language


GENERATED = pd.DataFrame({"question": ["Why?", "How?", "Why?"], "course": "all"})
GENERATED["document"] = ["a", "b", "a"]


def test_ids_of_generated_questions_stay_when_others_come_or_go():
    why, how, again = trec.query_ids(GENERATED)
    assert (why, again) == ("gf0f4d4b4", "gf0f4d4b4-2")  # of baselines that people keep
    assert trec.query_ids(GENERATED.iloc[1:]) == [how, why]
    more = trec.query_ids(GENERATED.iloc[[2, 1, 0, 0]])
    assert more == [why, how, again, f"{why}-3"]
    for column in GENERATED:
        assert trec.query_ids(GENERATED.assign(**{column: "x"}))[0] != why
    graded = GENERATED.iloc[:1].assign(document=[{"a": 1, "b": 0}])
    edited = graded.assign(document=[{"b": 2, "a": 0}])
    assert trec.query_ids(graded) == trec.query_ids(edited)
    named = GENERATED.assign(query_id=["1", "2", "3"])
    assert trec.query_ids(named) == ["1", "2", "3"]


def test_a_run_has_each_id_once_and_scores_that_fall_with_rank(tmp_path):
    rows = [["a", "b", "a", "c"], ["b", "", "", ""], [""] * 4]
    rankings = np.array(rows, dtype=object)
    trec.write_trec(tmp_path, "generated", GENERATED, {"of an old run": rankings})
    trec.write_trec(tmp_path, "generated", GENERATED, {"my search": rankings})
    path = tmp_path / "runs" / "generated" / "my-search.trec"
    assert [*path.parent.iterdir()] == [path]
    columns = ["query", "Q0", "id", "rank", "score", "tag"]
    run = pd.read_csv(path, sep=" ", names=columns)
    why, how, _ = trec.query_ids(GENERATED)
    assert run["query"].tolist() == [why, why, why, how]
    assert run["id"].tolist() == ["a", "b", "c", "b"]
    assert run["rank"].tolist() == [1, 2, 3, 1]
    assert (run["score"].diff().dropna()[:2] < 0).all()
    qrels = (tmp_path / "qrels-generated.trec").read_text().splitlines()
    assert qrels[:2] == [f"{why} 0 a 1", f"{how} 0 b 1"]


def test_qrels_list_every_right_answer_of_a_question_in_the_same_order(tmp_path):
    several = GENERATED.assign(also=["c a2", "", "d"])
    trec.write_trec(tmp_path, "generated", several, {})
    lines = (tmp_path / "qrels-generated.trec").read_text().splitlines()
    assert [line.split()[2] for line in lines] == ["a", "a2", "c", "b", "a", "d"]


def test_fractional_grades_are_kept_and_give_other_tools_the_same_ndcg(tmp_path):
    graded = QRELS.replace("d1\t2", "d1\t0.25").replace("d2\t1", "d2\t1.5")
    files = {"corpus.jsonl": BEIR, "queries.jsonl": ASKED, "qrels/test.tsv": graded}
    folder = read.convert(write(tmp_path, files), tmp_path / "into")
    queries, qrels = corpus.load_judged_queries(folder)
    assert qrels == [{"d1": 0.25, "d2": 0}, {"d2": 1.5}]
    asked = queries.assign(document=[{"d1": 0.25, "d2": 0.5}, {"d2": 1.5}])
    rankings = [["d1", "d2"], ["d1", "d2"]]
    trec.write_trec(tmp_path, "judged", asked, {"one": rankings})
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
        trec.write_trec(tmp_path, "generated", spaced, {})


# --- What people have: Excel, a .zip, a dump, another encoding, ids of any kind ---

SHEET = [
    ["nr", "Problem", "Solution"],
    [7, "It won't start", "Press."],
    ["007", "", "x"],
]


def excel(path, **sheets):
    """An Excel file with sheets of rows, by name."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)


def test_excel_documents_and_queries_beside_a_run(tmp_path, capsys):
    write(tmp_path, {"columns.toml": NAMES, "runs/theirs.trec": "1 Q0 7 1 0.5 t\n"})
    excel(tmp_path / "faq.xlsx", FAQ=SHEET, Notes=[["only a note"]], Empty=[])
    asked = [["id", "query"], [1, "dead"], [2, "NA"], ["03", "no sound"]]
    excel(tmp_path / "queries.xlsx", Sheet=asked)
    write(tmp_path, {"qrels.txt": "1 0 7 1\n2 0 007 2\n"})
    folder = read.convert(tmp_path, tmp_path / "into")
    documents = corpus.load_documents(folder)
    assert [d["id"] for d in documents] == ["7", "007"]
    assert [d["question"] for d in documents] == ["It won't start", ""]
    queries, qrels = corpus.load_judged_queries(folder)
    assert queries["question"].tolist() == ["dead", "NA"]
    assert qrels == [{"7": 1}, {"007": 2}]
    said = capsys.readouterr().out
    assert "sheet FAQ is read, 1 others with content are not (Notes)" in said
    [run] = yours.own_searches(documents, [queries], folder).values()
    assert run(queries)[0, 0] == "7"


def test_excel_without_its_package_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    packed(tmp_path / "faq.xlsx", {})
    with pytest.raises(
        ValueError, match=r"faq\.xlsx: .* pip install .openpyxl>=3\.1,<4"
    ):
        read.convert(tmp_path, tmp_path / "into")


def begins(text):
    """A regular expression: the message begins with this text."""
    return f"^{re.escape(text)}"


def packed(path, files):
    """A .zip with files by name; texts or bytes."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("top", ["", "my faq/", "a/b/"])
def test_a_zip_is_read_as_the_folder_in_it(tmp_path, top, capsys):
    files = {"documents.csv": TV, "queries.csv": "id,query\nq1,no sound\nq2,dead\n"}
    files |= {"qrels/test.tsv": "q1\t1\t1\nq2\t2\t1\n"}
    files |= {"runs/theirs.trec": "q1 Q0 2 1 0.5 t\n"}
    inside = {f"{top}{name}": text for name, text in files.items()}
    left = {"__MACOSX/._documents.csv": "\0", f"{top}.DS_Store": "\0"}
    archive = packed(tmp_path / "faq.zip", inside | left)
    folder = read.convert(archive, tmp_path / "into")
    documents = corpus.load_documents(folder)
    queries, qrels = corpus.load_judged_queries(folder)
    assert [len(documents), qrels] == [2, [{"1": 1}, {"2": 1}]]
    [(name, run)] = yours.own_searches(documents, [queries], folder).items()
    assert [name, run(queries)[0, 0]] == ["run: theirs", "2"]
    assert "not read" not in capsys.readouterr().out
    again = packed(archive, {f"{top}faq.csv": TV})  # nothing of before stays
    read.convert(again, tmp_path / "into")
    assert not [*(tmp_path / "into").glob("queries.csv")]
    packed(archive, inside | {f"{top}queries.csv": "id,query\nq1,a\nq2,\n"})
    problem = begins(f"{archive}: {top}queries.csv: row 1 (line 3), column query")
    with pytest.raises(ValueError, match=problem):
        read.convert(archive, tmp_path / "into")


def test_the_courses_own_form_in_a_zip_and_its_errors(tmp_path):
    documents = json.dumps([dict.fromkeys(corpus.FIELDS, "1")])
    files = {"documents-with-ids.json": documents}
    archive = packed(tmp_path / "own.zip", files)
    folder = read.convert(archive, tmp_path / "into")
    assert corpus.load_documents(folder)[0]["id"] == "1"
    rows = JUDGED + "q1,A,1,typed,q1,1,high\n"
    packed(archive, files | {"judged-queries.csv": rows})
    folder = read.convert(archive, tmp_path / "into")
    problem = begins(f"{archive}: judged-queries.csv: row 0 (line 2), column grade")
    with pytest.raises(ValueError, match=problem):
        corpus.load_judged_queries(folder)


LATIN = {
    "documents.csv": "id,text\n\xe9 1,Caf\xe9 \x80\n\xe9 2,Th\xe9\n",
    "queries.csv": "id,query\n1,caf\xe9?\n2,th\xe9?\n",
    "qrels.tsv": "1\t\xe9 1\t1\n2\t\xe9 2\t1\n",
}


def test_an_encoding_is_guessed_and_used_if_columns_toml_says_it(tmp_path):
    for name, text in LATIN.items():
        (tmp_path / name).write_bytes(text.encode("latin-1"))
    problem = (
        "documents.csv: line 2 is not UTF-8; it looks like cp1252: save it as UTF-8"
    )
    with pytest.raises(ValueError, match=rf"{problem} .* encoding = .cp1252. into col"):
        read.convert(tmp_path, tmp_path / "into")
    write(tmp_path, {"columns.toml": 'encoding = "cp1252"\n'})
    folder = read.convert(tmp_path, tmp_path / "into")
    documents = corpus.load_documents(folder)
    assert [d["text"] for d in documents] == ["Caf\xe9 \u20ac", "Th\xe9"]
    queries, qrels = corpus.load_judged_queries(folder)
    assert queries["question"].tolist() == ["caf\xe9?", "th\xe9?"]
    assert qrels == [{documents[0]["id"]: 1}, {documents[1]["id"]: 1}]
    asked = LATIN["queries.csv"].encode("utf-8")  # one that is UTF-8 stays that
    (tmp_path / "queries.csv").write_bytes(asked)
    read.convert(tmp_path, tmp_path / "into")
    assert corpus.load_judged_queries(folder)[0].equals(queries)


SPACED = [
    "d 1",
    "d%201",
    "https://x.org/a?b=1 2#c",
    "7",
    "007",
    "7.0",
    "\xa0a\tb",
    "=1+ 1",
]
SPACED += ["x" * 5_000, "y" * 5_000]


def spaced_folder(folder):
    """Documents with ids of any kind, and each kind of file that names them."""
    rows = [{"id": id_, "text": f"Text {n}."} for n, id_ in enumerate(SPACED)]
    pd.DataFrame(rows).to_csv(folder / "documents.csv", index=False)
    asked = [{"id": f"q {id_}", "query": f"{n}?"} for n, id_ in enumerate(SPACED)]
    pd.DataFrame(asked).to_csv(folder / "queries.csv", index=False)
    qrels = [f"q {id_}\t{id_}\t1\n" for id_ in SPACED if "\t" not in id_]
    run = [f"q {id_}\tQ0\t{id_}\t1\t0.5\tmy run\n" for id_ in SPACED if "\t" not in id_]
    write(folder, {"qrels.tsv": "".join(qrels), "runs/a.trec": "".join(run)})
    facts = pd.DataFrame({"query_id": ["q d 1", "q d%201"], "fact": ["a", "b"]})
    facts.to_csv(folder / "answer-facts.csv", index=False)


def test_ids_of_any_kind_are_kept_apart_in_all_files_and_are_told(tmp_path, capsys):
    spaced_folder(tmp_path)
    folder = read.convert(tmp_path, tmp_path / "into")
    assert (
        "white space, or very long, have another form inside" in capsys.readouterr().out
    )
    documents, theirs = corpus.load_documents(folder), corpus.original_ids(folder)
    ids = [one["id"] for one in documents]
    assert len({*ids}) == len(ids)
    assert not any(c.isspace() for id_ in ids for c in id_)
    assert [theirs.get(id_, id_) for id_ in ids] == SPACED
    assert ids[:2] == ["d%201", "d%25201"]
    assert ids[3:6] == ["7", "007", "7.0"]
    assert max(map(len, ids)) < 200
    queries, qrels = corpus.load_judged_queries(folder)
    asked = [theirs[id_] for id_ in queries["query_id"]]
    judged = [theirs.get(id_, id_) for qrel in qrels for id_ in qrel]
    assert [f"q {id_}" for id_ in judged] == asked
    assert {*judged} == {id_ for id_ in SPACED if "\t" not in id_}
    searches = yours.own_searches(documents, [queries], folder)
    assert [[id_] for [id_] in map(list, qrels)] == searches["run: a"](
        queries, 1
    ).tolist()
    facts = corpus.read_table(folder / "answer-facts.csv")
    assert [theirs[id_] for id_ in facts["query_id"]] == ["q d 1", "q d%201"]
    trec.write_trec(tmp_path, "judged", queries.assign(document=qrels), {})
    assert corpus.original_ids(corpus.ROOT / "data") == {}


def test_a_search_of_ones_own_may_return_the_users_own_ids(tmp_path, monkeypatch):
    spaced_folder(tmp_path)
    folder = read.convert(tmp_path, tmp_path / "into")
    documents, theirs = corpus.load_documents(folder), corpus.original_ids(folder)
    code = f"SEARCHES = {{'theirs': lambda question, course: {SPACED!r}}}"
    write(tmp_path, {"mine.py": code})
    monkeypatch.setenv("COURSE_SEARCHES", str(tmp_path / "mine.py"))
    queries = [corpus.load_judged_queries(folder)[0]]  # of the run in the folder
    search = yours.own_searches(documents, queries, folder)["own: theirs"]
    asked = pd.DataFrame({"question": ["a"], "course": ["all"]})
    [found] = search(asked, len(SPACED))
    assert [theirs.get(id_, id_) for id_ in found] == SPACED


def test_own_tables_with_spaced_ids_keep_their_lines(tmp_path):
    text = "id,text\nd 1,One.\nd2,Two.\n"
    rows = f'\n{JUDGED}q 1,"A\nb",all,typed,q1,d 1,1\n\nq2,B,all,typed,q2,d2,2\n'
    asks = "question,course,document,also\nA?,all,d 1,d2\nB?,all,d2,d%201\n"
    files = {"judged-queries.csv": rows, "ground-truth-data.csv": asks}
    write(tmp_path, {"faq.csv": text, **files})
    folder = read.convert(tmp_path, tmp_path / "into")
    assert corpus.load_judged_queries(folder)[1] == [{"d%201": 1}, {"d2": 2}]
    truth = corpus.load_ground_truth(folder)
    assert truth["document"].tolist() == ["d%201", "d2"]
    assert truth["also"].tolist() == ["d2", "d%201"]
    write(tmp_path, {"judged-queries.csv": rows.replace("d2,2", "d2,high")})
    read.convert(tmp_path, tmp_path / "into")
    path = tmp_path / "judged-queries.csv"
    problem = begins(f"{path}: row 1 (line 6), column grade: 'high'")
    with pytest.raises(ValueError, match=problem):
        corpus.load_judged_queries(folder)


def test_an_empty_column_is_no_column_of_yours(tmp_path, capsys):
    topics = "<top>\n<num> Number: 7\n<title> late homework\n</top>\n"
    (tmp_path / "topics.txt").write_text(topics)
    queries = read.read_queries(tmp_path / "topics.txt")
    assert list(queries["query"]) == ["late homework"]
    assert "of your own" not in capsys.readouterr().out


def test_parquet_without_its_package_says_what_to_install(tmp_path, monkeypatch):
    def missing(*_, **__):
        raise ImportError("no engine")

    monkeypatch.setattr(pd, "read_parquet", missing)
    with pytest.raises(ValueError, match=r"a\.parquet: .*pip install pyarrow"):
        read.read_records(tmp_path / "a.parquet", read.DOCUMENT, ["text"])


def test_queries_that_lie_beside_our_own_form_are_named(tmp_path, capsys):
    (tmp_path / read.DOCUMENTS).write_text("[]")
    (tmp_path / "queries.txt").write_text("late homework")
    (tmp_path / "queries.csv").write_text("query_id,question,course")
    assert read.convert(tmp_path, tmp_path / "into") == tmp_path
    assert "not read: queries.txt; beside documents-with-ids.json only queries.csv" in (
        capsys.readouterr().out
    )
