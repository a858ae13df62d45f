"""Test judging: what stands in the files, and what the panel shows."""

import json
import multiprocessing
import os
import random
import sys
import time
import warnings

import pandas as pd
import practice
import pytest

from course import corpus, judging
from course.judging import Judging, judge
from evaluate_retrieval.judge import add, scale_of

DOCUMENTS = [{"id": f"d{n}", "question": "<i>", "text": "é\n{}"} for n in range(4)]
PAIRS = pd.DataFrame(
    {
        "query_id": "q1",
        "query": 'a "b",\nc',
        "course": "c",
        "kind": "vague",
        "document": [f"d{n}" for n in range(4)],
    }
)


def judged(path, keys="", pairs=PAIRS):
    judging = Judging(pairs, path)
    for key in keys:
        judge(judging, key)
    return judging


def test_a_file_cut_at_any_byte_is_resumed_and_no_whole_row_is_lost(tmp_path):
    content = judged(tmp_path / "all.csv", "0120").path.read_bytes()
    assert content.endswith(b"\n")
    assert b"\r" not in content  # the same bytes on every system
    path = tmp_path / "cut.csv"
    for size in range(len(content)):
        path.write_bytes(content[:size])
        whole = max(0, content[:size].count(b"\n") - 1)
        session = judged(path)
        assert repr(session) == f"cut.csv: {whole} of 4 judged"
        assert ("is cut off" in session.note) == (content[:size][-1:] not in b"\n")
        assert judged(path, "0120"[whole:]).path.read_bytes() == content


def test_u_goes_back_and_the_later_row_counts(tmp_path):
    judging = judged(tmp_path / "a.csv", "u01xu2uu1")
    assert [row[-1] for row in judging.path.read_text().splitlines()[1:]] == [*"0121"]
    for done in judging.done, judged(judging.path).done:
        assert [*done.values()] == ["2", "1"]
    # what is no longer to be judged does not count
    assert repr(judged(judging.path, "", PAIRS[1:])) == "a.csv: 1 of 3 judged"


def test_the_panel_says_what_is_not_stored_and_stores_mended_questions(tmp_path):
    items = PAIRS[["document"]][:3].assign(question=["<b>", "b", "c"])
    path = tmp_path / "gone" / "a.csv"
    view = judging.panel(judging.Judging(items, path, "decision"), DOCUMENTS)
    assert "<b>&lt;b&gt;</b>" in view.page.value
    assert "<b>&lt;i&gt;</b>" in view.page.value
    view.buttons["k"].click()
    assert view.page.value.startswith("<b>Not stored")
    path.parent.mkdir()
    for _ in "kk":  # the second comes too soon
        view.key.value = "k"
    view.buttons["m"].click()
    view.typed.value = " better "
    view.buttons["d"].click()
    rows = path.read_text().splitlines()[1:]
    assert rows == ["d0,<b>,keep,", "d1,b,mend,better", "d2,c,drop,"]


def test_merge_holds_agreed_and_adjudicated_grades_and_counts_the_rest(tmp_path):
    paths = [judged(tmp_path / f"{keys}.csv", keys).path for keys in ("0121", "021")]
    table = practice.side_by_side(*paths)
    differ = table.dropna().query("pass_1 != pass_2")[corpus.JUDGED_COLUMNS]
    adjudicated = judged(tmp_path / "3.csv", "1", differ).path
    judged(adjudicated, "2", PAIRS[3:])  # which only one person had judged
    merged, text = practice.merge(table, adjudicated)
    counts = [int(word) for word in text.split() if word.isdigit()]
    assert counts == [2, 1, 1]  # merged, by one person only, not adjudicated
    merged.to_csv(tmp_path / "judged-queries.csv", index=False)
    assert corpus.load_judged_queries(tmp_path)[1] == [{"d0": 0, "d1": 1}]


def test_how_a_pair_was_drawn_travels_to_the_merged_judgements(tmp_path):
    """Both judged the pool; a random draw holds two pairs of it, and one more.

    Ann judged the draw, Ben its first pair only."""
    pool, draw = PAIRS[:3].assign(drawn="pool"), PAIRS[1:].assign(drawn="random")
    for name, keys in {"ann": "000121", "ben": "00012"}.items():
        judged(tmp_path / name, keys[:3], pool)
        judged(tmp_path / name, keys[3:], draw[: len(keys) - 3])
    ann = judging.last_grades(tmp_path / "ann")
    assert ann["drawn"].tolist() == ["pool", "random", "random", "random"]
    assert ann["grade"].tolist() == ["0", "1", "2", "1"]  # the last of each pair
    table = practice.side_by_side(tmp_path / "ann", tmp_path / "ben")
    judged(tmp_path / "third", "", PAIRS)
    merged, _ = practice.merge(table, tmp_path / "third")
    assert merged["drawn"].tolist() == ["pool", "random", "random"]
    judged(tmp_path / "eve", "0", draw[:1])
    judged(tmp_path / "eve", "2", pool[1:2])  # read again, and still a random draw
    again = judging.last_grades(tmp_path / "eve")
    assert again[["drawn", "grade"]].to_numpy().tolist() == [["random", "2"]]
    old = judged(tmp_path / "old", "0120").path  # before there was such a column
    assert set(judging.last_grades(old)["drawn"]) == {""}
    assert set(practice.side_by_side(tmp_path / "ann", old)["drawn"]) == {""}


