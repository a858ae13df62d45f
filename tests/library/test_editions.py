"""Two editions of documents: which text became which, and what an edit has changed."""

import time

import numpy as np
import pytest

from evaluate_retrieval.judging import editions, edits, numbered
from evaluate_retrieval.judging.editions import edition_of

RESET = "To reset your password open the settings, choose account and press the button."
VPN = "The tunnel needs the client of the university and a certificate of the help desk"
BOOK = "Library books are renewed online until another reader has reserved the volume."
N = 400


def documents(texts, titles=None):
    """Documents of a dict of texts by id; titles: by id."""
    rest = {"section": "", "course": "all"}
    titles = titles or {}
    return [
        {"id": id_, "question": titles.get(id_, ""), "text": text, **rest}
        for id_, text in texts.items()
    ]


def matched(before, after):
    """The rows of `editions.matched` of two lists of documents, by id."""
    old = [numbered.numbered_words(each) for each in before]
    ids = [each["id"] for each in before]
    return editions.matched(ids, old, edition_of(after)).set_axis(ids)


def safe(old, new, *others):
    """Whether a grade of a relevant text, and of another, outlives an edit."""
    edition = edition_of(documents({"x": new, **dict(enumerate(others))}))
    [document] = documents({"x": old})
    words = numbered.numbered_words(document)
    changes = edits.changes(words, edition.texts["x"], edition)
    is_relevant = edits.keeps_relevant(changes, len(words), edition, ())
    return is_relevant, edits.keeps_other(changes)


LONG = f"{RESET} {VPN} {BOOK}"
# What was, what is, and whether a grade of a relevant text and of another is carried
OUTLIVES = {
    "another order": (LONG, f"{BOOK} {RESET} {VPN}", (True, True)),
    "words in another order": (VPN, " ".join(sorted(VPN.split())), (False, False)),
    "a phrase": (LONG, LONG.replace("help desk", "service"), (True, False)),
    "a phrase of a short text": (
        VPN,
        VPN.replace("help desk", "service"),
        (False, False),
    ),
    "a phrase that stands elsewhere": (
        f"{LONG} Open settings",
        f"{LONG} Open",
        (True, True),
    ),
    "a name of code": (f"{LONG} at /a/b", LONG, (False, False)),
    "another name of code": (f"{LONG} st.old", f"{LONG} st.new", (True, False)),
    "a number for a name of code": (f"{LONG} at /a/b", f"{LONG} at 20", (False, False)),
    "a number in new words": (RESET, f"{RESET} Open until 20 May", (True, False)),
    "Markdown": (RESET, f"**{RESET}**\n\n![a picture](p.png)", (True, True)),
    "a link": (RESET, RESET.replace("account", "[account](/a)"), (True, True)),
    "small words": (RESET, RESET.replace("the", "your"), (True, True)),
    "another form": (RESET, RESET.replace("choose", "chooses"), (True, True)),
    "misspelt": (RESET.replace("tt", "t"), RESET, (True, True)),
    "another name": (VPN, VPN.replace("client", "clients' guide"), (True, False)),
    "a word": (RESET, RESET.replace("settings", "tunnel"), (False, False)),
    "a number": ("It takes 10 days", "It takes 20 days", (False, False)),
    "a number more": ("It takes days", "It takes 20 days", (False, False)),
    "a negation": (VPN, VPN.replace("needs", "never needs"), (False, False)),
    "less": (f"{RESET} {BOOK}", RESET, (False, True)),
    "a number less": ("It takes 20 days", "It takes days", (False, False)),
    "a passage": (
        RESET,
        f"{RESET} {VPN} {BOOK} It is not open on 24 May",
        (True, False),
    ),
}


@pytest.mark.parametrize("edit", OUTLIVES)
def test_a_grade_outlives_an_edit_that_changes_no_meaning(edit):
    old, new, expected = OUTLIVES[edit]
    assert safe(old, new, RESET) == expected


@pytest.mark.parametrize(
    ("title", "is_kept"),
    [("Books of ours", True), ("Library", True), ("st.books", False)],
)
def test_a_title_may_change_if_the_text_stays(title, is_kept):
    """Its words are in the text, or few; a name in it says what the text is about."""
    [before], [after] = (
        documents({"x": LONG}, {"x": each}) for each in (title, "What readers borrow")
    )
    edition = edition_of([after])
    words = numbered.numbered_words(before)
    changes = edits.changes(words, edition.texts["x"], edition)
    assert edits.keeps_relevant(changes, len(words), edition, ()) == is_kept


