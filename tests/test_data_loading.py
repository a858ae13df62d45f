"""Test how files are read, ids, needs, and which queries choose.

Errors name file, row, line and column. Warnings have a count."""

import csv as csv_module
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import utils
from course import corpus, intervals

ROWS = [
    ["Yes, until week four.", "General", "Can I join late?", "a", "d1"],
    ["Only the two best count.", "General", "How many homeworks count?", "a", "d2"],
    ["Three euros.", "Costs", "What does it cost?", "b", "d3"],
]
DOCUMENTS = pd.DataFrame(ROWS, columns=corpus.FIELDS).to_dict("records")
JSON = json.dumps(DOCUMENTS, indent=1).encode()
JUDGED = "query_id,query,course,kind,document,grade"
GOOD = "q1,Why?,a,typo,d1,2|q2,How?,b,short,d3,0|q1,Why?,a,typo,d2,1"


def changed(number, **fields):
    """The documents with fields of one changed, or taken out where they are `...`."""
    record = {**DOCUMENTS[number], **fields}
    record = {key: value for key, value in record.items() if value != ...}
    return [*DOCUMENTS[:number], record, *DOCUMENTS[number + 1 :]]


def csv(lines, header="question,course,document"):
    return "\n".join([header, *lines.split("|"), ""]).encode()


UNREAL = ["question1", "Question 3:", "question_4", '"question5"', "QUESTION 12."]
REAL = ["Where to ask questions?", "Question 3 of homework", "questionnaire", "?"]
WHY = 'Why,\r\nand "how"?'
FEE, TYPO = csv("Fee?,b,d3"), csv(GOOD, JUDGED)
HALF = "\ud83d"  # of a surrogate pair: a text like any other
TEXTS = st.lists(st.sampled_from(["", "x", "y", HALF, HALF + "x"]), max_size=6)


def write(folder, documents=JSON, questions=FEE, judged=TYPO):
    """Writes the three files, of bytes or documents, and returns their folder."""
    if not isinstance(documents, bytes):
        documents = json.dumps(documents).encode()
    (folder / "documents-with-ids.json").write_bytes(documents)
    (folder / "ground-truth-data.csv").write_bytes(questions)
    (folder / "judged-queries.csv").write_bytes(judged)
    return folder


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_files_are_in_the_named_folder_without_a_warning(tmp_path, mark, monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(write(tmp_path, mark + JSON, mark + FEE)))
    with warnings.catch_warnings(action="error"):
        assert corpus.load_documents() == DOCUMENTS
        assert corpus.load_ground_truth().to_numpy().tolist() == [["Fee?", "b", "d3"]]
    # an argument goes first
    assert len(corpus.load_documents(corpus.ROOT / "data")) > 3


def test_a_relative_folder_of_results_is_where_the_shell_is(tmp_path, monkeypatch):
    """As in a kernel, which starts in the folder of its notebook."""
    for folder in ("shell", "kernel"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "kernel")
    monkeypatch.setenv("PWD", str(tmp_path / "shell"))
    monkeypatch.setenv("COURSE_RESULTS", "mine")
    assert corpus.results_folder() == tmp_path / "shell" / "mine"
    monkeypatch.delenv("PWD")
    assert corpus.results_folder() == tmp_path / "kernel" / "mine"


@pytest.mark.parametrize("base", ["cwd", "PWD", "ROOT"])
def test_a_relative_course_data_is_found_here_in_the_shell_or_in_ROOT(
    tmp_path, base, monkeypatch
):
    own, elsewhere = write(tmp_path), corpus.ROOT / "tests"
    monkeypatch.chdir(own.parent if base == "cwd" else elsewhere)
    monkeypatch.setenv("PWD", str(own.parent if base == "PWD" else elsewhere))
    there = corpus.ROOT / "data" if base == "ROOT" else own
    monkeypatch.setenv("COURSE_DATA", there.name)
    assert corpus.data_folder() == there


