"""Test the decks: their sections in Python, all their slides in a browser."""

import re
import subprocess
import sys
from pathlib import Path

import deck
import nbformat
import pytest

from evaluate_retrieval.reading import places

pytestmark = pytest.mark.slow
PAGE = (places.ROOT / "notebooks" / "README.md").read_text(encoding="utf-8")
# What is wrong on which slide. Pixels of the text of pictures: 12 points at 100 an
# inch, 22 in a diagram. A picture that was made narrower has to leave no third empty.
STATE = r"""() => {
  const wrong = [];
  const isNumber = (cell) => /^[-+−]?\d[\d.,]*$/.test(cell.textContent);
  const isText = (cell) => /^\p{L}{2,}( \p{L}+)+$/u.test(cell.textContent.trim());
  const side = (cell) => getComputedStyle(cell).textAlign;
  for (const slide of Reveal.getSlides()) {
    const { h, v } = Reveal.getIndices(slide);
    Reveal.slide(h, v, 99);
    const note = (what, ...values) => wrong.push([`#/${h}/${v}`, what, ...values]);
    const box = slide.querySelector(".fit");
    const { top, bottom, width } = box.getBoundingClientRect();
    const scale = width / box.offsetWidth;
    const [head, ...rest] = box.children;
    if (!head?.matches("h1, h2, h3, h4")) note("has no heading");
    if (!rest.some((one) => one.textContent.trim() || one.querySelector("img"))) {
      note("is empty");
    }
    for (const output of box.querySelectorAll("[data-kind=output] pre")) {
      const text = output.textContent;
      if (/\{'/.test(text)) note("has a dictionary", text);
      if (/results\/\S+\n/.test(text)) note("has a log", text);
    }
    if (top < -1 || bottom > 708) note("does not fit", bottom);
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
    // the Spanish one has no sheet
    const cue = slide.querySelector("aside.notes")?.textContent;
    const isSpanish = /[áéíóúñ¿]/.test(document.querySelector("h2").textContent);
    if (isSpanish !== (document.documentElement.lang === "es")) note("language");
    if (!isSpanish && !cue) note("no note");
  }
  const columns = [...document.querySelectorAll(".slides > section")];
  const cues = Object.fromEntries(columns.map((column) => [
    column.querySelector("h1, h2, h3").textContent.replace("¶", ""),
    [...column.querySelectorAll("aside")].map((one) => one.textContent).join(" "),
  ]));
  if (Reveal.getConfig().totalTime !== 60 * MINUTES) wrong.push("no time");
  return [wrong, cues];
}"""


# what 45 minutes show is among what 90 show: there a lesson has the minutes of its cues
@pytest.mark.parametrize(("minutes", "lesson"), [(45, "02"), (90, "")])
def test_slides_are_read_from_afar_and_say_what_to_do(
    minutes, lesson, tmp_path, browser
):
    page, asked = browser.new_page(viewport={"width": 1280, "height": 720}), []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: asked.append(str(error)))
    script = places.ROOT / "scripts" / "slides" / "make"
    command = [script, Path(sys.executable).parent, tmp_path, str(minutes), lesson]
    subprocess.run(command, check=True, capture_output=True)
    sheets = {
        path: sheet
        for path, sheet in deck.sheets(PAGE).items()
        if Path(path).name.startswith(lesson)
    }
    assert sheets
    if minutes == 90:
        sheets[deck.WHOLE] = {}
    for path, sheet in sheets.items():
        page.goto((tmp_path / Path(path).name).with_suffix(".html").as_uri())
        page.wait_for_function("window.Reveal && Reveal.isReady()")
        wrong, cues = page.evaluate(STATE.replace("MINUTES", str(minutes)))
        assert wrong == [], path
        for title, (since, minute, do, pause) in [*sheet.items()][1:]:
            cue = cues.get(title.replace("`", ""), "")
            assert bool(cue) == (since <= minutes), title
            for words in re.findall('"[^"]+"', pause):
                assert f"Pause on this slide: {words}" in cue
            if cue and minute and minutes == 45:
                assert f"{do.title()} from minute {minute}." in cue
    assert not [url for url in asked if not url.startswith(("file:", "data:"))]


def cut(sheet, minutes):
    """How the cells begin that are left of a small notebook."""
    text = "# 1 · A; ## B\n\nb; So.\n\n### C\n\nc; ## Exercises; ## What you saw"
    cells = [nbformat.v4.new_markdown_cell(part) for part in text.split("; ")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    deck.cut(notebook, sheet, minutes)
    return "".join(cell.source.strip("# ")[0] for cell in notebook.cells)


def test_what_a_class_sees_depends_on_its_minutes_and_each_heading_is_one():
    table = """
| **0** | **[vote](1.ipynb#1--a)** | show ||
| 3 | [B](1.ipynb#b) | skip ||
| **9** | **[C](1.ipynb#c)** | run | "c" |
"""
    sheet = deck.sheets(table)["1.ipynb"]
    assert sheet["C"] == (15, 9, "run", '"c"')
    assert [cut(sheet, 15), cut(sheet, 90), cut({}, 45)] == ["1CW", "1BSCEW", "1BSCW"]
    with pytest.raises(ValueError, match=r"no heading: .'D'"):
        cut(sheet | {"D": sheet["C"]}, 15)


def test_the_page_for_teachers_is_short_and_its_links_are_named_as_the_headings():
    assert len(PAGE.split()) <= 2_150
    for title, place in re.findall(r"\[([^]]+)\]\(\S+ipynb#(\S+)\)", PAGE):
        slug = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        assert place == slug or place[0].isdigit(), title  # of a notebook's start
