"""Reading documents and questions: what is wrong is an error that names file and row or column, what is doubtful a warning with a count."""

import hashlib
import json
import warnings

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import utils

DOCUMENTS = [
    {"text": "Yes, until week four.", "section": "General", "question": "Can I join late?", "course": "a", "id": "d1"},
    {
        "text": "Only the two best count.",
        "section": "General",
        "question": "How many homeworks count?",
        "course": "a",
        "id": "d2",
    },
    {"text": "Three euros.", "section": "Costs", "question": "What does it cost?", "course": "b", "id": "d3"},
]
QUESTIONS = [
    ["May I start in week three?", "a", "d1"],
    ["Are all homeworks counted?", "a", "d2"],
    ["Is there a fee?", "b", "d3"],
]


@pytest.fixture
def folder(tmp_path):
    """A function that writes the two files, from objects or as they are, and returns their folder; None leaves a file out."""

    def write(documents=DOCUMENTS, questions=QUESTIONS):
        if documents is not None:
            written = documents if isinstance(documents, bytes) else json.dumps(documents, ensure_ascii=False).encode()
            (tmp_path / "documents-with-ids.json").write_bytes(written)
        if questions is not None:
            csv = (
                questions
                if isinstance(questions, bytes)
                else pd.DataFrame(questions, columns=utils.GROUND_TRUTH_COLUMNS).to_csv(index=False).encode()
            )
            (tmp_path / "ground-truth-data.csv").write_bytes(csv)
        return tmp_path

    return write


def changed(rows, number, **fields):
    """The documents with some fields of one changed, or taken out where the value is ..."""
    document = {key: value for key, value in {**rows[number], **fields}.items() if value is not ...}
    return [*rows[:number], document, *rows[number + 1 :]]


def csv(*lines):
    return "\n".join(["question,course,document", *lines, ""]).encode()


def test_good_files_are_read_without_a_warning(folder):
    with warnings.catch_warnings(action="error"):
        assert utils.load_documents(folder()) == DOCUMENTS
        ground_truth = utils.load_ground_truth(folder())
    assert ground_truth.to_numpy().tolist() == QUESTIONS
    assert ground_truth.columns.tolist() == utils.GROUND_TRUTH_COLUMNS


def test_the_files_of_the_course_are_read_without_a_warning(monkeypatch):
    monkeypatch.delenv("COURSE_DATA", raising=False)
    with warnings.catch_warnings(action="error"):
        documents, ground_truth = utils.load_documents(), utils.load_ground_truth()
    assert [document["id"] for document in documents] == utils.unique_ids(documents)
    assert set(ground_truth["document"]) <= {document["id"] for document in documents}


def test_course_data_names_the_folder(folder, monkeypatch, tmp_path_factory):
    monkeypatch.setenv("COURSE_DATA", str(folder()))
    assert utils.load_documents() == DOCUMENTS
    assert len(utils.load_ground_truth()) == 3
    with pytest.raises(FileNotFoundError):
        utils.load_documents(tmp_path_factory.mktemp("empty"))  # an argument goes first


