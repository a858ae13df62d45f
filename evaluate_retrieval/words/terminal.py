"""What a terminal shows: lines of a width that is easy to read, and how far a run is.

Only the standard library is imported here: the first line need not wait for more."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

WIDTH = 79
STEPS = 6  # of a run: it reads, asks the searches, chooses, ranks, decides and writes
DELAY = 2  # seconds; a bar of what takes less is not shown
# up to a mark that ends a sentence, outside of a quoted name
SENTENCE = re.compile(r"(?:“[^”]*”|.)+?(?:[.!?](?=\s+[“A-Z])|$)")
BOLD, RED, GREEN, YELLOW, PLAIN = (f"\x1b[{n}m" for n in (1, 31, 32, 33, 0))
COLOURS = (GREEN, RED, YELLOW, RED, RED)  # of the exit codes


def folded(text: str) -> str:
    """A text whose long lines are cut between words. Rows of tables stay whole."""
    lines = text.splitlines()
    return "\n".join(
        line if len(line) <= WIDTH or "  " in line or line[0] == " " else _cut(line)
        for line in lines
    )


def _cut(line):
    options = {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.fill(line, WIDTH, **options)


def sentences_shown(text: str) -> list[str]:
    """Each sentence of a text, on lines of its own; what is indented stays as it is."""
    shown = []
    for line in text.splitlines():
        is_prose = line.strip() and line[0] != " "
        shown += map(str.strip, SENTENCE.findall(line)) if is_prose else [line]
    return list(map(folded, shown))


def emphasised(text: str, code: int) -> str:
    """A text in bold, in the colour of an exit code."""
    colour = COLOURS[code] if code < len(COLOURS) else RED
    return f"{BOLD}{colour}{text}{PLAIN}"


def files_shown(paths: Sequence[PurePath]) -> list[str]:
    """What was written, in a sentence, and as the last line what to open."""
    if not paths:
        return []
    first, *others = paths
    if first.suffix != ".html":
        return [folded(f"Written: {', '.join(map(str, paths))}")]
    beside = [
        path.name if path.parent == first.parent else str(path) for path in others
    ]
    too = [folded(f"{first.parent}/ has {', '.join(beside)}, too.")] if beside else []
    return [*too, f"Open {first}"]


# --- How far a run is --------------------------------------------------------


def counted(items: Iterable, name: str) -> Any:
    """The items; in a terminal a bar says how many are left, if they take long."""
    from tqdm import tqdm

    return tqdm(items, desc=name, delay=DELAY, disable=None, leave=False)


def step(n: int, name: str) -> Any:
    """A context in which a terminal shows a line: the step, and how many there are."""
    from tqdm import tqdm

    form = f"step {n} of {STEPS}: {{desc}} …"
    return tqdm(desc=name, bar_format=form, disable=None, leave=False)
