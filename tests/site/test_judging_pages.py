"""Test the page on which people judge in Chromium: keys, touch, what it keeps."""

import csv
import json
import re
import socket
import subprocess
import sys
import time

import pytest
from axe_playwright_python.sync_playwright import Axe

from evaluate_retrieval import evaluate, judge

pytestmark = pytest.mark.slow
NASTY = "</script><script>document.title='ran'</script><img src=x onerror=alert(1)>"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
LONG = "A sentence about nothing at all, and then one more. " * 2_000  # 100 kB
# as a key keeps a grade, without what it shows: that takes long 2,000 times
KEEP_ALL_BUT_20 = """for (const pair of pairs.slice(20, -20))
  keep(pair.name, { g: "0", t: now(), n: "", times: 1 });
trail = byTime();
at = next();"""
WORDS = [
    "red",
    "green",
    "blue",
    "grey",
    "pink",
    "brown",
    "black",
    "white",
    "gold",
    "teal",
]


def make_folder(path, n_queries=4, n_documents=6):
    """A folder in which each query finds each document; one is long, one is nasty."""
    path.mkdir()
    documents = [
        {
            "id": f"d{n}",
            "question": f"Kettle {n}",
            "text": f"The red kettle {n}.\n\n```\nboil --kettle {n}\n```\n\nIt boils.",
        }
        for n in range(n_documents)
    ]
    documents[0]["text"] += f"\n\n{NASTY}"
    documents[1]["text"] = f"{LONG}\n\nA boiling kettle whistles.\n\n{LONG}"
    (path / "documents.json").write_text(json.dumps(documents))
    queries = [f"kettle {WORDS[n % 10]} {n}" for n in range(n_queries)]
    queries[0] += f" {NASTY}"
    (path / "queries.txt").write_text("\n".join(queries))
    header = "query_id,query,course,kind,document,grade"
    rows = [
        f"p{n},practice {n},all,tail,d{number},{n % 3}"
        for n in range(9)
        for number in (2 + n % 4,)
    ]
    (path / "judged-queries.csv").write_text("\n".join([header, *rows, ""]))
    return path


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The folder of the pages of ann and ben."""
    root = tmp_path_factory.mktemp("judging")
    judge(make_folder(root / "faq"), page=True, people="ann,ben", out=root / "out")
    return root


@pytest.fixture
def opened(pages, browser):
    """A function that opens a person's page in a new profile, or in the last one."""
    contexts = []

    def open_page(person="ann", anew=True, path=None, **how):
        if anew or not contexts:
            contexts.append(browser.new_context(accept_downloads=True, **how))
        page = contexts[-1].new_page()
        page.problems, page.asked = [], []
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.on("console", lambda said: page.problems.append(said.text))
        page.on("dialog", lambda dialog: page.problems.append(dialog.message))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto((path or pages / f"out/judge-{person}.html").as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


def begin(page):
    page.click("#begin")
    return page


def wait_for(page, condition):
    """Wait until something is so. The page forbids what Playwright would do."""
    for _ in range(200):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(100)
    raise AssertionError(condition)


def shown(page):
    """The query, the title and the count that are shown."""
    return tuple(
        page.inner_text(each) for each in ("#query", "article h2", "#bar-count")
    )


def rows_saved(page, button="#save-again"):
    with page.expect_download() as download:
        page.click(button)
    with open(download.value.path(), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file)), download.value.suggested_filename


