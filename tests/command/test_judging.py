"""Test judging: what stands in the files, and what the panel shows."""

import itertools
import json
import multiprocessing
import os
import random
import re
import sys
import threading
import time
import warnings
from contextlib import suppress
from functools import partial
from unittest import mock

import pandas as pd
import pytest
from filelock import FileLock
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from second_person import as_root, as_somebody_else, shared_folder

from course import widgets
from evaluate_retrieval.commands import asking, manifest
from evaluate_retrieval.commands import judge as judge_command
from evaluate_retrieval.judging import grading, next_pairs
from evaluate_retrieval.judging.adding import add
from evaluate_retrieval.judging.grading import Judging, judge, scale_of
from evaluate_retrieval.line import main
from evaluate_retrieval.reading import corpus, files, folder

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


# no half surrogate pairs: they become question marks
TEXTS = st.text() | st.text("'\"=-+@＝,;\r\n\t\0\x1b\x85\u2028 a1")
# a clock that stands still, so that a file is the same when it is made again
STILL = mock.patch.object(grading, "now", partial(str, "2026-11-28T21:04:05.123Z"))


@STILL
@settings(max_examples=40)
@given(st.lists(TEXTS, min_size=1, max_size=3), st.integers(0))
def test_a_file_of_judgements_is_read_as_it_was_and_resumed_wherever_it_is_cut(
    tmp_path_factory, texts, place
):
    folder = tmp_path_factory.mktemp("judged")
    pairs, keys = PAIRS[: len(texts)].assign(query=texts), "021"[: len(texts)]
    (folder / "all").mkdir()
    content = judged(folder / "all" / "ann.csv", keys, pairs).path.read_bytes()
    start = content[: place % len(content)]
    path, whole = folder / "ann.csv", max(0, start.count(b"\n") - 1)
    path.write_bytes(start)
    session = judged(path, "", pairs)
    assert [*session.done.values()] == [*keys[:whole]]
    assert bool(session.note) == (start[-1:] not in b"\n")
    assert judged(path, keys[whole:], pairs).path.read_bytes() == content
    all_judged = folder / "judged-queries.csv"
    add(all_judged, path, older=pairs[:0])
    lines = [re.sub(r"[\r\n]+", " ", text) for text in texts]
    for table in grading.last_grades(path).reset_index(), files.read_csv(all_judged):
        assert table["query"].tolist() == lines
        assert table["grade"].tolist() == [*keys]


def grades_in(path):
    """The grades of a file of judgements, in the order of its rows."""
    return files.read_csv(path)["grade"].tolist()


def test_u_goes_back_and_the_later_row_counts(tmp_path):
    judging = judged(tmp_path / "a.csv", "u01xu2uu1")
    assert grades_in(judging.path) == [*"0121"]
    for done in judging.done, judged(judging.path).done:
        assert [*done.values()] == ["2", "1"]
    # what is no longer to be judged does not count
    assert repr(judged(judging.path, "", PAIRS[1:])) == "a.csv: 1 of 3 judged"


def test_what_was_drawn_at_random_stays_so_where_it_is_judged_again(tmp_path):
    judged(tmp_path / "a", "0", PAIRS[:1].assign(drawn="random"))
    judged(tmp_path / "a", "2", PAIRS[:1].assign(drawn="pool"))
    last = grading.last_grades(tmp_path / "a")
    assert last[["drawn", "grade"]].to_numpy().tolist() == [["random", "2"]]


def test_the_panel_says_what_is_not_stored_and_fetches_no_picture(tmp_path):
    items = PAIRS[["document"]][:2].assign(query="<b>")
    documents = [document | {"text": "![a](x.png)"} for document in DOCUMENTS]
    path = tmp_path / "gone" / "a.csv"
    page, row, _ = widgets.panel(Judging(items, path), documents).children
    box, *buttons = row.children
    button = {each.description[0]: each for each in buttons}
    assert "<b>&lt;b&gt;</b>" in page.value
    assert "<img" not in page.value
    button["2"].click()
    assert page.value.startswith("<b>Not stored")
    path.parent.mkdir()
    for _ in "22":  # the second comes too soon
        box.value = "2"
    button["0"].click()
    rows = [row.rpartition(",")[0] for row in path.read_text().splitlines()[1:]]
    assert rows == ["d0,<b>,2,a", "d1,<b>,0,a"]


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
    return set(files.read_csv(path, [*corpus.JUDGED_COLUMNS, "grade"])["document"])


