"""What a page says in ten seconds: verdict, risk and cost, however a folder ends."""

import json
import re
from contextlib import redirect_stdout
from io import StringIO

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from sixty import said, write_agents, write_folder
from test_facts import is_a

from evaluate_retrieval.line import main
from evaluate_retrieval.words import tiles
from evaluate_retrieval.words.text import bare_name

FAILING = """

def failing(question, course):
    if int(question[1:]) % 2:
        raise ConnectionError("no answer")
    return ["d1"]


def empty(question, course):
    return [] if int(question[1:]) % 3 == 0 else SEARCHES["first"](question, course)


SEARCHES |= {"failing": failing, "empty": empty}
"""
ONE = '\nSEARCHES = {"first": at(0)}\n'
# "first" shows what is forbidden for q1
FORBIDDEN = {"forbidden.csv": "query,role,document\nq1,,d1\n"}


def judgements(first=60, unjudged=False, weight=None):
    """What is done to the judgements of the folder: a function of a table."""

    def changed(table):
        table = table.head(first)
        if unjudged:  # d(n + 1), which "second" has first, is judged for q0 alone
            table = pd.concat([table, table[:1].assign(document="d1", grade=0)])
        return table if weight is None else table.assign(weight=weight)

    return changed


# by how it ends: options, what is added to searches.py, files, judgements; the verdict
# and the reason that --json tells
ENDS = {
    "ship": ("--incumbent second", "", {}, judgements(), "ship", "better"),
    "keep": ("--incumbent first", "", {}, judgements(), "keep", "no gain"),
    "few": ("--incumbent second", "", {}, judgements(20), "undecided", "few"),
    "unjudged": (
        "--incumbent second",
        "",
        {},
        judgements(unjudged=True),
        "undecided",
        "unjudged",
    ),
    "failed": ("--incumbent second", FAILING, {}, judgements(), "ship", "better"),
    "nobody": ("", "", {}, judgements(), "ship", "best"),
    "one": ("", ONE, {}, judgements(), "keep", "alone"),
    "generated": (
        "--incumbent second --queries generated",
        "",
        {},
        judgements(),
        "ship",
        "better",
    ),
    "weights": (
        "--incumbent third",
        "",
        {},
        judgements(weight=[1, 3] * 30),
        "ship",
        "better",
    ),
    "limit": (
        "--incumbent also --max-empty 0.1",
        FAILING,
        {},
        judgements(),
        "ship",
        "better",
    ),
    "forbidden": ("--incumbent second", "", FORBIDDEN, judgements(), "keep", "alone"),
}


@pytest.fixture(scope="module", params=ENDS)
def ended(request, tmp_path_factory):
    """How a folder ended: its name, facts, and its pages by their names."""
    options, searches, files, change, *_ = ENDS[request.param]
    folder = write_folder(tmp_path_factory.mktemp(request.param))
    with (folder / "searches.py").open("a") as file:
        file.write(searches)
    path = folder / "data" / "judged-queries.csv"
    change(pd.read_csv(path)).to_csv(path, index=False)
    for name, text in files.items():
        (folder / "data" / name).write_text(text)
    _, facts = said(folder, "evaluate", *options.split())
    is_a("evaluate", facts)
    pages = {
        page.name: BeautifulSoup(page.read_text("utf-8"), "html.parser")
        for page in (folder / "out").glob("*.html")
    }
    return request.param, facts, pages


def first_words(page, n=40):
    return " ".join(page.main.get_text(" ").split()[:n])


def tiles_in(page):
    """The tiles of a page: by name, figure and note."""
    names = [name.text for name in page.main.find(class_="tiles")("dt")]
    texts = [text.get_text(" ") for text in page.main.find(class_="tiles")("dd")]
    return dict(zip(names, [" ".join(text.split()) for text in texts], strict=True))


def test_the_first_forty_words_and_the_tiles_have_verdict_risk_and_cost(ended):
    name, facts, pages = ended
    verdict, reason = ENDS[name][-2:]
    assert (facts["verdict"], facts["reason"]) == (verdict, reason)
    report = pages["report.html"]
    assert first_words(report).startswith(facts["headline"])
    word = {"ship": "(Ship|Take)", "keep": "Keep", "undecided": "Not decided"}[verdict]
    assert re.match(word, report.h1.text)
    assert len(report.find(class_="words").text.split()) > 3
    for page in pages.values():
        assert not re.search("own:|run:", page.h1.text)
        shown = tiles_in(page)
        assert [*shown] == ["Gain", "Risk", "Cost"]
        assert re.match(r"[\d.,]+ ms|not measured", shown["Cost"])
        if name == "one":
            assert {shown["Gain"], shown["Risk"]} == {"nothing to compare"}
            continue
        assert re.match(r"[+−]?\d+ of 100 queries", shown["Gain"])
        assert re.match(r"\d+ of \d+ lost much", shown["Risk"])
        assert "in 100" in shown["Risk"] or "promise nothing" in shown["Risk"]
    if "pair.html" in pages:
        assert tiles_in(pages["pair.html"]) == tiles_in(report)
        heading = pages["pair.html"].h1.text
        assert f"The report says: {facts['headline']}." in pages["pair.html"].text
        assert re.search("better|worse|cannot be told|could turn|judged", heading)


