"""Fetch the collections that collections.toml lists, or check those of COLLECTIONS.

COLLECTIONS, in the environment, names a folder. Nothing is fetched into it."""

import os
import sys
import tomllib
from pathlib import Path

import machine

from course import corpus

FILES = tomllib.loads(Path(__file__).with_name("collections.toml").read_text())
SITE = "https://github.com"


def fetch(path, file, site):
    """Fetch one file; whether it came is said in words."""
    address = f"{site}/{file['repository']}/raw/{file['commit']}/{file['path']}"
    try:
        machine.download(address, path, file["sha256"])
    except machine.ERRORS as error:
        return f"not fetched: {error}"
    return "fetched"


def main(files=FILES, site=SITE):
    """Check the files and fetch what is missing; the number of those left."""
    own, folder = os.environ.get("COLLECTIONS"), corpus.collections_folder()
    n_right = 0
    for name, file in files.items():
        path, said = folder / name, "right"
        if not machine.is_right(path, file["sha256"]):
            said = "missing or changed" if own else fetch(path, file, site)
        n_right += said in ("right", "fetched")
        print(f"{name}: {said}")
    print(f"{n_right} of {len(files)} files are in {folder}")
    return len(files) - n_right


if __name__ == "__main__":
    machine.parser(__doc__).parse_args()
    sys.exit(bool(main()))
