"""The widgets by which lessons judge: a page, a box for keys, and buttons."""

import html
import time
from collections.abc import Mapping
from functools import cache

from ipywidgets import VBox

from evaluate_retrieval import utils
from evaluate_retrieval.judging.grading import Judging, judge

TOO_SOON = 0.3  # seconds; a key that comes sooner is held down, and not meant
PAGE_HTML = """<div tabindex="-1" data-lm-suppress-shortcuts="true"><div>{status}</div>
<div style="font-size: 1.25em; line-height: 1.3; margin: 0.4em 0"><b>{query}</b></div>
<div tabindex="0" data-lm-suppress-shortcuts="true" style="height: 40vh; overflow: auto;
  overflow-wrap: anywhere; padding: 0 1em; border: 1px solid; line-height: 1.4">
<p><b>{question}</b></p>{text}</div></div>"""


@cache
def _markdown():
    """A function: Markdown -> HTML. HTML in it is shown as text, and line breaks stay.

    Pictures are named, and never fetched."""
    import mistune

    class NoPictures(mistune.HTMLRenderer):
        def image(self, text: str, url: str, title: str | None = None) -> str:
            return f"[picture: {text} {self.safe_url(url)}]"

    renderer = NoPictures(escape=True)
    return mistune.create_markdown(hard_wrap=True, renderer=renderer)


def item_html(judging: Judging, records: Mapping[str, utils.Document]) -> str:
    """The item at hand in HTML. Its texts are escaped, and Markdown is rendered."""
    if not judging.at:
        return f"<p>{judging}. Nothing is left to judge; u goes back.</p>"
    item = dict(zip(judging.fields, judging.at, strict=True))
    status = str(judging)
    if judging.at in judging.done:
        status += f"; here: {judging.done[judging.at]}"
    record = records[item["document"]]
    return PAGE_HTML.format(
        question=html.escape(record["question"]),
        query=html.escape(item["query"]),
        status=html.escape(status),
        text=_markdown()(record["text"]),
    )


class Panel(VBox):
    """The widgets of a Judging, and its buttons by key: lesson 05 clicks by code."""

    def __init__(self, children: list, judging: Judging, buttons: dict) -> None:
        super().__init__(children)
        self.judging = judging
        self.buttons = buttons


def panel(judging: Judging, documents: utils.Documents) -> Panel:
    """The widgets of a Judging: a page, then a box for keys and buttons.

    The buttons are in its attribute buttons, by key, and the Judging in judging."""
    import ipywidgets as widgets

    records = {document["id"]: document for document in documents}
    page = widgets.HTML()
    box = widgets.Text(placeholder="keys go here", layout={"width": "9em"})
    taken = 0.0  # when the last key was

    def show() -> None:
        page.value = item_html(judging, records)
        box.focus()

    def press(key: str) -> None:
        try:
            judge(judging, key)
            show()
        except OSError as error:  # a full disk: the page says it, and asks again
            problem = html.escape(str(error))
            page.value = f"<b>Not stored: {problem}</b>{page.value}"

    def take(key: str) -> None:
        nonlocal taken
        if not key:  # the box was emptied, by the line below
            return
        before = taken
        taken = time.monotonic()
        box.value = ""
        if key == "u" or taken - before > TOO_SOON:
            press(key)

    buttons = {}
    for key, label in {**judging.keys, "u": "back (u)"}.items():
        buttons[key] = widgets.Button(description=label, layout={"width": "auto"})
        buttons[key].on_click(lambda _, key=key: press(key))
    box.observe(lambda change: take(change.new.lower()), "value")
    row = widgets.HBox([box, *buttons.values()])
    row.layout.flex_flow = "row wrap"
    where = html.escape(f"{judging.path.absolute()} {judging.note}")
    small = widgets.HTML(f"<small>Judgements go to {where}</small>")
    show()
    return Panel([page, row, small], judging, buttons)
