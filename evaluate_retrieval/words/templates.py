"""The templates of what people read: pages, and texts for a terminal."""

from jinja2 import Environment, PackageLoader, StrictUndefined

from evaluate_retrieval.words.text import cell, plain


def _ids(ids):
    """A few ids as text."""
    return plain(", ".join(ids) or "nothing")


TEMPLATES = Environment(
    loader=PackageLoader("evaluate_retrieval.words", ""),
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
