"""Test the sliders of plots.play and the keys of judging in a real JupyterLab.

In a browser a slider is moved, and the picture has to follow."""

from contextlib import contextmanager

from playwright.sync_api import sync_playwright
from test_judging import DOCUMENTS, PAIRS

STEPS = [("2", "1 of 4"), ("u", "here: 2"), ("1", "1 of 4"), ("0", "2 of 4")]

SOURCE = """
import pandas as pd
from course import plots
def bars(weight):
    plots.bars(pd.Series({"a": weight}), f"weight {weight}", "share")
plots.play(bars, weight=(0, 1, 0.5, 0.5))
"""


@contextmanager
def page_of(address, chromium):
    """A page of a browser that has run the cells of a JupyterLab."""
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=chromium).new_page()
        page.set_default_timeout(90_000)
        page.goto(address)
        page.get_by_text("| Idle").wait_for()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text("Run All Cells", exact=True).click()
        yield page


def test_a_picture_follows_its_slider(lab, chromium):
    with page_of(lab(SOURCE), chromium) as page:
        picture = page.locator(".jp-OutputArea-output img")
        before = picture.get_attribute("src")
        page.locator(".noUi-handle").press("ArrowRight")
        page.locator(".widget-readout").filter(has_text="1.00").wait_for()
        changed = "before => document.querySelector('.jp-OutputArea-output img').src"
        page.wait_for_function(f"{changed} != before", arg=before)
        assert picture.count() == 1


def test_keys_in_a_real_jupyterlab_are_rows_as_soon_as_the_page_says_so(
    tmp_path, chromium, lab
):
    judging = f"Judging(pd.DataFrame({PAIRS.to_dict('records')}), 'a.csv')"
    source = f"from course.judging import *\ndisplay(panel({judging}, {DOCUMENTS}))"
    with page_of(lab(source), chromium) as page:
        page.get_by_placeholder("keys go here").click()
        for key, progress in STEPS:
            page.wait_for_timeout(400)  # not too soon after the key before
            page.keyboard.press(key)
            page.locator(".widget-html").filter(has_text=progress).wait_for()
        rows = (tmp_path / "a.csv").read_text().splitlines()[1:]
    assert [row[-4:] for row in rows] == ["d0,2", "d0,1", "d1,0"]
