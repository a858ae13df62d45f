"""Test how answers that people graded are cut; notebook 16 compares people."""

from recorders import graded


def test_sentences_are_cut_by_code():
    for text, sentences in {
        "It has 3.5 parts, e.g. two.": ["It has 3.5 parts, e.g. two."],
        "To do:\n1. Open it.\n* *\n- Close it.": ["To do:", "Open it.", "Close it."],
        'He said "No." Then he left.': ['He said "No.', "Then he left."],
    }.items():
        assert graded.sentences_of(text) == sentences