def test_a_missing_file_is_named_but_nobody_has_to_judge(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"documents-with-ids\.json"):
        corpus.load_documents(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"ground-truth-data\.csv"):
        corpus.load_ground_truth(tmp_path)
    assert [len(part) for part in corpus.load_judged_queries(tmp_path)] == [0, 0]


LOADS = {
    "documents": (r"documents-with-ids\.json", corpus.load_documents),
    "questions": (r"ground-truth-data\.csv", corpus.load_ground_truth),
    "judged": (r"judged-queries\.csv", corpus.load_judged_queries),
}
TWINS = [changed(0, id="", text=f"Yes, until week {n}.")[0] for n in (4, 5)]
BLANK = "", " \n", None
NO_TEXTS = [{**DOCUMENTS[0], "id": f"d{text}", "text": text} for text in BLANK]
PLACEHOLDERS = csv("|".join(f"{question},a,d1" for question in UNREAL + REAL))
DOUBTFUL = {  # of which file, and its content
    "2 documents without an id, computed here": ("documents", TWINS),
    "1 documents without an id": ("documents", changed(0, id=...)),
    r"1 documents repeat .*\(d2\)": ("documents", changed(0, id="d2")),
    "3 documents with an empty text": ("documents", NO_TEXTS),
    "5 questions are placeholders": ("questions", PLACEHOLDERS),
    "2 rows repeat": ("questions", csv("A,a,d1|B,a,d1|A,a,d1|A,a,d2|A,a,d1")),
    "1 rows name another course": ("questions", csv("A,a,d1|Why?,b,d1")),
    "1 rows grade a pair again": ("judged", csv(f"{GOOD}|q2,How?,b,k,d3,1", JUDGED)),
}


@pytest.mark.parametrize("message", DOUBTFUL)
def test_what_is_doubtful_is_warned_of_once_at_the_caller_and_kept(tmp_path, message):
    file, content = DOUBTFUL[message]
    name, load = LOADS[file]
    write(tmp_path, **{file: content})
    with pytest.warns(UserWarning, match=f"{name}: {message}") as warned:
        table = load(tmp_path)
    assert [warning.filename for warning in warned] == [__file__]
    if file == "questions":
        assert len(table) == content.count(b"\n") - 1
    if file == "documents":
        ids = [d.get("id") for d in content]
        new = iter(corpus.unique_ids([d for d in content if not d.get("id")]))
        assert [d["id"] for d in table] == [id_ or next(new) for id_ in ids]
        assert [d["text"] for d in table] == [d["text"] or "" for d in content]


BAD = {
    "documents": {
        r"line \d+ column \d+": JSON[:-300],
        "line 17 is not UTF-8": JSON.replace(b"euros", b"\xe9"),
        "expected a list of records": b"",
        "record 3 is not a JSON object": [*DOCUMENTS, "text"],
        r"record 0 \(None\): field text": [{"course": "a"}],
        r"record 1 \(d2\): field text": changed(1, text=["a"]),
        r"record 2 \(0\): field id": changed(2, id=0),
    },
    "questions": {
        "not readable as CSV": csv('A,a,d1|"B, and why'),
        "no rows": b"question,course,document\n",
        "no column .*course.*; found": b"question,document\nWhy?,d1\n",
        r"row 1 .line 3., column question: '  '": csv("A,a,d1|  ,a,d1"),
        "row 0 .line 2., column course: '' is empty or NaN; 2": csv("A,,d1|B,,d1"),
        "row 1 .line 3., column document: .* is empty": csv("A,a,d1|B,a,"),
        "line 3 has 2 fields, and the header 3": csv("A,a,d1|B,a"),
        "row 1 .line 3., column document: 'd7' is the id of no .*; 2": csv(
            "A,a,d1|B,a,d7|C,a,d"
        ),
        "row 1 .line 4., column question": csv('"A,\nb",a,d1|,a,d1'),
        "row 1 .line 4., column document": csv("A,a,d1||B,a,"),
        "row 1 .line 3., column document": csv('A,a,d1|"B,\nb",a,'),
        "row 1 .line 5., column document": csv('"A,\r\nB",a,d1|  |A,a,'),
        "line 2 has 4 fields, and the header 3": csv("A, b,a,d1|B,a,d1"),
        "line 3 is not UTF-8": csv("A,a,d1|B,a,d1").replace(b"B", b"\xe9"),
    },
    "judged": {
        "no column grade": csv(GOOD, JUDGED.replace("grade", "pass_1")),
        "row 3 .line 5., column grade: '-3' is no": csv(
            f"{GOOD}|q,A,b,k,d1,-3", JUDGED
        ),
        "row 1 .line 5., column grade: '' is": csv(
            'q,"A\n\nB",a,k,d1,2|p,B,b,k,d3,', JUDGED
        ),
        "row 0 .line 2., column document: 'd9' is the id of no": csv(
            "q,How?,b,short,d9,0", JUDGED
        ),
        "row 0 .line 2., column query_id: '' is empty": csv(",How?,b,k,d1,0", JUDGED),
    },
}
CASES = [(file, message) for file in BAD for message in BAD[file]]


