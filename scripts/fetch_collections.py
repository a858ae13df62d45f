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
import pooch
import prepare_collections

from evaluate_retrieval.reading import places

FILES = tomllib.loads(Path(__file__).with_name("collections.toml").read_text())
SITE = "https://github.com"


def main(own=None, files=FILES, site=SITE):
    """Check the files, fetch what is missing, prepare; the number of missing files.

    own: a folder that has the files, else they are fetched."""
    folder = Path(own or places.CACHE / "collections")
    missing = []
    for name, file in files.items():
        path = folder / name
        sha256 = file["sha256"]
        try:
            if not own:
                place = f"{file['repository']}/raw/{file['commit']}/{file['path']}"
                pooch.retrieve(f"{site}/{place}", sha256, path.name, path.parent)
            elif pooch.file_hash(path) != sha256:
                raise ValueError(f"{path}: its SHA-256 is another")
            print(f"{name}: right")
        except machine.ERRORS as error:
            print(f"{name}: missing: {error}")
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
