"""reading.corpus, our_data: how files are read, ids, needs, which queries choose.

Errors name file, row, line and column. Warnings have a count."""

import json
import re
import warnings
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

import utils
from course import our_data
from evaluate_retrieval.reading import corpus, files, needs, splits

ROWS = [
    ["Yes, until week four.", "General", "Can I join late?", "a", "d1"],
    ["Only the two best count.", "General", "How many homeworks count?", "a", "d2"],
    ["Three euros.", "Costs", "What does it cost?", "b", "d3"],
]
DOCUMENTS = pd.DataFrame(ROWS, columns=corpus.FIELDS).to_dict("records")
FIRST, SECOND, THIRD = DOCUMENTS
JSON = json.dumps(DOCUMENTS, indent=1).encode()
QUESTIONS = "question,course,document\n"
JUDGED = "query_id,query,course,kind,document,grade\n"
GOOD = f"{JUDGED}q1,Why?,a,typo,d1,2\nq2,How?,b,short,d3,0\nq1,Why?,a,typo,d2,1\n"
FILES = {
    "documents": ("documents-with-ids.json", our_data.load_documents),
    "questions": ("ground-truth-data.csv", our_data.load_ground_truth),
    "judged": ("judged-queries.csv", our_data.load_judged_queries),
}


def write(folder, documents=JSON, questions=f"{QUESTIONS}Fee?,b,d3\n", judged=GOOD):
    """Writes the three files, of bytes, texts or records, and returns their folder."""
    contents = [documents, questions, judged]
    for (name, _), content in zip(FILES.values(), contents, strict=True):
        content = json.dumps(content) if isinstance(content, list) else content
        content = content.encode() if isinstance(content, str) else content
        (folder / name).write_bytes(content)
    return folder


def test_files_are_in_the_named_folder_with_or_without_a_mark(tmp_path, monkeypatch):
    own = write(tmp_path, b"\xef\xbb\xbf" + JSON, f"\ufeff{QUESTIONS}Fee?,b,d3\n")
    monkeypatch.chdir(own.parent)
    for place in (str(own), own.name):  # in the shell's folder, too
        monkeypatch.setenv("COURSE_DATA", place)
        with warnings.catch_warnings(action="error"):
            assert our_data.load_documents() == DOCUMENTS
            assert our_data.load_ground_truth()["document"].tolist() == ["d3"]
    assert len(our_data.load_documents(our_data.FOLDER)) > 3  # an argument is first
    monkeypatch.chdir(tmp_path)  # as a kernel, which starts beside its notebook
    monkeypatch.setenv("PWD", str(tmp_path / "shell"))
    monkeypatch.setenv("COURSE_RESULTS", "mine")
    assert our_data.results_folder() == tmp_path / "shell" / "mine"


