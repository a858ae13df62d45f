"""What several tests share: a browser."""

import os
import shutil

import pytest


@pytest.fixture(scope="session")
def chromium():
    """Return the path of the browser's program.

    Without one the test is skipped, unless REQUIRE_CHROMIUM is set."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if not program and not os.environ.get("REQUIRE_CHROMIUM"):
        pytest.skip("no Chromium; on Debian: apt-get install chromium")
    return program


@pytest.fixture(scope="module")
def browser(chromium):
    """A Chromium that reaches this machine only, started once for a file."""
    from playwright.sync_api import sync_playwright  # half a second of every run

    words = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=chromium, args=words)
