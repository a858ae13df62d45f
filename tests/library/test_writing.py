"""What we write, we can read; and a file that is replaced keeps what it was."""

import ast
import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from refusals import refused
from second_person import NOBODY, as_root, as_somebody_else, shared_folder

from evaluate_retrieval.judging import sample
from evaluate_retrieval.reading import files, graded, kept, locks, places, writing
from evaluate_retrieval.reading.opening import open_tables

# each control character, line end, formula, mark of Unicode, quote and separator
CONTROLS = [*map(chr, range(32)), *map(chr, range(0x7F, 0xA0))]
ODD = st.text([*CONTROLS, *"'\"=+-@＝;,| a1\u2028\u2029\u202e\u200b\ufeff\ue000é"])
TEXTS = ODD | st.text()  # of hypothesis, no half surrogate pairs
NAMES = st.lists(TEXTS, min_size=2, max_size=4, unique=True).filter(all)
MANY = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200
)
on_posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")


# --- Tables ------------------------------------------------------------------


@MANY
@given(names=NAMES, data=st.data())
def test_a_table_is_read_as_it_was_written(tmp_path, names, data):
    """Also the names of columns: they are the user's, too."""
    row = st.lists(TEXTS, min_size=len(names), max_size=len(names))
    rows = data.draw(st.lists(row, min_size=1, max_size=4))
    path = tmp_path / "table.csv"
    writing.write_table(pd.DataFrame(rows, columns=names), path)
    table = files.read_csv(path)
    assert [*table] == names
    assert table.to_numpy().tolist() == rows
    [opened] = open_tables(path)  # by the reader of other people's files
    table = files.plain_table(opened.frame)
    assert ([*table], table.to_numpy().tolist()) == (names, rows)


@given(text=TEXTS)
def test_no_cell_begins_with_what_a_spreadsheet_computes(text):
    cell = files.text_cell(text)
    is_number = cell == text and text.strip("+-.,0123456789eE") == ""
    shown = "".join(letter for letter in cell if letter.isprintable()).strip()
    assert is_number or shown[:1] not in {*"=+-@＝＋－＠"}
    assert files.plain_cell(cell) == text


def test_a_long_run_of_blanks_takes_no_quadratic_time():
    started = time.monotonic()
    for text in ("\n" * 300_000, "'\n" * 100_000 + "=", "\t" * 300_000 + "=1"):
        assert files.plain_cell(files.text_cell(text)) == text
    assert time.monotonic() - started < 5