@pytest.mark.parametrize(("file", "message"), CASES)
def test_bad_content_is_an_error_that_names_file_line_and_column(
    tmp_path, file, message
):
    name, load = LOADS[file]
    with pytest.raises(ValueError, match=rf"{name}: .*{message}"):
        load(write(tmp_path, **{file: BAD[file][message]}))


@pytest.mark.parametrize("end", range(3, 16))
def test_a_file_that_is_cut_off_is_an_error_that_names_the_row(tmp_path, end):
    questions = csv('A,a,d1|"How, so?",a,d2')[:-end]
    problem = r"ground-truth-data\.csv: .*(row [12]|line 3)"
    with pytest.raises(ValueError, match=problem):
        corpus.load_ground_truth(write(tmp_path, questions=questions))


def test_what_a_file_holds_is_read_as_it_stands(tmp_path):
    words = ["NA", "null", "None", "nan", "N/A", "-", "007", "1e5", "True"]
    rows = [[word, "a", "1234e567" if word == "NA" else "00123456"] for word in words]
    numbered = [DOCUMENTS[0] | {"id": id_} for id_ in ("00123456", "1234e567")]
    written = write(tmp_path, numbered, csv("|".join(map(",".join, rows))))
    assert corpus.load_ground_truth(written).to_numpy().tolist() == rows
    lines = b'document,note,question,course\r\nd1,x,"Why,\r\nand ""how""?",a\r\n'
    [row] = corpus.load_ground_truth(write(tmp_path, questions=lines)).to_dict(
        "records"
    )
    assert row == {"document": "d1", "note": "x", "question": WHY, "course": "a"}
    for grade in "grade", "pass_1":
        written = write(tmp_path, judged=csv(GOOD, JUDGED.replace("grade", grade)))
        queries, qrels = corpus.load_judged_queries(written, grade=grade)
        lines = ["query_id,question,course,kind,need,split", "q1,Why?,a,typo,d1,", ""]
        # no record answers it: a need of its own
        lines.insert(2, "q2,How?,b,short,q2,")
        assert queries.to_csv(index=False).split("\n") == lines
        assert qrels == [{"d1": 2, "d2": 1}, {"d3": 0}]
    write(tmp_path, questions=csv("Why?,a,d7"))
    (tmp_path / "documents-with-ids.json").unlink()
    # nothing to check by
    assert corpus.load_ground_truth(tmp_path)["document"].tolist() == ["d7"]


def test_rows_of_deleted_documents_are_counted_and_left_out_unless_they_are_most(
    tmp_path,
):
    questions = csv("A,a,d1|B,a,d7|C,a,d2|D,b,d8")  # half of them
    judged = csv(f"{GOOD}|q2,How?,b,short,d8,2", JUDGED)
    write(tmp_path, questions=questions, judged=judged)
    with pytest.warns(UserWarning, match=r"data\.csv: 2 rows name a document"):
        assert corpus.load_ground_truth(tmp_path)["question"].tolist() == [*"AC"]
    with pytest.warns(UserWarning, match=r"queries\.csv: 1 rows name a document"):
        assert corpus.load_judged_queries(tmp_path)[1] == [
            {"d1": 2, "d2": 1},
            {"d3": 0},
        ]