def test_people_who_judge_at_once_keep_all_grades(tmp_path):
    path = tmp_path / "judged-queries.csv"
    path.write_text(OLD)
    people = [
        CONTEXT.Process(target=judge_and_add, args=(tmp_path / name, prefix, 9))
        for prefix, name in {"x": "ann.csv", "y": "ann.csv", "z": "ben.csv"}.items()
    ]
    for person in people:
        person.start()
    for person in people:
        person.join(60)
        assert person.exitcode == 0
    kept = {"a", *(f"{prefix}{i}" for prefix in "xyz" for i in range(9))}
    assert documents_in(path) == kept
    assert documents_in(path.with_suffix(".csv.former")) < documents_in(path)


def test_a_row_waits_for_whoever_writes_into_the_same_file(tmp_path):
    session = Judging(PAIRS, tmp_path / "ann.csv")
    person = threading.Thread(target=judge, args=(session, "1"))
    with FileLock(f"{session.path}.lock"):
        person.start()
        person.join(0.2)
        assert not session.path.read_text()
    person.join(60)
    assert repr(judged(session.path)) == "ann.csv: 1 of 4 judged"


def test_a_process_that_is_killed_at_any_moment_loses_no_grade(tmp_path):
    path, file = tmp_path / "judged-queries.csv", tmp_path / "judgements-ann.csv"
    path.write_text(OLD)
    moments, kept, size = random.Random(20261126), {"a"}, 0
    for _ in range(5):
        person = CONTEXT.Process(target=judge_and_add, args=(file, "d", 2_000))
        person.start()
        while not (file.exists() and file.stat().st_size > size):
            assert person.is_alive()
        time.sleep(moments.uniform(0, 0.1))
        person.kill()
        person.join(60)
        assert documents_in(path) >= kept  # it is whole, and has all of before
        size, n_whole = file.stat().st_size, file.read_bytes().count(b"\n") - 1
        with warnings.catch_warnings(action="ignore"):  # half a row
            add(path, file)
        kept = {"a", *(f"d{i}" for i in range(n_whole))}
        assert documents_in(path) == kept
    assert len(kept) > 5


def test_a_full_disk_leaves_judgements_as_they_were_and_nothing_beside_them(
    tmp_path, monkeypatch
):
    path, mine = tmp_path / "judged-queries.csv", judged(tmp_path / "mine", "01").path
    path.write_text(OLD)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", mock.Mock(side_effect=OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            add(path, mine)
    assert path.read_text() == OLD
    assert not list(tmp_path.glob(".*"))
    assert add(path, mine) == 3
    assert (tmp_path / "judged-queries.csv.former").read_text() == OLD


def told_in(path, column="grades"):
    return files.read_csv(path).set_index("document")[column].to_dict()


def test_grades_of_two_people_are_both_kept_and_of_one_the_later_counts(
    tmp_path, caplog
):
    path = tmp_path / "judged-queries.csv"
    path.write_text(OLD)
    ann, ben = tmp_path / "judgements-ann.csv", tmp_path / "judgements-ben.csv"
    caplog.set_level("INFO")
    for file, keys in ((ann, "2"), (ben, "0"), (ann, "1")):
        add(path, judged(file, keys).path)
    assert told_in(path, "grade") == {"a": "2", "d0": "0", "d1": "1"}
    assert told_in(path) == {"a": "", "d0": "ann=2;ben=0", "d1": "ann=1"}
    assert "1 pairs have different grades of several people" in caplog.text
    assert grading.last_grades(ann)["grade"].tolist() == ["2", "1"]
    carl = tmp_path / "judgements-carl.csv"
    add(path, ann, ben, judged(carl, "2").path)
    assert told_in(path, "grade")["d0"] == "2"  # most people's
    add(path, judged(ben, "u2").path)  # a correction
    assert told_in(path)["d0"] == "ann=2;ben=2;carl=2"
    ann.unlink()  # and begun again
    add(path, judged(ann, "00").path)
    assert told_in(path)["d0"] == "ann=0;ben=2;carl=2"
    times = told_in(path, "times")["d0"]
    assert [part[:4] for part in times.split(";")] == ["ann=", "ben=", "carl"]


