"""Test the site: its links, its figures, and each page in a browser without network."""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import fold
import nbformat
import pytest
from bs4 import BeautifulSoup
from notebook_cells import NOTEBOOKS, WITH_EXERCISES
from PIL import Image

from course import exercises
from evaluate_retrieval.reading.places import ROOT

pytestmark = pytest.mark.slow
REPORT = ROOT / "notebooks/figures/05-report.png"  # scripts/picture.py makes it
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
KINDS = ["index", "notebooks/02-text-evaluation", "notebooks/GLOSSARY"]
KINDS += ["docs/reference/command"]
# what somebody types, and where the first hit may be
SEARCHES = {
    "exit code": ["docs/how-to/gate", "docs/reference/command"],
    "windows": ["docs/reference/settings"],
    "kappa": ["notebooks/GLOSSARY", "notebooks/more/08"],
    "boost": ["notebooks/GLOSSARY", "notebooks/02"],
    "how many queries": ["notebooks/more/09", "docs/how-to/power"],
    "margin": ["notebooks/GLOSSARY", "docs/reference/command"],
    "MRR formula": ["docs/reference/handout", "docs/reference/metrics"],
    "judge": ["docs/how-to/judging"],
    "docker": ["docs/reference/settings"],
    "api key": ["docs/reference/settings"],
    "baseline": ["notebooks/GLOSSARY", "docs/how-to/gate"],
    "nDCG": ["notebooks/GLOSSARY", "docs/reference/metrics"],
    "bootstrap": ["notebooks/GLOSSARY", "notebooks/more/09"],
    "hybrid": ["notebooks/GLOSSARY", "notebooks/03"],
    "gate": ["docs/how-to/gate"],
    "traces": ["docs/how-to/traces"],
    "slides": ["notebooks/README"],
    "pytest": ["docs/how-to/test-a-search", "docs/reference/notebook-tests"],
    "chunks": ["notebooks/04", "notebooks/more/12"],
    "GitHub Actions": ["docs/how-to/pull-requests", "docs/how-to/gate"],
    "reranker": ["notebooks/GLOSSARY", "notebooks/more/11"],
}
MANUALS = sorted((ROOT / "docs").rglob("*.md"))
# pages that move sideways on a phone; what is folded may not do so either
STATE = """() => {
  document.querySelectorAll("details").forEach((one) => one.open = true);
  const pictures = [...document.querySelectorAll("article img")];
  return {
    wide: document.documentElement.scrollWidth - innerWidth,
    broken: [...document.images].filter((image) => !image.naturalWidth).length,
    not_enlarged: pictures.filter((one) => one.closest("a")?.href !== one.src).length,
    small: pictures.filter((one) => {
      const text = one.src.endsWith(".svg") ? 21 : 16.67;
      const pixels = one.offsetWidth * text / one.naturalWidth;
      return !one.closest("picture") && pixels < 11.9;
    }).length,
    language: document.documentElement.lang,
  };
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, made once."""
    folder = tmp_path_factory.mktemp("site")
    command = [ROOT / "scripts/site/make", Path(sys.executable).parent, folder]
    made = subprocess.run(command, capture_output=True, text=True)
    assert (made.returncode, made.stderr) == (0, "")  # a warning is an error
    return folder


@pytest.fixture(scope="module")
def pages(site):
    """The pages by path, parsed, without what belongs to the theme."""
    paths = sorted({*site.rglob("*.html")} - {*site.glob("_static/**/*")})
    return {path: BeautifulSoup(path.read_bytes(), "html.parser") for path in paths}


@pytest.fixture(scope="module")
def notebooks(site, pages):
    """Each notebook with its page: (path, notebook, page)."""
    return [
        (
            path,
            nbformat.read(path, as_version=4),
            pages[site / path.relative_to(ROOT).with_suffix(".html")],
        )
        for path in NOTEBOOKS
    ]


def test_every_link_leads_to_a_file_and_every_anchor_to_a_place(site, pages):
    places = {
        path: {tag["id"] for tag in page.find_all(id=True)} | {""}
        for path, page in pages.items()
    }
    links = [
        (path, tag[name])
        for path, page in pages.items()
        for name in ("href", "src", "srcset")
        for tag in page.find_all(attrs={name: True})
    ]
    broken = []
    for path, link in links:
        parts = urlsplit(link)
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        # JupyterLite is built apart
        if not parts.scheme and site / "browser" not in target.parents:
            anchors = places.get(target, {parts.fragment})
            if not target.is_file() or parts.fragment not in anchors:
                broken.append((path.name, link))
    assert broken == []
    assert len(links) > 2_000


def test_every_manual_is_a_page_to_which_the_sidebar_leads(site, pages):
    manuals = [path.relative_to(ROOT) for path in MANUALS]
    assert {path.parent.name for path in manuals} >= {"how-to", "reference", "evidence"}
    start = pages[site / "README.html"]
    links = {link["href"] for link in start.select("nav.bd-links a[href]")}
    places = [path.with_suffix(".html").as_posix() for path in manuals]
    assert [place for place in places if place not in links] == []


