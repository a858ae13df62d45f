"""Test the slides of the committed notebooks in a browser.

Each fits, has notes, and needs no network."""

import subprocess
import sys
from pathlib import Path

import pytest
from notebook_cells import NOTEBOOKS

from course import corpus

# of all slides: the scales to which they are made smaller; how many do not fit; and the
# pixels of the smallest text of each picture: 12 points at 100 an inch, 22 in a diagram
STATE = """() => {
  const boxes = [...document.querySelectorAll(".fit")];
  let over = 0, texts = [];
  for (const slide of Reveal.getSlides()) {
    const { h, v } = Reveal.getIndices(slide);
    Reveal.slide(h, v);
    const { top, bottom, right } = slide.querySelector(".fit").getBoundingClientRect();
    over += top < -1 || bottom > 721 || right > 1281;
    for (const image of slide.querySelectorAll("img")) {
      const size = image.src.endsWith(".svg") ? 22 : 12 * 100 / 72;
      texts.push(size * image.getBoundingClientRect().width / image.naturalWidth);
    }
  }
  return {
    over,
    smallest: Math.min(...boxes.map((box) => Number(box.dataset.scale))),
    text: Math.min(...texts),
    notes: document.querySelectorAll("aside.notes").length,
    bad: [...document.images].filter((i) => !i.naturalWidth || !i.alt.trim()).length,
    language: document.documentElement.lang,
  };
}"""


@pytest.fixture(scope="module")
def page(browser):
    return browser.new_page(viewport={"width": 1280, "height": 720})


def open_slides(page, folder, stem):
    page.goto((folder / f"{stem}.html").as_uri())
    page.wait_for_function("window.Reveal && Reveal.isReady()")


def make_slides(folder, *options):
    """Run the script into a folder; options: a folder of notebooks."""
    script = corpus.ROOT / "scripts" / "slides" / "make"
    command = [script, Path(sys.executable).parent, folder, *options]
    subprocess.run(command, check=True, capture_output=True)


def test_every_slide_fits_a_projector_and_no_network_is_needed(tmp_path, page):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: asked.append(str(error)))
    make_slides(tmp_path)
    for path in NOTEBOOKS:
        open_slides(page, tmp_path, path.stem)
        state = page.evaluate(STATE)
        assert (state["over"], state["bad"]) == (0, 0), path.stem
        assert state["smallest"] >= 0.55, path.stem
        assert state["text"] >= 14, path.stem
        assert state["notes"] >= 6, path.stem
        assert state["language"] == ("es" if path.parent.name == "es" else "en")
    assert not [url for url in asked if not url.startswith(("file:", "data:"))]
