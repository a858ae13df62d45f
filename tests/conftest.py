"""What several tests share: a browser, and a JupyterLab."""

import json
import os
import shutil
import subprocess
import sys
import time

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook


@pytest.fixture
def chromium():
    """Return the path of the browser's program.

    Without one the test is skipped, unless REQUIRE_CHROMIUM is set."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if not browser and not os.environ.get("REQUIRE_CHROMIUM"):
        pytest.skip("no Chromium; on Debian: apt-get install chromium")
    return browser


@pytest.fixture
def lab(tmp_path):
    """A function: start a JupyterLab in tmp_path, and return its address.

    It opens a.ipynb, whose only cell has the source that is given."""
    runtime = tmp_path / "run"
    servers = []

    def start(source):
        notebook = new_notebook(cells=[new_code_cell(source)])
        notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
        nbformat.write(notebook, tmp_path / "a.ipynb")
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
        command += ["--port=0", "--ip=127.0.0.1", "--IdentityProvider.token=t"]
        folders = {"HOME": str(tmp_path), "JUPYTER_RUNTIME_DIR": str(runtime)}
        server = subprocess.Popen(command, cwd=tmp_path, env=os.environ | folders)
        servers.append(server)
        while server.poll() is None and not list(runtime.glob("jpserver-*.json")):
            time.sleep(0.2)
        [info] = runtime.glob("jpserver-*.json")
        return json.loads(info.read_text())["url"] + "lab/tree/a.ipynb?token=t"

    yield start
    for server in servers:
        server.terminate()
        server.wait(60)
