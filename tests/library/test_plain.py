"""What a reader reads of a text, and its words as numbers."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate_retrieval.judging import numbered
from evaluate_retrieval.judging.plain import plain_text

CODE = 'st.markdown("[Section](#section)")'
# as it is written, and what a reader sees
SEEN = {
    "See [the manual](https://a.org/b_c(d)) now.": "See the manual now.",
    "See [the manual][1] now.\n\n[1]: https://a.org": "See the manual now.",
    "![a screenshot](x.png)Press **Save**, then *wait*.": "Press Save, then wait.",
    "Use `git push`.\n\n```bash\n$ git push\n```": "Use git push. git push",
    f"```python\n{CODE}\n```": 'st.markdown("Section")',
    "<Note>\n\nSee [it](/here).\n\n</Note>": "See it.",
    '<p class="a">\nOn [a page](/b).\n</p> <!-- later -->': "On a page.",
    "# Title\n\n1. First\n2. Second\n\n- third": "Title First Second third",
    "8082. Port 8081 is taken.": "8082 Port 8081 is taken.",
    "| a | b |\n|---|---|\n| c | [d](e) |": "a b c d",
    "It is at https://a.org/b, @ann said.": "It is at said.",
    "Mail a@b.org. Use `@st.cache`.": "Mail a@b.org. Use @st.cache.",
    "Restart it.\n\n(Added by Ann Lee)": "Restart it.",
    "Restart it. *(answered by Ann)*": "Restart it.",
    "Restart it.\nEdited by Ann, in May": "Restart it.",
    "Restart it.\n\nCheers,\nAnn": "Restart it.",
    "Restart it.\n-- Ann Lee": "Restart it.",
    "It is updated by the server at night.": "It is updated by the server at night.",
    "st.snow()\n```\n\n[A](/b) <T x={1}>c</T>\n```python\nd": "st.snow() A c d",
    'say&mdash;or <b x="<i>">not</b>': "say—or not",
    "a < b, snake_case and 2 * 3": "a < b, snake_case and 2 * 3",
}


@pytest.mark.parametrize("text", SEEN)
def test_a_reader_sees_no_markdown_and_not_who_wrote_it(text):
    assert " ".join(plain_text(text).split()) == SEEN[text]


@given(st.text(alphabet="ab (){}[]<>!*_`~|#@&:/.\n-+1", max_size=200))
def test_any_text_can_be_read(text):
    words = numbered.words_in(text)
    assert all(word.strip() == word != "" for word in words)
    assert numbered.words_in(f"\n{text}\n") == words


@pytest.mark.parametrize(
    "part", ["(", "[", "[a](", "<!--", "<a ", "*a ", "`", "> ", "\n", "thanks,\n\n"]
)
def test_no_text_takes_long(part):
    """A rule that looks at a part again and again would take minutes."""
    started = time.process_time()
    plain_text(part * (100_000 // len(part)))
    assert time.process_time() - started < 10


def test_words_end_where_readers_end_them():
    words = numbered.words_in("(It's) “quoted”, read/write; /a/b.txt 1,000 don’t -D 🎈")
    assert words == [
        "It's", "quoted", "read", "write", "/a", "b.txt", "1,000", "don't", "-D",
    ]  # fmt: skip
    assert numbered.words_in("Ist das ein Wort?") == ["Ist", "das", "ein", "Wort"]


MARKED = dict.fromkeys(["10", "Not", "don't", "a.b", "-D", "a_b"], True)


@pytest.mark.parametrize(
    ("word", "is_mark"),
    [*MARKED.items(), ("kiwi", False), ("GitHub", False), ("well-known", False)],
)
def test_numbers_negations_and_commands_are_marked(word, is_mark):
    assert numbered.number_of(word) & 1 == is_mark
    assert numbered.former_number_of(word) & 1 == (is_mark or word == "GitHub")


def test_capitals_matter_in_options_only():
    assert numbered.number_of("GitHub") == numbered.number_of("github")
    assert numbered.number_of("-D") != numbered.number_of("-d")


def test_a_title_ends_where_its_text_begins():
    document = {"id": "a", "question": "Two words?", "text": "one", "section": ""}
    words = numbered.numbered_words(document)
    assert np.flatnonzero(words == numbered.TITLE_ENDS).tolist() == [2]
    assert not numbered.is_former(words)
    assert numbered.is_former(numbered.former_words(document))
    assert numbered.unpacked(numbered.packed(words)).tolist() == words.tolist()
