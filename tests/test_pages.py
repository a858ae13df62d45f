"""course/pages.py: pages with spans, ways of cutting, and what each of them finds."""

import itertools
import json

import numpy as np
import pages
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course import answering, corpus, embedding

HEADINGS = ["near", "away"]


@pytest.fixture(scope="module")
def documents():
    return corpus.load_documents()[::9]


@pytest.fixture(scope="module", params=HEADINGS)
def built(request, documents):
    """Pages, spans in characters, tokens, and spans in tokens."""
    found, spans = pages.build(documents, request.param)
    tokens = pages.tokens_of(found)
    return found, spans, tokens, pages.to_tokens(spans, tokens)


def test_each_record_is_a_span_of_a_page_of_its_section(built, documents):
    found, spans, _, _ = built
    by_id = {one["id"]: one for one in documents}
    assert sorted(spans["record"]) == sorted(by_id)
    for page, record, start, end in spans.itertuples(index=False):
        text, one = found[page]["text"], by_id[record]
        assert text[start:end].endswith(one["text"])
        assert text.count(one["question"]) >= 1
        assert one["section"] in found[page]["title"]
        assert found[page]["course"] == one["course"]


def test_headings_are_above_their_texts_or_all_at_the_top(documents):
    near, spans = pages.build(documents, "near")
    first = spans.iloc[0]
    assert near[first["page"]]["text"][first["start"] :].startswith("## ")
    away, _ = pages.build(documents, "away")
    assert "## " not in away[0]["text"]
    assert away[0]["text"].split("\n")[2].startswith("- ")
    with pytest.raises(ValueError, match="headings: 'far' is not"):
        pages.build(documents, "far")


def test_all_pages_of_the_course_have_the_length_of_pages():
    found, spans = pages.build(corpus.load_documents())
    n_words = pd.Series([len(page["text"].split()) for page in found])
    assert 90 <= len(found) <= 110
    assert n_words.max() <= 2_500
    assert (n_words < 600).sum() <= 1  # the section of 420 words
    assert len(spans) == len(corpus.load_documents())
    again, _ = pages.build(corpus.load_documents())
    assert again == found


def test_spans_come_back_from_tokens(built):
    """The first and the last token of a span are those of its text, and no others."""
    found, spans, tokens, in_tokens = built
    for row, of in zip(spans.itertuples(), in_tokens.itertuples(), strict=True):
        start, end = tokens.start[of.first], tokens.end[of.last - 1]
        text = found[row.page]["text"]
        assert text[start:end].split() == text[row.start : row.end].split()
        assert (tokens.page[of.first : of.last] == row.page).all()


def test_every_way_of_cutting_covers_every_token_once_but_for_overlaps(built):
    found, _, tokens, _ = built
    n = len(tokens.page)
    for name, cut in pages.ways_of(found, tokens).items():
        assert (tokens.page[cut["first"]] == cut["page"]).all(), name
        assert (tokens.page[cut["last"] - 1] == cut["page"]).all(), name
        covered = np.zeros(n, dtype=int)
        for first, last in cut[["first", "last"]].to_numpy():
            covered[first:last] += 1
        assert covered.min() == 1, name
        assert ("overlap" in name) == (covered.max() > 1), name
        sizes = (cut["last"] - cut["first"]).to_numpy()
        if name[0].isdigit():
            size = int(name.split()[0])
            assert sizes.max() == size, name


def test_an_overlap_repeats_the_end_of_the_chunk_before():
    tokens = pages.Tokens(np.zeros(25, int), np.arange(25), np.arange(25) + 1)
    cut = pages.fixed(tokens, 10, 3)
    assert cut[["first", "last"]].to_numpy().tolist() == [
        [0, 10],
        [7, 17],
        [14, 24],
        [21, 25],
    ]
    assert pages.fixed(tokens, 10)["first"].tolist() == [0, 10, 20]
    assert pages.fixed(tokens, 30)["last"].tolist() == [25]


def test_sentences_are_merged_up_to_a_size():
    cut = pages.sentences(
        [{"text": "One two. Three!\nFour five? Six"}],
        _words("One two. Three!\nFour five? Six"),
    )
    assert cut[["first", "last"]].to_numpy().tolist() == [
        [0, 2],
        [2, 3],
        [3, 5],
        [5, 6],
    ]
    found = pages.merged(cut, 3)
    assert found[["first", "last"]].to_numpy().tolist() == [[0, 3], [3, 6]]


def _words(text):
    """Tokens of one page: its words."""
    starts, place = [], 0
    for word in text.split():
        place = text.index(word, place)
        starts.append((place, place + len(word)))
        place += len(word)
    start, end = np.array(starts).T
    return pages.Tokens(np.zeros(len(start), int), start, end)


def test_a_heading_is_repeated_unless_the_chunk_begins_with_it():
    text = "# Top\n\n## First\n\na b c\n\n## Second\n\nd e f\n"
    page, tokens = {"text": text, "title": "Top"}, _words(text)
    cut = pages.with_headings(pages.fixed(tokens, 3), [page], tokens)
    texts = pages.texts_of(cut, [page], tokens)
    assert texts[0] == "# Top\n\n##"
    assert texts[1] == "Top. First\n\na b" or texts[1].startswith("Top. ")
    assert texts[2].startswith("Top. First. c")
    assert texts[3].startswith("Top. First. ") or "Second" in texts[3]
    assert cut["prefix"].iloc[-1] == "Top. Second. "


