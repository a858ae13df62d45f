"""The widgets by which lessons judge: a page, a box for keys, and buttons."""

import html
import time
from functools import cache

from evaluate_retrieval.judging.grading import judge

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
        def image(self, text, url, title=None):
            return f"[picture: {text} {self.safe_url(url)}]"

    renderer = NoPictures(escape=True)
    return mistune.create_markdown(hard_wrap=True, renderer=renderer)


def item_html(judging, records):
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


def _show(view):
    """Show the item at hand, and wait for a key."""
    view.page.value = item_html(view.judging, view.records)
    view.key.focus()


def _take(view, key):
    """Take a typed key, unless it comes too soon after the last one."""
    if not key:  # the box was emptied
        return
    before = view.taken
    view.taken = time.monotonic()
    view.key.value = ""
    if key == "u" or view.taken - before > TOO_SOON:
        _press(view, key)


def _press(view, key):
    """Do what a key says.

    The page says when a grade cannot be stored, and asks again."""
    try:
        judge(view.judging, key)
        _show(view)
    except OSError as error:
        problem = html.escape(str(error))
        view.page.value = f"<b>Not stored: {problem}</b>{view.page.value}"


def panel(judging, documents):
    """The widgets of a Judging: a page, a box for keys, and buttons."""
    import ipywidgets as widgets

    view = widgets.VBox()
    view.judging = judging
    view.taken = 0
    view.records = {document["id"]: document for document in documents}
    view.page = widgets.HTML()
    view.key = widgets.Text(placeholder="keys go here", layout={"width": "9em"})
    view.buttons = {}
    for key, label in {**judging.keys, "u": "back (u)"}.items():
        view.buttons[key] = widgets.Button(description=label, layout={"width": "auto"})
        view.buttons[key].on_click(lambda _, key=key: _press(view, key))
    view.key.observe(lambda change: _take(view, change.new.lower()), "value")
    row = widgets.HBox([view.key, *view.buttons.values()])
    row.layout.flex_flow = "row wrap"
    where = html.escape(f"{judging.path.absolute()} {judging.note}")
    where = widgets.HTML(f"<small>Judgements go to {where}</small>")
    view.children = [view.page, row, where]
    _show(view)
    return view
