"""Test the slides of the committed notebooks in a browser.

Each fits, has notes, and needs no network."""

import subprocess
import sys
from pathlib import Path

import fold
from notebook_cells import NOTEBOOKS
from playwright.sync_api import sync_playwright

from course import corpus

SCALES = (
    "[...document.querySelectorAll('.fit')].map((box) => Number(box.dataset.scale))"
)
OVER = """Reveal.getSlides().filter((slide) => {
  const { h, v } = Reveal.getIndices(slide);
  Reveal.slide(h, v);
  const { top, bottom, right } = slide.querySelector(".fit").getBoundingClientRect();
  return top < -1 || bottom > 721 || right > 1281;
}).length"""


# slides that do not say in which section they are
SECTIONS = """Reveal.getSlides().filter((slide) => {
  const { h, v } = Reveal.getIndices(slide);
  Reveal.slide(h, v);
  const heading = slide.parentElement.querySelector("h1, h2");
  const said = document.querySelector(".where").innerText.trim();
  return said !== heading.textContent.replace("¶", "").trim();
}).map((slide) => slide.innerText.slice(0, 60))"""
# pixels of the smallest text of each picture: 12 points at 100 an inch, or 22 in a
# diagram; and slides that say next to nothing, and show nothing
SMALLEST = """Reveal.getSlides().flatMap((slide) => {
  const { h, v } = Reveal.getIndices(slide);
  Reveal.slide(h, v);
  return [...slide.querySelectorAll("img")].map((image) => {
    const size = image.src.endsWith(".svg") ? 22 : 12 * 100 / 72;
    return size * image.getBoundingClientRect().width / image.naturalWidth;
  });
})"""
SHORT = """Reveal.getSlides().map((slide) => {
  const { h, v } = Reveal.getIndices(slide);
  Reveal.slide(h, v);
  const shown = slide.querySelector(".jp-OutputArea-output, img");
  return shown ? "" : slide.innerText.trim();
}).filter((text) => text && text.split(/\\s+/).length < 14)"""
BROKEN = "[...document.images].filter((image) => !image.naturalWidth).length"
WITHOUT_ALT = "[...document.images].filter((image) => !image.alt.trim()).length"


def make_slides(folder, *options):
    """Run the script into a folder; options: a folder of notebooks."""
    script = corpus.ROOT / "scripts" / "slides" / "make"
    command = [script, Path(sys.executable).parent, folder, *options]
    subprocess.run(command, check=True, capture_output=True)


def test_every_slide_fits_a_projector_and_no_network_is_needed(tmp_path, chromium):
    make_slides(tmp_path)
    with sync_playwright() as playwright:
        page, asked = (
            playwright.chromium.launch(executable_path=chromium).new_page(),
            [],
        )
        page.set_viewport_size({"width": 1280, "height": 720})
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: asked.append(str(error)))
        for path in NOTEBOOKS:
            page.goto((tmp_path / f"{path.stem}.html").as_uri())
            page.wait_for_function("window.Reveal && Reveal.isReady()")
            scales = page.evaluate(SCALES)
            assert min(scales) >= 0.55, path.stem
            assert sum(scale < 0.8 for scale in scales) <= 4, path.stem
            assert page.evaluate(OVER) == 0, path.stem
            assert page.evaluate("document.querySelectorAll('aside.notes').length") >= 6
            language = "es" if path.parent.name == "es" else "en"
            assert page.evaluate("document.documentElement.lang") == language
            assert page.evaluate(SECTIONS) == []
            assert page.evaluate(WITHOUT_ALT) == 0, path.stem
            assert page.evaluate(BROKEN) == 0, path.stem
            assert min(page.evaluate(SMALLEST)) >= 14, path.stem
            assert page.evaluate(SHORT) == [], path.stem
        assert not [url for url in asked if not url.startswith(("file:", "data:"))]


def test_the_slides_for_a_class_open_a_result_with_a_click(tmp_path, chromium):
    fold.copy(tmp_path / "class", keeps_outputs=True)
    make_slides(tmp_path, tmp_path / "class")
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=chromium).new_page()
        page.set_viewport_size({"width": 1280, "height": 720})
        page.goto((tmp_path / "02-text-evaluation.html").as_uri())
        page.wait_for_function("window.Reveal && Reveal.isReady()")
        assert page.locator("details.result").count() >= 10
        assert page.locator("details.result[open]").count() == 0
        assert min(page.evaluate(SCALES)) >= 0.55
        page.evaluate("""(() => {
          const slide = document.querySelector("details.result").closest("section");
          const { h, v } = Reveal.getIndices(slide);
          Reveal.slide(h, v, 9);
        })()""")
        result = page.get_by_text("Seven of twelve.", exact=True)
        assert not result.is_visible()
        page.locator("details.result summary").first.click()
        assert result.is_visible()