def test_a_missing_file_is_named(folder):
    with pytest.raises(FileNotFoundError, match=r"documents-with-ids\.json"):
        utils.load_documents(folder(None, None))
    with pytest.raises(FileNotFoundError, match=r"ground-truth-data\.csv"):
        utils.load_ground_truth(folder(None, None))


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        (json.dumps(DOCUMENTS, indent=1).encode()[:-300], r"line \d+ column \d+"),
        (b"", "line 1 column 1"),
        (b"question,course\n", "line 1 column 1"),
        (json.dumps(DOCUMENTS, indent=1).replace("euros", "\u20ac \xe9").encode("cp1252"), "line 17 is not UTF-8"),
        ({"documents": DOCUMENTS}, "expected a list of documents, found dict"),
        ("text", "expected a list of documents, found str"),
        ([], "found an empty list"),
        ([*DOCUMENTS, "text"], "record 3 is a str, expected an object"),
        ([DOCUMENTS], "record 0 is a list"),
        (changed(DOCUMENTS, 1, section=...), r"record 1 \(d2\) has no field section"),
        (changed(DOCUMENTS, 2, text=..., course=..., id=...), r"record 2 \(no id\) has no field text, course"),
        (changed(DOCUMENTS, 1, text=7), r"record 1 \(d2\): field text is a int, expected text"),
        (changed(DOCUMENTS, 1, question=["a"]), r"record 1 \(d2\): field question is a list"),
        (changed(DOCUMENTS, 2, id=12), r"record 2 \(12\): field id is a int"),
        (changed(DOCUMENTS, 2, id=0), "record 2 .*: field id is a int"),
    ],
)
def test_bad_documents_are_an_error_that_names_file_and_record(folder, documents, message):
    for load in utils.load_documents, utils.load_ground_truth:
        with pytest.raises(ValueError, match=rf"documents-with-ids\.json: .*{message}"):
            load(folder(documents))


def test_a_byte_order_mark_is_accepted(folder):
    bom = b"\xef\xbb\xbf"
    written = folder(bom + json.dumps(DOCUMENTS).encode(), bom + csv("Is there a fee?,b,d3"))
    assert utils.load_documents(written) == DOCUMENTS
    assert utils.load_ground_truth(written)["question"].tolist() == ["Is there a fee?"]


def test_line_ends_of_any_system_and_lines_within_a_question_are_read(folder):
    ground_truth = utils.load_ground_truth(
        folder(questions=b'question,course,document\r\n"Why,\r\nand ""how""?",a,d1\r\nWho?,a,d2\r\n')
    )
    assert ground_truth.to_numpy().tolist() == [['Why,\r\nand "how"?', "a", "d1"], ["Who?", "a", "d2"]]


@pytest.mark.parametrize("missing", [..., None, ""])
def test_missing_ids_are_computed_with_a_warning(folder, missing):
    with pytest.warns(UserWarning, match=r"documents-with-ids\.json: 2 documents without an id, computed here"):
        documents = utils.load_documents(folder(changed(changed(DOCUMENTS, 0, id=missing), 2, id=missing)))
    assert [document["id"] for document in documents] == [
        utils.document_id(DOCUMENTS[0]),
        "d2",
        utils.document_id(DOCUMENTS[2]),
    ]


def test_computed_ids_are_unique(folder):
    twins = [{**DOCUMENTS[0], "id": None, "text": text} for text in ("Yes, until week four.", "Yes, until week five.")]
    with pytest.warns(UserWarning, match="2 documents without an id"):
        documents = utils.load_documents(folder(twins))
    assert [document["id"] for document in documents] == utils.unique_ids(twins)
    assert documents[0]["id"] != documents[1]["id"]


@pytest.mark.parametrize("id_", ["d1", "{d}", "{}"])
def test_repeated_ids_are_warned_of(folder, id_):
    repeated = [{**document, "id": id_} for document in DOCUMENTS]
    with pytest.warns(UserWarning, match="repeat") as caught:
        assert len(utils.load_documents(folder(repeated))) == 3
    assert [str(w.message) for w in caught] == [
        f"documents-with-ids.json: 2 documents repeat the id of an earlier one ({id_}, {id_})"
    ]


@pytest.mark.parametrize("text", ["", " \n", None])
def test_empty_texts_are_warned_of(folder, text):
    with pytest.warns(UserWarning, match=r"documents-with-ids\.json: 1 documents with an empty text"):
        assert utils.load_documents(folder(changed(DOCUMENTS, 1, text=text)))[1]["text"] == (text or "")


