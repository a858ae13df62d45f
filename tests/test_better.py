"""The queries of notebook 11."""

import better
import pandas as pd

from course import corpus

QUERIES = pd.DataFrame({"question": ["q"], "course": ["tv"]})


def test_a_sample_has_all_typed_queries_and_at_most_n_generated_ones():
    halves = {"generated": pd.DataFrame({"n": range(9)}), "judged": QUERIES}
    few = better.few(halves, 3)
    assert (len(few["generated"]), len(few["judged"])) == (3, 1)


def test_spanish_queries_have_the_needs_and_judgements_of_the_english_ones():
    test = corpus.load_splits()[1]
    english, spanish = better.in_spanish(test).values()
    for kind in ("generated", "judged"):
        assert english[kind]["need"].equals(spanish[kind]["need"])
        assert (english[kind]["question"] != spanish[kind]["question"]).any()
    assert len(spanish["judged"]) == len(test["judged"])