def test_keys_grade_go_back_and_wait_and_a_held_key_counts_once(opened):
    page = begin(opened())
    first = shown(page)
    assert first[2] == "0 of 24"
    page.keyboard.press("2")
    second = shown(page)
    assert second[:2] != first[:2]
    page.keyboard.press("u")
    assert shown(page)[:2] == first[:2]
    assert page.get_attribute('[data-grade="2"]', "aria-pressed") == "true"
    page.keyboard.press("1")
    assert shown(page) == second
    page.keyboard.press("?")
    third = shown(page)
    assert third[1] != second[1]
    page.keyboard.press("x")
    page.keyboard.press("Control+1")
    page.keyboard.press("Space")
    assert shown(page) == third
    page.keyboard.down("0")  # and held
    for _ in range(5):
        page.keyboard.down("0")
    page.keyboard.up("0")
    assert page.inner_text("#bar-count") == "3 of 24"
    page.keyboard.press("n")
    page.keyboard.type("012 is a note")
    page.keyboard.press("Enter")
    page.keyboard.press("e")
    page.keyboard.type("a cure")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    rows, name = rows_saved(page)
    assert name == "judgements-ann.csv"
    assert [row["grade"] for row in rows] == ["1", "?", "0", "1"]
    assert rows[3]["note"] == "012 is a note"
    assert rows[3]["want"] == "a cure"
    assert page.problems == []


def judge_all(page, key="0", most=40):
    for _ in range(most):
        if page.is_visible("#thanks"):
            return
        page.keyboard.press(key)


def test_what_waits_comes_back_at_the_end_and_the_file_goes_in(opened, pages):
    page = begin(opened("ben"))
    waiting = shown(page)[:2]
    page.keyboard.press("?")
    for _ in range(23):
        page.keyboard.press("1")
    assert shown(page)[:2] == waiting
    page.keyboard.press("2")
    assert page.inner_text("#thanks").startswith("Done: 24 pairs in ")
    cells = page.eval_on_selector_all(
        "#spread tr", "rows => rows.map(r => r.innerText)"
    )
    assert [each.split()[-1] for each in cells] == ["0", "23", "1", "0"]
    page.keyboard.press("u")
    assert shown(page)[:2] == waiting
    page.keyboard.press("2")
    with page.expect_download() as download:
        page.click("#save")
    says = judge(pages / "faq", add=[download.value.path()], out=pages / "out").says
    assert says.startswith("24 of 24 grades are new")
    assert page.problems == []


def test_a_reload_in_the_middle_and_two_pages_of_a_person_lose_nothing(opened):
    page = begin(opened())
    for key in "0121":
        page.keyboard.press(key)
    at = shown(page)
    page.reload()
    assert page.inner_text("#begin") == "Go on"
    begin(page)
    assert shown(page) == at
    page.keyboard.press("u")
    assert page.get_attribute('[data-grade="1"]', "aria-pressed") == "true"
    page.keyboard.press("1")
    second = begin(opened(anew=False))
    assert shown(second) == at
    second.keyboard.press("2")
    wait_for(page, "$('bar-count').innerText[0] == '5'")
    assert shown(page) == shown(second)
    page.keyboard.press("0")
    wait_for(second, "$('bar-count').innerText[0] == '6'")
    rows, _ = rows_saved(second)
    assert [row["grade"] for row in rows] == [*"012120"]
    other = opened("ben", anew=False)
    assert other.inner_text("#begin") == "Begin"  # it is another person's
    assert page.problems == second.problems == []


def test_touch_on_a_phone_fits_390_pixels(opened):
    size = {"width": 390, "height": 700}
    page = opened(viewport=size, has_touch=True, is_mobile=True)
    page.tap("#begin")
    for number in (1, 2):
        page.tap('[data-grade="1"]')
        page.wait_for_timeout(600)  # else it would be a double tap, which counts once
        assert page.inner_text("#bar-count") == f"{number} of 24"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for box in page.eval_on_selector_all(
        "#keys button", "all => all.map(b => b.getBoundingClientRect().toJSON())"
    ):
        assert box["height"] >= 44
        assert box["right"] <= 390
        assert box["bottom"] <= 700  # in sight
    assert page.is_visible("#query")
    page.tap('[data-press="g"]')
    page.tap("#close")
    assert not page.is_visible("#rule")
    assert page.problems == []