def test_a_scripted_annotator_stops_where_it_is_told(tmp_path):
    grades = pd.Series(
        [*"0121"], pd.MultiIndex.from_frame(PAIRS[["query_id", "document"]])
    )
    pairs = PAIRS.assign(drawn="pool")
    for name, upto in {"one": 2, "two": None}.items():
        judging = Judging(pairs, tmp_path / name)
        practice.judge_as(judging, grades, upto)
        assert [*judging.done.values()] == [*"0121"][:upto]
    both = practice.side_by_side(tmp_path / "one", tmp_path / "two").dropna()
    matrix = practice.crossed(both, "Ann", "Ben")
    assert matrix.to_numpy().tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert [matrix.index[0], matrix.columns[2]] == ["Ann: 0", "Ben: 2"]


def test_a_picture_of_a_record_is_named_and_not_fetched():
    shown = judging._markdown()("See ![a <b> map](http://example.org/x.png) here.")
    assert "<img" not in shown
    assert "[picture: a &lt;b&gt; map http://example.org/x.png]" in shown


def test_a_query_that_begins_like_a_formula_is_text_in_the_file_and_found_again(
    tmp_path,
):
    path, row = tmp_path / "judgements.csv", ["=HYPERLINK(1)", "2"]
    judging._append_row(path, ["query", "grade"], row)
    assert path.read_text().splitlines()[1] == "'=HYPERLINK(1),2"
    table, _ = judging.read_judgements(path, ["query", "grade"])
    assert table.iloc[0].tolist() == row


# --- judged-queries.csv, which several people add to -----------------------------

HEADER = "query_id,query,course,kind,document,grade\n"
OLD = HEADER + "q1,hum,hi-fi,vague,a,2\n"
METHOD = "spawn" if sys.platform == "win32" else "fork"  # a fork takes no seconds
CONTEXT = multiprocessing.get_context(METHOD)


def judge_and_add(path, prefix, n):
    """Judge n pairs of one's own into a file, and add after each, as sessions would."""
    pairs = pd.concat([PAIRS[:1]] * n).assign(
        document=[f"{prefix}{i}" for i in range(n)]
    )
    session = Judging(pairs, path)
    while session.at:
        judge(session, "1")
        add(path.with_name("judged-queries.csv"), path)


def documents_in(path):
    return set(corpus.read_table(path, [*corpus.JUDGED_COLUMNS, "grade"])["document"])


def test_people_who_judge_at_once_keep_all_grades(tmp_path):
    path = tmp_path / "judged-queries.csv"
    path.write_text(OLD)
    people = [
        CONTEXT.Process(target=judge_and_add, args=(tmp_path / name, prefix, 20))
        for prefix, name in {"x": "ann.csv", "y": "ann.csv", "z": "ben.csv"}.items()
    ]
    for person in people:
        person.start()
    for person in people:
        person.join(60)
        assert person.exitcode == 0
    kept = {"a", *(f"{prefix}{i}" for prefix in "xyz" for i in range(20))}
    assert documents_in(path) == kept
    assert documents_in(path.with_suffix(".csv.former")) < documents_in(path)


def test_a_process_that_is_killed_at_any_moment_loses_no_grade(tmp_path):
    path, file = tmp_path / "judged-queries.csv", tmp_path / "judgements-ann.csv"
    path.write_text(OLD)
    moments, kept = random.Random(20261126), {"a"}
    for _ in range(10):
        person = CONTEXT.Process(target=judge_and_add, args=(file, "d", 2_000))
        person.start()
        size, patience = file.stat().st_size if file.exists() else 0, time.time() + 60
        while not (file.exists() and file.stat().st_size > size):
            assert time.time() < patience
        time.sleep(moments.uniform(0, 0.3))
        person.kill()
        person.join(60)
        assert documents_in(path) >= kept  # it is whole, and has all of before
        n_whole = file.read_bytes().count(b"\n") - 1
        with warnings.catch_warnings(action="ignore"):  # half a row
            add(path, file)
        kept = {"a", *(f"d{i}" for i in range(n_whole))}
        assert documents_in(path) == kept
    assert len(kept) > 10


def test_a_full_disk_leaves_judgements_as_they_were_and_nothing_beside_them(tmp_path):
    resource = pytest.importorskip("resource")  # which Windows has not
    path, mine = tmp_path / "judged-queries.csv", tmp_path / "judgements-me.csv"
    path.write_text(OLD)
    rows = [f"q1,hum,hi-fi,vague,d{number},1\n" for number in range(5_000)]
    mine.write_text(HEADER + "".join(rows))

    def on_a_full_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        with pytest.raises(OSError, match="File too large"):
            add(path, mine)

    process = CONTEXT.Process(target=on_a_full_disk)
    process.start()
    process.join(60)
    assert process.exitcode == 0
    assert path.read_text() == OLD
    assert not list(tmp_path.glob(".*"))
    assert add(path, mine) == 5_001
    assert (tmp_path / "judged-queries.csv.former").read_text() == OLD


