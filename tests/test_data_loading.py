"""Test how files are read, and ids.

Errors name file, row, line and column. Warnings have a count."""

import csv as csv_module
import json
import warnings
from itertools import combinations, product

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


def changed(number, documents=DOCUMENTS, **fields):
    """Return the documents with some fields of one changed.

    A field is taken out where the value is `...`."""
    record = {
        key: value
        for key, value in {**documents[number], **fields}.items()
        if value != ...
    }
    return [*documents[:number], record, *documents[number + 1 :]]


def csv(lines, header="question,course,document"):
    return "\n".join([header, *lines.split("|"), ""]).encode()


UNREAL = [
    "question1",
    "questions",
    "Question 3:",
    "question_4",
    '"question5"',
    "QUESTION 12.",
]
REAL = [
    "Where to ask questions?",
    "Question 3 of homework",
    "questionnaire",
    "question1 or 2",
    "?",
]
JUDGED = "query_id,query,course,kind,document,grade"
GOOD = "q1,Why?,a,typo,d1,2|q2,How?,b,short,d3,0|q1,Why?,a,typo,d2,1"
FEE, TYPO = csv("Fee?,b,d3"), csv(GOOD, JUDGED)
TWINS = [
    {**DOCUMENTS[0], "id": None, "text": f"Yes, until week {number}."}
    for number in (4, 5)
]
EMPTY = [
    {**d, "text": text} for d, text in zip(DOCUMENTS, ["", " \n", None], strict=True)
]
HALF = "\ud83d"  # of a surrogate pair: a text like any other
TEXTS = st.lists(st.sampled_from(["", "x", "y", HALF, HALF + "x"]), max_size=6)


def write(folder, documents=JSON, questions=FEE, judged=TYPO):
    """Writes the three files, of bytes or documents, and returns their folder."""
    documents = (
        documents if isinstance(documents, bytes) else json.dumps(documents).encode()
    )
    (folder / "documents-with-ids.json").write_bytes(documents)
    (folder / "ground-truth-data.csv").write_bytes(questions)
    (folder / "judged-queries.csv").write_bytes(judged)
    return folder


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_files_and_results_are_in_the_named_folders_without_a_warning(
    tmp_path, mark, monkeypatch
):
    monkeypatch.setenv("COURSE_DATA", str(write(tmp_path, mark + JSON, mark + FEE)))
    monkeypatch.setenv("COURSE_RESULTS", str(tmp_path / "new" / "results"))
    assert corpus.results_folder().samefile(tmp_path / "new" / "results")
    with warnings.catch_warnings(action="error"):
        assert corpus.load_documents() == DOCUMENTS
        assert corpus.load_ground_truth().to_numpy().tolist() == [["Fee?", "b", "d3"]]
        # an argument goes first
        assert len(corpus.load_documents(corpus.ROOT / "data")) > 3
        assert len(corpus.load_ground_truth(corpus.ROOT / "data")) > 1


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
    found = corpus.ROOT / "data" if base == "ROOT" else own
    monkeypatch.setenv("COURSE_DATA", found.name)
    assert (corpus.data_folder(), corpus.load_documents()) == (
        found,
        corpus.load_documents(found),
    )


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"documents-with-ids\.json"):
        corpus.load_documents(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"ground-truth-data\.csv"):
        corpus.load_ground_truth(tmp_path)
    assert [len(part) for part in corpus.load_judged_queries(tmp_path)] == [0, 0]


DOUBTFUL = [
    (
        "2 documents without an id",
        changed(1, id="", documents=changed(0, id=...)),
        "A,b,d3",
    ),
    ("2 documents without an id, computed here", [*TWINS, DOCUMENTS[2]], "A,b,d3"),
    (
        r"2 documents repeat .*\({d}, {d}\)",
        [{**d, "id": "{d}"} for d in DOCUMENTS],
        "A,b,{d}",
    ),
    ("3 documents with an empty text", EMPTY, "A,b,d3"),
    (
        "6 questions are placeholders",
        DOCUMENTS,
        "|".join(f"{q},a,d1" for q in UNREAL + REAL),
    ),
    ("2 rows repeat an earlier row", DOCUMENTS, "A,a,d1|B,a,d1|A,a,d1|A,a,d2|A,a,d1"),
    ("1 rows name another course", DOCUMENTS, "A,a,d1|Why?,b,d1"),
]


@pytest.mark.parametrize(("message", "documents", "lines"), DOUBTFUL)
def test_what_is_doubtful_is_warned_of_once_at_the_caller(
    tmp_path, message, documents, lines
):
    write(tmp_path, documents, csv(lines))
    file = (
        "documents-with-ids.json" if "documents" in message else "ground-truth-data.csv"
    )
    with pytest.warns(UserWarning, match=f"{file}: {message}") as said:
        read, table = (
            corpus.load_documents(tmp_path),
            corpus.load_ground_truth(tmp_path),
        )
    assert [warning.filename for warning in said] == [__file__]
    assert len(table) == lines.count("|") + 1
    new = iter(
        corpus.unique_ids([record for record in documents if not record.get("id")])
    )
    for found, raw in zip(read, documents, strict=True):
        assert found == {
            **raw,
            "id": raw.get("id") or next(new),
            "text": raw["text"] or "",
        }
    assert (
        corpus.is_placeholder(pd.Series(UNREAL + REAL)).tolist()
        == [True] * 6 + [False] * 5
    )


