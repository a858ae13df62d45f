"""Pages: Markdown and HTML files become the rows of one table."""

import re
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
from bs4 import BeautifulSoup
from bs4.exceptions import ParserRejectedMarkup

from evaluate_retrieval import utils
from evaluate_retrieval.reading.decoding import decoded
from evaluate_retrieval.reading.listing import suffix_of

LARGEST_PAGE = 20_000_000  # bytes
BEGINNING = 10_000  # bytes that tell what a text is
NUMBERED = r"\S+\s+(?:\S+\s+){1,2}-?\d[\d.]*(?:\s+\S+){0,2}\s*"  # of a run, or qrels
# Of Markdown: YAML between lines of dashes at the start, a block of code, a heading.
FRONT_MATTER = r"(?ms)\A---[ \t]*\r?\n((?:[\w-]+[ \t]*:|#).*?|)^---[ \t]*\r?$"
YAML_TITLE = r"(?mi)^title[ \t]*:[ \t]*([^\s|>].*)$"
FENCED = r"(?ms)^[ \t]*(`{3,}|~{3,})[^\n]*$.*?(?:^[ \t]*\1[`~]*[ \t\r]*$|\Z)"
HEADING = r"(?m)^#+[ \t]+(.*)$"


def read_page(
    path: Path, folder: Path, encoding: str | None = None
) -> tuple[str, str, str, str]:
    """A Markdown or HTML page, or a text, as (id, heading, text, section).

    The id is its path in the folder, and the section the folder that it is in.
    The heading is the title, else the first heading. In Markdown the title is
    that of the front matter, which is left out of the text. A line of code is
    never a heading."""
    if path.stat().st_size > LARGEST_PAGE:
        raise utils.InputError(path, f"a page has {LARGEST_PAGE / 1e6:.0f} MB at most")
    content = decoded(path, encoding)
    place = path.relative_to(folder)
    id_ = re.sub(r"\s+", "-", place.as_posix())
    split = READERS_OF_PAGES.get(suffix_of(path), _of_html)
    try:
        title, text = split(content)
    except (ParserRejectedMarkup, RecursionError) as error:
        raise utils.InputError(path, f"not readable as HTML: {error}") from error
    return id_, title or path.stem, text, " ".join(place.parent.parts)


def _of_html(content):
    """The title of an HTML page, "" without one, and its text."""
    page = BeautifulSoup(_closed(content), "html.parser")
    for hidden in page(["script", "style", "nav", "footer"]):
        hidden.decompose()
    heading = page.title or page.h1
    title = heading.get_text(" ", strip=True) if heading else ""
    return title, (page.body or page).get_text("\n", strip=True)


def _closed(content):
    """HTML without comments, and with &lt; for each < that nothing closes.

    The parser would look for its end again and again."""
    first, *parts = content.split("<!--")
    content = first + "".join(part.partition("-->")[2] for part in parts)
    return re.sub(r"<(?=[^<>]*(?:<|\Z))", "&lt;", content)


def _of_markdown(content):
    """The title of a Markdown page, "" without one, and the rest of its text."""
    title = ""
    if front := re.match(FRONT_MATTER, content):
        content = content[front.end() :]
        if yaml := re.search(YAML_TITLE, front[1]):
            title = yaml[1].rstrip(" \t\r").strip("\"'")
    without_code = re.sub(FENCED, lambda block: " " * len(block[0]), content)
    if match := re.search(HEADING, without_code):
        heading = match[1].rstrip(" \t#\r")
        if title in ("", heading):
            title = heading
            content = content[: match.start()] + content[match.end() :]
    return title, content.strip()


def _of_text(content):
    """A plain text has no title."""
    return "", content.strip()


def is_prose(path: Path) -> bool:
    """Whether a file of text does not begin with lines of a run or of qrels."""
    with path.open("rb") as file:
        lines = file.read(BEGINNING).decode(errors="replace").splitlines()[:5]
    return not lines or not all(re.fullmatch(NUMBERED, line) for line in lines)


READERS_OF_PAGES = {".md": _of_markdown, ".mdx": _of_markdown, ".txt": _of_text}


def read_pages(
    paths: Iterable[Path], folder: Path, encoding: str | None
) -> pd.DataFrame:
    """Pages and texts of a folder as a table, a row for each: see `read_page`."""
    pages = [read_page(path, folder, encoding) for path in paths]
    return pd.DataFrame(pages, columns=["id", "title", "text", "section"])