def test_numbers_truths_and_nothing_are_as_pandas_writes_them(tmp_path):
    columns = {"a": [0.1, None, 1e-7], "b": [1, 2, 3], "c": [True, False, True]}
    table = pd.DataFrame(columns).assign(d=["x", None, "y"])
    writing.write_table(table, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == table.to_csv(index=False)


@MANY
@given(text=st.text(["\ud800", *"a,\n\r"]))
def test_half_a_surrogate_pair_becomes_a_question_mark(tmp_path, text):
    table = pd.DataFrame({"a": [text], "b": "x"}, dtype=object)
    writing.write_table(table, tmp_path / "a.csv")
    assert files.read_csv(tmp_path / "a.csv")["a"][2] == text.replace("\ud800", "?")


CUT = {
    "nothing": ("", None),
    "a quote": ('a,b\n"x', 2),
    "a cell of several lines": ('a,b\n"x\ny",1\n"z\r', 4),
    "a field too many": ("a,b\n1,2\n1,2,3\n", 3),
    "a field too few": ('a,b\n"x\r\r\ny",2\n1\n', 5),
}


@pytest.mark.parametrize(("text", "line"), CUT.values(), ids=CUT)
def test_what_is_no_table_is_an_error_that_names_the_line(text, line):
    with refused("here.csv", line=line):
        files.table_of(text, "here.csv")


def test_names_of_columns_are_told_apart_and_lines_are_those_of_the_file():
    table = files.table_of('a,a,\n\n"x\ry\r\nz",2,3\n4,5,6\n', "a.csv")
    assert [*table] == ["a", "a.1", "Unnamed: 2"]
    assert table.index.tolist() == [3, 6]


# Files that have a reader of their own: how one is written and read, with texts
@MANY
@given(query=TEXTS.filter(str.strip), id_=ODD.filter(str.strip), cause=TEXTS)
def test_each_reader_of_ours_has_what_was_written(tmp_path, query, id_, cause):
    causes = {"query_id": [id_], "search": ["=s"], "your cause": [cause]}
    writing.write_table(pd.DataFrame(causes), tmp_path / "failures.csv")
    told = kept.written_causes(tmp_path)["your cause"].tolist()
    assert told == ([cause] if cause.strip() else [])
    assert kept.freeze(tmp_path, {id_: "=a need"}) == ""
    assert kept.read_kept(tmp_path).needs == {id_: "=a need"}
    (tmp_path / kept.FROZEN).unlink()
    table = pd.DataFrame(
        {"query_id": [id_], "query": [query], "document": ["=d"], "grade": "1"}
    )
    writing.write_table(table, tmp_path / "judged-queries.csv")
    read = graded.judged_table(tmp_path / "judged-queries.csv").frame
    assert read.to_numpy().tolist() == table.to_numpy().tolist()
    drawn = {"place": [1], "query_id": [id_], "query": [query], "course": "all"}
    drawn |= {"kind": "head", "lines": 2, "drawn": True, "weight": 1.0}
    sample.keep_sample(pd.DataFrame(drawn), tmp_path)
    assert kept.read_kept(tmp_path).sample["query"].tolist() == [query]


WRITERS = {"to_csv", "writer", "DictWriter", "write_text", "write_bytes", "savez"}
WRITERS |= {"dump", "replace_file", "touch", "savez_compressed", "copyfile"}
# What is written elsewhere, and why it may be
ELSEWHERE = {
    ("judging/grading.py", "open"),  # each grade is appended
    ("searching/onnx_model.py", "open"),  # into a folder that is renamed
    ("searching/onnx_model.py", "write_bytes"),
    ("reading/locks.py", "touch"),  # an empty file
    ("reading/exporting.py", "to_csv"),  # into a text
}


def test_all_files_of_the_library_are_written_by_one_module():
    root = places.ROOT / "evaluate_retrieval"
    there = set()
    for path in root.rglob("*.py"):
        name = path.relative_to(root).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            is_method = isinstance(node.func, ast.Attribute)
            called = node.func.attr if is_method else getattr(node.func, "id", "")
            modes = [each.value for each in node.args if isinstance(each, ast.Constant)]
            if is_method and called in WRITERS:
                there.add((name, called))
            if ast.unparse(node.func) in {"shutil.copy", "shutil.copy2", "shutil.move"}:
                there.add((name, called))
            if called == "open" and {"w", "wb", "x", "a", "ab"} & {*map(str, modes)}:
                there.add((name, called))
    assert {each for each in there if "writing" not in each[0]} == ELSEWHERE


@given(before=st.text(max_size=9), texts=st.lists(st.text(max_size=9), max_size=3))
def test_what_is_appended_leaves_what_stands_there(tmp_path_factory, before, texts):
    path = tmp_path_factory.mktemp("a") / "summary.md"
    content = before.encode(errors="replace")
    path.write_bytes(content)
    for text in texts:
        writing.append_text(path, text)
        added = path.read_bytes().removeprefix(content)
        # a paragraph of its own, also where nobody has ended the last line
        assert added == f"{chr(10) * 2 if content else ''}{text}\n".encode()
        content += added


def test_two_processes_append_to_one_summary_and_nothing_is_lost(tmp_path):
    path = tmp_path / "summary.md"
    code = "import sys; from evaluate_retrieval.reading.writing import append_text\n"
    code += "for n in range(200): append_text(sys.argv[1], sys.argv[2] * 300 + str(n))"
    command = [sys.executable, "-c", code, str(path)]
    processes = [subprocess.Popen([*command, letter]) for letter in "ab"]
    assert [process.wait(60) for process in processes] == [0, 0]
    lines = [line for line in path.read_text().split("\n") if line]
    assert sorted(lines) == sorted(x * 300 + str(n) for x in "ab" for n in range(200))


@pytest.mark.parametrize("room", ["course", "scripts", "notebooks"])
def test_no_other_module_writes_a_table_of_its_own(room):
    paths = (places.ROOT / room).rglob("*.py")
    texts = {path.name: path.read_text("utf-8") for path in paths}
    own = [name for name in texts if ".to_csv(" in texts[name]]
    assert not own + [name for name in texts if "csv.writer(" in texts[name]]


# --- What a file keeps -------------------------------------------------------


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@on_posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444, 0o4755])
def test_a_file_that_is_replaced_keeps_its_mode_and_so_does_the_former(tmp_path, mode):
    path = tmp_path / "a.csv"
    path.write_text("before")
    path.chmod(mode)
    former = tmp_path / "a.csv.former"
    former.write_text("of another mode")
    writing.write_table(pd.DataFrame({"a": ["b"]}), path, keep_former=True)
    assert (mode_of(path), mode_of(former)) == (mode, mode)
    assert former.read_text() == "before"


