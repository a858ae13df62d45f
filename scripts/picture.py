"""For authors: the report of lesson 05 as a picture with three arrows.

It runs the first line of the lesson. The page's heading goes into the picture's file,
so that a test can tell a picture of an earlier report. So does the row of pixels above
the intervals: there deck.py cuts it, for it is higher than a slide."""

import io
import os
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image, PngImagePlugin
from playwright.sync_api import sync_playwright

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
PICTURE = NOTEBOOKS / "figures" / "05-report.png"
LINE = "evaluate-retrieval faq --searches faq/searches.py --incumbent shipped"
WIDTH = 1220  # pixels, as a slide has them; 200 for what the arrows say
SAID = {  # what an arrow points at, a CSS selector, and what it says
    "h1": "the decision",
    ".forest": "how sure: the intervals",
    ".units": "who gains, who loses",
}
# an arrow and its words at the height of each element's middle, right of the page
DRAW = """said => {
  document.body.style.cssText = "max-width: 960px; margin: 0 0 0 24px";
  for (const [selector, words] of Object.entries(said)) {
    const box = document.querySelector(selector).getBoundingClientRect();
    const arrow = document.createElement("p");
    arrow.textContent = "◀ " + words;
    arrow.style.cssText = "position: absolute; left: 1004px; width: 200px; margin: 0;"
      + "transform: translateY(-50%); font: 600 20px/1.3 sans-serif; color: #a33b00;"
      + `top: ${(box.top + box.bottom) / 2}px`;
    document.body.append(arrow);
  }
  const forest = document.querySelector(".forest").previousElementSibling;
  const units = document.querySelector(".units").parentElement;
  const top = Math.round(forest.getBoundingClientRect().top) - 12;
  return [top, units.getBoundingClientRect().bottom + 12];
}"""


def draw(report, picture):
    """Write the top of a report, down to its squares, as a picture with arrows."""
    with sync_playwright() as playwright:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": 1200})
        page.goto(report.resolve().as_uri())
        heading = page.locator("h1").inner_text()
        cut, height = page.evaluate(DRAW, SAID)
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": height}
        shot = page.screenshot(clip=clip, full_page=True)
        browser.close()
    said = PngImagePlugin.PngInfo()
    said.add_text("heading", heading)
    said.add_text("cut", str(cut))
    colours = Image.open(io.BytesIO(shot)).convert("RGB").quantize(64)
    colours.save(picture, optimize=True, pnginfo=said)


def report_of_the_lesson(folder):
    """Run the lesson's first line in an empty folder, and return the report's path."""
    os.environ["COURSE_RESULTS"] = str(folder)
    sys.path.insert(0, str(NOTEBOOKS))
    import terminal  # after its folder is named

    terminal.write_searches(terminal.example("llm-engineering"))
    terminal.run(LINE, [])
    return terminal.desk() / "results" / "report.html"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        draw(report_of_the_lesson(Path(folder)), PICTURE)
