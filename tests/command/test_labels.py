"""Labels that outlive an edit: what became of a judgement, and what is carried over."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from evaluate_retrieval.commands import judge, manifest
from evaluate_retrieval.judging import cuts, judged_texts, labels, numbered
from evaluate_retrieval.line import main
from evaluate_retrieval.measuring import baseline, baseline_file, since
from evaluate_retrieval.measuring.metric import Measure
from evaluate_retrieval.reading import corpus, folder, listing, writing
from evaluate_retrieval.words import sentences

RESET = "To reset your password open the settings, choose account and press the button."
MAIL = "A mail with a link arrives within ten minutes; it is valid for one hour."
VPN = "The tunnel needs the client of the university and a certificate of the help desk"
BOOK = "Library books are renewed online until another reader has reserved the volume."
WORDS = sorted({*f"{RESET} {MAIL} {VPN} {BOOK}".lower().replace(";", "").split()})
# every word is a usual one, and no two stand beside each other as they do above
USUAL = {"p1": " ".join(WORDS), "p2": " ".join(reversed(WORDS))}


def records(texts):
    """Documents of texts, by id."""
    empty = {"question": "", "section": "", "course": "all"}
    return [{"id": id_, "text": text, **empty} for id_, text in texts.items()]


def judged(pairs):
    """A table of judgements of one query: grades by id."""
    rows = [("q1", "why?", "all", "typed", id_, grade) for id_, grade in pairs.items()]
    return pd.DataFrame(rows, columns=[*corpus.JUDGED_COLUMNS, "grade"])


def followed(before, after, grades):
    """What becomes of grades of texts, both dicts by id: see `labels.followed`."""
    words = [numbered.packed(numbered.numbered_words(each)) for each in records(before)]
    texts = pd.DataFrame({"query_id": "q1", "document": [*before], "words": words})
    table = labels.followed(judged(grades), texts, records(after))
    return table.set_index("document")


WITH_LINK = f"{RESET} {MAIL}"
WITHOUT_LINK = WITH_LINK.replace("with a link ", "")
BOTH, RELEVANT, NOT, NONE = (True, True), (True, False), (False, True), (False, False)
# The texts of today, with the one that was judged under x before it; the outcome, what
# it becomes, and whether a grade of 2, and one of 0, is carried over.
FATES = {
    "the same": (RESET, {"x": RESET.upper()}, "same", "x", BOTH),
    "another id": (RESET, {"a": RESET}, "moved", "a", BOTH),
    "an id of another text": (RESET, {"x": VPN, "a": RESET}, "moved", "a", BOTH),
    "two copies": (RESET, {"a": RESET, "b": RESET}, "moved", "ab", BOTH),
    "two copies, edited": (
        WITHOUT_LINK,
        {"a": WITH_LINK, "b": WITH_LINK},
        "edited",
        "ab",
        RELEVANT,
    ),
    "two versions": (
        RESET,
        {"a": RESET.replace("open", "enter"), "b": RESET.replace("press", "hit")},
        "ambiguous",
        "ab",
        NONE,
    ),
    "two versions, one with its id": (
        RESET,
        {"x": f"Later {RESET}", "b": f"Today {RESET}"},
        "edited",
        "x",
        RELEVANT,
    ),
    "misspelt before": (RESET.replace("tt", "t"), {"x": RESET}, "edited", "x", BOTH),
    "misspelt now": (RESET, {"x": RESET.replace("cc", "c")}, "edited", "x", BOTH),
    "a number": (f"{MAIL} 10", {"x": f"{MAIL} 20"}, "edited", "x", NONE),
    "a negation": (MAIL, {"x": MAIL.replace("is", "is not")}, "edited", "x", NONE),
    "a command": (f"{MAIL} git -D", {"x": f"{MAIL} git -d"}, "edited", "x", NONE),
    "another word": (
        RESET,
        {"x": RESET.replace("settings", "tunnel")},
        "edited",
        "x",
        NONE,
    ),
    "in another order": (f"{VPN} {BOOK}", {"x": f"{BOOK} {VPN}"}, "edited", "x", BOTH),
    "two versions, one with all words": (
        f"{RESET} {VPN} {BOOK} {MAIL}",
        {
            "a": f"{RESET} Later {VPN} {BOOK} {MAIL}",
            "b": f"{RESET} {VPN} {BOOK} {MAIL}".replace("press", "hit"),
        },
        "ambiguous",
        "a",
        RELEVANT,
    ),
    "words added": (WITHOUT_LINK, {"x": WITH_LINK}, "edited", "x", RELEVANT),
    "words dropped": (WITH_LINK, {"x": WITHOUT_LINK}, "edited", "x", NOT),
    "split": (WITH_LINK, {"a": RESET, "b": MAIL}, "split", "ab", NOT),
    "merged": (RESET, {"a": f"{RESET} {BOOK}"}, "merged", "a", RELEVANT),
    "rewritten": (
        VPN,
        {"a": "Certificate or not, the help desk of a university asks for a tunnel."},
        "rewritten",
        "a",
        NONE,
    ),
    "gone": ("Parcels weigh 20 kg.", {"a": VPN}, "gone", "", NONE),
    "no text": ("", {"x": "", "a": VPN}, "same", "x", BOTH),
}


@pytest.mark.parametrize("fate", FATES)
def test_what_became_of_a_text(fate):
    before, after, outcome, becomes, is_safe = FATES[fate]
    rows = [
        followed({"x": before}, after | USUAL, {"x": grade}).loc["x"]
        for grade in (2, 0)
    ]
    assert {row["outcome"] for row in rows} == {outcome}
    assert {"".join(sorted(row["becomes"])) for row in rows} == {becomes}
    assert tuple(row["is_safe"] for row in rows) == is_safe


def test_two_grades_of_a_query_never_come_to_one_document():
    both, after = {"a": RESET, "b": MAIL}, {"c": f"{RESET} {MAIL}"}
    table = followed(both, after | USUAL, {"a": 2, "b": 1})
    assert (table["outcome"].tolist(), table["is_safe"].any()) == (
        ["merged"] * 2,
        False,
    )
    assert followed(both, after | USUAL, {"a": 1, "b": 1})["is_safe"].all()


@given(st.text(max_size=40), st.lists(st.sampled_from(["Not", "10", "a.b", "kiwi"])))
def test_words_are_kept_as_they_are_and_blanks_and_capitals_do_not_matter(text, words):
    [document] = records({"x": f"{text} {' '.join(words)}"})
    numbers = numbered.numbered_words(document)
    assert numbered.unpacked(numbered.packed(numbers)).tolist() == numbers.tolist()
    again = records({"x": f"\n{text}\t{'  '.join(words)} "})[0]
    assert numbered.numbered_words(again).tolist() == numbers.tolist()
    assert (numbers & 1).sum() >= sum(word != "kiwi" for word in words)


CUTS = {
    "d_0-100": "same",
    "d_100-200": "merged",
    "d_200-300": "split",
    "e_0-50-0-50": "gone",
}
NEW_CUTS = ["d_0-100", "d_90-220", "d_220-300", "f_0-50"]


def test_offsets_in_ids_say_which_new_chunks_have_an_old_one():
    chunks = records(dict.fromkeys(NEW_CUTS, ""))
    table = cuts.followed_cuts(judged(dict.fromkeys(CUTS, 2)), chunks)
    assert table["outcome"].tolist() == [*CUTS.values()]
    assert table["becomes"].tolist()[1:3] == [["d_90-220"], ["d_220-300", "d_90-220"]]
    assert table["is_safe"].tolist() == [True, True, False, False]
    assert table["share"].tolist() == pytest.approx([1, 1, 1, 0])
    table = cuts.followed_cuts(judged({"d_200-400": 0}), chunks)
    assert not table["is_safe"].item()  # a new chunk has other text, too
    table = cuts.followed_cuts(
        judged({"d_0-40": 2, "d_40-80": 1}), chunks
    )  # two grades for one chunk
    assert (table["outcome"].tolist(), table["is_safe"].any()) == (
        ["merged"] * 2,
        False,
    )
    with refused(value="d1"):
        cuts.followed_cuts(judged({"d1": 2}), chunks)


# --- In a folder, and the command ----------------------------------------------------

COLUMNS = ["query_id", "query", "document", "grade"]


@pytest.fixture
def faq(tmp_path):
    """A folder with four documents, all judged for two queries."""
    texts = {"reset": RESET, "mail": MAIL, "vpn": VPN, "book": BOOK}
    path = tmp_path / "faq"
    path.mkdir()
    write_documents(path, texts)
    grades = [("q1", "reset?", id_, 2 * (id_ == "reset")) for id_ in texts]
    grades += [("q2", "books?", id_, 2 * (id_ == "book")) for id_ in texts]
    table = pd.DataFrame(grades, columns=COLUMNS)
    table.to_csv(path / listing.JUDGED, index=False)
    return path


def write_documents(path, texts):
    rows = [{"id": id_, "text": text} for id_, text in texts.items()]
    (path / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))


def test_a_folder_keeps_what_was_judged_and_says_what_was_edited(faq):
    assert "8 new pairs" in judged_texts.remember(folder.read(faq))[0]
    kept = (faq / listing.TEXTS).read_bytes()
    assert judged_texts.remember(folder.read(faq)) == []
    assert len(judged_texts.remembered(folder.read(faq))) == 8
    write_documents(
        faq, {"reset": f"{RESET} Now.", "mail": MAIL, "vpn": VPN, "book": BOOK}
    )
    edited = folder.read(faq)
    assert [line[:2] for line in judged_texts.remember(edited)] == ["2 "]
    assert (faq / listing.TEXTS).read_bytes() == kept
    first, second = judged_texts.remember(edited, again=[("q1", "reset")])
    assert ("1 new" in first, second[:2]) == (True, "1 ")
    assert "1 new" in judged_texts.remember(edited, again=[("q3", "vpn")])[0]
    write_documents(faq, {"reset": "", "mail": MAIL, "vpn": VPN, "book": BOOK})
    with pytest.warns(UserWarning, match="empty text"):
        emptied = folder.read(faq)
    judged_texts.remember(emptied, again=[("q1", "reset")])
    no_words = numbered.packed(np.array([numbered.TITLE_ENDS], dtype="<u4"))
    assert no_words in {*judged_texts.remembered(emptied)["words"]}


def test_texts_that_version_1_3_kept_are_read_and_numbered_anew(faq):
    marked = {"reset": f"**{RESET}**", "mail": MAIL, "vpn": VPN, "book": BOOK}
    write_documents(faq, marked)
    data = folder.read(faq)
    former = judged_texts.texts_of(
        data.documents, data.judgements, numbered.former_words
    )
    writing.write_table(judged_texts.packed_once(former), faq / listing.TEXTS)
    assert judged_texts.remember(data) == []
    write_documents(faq, marked | {"mail": f"{MAIL} Not now.", "v": VPN, "vpn": BOOK})
    edited = folder.read(faq)
    [sentence] = judged_texts.remember(edited)
    assert sentence.startswith("4 judged texts were edited")
    kept = judged_texts.remembered(edited)
    table = labels.followed(edited.judgements, kept, edited.documents)
    outcomes = table.groupby("document")["outcome"].first().to_dict()
    assert outcomes["reset"] == "same"
    assert (outcomes["vpn"], outcomes["mail"]) == ("moved", "edited")
    first, _ = judged_texts.remember(edited, again=[("q1", "mail")])
    assert "1 new" in first
    words = judged_texts.remembered(edited).set_index(labels.PAIR)["words"]
    is_former = words.map(numbered.unpacked).map(numbered.is_former)
    assert not is_former["q1"][["reset", "mail", "book"]].any()
    assert is_former["q1"]["vpn"]  # what is not there any more cannot be numbered


def test_what_cannot_be_kept_stops_no_run(faq, monkeypatch):
    def full(*_):
        raise OSError("no space")

    monkeypatch.setattr(judged_texts, "write_table", full)
    assert "no space" in judged_texts.remember(folder.read(faq))[0]


def test_a_text_that_is_missing_is_an_error_that_names_the_row(faq):
    judged_texts.remember(folder.read(faq))
    header, first, *rows = (faq / listing.TEXTS).read_text().splitlines()
    without = [*first.split(",")[:3], "", "8"]
    text = "\n".join([header, ",".join(without), *rows])
    (faq / listing.TEXTS).write_text(text)
    with refused("judged-texts.csv", column="text", advice=judged_texts.ADVICE):
        judged_texts.remembered(folder.read(faq))


DAMAGED = {  # how the lines of judged-texts.csv change, and what is said
    "cut at a line end": (lambda lines: lines[:5], "has 4 rows, and its first row"),
    "without its first row": (lambda lines: [lines[0], *lines[2:]], "says 'none'"),
    "without rows": (lambda lines: lines[:1], "rows"),
    "empty": (lambda lines: [], "empty"),
    "with semicolons": (lambda lines: [each.replace(",", ";") for each in lines], ""),
    "bent": (
        lambda lines: [lines[0], lines[1].replace("0", "1"), *lines[2:]],
        "is not what was written",
    ),
    "cut within a word": (lambda lines: [lines[0], lines[1][:60]], "fields"),
    "no hex digits": (
        lambda lines: [lines[0], lines[1][:40] + "xyz," + lines[1][44:], *lines[2:]],
        "",
    ),
    "merged by git": (lambda lines: [lines[0], "<<<<<<< HEAD", *lines[1:]], "fields"),
}


@pytest.mark.parametrize(("change", "problem"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_stops_no_run_and_is_not_filled_up(faq, change, problem):
    """Today's text must not be taken for what was judged."""
    judged_texts.remember(folder.read(faq))
    path = faq / listing.TEXTS
    damaged = "".join(f"{line}\n" for line in change(path.read_text().splitlines()))
    path.write_text(damaged)
    write_documents(faq, {"reset": VPN, "mail": RESET, "vpn": BOOK, "book": MAIL})
    for again in ([], [("q1", "reset")]):
        [sentence] = judged_texts.remember(folder.read(faq), again)
        assert sentence.startswith("what was judged is not kept: ")
        for part in (str(path), problem, "delete it"):
            assert part in sentence
        assert path.read_text() == damaged
    with refused("judged-texts.csv", advice=judged_texts.ADVICE):
        judged_texts.remembered(folder.read(faq))


