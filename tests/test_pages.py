"""notebooks/more/pages.py: pages with spans, ways of cutting, what each cut brings.

Notebook 12 holds the rest: recall on all queries is that of the record, the prompts
are those of the recorded answers, and each way of cutting has its number of chunks."""

import re

import numpy as np
import pages
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course import corpus


def words(*texts, title=""):
    """Tokens of pages with these texts: their words."""
    rows = []
    for page, text in enumerate(texts):
        rows += [(page, *match.span()) for match in re.finditer(r"\S+", text)]
    return pages.Tokens(
        [{"text": text, "title": title} for text in texts], *np.transpose(rows)
    )


def ranges(cut):
    return cut[["first", "last"]].to_numpy().tolist()


def test_each_record_is_a_span_of_a_page_of_its_section():
    documents = corpus.load_documents()[::9]
    long_pages, spans = pages.build(documents)
    by_id = {document["id"]: document for document in documents}
    assert sorted(spans["record"]) == sorted(by_id)
    for number, record, start, end in spans.itertuples(index=False):
        page, document = long_pages[number], by_id[record]
        expected = f"## {document['question']}\n\n{document['text']}"
        assert page["text"][start:end] == expected
        assert document["section"] in page["title"]
        assert page["course"] == document["course"]


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


def test_an_overlap_repeats_the_end_of_the_chunk_before_and_is_no_chunk_alone():
    cut = pages.fixed(words("x " * 24, "x"), 10, 3)
    assert ranges(cut) == [[0, 10], [7, 17], [14, 24], [24, 25]]


def test_sentences_and_lines_are_merged_up_to_a_size_on_a_page():
    cut = pages.sentences(words("One two. Three\nFour five", "Six"))
    assert ranges(cut) == [[0, 2], [2, 3], [3, 5], [5, 6]]
    assert ranges(pages.merged(cut, 3)) == [[0, 3], [3, 5], [5, 6]]
