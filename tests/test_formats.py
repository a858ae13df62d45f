"""Other people's files, read and written: tables, BEIR's folders, TREC's topics, qrels and runs."""

import pandas as pd
import pytest

import formats
import utils

ROWS = [
    {"Problem": "It will not start", "Solution": "Press the\nred button, twice.", "nr": 7},
    {"Problem": "No sound", "Solution": "Turn it up;\u2028or ask.", "nr": 8},
    {"Problem": None, "Solution": "Nothing else helps.", "nr": None},
]
MAP = {"text": "Solution", "question": "Problem", "id": "nr"}
BEIR = '{"_id": "d1", "title": "Sound", "text": "Turn it up."}\n{"_id": "d2", "text": "Press."}\n'
TOPICS = "<top>\n<num> Number: 301\n<title> no sound\n<desc> It is quiet.\n</top>\n"
TOPICS += "<top>\n<num> Number: 302\n<title> dead\n</top>\n"
QRELS = "query-id\tcorpus-id\tscore\n301\td1\t2\n301\td2\t-1\n302\td2\t1\n"


@pytest.mark.parametrize("name", ["own.csv", "own.tsv", "own.json", "own.jsonl", "own.parquet"])
@pytest.mark.parametrize("in_folder", [True, False])
def test_documents_alone_in_any_table_with_a_map_of_columns(tmp_path, name, in_folder, capsys):
    table, path = pd.DataFrame(ROWS).astype({"nr": "Int64"}), tmp_path / name
    if path.suffix in (".csv", ".tsv"):
        table.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    elif path.suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_json(path, orient="records", lines=path.suffix == ".jsonl")
    folder = formats.convert(tmp_path if in_folder else path, tmp_path / "into", MAP)
    documents = utils.load_documents(folder)
    assert "3 documents, 1 ids made" in capsys.readouterr().out
    assert [d["text"] for d in documents] == [row["Solution"] for row in ROWS]
    assert [d["question"] for d in documents] == ["It will not start", "No sound", ""]
    assert [d["id"] for d in documents] == ["7", "8", utils.document_id(documents[2])]
    assert utils.load_halves(folder)[:2] == ({}, {})
    assert formats.convert(folder, tmp_path / "elsewhere") == folder  # of the course's form
    with pytest.raises(ValueError, match=rf"{path.name}: no column Titel; found Problem"):
        formats.convert(path, tmp_path / "elsewhere", MAP | {"question": "Titel"})


@pytest.mark.parametrize("trec", [True, False])
def test_queries_and_grades_of_beir_and_of_trec(tmp_path, trec, capsys):
    (tmp_path / "corpus.jsonl").write_text(BEIR)
    if trec:
        (tmp_path / "topics.txt").write_text(TOPICS)
        (tmp_path / "qrels.txt").write_text("301 0 d1 2\n301 0 d2 -1\n302 0 d2 1\n")
    else:
        lines = ['{"_id": "301", "text": "no sound"}', '{"_id": "302", "text": "dead"}']
        (tmp_path / "queries.jsonl").write_text("\n".join(lines))
        (tmp_path / "qrels").mkdir()
        (tmp_path / "qrels" / "test.tsv").write_text(QRELS)
    folder = formats.convert(tmp_path, tmp_path / "into")
    queries, qrels = utils.load_judged_queries(folder)
    assert (*queries["query_id"], *queries["question"]) == ("301", "302", "no sound", "dead")
    assert qrels == [{"d1": 2, "d2": 0}, {"d2": 1}]
    assert "2 queries, 2 judged, 3 grades" in capsys.readouterr().out


def test_a_log_of_queries_is_kept_and_nothing_of_an_earlier_time(tmp_path):
    (tmp_path / "documents.csv").write_text("answer\nTurn it up.\n")
    (tmp_path / "queries.txt").write_text("no sound\r\n\r\nq9\tdead\tstill\n")
    (tmp_path / "into").mkdir()
    (tmp_path / "into" / "judged-queries.csv").write_text("old")
    folder = formats.convert(tmp_path, tmp_path / "into")
    log = pd.read_csv(folder / "queries.csv", dtype=str, keep_default_na=False)
    assert log.iloc[:, :2].to_numpy().tolist() == [["q1", "no sound"], ["q9", "dead\tstill"]]
    assert utils.load_halves(folder)[:2] == ({}, {})


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "needs one file with documents .* found nothing"),
        ({"a.csv": "text\nx\n", "b.csv": "text\ny\n"}, r"needs one file .* found a\.csv, b\.csv"),
        ({"a.csv": "note\nx\n"}, r"a\.csv: no column text or answer .*; found note"),
        ({"a.json": '{"note": "x"}'}, r"a\.json: no column text .*; found note"),
        ({"a.jsonl": '{"text": "x"}\n{"text"\n'}, r"a\.jsonl: line 2 is not readable as JSON"),
        ({"a.json": '["x"]'}, r"a\.json: record 0 is no object: x"),
        ({"a.csv": "text\nx\n", "queries.txt": "q", "topics.txt": "q"}, "at most one with queries"),
        ({"a.parquet": "no parquet"}, r"a\.parquet: not readable as Parquet"),
        ({"queries.csv": "id,query\n1, \n"}, r"queries\.csv: row 0 .*, column query: ' ' is empty"),
        ({"queries.csv": "id,query\n1,a\n1,b\n"}, r"row 1 \(line 3\), column query_id: '1' stands"),
        ({"queries.txt": "1\tA?\n", "qrels.txt": "1 0 d2 1\n1 0 d2 y\n"}, "line 2: no query"),
        ({"queries.txt": "1\tA?\n", "qrels.txt": "2 0 d2 1\n"}, "column query_id: '2' is in no"),
        ({"queries.txt": "1\tA?\n", "qrels.txt": "1 0 d3 1\n"}, "column document: 'd3' is in no"),
    ],
)
def test_what_cannot_be_read_names_file_row_and_column(tmp_path, files, message):
    if any(name.startswith("q") for name in files):
        (tmp_path / "corpus.jsonl").write_text(BEIR)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        formats.convert(tmp_path, tmp_path / "into")


def test_an_id_with_a_space_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"no id with a space: q0 0 d 1 1"):
        formats.write_trec(tmp_path, "generated", pd.DataFrame({"document": ["d 1"]}), {})
