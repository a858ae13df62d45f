"""Test judging in notebook 06.

The tests see what stands in the files, and use the keyboard in a real JupyterLab."""

import os

import nbformat
import pandas as pd
from notebook_cells import namespace_of
from playwright.sync_api import sync_playwright

import corpus

NAME = "06-judging"
NB = namespace_of(NAME, "judging")
DOCUMENTS = [{"id": f"d{n}", "question": "<b>", "text": "é\n{}"} for n in range(4)]
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
    judging = NB["Judging"](pairs, path)
    for key in keys:
        NB["judge"](judging, key)
    return judging


def test_a_file_cut_at_any_byte_is_resumed_and_no_whole_row_is_lost(tmp_path, capsys):
    content, path = (
        judged(tmp_path / "all.csv", "0120").path.read_bytes(),
        tmp_path / "cut.csv",
    )
    for size in range(len(content)):
        path.write_bytes(content[:size])
        whole = max(0, content[:size].count(b"\n") - 1)
        assert repr(judged(path)) == f"cut.csv: {whole} of 4 judged"
        assert ("is cut off" in capsys.readouterr().out) == (
            content[:size][-1:] not in b"\n"
        )
        assert judged(path, "0120"[whole:]).path.read_bytes() == content
        capsys.readouterr()


def test_u_goes_back_and_the_later_row_counts(tmp_path):
    judging = judged(tmp_path / "a.csv", "u01xu2uu1")
    assert [row[-1] for row in judging.path.read_text().splitlines()[1:]] == [*"0121"]
    assert (
        [*judged(judging.path).done.values()] == [*judging.done.values()] == ["2", "1"]
    )


def test_the_panel_says_what_is_not_stored_and_stores_mended_questions(tmp_path):
    items, path = (
        PAIRS[["document"]][:3].assign(question=[*"abc"]),
        tmp_path / "gone" / "a.csv",
    )
    view = NB["panel"](NB["Judging"](items, path, "decision"), DOCUMENTS)
    view.buttons["k"].click()
    assert view.page.value.startswith("<b>Not stored")
    path.parent.mkdir()
    for _ in "kk":  # the second comes too soon
        view.key.value = "k"
    view.buttons["m"].click()
    view.typed.value = " better "
    view.buttons["d"].click()
    assert path.read_text().splitlines()[1:] == [
        "d0,a,keep,",
        "d1,b,mend,better",
        "d2,c,drop,",
    ]


def test_merge_holds_agreed_and_adjudicated_grades_and_counts_the_rest(
    tmp_path, capsys
):
    paths = (
        judged(tmp_path / "1.csv", "0121").path,
        judged(tmp_path / "2.csv", "021").path,
    )
    table = NB["side_by_side"](*paths)
    differ = table.dropna().query("pass_1 != pass_2")[corpus.JUDGED_COLUMNS]
    merged = NB["merge"](table, judged(tmp_path / "3.csv", "1", differ).path)
    counts = [int(word) for word in capsys.readouterr().out.split() if word.isdigit()]
    assert counts == [2, 1, 1]  # merged, by one person only, not adjudicated
    merged.to_csv(tmp_path / "judged-queries.csv", index=False)
    assert [*merged] == [*corpus.JUDGED_COLUMNS, "grade", "pass_1", "pass_2"]
    assert corpus.load_judged_queries(tmp_path)[1] == [{"d0": 0, "d1": 1}]


def test_keys_in_a_real_jupyterlab_are_rows_even_if_the_kernel_is_killed(
    tmp_path, chromium, lab
):
    notebook = nbformat.read(corpus.ROOT / f"notebooks/{NAME}.ipynb", 4)
    cells = [cell for cell in notebook.cells if "tags" in cell.metadata]
    cells = [
        cell.source for cell in cells if {"imports", "judging"} & {*cell.metadata.tags}
    ]
    (tmp_path / "tagged.py").write_text("\n".join(cells), "utf-8")
    judging = f"Judging(pd.DataFrame({PAIRS.to_dict('records')}), 'a.csv')"
    source = (
        f"from tagged import *\ndisplay(panel({judging}, {DOCUMENTS}))\nos.getpid()"
    )
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=chromium).new_page()
        press_keys(page, lab(source))
    rows = (tmp_path / "a.csv").read_text().splitlines()[1:]
    assert [row[-4:] for row in rows] == ["d0,2", "d0,1", "d1,0", "d2,2"]


def press_keys(page, address):
    """Run the cell, press keys, and kill the kernel: twice."""
    page.set_default_timeout(90_000)
    page.goto(address)
    pid, killed = page.locator(".jp-OutputArea-executeResult pre"), "none"
    first = [("2", "1 of 4"), ("u", "here: 2"), ("1", "1 of 4"), ("0", "2 of 4")]
    for steps in [first, [("2", "3 of 4")]]:
        page.get_by_text("| Idle").wait_for()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text("Run All Cells", exact=True).click()
        pid.filter(has_not_text=killed).wait_for()
        page.get_by_placeholder("keys go here").click()
        for key, said in steps:
            page.wait_for_timeout(400)  # not too soon after the key before
            page.keyboard.press(key)
            page.locator(".widget-html").filter(has_text=said).wait_for()
        killed = pid.inner_text()
        os.kill(int(killed), 9)
        page.get_by_role("button", name="Ok").click()
