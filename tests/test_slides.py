"""Test the decks: their sections in Python, all their slides in a browser."""

import re
import subprocess
import sys
from pathlib import Path

import deck
import nbformat
import pandas as pd
import pytest

from course import corpus

PAGE = (corpus.ROOT / "notebooks" / "README.md").read_text(encoding="utf-8")
# What is wrong on which slide. Pixels of the text of pictures: 12 points at 100 an
# inch, 22 in a diagram. A picture that was made narrower has to leave no third empty.
STATE = r"""() => {
  const wrong = [], slides = Reveal.getSlides();
  const isNumber = (cell) => /^[-+−]?\d[\d.,]*$/.test(cell.textContent);
  const isText = (cell) => /^\p{L}{2,}( \p{L}+)+$/u.test(cell.textContent.trim());
  const side = (cell) => getComputedStyle(cell).textAlign;
  for (const slide of slides) {
    const { h, v } = Reveal.getIndices(slide);
    Reveal.slide(h, v, 99);
    const note = (what, ...values) => wrong.push([`#/${h}/${v}`, what, ...values]);
    const box = slide.querySelector(".fit");
    const { top, bottom, width } = box.getBoundingClientRect();
    const scale = width / box.offsetWidth;
    if (top < -1 || bottom > 690) note("does not fit", bottom);
    for (const node of box.querySelectorAll("pre, pre *, table, table *")) {
      const size = parseFloat(getComputedStyle(node).fontSize) * scale;
      if (size < 23.99) note("is small", size, node.textContent);
      if (node.getBoundingClientRect().right > 1281) note("is wide", node.textContent);
    }
    for (const table of box.querySelectorAll("table")) {
      const cells = [...table.querySelectorAll("td")];
      if (cells.some((one) => isText(one) && side(one) !== "left")) note("text");
      for (let i = 1; i < 20; i++) {
        const column = cells.filter((one) => one.matches(`:nth-last-child(${i})`));
        if (column.every(isNumber) && column.some((one) => side(one) !== "right")) {
          note("numbers", i);
        }
      }
    }
    for (const image of box.querySelectorAll("img")) {
      const scale = image.getBoundingClientRect().width / image.naturalWidth;
      const size = image.src.endsWith(".svg") ? 22 : 12 * 100 / 72;
      if (!(scale * size >= 14) || !image.alt.trim()) note("picture", scale, image.alt);
      if (scale < 1 && bottom < 480) note("a third is empty", bottom);
    }
    const cue = slide.querySelector("aside.notes")?.textContent;
    if (document.documentElement.lang === "en" && !cue) note("no note");
  }
  const columns = [...document.querySelectorAll(".slides > section")];
  return {
    wrong,
    slides: slides.length,
    cues: columns.map((column) => [...column.querySelectorAll("aside")].map(
      (aside) => aside.textContent).join(" ")),
    headings: columns.map((column) =>
      column.querySelector("h1, h2, h3").textContent.replace("¶", "")),
    language: document.documentElement.lang,
  };
}"""


@pytest.fixture(scope="module")
def page(browser):
    return browser.new_page(viewport={"width": 1280, "height": 720})


def states(page, folder, minutes):
    """Write the decks; by stem what the browser says of each."""
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: asked.append(str(error)))
    script = corpus.ROOT / "scripts" / "slides" / "make"
    command = [script, Path(sys.executable).parent, folder, minutes]
    subprocess.run(command, check=True, capture_output=True)
    states = {}
    for path in sorted(folder.glob("*.html")):
        page.goto(path.as_uri())
        page.wait_for_function("window.Reveal && Reveal.isReady()")
        states[path.stem] = page.evaluate(STATE)
    assert not [url for url in asked if not url.startswith(("file:", "data:"))]
    return states


def test_every_slide_is_read_from_afar_and_says_what_to_do(tmp_path, page):
    whole = states(page, tmp_path, "90")
    assert len(whole) == 17
    for stem, state in whole.items():
        assert state["wrong"] == [], stem
        assert state["language"] == ("es" if "evaluacion" in stem else "en")


def test_a_deck_has_its_sheet_with_minutes_and_a_slide_for_each_pause(tmp_path, page):
    decks = states(page, tmp_path, "45")
    for path, sheet in deck.sheets(PAGE).items():
        state = decks.pop(Path(path).stem)
        assert (state["wrong"], state["slides"] <= 41) == ([], True), path
        assert "Exercises" not in state["headings"]
        told = dict(zip(state["headings"], state["cues"], strict=True))
        for title, (since, minute, do, pause) in [*sheet.items()][1:]:
            cue = told.get(title.replace("`", ""), "")
            assert bool(cue) == (since <= 45), title
            assert f"{do.title()} from minute {minute}." in cue or not (minute and cue)
            for words in re.findall('"[^"]+"', pause):
                assert f"Pause on this slide: {words}" in cue
    assert decks == {}


def cut(sheet, minutes):
    """The cells that are left of a small notebook."""
    text = "# 1 · A; ## B\n\nb; So.\n\n### C\n\nc; ## Exercises; ## What you saw"
    cells = [nbformat.v4.new_markdown_cell(part) for part in text.split("; ")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    deck.cut(notebook, sheet, minutes)
    return " ".join(cell.source.strip("# \n")[0] for cell in notebook.cells)


def test_what_a_class_sees_depends_on_its_minutes():
    table = """
| **0** | **[vote](1.ipynb#1--a)** | show ||
| 3 | [B](1.ipynb#b) | skip ||
| **9** | **[C](1.ipynb#c)** | run | "c" |
"""
    sheet = deck.sheets(table)["1.ipynb"]
    assert sheet["C"] == (15, 9, "run", '"c"')
    assert [cut(sheet, minutes) for minutes in (15, 90)] == ["1 C W", "1 B S C E W"]
    assert cut({}, 45) == "1 B S C W"


def test_a_heading_that_no_notebook_has_is_named():
    with pytest.raises(ValueError, match=r"no heading: .'D'"):
        cut({"vote": (15, 0, "show", ""), "D": (15, 1, "show", "")}, 15)


def test_the_page_for_teachers_is_short_and_its_links_are_named_as_the_headings():
    assert len(PAGE.split()) <= 2_000
    times = pd.read_csv(corpus.ROOT / "notebooks" / "durations.csv")
    assert times.groupby("notebook")["seconds"].sum().max() < 30  # half a minute
    for title, path, place in re.findall(r"\[([^]]+)\]\((\S+ipynb)#(\S+)\)", PAGE):
        slug = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        assert place == slug or title == next(iter(deck.sheets(PAGE)[path])), title
