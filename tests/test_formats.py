"""A folder that is read: from files to documents, queries and judgements.

And TREC's files, as we write and read them. How a single file is read: test_reading."""

import json
import sys
import warnings

import ir_measures
import numpy as np
import pandas as pd
import pytest

import utils
from course import corpus, trec
from evaluate_retrieval import folder, languages, read

BEIR = """{"_id": "d1", "title": "Sound", "text": "Turn it up."}
{"_id": "d2", "text": "Press."}
"""
QUERIES = '{"_id": "301", "text": "no sound"}\n{"_id": "302", "text": "dead"}\n'
HEADER = "query-id\tcorpus-id\tscore\n"
QRELS = HEADER + "301\td1\t2\n301\td2\t-1\n302\td2\t1\n"
TV = "id,text,course\n1,Up.,tv\n2,Down.,radio\n"
JUDGED = "query_id,query,course,kind,document,grade\n"
OURS = json.dumps([dict(zip(corpus.FIELDS, ["Up.", "", "", "tv", "1"], strict=True))])
BLANKS = {
    "documents.csv": "id,text\nd 1,One.\nd%201,Two.\n=1+ 1,Three.\n",
    "queries.csv": "id,query\nq 1,a\nq%201,b\n",
    "qrels.tsv": "q 1\td 1\t1\nq%201\td%201\t2\nq 1\t=1+ 1\t1\n",
    "runs/a.trec": "q 1\tQ0\td%201\t1\t.9\tt\nq%25201 Q0 d%25201 1 .5 t\n",
}
RADIO = {"documents.csv": TV, "queries.csv": "id,query,course\n1,a,tv\n"}
CAUSES = "query_id;search;your cause\nq1;BM25;typo\nq2;BM25; \n"
ONE = {"corpus.jsonl": BEIR, "queries.txt": "301\tA?\n"}
DRAWN = JUDGED + "a,A?,all,typed,1,2\nb,A?,all,typed,2,2\n"
DRAWN += "c,B?,all,drawn from the log,1,1\n"
RUN = "301 Q0 d2 2 .5 t\n301 Q0 d1 1 0.5 t\n301 Q0 d3 3 1e0 t\n"
TWICE = JUDGED + "q1,A?,all,typed,d1,2\nq1,A?,all,typed,d1,1\n"