BAD = {
    (
        "documents",
        r"documents-with-ids\.json",
        corpus.load_documents,
        corpus.load_ground_truth,
    ): {
        r"line \d+ column \d+": [JSON[:-300], b"question,course\n"],
        "line 17 is not UTF-8": [JSON.replace(b"euros", b"\xe9")],
        "expected a list of records": [[], b""],
        r"record \d is not a JSON object": ["text", [*DOCUMENTS, "text"], [DOCUMENTS]],
        r"record 0 \(None\): field text": [{"documents": DOCUMENTS}, [{"course": "a"}]],
        r"record 1 \(d2\): field text": [
            changed(1, text=value) for value in (7, ["a"], ...)
        ],
        r"record 2 \((12|0)\): field id": [changed(2, id=12), changed(2, id=0)],
    },
    ("questions", r"ground-truth-data\.csv", corpus.load_ground_truth): {
        "not readable as CSV": [
            b"",
            csv("A,a,d1|B, b,a,d1"),
            csv('A,a,d1|"B, and why'),
        ],
        "no rows": [b"question,course,document\n"],
        "no column .*course.*; found": [
            b"question,document\nWhy?,d1\n",
            b"Why?,a,d1\n",
        ],
        r"row 1 .line 3., column question: '(  )?'": [
            csv("A,a,d1|,a,d1"),
            csv("A,a,d1|  ,a,d1"),
        ],
        r"row 0 .line 2., column course: '' is empty or NaN; 2 such": [
            csv("A,,d1|B,,d1")
        ],
        r"row 1 .line 3., column document: .* is empty": [csv("A,a,d1|B,a,")],
        r"row 1 .line 3., column document: 'd7' is the id of no .*; 2": [
            csv("A,a,d1|B,a,d7|C,a,d")
        ],
        r"row 1 .line 4., column question": [
            csv('"A,\nb",a,d1|,a,d1'),
            csv("A,a,d1||,a,d1"),
        ],
        r"row 1 .line 5., column document": [csv('"A,\r\nB",a,d1|  |A,a,')],
        "line 3 has . fields, and the header 3": [csv("A,a,d1|B,a"), csv("A,a,d1|B")],
        "line 2 has 4 fields, and the header 3": [csv("A, b,a,d1|B,a,d1")],
        "line 3 is not UTF-8": [
            csv("A,a,d1|caf\u00e9,a,d1").decode().encode("latin-1")
        ],
        ".*row [12]|line 3": [
            csv('A,a,d1|"How, so?",a,d2')[:-end] for end in range(3, 16)
        ],
    },
    ("judged", r"judged-queries\.csv", corpus.load_judged_queries): {
        "no column grade": [csv(GOOD, JUDGED.replace("grade", "pass_1"))],
        r"row 3 .line 5., column grade: '-3' is no": [
            csv(f"{GOOD}|q,A,b,k,d1,-3", JUDGED)
        ],
        r"row 1 .line 5., column grade: '' is": [
            csv('q,"A\n\nB",a,k,d1,2|p,B,b,k,d3,', JUDGED)
        ],
        r"row 0 .line 2., column document: 'd9' is the id of no": [
            csv("q,How?,b,short,d9,0", JUDGED)
        ],
        r"row 0 .line 2., column query_id: '' is empty": [
            csv(",How?,b,short,d1,0", JUDGED)
        ],
    },
}
CASES = [(file, *case) for file, cases in BAD.items() for case in cases.items()]


@pytest.mark.parametrize(("file", "message", "bad"), CASES)
def test_bad_content_is_an_error_that_names_file_line_and_column(
    tmp_path, file, message, bad
):
    kind, name, *loads = file
    for content, load in product(bad, loads):
        with pytest.raises(ValueError, match=rf"{name}: .*{message}"):
            load(write(tmp_path, **{kind: content}))


