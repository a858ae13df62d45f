"""Where the code, its data and its cache lie."""

import os
from pathlib import Path

from platformdirs import user_cache_path

ROOT = Path(__file__).resolve().parents[2]  # of a checkout: the folder of utils.py
IS_CHECKOUT = (ROOT / "pyproject.toml").exists()  # else it was installed
CACHE = ROOT / ".cache" if IS_CHECKOUT else user_cache_path("retrieval-evaluation")


def locate(path: str | Path) -> Path:
    """The path from here, the shell's folder or ROOT, where it exists.

    Else the path as it is given."""
    # a kernel starts in the folder of its notebook, and not in the shell's
    for base in ("", os.environ.get("PWD", ""), ROOT):
        candidate = Path(base, path).resolve()
        if candidate.exists():
            return candidate
    return Path(path)