def test_a_tile_says_what_the_facts_say(ended):
    _, facts, pages = ended
    report = pages["report.html"]
    rows = {row["search"]: row for row in facts["candidates"]}
    row = rows.get(facts["pair"][0])
    if row:
        shown = tiles_in(report)["Risk"]
        assert shown == tiles.risk_tile(row, len(rows))["figure"] + " " + tiles.promise(
            row, len(rows)
        )
    times = {row["search"]: row["ms_per_query"] for row in facts["leaderboard"]}
    assert tiles_in(report)["Cost"].startswith(
        tiles.cost_tile({"ms": [times[facts["pair"][0]]]})["figure"]
    )


def test_what_must_not_be_missed_stands_above_the_tiles(ended):
    name, _, pages = ended
    page = pages["report.html"]
    texts = " ".join(each.text for each in page(class_="warning"))
    expected = {"failed": "failed for", "limit": "limit of", "forbidden": "forbidden"}
    assert expected.get(name, "") in texts
    assert bool(texts) == (name in expected)


def test_pages_are_well_made(ended):
    """Landmarks, heads of tables, code that is reached by keyboard, no odd zeros."""
    for page in ended[2].values():
        assert len(page("main")) == len(page("h1")) == 1
        assert all(head.get("scope") and head.text.strip() for head in page("th"))
        for box in [*page("pre"), *page(class_="scroll")]:
            assert box["tabindex"] == "0"
            assert box["role"]
            assert box["aria-label"]
        text = page.main.get_text(" ")
        assert not re.search(r"[−-]0\.0+(?!\d)|\bp 0\.000", text)
        ids = [each["id"] for each in page(id=True)]
        assert len(ids) == len({*ids})
        for link in page(class_="units")[:1]:
            squares = link("a")
            target = ended[2]["pair.html"]
            assert all(target.find(id=a["href"].partition("#")[2]) for a in squares)


@pytest.mark.parametrize(
    ("n", "agents", "headline", "risk"),
    [
        (60, {"one": 1, "two": 2}, "Ship “two”", "0 of 60 lost much"),
        (60, {"two": 2, "one": 1}, "Ship “two”", "0 of 60 lost much"),
        (9, {"one": 1, "two": 2}, "Not decided: keep “one” for now", "0 of 9 lost"),
        (60, {"one": 1}, "Keep “one”", "nothing to compare"),
    ],
)
def test_agents_have_a_decision_too(tmp_path, n, agents, headline, risk):
    write_agents(tmp_path / "data", n, agents)
    line = ["calls", str(tmp_path / "data"), "--out", str(tmp_path / "out"), "--json"]
    with redirect_stdout(StringIO()) as printed:
        assert main([*line, "--incumbent", "one"]) == 0
    facts = json.loads(printed.getvalue())
    html = (tmp_path / "out" / "calls.html").read_text("utf-8")
    page = BeautifulSoup(html, "html.parser")
    assert page.h1.text == facts["headline"] == headline
    assert first_words(page).startswith(headline)
    shown = tiles_in(page)
    assert shown["Risk"].startswith(risk)
    if len(agents) > 1:
        assert shown["Gain"].startswith("+100 of 100 queries more have everything")
        cost = "2,040 tokens instead of 1,020 a query; 4 ms instead of 2; 2 calls"
        assert shown["Cost"].startswith(cost)
        assert page.find(class_="forest")
    assert all(head.get("scope") and head.text.strip() for head in page("th"))
    assert "1,020" in page.table.text


@pytest.mark.parametrize(
    ("difference", "low", "high", "says"),
    [
        (0.24, 0.15, 0.33, "+24 of 100 queries more have it (it may be 15 to 33 more)"),
        (-0.1, -0.2, -0.05, "−10 of 100 queries fewer have it (it may be 5 to 20 few"),
        (0, -0.04, 0.06, "0 of 100 queries as many have it (it may be 4 fewer to 6 m"),
        (0.004, 0, 0.004, "0 of 100 queries about as many have it (it may be less t"),
    ],
)
def test_a_hundred_queries(difference, low, high, says):
    row = {"difference": difference, "low": low, "high": high, "counts": [3, 2]}
    tile = tiles.gain_tile(row | {"n": 100}, "it")
    assert f"{tile['figure']} {tile['note']}".startswith(says)


def test_a_promise_is_the_bound_and_no_more():
    row = {"n": 72, "n_lost": 0, "at_most": 0.131, "why": "all"}
    assert "fewer than 14 in 100 will (98% sure)" in tiles.promise(row)
    assert "for all 7 candidates together" in tiles.promise(row, 7)
    assert "promise nothing" in tiles.promise(row | {"at_most": 1.0})
    assert tiles.promise(row | {"why": "same"}) == "Both show the same."
    with_losses = tiles.lost_much(row | {"n_lost": 3}, "x")
    assert with_losses.startswith("With “x” 3 of the 72 queries lose much")


def test_a_name_keeps_its_origin_where_another_is_called_so():
    names = ["own: titles", "run: titles", "own: other"]
    assert bare_name("own: titles", names) == "own: titles"
    assert bare_name("own: other", names) == "other"
