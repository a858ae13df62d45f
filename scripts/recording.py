"""For authors: write docs/how-to/demo.svg, a terminal in which the demo has run.

python scripts/recording.py

The file stays as it is where nothing but times has changed."""

import os
import re
import subprocess
import sys
import tempfile
import textwrap
from html import escape, unescape

from evaluate_retrieval.reading import places

DEMO_PICTURE = places.ROOT / "docs" / "how-to" / "demo.svg"
LETTERS = 100  # letters of a line
LETTER_WIDTH, LINE_HEIGHT = 8.4, 19  # pixels
OF_TIMES = re.compile(r"(?m)(\d\.\d{3} +)(\d+\.\d|–)$")  # the last cell of a board
TERMINAL = """<svg xmlns="http://www.w3.org/2000/svg"
 viewBox="0 0 {width} {height}" role="img">
<title>A terminal in which evaluate-retrieval demo has run</title>
<style>
rect {{ fill: #f6f8fa; stroke: #d0d7de }}
text {{ fill: #1f2328; font: 14px ui-monospace, Menlo, Consolas, monospace }}
.decision {{ font-weight: bold }}
@media (prefers-color-scheme: dark) {{
  rect {{ fill: #0d1117; stroke: #3d444d }}
  text {{ fill: #f0f6fc }}
}}
</style>
<rect x="1" y="1" width="{inner}" height="{tall}" rx="8"/>
"""


def lines_of_the_demo() -> list[str]:
    """What the demo prints today: its beginning, and from the board to its advice."""
    with tempfile.TemporaryDirectory() as here:
        printed = subprocess.run(
            [sys.executable, "-m", "evaluate_retrieval", "demo"],
            cwd=here,
            env=os.environ
            | {
                "PYTHONPATH": str(places.ROOT),
                "COLUMNS": str(LETTERS),
                "NO_COLOR": "1",
            },
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
        ).stdout.replace(f"{os.path.realpath(here)}{os.sep}", "")
    lines = printed.splitlines()
    [board] = [n for n, line in enumerate(lines) if line.startswith("Leaderboard")]
    [files] = [
        n for n, line in enumerate(lines) if line.endswith("/results/report.html")
    ]
    [first] = [line for line in lines if "has 40 documents" in line]
    shown = ["$ evaluate-retrieval demo", first, "…", *lines[board:files]]
    return [row for line in shown for row in rows_of_a_line(line)]


def rows_of_a_line(line: str) -> list[str]:
    """A line as several that a terminal has place for."""
    indent = " " * (len(line) - len(line.lstrip()))
    rows = textwrap.wrap(
        line,
        LETTERS,
        subsequent_indent=indent,
        drop_whitespace=True,
        replace_whitespace=False,
        break_on_hyphens=False,
    )
    return rows or [""]


def picture_of(lines: list[str]) -> str:
    """The picture of a terminal with these lines. Its decision is bold."""
    width = round(LETTERS * LETTER_WIDTH) + 40
    height = len(lines) * LINE_HEIGHT + 32
    head = TERMINAL.format(width=width, height=height, inner=width - 2, tall=height - 2)
    rows = []
    for n, line in enumerate(lines):
        kind = ' class="decision"' if line.startswith("Ship") else ""
        place = f'x="20" y="{(n + 1) * LINE_HEIGHT + 10}" xml:space="preserve"'
        grid = f' textLength="{len(line) * LETTER_WIDTH:.1f}"' if line else ""
        rows.append(f"<text {place}{grid}{kind}>{escape(line)}</text>\n")
    return f"{head}{''.join(rows)}</svg>\n"


def rows_in(picture: str) -> list[str]:
    """The lines of a picture, without times."""
    rows = re.findall(r"<text [^>]*>(.*?)</text>", picture)
    return [OF_TIMES.sub(r"\1", unescape(row)) for row in rows]


if __name__ == "__main__":
    new = picture_of(lines_of_the_demo())
    old = DEMO_PICTURE.read_text("utf-8") if DEMO_PICTURE.exists() else ""
    if rows_in(new) != rows_in(old):
        DEMO_PICTURE.write_text(new, encoding="utf-8")
