"""The templates of what people read: pages, and texts for a terminal."""

import re

from jinja2 import Environment, PackageLoader, StrictUndefined

from evaluate_retrieval.screen import printable

MARKUP = r"""[\\`*_{}\[\]()#+!|~$@:<>&"'-]"""  # of Markdown and HTML


def plain(text, longest=200):
    """A text of users on one line: no control characters, only its first letters."""
    line = printable(" ".join(str(text).split()))
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def cell(text, longest=200):
    """A text of users for a table in Markdown: on one line, and no markup."""
    return re.sub(MARKUP, lambda match: f"&#{ord(match[0])};", plain(text, longest))


def _ids(ids):
    """A few ids as text."""
    return plain(", ".join(ids) or "nothing")


TEMPLATES = Environment(
    loader=PackageLoader("evaluate_retrieval", ""),
    autoescape=lambda name: ".html" in name,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.filters |= {"plain": plain, "cell": cell, "ids": _ids}


def render(template, /, **values):
    """A template of this folder as text. values: what it shows."""
    return TEMPLATES.get_template(template).render(**values)


def line_of(template, /, **values):
    """A template as one line: line breaks and runs of blanks become a blank."""
    return " ".join(render(template, **values).split())