def test_practice_tells_the_agreed_grade_and_does_not_count(opened):
    page = opened()
    page.click("#try")
    agreed = []
    while page.is_visible("#place") and "Practice" in page.inner_text("#place"):
        page.keyboard.press("2")
        agreed.append(page.inner_text("#answer"))
        page.keyboard.press("2")
    assert len(agreed) == 5
    assert len({*agreed}) == 3  # grades of all three kinds
    assert all("greed: " in each for each in agreed)
    assert page.inner_text("#bar-count") == "0 of 24"
    assert page.problems == []


def test_html_is_text_nothing_is_fetched_and_long_documents_fold(opened):
    page = begin(opened())
    lengths = {}
    for _ in range(24):
        text = page.inner_text("article")
        lengths[page.inner_text("article h2")] = len(text)
        if "whistles" in text:
            assert page.locator("article mark").count() >= 2
            page.keyboard.press("f")
            assert len(page.inner_text("article")) > 200_000
            page.keyboard.press("f")
        page.keyboard.press("0")
    assert lengths["Kettle 1"] < 6_000
    for _ in range(24):
        page.keyboard.press("u")
    assert page.locator("main img, main script").count() == 0
    assert page.title() == "ann judges: faq"
    assert {url.partition(":")[0] for url in page.asked} == {"file"}
    assert len(page.asked) == 1
    assert page.problems == []


SCREENS = {
    "start": lambda page: None,
    "judge": begin,
    "rule": lambda page: (begin(page), page.keyboard.press("g")),
    "practice": lambda page: (page.click("#try"), page.keyboard.press("1")),
    "note": lambda page: (begin(page), page.keyboard.press("n")),
    "done": lambda page: (begin(page), judge_all(page)),
}


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_axe_has_nothing_to_say_of_any_screen(opened, scheme, width):
    for name, reach in SCREENS.items():
        how = {"width": width, "height": 800}
        page = opened(viewport=how, color_scheme=scheme)
        reach(page)
        page.wait_for_timeout(1_600 if name == "done" else 100)  # what is said goes
        assert axe_finds(page) == {}, name
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        page.context.close()


def axe_finds(page):
    options = {"runOnly": {"type": "tag", "values": TAGS}}
    found = Axe().run(page, options=options).response["violations"]
    return {each["id"]: each["nodes"][0]["html"][:200] for each in found}


