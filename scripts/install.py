"""Make .venv and install the course, with the word `test` what its tests need too.

Written for any Python 3, so that one that is too old can say so."""

import os
import subprocess
import sys
from importlib.util import find_spec

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "Scripts" if os.name == "nt" else "bin", "python")


def problem():
    """Why this Python cannot run the course, in one line that says what to type; or None."""
    version = ".".join(map(str, sys.version_info[:2]))
    if sys.version_info[:2] < (3, 11):  # noqa: UP036
        needed = f"Python 3.11 or newer is needed, {sys.executable} is {version}"
        return f"{needed}. Type: make PYTHON=python3.12"
    if not (find_spec("ensurepip") and find_spec("venv")):
        return f"this Python has no venv module. Type: sudo apt install python{version}-venv"


def usable():
    """Whether there is a .venv, made by this version of Python, that is not broken."""
    code = f"import sys; sys.exit(sys.version_info[:2] != {tuple(sys.version_info[:2])})"
    return os.path.exists(PYTHON) and subprocess.call([PYTHON, "-c", code]) == 0


def main():
    if problem():
        sys.exit("error: " + problem())
    if not usable():
        if os.path.exists(VENV):
            print("The .venv of another Python is made anew.")
        subprocess.check_call([sys.executable, "-m", "venv", "--clear", VENV])
    what = ["-e", ".[test]"] if "test" in sys.argv else ["-r", "requirements.txt"]
    command = [PYTHON, "-m", "pip", "install", *what, "-c", "constraints.txt"]
    sys.exit(subprocess.call(command, cwd=ROOT))


if __name__ == "__main__":
    main()
