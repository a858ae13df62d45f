"""Print the speaker's notes: a page for each lesson, and the handout, as HTML.

A note is a comment in a cell of text. It is written once, there, and here it stands
under its heading. The pages are for paper, and need no network."""

import html
import re

import machine
import mistune
import nbformat

from course import corpus

NOTE = re.compile(r"<!-- notes: (.*?) -->", re.DOTALL)
HANDOUT = corpus.ROOT / "docs" / "handout.md"
LESSONS = sorted((corpus.ROOT / "notebooks").glob("[0-9]*.ipynb"))
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>
@page {{ size: A4; margin: 14mm }}
body {{ font: 10.5pt/1.35 sans-serif; max-width: 182mm; margin: auto }}
h1 {{ font-size: 15pt; margin: 0 0 2mm }} h2 {{ font-size: 11pt; margin: 3mm 0 0 }}
p, ul, table {{ margin: 1mm 0 }} td, th {{ padding: 0 3mm 0 0; text-align: left;
vertical-align: top }} img {{ max-height: 62mm; max-width: 100% }}
code {{ font-size: 9.5pt }}
</style>
<body>{body}</body></html>
"""


def notes(notebook):
    """[(heading, note), …] of a notebook, in its order."""
    heading, pairs = "", []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for part in re.split(r"(?m)^(?=#+ )", cell.source):
                if part.startswith("#"):
                    heading = part.split("\n")[0].lstrip("# ")
                pairs += [(heading, note) for note in NOTE.findall(part)]
    return pairs


def page_of(path):
    """A lesson's notes as a page for paper."""
    notebook = nbformat.read(path, as_version=4)
    title = notebook.cells[0].source.split("\n")[0].lstrip("# ")
    body = f"<h1>{html.escape(title)}: notes</h1>"
    for heading, note in notes(notebook):
        body += f"<h2>{html.escape(heading)}</h2>{mistune.html(note)}"
    return PAGE.format(title=html.escape(title), body=body)


def handout():
    """docs/handout.md as a page for paper, with its picture inside."""
    body = mistune.html(HANDOUT.read_text(encoding="utf-8"))

    def inside(match):
        picture = (HANDOUT.parent / match[1]).read_text(encoding="utf-8")
        return re.sub(r'width="\d+"', 'height="62mm"', picture, count=1)

    body = re.sub(r'<img src="([^"]+\.svg)"[^>]*>', inside, body)
    return PAGE.format(title="Handout", body=body)


def write(folder):
    """Write the pages into a folder; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {path.stem: page_of(path) for path in LESSONS}
    paths = []
    for stem, page in {**pages, "handout": handout()}.items():
        paths.append(folder / f"{stem}.html")
        paths[-1].write_text(page, encoding="utf-8")
    return paths


if __name__ == "__main__":
    machine.parser(__doc__).parse_args()
    for path in write(corpus.results_folder() / "notes"):
        print(path)
