"""The site: sphinx over the committed notebooks, of which nothing is executed.

BROWSER=0 says nothing of notebooks in a browser. A link to a file that is no page
opens a copy of it."""

import os
import re
import tomllib
from pathlib import Path

import fold
import nbformat
from docutils import nodes

# which notebooks run in a browser, and why the others do not
LISTED = tomllib.loads(Path(__file__).with_name("browser.toml").read_text("utf-8"))
TREE = Path(__file__).with_name("toctree.md").read_text("utf-8")
LIVE = re.compile(r"plots\.play\(|display\(panel\(")  # nothing without a kernel
NOT_LIVE = "*In a running notebook there are sliders or buttons here.*"

project = html_title = "Evaluating retrieval"
root_doc = "README"
author = ""
html_theme = "sphinx_book_theme"
extensions = ["myst_nb"]
myst_enable_extensions = ["dollarmath"]
include_patterns = ["*.md", "notebooks/**", "data/README.md", "docs/**.md"]
exclude_patterns = ["CHANGELOG.md", "SECURITY.md", "results", ".*", "**/.*"]
nb_execution_mode = "off"
myst_heading_anchors = 4
html_static_path = ["static"]
html_css_files = ["site.css"]
html_favicon = "static/favicon.svg"
html_search_scorer = f"{Path(__file__).parent}/scorer.js"  # what orders a search
html_js_files = [("site.js", {"defer": "defer"})]
html_copy_source = html_show_sphinx = html_show_copyright = html_permalinks = False
html_theme_options = {"use_download_button": False, "navbar_persistent": []}

templates_path = ["templates"]
html_additional_pages = {"index": "landing.html"}
README = Path(__file__).parents[2].joinpath("README.md").read_text("utf-8")
LESSON = (  # a row of a table; the notebooks for the curious are in a folder more
    r"(?m)^\| \[(?P<name>\d\d [^]]+)\]\((?P<page>notebooks/\d\S+)\.ipynb\) \| "
    r"(?P<says>[^|([]*[^|([ ]).*\| (?P<minutes>\d+) \+ \d+ \|$"
)
REPORT = r"!\[([^]]+)\]\(notebooks/figures/05-report\.png\)"
html_context = {  # of templates
    "in_browser": {} if os.environ.get("BROWSER") == "0" else LISTED,
    "title_of_course": README.split("\n")[0].lstrip("# "),
    "lead": README.split("\n\n")[1],
    "report": re.search(REPORT, README)[1],
    "lessons": [row.groupdict() for row in re.finditer(LESSON, README)],
}


def prepare(cell):
    """Make a cell ready for readers, in place."""
    if cell.cell_type == "markdown":
        cell.source = fold.with_answers(fold.NOTE.sub("", cell.source))
        return
    if "imports" in cell.metadata.get("tags", []):
        cell.metadata.tags.append("hide-input")
    for output in cell.outputs:
        if "image/png" in output.get("data", {}):  # a cell has one figure
            alt = output.metadata["image/png"]["alt"]
            cell.metadata.mystnb = {"image": {"alt": alt}}
    if LIVE.search(cell.source):
        text = {"text/markdown": NOT_LIVE}
        cell.outputs.append(nbformat.v4.new_output("display_data", text))


def read(app, page, source):
    if page == root_doc:
        source[0] += TREE
    path = Path(app.env.doc2path(page))
    if path.suffix == ".ipynb":
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            prepare(cell)
        source[0] = nbformat.writes(notebook)


def leave_out(app, doctree):
    """Take code and what it prints out of the index of searches."""
    for node in doctree.findall(nodes.container):
        if node.get("nb_element") == "cell_code":
            node["classes"].append("no-search")


def tell(app, page, template, context, doctree):
    context["language"] = fold.language_of(Path(page))


def setup(app):
    app.connect("source-read", read)
    app.connect("doctree-read", leave_out)
    app.connect("html-page-context", tell)