def test_a_file_of_an_older_version_is_read_and_a_line_says_what_it_cannot_tell(faq):
    data = folder.read(faq)
    judged_texts.remember(data)
    path = faq / listing.TEXTS
    rows = [line.rpartition(",")[0] for line in path.read_text().splitlines()]
    path.write_text("\n".join(rows) + "\n")
    assert judged_texts.remember(data) == []
    assert len(judged_texts.remembered(data)) == 8
    first, second = judged_texts.remember(data, again=[("q9", "vpn")])
    assert "if rows are missing, today's texts count" in first
    assert "1 new pairs" in second
    assert len(judged_texts.remembered(data)) == 9


@pytest.mark.parametrize("from_old", [False, True])
def test_the_command_writes_new_files_and_queues_the_others(faq, from_old, capsys):
    judged_texts.remember(folder.read(faq))
    old, out = faq.with_name("old"), faq.with_name("out")
    shutil.copytree(faq, old)
    if from_old:
        (faq / listing.TEXTS).unlink()
    write_documents(
        faq, {"r": RESET, "mail": MAIL + " Not now.", "v": VPN, "b": BOOK} | USUAL
    )
    before = (faq / listing.JUDGED).read_bytes()
    words = ["labels", str(faq), "--out", str(out), *["--from", str(old)] * from_old]
    assert main(["evaluate", str(faq), "--out", str(faq.with_name("no"))]) == 3
    assert "evaluate-retrieval labels" in capsys.readouterr().err
    assert main([*words, "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)["counts"]
    assert counts["moved"] == {"judgements": 6, "carried": 6, "to_judge": 0}
    assert counts["edited"] == {"judgements": 2, "carried": 0, "to_judge": 2}
    assert not (out / listing.JUDGED).exists()
    assert main([*words, "--write"]) == 0
    assert (faq / listing.JUDGED).read_bytes() == before
    for name in (listing.JUDGED, listing.TEXTS):
        shutil.copy(out / name, faq)
    data = folder.read(faq)
    grades = data.judgements.set_index(labels.PAIR)["grade"]
    assert grades.to_dict() == {
        ("q1", "r"): 2, ("q1", "v"): 0, ("q1", "b"): 0,
        ("q2", "r"): 0, ("q2", "v"): 0, ("q2", "b"): 2,
    }  # fmt: skip
    assert judged_texts.remember(data) == []
    assert manifest.has_written(out, judge.LIST, data.source)
    queue = judge.pairs_to_judge(data, {}, judge.JudgeOptions(out=out))
    assert queue[labels.PAIR].to_numpy().tolist() == [["q1", "mail"], ["q2", "mail"]]


# --- The gate, and what has changed since the last run -------------------------------

IDS = [f"d{n}" for n in range(40)]
TEXT_OF = {id_: f"text {id_}" for id_ in IDS}


def kept(rank, ids=IDS, texts=TEXT_OF):
    """`baseline_file.Kept` of a query for each id, which stands at a rank."""
    queries = pd.DataFrame({"query_id": IDS, "question": IDS, "need": IDS})
    pairs = [*zip(IDS, ids, strict=True)]
    first = [f"none{n}" for n in range(1, rank)]
    rankings = {query: [*first, id_] for query, id_ in pairs}
    nothing = dict.fromkeys(first, 0)
    qrels = {query: nothing | ({id_: 1} if id_ in ids else {}) for query, id_ in pairs}
    return baseline_file.Kept("mine", queries, rankings, qrels, Measure(), texts)


MOVED = {f"new-{id_}": text for id_, text in TEXT_OF.items()}
NEW_IDS = [f"new-{id_}" for id_ in IDS]


@pytest.mark.parametrize(("rank", "code"), [(1, 0), (3, 1)])
def test_the_gate_takes_a_text_with_another_id_for_the_same(rank, code):
    now = kept(rank, NEW_IDS, MOVED)
    outcome = baseline.outcome_of(kept(1), now)
    assert outcome.code == code
    assert any(sentence.startswith("40 documents") for sentence in outcome.sentences)


def test_lost_labels_make_no_search_worse():
    """The judged texts of ten queries are gone, and something else is found instead."""
    before, now = kept(1), kept(1)
    for run in (before, now):
        for query, ranking in run.rankings.items():
            ranking.append("second")
            run.qrels[query] |= {"second": 1, "third": 0}
    for query in IDS[:10]:
        now.qrels[query] = {"second": 1, "third": 0}
        now.rankings[query] = ["third", "second"]
    outcome = baseline.outcome_of(before, now)
    assert outcome.code == 2
    [sentence] = [each for each in outcome.sentences if "are lost" in each]
    assert "10 judgements of 10 queries" in sentence
    assert "d0 of d0" in sentence
    for query in IDS[10:]:  # and a search that is worse on the others is worse
        now.rankings[query] = ["third", "second"]
    outcome = baseline.outcome_of(before, now)
    assert outcome.code == 1


def test_a_change_is_what_the_labels_did_and_what_the_search_did():
    before, now = kept(1), kept(3, NEW_IDS, MOVED)
    for query in IDS:  # a second relevant document was judged
        now.qrels[query]["second"] = 1
    whole = 1 + 1 / np.log2(3)
    [facts] = since.since_last(before, now)
    sentence = sentences.since(facts)
    assert f"from 1.000 to {0.5 / whole:.3f}" in sentence
    assert f"{1 / whole - 1:+.3f} by the labels" in sentence
    assert f"{-0.5 / whole:+.3f} by the search" in sentence
    assert "40 documents have another id" in sentence
    assert since.since_last(before, kept(1)) == []
    other = replace(now, search="another")
    assert since.since_last(before, other) == []
    # a sample was drawn since, of queries that the last run did not have
    others = replace(now, qrels={"drawn": {"d0": 1}}, rankings={"drawn": ["d0"]})
    assert since.since_last(before, others) == []