def judged_by(**qrels):
    """Judged queries without a label, as load_judged_queries returns them."""
    queries = pd.DataFrame(
        {"query_id": list(qrels), "question": "q", "course": "a", "kind": "typed"}
    )
    needs = [corpus.need_of(*pair) for pair in qrels.items()]
    return queries.assign(need=needs, split="", document=list(qrels.values()))


def many_judged(n=300):
    """Queries on 150 records; each record is the best of two."""
    return {
        f"q{i:03}": {f"d{i // 2}": 2, f"d{i // 2 + 1}": 1, "d0": 0} for i in range(n)
    }


def test_what_is_added_or_removed_moves_no_other_query_document_or_need():
    truth = corpus.load_ground_truth()
    folds = corpus.folds_of(truth["need"], 2)
    places = dict(zip(truth["document"], folds, strict=True))
    assert 0.45 < np.mean(list(places.values())) < 0.55
    # for all time
    assert corpus.folds_of(["a", "b", "c", "d", "e"], 2).tolist() == [1, 0, 0, 1, 1]
    new = pd.DataFrame([["q", "c", "new", "new"]])
    new.columns = ["question", "course", "document", "need"]
    for changes in (
        truth.sample(frac=0.9, random_state=1),
        pd.concat([new, truth]),
        truth[::-1],
    ):
        development, test = corpus.split_by_document(changes)
        assert len(development) + len(test) == len(changes)
        for fold, half in enumerate((development, test)):
            assert set(half["fold"]) == {fold}
            assert {places.get(id_, fold) for id_ in half["document"]} == {fold}
    qrels = many_judged()
    before = corpus.divide(judged_by(**qrels))[0].set_index("query_id")["fold"]
    assert set(before) == set(range(10))
    changed = {"extra": {"d3": 2, "d999": 2}, **dict(list(qrels.items())[20:])}
    after = corpus.divide(judged_by(**changed))[0].set_index("query_id")["fold"]
    assert (after.drop("extra") == before[after.index.drop("extra")]).all()
    siblings = before.groupby(
        [qrel["need"] for _, qrel in judged_by(**qrels).iterrows()]
    )
    assert (siblings.nunique() == 1).all()
    # the order of documents does not matter
    needs = {corpus.need_of("q", dict.fromkeys(ids, 1)) for ids in ("abcd", "dcba")}
    assert len(needs) == 1


def test_documents_that_answer_the_same_questions_stay_together():
    labels = corpus.linked([("a", "b"), ("c", "b"), ("d", "d"), ("e", "f"), ("f", "e")])
    assert labels["a"] == labels["b"] == labels["c"]
    assert labels["a"] == min("abc", key=corpus.short_hash)  # whatever comes first
    assert labels["d"] == "d"
    assert len(set(labels.values())) == 3
    truth = corpus.load_ground_truth()
    development, test = corpus.split_by_document(truth)
    for half, second in ((development, test), (test, development)):
        also = set(half["also"].str.split().explode().dropna())
        assert not also & set(second["document"])
    assert test["need"].nunique() < test["document"].nunique()
    assert intervals.groups_of(test).equals(test["need"])


def test_few_judged_queries_are_cross_fitted_many_are_halved_and_own_splits_are_kept():
    judged = judged_by(**many_judged())
    development, test = corpus.divide(judged)
    assert development is test
    development, test = corpus.divide(judged_by(**many_judged(corpus.MANY)))
    assert not set(development["need"]) & set(test["need"])
    assert 0.4 < len(test) / corpus.MANY < 0.6
    assert len(development) + len(test) == corpus.MANY  # each query is in one half
    own = judged.assign(split=["test", "dev", "train"] * 100)
    development, test = corpus.divide(own)
    assert (set(development["split"]), set(test["split"])) == (
        {"dev", "train"},
        {"test"},
    )
    assert len(development) + len(test) == 300
    # nothing else to choose on
    only_test, same = corpus.divide(judged.assign(split="test"))
    assert only_test is same


