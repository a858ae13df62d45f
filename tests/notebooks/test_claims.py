"""Hold what the pages say to what the committed cells print.

A decimal in prose is a number that its own section has printed before. A sentence that
compares, in the README or in a box *What you saw*, is on the list in claims/, a file
for each page, with the cell that prints its figure and with its verdict. `says` is a
part of the sentence, `figure` and `interval` are as the cell prints them (one row, so
the sign is that of its two sides), and with `p` it decides the verdict. A description
has figures and no verdict. An `other` is a sentence with such a word that compares
nothing."""

import re
import tomllib
from functools import cache

import nbformat
import pytest
from notebook_cells import NOTEBOOKS

from course import exercises
from evaluate_retrieval.reading.places import ROOT

NUMBER = r"-?\d+(?:[.,]\d+)*"
DECIMAL = re.compile(r"(?<![\w.,-])-?\d+\.\d+(?!\w|\.\d|,\d)")  # a full stop may follow
WITH_INTERVAL = re.compile(
    r"(?:(-?\d+\.\d+)[^.()\d]{0,40})?\((-?\d+\.\d+) to (-?\d+\.\d+)"
)
HEADING = re.compile(r"(?m)^(?=#{2,3} )")
# no figures: hints, code, drawings, the size of a model, an example of a margin
HIDDEN = re.compile(
    r"(?s)<details>.*?</details>|`[^`]*`|!\[[^]]*\]|1\.5 billion|say 0\.\d+"
    r"|Below 0\.05 after Holm's correction|0\.03 to 0\.07 we call"  # the rule for p
)
BOXES = ("What you saw", "Lo que has visto")


def numbers_in(texts):
    """The numbers of texts, each as a whole token; a minus belongs to it."""
    return set(re.findall(NUMBER, "\n".join(texts).replace("−", "-")))


def rows_of(cell):
    """The numbers of each row, line or part of an alt text that a cell prints."""
    texts = []
    for output in cell.outputs:
        data = output.get("data", {})
        texts += re.findall(r"(?s)<tr.*?</tr>", data.get("text/html", ""))
        texts += output.get("text", "").split("\n")
        if "text/html" not in data and "image/png" not in data:
            texts += data.get("text/plain", "").split("\n")
        alt = output.get("metadata", {}).get("image/png", {}).get("alt", "")
        texts += re.split(r"; |\. |, (?=[A-Za-z])", alt)
    return [numbers_in([re.sub(r"<[^>]*>", " ", text)]) for text in texts]


def sections(notebook):
    """(heading, [(prose, rows, settings), ...]) of each section between two headings.

    rows: the numbers that its cells before this prose print. settings: those with one
    or two decimals in the code of the section."""
    by_heading, rows, settings = [("", [])], [], set()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            in_code = numbers_in([cell.source])
            settings |= {n for n in in_code if re.fullmatch(r"-?\d+\.\d\d?", n)}
            rows = rows + rows_of(cell)
            continue
        first, *later = HEADING.split(cell.source)
        by_heading[-1][1].append((first, rows, settings))
        for part in later:
            rows, settings = [], set()
            heading = part.split("\n")[0].lstrip("# ")
            by_heading.append((heading, [(part, rows, settings)]))
    return by_heading


def shown(prose):
    """Prose without what is no figure."""
    return HIDDEN.sub("", prose).replace("−", "-")


def is_known(decimal, numbers):
    """Whether it is one of the numbers; one without a minus may be a loss, too."""
    return decimal in numbers or f"-{decimal}" in numbers


def decimals(notebook):
    """(decimal, numbers that it may be) for each decimal in prose.

    A figure and the two ends of its interval have to be of one row. Not those of the
    box at the end, which repeats figures: see `numbers_for`."""
    for heading, parts in sections(notebook):
        for prose, rows, settings in parts if not heading.startswith(BOXES) else ():
            text, mates = shown(prose), {}
            for match in WITH_INTERVAL.finditer(text):
                places = [n for n in range(1, 4) if match[n]]
                for n in places:
                    mates[match.start(n)] = [match[m] for m in places if m != n]
            for match in DECIMAL.finditer(text):
                same = mates.get(match.start(), [])
                fit = [row for row in rows if all(is_known(m, row) for m in same)]
                yield match[0], set().union(*fit, () if same else settings)