def test_two_people_judge_and_settle_together(opened, tmp_path):
    """In the browser from the first key to the rule of the next session."""
    source = make_folder(tmp_path / "faq", n_queries=2)
    out = tmp_path / "out"
    judge(source, page=True, people="ann,ben", out=out)
    files = []
    for person, key in {"ann": "0", "ben": "2"}.items():
        page = begin(opened(path=out / f"judge-{person}.html"))
        page.keyboard.press("1")  # on the first pair both agree
        judge_all(page, key)
        with page.expect_download() as download:
            page.click("#save")
        files.append(download.value.path())
    says = judge(source, add=files, out=out).says
    assert "11 pairs have different grades" in says
    page = opened(path=out / "judge-settle.html")
    assert not page.is_visible("#in-time")
    begin(page)
    cards = page.eval_on_selector_all(".card b", "all => all.map(b => b.innerText)")
    assert cards == ["2", "0"]
    assert axe_finds(page) == {}
    page.fill("#note", "Half of it is 1.")
    page.keyboard.press("Enter")
    page.keyboard.press("1")
    page.keyboard.press("?")  # both grades stay
    rows, name = rows_saved(page)
    assert name == "judgements-settled.csv"
    assert [row["grade"] for row in rows] == ["1", "?"]
    with page.expect_download() as download:
        page.click("#save-again")
    says = judge(source, add=[download.value.path()], out=out).says
    assert "10 pairs have different grades" in says
    judge(source, page=True, people="ann,ben", out=out)
    page = opened(path=out / "judge-ann.html")
    # all is in the folder: another browser than that in which ann judged knows it, too
    thanks = "Done: 12 pairs, 0 of them in this browser. Thank you, ann."
    assert page.inner_text("#thanks") == thanks
    assert "Half of it is 1." in page.text_content("#rule")
    page = opened(path=out / "judge-lead.html", viewport={"width": 390, "height": 800})
    assert axe_finds(page) == {}
    assert "12 of 12" in page.inner_text("table")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_what_a_screen_reader_is_told(opened):
    """The names and roles that the browser gives to it."""
    page = begin(opened())
    page.keyboard.press("2")
    query, title, _ = shown(page)
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")
    told = {}
    texts = {}  # by the node that they stand in
    for node in tree["nodes"]:
        if not node["ignored"]:
            name = node.get("name", {}).get("value", "")
            told.setdefault(node["role"]["value"], []).append(name)
            texts.setdefault(node.get("parentId"), []).append(name)
    assert told["RootWebArea"] == ["ann judges: faq"]
    assert told["heading"] == [query, title]
    assert {*told["button"]} == {
        "Save file",
        "0 does not answer",
        "1 helps a bit",
        "2 answers it",
        "? I cannot tell",
        "u undo",
        "n note",
        "f unfold",
        "g the rule",
    }
    assert told["group"] == ["grade"]
    assert told["textbox"] == ["What the person wants"]
    assert told["progressbar"] == ["judged"]
    [live] = [node for node in tree["nodes"] if node["role"]["value"] == "status"]
    assert {"name": "live", "value": {"type": "token", "value": "polite"}} in (
        live["properties"]
    )
    assert texts[live["nodeId"]] == ["answers it, kept. u goes back"]


def test_the_page_for_who_leads_has_the_figures_of_the_command(opened, tmp_path):
    """A folder in which a new search ships once people have judged."""
    source = tmp_path / "faq"
    source.mkdir()
    documents = [
        {"id": f"d{n}", "question": f"Kettle {n}", "text": f"Kettle no {n}."}
        for n in range(4)
    ]
    (source / "documents.json").write_text(json.dumps(documents))
    rows = [
        f"q{n},kettle {WORDS[n % 10]}{WORDS[n // 10]},all,tail,d{document},{grade}"
        for n in range(50)
        for document, grade in ((2, 1), (3, 0))
    ]
    header = "query_id,query,course,kind,document,grade"
    (source / "judged-queries.csv").write_text("\n".join([header, *rows, ""]))
    searches = {
        "old": lambda question, course: ["d3", "d2", "d1", "d0"],
        "new": lambda question, course: ["d0", "d1", "d2", "d3"],
    }
    out = tmp_path / "out"
    how = {"searches": searches, "incumbent": "old", "only_own": True, "out": out}
    results = [evaluate(source, **how)]
    judge(source, page=True, people="ann", out=out)
    page = begin(opened(path=out / "judge-ann.html"))
    for pair in page.evaluate("data.pairs.map((pair) => pair[1])"):
        page.keyboard.press("2" if pair == "d0" else "0")
    with page.expect_download() as download:
        page.click("#save")
    judge(source, add=[download.value.path()], out=out)
    results.append(evaluate(source, **how))
    page = opened(path=out / "judge-lead.html", viewport={"width": 390, "height": 800})
    assert axe_finds(page) == {}
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    rows = page.locator("table").last.locator("tbody tr").all()
    for row, result in zip(rows, results, strict=True):
        text = row.inner_text().replace("−", "-")
        [gain] = result["candidates"]
        figures = [float(each) for each in re.findall(r"[+-]\d\.\d{3}", text)]
        told = [gain[name] for name in ("difference", "low", "high")]
        assert figures == pytest.approx(told, abs=0.0005)
        assert result["verdict"] in text
        assert f"{gain['n']} judged" in text
    assert results[0]["verdict"] != results[1]["verdict"]