@pytest.mark.parametrize("cell", ["ann=x", "ann=-1", "ann=nan", "ann=1e400", "ann="])
def test_a_grade_that_was_edited_into_none_is_named(tmp_path, cell):
    path = tmp_path / "judged-queries.csv"
    header = OLD.splitlines()[0]
    path.write_text(f"{header},grades\nq1,hum,hi-fi,vague,d0,1,{cell}\n")
    before = path.read_bytes()
    pairs = PAIRS[:1].assign(query="hum", course="hi-fi")
    session = judged(tmp_path / "judgements-ben.csv", "2", pairs)
    with refused("judged-queries.csv", column="grades"):
        add(path, session.path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_the_order_of_grades_is_in_the_rows_and_not_in_files(tmp_path, order):
    """Neither who ends last, nor a copy with another date, changes what counts."""
    path = tmp_path / "judged-queries.csv"
    path.write_text(OLD)
    header = ",".join([*corpus.JUDGED_COLUMNS, "grade", "judge", "time"])
    rows = {
        "phone": ("q1,hum,hi-fi,vague,d,0,ann,2026-11-28T10:00:00.000Z", 2),
        "laptop": ("q1,hum,hi-fi,vague,d,2,ann,2026-11-28T10:00:00.001Z", 1),
        "ben": ("q1,hum,hi-fi,vague,d,1,,2026-11-28T09:00:00.000Z", 0),
    }
    names = []
    for name, (row, date) in rows.items():
        file = tmp_path / f"judgements-{name}.csv"
        file.write_text(f"{header}\n{row}\n")
        os.utime(file, (date, date))
        names.append(file)
    for place in order:
        add(path, names[place])
    add(path, *names)
    grades = dict(part.split("=") for part in told_in(path)["d"].split(";"))
    assert grades == {"ann": "2", "ben": "1"}
    assert told_in(path, "grade")["d"] == "1"


def test_a_clock_that_is_set_back_changes_no_order(tmp_path, monkeypatch):
    times = iter(["2026-11-28T10:00:00.000Z", "1999-01-01T00:00:00.000Z"] * 2)
    monkeypatch.setattr(grading, "now", lambda: next(times))
    path = judged(tmp_path / "judgements-ann.csv", "0").path
    judging = judged(path)
    judging.back()
    judge(judging, "2")
    assert grading.last_grades(path)["grade"].tolist() == ["2"]
    assert {*files.read_csv(path)["time"]} == {"2026-11-28T10:00:00.000Z"}
    assert {*files.read_csv(path)["judge"]} == {"ann"}


def test_what_a_person_settled_by_hand_stays_when_a_third_one_judges(tmp_path):
    path = tmp_path / "judged-queries.csv"
    text = f"{OLD.splitlines()[0]},grades\nq1,hum,hi-fi,vague,d0,1,ann=2;ben=0\n"
    path.write_text(text)
    pairs = PAIRS[:1].assign(query="hum", course="hi-fi")
    add(path, judged(tmp_path / "judgements-carl.csv", "0", pairs).path)
    assert told_in(path)["d0"] == "ann=2;ben=0;settled=1;carl=0"
    assert told_in(path, "grade")["d0"] == "1"


OLD_FILE = "query_id,query,course,kind,document,drawn,grade\n"
OLD_FILE += "q1,hum,hi-fi,vague,d0,pool,2\nq1,hum,hi-fi,vague,d1,pool,0\n"


def test_files_of_older_versions_are_read_added_and_gone_on_with(tmp_path):
    """Without who and when; what was corrected by hand after the adding stays."""
    path, file = tmp_path / "judged-queries.csv", tmp_path / "judgements-ann.csv"
    path.write_text(f"{OLD}q1,hum,hi-fi,vague,d0,1\nq1,hum,hi-fi,vague,d1,0\n")
    file.write_text(OLD_FILE)
    file.with_name(".judgements-ann.csv.added").write_text(OLD_FILE)
    add(path, file)
    assert told_in(path, "grade") == {"a": "2", "d0": "1", "d1": "0"}
    pairs = PAIRS[:3].assign(query="hum", course="hi-fi", drawn="pool")
    session = judged(file, "", pairs)
    assert [*session.done.values()] == ["2", "0"]
    judge(session, "1")
    assert (tmp_path / "judgements-ann.csv.former").read_text() == OLD_FILE
    table = files.read_csv(file)
    assert table["grade"].tolist() == ["2", "0", "1"]
    assert table["time"].ne("").tolist() == [False, False, True]
    add(path, file)
    assert told_in(path, "grade") == {"a": "2", "d0": "1", "d1": "0", "d2": "1"}
    ben = judged(tmp_path / "judgements-ben.csv", "02", pairs).path
    add(path, file, ben)
    # hers was corrected to 1, so the 1 is of before
    assert told_in(path)["d0"] == "ann=2;before=1;ben=0"
    assert told_in(path)["d1"] == "ann=0;ben=2"


def test_a_file_whose_columns_stand_in_another_order_gets_rows_in_ours(tmp_path):
    path = tmp_path / "judgements-ann.csv"
    header = ",".join(["judge", "time", *corpus.JUDGED_COLUMNS, "grade"])
    path.write_text(f"{header}\nann,2026-11-28T10:00:00.000Z,q1,hum,hi-fi,vague,d0,2\n")
    session = judged(path, "1", PAIRS[:2].assign(query="hum", course="hi-fi"))
    assert [*session.done.values()] == ["2", "1"]
    assert grades_in(path) == ["2", "1"]
    assert {*files.read_csv(path)["judge"]} == {"ann"}


def test_a_damaged_mark_and_a_private_file_stop_nobody(tmp_path, monkeypatch):
    path, file = tmp_path / "judged-queries.csv", tmp_path / "judgements-ann.csv"
    path.write_text(OLD)
    add(path, judged(file, "21").path)
    content = path.read_bytes()
    for damaged in (b"\xff\0", b"", b'"', b"a,b\n1,2\n"):
        file.with_name(".judgements-ann.csv.added").write_bytes(damaged)
        add(path, file)
        assert path.read_bytes() == content
    monkeypatch.setattr(os, "access", lambda path, _: "ann" not in str(path))
    with pytest.warns(UserWarning, match=r"judgements-ann\.csv: not readable"):
        assert grading.judged_files(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_private_judgements_stay_private(tmp_path):
    path, file = tmp_path / "judged-queries.csv", tmp_path / "judgements-ann.csv"
    path.write_text(OLD)
    judged(file, "2")
    for private in (path, file):
        private.chmod(0o600)
    add(path, file)
    judged(file, "1")
    kept = {path.name for path in tmp_path.iterdir() if path.suffix != ".lock"}
    modes = {name: (tmp_path / name).stat().st_mode & 0o777 for name in kept}
    assert {*modes.values()} == {0o600}
    assert len(modes) == 4  # with the former, and what was added


@as_root
@pytest.mark.parametrize("mode", [0o2775, 0o775, 0o1777])
def test_a_second_person_judges_in_a_shared_folder(mode):
    """Where only the first may replace the judgements, the second's rows wait there."""
    with shared_folder(mode) as shared:
        path = shared / "judged-queries.csv"
        path.write_text(OLD)
        add(path, judged(shared / "judgements-ann.csv", "2").path)

        def of_ben():
            judged(shared / "judgements-ben.csv", "01")
            return add(path, *grading.judged_files(shared))

        said = as_somebody_else(of_ben)
        if mode == 0o1777:
            assert "judged-queries.csv" in str(said)
            assert "root's" in str(said)
        else:
            assert said == 3
        add(path, *grading.judged_files(shared))
        assert told_in(path) == {"a": "", "d0": "ann=2;ben=0", "d1": "ben=1"}


def test_a_query_of_several_lines_keeps_its_text(tmp_path):
    """A row of judgements-NAME.csv is one line, and the text of a query may not be."""
    path = tmp_path / "judged-queries.csv"
    PAIRS[:1].assign(grade="1").to_csv(path, index=False)
    add(path, judged(tmp_path / "judgements-me.csv", "01").path)
    table = files.read_csv(path)
    assert len(table) == 2
    assert {*table["query"]} == {PAIRS["query"][0]}


# --- In a terminal -----------------------------------------------------------------

SCALES = {
    "1": ([1], [0, 1, 2]),
    "up to 3": ([0, 3], [0, 1, 2, 3]),
    "halves": ([0, 0.5, 1], [0, 0.5, 1]),
    "hundredths": ([n / 100 for n in range(91)], [n / 10 for n in range(10)]),
}


@pytest.mark.parametrize(("grades", "scale"), SCALES.values(), ids=SCALES)
def test_the_keys_are_the_scale_of_the_folder(grades, scale):
    assert scale_of(pd.Series(grades)) == scale


FILES = {  # a folder, and what a run on it left: four pairs to judge
    "faq/documents.csv": "id,question,text\na b,A,a\nc,C,c\nd,D,d\ne,E,e\n",
    "faq/judged-queries.csv": f"{HEADER}q1,hum,all,vague,d,2\nq2,buzz,all,vague,d,1\n",
    "out/judge-next.csv": """query_id,query,course,kind,document,drawn
q1,hum,all,vague,a b,next
q2,buzz,all,vague,e,next
q1,hum,all,vague,c,next
q2,buzz,all,vague,c,next
""",
    "out/queries.csv": """queries,query_id,search,ndcg,found
judged,q1,own: last,0.1,c
judged,q1,own: lucky,0.9,a%20b c
judged,q1,own: plain,0.8,c d a%20b
""",
    "out/run.json": """{"by": "retrieval-evaluation-course", "data": "FOLDER",
"outputs": {"queries.csv": "", "judge-next.csv": ""}}""",
}


def in_terminal(words, keys):
    """What a terminal shows at each question; a key for each."""
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    process, terminal = pty.fork()
    if not process:
        words = [sys.executable, "-m", "evaluate_retrieval", *words]
        os.execv(sys.executable, words)
    before, shown = termios.tcgetattr(terminal), [""]
    with suppress(OSError):  # it has ended
        while text := os.read(terminal, 10_000).decode():
            shown[-1] += text
            if "grade:" in shown[-1] and len(shown) <= len(keys):
                os.write(terminal, keys[len(shown) - 1].encode())
                shown.append("")
    os.waitpid(process, 0)
    assert termios.tcgetattr(terminal) == before  # lines and echo, as it was
    return shown


def test_a_key_is_enough_and_both_lists_come_after_the_session(tmp_path):
    """Keys without Enter; an arrow, a letter and Enter itself change nothing."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text.replace("FOLDER", str(tmp_path / "faq")))
    keys = ["1", "\x1b[3~", "2", "u", "0", "\n", "x", "2", "?", "\x03"]
    words = ["judge", str(tmp_path / "faq"), "--out", str(tmp_path / "out")]
    shown = in_terminal(words, keys)
    assert grades_in(tmp_path / "faq/judgements-me.csv") == [*"1202"]
    lists = [n for n, text in enumerate(shown) if "own: " in text]
    assert lists == [len(keys)]  # q1 was complete before, but u goes back
    assert "own: last" not in shown[-1]  # the two best only
    assert re.search(r"1 +A +1 +C +0\s+2 +C +0 +D +2\s+3 +nothing +A +1", shown[-1])
    for text in shown[:-1]:
        assert text.rindex(asking.CLEAR) < text.index("QUERY  ")
        keys_in_sight = text[text.rindex("[") :]
        assert keys_in_sight.startswith(("[hum]", "[buzz]"))
        assert "2 answers it; ? later, u goes back, q ends" in keys_in_sight
    table = files.read_csv(tmp_path / "faq/judgements-me.csv")
    assert table["query"].tolist() == ["hum", "hum", "hum", "buzz"]  # not in turns
    in_all = "2 left of this query; 2 queries, about 1 minutes in all"
    assert in_all in " ".join(shown[0].split())
    assert len(documents_in(tmp_path / "faq/judged-queries.csv")) == 4


SPOILT = {  # what the last run has left, and somebody changed
    "a list without reasons": ("judge-next.csv", "query_id,query\nq1,hum\n"),
    "a list that was cut": ("judge-next.csv", 'query_id,query\n"q1,hum\n\n'),
    "a list of bytes": ("judge-next.csv", "\0\n\0\n"),
    "no metrics": ("queries.csv", "queries,query_id\njudged,q1\n"),
    "metrics that are words": (
        "queries.csv",
        "queries,query_id,search,ndcg,found\njudged,q1,own: a,high,c\n",
    ),
    "no rows": ("queries.csv", "queries,query_id,search,ndcg,found\n"),
    "nothing": ("queries.csv", ""),
}


@pytest.mark.filterwarnings("ignore:2 judged queries")
@pytest.mark.parametrize(("name", "text"), SPOILT.values(), ids=SPOILT)
def test_what_a_run_has_left_stops_no_judge(tmp_path, monkeypatch, name, text, caplog):
    log = "query_id,query\nq1,hum\nq2,buzz\nq3,crackle\n"
    contents = {**FILES, "faq/queries.csv": log, f"out/{name}": text}
    for place, content in contents.items():
        (tmp_path / place).parent.mkdir(exist_ok=True)
        content = content.replace("FOLDER", str(tmp_path / "faq"))
        (tmp_path / place).write_text(content)
    keys = iter(["1", "2", "0", "q"])
    monkeypatch.setattr(asking, "read_key", lambda: next(keys, "q"))
    words = ["judge", str(tmp_path / "faq"), "--out", str(tmp_path / "out")]
    assert main(words) == 0
    assert files.read_csv(tmp_path / "faq/judgements-me.csv")["grade"].iloc[0] == "1"
    told = "a new list is made" if "next" in name else "best searches are not shown"
    assert told in caplog.text


# --- Answers in words -----------------------------------------------------------

PAGES = {
    "red.md": "# Kettle\n\nWait a minute, then press the red button behind the lid.",
    "again.md": "# Kettle\n\nAlways press the red button behind the lid of a kettle.",
    "half.md": "# Router\n\nUnplug the router, count slowly, plug it in again.",
    "far.md": "# Ladder\n\nUnplug nothing: a ladder has no cable.",
}
GOLDEN = """question,answer
How do I start the kettle?,Press the red button behind the lid
How do I restart a router?,"Unplug the router, hold the switch"
May I paint the ladder?,Certainly with varnish
"""
FIRST = [  # the document with the answer in it, then by words; varnish is in none
    ("How do I start the kettle?", "again.md"),
    ("How do I start the kettle?", "red.md"),
    ("How do I restart a router?", "half.md"),
]


@pytest.fixture
def golden(tmp_path):
    """A folder of pages, and of questions with answers in words."""
    source = tmp_path / "faq"
    (source / "docs").mkdir(parents=True)
    for name, text in PAGES.items():
        (source / "docs" / name).write_text(text)
    (source / "golden_dataset.csv").write_text(GOLDEN)
    return source


def test_judge_asks_first_about_documents_that_have_the_words_of_answers(
    golden, tmp_path, monkeypatch
):
    """None counts before a person gave it a grade, and nobody is asked twice."""
    before = folder.read(golden)
    assert before.judgements.empty
    assert not before.test
    [note] = [note for note in before.notes if "answer in words" in note]
    assert note.startswith("golden_dataset.csv: 3 questions have an answer in words")
    assert "in one document for 0 of them, and in several for 1." in note
    assert "in some document for 2." in note
    keys = iter(["2", "u", "0", "q"])
    shown = []

    def key():
        """First these, then that of who reads the titles."""
        texts = [text for text in map(str, shown) if "QUERY  " in text]
        question, title, *_ = texts[-1].partition("QUERY  ")[2].split("\n\n")
        is_title = title.split()[0].lower() in question
        return next(keys, "2" if is_title else "0")

    monkeypatch.setattr(asking, "read_key", key)
    monkeypatch.setattr(asking.log, "info", lambda text, *_: shown.append(text))
    words = ["judge", str(golden), "--out", str(tmp_path / "out")]
    assert main(words) == 0
    questions = re.findall(r"QUERY  (.+)", "\n".join(map(str, shown)))
    assert len({*questions}) == 1  # its four pairs come before those of another one
    assert len(questions) == 4  # u came between
    assert main(words) == 0
    table = files.read_csv(golden / "judgements-me.csv")
    pairs = table.drop_duplicates(["query", "document"], keep="last")
    assert len(table) == len(pairs) + 1  # what u took back
    queries = [query for query, _ in itertools.groupby(pairs["query"])]
    assert len(queries) == 3  # all pairs of a query together
    assert (
        queries[2] == "May I paint the ladder?"
    )  # no document has words of its answer
    proposed = pairs[pairs["drawn"] == "answer"]
    shown_first = {*zip(proposed["query"], proposed["document"], strict=True)}
    assert shown_first == {(query, f"docs/{name}") for query, name in FIRST}
    assert {*pairs["drawn"]} == {"answer", "pool"}
    assert len(folder.read(golden).test["judged"]) == 3


def test_an_answer_goes_before_the_list_of_the_last_run_until_it_is_judged(
    golden, tmp_path
):
    """The question of a log keeps its id; one that is no query there is asked, too."""
    (golden / "queries.csv").write_text(
        "query_id,query\nk1,How do I start the kettle?\nk2,which cable\n"
    )
    header = "query_id,query,course,kind,document"
    kettle = "k1,How do I start the kettle?,all,tail,docs/again.md"
    cable = "k2,which cable,all,tail,docs/far.md"
    judged = f"{header},grade\n{kettle},2\n{cable.replace('far', 'half')},1\n"
    (golden / "judged-queries.csv").write_text(judged)
    out = tmp_path / "out"
    out.mkdir()
    (out / "judge-next.csv").write_text(f"{header},drawn\n{cable},next\n")
    of_run = {"by": manifest.SIGNED_BY, "data": str(golden)}
    of_run["outputs"] = {"judge-next.csv": ""}
    (out / "run.json").write_text(json.dumps(of_run))
    options = judge_command.JudgeOptions(source=golden, out=out)
    pairs = judge_command.pairs_to_judge(folder.read(golden), {}, options)
    assert pairs["document"].tolist() == ["docs/red.md", "docs/half.md", "docs/far.md"]
    assert pairs["query_id"].tolist()[::2] == ["k1", "k2"]
    assert pairs["drawn"].tolist() == ["answer", "answer", "next"]


def test_answers_without_a_course_are_looked_for_in_documents_of_all(tmp_path):
    rows = "id,course,text\na,tv,Press the red button twice\nb,radio,Turn the dial\n"
    (tmp_path / "documents.csv").write_text(rows)
    golden = "question,answer\nOn?,the red button\nLouder?,the dial\n"
    (tmp_path / "golden_dataset.csv").write_text(golden)
    pairs = next_pairs.of_answers(folder.read(tmp_path))
    assert pairs["document"].tolist() == ["a", "b"]
    assert {*pairs["kind"]} == {"tail"}
