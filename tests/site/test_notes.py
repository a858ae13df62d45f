"""Test the pages to print: a lesson's notes and the handout."""

import re

import notes
import pytest

pytestmark = pytest.mark.slow


def test_each_page_fits_on_one_sheet_of_paper(tmp_path, browser):
    page = browser.new_page()
    for path in notes.write(tmp_path):
        page.goto(path.as_uri())
        printed = page.pdf(prefer_css_page_size=True)
        assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1, path.name
