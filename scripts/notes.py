"""Print the speaker's notes: a page for each lesson, and two for the class, as HTML.

A note is a comment in a cell of text. It is written once, there, and here it stands
under its row of the run sheet. The pages are for paper, and need no network."""

import re

import deck
import fold
import machine
import mistune

from course import our_data
from evaluate_retrieval.reading import places

REFERENCE = places.ROOT / "docs" / "reference"
TO_PRINT = [REFERENCE / "handout.md", REFERENCE / "pairs.md"]
LESSONS = sorted((places.ROOT / "notebooks").glob("[0-9]*.ipynb"))
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<base href="{base}">
<style>
@page {{ size: A4; margin: 14mm }}
body {{ font: 10.5pt/1.35 sans-serif; max-width: 182mm; margin: auto }}
h1 {{ font-size: 15pt; margin: 0 0 2mm }} h2 {{ font-size: 11pt; margin: 3mm 0 0 }}
p, ul, table {{ margin: 1mm 0 }} table {{ border-collapse: collapse }}
td, th {{ padding: 0.5mm 3mm 0.5mm 0; text-align: left; vertical-align: top;
border-bottom: 1px solid #bbb }} img {{ height: 62mm; max-width: 100% }}
code {{ font-size: 9.5pt }}
</style>
<body>{body}</body></html>
"""


def text_of(path, sheet, guess):
    """A lesson's notes as Markdown: when to do what, where to pause, what to say."""
    starts = [start for _, start, _, _ in sheet.values()]
    parts = []
    told = set()
    for (since, start, does, pause, title), cells in deck.rows(
        fold.read(path, 0), sheet
    ):
        if not parts:
            parts = [f"# {cells[0].source.splitlines()[0].lstrip('# ')}", guess]
        said = deck.notes(cells)
        if since > 45 and not said:
            continue
        if title not in told and title in sheet:
            told.add(title)
            end = min([one for one in starts if one > start], default=45)
            when = does if does == "skip" else f"{start} to {end}, {does}"
            parts.append(f"## {when}: {title}")
            parts += [f"*Pause before {pause}: vote.*"] if '"' in pause else []
        parts += said
    return "\n\n".join(parts)


def write(folder, lesson=""):
    """Write the pages into a folder, of lessons whose names begin so; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    page = (deck.NOTEBOOKS / "README.md").read_text(encoding="utf-8")
    sheets = deck.sheets(page)
    texts = {path.stem: path.read_text(encoding="utf-8") for path in TO_PRINT}
    for path in LESSONS:
        if path.stem.startswith(lesson):
            [guess] = re.findall(rf"## {path.stem[:2]} .*\n\n(.*)", page)
            texts[path.stem] = text_of(path, sheets[path.name], guess)
    for stem, text in texts.items():
        body = mistune.html(text)
        base = TO_PRINT[0].as_uri()
        path = folder / f"{stem}.html"
        path.write_text(PAGE.format(title=stem, base=base, body=body), encoding="utf-8")
        yield path


if __name__ == "__main__":
    parser = machine.parser(__doc__)
    parser.add_argument("lesson", nargs="?", default="")
    lesson = parser.parse_args().lesson
    print(*write(our_data.results_folder() / "notes", lesson), sep="\n")
