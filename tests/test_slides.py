"""Test the slides of the committed notebooks in a browser.

Each fits, has notes, and needs no network."""

import subprocess
import sys
from pathlib import Path

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
WITHOUT_ALT = "[...document.images].filter((image) => !image.alt.trim()).length"


def test_every_slide_fits_a_projector_and_no_network_is_needed(tmp_path, chromium):
    make = [
        corpus.ROOT / "scripts" / "slides" / "make",
        Path(sys.executable).parent,
        tmp_path,
    ]
    subprocess.run([*make, *NOTEBOOKS], check=True, capture_output=True)
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
        assert not [url for url in asked if not url.startswith(("file:", "data:"))]