def test_a_missing_file_is_named_but_nobody_has_to_judge(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        our_data.load_documents(tmp_path)
    assert Path(caught.value.filename).stem == "documents-with-ids"
    assert [len(part) for part in our_data.load_judged_queries(tmp_path)] == [0, 0]


DOUBTFUL = {  # of which file, its content, and how many are read
    "1 documents with an empty": ("documents", [FIRST | {"text": None}, SECOND], 2),
    "2 questions are": (
        "questions",
        "question1,a,d1\n'QUESTION 12.',a,d1\n?,a,d1\n",
        3,
    ),
    "2 rows repeat": ("questions", "A,a,d1\nB,a,d1\nA,a,d1\nA,a,d2\nA,a,d1\n", 5),
    "1 rows name another course": ("questions", "A,a,d1\nWhy?,b,d1\n", 2),
    "1 rows grade a pair again": ("judged", f"{GOOD}q2,How?,b,k,d3,1\n", 2),
}


@pytest.mark.parametrize("message", DOUBTFUL)
def test_what_is_doubtful_is_counted_and_kept(tmp_path, message):
    file, content, n = DOUBTFUL[message]
    name, load = FILES[file]
    content = QUESTIONS + content if file == "questions" else content
    with pytest.warns(UserWarning, match=f"{name}: {message}") as warned:
        assert len(load(write(tmp_path, **{file: content}))) == n
    assert [warning.filename for warning in warned] == [__file__]


FIRST_GONE = {"line": 3, "column": "document", "value": "d7", "n_rows": 2}
BAD = [  # a file, its content, and what is named
    ("documents", b"[\n" + JSON[:-300], {"line": 1}),
    ("documents", JSON.replace(b"euros", b"\xe9"), {"line": 17}),
    ("documents", "", {"line": None}),
    ("documents", [FIRST, SECOND | {"text": ["a"]}], {"row": 1, "column": "text"}),
    ("questions", "", {"line": None}),
    ("questions", "A,a,d1\n  ,a,d1\n", {"row": 1, "line": 3, "column": "question"}),
    ("questions", "A,a,d1\nB,a\n", {"line": 3}),
    ("questions", 'A,a,d1\n"How, so?', {"line": 3}),
    ("questions", "A,a,d1\nB,a,d7\nC,a,d\n", FIRST_GONE),
    ("questions", '"A,\r\nB",a,d1\n  \nA,a,\n', {"line": 5, "column": "document"}),
    (
        "judged",
        JUDGED.replace("grade", "pass_1") + "q,A,b,k,d1,1\n",
        {"column": "grade"},
    ),
    ("judged", f"{GOOD}q,A,b,k,d1,-3\n", {"line": 5, "column": "grade", "value": "-3"}),
]


@pytest.mark.parametrize(("file", "content", "place"), BAD)
def test_bad_content_is_an_error_that_names_file_line_and_column(
    tmp_path, file, content, place
):
    name, load = FILES[file]
    content = QUESTIONS + content if file == "questions" else content
    with refused(**place) as caught:
        load(write(tmp_path, **{file: content}))
    assert re.match(name, Path(caught.value.path).name)


def test_what_a_file_holds_is_read_as_it_stands(tmp_path):
    lines = 'document,note,question,course\nNA,007,"Why,\r\nand ""how""?",1e5\n'
    write(tmp_path, questions=lines)
    (tmp_path / "documents-with-ids.json").unlink()  # there is nothing to check by
    [row] = our_data.load_ground_truth(tmp_path).to_numpy().tolist()
    assert row == ["NA", "007", 'Why,\r\nand "how"?', "1e5"]
    queries, qrels = our_data.load_judged_queries(write(tmp_path))
    # each is a need of its own
    assert queries.to_numpy().tolist() == [
        ["q1", "Why?", "a", "typo", "why?", ""],
        ["q2", "How?", "b", "short", "how?", ""],
    ]
    assert qrels == [{"d1": 2, "d2": 1}, {"d3": 0}]


def test_rows_of_deleted_documents_are_counted_and_left_out(tmp_path):
    questions = f"{QUESTIONS}A,a,d1\nB,a,d7\nC,a,d2\nD,b,d8\n"  # half of them
    write(tmp_path, questions=questions, judged=f"{GOOD}q2,How?,b,short,d8,2\n")
    with pytest.warns(UserWarning, match=r"data\.csv: 2 rows name a document"):
        assert our_data.load_ground_truth(tmp_path)["question"].tolist() == ["A", "C"]
    with pytest.warns(UserWarning, match=r"queries\.csv: 1 rows name a document"):
        assert our_data.load_judged_queries(tmp_path)[1][1] == {"d3": 0}
    header = QUESTIONS.replace("document", "document,also")
    write(tmp_path, questions=f"{header}Why?,a,d1,d2 gone\nFee?,b,d3,\n")
    with pytest.warns(UserWarning, match="1 ids in the column also"):
        truth = our_data.load_ground_truth(tmp_path)
    assert utils.right_answers(truth) == [{"d1", "d2"}, "d3"]


# --- Halves and folds --------------------------------------------------------


def judged_by(**qrels):
    """Judged queries without a label, as load_judged_queries returns them."""
    queries = pd.DataFrame({"query_id": list(qrels), "course": "a"})
    queries["question"] = "What is " + queries["query_id"] + "?"
    documents = list(qrels.values())
    queries["need"] = needs.needs_of(queries, documents)
    return queries.assign(split="", document=documents)


def many_judged(n=300):
    """Queries on 150 records; each record is the best of two."""
    return {
        f"q{i:04}": {f"d{i // 2}": 2, f"d{i // 2 + 1}": 1, "d0": 0} for i in range(n)
    }


def folds_by_id(qrels):
    """The fold of each judged query, a Series."""
    return splits.divide(judged_by(**qrels))[0].set_index("query_id")["fold"]


def test_what_is_added_or_removed_moves_no_other_query():
    # for all time
    assert splits.folds_of([*"abcde"], 2).tolist() == [1, 0, 0, 1, 1]
    truth = our_data.load_ground_truth()
    fewer = truth.sample(frac=0.9, random_state=1)
    first, second = splits.split_by_document(fewer)
    assert len(first) + len(second) == len(fewer)
    assert not {*first["need"]} & {*second["need"]}
    first_of_all, second_of_all = splits.split_by_document(truth)
    assert {*first["document"]} <= {*first_of_all["document"]}
    assert {*second["document"]} <= {*second_of_all["document"]}
    before = folds_by_id(many_judged())
    assert {*before} == {*range(10)}
    changed = dict([*many_judged().items()][20:])
    after = folds_by_id({"extra": {"d3": 2, "d999": 2}} | changed)
    assert after[[*changed]].equals(before[20:])


def test_other_ids_of_documents_move_no_generated_question():
    documents = our_data.load_documents()
    truth = our_data.load_ground_truth()
    renamed = truth.assign(
        document=truth["document"].str.upper(),
        need=truth["need"].str.upper(),
        also=truth["also"].str.upper(),
    )
    contents = {document["id"].upper(): document["id"] for document in documents}
    for half, again in zip(
        splits.split_by_document(truth),
        splits.split_by_document(renamed, contents),
        strict=True,
    ):
        assert half["question"].tolist() == again["question"].tolist()
    by_id = splits.split_by_document(renamed)[1]
    assert by_id["question"].tolist() != again["question"].tolist()
    assert corpus.unique_ids(documents) == [document["id"] for document in documents]


def test_documents_that_answer_the_same_questions_stay_together():
    labels = corpus.linked([("a", "b"), ("c", "b"), ("d", "d"), ("e", "f"), ("f", "e")])
    first = min("abc", key=corpus.short_hash)  # whatever comes first
    assert [labels[id_] for id_ in "abcd"] == [first] * 3 + ["d"]
    assert labels["e"] == labels["f"] not in [first, "d"]


def test_few_judged_queries_are_cross_fitted_many_are_halved_and_own_splits_are_kept():
    judged = judged_by(**many_judged())
    development, test = splits.divide(judged)
    assert development is test
    development, test = splits.divide(judged_by(**many_judged(splits.MANY)))
    assert not {*development["need"]} & {*test["need"]}
    assert 0.4 < len(test) / splits.MANY < 0.6
    assert len(development) + len(test) == splits.MANY  # each query is in one half
    own = judged.assign(split=["test", "dev", "train"] * 100)
    development, test = splits.divide(own)
    assert (len(development), {*development["split"]}) == (200, {"dev", "train"})
    assert (len(test), {*test["split"]}) == (100, {"test"})


def test_answered_and_unanswered_queries_are_not_swapped(tmp_path):
    rows = ["q0,A,a,k,d1,1", "q1,B,a,k,d2,1", "q2,C,a,k,d1,0", "q2,C,a,k,d2,0"]
    write(tmp_path, judged=JUDGED + "\n".join(rows))
    _, test, unanswered = our_data.load_splits(tmp_path)
    assert unanswered["query_id"].tolist() == ["q2"]
    assert test["judged"]["query_id"].tolist() == ["q0", "q1"]
    write(tmp_path, judged=JUDGED + "\n".join([rows[0], *rows[2:]]))
    with pytest.warns(UserWarning, match=r"^1 judged .* one need"):
        assert "judged" not in our_data.load_splits(tmp_path)[1]


# --- Ids and cells -----------------------------------------------------------

HALF = "\ud83d"  # of a surrogate pair: a text like any other
ENDINGS = st.lists(st.sampled_from(["", "x", "y", HALF, HALF + "x"]), max_size=6)


@given(data=st.data(), endings=ENDINGS, start=st.sampled_from(["ten ", HALF]))
def test_unique_ids_tell_all_but_copies_apart_in_any_order(data, endings, start):
    documents = [
        {**DOCUMENTS[i % 2], "text": start * 10 + end} for i, end in enumerate(endings)
    ]
    order = data.draw(st.permutations(range(len(documents))))
    ids = corpus.unique_ids(documents)
    assert corpus.unique_ids([documents[i] for i in order]) == [ids[i] for i in order]
    assert len(set(ids)) == len({(d["question"], d["text"]) for d in documents})


def test_a_text_that_a_spreadsheet_would_compute_is_written_as_text():
    texts = ["=1+1", "-v flag", "＝1", "'=1", "a;=1", "-0.5", "a = b; c"]
    cells = ["'=1+1", "'-v flag", "'＝1", "''=1", "a;'=1", "-0.5", "a = b; c"]
    assert [*map(files.text_cell, texts)] == cells
