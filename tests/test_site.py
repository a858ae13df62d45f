"""Test the site: its links, its figures, and each page in a browser without network."""

import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from bs4 import BeautifulSoup
from file_server import served
from notebook_cells import NOTEBOOKS
from playwright.sync_api import sync_playwright

from course import corpus, exercises

NARROW = {"width": 390, "height": 844}
NOTE = re.compile(r"<!-- notes: ([^`*\[]{15,50})")
# pages that move sideways on a phone; what is folded may not do so either
STATE = """() => {
  document.querySelectorAll("details").forEach((one) => one.open = true);
  const pictures = [...document.querySelectorAll("article img")];
  return {
    wide: document.documentElement.scrollWidth - innerWidth,
    broken: [...document.images].filter((image) => !image.naturalWidth).length,
    not_enlarged: pictures.filter((one) => one.closest("a")?.href !== one.src).length,
    language: document.documentElement.lang,
  };
}"""


def make_site(folder, *options, **settings):
    """Run the script into a folder; options of sphinx, and variables."""
    script = corpus.ROOT / "scripts" / "site" / "make"
    command = [script, Path(sys.executable).parent, folder, *options]
    clean = {"CLASS": "", "NOTES": "", **settings}
    run = {"env": os.environ | clean, "capture_output": True, "text": True}
    made = subprocess.run(command, **run)
    assert (made.returncode, made.stderr) == (0, "")  # a warning is an error
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return make_site(tmp_path_factory.mktemp("site"))


def paths_of(site):
    """All pages, without what belongs to the theme."""
    return sorted(set(site.rglob("*.html")) - set(site.glob("_static/**/*")))


def read(path):
    return BeautifulSoup(path.read_bytes(), "html.parser")


@pytest.fixture(scope="module")
def pages(site):
    """The pages by path, parsed."""
    return {path: read(path) for path in paths_of(site)}


@pytest.fixture(scope="module")
def edition(tmp_path_factory):
    """A few notebooks: for a class, with notes, and without the part in a browser."""
    names = "*.md,notebooks/02*,notebooks/more/1[13]*,notebooks/es/*,docs/*.md"
    options = [f"-Dinclude_patterns={names}"]
    options += ["-Dsuppress_warnings=myst.xref_missing,toc"]
    folder = tmp_path_factory.mktemp("edition")
    return make_site(folder, *options, CLASS="1", NOTES="1", BROWSER="0")


@pytest.fixture
def browser(chromium):
    """A Chromium that reaches this machine only."""
    refuse = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=chromium, args=[refuse])


@pytest.fixture
def address(site):
    """Where a server on this machine shows the site."""
    with served(site) as address:
        yield f"{address}/"


def page_of(site, path):
    return site / path.relative_to(corpus.ROOT).with_suffix(".html")


def notebook_pages(site, pages):
    """Each notebook with its page: (path, notebook, page)."""
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        yield path, notebook, pages[page_of(site, path)]


def links_of(page):
    """All addresses that a page names."""
    for name in ("href", "src", "srcset"):
        yield from (tag[name] for tag in page.find_all(attrs={name: True}))


def test_every_link_leads_to_a_file_and_every_anchor_to_a_place(site, pages):
    places = {
        path: {tag["id"] for tag in page.find_all(id=True)} | {""}
        for path, page in pages.items()
    }
    broken, n = [], 0
    for path, page in pages.items():
        for link in links_of(page):
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "mailto", "data"):
                continue
            target = (path.parent / unquote(parts.path)).resolve()
            target = target if parts.path else path
            if (site / "browser") in target.parents and not (site / "browser").exists():
                continue  # it is built apart
            n += 1
            anchors = places.get(target, {parts.fragment})
            if not target.is_file() or parts.fragment not in anchors:
                broken.append((path.name, link))
    assert broken == []
    assert n > 2_000


def test_all_pages_are_there_and_follow_each_other(site, pages):
    for path in [*NOTEBOOKS, *corpus.ROOT.glob("docs/*.md")]:
        assert pages[page_of(site, path)].h1
    for name in ("README.es", "notebooks/GLOSSARY", "notebooks/README", "data/README"):
        assert pages[site / f"{name}.html"].h1
    seen, path = [], site / "README.html"
    while following := pages[path].select_one("a.right-next"):
        path = (path.parent / following["href"]).resolve()
        seen.append(path)
    named = {path for path in pages if path.parent != site} | {site / "README.es.html"}
    assert {*seen} == named