def test_a_long_chunk_has_the_mean_of_equal_parts(built):
    found, _, tokens, _ = built
    cut = pages.fixed(tokens, 300).head(2)
    vectors = pages.vectors_of(cut, found, tokens)
    parts = pages.fixed(tokens, 150).head(2)
    mean = embedding.embed(pages.texts_of(parts, found, tokens)).sum(axis=0)
    np.testing.assert_allclose(vectors[0], mean / np.linalg.norm(mean), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


CUT = pages._cut([(0, 0, 10), (0, 10, 20), (1, 20, 40)])
WANTED = [np.array([[5, 15]])]


@pytest.mark.parametrize(
    ("ranking", "budget", "share"),
    [
        ([0, 1], 20, 1),
        ([0], 20, 0.5),
        ([0, 1], 12, 0.7),  # two tokens of the second chunk
        ([2, 1], 20, 0),  # the first one takes the whole budget
        ([2, 1], 25, 0.5),
        ([-1, 0], 20, 0),
        ([1, 1], 40, 0.5),  # the same words twice count once
    ],
)
def test_recall_by_hand(ranking, budget, share):
    costs = (CUT["last"] - CUT["first"]).to_numpy()
    found = pages.recalled(np.array([ranking]), CUT, costs, WANTED, [budget])
    assert found == pytest.approx(share)


def test_a_prefix_is_paid_and_finds_nothing():
    costs = (CUT["last"] - CUT["first"]).to_numpy() + 4
    found = pages.recalled(np.array([[0, 1]]), CUT, costs, WANTED, [14, 18, 20, 28])
    np.testing.assert_allclose(found, [[0.5, 0.5, 0.7, 1]])


edges = st.lists(st.integers(1, 59), unique=True, max_size=12).map(sorted)


@settings(max_examples=200)
@given(
    coarse=edges,
    fine=edges,
    wanted=edges,
    budget=st.integers(1, 70),
    seed=st.integers(0, 99),
)
def test_recall_does_not_depend_on_where_chunks_begin(
    coarse, fine, wanted, budget, seed
):
    """Cut chunks further, and rank the parts in place of the whole: the same words."""
    ends = [0, *coarse, 60]
    big = pages._cut([(0, a, b) for a, b in itertools.pairwise(ends)])
    finer = sorted({*ends, *fine})
    small = pages._cut([(0, a, b) for a, b in itertools.pairwise(finer)])
    order = np.random.default_rng(seed).permutation(len(big))
    inside = [
        small.index[(small["first"] >= first) & (small["last"] <= last)]
        for first, last in big[["first", "last"]].to_numpy()
    ]
    parts = [place for number in order for place in inside[number]]
    spans = np.array([*zip(wanted[::2], wanted[1::2], strict=False)] or [(0, 60)])
    values = []
    for cut, ranking in ((big, order), (small, parts)):
        costs = (cut["last"] - cut["first"]).to_numpy()
        values.append(
            pages.recalled(np.array([ranking]), cut, costs, [spans], [budget])
        )
    np.testing.assert_allclose(*values)


def test_what_a_query_wants_are_the_records_with_its_best_grade(built):
    _, _, _, spans = built
    a, b, c = spans["record"][:3]
    queries = pd.DataFrame({"question": ["x"], "document": [{a: 1, b: 2, c: 2}]})
    [wanted] = pages.wanted_of(queries, spans)
    both = spans.set_index("record").loc[[b, c], ["first", "last"]].to_numpy()
    assert {*map(tuple, wanted)} == {*map(tuple, both)}
    queries["document"] = [{a: 0}]
    with pytest.raises(ValueError, match="query 'x': no record that it wants"):
        pages.wanted_of(queries, spans)


def test_rankings_name_chunks(built):
    found, _, tokens, spans = built
    queries = pd.DataFrame(
        {"question": ["docker memory"], "course": [found[0]["course"]]}
    )
    cut = pages.by_record(spans)
    rankings = pages.rankings_of(cut, found, tokens, queries)
    assert list(rankings) == ["BM25", "vectors", "sum"]
    for ranking in rankings.values():
        assert ranking.shape == (1, pages.DEEP)
        best = cut.iloc[ranking[0, 0]]
        assert found[best["page"]]["course"] == found[0]["course"]


def test_a_document_is_a_page_with_its_title_on_top(documents):
    found = pages.as_pages(documents[:3])
    assert [page["id"] for page in found] == [one["id"] for one in documents[:3]]
    assert found[0]["text"].startswith(f"# {documents[0]['question']}\n\n")
    tokens = pages.tokens_of(found)
    assert pages.whole(tokens)["page"].tolist() == [0, 1, 2]


# --- What reaches the answer -------------------------------------------------


def test_a_model_is_shown_what_recall_counts():
    tokens = pages.Tokens(np.zeros(40, int), np.arange(40), np.arange(40) + 1)
    cut = pages.fixed(tokens, 10).assign(prefix=["", "", "ab", ""])
    costs, page = np.array([10, 10, 12, 10]), {"text": "0123456789" * 4}
    [numbers] = pages.fitting(np.array([[3, 2, 0, 1]]), cut, costs, 25)
    assert numbers == [3, 2, 0]
    texts = pages.shown(numbers, cut, costs, [page], tokens, 25)
    assert texts == ["0123456789", "ab0123456789", "012"]
    assert pages.shown([], cut, costs, [page], tokens, 25) == []


def test_the_prompts_of_the_answers_are_those_of_the_record():
    rows = pages.load_answers()
    assert rows.groupby("way", sort=False).size().to_dict() == dict.fromkeys(
        pages.ANSWERED, 60
    )
    assert rows.groupby("query_id")["way"].nunique().eq(4).all()
    assert rows.drop_duplicates("query_id")["need"].is_unique
    assert rows["prompt"].is_unique
    path = corpus.ROOT / "data" / "recorded-page-answers.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert {line["model"] for line in lines} == {answering.ANSWERED_BY}
    assert {line["key"] for line in lines} == set(answering.keys_of(rows["prompt"]))
