"""Where other people's collections are, for tests; None without any.

COLLECTIONS names their folder. Else they may lie beside the checkout, as in CI, or
where `make collections` fetches them."""

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

import prepare_collections

from evaluate_retrieval.reading import places

FOLDERS = [
    os.environ.get("COLLECTIONS", ""),
    places.ROOT.parent / "shared" / "collections",
    places.CACHE / "collections",
]
COLLECTIONS = next((Path(f) for f in FOLDERS if f and Path(f).is_dir()), None)


def folder(name):
    """The folder of a collection's files, or None."""
    return COLLECTIONS / name if COLLECTIONS and (COLLECTIONS / name).is_dir() else None


@cache
def prepared():
    """The folder of the prepared collections, made once; it is gone at the end."""
    into = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, into)
    for name in filter(folder, prepare_collections.READERS):
        prepare_collections.prepare(folder(name), into / name)
    return into