@on_posix
def test_a_new_file_is_as_the_umask_says_or_as_another_one(tmp_path):
    private = tmp_path / "private"
    private.write_text("a")
    private.chmod(0o600)
    before = os.umask(0o027)
    try:
        writing.write_text(tmp_path / "a", "a")
        writing.write_text(tmp_path / "b", "a", like=private)
    finally:
        os.umask(before)
    assert (mode_of(tmp_path / "a"), mode_of(tmp_path / "b")) == (0o640, 0o600)


@as_root
def test_a_file_keeps_its_owner_and_group(tmp_path):
    path = tmp_path / "a"
    path.write_text("a")
    os.chown(path, NOBODY, 4242)
    writing.write_text(path, "b")
    assert (path.stat().st_uid, path.stat().st_gid) == (NOBODY, 4242)


def test_a_file_keeps_what_the_disk_says_of_it(tmp_path):
    """As lists of access, which are such attributes, too."""
    path = tmp_path / "a"
    path.write_text("a")
    try:
        os.setxattr(path, "user.said", b"kept")
    except (AttributeError, OSError):
        pytest.skip("this disk keeps no attributes")
    writing.write_text(path, "b")
    assert os.getxattr(path, "user.said") == b"kept"


def test_a_link_stays_one(tmp_path):
    (tmp_path / "there").write_text("a")
    (tmp_path / "link").symlink_to(tmp_path / "there")
    writing.write_text(tmp_path / "link", "b")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there").read_text() == "b"


def test_a_new_file_takes_no_others_place(tmp_path):
    writing.write_text(tmp_path / "a", "first", is_new=True)
    with pytest.raises(FileExistsError) as caught:
        writing.write_text(tmp_path / "a", "second", is_new=True)
    assert Path(caught.value.filename2 or caught.value.filename) == tmp_path / "a"
    assert (tmp_path / "a").read_text() == "first"
    assert len([*tmp_path.iterdir()]) == 1


