"""Writes files whole: who reads one finds the old content or the new, never a half.

A file that is replaced keeps its mode, owner and group as far as the system allows it.
What we write into a table, `files.table_of` reads as it was. All files of the library
are written here, but for the grades that `grading` appends."""

import csv
import os
import re
import secrets
import shutil
import socket
import stat
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd

from evaluate_retrieval.reading.files import Quoting, text_cell

LONG_AGO = 86_400  # seconds; a leftover of another machine is that old when it goes
LONGEST_STEM = 80  # bytes of a file's name that the name of its new content keeps
IS_SEPARATED = re.compile(r"[;\t\r\n\"\ufeff]")  # a header with it is quoted as a whole
HOST = re.sub(r"\W", "", socket.gethostname())[:20] or "here"
PROCESS = re.compile(r"(?:(\w+)-)?(\d+)(?:-[0-9a-f]{8})?")


# --- Tables ------------------------------------------------------------------


def csv_text(
    rows: Iterable[Iterable[Any]], quoting: Quoting = csv.QUOTE_MINIMAL
) -> str:
    """Rows as CSV, each ended by a \\n; a cell with any line break is quoted."""
    lines = []
    # the module quotes what is in its line end: with \n a lone \r would stand bare,
    # and every reader ends a row there
    file = SimpleNamespace(write=lines.append)
    writer = csv.writer(file, lineterminator="\r\n", quoting=quoting)
    writer.writerows([text_cell(cell) for cell in row] for row in rows)
    return "".join(f"{line[:-2]}\n" for line in lines)


def _table_text(table):
    """A table as CSV for people, see `files.text_cell`; no index, "" for NaN."""
    names = [str(name) for name in table]
    # a spreadsheet's columns are told by what stands between the names
    is_plain = not any(map(IS_SEPARATED.search, names))
    header = csv_text([names], csv.QUOTE_MINIMAL if is_plain else csv.QUOTE_ALL)
    cells = table.astype(object).where(table.notna(), None)
    return header + csv_text(cells.itertuples(index=False, name=None))


def write_table(
    table: pd.DataFrame, path: str | Path, keep_former: bool = False
) -> None:
    """Write a table of texts and numbers, see `_table_text`, and wait for the disk.

    keep_former: whether the file that was there stays, with .former behind its name."""
    path = Path(path)
    if keep_former and path.exists():
        former = Path(f"{path.resolve()}.former")
        write_bytes(former, path.read_bytes(), like=path)
    write_text(path, _table_text(table), is_durable=True)


# --- Whole files -------------------------------------------------------------


def write_text(path: str | Path, text: str, **how: Any) -> None:
    """Write a text as UTF-8. how: see `write_bytes`."""
    # half surrogate pairs, which UTF-8 cannot hold, become question marks
    write_bytes(path, text.encode(errors="replace"), **how)


def write_bytes(
    path: str | Path,
    content: bytes,
    like: Path | None = None,
    is_durable: bool = False,
    is_new: bool = False,
) -> None:
    """Write a file beside its place, and then give it its name.

    A full disk, or a process that is killed, leaves the old file as it was. like: the
    file whose mode and owner it gets, or None for those that it has. is_durable:
    whether it is on the disk before it has its name. is_new: FileExistsError where
    something is there. OSError names the file, and says who may write it."""
    path = Path(path).resolve()  # a link stays one
    pattern = like or path
    access = pattern.stat() if pattern.exists() else None
    beside = _beside(path)
    try:
        _remove_leftovers(path)
        _write_beside(beside, content, access, pattern, is_durable)
        if is_new:
            _name_new(beside, path, content)
        else:
            os.replace(beside, path)
    except OSError as error:
        raise named_error(error, path) from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def append_text(path: str | Path, text: str) -> None:
    """Append lines to a file as UTF-8, a blank line behind what stands there.

    The summary of a job is appended to by each of its steps. So it is the one file that
    is not written anew and renamed: what others append meanwhile would be lost. OSError
    names the file."""
    path = Path(path)
    try:
        with open(path, "ab") as file:
            # who wrote before may not have ended the line
            start = "\n\n" if os.fstat(file.fileno()).st_size else ""
            file.write(f"{start}{text}\n".encode(errors="replace"))
    except OSError as error:
        raise named_error(error, path) from error


