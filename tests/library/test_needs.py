"""Which queries are one need: by labels, conversations and best documents."""

import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from evaluate_retrieval.reading import folder, needs, splits
from evaluate_retrieval.reading.kept import freeze, read_kept

LABELS = ["", "", "", "A", "B"]
QUERY = st.tuples(
    st.sampled_from(LABELS),
    st.sampled_from(["", "", "c1", "c2"]),
    st.dictionaries(st.sampled_from("uvwxyz"), st.integers(0, 2), max_size=4),
)


def needs_by_id(qrels, limits=needs.LIMITS, frozen=None, **columns):
    """The need of each query, a dict. qrels: by query id, what `dict` takes."""
    queries = pd.DataFrame({"query_id": list(qrels), "question": list(qrels)})
    queries = queries.assign(**columns)
    found = needs.needs_of(queries, list(map(dict, qrels.values())), frozen, limits)
    return dict(zip(qrels, found, strict=True))


def parts(names):
    """Which queries are together: a set of sets."""
    return {
        frozenset(id_ for id_, name in names.items() if name == each)
        for each in names.values()
    }


def best(*documents):
    return dict.fromkeys(documents, 1)


def test_queries_whose_best_documents_overlap_by_half_of_the_smaller_set_are_one():
    qrels = {
        "a": best("u", "v"),
        "b": best("v", "w", "x"),  # half of a
        "c": best("x", "y", "z", "t"),  # a third of b
        "d": {"u": 1, "s": 2},  # u is not its best
        "e": {"s": 0},  # nothing is
        "f": {},
    }
    joined = parts(needs_by_id(qrels))
    assert joined == {frozenset("ab"), *map(frozenset, "cdef")}
    wider = needs_by_id(qrels, needs.Limits(share=0.3))
    assert frozenset("abc") in parts(wider)
    whole = needs_by_id(qrels, needs.Limits(share=1))
    assert len(parts(whole)) == 6


def test_a_page_that_answers_very_many_says_nothing_of_a_query():
    qrels = {f"q{n}": best(f"d{n}", "contact") for n in range(11)}
    assert len(parts(needs_by_id(qrels))) == 11
    del qrels["q10"]  # ten are not very many
    assert len(parts(needs_by_id(qrels))) == 1
    only = {f"q{n}": best("contact") for n in range(11)}
    assert len(parts(needs_by_id(only))) == 11
    # a tenth of the queries is not very many
    others = {f"o{n}": best(f"e{n}") for n in range(99)}
    assert len(parts(needs_by_id(only | others))) == 100
    # queries without an answer are none of them
    unanswered = {f"o{n}": {"e": 0} for n in range(99)}
    assert len(parts(needs_by_id(only | unanswered))) == 110


def test_a_page_that_answers_two_needs_makes_no_chain_of_paraphrases():
    """Six wordings of a need share a page, and each has one that others have, too."""
    qrels = {
        f"q{n:03}": best(f"page {n // 6}", f"more {n % 56}") for n in range(24 * 6)
    }
    joined = parts(needs_by_id(qrels))
    ids = list(qrels)
    assert joined == {frozenset(ids[n : n + 6]) for n in range(0, len(ids), 6)}
    assert len(parts(needs_by_id(qrels, needs.Limits(near=0)))) == 1


def test_labels_are_kept_and_join_what_overlaps_with_one_of_them():
    qrels = {
        "a": best("u"),
        "b": best("u"),
        "c": best("v"),
        "d": best("v"),
        "e": best("u", "v"),
        "f": best("x"),
    }
    labels = ["A", "", "B", "", "", ""]
    # e links b and d, so they touch two labels
    assert parts(needs_by_id(qrels, need=labels)) == {
        *map(frozenset, ("a", "c", "bde", "f"))
    }
    del qrels["e"]
    named = needs_by_id(qrels, need=labels[:-1])
    assert named == {"a": "A", "b": "A", "c": "B", "d": "B", "f": "f"}
    # a label that is called as a query is none of it
    qrels = {"a": best("u"), "b": best("v"), "c": best("w")}
    named = needs_by_id(qrels, need=["b", "", ""])
    assert named == {"a": "b", "b": "b~2", "c": "c"}


def test_a_conversation_joins_labels():
    qrels = {id_: {} for id_ in "abcd"}
    named = needs_by_id(
        qrels, need=["A", "B", "", "B"], conversation=["x", "x", "x", ""]
    )
    assert named == dict.fromkeys("abcd", "A")


@given(data=st.data(), rows=st.lists(QUERY, max_size=14))
def test_needs_are_the_same_by_any_names_in_any_order(data, rows):
    limits = needs.Limits(few=3, many=0.3)
    frozen = {
        f"q{n}": data.draw(st.sampled_from(["k", "l"]))
        for n in range(len(rows))
        if data.draw(st.integers(0, 4)) == 0
    }

    def partition(order, query_names, document_names, label_names):
        qrels = {}
        columns = {"need": [], "conversation": []}
        for n in order:
            label, conversation, qrel = rows[n]
            named = [(document_names[id_], grade) for id_, grade in qrel.items()]
            qrels[query_names[n]] = dict(data.draw(st.permutations(named)))
            columns["need"].append(label_names.get(label, ""))
            columns["conversation"].append(conversation)
        kept = {query_names[int(id_[1:])]: need for id_, need in frozen.items()}
        names = needs_by_id(qrels, limits, kept, **columns)
        back = {name: n for n, name in query_names.items()}
        return parts({back[id_]: need for id_, need in names.items()})

    n = len(rows)
    before = partition(
        range(n),
        {i: f"q{i}" for i in range(n)},
        {id_: id_ for id_ in "uvwxyz"},
        {"A": "A", "B": "B"},
    )
    pool = [f"{letter}{i}" for letter in "AkqZ" for i in range(n)]
    query_names = data.draw(st.permutations([*pool, "A", "B", "k"]))[:n]
    after = partition(
        data.draw(st.permutations(range(n))),
        dict(enumerate(query_names)),
        dict(zip("uvwxyz", data.draw(st.permutations("uvwxyz")), strict=True)),
        dict(zip("AB", data.draw(st.permutations(["q0", "B"])), strict=True)),
    )
    assert after == before