def test_an_error_names_the_file_and_leaves_nothing(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        writing.write_text(tmp_path / "folder", "a")
    assert Path(caught.value.filename2 or caught.value.filename).name == "folder"
    with pytest.raises(FileNotFoundError) as caught:
        writing.write_text(tmp_path / "gone" / "a", "a")
    assert Path(caught.value.filename) == tmp_path / "gone" / "a"
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_names_may_be_as_long_as_the_disk_allows(tmp_path):
    name = "é" * 125 + ".trec"
    writing.write_text(tmp_path / name, "a")
    assert [path.name for path in tmp_path.iterdir()] == [name]


# --- What is left of the dead ------------------------------------------------

STOP_WHILE_WRITING = """
import sys, time
from evaluate_retrieval.reading import writing

def wait(*_):
    print("the new content lies beside", flush=True)
    time.sleep(60)

writing.os.replace = wait
writing.write_text(sys.argv[1], "x" * 3_000_000)
"""


def left_in(folder):
    return [path for path in folder.iterdir() if path.name.endswith(".new")]


@on_posix
def test_what_a_killed_process_has_left_is_removed_and_that_of_a_live_one_is_not(
    tmp_path,
):
    path = tmp_path / "a"
    words = [sys.executable, "-c", STOP_WHILE_WRITING, str(path)]
    process = subprocess.Popen(words, cwd=places.ROOT, stdout=subprocess.PIPE)
    process.stdout.readline()
    process.kill()
    process.communicate()
    assert left_in(tmp_path)
    host = writing.HOST
    alive = tmp_path / f".a.{host}-{os.getpid()}-12345678.new"
    elsewhere = tmp_path / ".a.elsewhere-7-12345678.new"
    others = tmp_path / ".ab.elsewhere-7-12345678.new"
    older = tmp_path / ".a.7.new"  # as up to version 1.3
    for each in (alive, elsewhere, others, older):
        each.write_text("a")
    os.utime(older, (0, 0))
    writing.write_text(path, "b")
    assert {*left_in(tmp_path)} == {alive, elsewhere, others}
    assert path.read_text() == "b"
    os.utime(elsewhere, (0, 0))
    writing.write_text(path, "c")
    assert {*left_in(tmp_path)} == {alive, others}


@on_posix
def test_a_scratch_folder_of_a_dead_process_is_removed(tmp_path):
    dead = tmp_path / f".model.{writing.HOST}-999999999-12345678.new"
    (dead / "new").mkdir(parents=True)
    made = writing.scratch_folder(tmp_path / "model")
    assert [*tmp_path.iterdir()] == [made]


# --- Several people ----------------------------------------------------------


def write_and_lock(folder):
    """What a second person does in a folder: the names of what is there then."""
    with locks.held(folder / "judged.csv"):
        table = pd.DataFrame({"a": ["second"]})
        writing.write_table(table, folder / "judged.csv", keep_former=True)
    writing.make_folder(folder / "judging" / "looks")
    writing.write_text(folder / "judging" / "looks" / "2.json", "{}", is_new=True)
    return sorted(path.name for path in folder.iterdir())


@as_root
@pytest.mark.parametrize("mode", [0o2775, 0o775, 0o777])
def test_a_second_person_writes_where_the_folder_lets_them(mode):
    with shared_folder(mode) as shared:
        with locks.held(shared / "judged.csv"):
            writing.write_table(pd.DataFrame({"a": ["first"]}), shared / "judged.csv")
        writing.make_folder(shared / "judging")
        said = as_somebody_else(write_and_lock, shared)
        assert said == ["judged.csv", "judged.csv.former", "judged.csv.lock", "judging"]
        assert "second" in (shared / "judged.csv").read_text()
        assert "first" in (shared / "judged.csv.former").read_text()
        assert (shared / "judging/looks/2.json").stat().st_uid == NOBODY


@as_root
def test_a_lock_of_an_older_version_is_opened_by_its_owner():
    with shared_folder(0o2775) as shared:
        (shared / "judged.csv.lock").touch(0o644)
        (shared / "judged.csv").write_text("a")
        (shared / "judging").mkdir()
        (shared / "judging").chmod(0o2775)
        said = as_somebody_else(write_and_lock, shared)
        assert isinstance(said, PermissionError)
        assert "judged.csv.lock root's" in str(said)
        with locks.held(shared / "judged.csv"):
            pass
        assert "judged.csv.former" in as_somebody_else(write_and_lock, shared)


@as_root
def test_where_a_second_person_may_not_write_an_error_says_whose_it_is():
    with shared_folder(0o755) as shared:
        with locks.held(shared / "judged.csv"):
            writing.write_table(pd.DataFrame({"a": ["first"]}), shared / "judged.csv")
        said = as_somebody_else(write_and_lock, shared)
        assert isinstance(said, PermissionError)
        for part in ("root's", "chmod g+w", "judged.csv.lock"):
            assert part in str(said)
        shared.chmod(0o1777)  # all may write, and nobody may replace what is another's
        (shared / "judged.csv.lock").chmod(0o666)
        said = as_somebody_else(write_and_lock, shared)
        assert isinstance(said, PermissionError)
        assert not left_in(shared)
        assert "first" in (shared / "judged.csv").read_text()


@on_posix
def test_no_folder_is_open_to_all_only_because_tmp_is(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir(0o755)
    before = os.umask(0o022)
    try:
        writing.make_folder(shared / "a" / "b")
        assert mode_of(shared / "a" / "b") == 0o755
        shared.chmod(0o1777)
        writing.make_folder(shared / "c")
        assert mode_of(shared / "c") == 0o755
        shared.chmod(0o770)
        writing.make_folder(shared / "d")
        assert mode_of(shared / "d") == 0o775
    finally:
        os.umask(before)


def test_a_kept_file_of_json_is_whole_and_one_of_another_version_is_named(tmp_path):
    kept.keep_first_kind(tmp_path, "listed")
    assert kept.first_kind(tmp_path) == "listed"
    path = tmp_path / kept.FIRST if (tmp_path / kept.FIRST).exists() else None
    path = path or tmp_path / "judging" / kept.FIRST
    for content in ("[" * 100_000, "{", json.dumps({"other": 1})):
        path.write_text(content)
        with refused(kept.FIRST, advice="take it out"):
            kept.first_kind(tmp_path)