def test_every_figure_says_what_it_shows(site, pages):
    for path, page in pages.items():
        for image in page.find_all("img"):
            assert image.get("alt", "").strip(), (path, image["src"])
    n = 0
    for path, notebook, page in notebook_pages(site, pages):
        outputs = [
            output for cell in notebook.cells for output in cell.get("outputs", [])
        ]
        told = Counter(
            " ".join(output.metadata["image/png"]["alt"].split())
            for output in outputs
            if "image/png" in output.get("data", {})
        )
        assert told <= Counter(image["alt"] for image in page.find_all("img")), path
        n += told.total()
    assert n > 60


def test_solutions_open_with_a_click_and_notes_stay_away(site, pages):
    for path, notebook, page in notebook_pages(site, pages):
        folded = page.select("article details:not([open])")
        texts = [" ".join(one.get_text().split()) for one in folded]
        for number, kind, code in exercises.cells(
            exercises.SOLUTIONS / f"{path.stem}.py"
        ):
            title = f"# %% {number} {kind} {' '.join(code.split())}"
            assert sum(title in text for text in texts) == 1, (path, title)
        assert "<!-- notes" not in str(page)
        notes = NOTE.findall("".join(cell.source for cell in notebook.cells))
        assert notes, path
        text = page.get_text()
        assert not [note for note in notes if note in text]


def test_what_needs_a_kernel_is_said_and_not_broken(site, pages):
    live = [
        path.stem
        for path, _, page in notebook_pages(site, pages)
        if "In a running notebook there are sliders" in page.get_text()
    ]
    calls = [
        path.stem
        for path, notebook, _ in notebook_pages(site, pages)
        if any(word in str(notebook) for word in ("plots.play(", "(panel("))
    ]
    assert live == calls
    assert not [path for path, page in pages.items() if "widget-view" in str(page)]


def test_every_page_fits_a_phone_and_asks_nothing_of_the_network(
    site, address, browser
):
    page, asked, errors = browser.new_page(viewport=NARROW), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    for path in paths_of(site):
        name = path.relative_to(site).as_posix()
        page.goto(address + name)
        language = "es" if "/es/" in name or name == "README.es.html" else "en"
        right = {"wide": 0, "broken": 0, "not_enlarged": 0, "language": language}
        assert page.evaluate(STATE) == right, name
    assert [url for url in asked if not url.startswith((address, "data:"))] == []
    assert errors == []


def test_a_search_finds_a_page_also_without_a_server(site, browser):
    page = browser.new_page()
    page.goto((site / "search.html").as_uri() + "?q=adjudication")
    page.locator("#search-results a", has_text="Glossary").first.wait_for()


def test_the_edition_for_a_class_hides_results_and_can_show_notes(edition, browser):
    page = browser.new_page()
    page.goto((edition / "notebooks/02-text-evaluation.html").as_uri())
    outputs = page.locator(".cell_output")
    assert outputs.count() >= 25
    assert not any(one.is_visible() for one in outputs.all())
    told = page.get_by_text("Seven of twelve.", exact=True)
    assert not told.is_visible()
    page.locator("details", has=told).locator("summary").click()
    assert told.is_visible()
    hidden = page.locator("details.hide", has=outputs)
    hidden.locator("summary").first.click()
    assert outputs.first.is_visible()
    notes = page.locator("summary", has_text="Notes")
    assert notes.count() >= 6


def test_a_page_links_its_notebook_in_the_browser_or_says_what_it_lacks(
    site, pages, edition
):
    with open(corpus.ROOT / "scripts/site/browser.toml", "rb") as file:
        listed = tomllib.load(file)
    stems = sorted(path.stem for path in NOTEBOOKS)
    assert sorted([*listed["runs"], *listed["needs"]]) == stems
    for path in NOTEBOOKS:
        first, name = pages[page_of(site, path)].select_one("article p"), path.stem
        if name in listed["runs"]:
            way = path.relative_to(corpus.ROOT)
            up = "../" * (len(way.parts) - 1)
            link = f"{up}browser/lab/index.html?path={way.as_posix()}"
            assert first.a["href"] == link, path
            assert first.get_text().startswith("Ejec" if "es" in way.parts else "Run")
        else:
            said = f"does not run in a browser: {listed['needs'][name]}."
            assert first.get_text().endswith(said), path
    for name in ("02-text-evaluation", "more/11-better-searches"):
        text = read(edition / f"notebooks/{name}.html").article.get_text()
        assert not re.search(r"Run it in the browser|does not run in a browser", text)