def test_what_a_file_holds_is_read_as_it_stands(tmp_path):
    words = [
        "NA",
        "null",
        "None",
        "nan",
        "N/A",
        "-",
        "007",
        "1e5",
        "True",
        "long " * 30_000,
    ]
    rows = [[word, "a", "1234e567" if word == "NA" else "00123456"] for word in words]
    numbered = changed(1, changed(0, id="00123456"), id="1234e567")
    written = write(tmp_path, numbered, csv("|".join(map(",".join, rows))))
    assert corpus.load_ground_truth(written).to_numpy().tolist() == rows
    lines = (
        b"document,note,question,course\r\n"
        b'd1,x,"Why,\r\nand ""how""?",a\r\nd2,y,Who?,a\r\n'
    )
    table = corpus.load_ground_truth(write(tmp_path, questions=lines))
    assert table.columns.tolist() == ["document", "note", "question", "course"]
    assert table["question"].tolist() == ['Why,\r\nand "how"?', "Who?"]
    for grade in "grade", "pass_1":
        written = write(tmp_path, judged=csv(GOOD, JUDGED.replace("grade", grade)))
        queries, qrels = corpus.load_judged_queries(written, grade=grade)
        lines = ["query_id,question,course,kind,need,split", "q1,Why?,a,typo,d1,", ""]
        # no record answers it: a need of its own
        lines.insert(2, "q2,How?,b,short,q2,")
        assert queries.to_csv(index=False).split("\n") == lines
        assert qrels == [{"d1": 2, "d2": 1}, {"d3": 0}]
    with pytest.warns(
        UserWarning, match=r"judged-queries\.csv: 1 rows grade a pair again"
    ):
        corpus.load_judged_queries(
            write(tmp_path, judged=csv(f"{GOOD}|q2,How?,b,k,d3,1", JUDGED))
        )
    # which is no file, and has no lines
    derived = pd.concat([table, table]).replace("Who?", "")
    with pytest.raises(
        ValueError, match="ground truth: row 1, column question: '' is empty"
    ):
        utils.evaluate(derived, lambda queries: [["d1"]] * 4, k=1)
    write(tmp_path, questions=csv("Why?,a,d7")).joinpath(
        "documents-with-ids.json"
    ).unlink()
    # nothing to check by
    assert corpus.load_ground_truth(tmp_path)["document"].tolist() == ["d7"]


def test_rows_of_deleted_documents_are_counted_and_left_out_unless_they_are_most(
    tmp_path,
):
    gone = write(tmp_path, questions=csv("A,a,d1|B,a,d7|C,a,d2|D,b,d3"))
    with pytest.warns(
        UserWarning, match=r"ground-truth-data\.csv: 1 rows name a document that is"
    ):
        assert corpus.load_ground_truth(gone)["question"].tolist() == [*"ACD"]
    gone = write(tmp_path, judged=csv(f"{GOOD}|q2,How?,b,short,d8,2", JUDGED))
    with pytest.warns(
        UserWarning, match=r"judged-queries\.csv: 1 rows name a document that is not"
    ):
        assert corpus.load_judged_queries(gone)[1] == [{"d1": 2, "d2": 1}, {"d3": 0}]


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
    for some in (
        truth.sample(frac=0.9, random_state=1),
        pd.concat([new, truth]),
        truth[::-1],
    ):
        development, test = corpus.split_by_document(some)
        assert len(development) + len(test) == len(some)
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


def test_documents_that_answer_the_same_questions_stay_together():
    labels = corpus.linked([("a", "b"), ("c", "b"), ("d", "d"), ("e", "f"), ("f", "e")])
    assert labels["a"] == labels["b"] == labels["c"]
    assert labels["a"] in "abc"
    assert labels["d"] == "d"
    assert len(set(labels.values())) == 3
    truth = corpus.load_ground_truth()
    development, test = corpus.split_by_document(truth)
    for one, other in ((development, test), (test, development)):
        also = set(one["also"].str.split().explode().dropna())
        assert not also & set(other["document"])
    assert test["need"].nunique() < test["document"].nunique()
    assert intervals.groups_of(test).equals(test["need"])


def test_few_judged_queries_are_cross_fitted_many_are_halved_and_own_splits_are_kept():
    judged = judged_by(**many_judged())
    development, test = corpus.divide(judged)
    assert development is test
    enough = corpus.divide(judged_by(**many_judged(corpus.MANY)))
    assert sum(map(len, enough)) == corpus.MANY  # each query is in one half
    development, test = corpus.divide(judged_by(**many_judged(1_200)))
    assert not set(development["need"]) & set(test["need"])
    assert 0.4 < len(test) / 1_200 < 0.6
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


def test_queries_of_one_need_share_most_of_their_records_in_our_data():
    """No query has a sibling of another need.

    Siblings share half of their best records, or half of their relevant ones."""
    for folder in "data", "data/es":
        queries, qrels = corpus.load_judged_queries(corpus.ROOT / folder)
        assert len(queries) > queries["need"].nunique() > 0.6 * len(queries)
        for least in 1, 2:
            records = [
                {id_ for id_, grade in q.items() if grade >= least} for q in qrels
            ]
            for one, other in combinations(range(len(qrels)), 2):
                a, b = records[one], records[other]
                if a & b and len(a & b) >= 0.5 * len(a | b):
                    assert queries["need"][one] == queries["need"][other]


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
    table = pd.DataFrame({"query": texts, "n": range(len(texts))})
    corpus.write_table(table, tmp_path / "t.csv")
    lines = (tmp_path / "t.csv").read_text().splitlines()
    assert lines[1:7] == [
        "'=1+1,0",
        "'+49 30,1",
        "'-v flag,2",
        "'@me,3",
        "'quoted',4",
        "-0.5,5",
    ]
    assert corpus.read_table(tmp_path / "t.csv")["query"].tolist() == texts