@cache
def read(path):
    """A notebook; the code of an exercise is that of its check, too."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if "exercise" in cell.metadata.get("tags", []):
            cell.source += (exercises.SOLUTIONS / f"{path.stem}.py").read_text("utf-8")
    return notebook


# --- What people quote ------------------------------------------------------------

PAGES = {path.stem: path for path in NOTEBOOKS}
CLAIMS, OTHERS = [], []
for path in sorted((ROOT / "tests" / "notebooks" / "claims").glob("*.toml")):
    assert path.stem in {"README", *PAGES}
    listed = tomllib.loads(path.read_text("utf-8"))
    CLAIMS += [claim | {"page": path.stem} for claim in listed.get("claim", [])]
    OTHERS += [other | {"page": path.stem} for other in listed.get("other", [])]
COMPARES = re.compile(
    r"(?i)\b(better|worse|best|worst|beats?|than|gains?|loses?|costs?|hurts?|helps?"
    r"|wins?|adds?|cannot tell|significant\w*|differs?|differ|same order|more|less"
    r"|fewer|holds?|favours?|mejor(?:es)?|peor(?:es)?|más|pierde|gana|perjudica)\b"
)
WORDS = {  # how a sentence says a verdict
    "better": r"better|gain|beat|add|more|help|win|ahead|above|hold|rise|near|brings"
    r"|gana|mejor|más",
    "worse": r"worse|cost|los[et]|less|hurt|behind|below|fewer|lower|fall"
    r"|pierde|peor",
    "cannot tell": r"cannot tell|no (?:clear )?(?:significant )?(?:difference|gain)"
    r"|not (?:shown|significant)|undecided|weak evidence|no se puede",
    "they differ": r"differ",
    "description": r"",
}


def sentences_of(page):
    """The sentences that people quote of a page: of a notebook its closing box."""
    if page == "README":
        text = (ROOT / "README.md").read_text("utf-8")
        text = re.sub(r"(?s)```.*?```|<picture>.*?</picture>", "", text)
        start, _, after = text.partition("## Two commands")
        findings = after.partition("## What we found")[2]
        head = start + findings.partition("## Your own documents")[0]
        rows = re.findall(r"(?m)^\| \*\*.*\|$", head)
        prose = re.sub(r"(?m)^[|#].*$", "", head)
    else:
        parts = sections(read(PAGES[page]))
        [box] = [texts for heading, texts in parts if heading.startswith(BOXES)]
        prose = "\n\n".join(text for text, _, _ in box)
        prose, _, _ = prose.partition("**What to do at work**")
        prose, rows = re.sub(r"(?s)^## .*?\n|<!--.*?-->", "", prose), []
    lines = re.split(r"\n\s*(?:[-*]|\d+\.) |\n\n", "\n" + prose)
    whole = [" ".join(line.split()) for line in lines if line.strip()]
    parts = [re.split(r"(?<=[.!?)*])\s+(?=[A-ZÁÉÍÓÚÑ¿(*`])", line) for line in whole]
    return rows + [part for of_line in parts for part in of_line]


def numbers_of(claim):
    """The numbers of a claim, as its cell prints them."""
    given = [*claim.get("figures", []), *claim.get("interval", [])]
    return given + [claim[key] for key in ("figure", "p") if key in claim]


def is_sure(claim):
    """Whether a claim's p value, or else its interval, says that two sides differ."""
    if "p" in claim:
        return float(claim["p"]) < 0.05
    low, high = map(float, claim["interval"])
    return low * high > 0


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: f"{c['page']}: {c['says']:.40}")
def test_a_claim_says_what_its_cell_prints(claim):
    [sentence] = [text for text in sentences_of(claim["page"]) if claim["says"] in text]
    numbers = numbers_of(claim)
    assert numbers
    cells = read(PAGES[claim["notebook"]]).cells
    [rows] = [rows_of(cell) for cell in cells if cell.id == claim["cell"]]
    if "interval" in claim:
        assert any(set(numbers) <= row for row in rows)
    else:
        assert set(numbers) <= set().union(*rows)
    assert re.search(WORDS[claim["verdict"]], sentence, re.I)
    if claim["verdict"] != "description":
        assert claim["sides"][0] != claim["sides"][1]
        assert {"queries", "metric"} <= claim.keys()
        assert is_sure(claim) == (claim["verdict"] in ("better", "worse"))


@pytest.mark.parametrize("page", ["README", *PAGES])
def test_each_sentence_that_compares_is_on_the_list(page):
    listed = [entry["says"] for entry in CLAIMS + OTHERS if entry["page"] == page]
    for sentence in sentences_of(page):
        if COMPARES.search(sentence):
            assert any(says in sentence for says in listed), sentence
    for says in listed:
        assert any(says in sentence for sentence in sentences_of(page)), says


def numbers_for(page):
    """(decimal, numbers that it may be) for each decimal in prose, or quoted."""
    yield from decimals(read(PAGES[page])) if page in PAGES else ()
    for sentence in sentences_of(page):
        numbers = set()
        for claim in CLAIMS:
            if claim["page"] == page and claim["says"] in sentence:
                numbers.update(numbers_of(claim))
        for decimal in DECIMAL.findall(shown(sentence)):
            yield decimal, numbers


@pytest.mark.parametrize("page", ["README", *PAGES])
def test_each_decimal_is_printed_in_its_section_or_is_one_of_its_claims(page):
    assert not [pair[0] for pair in numbers_for(page) if not is_known(*pair)]
