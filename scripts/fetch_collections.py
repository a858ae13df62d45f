"""Fetch the collections that collections.toml lists.

A download that broke off is resumed, and each file is checked."""

import hashlib
import os
import shutil
import sys
import tomllib
from http import HTTPStatus
from pathlib import Path
from urllib.request import Request, urlopen

SCRIPT = Path(__file__).resolve()
FILES = tomllib.loads(SCRIPT.with_name("collections.toml").read_text())
HERE = SCRIPT.parent.parent / ".cache" / "collections"
SITE = "https://github.com"
TIMEOUT = 60


def is_right(path, file):
    """Whether a file has the SHA-256 of the table."""
    if not path.exists():
        return False
    with open(path, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest() == file["sha256"]


def fetch(path, file, site=SITE):
    """Fetch one file; what an earlier try has left is continued.

    Raises OSError where the site does not answer, ValueError where the content is
    not that of the table: a file that is too short is kept, to go on with."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    start = part.stat().st_size if part.exists() else 0
    if start < file["bytes"]:
        address = f"{site}/{file['repository']}/raw/{file['commit']}/{file['path']}"
        headers = {"Range": f"bytes={start}-"} if start else {}
        with urlopen(Request(address, headers=headers), timeout=TIMEOUT) as answer:
            goes_on = answer.status == HTTPStatus.PARTIAL_CONTENT
            with open(part, "ab" if goes_on else "wb") as content:
                shutil.copyfileobj(answer, content)
    size = part.stat().st_size
    if size < file["bytes"]:
        raise ValueError(f"{size:,} of {file['bytes']:,} bytes; the next try goes on")
    if not is_right(part, file):
        part.unlink()
        raise ValueError("other content than it had: its SHA-256 differs")
    part.rename(path)


def main(folder=None, files=FILES, site=SITE):
    """Check the files of a folder and fetch what is missing; the number of those left.

    folder: the environment's COLLECTIONS, where nothing is fetched, else .cache."""
    own = folder is None and os.environ.get("COLLECTIONS")
    folder = Path(folder or own or HERE)
    missing = 0
    for name, file in files.items():
        path, said = folder / name, "right"
        if not is_right(path, file):
            said = "missing or changed"
            if not own:
                try:
                    fetch(path, file, site)
                    said = "fetched"
                except (OSError, ValueError) as error:
                    said = f"not fetched: {error}"
        missing += said not in ("right", "fetched")
        print(f"{name}: {said}")
    names = sorted({name.partition("/")[0] for name in files})
    print(f"{len(files) - missing} of {len(files)} files are in {folder}")
    if not missing:
        print(f"try: COURSE_DATA={folder / names[0]} make run")
    return missing


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