def test_two_words_that_documents_use_are_no_typo_of_each_other():
    old, new = "Take Coreg at night", "Take Cored at night"
    assert safe(old, new) == (True, True)
    assert safe(old, new, "Coreg Cored", "Coreg Cored") == (False, False)


# What three texts have of old, what is there in its place, and whether in n texts that
# is a change of all
THROUGHOUT = {
    "a word": ("turbo", "rapid", 2, True),
    "a word of one text": ("turbo", "rapid", 1, False),
    "a word that lives on": ("turbo", "rapid turbo-charged", 2, True),
    "a number": ("turbo", "20", 3, False),
    "a negation less": ("never turbo", "turbo", 3, False),
    "a negation more": ("turbo", "never turbo", 3, False),
    "a sentence": ("turbo", "turbo which was not in release 7", 3, True),
}


@pytest.mark.parametrize("change", THROUGHOUT)
def test_a_change_that_several_texts_have_is_one_of_all(change):
    was, becomes, n, is_repeated = THROUGHOUT[change]
    olds = [f"{text} with {was}" for text in (RESET, VPN, BOOK)[:n]]
    news = [text.replace(was, becomes) for text in olds]
    edition = edition_of(documents(dict(enumerate(news))))
    texts = [numbered.numbered_words(each) for each in documents(dict(enumerate(olds)))]
    changes = [
        edits.changes(words, edition.texts[number], edition)
        for number, words in enumerate(texts)
    ]
    throughout = edits.repeated(changes, edition)
    assert bool(throughout) == is_repeated
    for words, each in zip(texts, changes, strict=True):
        kept = edits.keeps_relevant(each, len(words), edition, throughout)
        assert kept == is_repeated
        assert not edits.keeps_other(each)


def test_a_text_that_is_like_none_is_looked_for_by_its_title_and_its_words():
    titles = {"a": "Reset a password", "b": "Tunnels", "c": "Tunnels"}
    before = documents({"a": "Press it.", "b": VPN, "c": BOOK}, titles)
    titles = {"x": "Reset a password", "y": "Access"}
    text = (
        "A certificate lets a client of the help desk into a tunnel, says a university"
    )
    after = documents({"x": "Call Ann in room five.", "y": text}, titles)
    table = matched(before, after)
    assert table["outcome"].tolist() == ["rewritten", "rewritten", "gone"]
    assert table["becomes"].tolist() == [["x"], ["y"], []]


def test_a_title_that_many_have_finds_nothing():
    before = documents({"a": BOOK}, {"a": "Overview"})
    names = dict.fromkeys("wxyz", "Overview")
    after = documents({id_: f"{VPN} {id_}{id_}" for id_ in names}, names)
    assert matched(before, after)["outcome"].tolist() == ["gone"]


def test_of_two_texts_that_are_as_likely_the_one_with_its_title_counts():
    rows = {"a": f"{RESET} {VPN}", "b": f"{RESET} {VPN} {RESET}"}
    before = documents({"old": f"{RESET} now {VPN} anyway"}, {"old": "Passwords"})
    [row] = matched(
        before, documents(rows, {"a": "Access", "b": "Passwords"})
    ).itertuples()
    assert (row.outcome, row.becomes) == ("edited", ["b"])
    [row] = matched(before, documents(rows, {"a": "Access", "b": "Entry"})).itertuples()
    assert (row.outcome, {*row.becomes}) == ("ambiguous", {"a", "b"})


@pytest.mark.parametrize("is_edited", [False, True])
def test_many_copies_of_a_text_take_no_time_and_few_ids(is_edited):
    before = documents({f"d{n}": RESET for n in range(N)})
    text = f"{RESET} Then wait." if is_edited else RESET
    after = documents({f"e{n}": text for n in range(N)} | {"d7": text})
    started = time.process_time()
    table = matched(before, after)
    assert time.process_time() - started < 5
    assert table["becomes"].str.len().max() == editions.MOST_IDS
    assert table["becomes"]["d7"] == ["d7"]
    outcomes = {"edited"} if is_edited else {"moved", "same"}
    assert {*table["outcome"]} == outcomes


def test_words_that_version_1_3_kept_are_found_again():
    before = documents({"a": f"**{RESET}**", "b": VPN})
    words = [numbered.former_words(each) for each in before]
    edition = edition_of(documents({"x": f"**{RESET}**", "b": f"{VPN} now"}), True)
    table = editions.matched(["a", "b"], words, edition)
    assert table["outcome"].tolist() == ["moved", "edited"]
    assert table["becomes"].tolist() == [["x"], ["b"]]
    assert np.array_equal(words[0], edition.texts["x"])
