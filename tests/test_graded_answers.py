"""Test how answers that people graded are cut, and people compared."""

import graded_answers
import pandas as pd


def test_sentences_are_cut_by_code():
    for text, sentences in {
        "It has 3.5 parts, e.g. two.": ["It has 3.5 parts, e.g. two."],
        "To do:\n1. Open it.\n* *\n- Close it.": ["To do:", "Open it.", "Close it."],
        'He said "No." Then he left.': ['He said "No.', "Then he left."],
    }.items():
        assert graded_answers.sentences_of(text) == sentences


def test_each_person_is_compared_with_the_two_others():
    columns = {"question": ["q1", "q2", "q3"], "graders": ["abc", "abd", "ab"]}
    table = pd.DataFrame(columns).assign(faithfulness=["431", "4-2", "44"])
    pairs = graded_answers.one_and_others(table, "faithfulness")
    assert pairs["others"].tolist() == [2, 2.5, 3.5]  # of the first answer alone
    assert graded_answers.mean_grade(table["faithfulness"]).tolist() == [8 / 3, 3, 4]
