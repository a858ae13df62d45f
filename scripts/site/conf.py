"""The site: sphinx over the committed notebooks, of which nothing is executed.

Settings: CLASS hides results until asked for, NOTES shows the speaker's notes, and
BROWSER=0 leaves out the links to the notebooks that run in a browser."""

import base64
import hashlib
import os
import re
import sys
from pathlib import Path

import nbformat
from docutils import nodes
from sphinx import addnodes

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]
import fold  # noqa: E402

from course import exercises  # noqa: E402

CLASS, NOTES = os.environ.get("CLASS"), os.environ.get("NOTES")
LISTED = Path(__file__).with_name("browser.txt")
LISTED = LISTED.read_text() if LISTED.exists() else ""
IN_BROWSER = os.environ.get("BROWSER", LISTED).split()  # paths of what runs there
PARTS = {
    "Lessons": "notebooks/0*",
    "For the curious": "notebooks/more/*",
    "To look up": "notebooks/GLOSSARY\nnotebooks/README\ndata/README\ndocs/*",
    "Español": "README.es\nnotebooks/es/*",
}
WORDS = {  # of the site itself
    "en": ("What came out?", "Notes", "Run it in the browser"),
    "es": ("¿Qué salió?", "Notas", "Ejecutarlo en el navegador"),
}
# shown by a running notebook only, and what the page says in its place
LIVE = re.compile(r"plots\.play\(|display\(panel\(")
NOT_LIVE = "*In a running notebook there are sliders or buttons here.*"
SOLVED = re.compile(r"^(.*): \[[^]]+\]\([^)]*solutions/.*\.py\)$", re.MULTILINE)
FOLDED = "<details><summary>{}</summary>\n\n{}\n\n</details>"
ALTS = {}  # of the figures, by the hash that names their files

project = html_title = "Evaluating retrieval"
project_copyright, author = "CC BY 4.0, code MIT", ""
root_doc, html_theme = "README", "sphinx_book_theme"
extensions = ["myst_nb"]
include_patterns = ["*.md", "notebooks/**", "data/README.md", "docs/*.md"]
exclude_patterns = ["CHANGELOG.md", "**/.ipynb_checkpoints"]
nb_execution_mode, nb_code_prompt_show = "off", "import …"
nb_code_prompt_hide = nb_code_prompt_show
myst_heading_anchors = 4
html_static_path, html_css_files, html_js_files = ["static"], ["site.css"], ["site.js"]
html_copy_source = html_show_sphinx = False
html_theme_options = {
    "use_download_button": False,
    "home_page_in_toc": True,
    "navbar_persistent": [],
}


def language_of(page):
    return "es" if page == "README.es" or "/es/" in page else "en"


def solution(stem, text):
    """The line that links to the solutions opens those of this exercise instead."""
    number = re.search(r"^\*\*(\d+)\.", text, re.MULTILINE)
    path = exercises.SOLUTIONS / f"{stem}.py"
    answers = [
        f"# %% {of} {kind}\n{code}"
        for of, kind, code in exercises.cells(path)
        if number and of == int(number[1])
    ]
    code = f"```python\n{''.join(answers)}\n```"
    return SOLVED.sub(lambda line: FOLDED.format(line[1], code), text)


def prepare(notebook, page):
    """Make a notebook's cells ready for readers, in place."""
    result, notes, _ = WORDS[language_of(page)]
    if CLASS:
        fold.fold(notebook, result)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            note = FOLDED.format(notes, r"\1") if NOTES else ""
            cell.source = re.sub(r"(?s)<!-- notes: (.*?)-->", note, cell.source)
            cell.source = solution(Path(page).name, cell.source)
            continue
        tags = cell.metadata.setdefault("tags", [])
        if "imports" in tags:
            tags.append("hide-input")
        elif CLASS and cell.outputs:
            tags.append("hide-output")
            prompts = {"code_prompt_show": result, "code_prompt_hide": result}
            cell.metadata["mystnb"] = prompts
        for output in cell.outputs:
            if png := output.get("data", {}).get("image/png"):
                key = hashlib.sha256(base64.b64decode(png)).hexdigest()
                ALTS[key] = output.metadata["image/png"]["alt"]
        if LIVE.search(cell.source):
            said = {"output_type": "display_data", "metadata": {}}
            said["data"] = {"text/markdown": NOT_LIVE}
            cell.outputs.append(nbformat.from_dict(said))


def read(app, page, source):
    if app.env.doc2path(page).suffix == ".ipynb":
        notebook = nbformat.reads(source[0], as_version=4)
        prepare(notebook, page)
        source[0] = nbformat.writes(notebook)
    if page == root_doc:
        tree = "\n\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {}\n\n{}\n```"
        source[0] += "".join(tree.format(*part) for part in PARTS.items())


def mend(app, doctree):
    """Give each figure its alt text. A link to a folder becomes plain text.

    (A link to a file that is no page opens a copy of it.)"""
    for image in doctree.findall(nodes.image):
        image["alt"] = image.get("alt") or ALTS.get(Path(image["uri"]).stem, "")
    folder = app.env.doc2path(app.env.docname).parent
    for link in list(doctree.findall(addnodes.pending_xref)):
        if (folder / link["reftarget"]).is_dir():
            link.replace_self(link.children)


def tell(app, page, template, context, doctree):
    context["language"] = language_of(page)
    if f"{page}.ipynb" in IN_BROWSER:
        start = "../" * page.count("/") + "browser/lab/index.html?path="
        words = WORDS[language_of(page)][-1]
        link = f'<p class="browser"><a href="{start}{page}.ipynb">{words}</a></p>'
        context["body"] = link + context["body"]


def setup(app):
    app.connect("source-read", read)
    app.connect("doctree-read", mend)
    app.connect("html-page-context", tell)
