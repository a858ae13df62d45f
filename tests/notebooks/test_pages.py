"""notebooks/more/n12_pages.py: the recall of spans.

Notebook 12 holds the rest: each way of cutting has its number of chunks, the spans of
records are what is found, and the prompts are those of the recorded answers."""

import re

import n12_pages as pages
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st


def words(*texts):
    """Tokens of pages with these texts: their words."""
    rows = []
    for page, text in enumerate(texts):
        rows += [(page, *match.span()) for match in re.finditer(r"\S+", text)]
    return pages.Tokens([{"text": text} for text in texts], *np.transpose(rows))


def ranges(cut):
    return cut[["first", "last"]].to_numpy().tolist()


TEXT = "one  two\nthree 4 five"
PLACES = st.integers(0, len(TEXT))
SPANS = st.tuples(st.integers(0, 1), PLACES, PLACES).map(
    lambda span: (span[0], *sorted(span[1:]))
)
CHUNKS = st.tuples(st.integers(0, 7), st.integers(1, 6), st.integers(0, 3))


@given(
    st.lists(SPANS, min_size=1, max_size=4),
    st.lists(CHUNKS, min_size=5, max_size=5),
    st.lists(st.integers(-1, 4), max_size=5),
    st.integers(0, 25),
)
def test_recall_of_spans_is_that_of_a_slow_set_of_characters(
    spans, chunks, ranking, budget
):
    """A token is of a span that it begins in. Each chunk is paid for with its prefix,
    token by token, and what two chunks or two spans share counts once."""
    tokens = words(TEXT, TEXT)
    characters = {(page, n) for page, start, end in spans for n in range(start, end)}
    begins = zip(tokens.page, tokens.start, strict=True)
    relevant = {n for n, begin in enumerate(begins) if begin in characters}
    table = pd.DataFrame(spans, columns=["page", "start", "end"]).assign(record="")
    numbers = pages.numbers_of(ranges(pages.to_tokens(table, tokens)))
    assert numbers.tolist() == sorted(relevant)

    paid, shown = 0, []
    for first, n, extra in [chunks[number] for number in ranking if number >= 0]:
        paid += extra
        for token in range(first, first + n):
            paid += 1
            shown += [token] if paid <= budget else []
    cut = pages.cut_of([(0, first, first + n) for first, n, _ in chunks])
    cut = cut.assign(extra=[extra for *_, extra in chunks])
    of_chunks = ranges(pages.shown(ranking, cut, budget))
    assert [token for pair in of_chunks for token in range(*pair)] == shown
    if relevant:
        ranking = np.array(ranking, dtype=int)
        recall = pages.recalled([ranking], cut, [numbers], [budget])
        assert recall == pytest.approx(len(relevant & {*shown}) / len(relevant))
