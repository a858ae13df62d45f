"""The templates of what people read: pages, and texts for a terminal.

What a template may use is all here, or given to `render` by who calls it. So a template
means the same whichever modules are loaded."""

from functools import cache
from typing import Any

from evaluate_retrieval.words.text import cell, plain


def _ids(ids):
    """A few ids as text."""
    return plain(", ".join(ids) or "nothing")


def _percent(share, decimals=0):
    """A share as text, such as 12%."""
    return f"{share:.{decimals}%}"


def _signed(value, decimals=3):
    """A difference as text: with its sign, and a minus as wide as the plus."""
    text = f"{value:+.{decimals}f}"
    return f"{0:.{decimals}f}" if not float(text) else text.replace("-", "−")


def _number(value, decimals=3):
    """A value as text, with so many decimals."""
    return f"{value:.{decimals}f}"


def _interval(row):
    """A difference as text, and its interval if there is one: at most 1 from 0."""
    middle = _signed(row["difference"])
    low = max(row["low"], -1)
    high = min(row["high"], 1)
    return middle if low != low else f"{middle} ({_signed(low)} to {_signed(high)})"


def chance(p: float) -> str:
    """A p value as text."""
    return "below 0.001" if p < 0.001 else f"{p:.3f}"


def beside(n_groups: int, n: int, unit: str) -> str:
    """How many groups a number of queries are, as text in brackets; "" if as many."""
    return f" ({n_groups:,} {unit})" if n_groups != n else ""


@cache
def templates() -> Any:
    """The templates, of jinja2: loaded when one is used, since a browser lacks it."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("evaluate_retrieval.words", ""),
        autoescape=lambda name: ".html" in name,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "plain": plain,
        "cell": cell,
        "ids": _ids,
        "percent": _percent,
        "signed": _signed,
        "number": _number,
        "gain": "{:+.3f}".format,
        "interval": _interval,
        "chance": chance,
        "beside": beside,
        "thousands": "{:,}".format,
    }
    return environment


def render(template: str, /, **values: Any) -> str:
    """A template of this folder as text. values: what it shows."""
    return templates().get_template(template).render(**values)


def line_of(template: str, /, **values: Any) -> str:
    """A template as one line: line breaks and runs of blanks become a blank."""
    return " ".join(render(template, **values).split())
