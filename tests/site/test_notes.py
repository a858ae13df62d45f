"""Test the pages to print: a lesson's notes and the handout."""

import re
import subprocess

import notes
import pytest

pytestmark = pytest.mark.slow


def test_each_page_fits_on_one_sheet_of_paper(tmp_path, chromium):
    for path in notes.write(tmp_path):
        sheet = path.with_suffix(".pdf")
        command = [chromium, "--headless", "--no-sandbox", "--disable-gpu"]
        command += ["--no-pdf-header-footer", f"--print-to-pdf={sheet}"]
        subprocess.run([*command, path.as_uri()], check=True, capture_output=True)
        assert len(re.findall(rb"/Type\s*/Page\b", sheet.read_bytes())) == 1, path.name
