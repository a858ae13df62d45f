"""The command's pages in a browser: what moves, what axe says, what is on paper."""

import shutil

import pytest
from axe_playwright_python.sync_playwright import Axe
from sixty import said, write_agents, write_folder
from test_judging_pages import TAGS

MARGINS = [0, 0.01, 0.05, 0.11, 0.17, 0.25, 0.4, 0.7]
# one that gains by turns, one that gains a little, and one that loses
MIXED = """

def mixed(question, course):
    return at((0, 3, 1, 0, 2)[int(question[1:]) % 5])(question, course)


def little(question, course):
    return at(0 if int(question[1:]) % 4 == 0 else 1)(question, course)


SEARCHES = {"today": at(1), "mixed": mixed, "little": little, "third": at(2)}
"""
FOLDERS = {  # what is added to searches.py, and the incumbent
    "sixty": ("", "second"),
    "nothing better": ("", "first"),
    "mixed": (MIXED, "today"),
    "no gain": (MIXED.replace(', "little": little, "third": at(2)', ""), "today"),
}


def folder_of(path, name):
    searches, incumbent = FOLDERS[name]
    path.mkdir()
    folder = write_folder(path)
    with (folder / "searches.py").open("a") as file:
        file.write(searches)
    return folder, ["evaluate", "--incumbent", incumbent]


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """A report of each folder by the usual margin: its folder of results by name."""
    root = tmp_path_factory.mktemp("reports")
    outs = {}
    for name in FOLDERS:
        folder, line = folder_of(root / name, name)
        said(folder, *line)
        outs[name] = folder / "out"
    return outs


@pytest.fixture(scope="module")
def pages_of_all(reports, tmp_path_factory):
    """One of each page of the command."""
    from evaluate_retrieval.line import main

    root = tmp_path_factory.mktemp("agents")
    write_agents(root / "data", 60, {"one": 1, "two": 2})
    main(["calls", str(root / "data"), "--out", str(root / "out")])
    out = reports["mixed"]
    return [out / "report.html", out / "pair.html", root / "out" / "calls.html"]


@pytest.mark.parametrize("name", FOLDERS)
def test_the_slider_decides_as_the_command_does(name, reports, browser, tmp_path):
    page = browser.new_page()
    page.goto((reports[name] / "report.html").as_uri())
    assert page.inner_text("#verdict") == page.inner_text("h1")
    decided = {}
    shown = {}
    for margin in MARGINS:
        folder, line = folder_of(tmp_path / str(margin), name)
        _, facts = said(folder, *line, "--margin", str(margin))
        decided[margin] = facts["headline"]
        shutil.rmtree(tmp_path / str(margin))
        move = "slider.value = margin; slider.dispatchEvent(new Event('input'))"
        page.eval_on_selector("#margin", f"(slider, margin) => {{{move}}}", margin)
        shown[margin] = page.inner_text("#verdict")
    most = float(page.get_attribute("#margin", "max"))
    within = {margin: decided[margin] for margin in MARGINS if margin <= most}
    assert {margin: shown[margin] for margin in within} == within
    # beyond the end of the slider nothing changes any more
    assert {decided[margin] for margin in MARGINS if margin > most} <= {
        shown[MARGINS[-1]]
    }
    assert len(within) > 2


def test_the_folders_end_in_more_than_one_way(reports, browser):
    """Else the test above could not fail."""
    page = browser.new_page()
    endings = set()
    for name, out in reports.items():
        page.goto((out / "report.html").as_uri())
        slider = page.locator("#margin")
        for share in (0, 1):
            end = "max" if share else "min"
            move = f"s => {{s.value = s.{end}; s.dispatchEvent(new Event('input'))}}"
            slider.evaluate(move)
            endings.add((name, page.inner_text("#verdict").split()[0]))
    assert {word for _, word in endings} == {"Ship", "Keep", "Not"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_has_nothing_to_say_of_the_pages(pages_of_all, browser, scheme, width):
    how = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    page = browser.new_page(**how)
    for path in pages_of_all:
        page.goto(path.as_uri())
        page.evaluate("dispatchEvent(new Event('beforeprint'))")  # all is open
        options = {"runOnly": {"type": "tag", "values": TAGS}}
        found = Axe().run(page, options=options).response["violations"]
        faults = {each["id"]: each["nodes"][0]["html"][:200] for each in found}
        assert faults == {}, path.name
        wide = "document.documentElement.scrollWidth"
        assert page.evaluate(wide) <= width, path.name


def test_a_square_opens_its_query_and_a_filter_narrows_the_list(reports, browser):
    page = browser.new_page()
    page.goto((reports["mixed"] / "report.html").as_uri())
    square = page.locator(".units .same").first
    number = square.get_attribute("href").partition("#")[2]
    square.click()
    page.wait_for_url("**/pair.html#*")
    assert page.is_visible(f"#{number} table")
    assert page.get_attribute("details.long", "open") is not None
    page.fill("#filter", "q17")
    assert page.locator(".query:visible").count() == 1
    page.fill("#filter", "")
    page.select_option("#order", "better")
    n_better = page.locator(".units .better").count()
    assert page.locator(".query:visible").count() == n_better > 0


def test_what_is_folded_is_on_paper_and_the_long_list_says_that_it_is_not(
    reports, browser
):
    page = browser.new_page()
    page.goto((reports["mixed"] / "pair.html").as_uri())
    closed = "details:not([open]):not(.long):not(.long details)"
    assert page.locator(closed).count() > 3
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(closed).count() == 0
    after = "e => getComputedStyle(e, '::after').content"
    assert "folded here" in page.eval_on_selector(".long > summary", after)
    page.goto((reports["mixed"] / "report.html").as_uri())
    page.eval_on_selector("pre", "e => {e.textContent = 'long '.repeat(300)}")
    assert page.eval_on_selector("pre", "e => e.scrollWidth <= e.clientWidth")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
