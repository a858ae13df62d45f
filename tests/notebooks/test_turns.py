"""Test what notebook 17 sends for a turn, and its recorded values."""

import n17_turns as turns
import pandas as pd
import pytest
from recorders import conversations
from their_collections import folder, prepared

import utils
from evaluate_retrieval.searching import scoring

DOCUMENTS = [
    {"id": id_, "question": "", "text": text, "section": "", "course": "all"}
    for id_, text in {
        "a": "a lamp of red glass",
        "b": "a lamp of paper",
        "c": "glass and paper",
    }.items()
]
TURNS = pd.DataFrame(
    {
        "question": ["lamp?", "of glass?", "and paper?"],
        "course": "all",
        "history": ["", "lamp?", "lamp?\nof glass?"],
        "rewrite": ["lamp?", "a lamp of glass?", "a lamp of paper?"],
    }
)


def scores_of(scores, queries):
    [(_, _, block)] = scores(queries)
    return block


def test_falling_with_a_weight_of_one_is_the_history_and_with_none_the_last_turn():
    queries, bm25 = turns.with_forms(TURNS), scoring.bm25_scores(DOCUMENTS)
    for weight, form in ((1, "history"), (0, "last turn")):
        falling = scores_of(conversations.falling(bm25, weight), queries)
        assert falling == pytest.approx(scores_of(turns.sending(bm25, form), queries))
    half = scores_of(conversations.falling(bm25, 0.5), queries)[2]
    parts = scores_of(bm25, TURNS)
    assert half == pytest.approx(parts[2] + 0.5 * parts[1] + 0.25 * parts[0])


def test_words_of_what_was_found_are_the_rarest_of_the_first_document_before():
    search = utils.search_by_scores(scoring.bm25_scores(DOCUMENTS), DOCUMENTS)
    rare = conversations.rare_words(DOCUMENTS)
    assert rare["a"][0] == "red"
    sent = conversations.with_words_of_found(turns.with_forms(TURNS), search, rare)
    expected = ["lamp? ", "of glass? lamp paper", "and paper? glass paper"]
    assert [*sent["found words, 3"]] == expected


@pytest.mark.slow
@pytest.mark.skipif(not folder("turns"), reason="no collections here")
@pytest.mark.parametrize(
    ("domain", "sizes"), [("clapnq", (4_779, 208, 578)), ("fiqa", (5_534, 180, 535))]
)
def test_the_recorded_values_are_found_again(domain, sizes):
    documents, queries = conversations.load(domain, prepared() / "turns")
    assert (len(documents), len(queries), queries["document"].map(len).sum()) == sizes
    recorded = turns.recorded_values(domain)
    assert [*recorded.index.get_level_values("turn")] == [*queries["turn"]]
    theirs = conversations.values_of_retrievers(domain, queries, folder("turns"))
    pd.testing.assert_frame_equal(
        theirs, recorded[theirs.columns].reset_index(drop=True), check_dtype=False
    )
    queries, bm25 = turns.with_forms(queries), scoring.bm25_scores(documents)
    for form in turns.THREE:
        scores = turns.sending(bm25, form)
        search = utils.search_by_scores(scores, documents, k=10)
        ours = conversations.values_of(queries, utils.run_search(queries, search, 10))
        assert ours.to_numpy() == pytest.approx(recorded["BM25", form])
