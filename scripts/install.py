"""Make .venv and install the course, with the word `test` what its tests need too.

Written for any Python 3, so that one that is too old can say so."""

import os
import subprocess
import sys
from importlib.util import find_spec

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "Scripts" if os.name == "nt" else "bin", "python")


def main():
    """Install; where this Python cannot run the course, a line says why and what to type."""
    version = ".".join(map(str, sys.version_info[:2]))
    if sys.version_info[:2] < (3, 11):  # noqa: UP036
        needed = f"error: Python 3.11 or newer is needed, {sys.executable} is {version}"
        sys.exit(f"{needed}. Type: make PYTHON=python3.12")
    if not (find_spec("ensurepip") and find_spec("venv")):
        missing = f"Type: sudo apt install python{version}-venv"
        sys.exit(f"error: this Python has no venv module. {missing}")
    same = f"import sys; sys.exit(sys.version_info[:2] != {tuple(sys.version_info[:2])})"
    if not os.path.exists(PYTHON) or subprocess.call([PYTHON, "-c", same]):  # other, or broken
        if os.path.exists(VENV):
            print("The .venv of another Python is made anew.")
        subprocess.check_call([sys.executable, "-m", "venv", "--clear", VENV])
    what = ["-e", ".[test]"] if "test" in sys.argv else ["-r", "requirements.txt"]
    command = [PYTHON, "-m", "pip", "install", *what, "-c", "constraints.txt"]
    sys.exit(subprocess.call(command, cwd=ROOT))


if __name__ == "__main__":
    main()
