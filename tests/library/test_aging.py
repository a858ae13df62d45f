"""scripts/aging.py: what the id of a judged document says after made edits."""

import re

import aging

from course import our_data
from evaluate_retrieval.reading.places import ROOT


def test_each_record_becomes_what_is_there_and_an_id_is_a_poor_guide():
    documents = our_data.load_documents()
    before, after, truth = aging.aged(documents)
    ids = [each["id"] for each in after]
    assert len(before) == len(documents) == len(truth)
    assert len({*ids}) == len(ids)
    assert {*ids} == {id_ for _, became in truth.values() for id_ in became}

    labels = [
        (id_, grade)
        for qrel in our_data.load_splits()[1]["judged"]["document"]
        for id_, grade in qrel.items()
    ]
    relevant = [id_ for id_, grade in labels if grade]
    kept = [id_ for id_ in relevant if id_ in ids]
    keeps = [truth[id_][0] in aging.KEEPS_RELEVANT for id_ in kept]
    is_it = [id_ in truth[id_][1] for id_ in kept]
    right = sum(a and b for a, b in zip(keeps, is_it, strict=True))
    page = (ROOT / "docs" / "evidence" / "labels.md").read_text("utf-8")
    [told] = re.findall(r"relevant labels (0\.\d\d) still .* what (0\.\d\d) of", page)
    shares = len(kept) / len(relevant), 1 - right / len(kept)
    assert told == tuple(f"{share:.2f}" for share in shares)