def test_every_figure_says_what_it_shows(notebooks):
    n = 0
    for _, notebook, page in notebooks:
        shown = [image["alt"] for image in page.find_all("img")]
        for cell in notebook.cells:
            for output in cell.get("outputs", []):
                if "image/png" in output.get("data", {}):
                    shown.remove(" ".join(output.metadata["image/png"]["alt"].split()))
                    n += 1
    assert n > 60


def test_a_page_has_solutions_to_open_no_notes_and_a_way_to_run_it(notebooks):
    for path, notebook, page in notebooks:
        folded = page.select("article details:not([open])")
        texts = [" ".join(one.get_text().split()) for one in folded]
        solutions = exercises.SOLUTIONS / f"{path.stem}.py"
        for number, kind, code in (
            exercises.cells(solutions) if path in WITH_EXERCISES else ()
        ):
            if kind not in ("solution", "wrong"):
                continue
            title = f"# %% {number} {kind} {' '.join(code.split())}"
            assert sum(title in text for text in texts) == 1, (path, title)
        source, text = "\n".join(cell.source for cell in notebook.cells), str(page)
        assert "<!-- notes" in source
        assert not any(note in text for note in fold.NOTE.findall(source))
        is_live = any(word in source for word in ("plots.play(", "(panel("))
        assert ("In a running notebook" in text) == is_live
        first, way = page.select_one("article p"), path.relative_to(ROOT)
        up = "../" * (len(way.parts) - 1)
        link = f"{up}browser/notebooks/index.html?path={way.as_posix()}"
        is_run = first.a is not None and first.a["href"] == link
        assert is_run or "does not run in a browser: " in first.get_text(), path


def test_every_page_fits_a_phone_and_asks_nothing_of_the_network(site, pages, browser):
    page, asked = browser.new_page(viewport={"width": 390, "height": 844}), []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: asked.append(str(error)))
    for path in pages:
        page.goto(path.as_uri())
        is_spanish = path.parent.name == "es" or path.name == "README.es.html"
        right = {"wide": 0, "broken": 0, "not_enlarged": 0, "small": 0}
        right["language"] = "es" if is_spanish else "en"
        assert page.evaluate(STATE) == right, path
    assert [url for url in asked if not url.startswith((site.as_uri(), "data:"))] == []


def test_the_picture_of_the_report_has_the_decision_that_the_lesson_prints():
    [path] = [path for path in NOTEBOOKS if path.stem.startswith("05-")]
    cells = nbformat.read(path, as_version=4).cells
    [cell] = [cell for cell in cells if "slow" in cell.metadata.get("tags", [])]
    printed = "".join(output.text for output in cell.outputs)
    with Image.open(REPORT) as picture:
        heading = picture.info["heading"]
        assert 0 < int(picture.info["cut"]) < picture.height
    assert f"\n{heading}.\n" in printed


def test_the_sites_name_leads_from_each_page_to_the_first_one(site, pages):
    for path, page in pages.items():
        links = [link["href"] for link in page.select("a.navbar-brand")]
        assert links, path
        for link in links:
            target = (path.parent / link).resolve() if link != "#" else path
            assert target == site / "index.html", path


@pytest.mark.parametrize("width", [1280, 390])
def test_the_first_page_has_a_search_a_switch_for_the_dark_and_a_picture(
    width, site, browser
):
    page = browser.new_page(viewport={"width": width, "height": 844})
    page.goto((site / "index.html").as_uri())
    page.get_by_label("Search").locator("visible=true").first.click()
    assert page.locator("#pst-search-dialog input").is_visible()
    page.keyboard.press("Escape")
    page.get_by_label("Color mode").locator("visible=true").first.click()
    page.get_by_text("Dark").locator("visible=true").first.click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    picture = page.locator(f'article img[src$="{REPORT.name}"]')
    with Image.open(REPORT) as drawn:
        assert picture.evaluate("it => it.naturalWidth") == drawn.width


def test_the_first_hit_of_a_search_is_the_page_that_says_it(site, browser):
    page = browser.new_page()
    wrong = {}
    for words, places in SEARCHES.items():
        page.goto(f"{(site / 'search.html').as_uri()}?q={quote(words)}")
        page.wait_for_selector("#search-results .search li > a")
        hits = page.eval_on_selector_all(
            "#search-results .search li > a", "all => all.map(each => each.href)"
        )
        first = hits[0].removeprefix(f"{site.as_uri()}/")
        if not first.startswith(tuple(places)):
            wrong[words] = first
    assert wrong == {}


def test_handout_and_sheet_for_two_print_on_one_page(site, browser):
    page = browser.new_page()
    for name in ("handout", "pairs"):
        page.goto((site / f"docs/reference/{name}.html").as_uri())
        printed = page.pdf(format="A4")
        assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1, name


@pytest.mark.parametrize(("width", "names"), [(1280, KINDS), (390, KINDS[:1])])
def test_axe_has_nothing_to_say_of_a_page_of_each_kind(width, names, site, browser):
    from axe_playwright_python.sync_playwright import Axe  # it loads Playwright

    page = browser.new_page(viewport={"width": width, "height": 844})
    for name in names:
        page.goto((site / f"{name}.html").as_uri())
        outcome = Axe().run(page, options={"runOnly": WCAG})
        assert outcome.violations_count == 0, f"{name}: {outcome.generate_report()}"