def test_a_printed_sheet_has_all_pairs_with_boxes(opened):
    page = begin(opened())
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator(".of-sheet:visible").count() == 24
    assert "☐ 0   ☐ 1   ☐ 2   ☐ ?" in page.inner_text("#sheet")
    assert not page.is_visible("#keys")
    assert not page.is_visible("article")
    assert len(page.pdf()) > 20_000


def seconds_of_20_keys(page):
    start = time.monotonic()
    for _ in range(20):
        page.keyboard.press("1")
    page.inner_text("#bar-count")  # once all of them are shown
    return time.monotonic() - start


def test_two_thousand_pairs_are_judged_without_delay(browser, opened, tmp_path):
    source = make_folder(tmp_path / "large", n_queries=200, n_documents=10)
    log = source / "queries.txt"
    lines = log.read_text().splitlines()
    log.write_text("\n".join([*lines, *lines]))  # all of them typed twice
    judge(source, page=True, more=200, out=tmp_path / "out")
    path = tmp_path / "out/judge-me.html"
    page = opened(path=path)
    assert page.inner_text("#how-many").startswith("2,000 pairs of 200 queries")
    begin(page)
    assert seconds_of_20_keys(page) / 20 < 0.5
    assert page.inner_text("#bar-count") == "20 of 2,000"
    page.evaluate(KEEP_ALL_BUT_20)
    assert seconds_of_20_keys(page) / 20 < 0.5
    assert page.inner_text("#thanks").startswith("Done: 2,000 pairs")
    rows, _ = rows_saved(page, "#save")
    assert len(rows) == 2_000
    assert page.problems == []


def test_a_page_that_can_keep_nothing_says_so(opened):
    page = opened()
    page.evaluate(
        "() => { Storage.prototype.setItem = () => { throw new Error('full'); }; }"
    )
    begin(page)
    page.keyboard.press("1")
    assert "keeps nothing" in page.inner_text("#unkept")
    rows, _ = rows_saved(page)
    assert len(rows) == 1  # but the file has it


def test_a_served_page_keeps_grades_until_the_server_is_back(browser, tmp_path):
    """It is killed in between, and begins anew with the same port."""
    source = make_folder(tmp_path / "faq")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [
        "judge",
        str(source),
        "--serve",
        "--people",
        "ann,ben",
        "--port",
        str(port),
    ]
    words += ["--out", str(tmp_path / "out")]

    def first_link():
        line = [sys.executable, "-m", "evaluate_retrieval", *words]
        process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
        for text in process.stdout:
            if text.startswith("ann: "):
                return process, text.split()[1]
        raise AssertionError("no link")

    path = source / "judgements-ann.csv"

    def rows():
        return path.read_text().count("\n") - 1 if path.exists() else 0

    process, link = first_link()
    context = browser.new_context()
    page = context.new_page()
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    try:
        page.goto(link)
        begin(page)
        for number in range(1, 4):
            page.keyboard.press("1")
            wait_for(page, "!isSending && !unsent().length")
            assert rows() == number
        process.kill()
        process.wait(20)
        for _ in range(3):
            page.keyboard.press("2")
        page.wait_for_selector("#unsent:visible")
        assert page.inner_text("#bar-count") == "6 of 24"
        assert rows() == 3
        process, link = first_link()
        page.goto(link)
        wait_for(page, "!isSending && !unsent().length")
        assert rows() == 6
        assert page.inner_text("#begin") == "Go on"
        found = Axe().run(page).response["violations"]
        assert [each["id"] for each in found] == []
        other = browser.new_context().new_page()  # another device: no grade, but done
        other.goto(link)
        begin(other)
        assert other.inner_text("#bar-count") == "6 of 24"
        begin(page)
        judge_all(page)
        wait_for(page, "document.getElementById('others').textContent !== ''")
        assert page.inner_text("#others") == "The others have 24 pairs left."
        assert problems == []
    finally:
        process.kill()
        process.wait(20)
        context.close()
