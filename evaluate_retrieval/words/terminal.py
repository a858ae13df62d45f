"""What a terminal shows: lines of a width that is easy to read, and how far a run is.

Only the standard library is imported here: the first line need not wait for more."""

import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

LINE_WIDTH = 79
BAR_DELAY = 2  # seconds; a bar of what takes less is not shown
NOTEBOOK_DELAY = 10  # there a bar stays in the output
FORM = "{desc}: {n_fmt} of {total_fmt} |{bar:20}| {remaining} left"
# up to a mark that ends a sentence, outside of a quoted name
ONE_SENTENCE = re.compile(r"(?:“[^”]*”|.)+?(?:[.!?](?=\s+[“A-Z])|$)")
COMMAND = re.compile(r"“?evaluate-retrieval [^”]*”?")  # to be copied as a whole
# a row of a table, a command, a line of TOML: none is prose
IS_WHOLE = re.compile(r'\s*(?:\S.*  |evaluate-retrieval |cd |Open |#|\[\w+\]$|\w+ = ")')
BOLD, RED, GREEN, YELLOW, PLAIN = (f"\x1b[{n}m" for n in (1, 31, 32, 33, 0))
COLOUR_OF_CODE = (GREEN, RED, YELLOW, RED, RED)


def in_lines(text: str) -> str:
    """A text whose long lines are cut between words, and keep their indent.

    Rows of tables and what is to be copied stay whole."""
    return "\n".join(
        line if len(line) <= LINE_WIDTH or IS_WHOLE.match(line) else _cut(line)
        for line in text.split("\n")
    )


def _cut(line):
    indent = line[: len(line) - len(line.lstrip())]
    unbroken = COMMAND.sub(lambda match: match[0].replace(" ", "\0"), line)
    options = {"break_long_words": False, "break_on_hyphens": False}
    cut = textwrap.fill(unbroken, LINE_WIDTH, subsequent_indent=indent, **options)
    return cut.replace("\0", " ")


def sentences_shown(text: str) -> list[str]:
    """Each sentence of a text on its own line; what is indented stays as it is."""
    shown = []
    for line in text.splitlines():
        is_prose = line.strip() and line[0] != " "
        shown += map(str.strip, ONE_SENTENCE.findall(line)) if is_prose else [line]
    return shown


def emphasised(text: str, code: int) -> str:
    """A text in bold, in the colour of an exit code."""
    colour = COLOUR_OF_CODE[code] if code < len(COLOUR_OF_CODE) else RED
    return f"{BOLD}{colour}{text}{PLAIN}"


def files_shown(paths: Sequence[PurePath]) -> list[str]:
    """What was written, in a sentence, and as the last line the page to open."""
    pages = [path for path in paths if path.suffix == ".html"]
    if not pages:
        return [f"Written: {', '.join(map(str, paths))}"] if paths else []
    page = pages[0]
    beside = [
        path.name if path.parent == page.parent else str(path)
        for path in paths
        if path != page
    ]
    told = f"Also written: {', '.join(beside)}."
    return [*([told] if beside else []), f"Open {page}"]


# --- How far a run is --------------------------------------------------------


def with_bar(items: Iterable, name: str) -> Any:
    """The items; a bar says how many are left, if they take long.

    It is shown where it can be drawn anew: in a terminal, or in a notebook."""
    from tqdm.auto import tqdm

    if "ipykernel" in sys.modules and not _is_seen():
        return tqdm(items, desc=name, delay=NOTEBOOK_DELAY)
    return tqdm(items, name, bar_format=FORM, **_of_terminal(BAR_DELAY))


def bar_of(n: int, name: str) -> Any:
    """A bar of n, to be updated and closed; it is disabled where no terminal is."""
    from tqdm import tqdm

    return tqdm(total=n, desc=name, bar_format=FORM, **_of_terminal(BAR_DELAY))


@contextmanager
def step(name: str, n: int = 0, n_steps: int = 0) -> Iterator[None]:
    """A context, or a decorator: meanwhile a terminal shows the name of the step.

    n, n_steps: which one of how many it is, where that is known."""
    from tqdm import tqdm

    place = f"step {n} of {n_steps}: " if n else ""
    with tqdm(desc=place + name, bar_format="{desc} …", **_of_terminal()):
        yield


def _of_terminal(delay=0):
    return {"delay": delay, "disable": not _is_seen(), "leave": False}


def _is_seen():
    """Whether bars, which go to standard error, are seen in a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()
