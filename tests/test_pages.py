"""notebooks/more/pages.py: pages with spans, ways of cutting, what each cut brings."""

import re

import numpy as np
import pages
import pandas as pd
import pytest

from course import corpus, embedding


@pytest.fixture(scope="module")
def documents():
    return corpus.load_documents()[::9]


@pytest.fixture(scope="module")
def built(documents):
    """Spans in characters, tokens, and spans in tokens."""
    long_pages, spans = pages.build(documents)
    tokens = pages.tokens_of(long_pages)
    return spans, tokens, pages.to_tokens(spans, tokens)


def words(text, title=""):
    """Tokens of one page: its words."""
    matches = [*re.finditer(r"\S+", text)]
    starts = np.array([match.start() for match in matches])
    ends = np.array([match.end() for match in matches])
    page = {"text": text, "title": title, "course": "all"}
    return pages.Tokens([page], np.zeros(len(ends), int), starts, ends)


def ranges(cut):
    return cut[["first", "last"]].to_numpy().tolist()


def test_each_record_is_a_span_of_a_page_of_its_section(built, documents):
    spans, tokens, _ = built
    by_id = {document["id"]: document for document in documents}
    assert sorted(spans["record"]) == sorted(by_id)
    for page, record, start, end in spans.itertuples(index=False):
        page, document = tokens.pages[page], by_id[record]
        expected = f"## {document['question']}\n\n{document['text']}"
        assert page["text"][start:end] == expected
        assert document["section"] in page["title"]
        assert page["course"] == document["course"]


def test_spans_come_back_from_tokens(built):
    """The first and the last token of a span are those of its text, and no others."""
    spans, tokens, in_tokens = built
    for row, span in zip(spans.itertuples(), in_tokens.itertuples(), strict=True):
        start, end = tokens.start[span.first], tokens.end[span.last - 1]
        text = tokens.pages[row.page]["text"]
        assert text[start:end].split() == text[row.start : row.end].split()
        assert (tokens.page[span.first : span.last] == row.page).all()


def test_every_way_of_cutting_covers_every_token_once_but_for_overlaps(built):
    _, tokens, _ = built
    for name, cut in pages.ways_of(tokens).items():
        assert (tokens.page[cut["first"]] == cut["page"]).all(), name
        assert (tokens.page[cut["last"] - 1] == cut["page"]).all(), name
        covered = np.zeros(len(tokens.page), dtype=int)
        for first, last in ranges(cut):
            covered[first:last] += 1
        assert covered.min() == 1, name
        assert ("overlap" in name) == (covered.max() > 1), name
        if name[0].isdigit():
            longest = (cut["last"] - cut["first"]).max()
            assert longest == int(name.split()[0]), name


def test_an_overlap_repeats_the_end_of_the_chunk_before():
    tokens = words("x " * 24 + "x")
    expected = [[0, 10], [7, 17], [14, 24], [21, 25]]
    assert ranges(pages.fixed(tokens, 10, 3)) == expected


def test_sentences_are_merged_up_to_a_size():
    cut = pages.sentences(words("One two. Three!\nFour five? Six"))
    assert ranges(cut) == [[0, 2], [2, 3], [3, 5], [5, 6]]
    assert ranges(pages.merged(cut, 3)) == [[0, 3], [3, 6]]


def test_a_heading_is_repeated_unless_the_chunk_begins_with_it():
    text = "# Top\n\n## First\n\na b c\n\n## Second\n\nd"
    tokens = words(text, "Top")
    cut = pages.cut_of([(0, 0, 2), (0, 2, 5), (0, 5, 7), (0, 7, 10)])
    cut = pages.with_headings(cut, tokens)
    expected = ["", "Top. ", "Top. First. ", "Top. First. "]
    assert cut["prefix"].tolist() == expected
    assert pages.texts_of(cut, tokens)[2] == "Top. First. b c"
    assert pages.costs_of(cut).tolist() == [2, 3 + 2, 2 + 4, 3 + 4]


def test_a_long_chunk_has_the_mean_of_equal_parts(built):
    _, tokens, _ = built
    vectors = pages.vectors_of(pages.fixed(tokens, 300).head(2), tokens)
    parts = pages.fixed(tokens, 150).head(2)
    mean = embedding.embed(pages.texts_of(parts, tokens)).sum(axis=0)
    np.testing.assert_allclose(vectors[0], mean / np.linalg.norm(mean), atol=1e-6)


@pytest.mark.parametrize(
    ("ranking", "budget", "share"),
    [
        ([0, 1], 20, 1),
        ([0], 20, 0.5),
        ([0, 1], 12, 0.7),  # two tokens of the second chunk
        ([2, 1], 20, 0),  # the first one takes the whole budget
        ([2, 1], 25, 0.5),
        ([0, -1], 20, 0.5),
        ([-1], 20, 0),
        ([1, 1], 40, 0.5),  # the same words twice count once
    ],
)
@pytest.mark.parametrize("extra", [0, 4])
def test_recall_by_hand(ranking, budget, share, extra):
    """A prefix is paid for each chunk that is shown, and brings nothing."""
    cut = pages.cut_of([(0, 0, 10), (0, 10, 20), (1, 20, 40)]).assign(extra=extra)
    budget += extra * len(ranking)
    relevant = [np.arange(5, 15)]
    recall = pages.recalled(np.array([ranking]), cut, relevant, [budget])
    assert recall == pytest.approx(share)


def test_a_model_is_shown_what_recall_counts():
    tokens = words("0 1 2 3 4 5 6 7 8 9")
    cut = pages.fixed(tokens, 3).assign(extra=[0, 0, 2, 0], prefix=["", "", "ab ", ""])
    ranking, everything = np.array([3, 2, 0, 1]), np.arange(10)
    for budget, texts in {7: ["9", "ab 6 7 8", "0"], 3: ["9"], 0: []}.items():
        chunks = pages.shown(ranking, cut, budget)
        assert pages.texts_of(chunks, tokens) == texts
        [[recall]] = pages.recalled([ranking], cut, [everything], [budget])
        assert recall * 10 == pytest.approx((chunks["last"] - chunks["first"]).sum())


def test_a_query_is_answered_by_the_records_with_its_best_grade(built):
    *_, spans = built
    a, b, c = spans["record"][:3]
    queries = pd.DataFrame({"question": ["x"], "document": [{a: 1, b: 2, c: 2}]})
    [relevant] = pages.relevant_tokens(queries, spans)
    _, second, third = ranges(spans)[:3]
    assert {*relevant} == {*range(*second), *range(*third)}
    queries["document"] = [{a: 0}]
    with pytest.raises(ValueError, match="query 'x': no record that answers it"):
        pages.relevant_tokens(queries, spans)


def test_rankings_name_chunks_of_the_query_s_course(built):
    _, tokens, spans = built
    course = tokens.pages[0]["course"]
    queries = pd.DataFrame({"question": ["docker memory"], "course": [course]})
    cut = pages.by_record(spans)
    [ranking] = pages.rankings_of(cut, tokens, queries)
    assert len(ranking) == pages.DEEP
    assert tokens.pages[cut["page"][ranking[0]]]["course"] == course
