"""The tables of docs/evidence/labels.md: their figures are made again."""

import re

import pandas as pd
import pytest
import their_collections
from evidence import labels as evidence

from course import our_data
from evaluate_retrieval.reading import folder, places

PAGE = (places.ROOT / "docs" / "evidence" / "labels.md").read_text("utf-8")
READ = pd.read_csv(evidence.READ, dtype={"edition": str})
EDITIONS = their_collections.folder("edits")
of_real_edits = pytest.mark.skipif(not EDITIONS, reason="needs the three editions")


def column_of(title):
    """A column of the tables of the page: a dict of cells by line."""
    for table in re.findall(r"(?m)(?:^\|.*\|\n)+", PAGE):
        rows = [line.strip("| ").split(" | ") for line in table.splitlines()]
        if title in rows[0]:
            place = rows[0].index(title) + 1  # the first cell of the first row is empty
            return {row[0]: row[place] for row in rows[2:]}
    raise KeyError(title)


def test_what_was_read_is_counted_on_the_page():
    assert len(READ) >= 200
    assert not READ.duplicated(["edition", "document", "grade"]).any()
    assert f"read {len(READ)} decisions" in PAGE
    carried = READ[READ["fate"].isin(evidence.CARRIED)]
    assert (carried["keeps"] == "yes").all()
    n = len(carried)
    assert f"All {n} decisions to carry over" in PAGE
    assert f"at least {evidence.lowest(n, n):.3f} are" in PAGE


@pytest.mark.slow
@of_real_edits
@pytest.mark.parametrize(("name", "following"), [*evidence.pairs_of_editions()])
def test_the_page_has_the_figures_of_real_edits(name, following):
    figures = evidence.real_edits(EDITIONS, name, following)
    assert figures == column_of(f"{name} to {following}")


@pytest.mark.slow
@of_real_edits
@pytest.mark.parametrize(("name", "following"), [*evidence.pairs_of_editions()])
def test_what_was_read_is_still_decided_so(name, following):
    before, after = evidence.both_editions(EDITIONS, name, following)
    for grade, read in READ[READ["edition"] == name].groupby("grade"):
        fates = evidence.fates(before, after, grade).set_index("document")["fate"]
        assert fates[read["document"]].tolist() == read["fate"].tolist()


@pytest.mark.slow
def test_the_page_has_the_figures_of_our_faq():
    figures = evidence.made_edits(folder.read(our_data.FOLDER))
    assert figures == column_of("our FAQ")


def test_a_share_has_its_interval():
    assert evidence.right_of(pd.Series([True] * 70)) == "70 of 70 (0.949 to 1.000)"
    assert evidence.right_of(pd.Series([], dtype=bool)) == "–"
    assert evidence.share_of(pd.Series([True, False] * 50)).startswith("0.500 (0.4")