def test_warnings_point_at_the_caller(folder):
    with pytest.warns(UserWarning, match="empty text") as caught:
        utils.load_documents(folder(changed(DOCUMENTS, 1, text="")))
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        (b"", "not readable as CSV"),
        (b"question,course,document\n", "no rows"),
        (b"question,document\nWhy?,d1\n", "no column course; found question, document"),
        (b"Why?,a,d1\n", "no column question, course, document; found Why"),
        (csv("Why?,a,d1", ",a,d1", ",a,d1"), r"row 1 \(line 3\), column question: empty or NaN; 2 such rows"),
        (csv("Why?,a,d1", '"  ",a,d1'), r"row 1 \(line 3\), column question: empty"),
        (csv("Why?,,d1"), r"row 0 \(line 2\), column course: empty"),
        (csv("Why?,a,d1", "How?,a,"), r"row 1 \(line 3\), column document: empty"),
        (csv("Why?,a,d1", "How?,a"), r"row 1 \(line 3\), column document: empty"),
        (csv("Why?,a,d1", "How?"), r"row 1 \(line 3\), column course: empty"),
        (
            csv("Why?,a,d1", "How?,a,d"),
            r"row 1 \(line 3\), column document: 'd' is not in documents-with-ids\.json; 1 such rows",
        ),
        (
            csv("Why?,a,d7", "How?,a,d1", "Who?,a,d8"),
            r"row 0 \(line 2\), column document: 'd7' is not in .* 2 such rows",
        ),
        (csv("Why?,a,d1", '"How, and why'), "not readable as CSV .*inside string starting at row 2"),
        (csv("Why?,a,d1", "How, and why?,a,d1"), "not readable as CSV .*line 3, saw 4"),
        (csv("How, and why?,a,d1", "Why?,a,d1"), r"row 0 \(line 2\) has more fields than the header"),
        (csv("Why?,a,d1", "Pourquoi le caf\u00e9?,a,d1").decode().encode("latin-1"), "line 3 is not UTF-8"),
    ],
)
def test_bad_questions_are_an_error_that_names_file_row_and_column(folder, questions, message):
    with pytest.raises(ValueError, match=rf"ground-truth-data\.csv: .*{message}"):
        utils.load_ground_truth(folder(questions=questions))


def test_a_file_cut_anywhere_in_its_last_row_is_an_error(folder):
    whole = csv("Why?,a,d1", '"How, exactly?",a,d2')
    start, end = whole.index(b'"How'), len(whole) - 1
    for cut in range(start + 1, end):
        with pytest.raises(ValueError, match=r"ground-truth-data\.csv: .*row [12]"):
            utils.load_ground_truth(folder(questions=whole[:cut]))


def test_without_documents_beside_it_ids_are_not_checked(folder):
    assert utils.load_ground_truth(folder(None, csv("Why?,a,d7")))["document"].tolist() == ["d7"]


@pytest.mark.parametrize("question", ["NA", "null", "None", "nan", "N/A", "-", "007", "1e5", "True"])
def test_words_that_look_like_no_value_are_kept(folder, question):
    ground_truth = utils.load_ground_truth(folder(questions=csv(f"{question},a,d1")))
    assert ground_truth["question"].tolist() == [question]


def test_ids_that_look_like_numbers_are_kept(folder):
    numbered = [{**DOCUMENTS[0], "id": "00123456"}, {**DOCUMENTS[1], "id": "1234e567"}]
    ground_truth = utils.load_ground_truth(folder(numbered, csv("Why?,a,00123456", "How?,a,1234e567")))
    assert ground_truth["document"].tolist() == ["00123456", "1234e567"]


def test_other_columns_and_another_order_are_kept(folder):
    ground_truth = utils.load_ground_truth(folder(questions=b"document,note,question,course\nd1,seen,Why?,a\n"))
    assert ground_truth.to_dict("records") == [{"document": "d1", "note": "seen", "question": "Why?", "course": "a"}]


PLACEHOLDERS = ["question1", "questions", "Question 3:", "question_4", '"question5"', "Question", "QUESTION 12."]


