"""notebooks/more/quotes.py: labels that are quotes, whatever way pages are cut."""

import pages
import pytest
import quotes

GUIDE = "# Guide\n\nInstall it. Then start\nthe server with `serve`. It listens."
QUOTED = """query,document,quote
how do I start it,guide.md,Then start the   server with
how do I start it,guide.md,the server with `serve`. It listens
what is first,guide.md,Install it.
"""


def loaded(folder, quoted=QUOTED):
    (folder / "guide.md").write_text(GUIDE)
    (folder / "quotes.csv").write_text(quoted)
    return quotes.load(folder)


def test_what_quotes_of_a_query_share_counts_once(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "rankings_of", lambda *_: None)
    monkeypatch.setattr(pages, "recalled", lambda rankings, cut, relevant: relevant)
    documents, queries, spans = loaded(tmp_path)
    assert queries["question"].tolist() == ["how do I start it", "what is first"]
    tokens = pages.tokens_of(documents)
    relevant = quotes.recalls(documents, queries, spans)["whole page"][0]
    text = GUIDE[tokens.start[relevant[0]] : tokens.end[relevant[-1]]]
    assert text == "Then start\nthe server with `serve`. It listens"
    assert relevant.tolist() == [*range(relevant[0], relevant[-1] + 1)]


@pytest.mark.parametrize("row", ["guide.md,Restart it.", "guide.md,it", "no.md,It"])
def test_a_quote_that_is_not_in_its_page_once_is_named(row, tmp_path):
    with pytest.raises(ValueError, match=r"quotes\.csv: row 3, column quote"):
        loaded(tmp_path, f"{QUOTED}q,{row}\n")
