"""Test the sliders of plots.play in a real JupyterLab.

In a browser a slider is moved, and the picture has to follow."""

from playwright.sync_api import sync_playwright

SOURCE = """
import pandas as pd, plots
def bars(weight):
    plots.bars(pd.Series({"a": weight}), f"weight {weight}", "share")
plots.play(bars, weight=(0, 1, 0.5, 0.5))
"""


def test_a_picture_follows_its_slider(lab, chromium):
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=chromium).new_page()
        page.set_default_timeout(90_000)
        page.goto(lab(SOURCE))
        page.get_by_text("| Idle").wait_for()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text("Run All Cells", exact=True).click()
        picture = page.locator(".jp-OutputArea-output img")
        before = picture.get_attribute("src")
        page.locator(".noUi-handle").press("ArrowRight")
        page.locator(".widget-readout").filter(has_text="1.00").wait_for()
        changed = "before => document.querySelector('.jp-OutputArea-output img').src"
        page.wait_for_function(f"{changed} != before", arg=before)
        assert picture.count() == 1