def test_placeholders_are_warned_of(folder):
    rows = [[question, "a", "d1"] for question in [*PLACEHOLDERS, "Why?"]]
    with pytest.warns(UserWarning, match=r"ground-truth-data\.csv: 7 questions are placeholders"):
        assert len(utils.load_ground_truth(folder(questions=rows))) == 8


def test_questions_about_questions_are_no_placeholders():
    real = pd.Series(
        ["Where do I ask questions?", "Question 3 of homework 2?", "question1 and question2", "questionnaire", "3", "?"]
    )
    assert utils.is_placeholder(pd.Series(PLACEHOLDERS)).all()
    assert not utils.is_placeholder(real).any()


def test_repeated_rows_are_warned_of(folder):
    with pytest.warns(UserWarning, match=r"ground-truth-data\.csv: 2 rows repeat an earlier row"):
        assert len(utils.load_ground_truth(folder(questions=[QUESTIONS[0], *QUESTIONS, QUESTIONS[0]]))) == 5


def test_the_same_question_of_another_document_is_no_repetition(folder):
    with warnings.catch_warnings(action="error"):
        assert len(utils.load_ground_truth(folder(questions=[["Why?", "a", "d1"], ["Why?", "a", "d2"]]))) == 2


def test_another_course_than_the_documents_is_warned_of(folder):
    with pytest.warns(UserWarning, match=r"ground-truth-data\.csv: 1 rows name another course"):
        utils.load_ground_truth(folder(questions=[*QUESTIONS, ["Why?", "b", "d1"]]))


def test_the_questions_repeat_no_warning_about_the_documents(folder):
    with warnings.catch_warnings(action="error"):
        utils.load_ground_truth(folder(changed(DOCUMENTS, 1, text="")))


def test_results_go_to_the_named_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_RESULTS", str(tmp_path / "new" / "results"))
    assert utils.results_folder() == tmp_path / "new" / "results"
    assert utils.results_folder().is_dir()


def test_document_id_is_the_start_of_an_md5():
    document = {"course": "c", "question": "q", "text": "0123456789abc", "section": "s"}
    assert utils.document_id(document) == hashlib.md5(b"c-q-0123456789").hexdigest()[:8] == "1cca40f6"


def test_document_id_changes_with_course_question_and_the_first_ten_characters_only():
    document, id_ = DOCUMENTS[0], utils.document_id(DOCUMENTS[0])
    assert (
        utils.document_id({**document, "text": document["text"][:10] + " and more", "section": "other", "id": "x"})
        == id_
    )
    others = [
        {**document, "course": "b"},
        {**document, "question": "Late?"},
        {**document, "text": "No" + document["text"][2:]},
    ]
    assert id_ not in [utils.document_id(other) for other in others]


def test_unique_ids_are_the_short_ones_where_nothing_collides():
    assert utils.unique_ids(DOCUMENTS) == [utils.document_id(document) for document in DOCUMENTS]
    assert utils.unique_ids([]) == []


def test_exact_copies_share_an_id():
    first, second = {**DOCUMENTS[0], "text": "Yes, until week 4."}, {**DOCUMENTS[0], "text": "Yes, until week 5."}
    a, b, c, d = utils.unique_ids([first, second, dict(first), DOCUMENTS[1]])
    assert a == c
    assert len({a, b, d}) == 3


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(data=st.data(), endings=st.lists(st.sampled_from(["", "x", "y", "z"]), min_size=1, max_size=6))
def test_unique_ids_do_not_depend_on_the_order(data, endings):
    documents = [{**DOCUMENTS[number % 2], "text": "the first ten " + ending} for number, ending in enumerate(endings)]
    order = data.draw(st.permutations(range(len(documents))))
    ids = utils.unique_ids(documents)
    assert utils.unique_ids([documents[i] for i in order]) == [ids[i] for i in order]
    distinct = {(document["question"], document["text"]) for document in documents}
    assert len(set(ids)) == len(distinct)