def _write_beside(beside, content, access, pattern, is_durable):
    """Write a new file. access: the stat of the pattern, whose access it gets."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    # what is private is so from the first byte on
    descriptor = os.open(beside, flags, 0o666 if access is None else 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        if access is not None:
            _keep_access(beside, access, pattern)
        if is_durable:
            file.flush()
            os.fsync(file.fileno())


def _name_new(beside, path, content):
    """Give a file a name that no other has: a rename would replace what is there."""
    try:
        os.link(beside, path)
    except FileExistsError:
        raise
    except OSError:  # a disk may not know links
        with open(path, "xb") as file:
            file.write(content)


def _keep_access(path, access, pattern):
    """Give a file the owner, group, lists of access and mode of another one."""
    if hasattr(os, "chown"):
        try:
            os.chown(path, access.st_uid, access.st_gid)
        except OSError:  # only root gives a file away
            with suppress(OSError):
                os.chown(path, -1, access.st_gid)
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            for name in os.listxattr(pattern):
                _keep_attribute(path, pattern, name)
    os.chmod(path, stat.S_IMODE(access.st_mode))


def _keep_attribute(path, pattern, name):
    with suppress(OSError):  # some are the system's
        os.setxattr(path, name, os.getxattr(pattern, name))


def named_error(error: OSError, path: Path) -> OSError:
    """An error of the system with the name of the file, and who may write it."""
    if error.errno is None:
        return error
    problem = error.strerror
    if isinstance(error, PermissionError):
        problem += f"; {path.parent} is {_owner(path.parent)}'s"
        if path.exists():
            problem += f", and {path.name} {_owner(path)}'s"
        problem += ": who owns it can let your group write (chmod g+w), or copy it"
    return type(error)(error.errno, problem, str(path))


def _owner(path):
    try:
        return path.owner()
    except (KeyError, OSError, NotImplementedError):
        return "somebody else"


# --- What is left of a process that was killed -------------------------------


def _stem(path):
    return path.name.encode()[:LONGEST_STEM].decode(errors="ignore")


def _beside(path):
    """Where new content of a file is written: a name that says which process did."""
    made_by = f"{HOST}-{os.getpid()}-{secrets.token_hex(4)}"
    return path.with_name(f".{_stem(path)}.{made_by}.new")


def _remove_leftovers(path):
    """Remove what processes that are dead have left of a file's new content."""
    start = f".{_stem(path)}."
    there = []
    # who may not list a folder may write there all the same
    with suppress(OSError), os.scandir(path.parent) as entries:
        there = [
            each
            for each in entries
            if each.name.startswith(start) and each.name.endswith(".new")
        ]
    for entry in there:
        made_by = PROCESS.fullmatch(entry.name[len(start) : -len(".new")])
        with suppress(OSError):
            age = time.time() - entry.stat(follow_symlinks=False).st_mtime
            if not made_by or not _is_left(made_by[1], int(made_by[2]), age):
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.unlink(entry.path)


def _is_left(host, process, age):
    """Whether a process is dead. host: of it, None where it is not known."""
    if host != HOST or sys.platform == "win32":  # where a signal of 0 is Ctrl-C
        return age > LONG_AGO
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def scratch_folder(path: Path) -> Path:
    """A new folder beside a path, to make it in: rename what is done, and remove it.

    What others have left there that were killed is removed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(path)
    made = _beside(path)
    made.mkdir()
    return made


# --- Folders that several people share ---------------------------------------


def make_folder(path: Path) -> None:
    """Make a folder; who may write into the one above it may write into it, too.

    Not where anybody may, as in /tmp."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(exist_ok=True)
    above = path.parent.stat()
    if not above.st_mode & stat.S_ISVTX:
        mode = path.stat().st_mode | above.st_mode & 0o2077
        with suppress(OSError):
            give_group(path, above.st_gid)
            os.chmod(path, stat.S_IMODE(mode))


def give_group(path: Path, group: int) -> None:
    """Give a file to a group, where the system allows it."""
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(path, -1, group)
