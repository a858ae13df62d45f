"""Make .venv and install the course, with the word `test` what its tests need too.

Written for any Python 3, so that one that is too old can say so.
"""

import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")


def problem():
    """Why this Python cannot run the course, in one line that says what to type; or None."""
    version = ".".join(map(str, sys.version_info[:2]))
    if sys.version_info[:2] < (3, 11):  # noqa: UP036
        needed = f"Python 3.11 or newer is needed, {sys.executable} is {version}"
        return f"{needed}. Type: make PYTHON=python3.12"
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return f"this Python has no venv module. Type: sudo apt install python{version}-venv"


def of_another_python():
    """Whether .venv was made by another version of Python, or is broken."""
    python = os.path.join(VENV, "Scripts" if os.name == "nt" else "bin", "python")
    code = f"import sys; sys.exit(sys.version_info[:2] != {tuple(sys.version_info[:2])})"
    return not os.path.exists(python) or subprocess.call([python, "-c", code]) != 0


def main():
    if problem():
        sys.exit("error: " + problem())
    if os.path.exists(VENV) and of_another_python():
        print("The .venv of another Python is made anew.")
        shutil.rmtree(VENV)
    if not os.path.exists(VENV):
        subprocess.check_call([sys.executable, "-m", "venv", VENV])
    python = os.path.join(VENV, "Scripts" if os.name == "nt" else "bin", "python")
    what = ["-e", ".[test]"] if "test" in sys.argv else ["-r", "requirements.txt"]
    command = [python, "-m", "pip", "install", *what, "-c", "constraints.txt"]
    sys.exit(subprocess.call(command, cwd=ROOT))


if __name__ == "__main__":
    main()