# Files, and what they become: documents, queries, grades, runs, and a part of a note
# or a warning. Only what is named is compared.
FOLDERS = {
    "BEIR": (
        {"corpus.jsonl": BEIR, "queries.jsonl": QUERIES, "qrels/test.tsv": QRELS},
        {
            "documents": {"d1": "Turn it up.", "d2": "Press."},
            "queries": {"301": "no sound", "302": "dead"},
            "grades": {"301": {"d1": 2, "d2": 0}, "302": {"d2": 1}},
            "note": "2 queries, 2 judged, 3 grades",
        },
    ),
    "a log of lines, and ids that are made": (
        {
            "documents.csv": "answer\nUp.\n",
            "queries.txt": "no sound\r\n\r\nq9\tdead\tstill\n",
        },
        {
            "documents": {corpus.short_hash("all--Up."): "Up."},
            "queries": {
                "q" + corpus.short_hash("all\nno sound"): "no sound",
                "q9": "dead\tstill",
            },
            "grades": {},
            "note": "documents.csv: 1 documents without an id, computed here",
        },
    ),
    "an id with two questions": (
        {
            "documents.csv": TV,
            "queries.csv": "id,query\nq1,no  sound\nq2,dead\n",
            "judged-queries.csv": "query_id,query,document,grade\nq1,no sound,1,1\n"
            "q2,late,2,1\nq2,dead,2,0\n",
        },
        {
            "grades": {"q1": {"1": 1}, "q2": {"2": 1}},
            "note": "1 query_ids have a second question (q2: late / q2: dead): the "
            "first counts, and 1 grades of the second do not",
        },
    ),
    "queries without a course": (
        {
            "documents.csv": TV,
            "queries.csv": "id,query,product\n1,no sound,x\n",
            "qrels.txt": "1 0 2 1\n",
        },
        {
            "courses": {"all"},
            "grades": {"1": {"2": 1}},
            "note": "queries without a course, so no search filters on it",
        },
    ),
    "queries with a course": (RADIO, {"courses": {"tv", "radio"}}),
    "judged queries that repeat, or are drawn": (
        {"documents.csv": TV, "judged-queries.csv": DRAWN},
        {
            "note": "1 judged queries are drawn for single pairs: no figure of a "
            "ranking counts them\n1 judged queries repeat the text of an earlier one"
        },
    ),
    "questions beside documents": (
        {
            "documents.csv": TV,
            "ground-truth-data.csv": "question,course,document\nWhy?,tv,1\nA?,tv,1\n",
        },
        {"questions": ["Why?", "A?"], "courses": {"tv", "radio"}},
    ),
    "our own form": (
        {
            "documents-with-ids.json": OURS,
            "queries.csv": "query_id,question,course\nq1,late,tv\n",
            "queries.txt": "late homework",
            "judged-queries.csv": JUDGED + "q1,late,tv,typed,1,2\n",
        },
        {
            "documents": {"1": "Up."},
            "queries": {"q1": "late"},
            "grades": {"q1": {"1": 2}},
            "note": "not read: queries.txt",
        },
    ),
    "ids with blanks": (
        BLANKS,
        {
            "documents": {"d 1": "One.", "d%201": "Two.", "=1+ 1": "Three."},
            "queries": {"q 1": "a", "q%201": "b"},
            "grades": {"q 1": {"d 1": 1, "=1+ 1": 1}, "q%201": {"d%201": 2}},
            "runs": {"a": {"q 1": ["d%201"], "q%201": ["d%201"]}},
        },
    ),
    "a run whose ranks are not those of its scores, and ties": (
        {**ONE, "runs/a.trec": RUN},
        {
            "runs": {"a": {"301": ["d3", "d1", "d2"]}},
            "note": "a.trec: 1 lines go by score",
        },
    ),
    "results of ours where runs should be": (
        {**ONE, "runs/run.json": "{}", "runs/a.trec": RUN},
        {"runs": {}, "note": "runs: results of this command, not read"},
    ),
    "causes of failures": (
        {"documents.csv": TV, "failures.csv": CAUSES},
        {"causes": [["q1", "BM25", "typo"]]},
    ),
    "what is not read": (
        {
            "faq.csv": TV,
            "answer-facts.csv": "query_id,fact\n",
            "notes.docx": "",
            "runs/a.md": "",
            "._x.csv": "",
        },
        {"note": "not read: answer-facts.csv, notes.docx, runs/a.md"},
    ),
}


def write(path, files):
    """Files of a folder, by name, which may name a folder in it."""
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    return path


