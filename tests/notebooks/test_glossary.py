"""notebooks/GLOSSARY.md: each term is used in the notebook that its entry names."""

import re

import nbformat
import pytest
from notebook_cells import NOTEBOOKS

from evaluate_retrieval.reading.places import ROOT

GLOSSARY = (ROOT / "notebooks" / "GLOSSARY.md").read_text(encoding="utf-8")
FIRST = re.findall(r"(?ms)^### (.+?)\n\n[^#]*?\*Lesson (\d+)\.\*$", GLOSSARY)
OTHERS = re.findall(r"(?m)^\| (?!term|-)([^|]+) \| .+ \| ([\d, ]+) \|$", GLOSSARY)
CALLED = {  # terms that a notebook calls by a part of their name, or another one
    "coverage@k": "coverage",
    "p value": "p says",
    "refused share": "share of them that is refused",
    "standardised score": "standardised",
    "Student's t interval": "Student's t",
    "weak evidence": "evidence is weak",
}


def pattern_of(form):
    """Of a word or several: as it is in a sentence, whatever its ending, or in code."""
    words = [
        re.escape(word[:-2] if len(word) > 5 else word) + r"\w*"
        for word in re.findall(r"[^\W_@]+", form)
    ]
    return r"(?i)(?<![a-z])" + r"(?:’s|'s)?[\W_]{1,3}".join(words)


def forms_of(term):
    """The words by which a term is called: without what is in brackets."""
    return CALLED.get(term, re.sub(r"\s*\(.*?\)", "", term)).split(", ")


def text_of(number):
    """All that a notebook says, and its code, without the addresses of links."""
    [path] = [path for path in NOTEBOOKS if path.stem.startswith(f"{number:02}-")][:1]
    cells = nbformat.read(path, as_version=4).cells
    text = "\n".join(cell.source for cell in cells)
    return re.sub(r"\]\([^)]*\)", "]", text)


def test_terms_are_in_order_and_stand_once():
    assert len(FIRST) == 15  # as its heading says, and README
    for terms in ([term for term, _ in FIRST], [term for term, _ in OTHERS]):
        assert terms == sorted(terms, key=str.casefold)
    assert len({term for term, _ in FIRST + OTHERS}) == len(FIRST + OTHERS) > 100


@pytest.mark.parametrize(("term", "places"), FIRST + OTHERS)
def test_the_notebook_that_an_entry_names_uses_its_term(term, places):
    for place in places.split(", "):
        text = text_of(int(place))
        used = [form for form in forms_of(term) if re.search(pattern_of(form), text)]
        assert used, f"{term} is not in notebook {place}"
