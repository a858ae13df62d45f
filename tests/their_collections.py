"""Where other people's collections are, for tests; None without any.

COLLECTIONS names their folder. Else they may lie beside the checkout, as in CI, or
where `make collections` fetches them."""

import os
from pathlib import Path

from course import corpus

FOLDERS = [
    os.environ.get("COLLECTIONS", ""),
    corpus.ROOT.parent / "shared" / "collections",
    corpus.collections_folder(),
]
COLLECTIONS = next((Path(f) for f in FOLDERS if f and Path(f).is_dir()), None)


def folder(name):
    """The folder of a collection, or None."""
    return COLLECTIONS / name if COLLECTIONS and (COLLECTIONS / name).is_dir() else None
