"""Fetch the collections that collections.toml lists.

A download that broke off is resumed, and each file is checked."""

import os
import shutil
import sys
import tomllib
from http import HTTPStatus
from pathlib import Path
from urllib.request import Request, urlopen

import node

FILES = tomllib.loads(Path(__file__).with_name("collections.toml").read_text())
HERE = node.ROOT / ".cache" / "collections"
SITE = "https://github.com"


def is_right(path, file):
    """Whether a file has the SHA-256 of the table."""
    return path.exists() and node.sha256(path) == file["sha256"]


def download(part, file, site):
    """Download a file; what an earlier try has left is continued."""
    part.parent.mkdir(parents=True, exist_ok=True)
    part.touch()
    start = part.stat().st_size
    if start >= file["bytes"]:
        return
    address = f"{site}/{file['repository']}/raw/{file['commit']}/{file['path']}"
    headers = {"Range": f"bytes={start}-"} if start else {}
    with urlopen(Request(address, headers=headers), timeout=60) as answer:
        goes_on = answer.status == HTTPStatus.PARTIAL_CONTENT
        with open(part, "ab" if goes_on else "wb") as content:
            shutil.copyfileobj(answer, content)


def fetch(path, file, site):
    """Fetch one file; whether it came is said in words.

    A file that is too short is kept, to go on with. Other content is not."""
    part = path.with_name(f"{path.name}.part")
    try:
        download(part, file, site)
    except OSError as error:
        return f"not fetched: {error}"
    size = part.stat().st_size
    if size < file["bytes"]:
        so_far = f"{size:,} of {file['bytes']:,} bytes"
        return f"not fetched: {so_far}; the next try goes on"
    if not is_right(part, file):
        part.unlink()
        return "not fetched: other content than it had: its SHA-256 differs"
    part.rename(path)
    return "fetched"


def main(folder=None, files=FILES, site=SITE):
    """Check the files of a folder and fetch what is missing; the number of those left.

    folder: the environment's COLLECTIONS, where nothing is fetched, else .cache."""
    own = None if folder else os.environ.get("COLLECTIONS")
    folder = Path(folder or own or HERE)
    n_right = 0
    for name, file in files.items():
        path, said = folder / name, "right"
        if not is_right(path, file):
            said = "missing or changed" if own else fetch(path, file, site)
        n_right += said in ("right", "fetched")
        print(f"{name}: {said}")
    print(f"{n_right} of {len(files)} files are in {folder}")
    return len(files) - n_right


if __name__ == "__main__":
    sys.exit(bool(main()))