def test_ten_thousand_queries_of_fifty_documents_take_seconds():
    rng = np.random.default_rng(1)
    drawn = rng.integers(5_000, size=(10_000, 50))
    qrels = {f"q{n}": best(*map(str, row)) for n, row in enumerate(drawn)}
    started = time.perf_counter()
    assert len({*needs_by_id(qrels).values()}) == 10_000
    assert time.perf_counter() - started < 20  # about one


def test_a_need_is_called_by_a_text_and_its_fold_does_not_change_with_ids():
    long = "why is the sky blue " * 9
    questions = ["Why  IS the\nsky blue?", "why", "ﬁsh", "Fish", long, ""]
    documents = "uuvwxy"
    named = needs.needs_of(
        pd.DataFrame({"query_id": list("abcdef"), "question": questions}),
        [best(document) for document in documents],
    )
    assert named[0] == named[1] == "why"
    assert named[:4].tolist() == ["why", "why", "fish", "fish~2"]
    assert len(named[4]) == needs.LONGEST_NEED
    assert named[5] == "no text"
    folds = splits.folds_of(named).tolist()
    assert folds[2] == folds[3]
    other_ids = needs.needs_of(
        pd.DataFrame({"query_id": list("zyxwvu"), "question": questions}),
        [best(document * 2) for document in documents],
    )
    assert splits.folds_of(other_ids).tolist() == folds


# --- Frozen needs ------------------------------------------------------------


def test_frozen_needs_are_kept_and_new_queries_join_one_or_stand_alone(tmp_path):
    qrels = {"a": best("u"), "b": best("u"), "c": best("v"), "d": best("w")}
    first = needs_by_id(qrels)
    assert read_kept(tmp_path).needs == {}
    assert freeze(tmp_path, first) == ""
    assert read_kept(tmp_path).needs == first
    # a judge finds that u answers c, too: what was one, and two, stays
    qrels |= {"c": best("u"), "new": best("w"), "both": best("u", "w"), "x": best("x")}
    names = needs_by_id(qrels, frozen=read_kept(tmp_path).needs)
    assert {id_: names[id_] for id_ in first} == first
    # new and both overlap, and touch three needs
    assert parts(names) == {*map(frozenset, ("ab", "c", "d", ("new", "both"), "x"))}
    del qrels["both"]
    names = needs_by_id(qrels, frozen=read_kept(tmp_path).needs)
    assert names["new"] == names["d"]
    assert names["x"] == "x"
    assert freeze(tmp_path, names | {"a": "another"}) == ""
    assert read_kept(tmp_path).needs == names


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "judging").write_text("a file where the folder should be")
    says = freeze(tmp_path, {"a": "a"})
    assert says.startswith(str(tmp_path / "judging" / "needs.csv"))
    assert "not kept" in says
    assert read_kept(tmp_path).needs == {}


def test_a_damaged_file_of_needs_is_an_error_that_names_it(tmp_path):
    (tmp_path / "judging").mkdir()
    (tmp_path / "judging" / "needs.csv").write_text("query_id,need\na,\n")
    with refused("needs.csv", line=2, column="need"):
        read_kept(tmp_path)
    assert "not kept" in freeze(tmp_path, {"a": "a"})


@pytest.mark.parametrize("form", ["tables", "pages"])
def test_the_file_of_needs_is_no_table_of_documents_and_no_query_moves(tmp_path, form):
    if form == "tables":
        (tmp_path / "documents.csv").write_text("id,text\nu,one\nv,two\nw,three\n")
    else:
        for name in "uvw":
            (tmp_path / f"{name}.md").write_text(f"about {name}")
    ids = "uvw" if form == "tables" else ["u.md", "v.md", "w.md"]
    (tmp_path / "queries.csv").write_text("query_id,query\na,A?\nb,B?\nc,C?\n")
    rows = [f"{query},{ids[n]},1\n" for query, n in [("a", 0), ("b", 0), ("c", 1)]]
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,grade\n" + "".join(rows))
    before = folder.read(tmp_path)
    queries = before.test["judged"]
    named = dict(zip(queries["query_id"], queries["need"], strict=True))
    assert parts(named) == {frozenset("ab"), frozenset("c")}
    assert freeze(tmp_path, named) == ""
    after = folder.read(tmp_path)
    assert after.notes == before.notes
    assert after.documents == before.documents
    pd.testing.assert_frame_equal(after.test["judged"], queries)
    # another grade would join c
    (tmp_path / "qrels.csv").write_text(
        "query_id,doc_id,grade\n" + "".join(rows) + f"c,{ids[0]},1\n"
    )
    kept = folder.read(tmp_path).test["judged"]
    assert kept["need"].tolist() == queries["need"].tolist()