def as_read(path):
    """What a folder is read as, for comparison."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data = folder.read(path)
    grades = {}
    for row in data.judgements.itertuples():
        grades.setdefault(row.query_id, {})[row.document] = row.grade
    kinds = {"generated": [data.log[:0]], "judged": [data.unanswered]}
    for half in (data.development, data.test):
        for kind, queries in half.items():
            kinds[kind].append(queries)
    judged = pd.concat(kinds["judged"]).reindex(columns=["query_id", "split"])
    return {
        "documents": {each["id"]: each["text"] for each in data.documents},
        "courses": {each["course"] for each in data.documents},
        "queries": dict(zip(data.log["query_id"], data.log["question"], strict=True)),
        "grades": grades,
        "splits": dict(judged.to_numpy()),
        "questions": pd.concat(kinds["generated"])["question"].tolist(),
        "runs": data.runs,
        "causes": data.causes.to_numpy().tolist(),
        "note": "\n".join([*data.notes, *(str(each.message) for each in caught)]),
    }


@pytest.mark.parametrize(("files", "expected"), FOLDERS.values(), ids=FOLDERS)
def test_a_folder_is_read(tmp_path, files, expected):
    result = as_read(write(tmp_path, files))
    assert expected.get("note", "") in result["note"]
    assert result == result | expected | {"note": result["note"]}


MOST = QRELS + "".join(f"30{n}\tgone\t1\n" for n in (1, 1, 2, 2))
TWO_LOGS = {"a.csv": "text\nx\n", "queries.txt": "q", "topics.txt": "q"}
NO_COURSE = JUDGED + "q1,a,tv,typed,1,2\nq2,b,all,typed,2,2\n"
WRONG_GRADE = f'\n{JUDGED}q 1,"A\nb",tv,typed,1,1\n\nq2,B,tv,typed,2,high\n'
PROBLEMS = [
    ({}, "no documents; unpack .* found nothing"),
    ({"a.pdf": ""}, r"found a\.pdf"),
    ({"a.json": '["x"]'}, r"a\.json: record 0 is not a JSON object: x"),
    (TWO_LOGS, "several files of queries: queries.txt, topics.txt"),
    (
        {"a.csv": "text\nx\n", "qrels.txt": "1 0 2 1"},
        "'1' is the id of no query, such as 'one of queries.csv",
    ),
    (
        {**ONE, "qrels.txt": "", "judged-queries.csv": ""},
        "has judgements, too; keep one",
    ),
    ({"a.parquet": "no parquet"}, r"a\.parquet: not readable as \.parquet"),
    (
        {"queries.csv": "id,query,course\n1,a,tv\n"},
        "column course: 'tv' is not a course",
    ),
    (
        {"queries.jsonl": QUERIES, "qrels/test.tsv": MOST},
        r"test\.tsv: row 3 \(line 5\), column document: 'gone' is the id of no",
    ),
    ({"judged-queries.csv": TWICE}, r"2 in judged-queries\.csv \(line 2\), 1 in"),
    (
        {"a.csv": TV, "judged-queries.csv": NO_COURSE},
        r"judged-queries\.csv: row 1 \(line 3\), column course: 'all' is not a course",
    ),
    (
        {"a.csv": TV, "judged-queries.csv": WRONG_GRADE},
        r"judged-queries\.csv: row 1 \(line 6\), column grade: 'high' is no number",
    ),
    ({"queries.csv": "id,query\n"}, r"queries\.csv: no rows"),
    ({"queries.jsonl": " \n"}, r"queries\.jsonl: no rows"),
    (
        {"failures.csv": "query_id,search\nq,b\n"},
        "failures.csv: no column 'your cause'",
    ),
]


@pytest.mark.parametrize(("files", "message"), PROBLEMS)
def test_what_cannot_be_read_names_file_row_and_column(tmp_path, files, message):
    if files and not any(name[:2] in ("a.", "co") for name in files):
        write(tmp_path, {"corpus.jsonl": BEIR})
    write(tmp_path, files)
    with pytest.raises(ValueError, match=message):
        folder.read(tmp_path)


def test_a_missing_folder_and_no_stemmer(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere: no such file or folder"):
        folder.read(tmp_path / "nowhere")
    write(tmp_path, {"faq.csv": TV})
    with pytest.raises(
        ValueError, match="no stemmer for 'klingon'; there is none, arabic"
    ):
        folder.read(tmp_path / "faq.csv", "klingon")
    assert folder.read(tmp_path / "faq.csv", "german").language == "german"


ROWS = [
    {"Problem": "It won't start", "Solution": "Press the\nred button, twice.", "nr": 7},
    {"Problem": None, "Solution": "Nothing else;\u2028or ask.", "nr": None},
]
NAMES = 'text = "Solution"\nquestion = "Problem"\nid = "nr"\n'


@pytest.mark.filterwarnings("ignore:.*without an id")
@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_documents_alone_in_any_table(tmp_path, suffix):
    table, path = pd.DataFrame(ROWS).astype({"nr": "Int64"}), tmp_path / f"own.{suffix}"
    if suffix in ("csv", "tsv"):
        table.to_csv(path, index=False, sep="\t" if suffix == "tsv" else ",")
    elif suffix == "parquet":
        table.to_parquet(path)
    else:
        table.to_json(path, orient="records", lines=suffix == "jsonl")
    write(tmp_path, {"columns.toml": NAMES})
    for source in (path, tmp_path):
        data = folder.read(source)
        assert data.source == source
        assert [each["text"] for each in data.documents] == [
            r["Solution"] for r in ROWS
        ]
        assert [each["question"] for each in data.documents] == ["It won't start", ""]
        made = corpus.document_id(data.documents[1])
        assert [each["id"] for each in data.documents] == ["7", made]
        assert (data.development, data.test, data.decides) == ({}, {}, None)
    write(tmp_path, {"columns.toml": NAMES.replace("Problem", "Titel")})
    with pytest.raises(
        ValueError, match=f"{path.name}: no column Titel; found Problem"
    ):
        folder.read(path)


LANGUAGES = {  # a text, or as many as there are lines
    "How do I get the logs of a container that does not start?": "english",
    "Tell me how\nWhat do you want\nHow do I hand over my account": "english",
    "Wie bekomme ich die Ausgaben eines Containers, der nicht startet?": "german",
    "Comment voir les journaux du conteneur qui ne veut pas démarrer ?": "french",
    "¿Cómo veo los registros de un contenedor que no arranca?": "spanish",
    "Как мне изменить пароль в настройках?": "russian",
    "Πώς μπορώ να αλλάξω τον κωδικό μου;": "greek",
    "كيف يمكنني تغيير كلمة المرور من الإعدادات في الحساب": "arabic",
    "비밀번호를 재설정하려면 설정에서 계정을 선택하세요 (nginx 1.2)": "none",
    "我想重置密码": "none",
    "איך אני משנה את הסיסמה שלי": "none",
    "xyzzy 42": "none",
}


@pytest.mark.parametrize(("text", "language"), LANGUAGES.items())
def test_the_language_is_that_of_the_common_words_or_none(text, language):
    notes = []
    assert languages.language_of(text.split("\n"), notes) == language
    assert f"--language {language} is taken" in notes[-1]


def test_a_language_that_is_named_is_taken_and_pairs_of_characters_are_counted():
    notes = []
    assert languages.language_of(["我想", "no"], notes, "none") == "none"
    [note] = notes
    assert "1 of 2 documents have text without blanks" in note
    for path, language in {"data": "english", "data/es": "spanish"}.items():
        documents = corpus.load_documents(corpus.ROOT / path)
        texts = [document["text"] for document in documents]
        assert languages.language_of(texts, []) == language


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


@pytest.mark.filterwarnings("ignore:1 repeated ids")
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
    assert run["query"].tolist() == [why, why, why, why, how]
    assert run["id"].tolist() == ["a", "b", "no-document-3", "c", "b"]
    assert run["rank"].tolist() == [1, 2, 3, 4, 1]
    assert (run["score"].diff().dropna()[:2] < 0).all()
    qrels = (tmp_path / "qrels-generated.trec").read_text().splitlines()
    assert qrels[:2] == [f"{why} 0 a 1", f"{how} 0 b 1"]


def test_qrels_list_every_right_answer_of_a_question_in_the_same_order(tmp_path):
    several = GENERATED.assign(also=["c a2", "", "d"])
    trec.write_trec(tmp_path, "generated", several, {})
    lines = (tmp_path / "qrels-generated.trec").read_text().splitlines()
    assert [line.split()[2] for line in lines] == ["a", "a2", "c", "b", "a", "d"]


def test_fractional_grades_are_kept_and_give_other_tools_the_same_ndcg(tmp_path):
    queries = GENERATED.iloc[:2].assign(query_id=["301", "302"])
    queries = queries.assign(document=[{"d1": 0.25, "d2": 0.5}, {"d2": 1.5}])
    rankings = [["d1", "d2"], ["d1", "d2"]]
    trec.write_trec(tmp_path, "judged", queries, {"one": rankings})
    lines = (tmp_path / "qrels-judged.trec").read_text().splitlines()
    assert lines == ["301 0 d1 25", "301 0 d2 50", "302 0 d2 150"]
    by = [ir_measures.nDCG @ 10], ir_measures.read_trec_qrels("\n".join(lines))
    run = ir_measures.read_trec_run(str(tmp_path / "runs/judged/one.trec"))
    [theirs] = ir_measures.calc_aggregate(*by, run).values()
    ours = utils.evaluate(queries, lambda _: np.array(rankings, dtype=object), k=2)
    assert ours["ndcg"] == pytest.approx(theirs)


def test_ids_with_blanks_are_quoted_where_they_are_written_and_read_as_they_were(
    tmp_path,
):
    ids = ["d 1", "d%201", "\xa0a\tb", "7", "x/a?b#c"]
    queries = GENERATED.iloc[:1].assign(
        query_id="q 1", document=[dict.fromkeys(ids, 1)]
    )
    trec.write_trec(tmp_path, "judged", queries, {"a b": [ids]})
    run = tmp_path / "runs" / "judged" / "a-b.trec"
    assert run.read_text().startswith("q%201 Q0 d%201 1 1.0 a-b\nq%201 Q0 d%25201 2 ")
    assert trec.read_run(run) == {"q 1": ids}
    assert "q%201 0 7 1\n" in (tmp_path / "qrels-judged.trec").read_text()


# --- Excel, another encoding --------------------------------------------------

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


def test_excel_documents_and_queries(tmp_path):
    write(tmp_path, {"columns.toml": NAMES, "qrels.txt": "1 0 7 1\n2 0 007 2\n"})
    excel(tmp_path / "faq.xlsx", FAQ=SHEET, Notes=[["only a note"]], Empty=[])
    rows = [["id", "query"], [1, "dead"], [2, "NA"], ["03", "no sound"]]
    excel(tmp_path / "queries.xlsx", Sheet=rows)
    result = as_read(tmp_path)
    assert result["documents"] == {"7": "Press.", "007": "x"}
    assert result["queries"] == {"1": "dead", "2": "NA", "03": "no sound"}
    assert result["grades"] == {"1": {"7": 1}, "2": {"007": 2}}
    assert "sheet FAQ is read, 2 others are not (Notes, Empty)" in result["note"]


def test_excel_without_its_package_says_what_to_install(tmp_path, monkeypatch):
    excel(tmp_path / "faq.xlsx", FAQ=SHEET)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ValueError, match=r"faq\.xlsx: .*install the openpyxl"):
        folder.read(tmp_path)


LATIN = {
    "documents.csv": "id,text\n\xe9 1,Caf\xe9 \x80\n\xe9 2,Th\xe9\n",
    "queries.csv": "id,query\n1,caf\xe9?\n2,th\xe9?\n",
    "qrels.tsv": "1\t\xe9 1\t1\n2\t\xe9 2\t1\n",
}


def test_an_encoding_is_guessed_and_used_if_columns_toml_says_it(tmp_path):
    for name, text in LATIN.items():
        (tmp_path / name).write_bytes(text.encode("latin-1"))
    problem = "documents.csv: line 2 is not UTF-8; it looks like cp1252"
    with pytest.raises(ValueError, match=problem):
        folder.read(tmp_path)
    write(tmp_path, {"columns.toml": 'encoding = "cp1252"\n'})
    result = as_read(tmp_path)
    assert result["documents"] == {"\xe9 1": "Caf\xe9 \u20ac", "\xe9 2": "Th\xe9"}
    assert result["queries"] == {"1": "caf\xe9?", "2": "th\xe9?"}
    assert result["grades"] == {"1": {"\xe9 1": 1}, "2": {"\xe9 2": 1}}
    # one that is UTF-8 stays that
    (tmp_path / "queries.csv").write_text(LATIN["queries.csv"], encoding="utf-8")
    assert as_read(tmp_path) == result
    write(tmp_path, {"columns.toml": 'encoding = "hex"\n'})
    with pytest.raises(ValueError, match="no encoding such as cp1252: 'hex' is not"):
        folder.read(tmp_path)


def test_parquet_without_its_package_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"a\.parquet: .*install the pyarrow"):
        read.read_table(tmp_path / "a.parquet")