def test_answered_and_unanswered_queries_are_not_swapped(tmp_path):
    rows = [
        f"q{n},How?,a,typo,{id_},{(n < 6) * (1 + (id_[1] == str(n % 2 + 1)))}"
        for n in range(10)
        for id_ in ("d1", "d2")
    ]
    folder = write(tmp_path, judged=csv("|".join(rows), JUDGED))
    _, test, unanswered = corpus.load_splits(folder)
    assert unanswered["query_id"].tolist() == ["q6", "q7", "q8", "q9"]
    assert test["judged"]["query_id"].tolist() == ["q0", "q1", "q2", "q3", "q4", "q5"]
    assert all(any(qrel.values()) for qrel in test["judged"]["document"])
    # one query tells nothing, nor do two of one need
    for number, chosen in ((1, [rows[0], *rows[12:]]), (2, [*rows[:2], *rows[4:6]])):
        write(tmp_path, judged=csv("|".join(chosen), JUDGED))
        with pytest.warns(UserWarning, match=f"^{number} judged .* of one need"):
            assert "judged" not in corpus.load_splits(folder)[1]


def test_document_id_hangs_on_course_question_and_the_first_ten_characters_only():
    document = {"course": "c", "question": "q", "text": "0123456789abc", "section": "s"}
    # the start of the MD5 of c-q-0123456789
    assert corpus.document_id(document) == "1cca40f6"


@given(data=st.data(), endings=TEXTS, start=st.sampled_from(["ten ", HALF]))
def test_unique_ids_tell_all_but_copies_apart_in_any_order(data, endings, start):
    documents = [
        {**DOCUMENTS[i % 2], "text": start * 10 + end} for i, end in enumerate(endings)
    ]
    order = data.draw(st.permutations(range(len(documents))))
    ids = corpus.unique_ids(documents)
    assert corpus.unique_ids([documents[i] for i in order]) == [ids[i] for i in order]
    assert len(set(ids)) == len({(d["question"], d["text"]) for d in documents})
    assert corpus.unique_ids(DOCUMENTS) == [corpus.document_id(d) for d in DOCUMENTS]


def test_other_right_answers_that_are_no_documents_are_counted_and_left_out(tmp_path):
    questions = csv("Why?,a,d1,d2 gone|Fee?,b,d3,", "question,course,document,also")
    with pytest.warns(UserWarning, match="1 ids in the column also are of no document"):
        truth = corpus.load_ground_truth(write(tmp_path, questions=questions))
    assert truth["also"].tolist() == ["d2", ""]
    assert utils.right_answers(truth) == [{"d1", "d2"}, "d3"]


def test_a_long_cell_is_read_and_the_limit_of_csv_stays_as_it_was(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text(f"id,text\na,{'x' * 200_000}\n")
    csv_module.field_size_limit(131_072)  # as Python sets it
    assert corpus.read_table(path)["text"].str.len().tolist() == [200_000]
    assert csv_module.field_size_limit() == 131_072


def test_a_text_that_a_spreadsheet_would_compute_is_written_as_text(tmp_path):
    texts = ["=1+1", "+49 30", "-v flag", "@me", "'quoted'", "-0.5", "a=b", "'-Xmx'"]
    corpus.write_table(pd.DataFrame({"query": texts}), tmp_path / "t.csv")
    lines = (tmp_path / "t.csv").read_text().splitlines()
    assert lines[1:] == [*(f"'{text}" for text in texts[:4]), *texts[4:7], "''-Xmx'"]
    assert corpus.read_table(tmp_path / "t.csv")["query"].tolist() == texts
