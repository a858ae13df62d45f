"""The text of a file, in the encoding that it has."""

import codecs
from pathlib import Path

import charset_normalizer

from evaluate_retrieval import utils
from evaluate_retrieval.reading.files import read_bytes

# Without such a list a short text looks like an encoding that nobody uses any more.
ENCODINGS = ["utf_16", "cp1252", "cp1251", "cp932", "gb18030"]


def decoded(path: Path, encoding: str | None = None) -> str:
    """A file as text, without a byte order mark.

    encoding: Python's name of one, for a file that is not UTF-8. ValueError
    names the first line that cannot be decoded, and says which encoding it
    looks like."""
    content = read_bytes(path)
    names = ["utf-8-sig", encoding or "utf-8-sig"]
    if b"\x1b" in content:  # ISO-2022 is ASCII with escapes
        names.reverse()
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        names = ["utf-16"]  # Excel's "Unicode text"
    for name in names:
        try:
            return content.decode(name).removeprefix("\ufeff")
        except UnicodeError as error:
            line = content.count(b"\n", 0, getattr(error, "start", 0)) + 1
    if encoding:
        problem = f"not {encoding}, which columns.toml names"
        raise utils.InputError(path, problem, line=line)
    advice = _encoding_advice(content)
    raise utils.InputError(path, "not UTF-8", line=line, advice=advice)


def _encoding_advice(content):
    """What bytes that are not UTF-8 look like, and what to do about it."""
    match = charset_normalizer.from_bytes(
        content, cp_isolation=ENCODINGS, threshold=0.5
    ).best()
    if match is None or (b"\0" in content and match.encoding != "utf_16"):
        return "no usual encoding fits, so it may be no text file"
    name = match.encoding.replace("_", "-")
    return (
        f"it looks like {name}: save it as UTF-8 (iconv -f {name} -t utf-8), or, for "
        f'documents, queries and qrels, write encoding = "{name}" into columns.toml'
    )