def test_the_later_grade_of_a_pair_counts_and_stays_when_somebody_goes_on(
    tmp_path, caplog
):
    caplog.set_level("INFO")
    path = tmp_path / "judged-queries.csv"
    path.write_text(OLD)
    ann, ben = tmp_path / "judgements-ann.csv", tmp_path / "judgements-ben.csv"
    for file, keys in ((ann, "2"), (ben, "0"), (ann, "1")):
        add(path, judged(file, keys).path)
    grades = corpus.read_table(path).set_index("document")["grade"].to_dict()
    assert grades == {"a": "2", "d0": "0", "d1": "1"}
    assert "judgements-ben.csv: 1 grades added, 1 of them in place" in caplog.text
    assert judging.last_grades(ann)["grade"].tolist() == ["2", "1"]


# --- In a terminal -----------------------------------------------------------------

FOUND = """queries,query_id,search,ndcg,found
judged,q1,own: last,0.1,c
judged,q1,own: lucky,0.9,a%20b c
judged,q1,own: plain,0.8,c d a%20b
"""
SCALES = {
    "none yet": ([], [0, 1, 2]),
    "only 1": ([1], [0, 1, 2]),
    "up to 3": ([0, 3], [0, 1, 2, 3]),
    "halves": ([0, 0.5, 1], [0, 0.5, 1]),
    "tens": ([100, 50, 0], [0, 50, 100]),
    "up to 90": (range(91), [*range(0, 91, 10)]),
    "hundredths": ([n / 100 for n in range(91)], [n / 10 for n in range(10)]),
}


@pytest.mark.parametrize("name", SCALES)
def test_the_keys_are_the_scale_of_the_folder(name):
    grades, scale = SCALES[name]
    assert scale_of(pd.Series(grades)) == scale


@pytest.fixture
def faq(tmp_path):
    """A folder, and the list and queries.csv of a run on it: three pairs to judge."""
    results, folder = tmp_path / "out", tmp_path / "faq"
    for path in (results, folder):
        path.mkdir()
    (folder / "documents.csv").write_text(
        "id,question,text\na b,A,a\nc,C,c\nd,D,d\ne,E,e\n"
    )
    (folder / "judged-queries.csv").write_text(
        f"{HEADER}q1,hum,all,vague,d,2\nq2,buzz,all,vague,d,1\n"
    )
    (results / "judge-next.csv").write_text(
        "query_id,query,course,kind,document,drawn\nq1,hum,all,vague,a b,next\n"
        "q2,buzz,all,vague,e,next\nq1,hum,all,vague,c,next\n"
        "q2,buzz,all,vague,c,next\n"
    )
    (results / "queries.csv").write_text(FOUND)
    written = dict.fromkeys(["queries.csv", "judge-next.csv"], "")
    manifest = {"data": str(folder), "inputs": {}, "outputs": written}
    (results / "run.json").write_text(json.dumps(manifest))
    return folder


def in_terminal(words, keys):
    """What a terminal shows at each question, and the exit code; a key for each."""
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    process, terminal = pty.fork()
    if not process:
        words = [sys.executable, "-m", "evaluate_retrieval", *words]
        os.execv(sys.executable, words)
    before, shown = termios.tcgetattr(terminal), [""]
    while True:
        try:
            shown[-1] += os.read(terminal, 10_000).decode()
        except OSError:  # it has ended
            break
        if "grade:" in shown[-1] and len(shown) <= len(keys):
            os.write(terminal, keys[len(shown) - 1].encode())
            shown.append("")
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    assert termios.tcgetattr(terminal) == before  # lines and echo, as it was
    return shown, code


def test_a_key_is_enough_and_both_lists_come_when_a_query_is_judged(faq):
    """Keys without Enter; an arrow, a letter and Enter itself change nothing."""
    keys = ["1", "\x1b[3~", "2", "u", "0", "\n", "x", "2", "\x03"]
    words = ["judge", str(faq), "--out", str(faq.parent / "out")]
    shown, code = in_terminal(words, keys)
    assert code == 3
    assert "interrupted" in shown[-1]
    rows = (faq / "judgements-me.csv").read_text().splitlines()[1:]
    assert [row.split(",")[-1] for row in rows] == ["1", "2", "0", "2"]
    lists = [n for n, text in enumerate(shown) if "own: " in text]
    assert lists == [8]  # after the last pair of q1, and not before
    _, _, table = shown[8].partition("search")
    assert [line.split() for line in table.splitlines()[:4]] == [
        ["own:", "lucky", "own:", "plain"],
        ["1", "A", "1", "C", "2"],
        ["2", "C", "2", "D", "2"],
        ["3", "nothing", "A", "1"],
    ]
    assert len(corpus.read_table(faq / "judged-queries.csv")) == 5
