"""Print the speaker's notes: a page for each lesson, and the handout, as HTML.

A note is a comment in a cell of text. It is written once, there, and here it stands
under its heading. The pages are for paper, and need no network."""

import deck
import fold
import machine
import mistune

from course import our_data
from evaluate_retrieval.reading import places

HANDOUT = places.ROOT / "docs" / "reference" / "handout.md"
LESSONS = sorted((places.ROOT / "notebooks").glob("[0-9]*.ipynb"))
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<base href="{base}">
<style>
@page {{ size: A4; margin: 14mm }}
body {{ font: 10.5pt/1.35 sans-serif; max-width: 182mm; margin: auto }}
h1 {{ font-size: 15pt; margin: 0 0 2mm }} h2 {{ font-size: 11pt; margin: 3mm 0 0 }}
p, ul, table {{ margin: 1mm 0 }} td, th {{ padding: 0 3mm 0 0; text-align: left;
vertical-align: top }} img {{ height: 62mm; max-width: 100% }}
code {{ font-size: 9.5pt }}
</style>
<body>{body}</body></html>
"""


def text_of(path):
    """A lesson's notes as Markdown."""
    sections = deck.sections(fold.read(path, False))
    parts = []
    for _, title, cells in sections:
        parts += [f"## {title}\n\n{note}" for note in deck.notes(cells)]
    return "\n\n".join([f"# {sections[0][1]}: notes", *parts])


def write(folder):
    """Write the pages into a folder; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {path.stem: text_of(path) for path in LESSONS}
    texts["handout"] = HANDOUT.read_text(encoding="utf-8")
    for stem, text in texts.items():
        body = mistune.html(text)
        base = HANDOUT.as_uri()
        path = folder / f"{stem}.html"
        path.write_text(PAGE.format(title=stem, base=base, body=body), encoding="utf-8")
        yield path


if __name__ == "__main__":
    machine.parser(__doc__).parse_args()
    print(*write(our_data.results_folder() / "notes"), sep="\n")
