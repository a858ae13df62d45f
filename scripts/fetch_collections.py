"""Fetch the collections that collections.toml lists, and write them in our own form.

COLLECTIONS, in the environment, names a folder that has the files. Nothing is
fetched then, and nothing is written into it. A collection is written, into the
folder `prepare_collections.PREPARED`, if all of its files have the right
SHA-256."""

import os
import sys
import tomllib
from pathlib import Path

import machine
import prepare_collections

from course import corpus

FILES = tomllib.loads(Path(__file__).with_name("collections.toml").read_text())
SITE = "https://github.com"


def fetch(path, file, site):
    """Fetch one file; what became of it, in words."""
    address = f"{site}/{file['repository']}/raw/{file['commit']}/{file['path']}"
    try:
        machine.download(address, path, file["sha256"])
    except machine.ERRORS as error:
        return f"not fetched: {error}"
    return "fetched"


def main(own=None, files=FILES, site=SITE):
    """Check the files, fetch what is missing, prepare; the number of missing files.

    own: a folder that has the files, else they are fetched."""
    folder = Path(own or corpus.CACHE / "collections")
    missing = []
    for name, file in files.items():
        path, state = folder / name, "right"
        if not machine.is_right(path, file["sha256"]):
            state = "missing or changed" if own else fetch(path, file, site)
        print(f"{name}: {state}")
        if state not in ("right", "fetched"):
            missing.append(name)
    print(f"{len(files) - len(missing)} of {len(files)} files are in {folder}")
    for name in prepare_collections.READERS:
        mine = [file for file in files if file.startswith(f"{name}/")]
        if mine and not {*mine} & {*missing}:
            into = prepare_collections.PREPARED / name
            print(f"{name}: {prepare_collections.prepare(folder / name, into)}")
    return len(missing)


if __name__ == "__main__":
    machine.parser(__doc__).parse_args()
    sys.exit(bool(main(os.environ.get("COLLECTIONS"))))
