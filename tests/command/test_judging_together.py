"""Test judging by several people: who gets which pairs, pages, and what they save."""

import base64
import hashlib
import html
import itertools
import json
import re

import numpy as np
import pandas as pd
import pytest
from refusals import refused

from evaluate_retrieval import evaluate, judge
from evaluate_retrieval.commands import manifest
from evaluate_retrieval.judging import dealing, grading, pages, settling
from evaluate_retrieval.line import main
from evaluate_retrieval.reading import corpus, files, folder
from evaluate_retrieval.words.templates import templates

NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(2)> {{ 1 }}"
RULE = "query_id,query,course,kind,document,grade\n"


def make_folder(path, n_queries=6, n_documents=8):
    """A folder of short texts with a log, in which each query finds each document."""
    path.mkdir()
    documents = [
        {"id": f"d{n}", "question": f"Kettle {n}", "text": f"the red kettle no {n}"}
        for n in range(n_documents)
    ]
    documents[0]["text"] += NASTY
    (path / "documents.json").write_text(json.dumps(documents))
    typed = [f"kettle red {word}" for word in "abcdefghij"[:n_queries]]
    (path / "queries.txt").write_text("\n".join(typed))
    return path


@pytest.fixture
def shop(tmp_path):
    return make_folder(tmp_path / "shop")


def write_pages(shop, *words):
    """Write pages, and read the facts of each: a dict by person."""
    out = shop.parent / "out"
    line = ["judge", str(shop), "--page", "--out", str(out), *words]
    assert main(line) == 0
    return {
        path.stem.removeprefix("judge-"): facts_in(path)
        for path in out.glob("judge-*.html")
        if path.stem not in ("judge-lead", "judge-settle")
    }


def facts_in(path):
    text = path.read_text("utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', text)[1])


def saved(facts, grade="1", path=None, **changes):
    """What a page would save of all of its pairs, as a file; its path."""
    rows = []
    for number, (query, document) in enumerate(facts["pairs"]):
        rows.append(
            {
                **facts["queries"][query]["cells"],
                "document": document,
                "grade": grade(number) if callable(grade) else grade,
                "judge": facts["person"],
                "time": f"2026-11-28T10:{number // 60:02}:{number % 60:02}.000Z",
                "note": "",
                "want": "",
                "text": facts["documents"][document]["hash"],
            }
        )
    table = pd.DataFrame(rows).assign(**changes)
    table.to_csv(path, index=False)
    return path


# --- Who judges what ---------------------------------------------------------------


def test_each_query_goes_to_two_people_and_all_get_as_much():
    rng = np.random.default_rng(3)
    sizes = rng.integers(4, 15, size=60)
    ids = np.repeat([f"q{n}" for n in range(60)], sizes)
    pairs = pd.DataFrame(
        {"query_id": ids, "document": [f"d{n}" for n in range(len(ids))]}
    )
    dealt = dealing.deal(pairs, ["ann", "ben", "carl", "dora"], 2)
    people = dealt.groupby("query_id", sort=False)["people"].agg(["first", "nunique"])
    assert {*people["nunique"]} == {1}
    names = people["first"].str.split(";")
    assert {len({*each}) for each in names} == {2}
    # wherever they stop, all have had nearly the same
    loads = pd.DataFrame(
        {
            person: names.map(lambda each, who=person: who in each).to_numpy() * sizes
            for person in ("ann", "ben", "carl", "dora")
        }
    ).cumsum()
    assert (loads.max(axis=1) - loads.min(axis=1)).max() <= 2 * sizes.max()
    # and everybody has judged with everybody
    together = {frozenset(each) for each in names[:20]}
    assert len(together) == 6


def test_who_has_a_query_keeps_it_where_a_deal_is_made_again():
    pairs = pd.DataFrame({"query_id": [*"abcd"], "document": "x"})
    first = dealing.deal(pairs, ["ann", "ben", "carl"], 2)
    before = dict(zip(first["query_id"], first["people"], strict=True))
    again = dealing.deal(pairs[::-1], ["carl", "ben", "ann"], 2, first)
    assert dict(zip(again["query_id"], again["people"], strict=True)) == before
    without = dealing.deal(pairs, ["ann", "ben"], 2, first)
    assert {*without["people"].map(lambda cell: frozenset(cell.split(";")))} == {
        frozenset(["ann", "ben"])
    }


@pytest.mark.filterwarnings("ignore:.*all of one need")
def test_others_take_over_what_somebody_who_left_has_not_judged(shop):
    """What dora judged stays hers, also in a file that comes in late."""
    first = write_pages(shop, "--people", "ann,ben,dora")
    n_judged = len(first["dora"]["pairs"]) // 2 - 1  # in the middle of a query
    for person, n in (("dora", n_judged), ("ann", 5)):
        path = saved(first[person], "1", shop.parent / f"{person}.csv")
        files.read_csv(path).head(n).to_csv(path, index=False)
        add(shop, path)
    before = dealing.read_dealt(shop)
    (shop.parent / "out/judge-dora.html").unlink()
    again = write_pages(shop, "--people", "ann,ben")
    assert {*again} == {"ann", "ben"}
    dealt = dealing.read_dealt(shop)
    assert len(dealt) == len(before) == 48
    assert {cell.count(";") for cell in dealt["people"]} == {1}
    assert dealt["people"].str.contains("dora").sum() == n_judged
    n_of_dora = len(first["dora"]["pairs"])
    assert (dealt["left"] == "dora").sum() == n_of_dora - n_judged
    rows = [row for person in ("ann", "dora") for row in of_file(shop, person)]
    for person, page in again.items():
        pairs = [
            (page["queries"][query]["query_id"], id_) for query, id_ in page["pairs"]
        ]
        assert len({*pairs}) == len(pairs)
        done = {pairs[place] for place in page["done"]}
        assert done == {row[:2] for row in rows if row[2] == person}
        former = {
            (first[person]["queries"][query]["query_id"], id_)
            for query, id_ in first[person]["pairs"]
        }
        assert former <= {*pairs}
    late = saved(first["dora"], "2", shop.parent / "dora.csv")
    add(shop, late)
    assert len(of_file(shop, "dora")) == n_judged + n_of_dora
    both = [saved(page, "0", shop.parent / f"{who}.csv") for who, page in again.items()]
    add(shop, *both)
    table = files.read_csv(shop / "judged-queries.csv")
    assert len(table) == 48
    assert (table["grades"].str.count(";") >= 1).all()
    # who comes back has the rest of the query again, and nobody's grade is asked anew
    back = write_pages(shop, "--people", "ann,ben,dora")
    assert all(len(page["done"]) == len(page["pairs"]) for page in back.values())


def of_file(shop, person):
    """The pairs in a person's file, and the person: tuples."""
    table = files.read_csv(shop / f"judgements-{person}.csv")
    return list(
        table[["query_id", "document", "judge"]].itertuples(index=False, name=None)
    )


@pytest.mark.filterwarnings("ignore:.*all of one need")
def test_a_page_of_a_clock_that_is_ahead_hides_no_correction(shop):
    """One device is hours ahead; its file may go in again after the correction."""
    facts = write_pages(shop, "--people", "ann,ben")["ann"]
    now = pd.Timestamp.now("UTC")
    n = len(facts["pairs"])
    hours = [now + pd.Timedelta(hours=3, seconds=place) for place in range(n)]
    ahead = [grading.as_time(each) for each in hours]
    first = saved(facts, "2", shop.parent / "ahead.csv", time=ahead)
    add(shop, first)
    correct = saved(facts, "0", shop.parent / "right.csv", time=grading.now())
    add(shop, correct)
    assert "0 of 48" in add(shop, first)
    path = shop / "judgements-ann.csv"
    rows = files.read_csv(path)
    assert len(rows) == 2 * n
    assert rows["clock"].head(n).tolist() == ahead
    assert rows["time"].head(n).is_monotonic_increasing
    assert rows["time"].max() <= grading.now()
    assert {*grading.last_grades(path)["grade"]} == {"0"}


@pytest.mark.filterwarnings("ignore:.*all of one need")
def test_an_older_grade_of_a_person_that_does_not_count_is_told(shop, caplog):
    """A clock that was ahead hours ago looks right: no later correction is hidden."""
    facts = write_pages(shop)["me"]
    paths = [
        saved(facts, grade, shop.parent / f"{grade}.csv", time=time)
        for grade, time in {
            "2": "2026-11-28T13:00:00.000Z",  # judged at 10, by a clock that is ahead
            "1": "2026-11-28T11:00:00.000Z",
        }.items()
    ]
    add(shop, paths[0])
    add(shop, paths[1])
    n = len(facts["pairs"])
    said = f"me: {n} grades are older than another one of the same person"
    assert [each for each in caplog.messages if said in each]
    assert set(settling.last_rows(shop)["grade"]) == {"2"}
    caplog.clear()
    add(shop, *paths)  # what is there says nothing
    assert not [each for each in caplog.messages if "are older" in each]


def test_a_page_has_pairs_of_complete_queries_in_the_folders_order(shop):
    facts = write_pages(shop, "--people", "ann,ben,carl,dora")
    assert {*facts} == {"ann", "ben", "carl", "dora"}
    sample = files.read_csv(shop / "judging/sample.csv")["query"].tolist()
    seen = []
    for page in facts.values():
        numbers = [number for number, _ in page["pairs"]]
        assert numbers == sorted(numbers)  # all pairs of a query together
        queries = [query["query"] for query in page["queries"]]
        assert queries == sorted(queries, key=sample.index)
        seen += [(query, page["person"]) for query in queries]
        for number, (_, rows) in enumerate(
            itertools.groupby(page["pairs"], key=lambda pair: pair[0])
        ):
            documents = [id_ for _, id_ in rows]
            assert len(documents) == len({*documents}) == 8, number
    assert len(seen) == len({*seen}) == 2 * len(sample)
    dealt = dealing.read_dealt(shop)
    assert len(dealt) == 48
    assert {cell.count(";") for cell in dealt["people"]} == {1}
    # the place of a document is not that of a rank, nor the same for each query
    orders = dealt.groupby("query_id")["document"].agg(tuple)
    assert orders.nunique() > 3


# --- The page ------------------------------------------------------------------------


def test_a_page_says_nothing_of_searches_ranks_and_grades_and_runs_no_text(shop):
    older = "q1,what is a lamp,all,tail"
    rows = [f"{older},d{n},{n % 3},ann=7;zoe={n % 3}" for n in range(3)]
    rows.append("q2,what is a lid,all,tail,d4,1,zoe=1")
    header = RULE.replace("grade\n", "grade,grades\n")
    (shop / "judged-queries.csv").write_text("\n".join([header.strip(), *rows]) + "\n")
    write_pages(shop, "--people", "ann,ben")
    path = shop.parent / "out/judge-ann.html"
    text = path.read_text("utf-8")
    assert NASTY not in text
    assert text.count("<script") == 2
    for word in ("own:", "rank", "score", "drawn", "pool", "zoe", "ben", "://"):
        assert word not in text.replace("evaluate-retrieval", ""), word
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    for kind in ("script", "style"):
        [content] = re.findall(rf"<{kind}>(.*?)</{kind}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src &#39;sha256-{digest}&#39;" in policy[1].replace(
            "&#x27;", "&#39;"
        )
    assert "default-src &#39;none&#39;" in policy[1]
    facts = facts_in(path)
    assert {*facts["documents"]["d1"]} == {"title", "text", "hash", "cell"}
    assert all(len(pair) == 2 for pair in facts["pairs"])


def test_the_script_is_short_and_needs_no_other():
    from evaluate_retrieval.words.templates import templates

    source, _, _ = templates().loader.get_source(templates(), "judge.js")
    assert len(source.splitlines()) <= 600
    assert not re.search(r"\b(import|require|eval|innerHTML|document\.write)\b", source)


def test_practice_and_examples_are_of_queries_that_nobody_is_asked_about():
    table = pd.DataFrame(
        {
            "query_id": [*"aabbccdd"],
            "query": [*"aabbccdd"],
            "document": [*"12345678"],
            "grade": [0.0, 1.0, 2.0, 0.0, 1.0, 2.0, 0.0, 0.0],
            "grades": ["x=0;y=0", "x=1;y=1", "x=2;y=2", "x=0;y=1"] + [""] * 4,
        }
    )
    agreed = pages.agreed_pairs(table, pd.Series(["d"]), ["0", "1", "2"])
    assert "d" not in {*agreed["query"]}
    assert "4" not in {*agreed["document"]}  # they differ
    assert {*agreed["document"][:3]} == {"1", "2", "3"}  # two people agree
    assert {*agreed["document"]} == {*"12356"}
    by_id = {id_: {"question": f"T{id_}", "text": "t"} for id_ in "12345678"}
    key_of = {grade: grade for grade in "012"}
    examples, practice = pages._examples(agreed, by_id, key_of)
    assert {examples[grade]["title"] for grade in "012"} == {"T1", "T2", "T3"}
    assert {each["title"] for each in practice} == {"T5", "T6"}
    assert {each["grade"] for each in practice} == {"1", "2"}


@pytest.mark.parametrize("people", ["ann,ann", "", ",", "a/b", "../ann", "ann,b c"])
def test_each_of_the_people_has_a_name_of_a_file(shop, people, capsys):
    assert main(["judge", str(shop), "--page", "--people", people]) == 3
    assert "each has to have another name" in capsys.readouterr().err


def test_a_scale_of_others_has_keys_and_its_grades(shop):
    (shop / "judged-queries.csv").write_text(
        f"{RULE}q1,lamp,all,tail,d1,0.5\nq2,lid,all,tail,d2,0.5\n"
    )
    facts = write_pages(shop)["me"]
    assert [each["grade"] for each in facts["scale"]] == ["0", "0.5"]
    assert [each["key"] for each in facts["scale"]] == ["0", "1"]


# --- What pages save -----------------------------------------------------------------


def add(shop, *paths):
    return judge(shop, add=list(map(str, paths)), out=shop.parent / "out").says


def counts_in(shop):
    table = files.read_csv(shop / "judged-queries.csv")
    return table.groupby("grades")["grade"].agg(["size", "first"]).to_dict("index")


def test_saved_files_go_in_twice_without_harm_and_all_grades_are_kept(shop):
    facts = write_pages(shop, "--people", "ann,ben")
    ann = saved(facts["ann"], "2", shop.parent / "judgements-ann.csv")
    ben = saved(facts["ben"], "0", shop.parent / "judgements-ben (1).csv")
    assert add(shop, ann, ben).startswith("96 of 96 grades are new")
    assert {len(pair.split(";")) for pair in counts_in(shop)} == {2}
    assert sum(each["size"] for each in counts_in(shop).values()) == 48
    content = (shop / "judged-queries.csv").read_bytes()
    assert add(shop, ben, ann).startswith("0 of 96 grades are new")
    assert (shop / "judged-queries.csv").read_bytes() == content
    rows = files.read_csv(shop / "judgements-ann.csv")
    assert {*rows["drawn"]} == {"pool"}  # which the page does not say
    assert len(folder.read(shop).judgements) == 48
    # a later grade of ann counts, wherever it comes from
    later = saved(
        facts["ann"], "1", shop.parent / "again.csv", time="2026-11-29T10:00:00.000Z"
    )
    add(shop, later)
    assert {*counts_in(shop)} == {"ann=1;ben=0"}
    add(shop, ann)
    assert {*counts_in(shop)} == {"ann=1;ben=0"}


def test_who_cannot_tell_gives_no_grade(shop):
    facts = write_pages(shop)["me"]
    some = saved(facts, lambda n: "?" if n < 5 else "1", shop.parent / "me.csv")
    add(shop, some)
    assert len(files.read_csv(shop / "judged-queries.csv")) == 43
    session = grading.Judging(
        dealing.read_dealt(shop)[corpus.TO_JUDGE], shop / "judgements-me.csv"
    )
    assert len(session.done) == 43  # the terminal goes on with what is open
    grading.judge(session, "2")
    assert list(files.read_csv(session.path))[-4:] == ["note", "want", "text", "clock"]


WRONG = {
    "another folder's document": ({"document": "x9"}, "document"),
    "another text": ({"text": "00000000"}, "document"),
    "a grade of another scale": ({"grade": "3"}, "grade"),
    "a formula": ({"grade": "=1+1"}, "grade"),
    "a path": ({"judge": "../../etc/ann"}, "judge"),
    "nobody": ({"judge": "zoe"}, "judge"),
    "no time": ({"time": "yesterday"}, "time"),
}


@pytest.mark.parametrize(("changes", "column"), WRONG.values(), ids=WRONG)
def test_a_file_that_is_not_of_this_folder_changes_nothing(shop, changes, column):
    facts = write_pages(shop, "--people", "ann,ben")
    good = saved(facts["ann"], "2", shop.parent / "ann.csv")
    changes = {"grade": "2", **changes}
    bad = saved(facts["ben"], path=shop.parent / "ben.csv", **changes)
    before = sorted(path.name for path in shop.iterdir())
    with refused("ben.csv", column=column):
        add(shop, good, bad)
    assert sorted(path.name for path in shop.iterdir()) == before


def test_files_of_another_folder_and_of_other_tools_are_refused(shop):
    there = make_folder(shop.parent / "there", n_queries=3)
    facts = write_pages(there)["me"]
    mine = saved(facts, "1", shop.parent / "me.csv")
    write_pages(shop)
    documents = json.loads((shop / "documents.json").read_text())
    assert add(there, mine).startswith("24 of 24")
    with refused("me.csv", column="document"):  # as nobody dealt it
        add(make_folder(shop.parent / "new", n_queries=2), mine)
    other = shop.parent / "other.csv"
    pd.DataFrame(documents).to_csv(other, index=False)
    with refused("other.csv", column="query_id, document, grade, judge, time"):
        add(shop, other)


def test_a_document_that_was_edited_since_gets_no_grade(shop, caplog):
    facts = write_pages(shop)["me"]
    mine = saved(facts, "1", shop.parent / "me.csv")
    path = shop / "documents.json"
    path.write_text(path.read_text().replace("the red kettle no 3", "a blue kettle"))
    assert add(shop, mine).startswith("42 of 42 grades are new")
    assert "6 grades are of documents that were edited since" in caplog.text
    assert "d3" not in {*files.read_csv(shop / "judged-queries.csv")["document"]}


def test_a_page_goes_in_beside_a_session_in_the_terminal(shop, monkeypatch):
    """One person judges on a page and in the terminal; the file has all of it."""
    facts = write_pages(shop)["me"]
    session = grading.Judging(
        dealing.read_dealt(shop)[corpus.TO_JUDGE], shop / "judgements-me.csv"
    )
    grading.judge(session, "2")
    add(shop, saved(facts, "1", shop.parent / "me.csv"))
    assert len(files.read_csv(shop / "judgements-me.csv")) == 49
    table = files.read_csv(shop / "judged-queries.csv")
    # the page's rows have times of yesterday, so the terminal's is the later one
    assert sorted(table["grade"]) == ["1"] * 47 + ["2"]


@pytest.mark.filterwarnings("ignore:6 judged queries")
@pytest.mark.parametrize("how", [["--page"], ["--people", "me,ben"]])
def test_where_all_is_judged_there_is_nothing_to_ask(shop, how, capsys, monkeypatch):
    facts = write_pages(shop)["me"]
    add(shop, saved(facts, "1", shop.parent / "me.csv"))
    out = shop.parent / "list"  # whose only pair is of a document that is gone
    out.mkdir()
    gone = "q,kettle red a,all,tail,gone,next"
    rows = [",".join(corpus.TO_JUDGE), gone, ""]
    (out / "judge-next.csv").write_text("\n".join(rows))
    of_run = {"by": manifest.SIGNED_BY, "data": str(shop)}
    of_run["outputs"] = {"judge-next.csv": ""}
    (out / "run.json").write_text(json.dumps(of_run))
    monkeypatch.setattr("builtins.input", lambda: pytest.fail("it asks"))
    assert main(["judge", str(shop), "--out", str(out), *how]) == 0
    said = capsys.readouterr().out
    assert ("There is nothing to judge." in said) or ("0 of 0 judged" in said)


# --- Afterwards ----------------------------------------------------------------------


def judged_by_two(shop):
    """Ann and ben judge all; they differ on one pair in six, twice as much on three."""
    facts = write_pages(shop, "--people", "ann,ben")
    ann = saved(facts["ann"], "0", shop.parent / "ann.csv")
    grades = ["2" if n < 3 else "1" if n % 8 == 3 else "0" for n in range(48)]
    places = {(*pair,): n for n, pair in enumerate(map(tuple, facts["ann"]["pairs"]))}
    order = [places[tuple(pair)] for pair in facts["ben"]["pairs"]]
    notes = [f"note {n}" for n in order]
    ben = saved(
        facts["ben"], lambda n: grades[order[n]], shop.parent / "ben.csv", note=notes
    )
    return ann, ben


def test_pairs_to_settle_are_those_that_both_judged_two_apart_first(shop):
    ann, ben = judged_by_two(shop)
    add(shop, ann)
    assert not (shop.parent / "out/judge-settle.html").exists()  # ben may yet agree
    assert "9 pairs have different grades: settle them together" in add(shop, ben)
    path = shop.parent / "out/judge-settle.html"
    facts = facts_in(path)
    given = [pair[2] for pair in facts["pairs"]]
    grades = [[each["grade"] for each in of_pair] for of_pair in given]
    assert grades == [["2", "0"]] * 3 + [["1", "0"]] * 6
    assert all(of_pair[0]["note"].startswith("note ") for of_pair in given)
    text = path.read_text("utf-8")
    assert "ann" not in re.sub("cannot|channel", "", text)
    assert '"ben"' not in text
    assert facts["person"] == "settled"
    settled = saved(
        facts | {"pairs": [pair[:2] for pair in facts["pairs"]]},
        "1",
        shop.parent / "judgements-settled.csv",
        note="A cure for one cause is 1.",
    )
    says = add(shop, settled)
    assert "settle them" not in says
    table = files.read_csv(shop / "judged-queries.csv")
    of_settled = table[table["grades"].str.contains("settled")]
    assert {*of_settled["grade"]} == {"1"}
    assert {*of_settled["grades"]} == {"ann=0;ben=2;settled=1", "ann=0;ben=1;settled=1"}
    # the agreement is that of before they talked
    assert "the same for 81%" in says
    write_pages(shop, "--people", "ann,ben")
    page = (shop.parent / "out/judge-ann.html").read_text("utf-8")
    assert (
        page.count("<li>A cure for one cause is 1.</li>") == 3
    )  # start, dialog, sheet


def ran(shop, lists):
    """Leave the tables of a run: two searches, and what they found, by query_id."""
    rows = [
        ("judged", query_id, search, 0.5, " ".join(found))
        for query_id, both in lists.items()
        for search, found in zip(("old", "new"), both, strict=True)
    ]
    table = pd.DataFrame(
        rows, columns=["queries", "query_id", "search", "nDCG", "found"]
    )
    table.to_csv(shop.parent / "out/queries.csv", index=False)
    path = shop.parent / "out/run.json"
    of_run = json.loads(path.read_text()) | {"data": str(shop)}
    of_run["outputs"]["queries.csv"] = ""
    path.write_text(json.dumps(of_run))


def test_pairs_that_could_turn_the_decision_are_settled_first(shop):
    """One at the top of one search alone comes before two apart at equal ranks."""
    ann, ben = judged_by_two(shop)
    add(shop, ann)
    add(shop, ben)
    before = settling.to_settle(shop)
    one_apart, two_apart = before.iloc[-1], before.iloc[0]
    assert (one_apart["apart"], two_apart["apart"]) == (1, 2)
    assert one_apart["query_id"] != two_apart["query_id"]
    lists = {
        one_apart["query_id"]: ([one_apart["document"]], ["x"]),
        two_apart["query_id"]: ([two_apart["document"]], [two_apart["document"]]),
    }
    ran(shop, lists)
    add(shop, ben)
    page = shop.parent / "out/judge-settle.html"
    documents = [document for _, document, _ in facts_in(page)["pairs"]]
    former = before["document"].tolist()
    assert documents == [former[-1], *former[:-1]]
    text = page.read_text("utf-8")
    assert '"old"' not in text
    assert "nDCG" not in text


def test_how_far_a_grade_moves_two_searches_from_each_other():
    """A hand computation: ranks 1 and 3, 2 and none, 2 of both, and an id with a /."""
    found = ["a%2F1 b c", "d b a%2F1", "alone"]
    leaders = pd.DataFrame({"found": found}, index=["q", "q", "p"])
    assert settling.rank_gaps(leaders) == {
        ("q", "a/1"): pytest.approx(0.5),
        ("q", "b"): 0,
        ("q", "c"): pytest.approx(0.5),
        ("q", "d"): pytest.approx(1),
    }
    assert settling.rank_gaps(pd.DataFrame()) == settling.rank_gaps(None) == {}


def test_who_leads_sees_how_much_and_how_alike(shop, monkeypatch):
    ann, ben = judged_by_two(shop)
    add(shop, ann, ben)
    text = (shop.parent / "out/judge-lead.html").read_text("utf-8")
    assert "The same grade for 81% of 48 pairs with two grades." in text
    assert "9 pairs are open to be settled." in text
    cells = [
        re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in text.split("<tr>")
    ]
    assert ["ann", "48 of 48", "1", "0: 48", "81%"] in [row[:5] for row in cells]
    assert ["ben", "48 of 48", "1", "0: 39, 1: 6, 2: 3", "81%"] in [
        row[:5] for row in cells
    ]
    assert "<script" not in text
    assert "No run was made yet" in text
    run = {"time": grading.now(), "verdict": "undecided", "gain": {}, "is_late": True}
    around = {**run, "kind": "judged", "grades": 9, "graders": {}}, {}
    monkeypatch.setattr(settling, "around_the_hour", lambda source: around)
    [path] = settling.write_lead_page(folder.read(shop), pd.DataFrame(), shop.parent)
    assert "This is the first run that decides" in path.read_text("utf-8")


def decided(shop, out):
    """Run the command on two searches, of which old runs today: what it answers."""
    names = [f"d{n}" for n in range(4)]
    searches = {
        "old": lambda question, course: names[::-1],
        "new": lambda question, course: names,
    }
    how = {"searches": searches, "incumbent": "old", "only_own": True}
    return evaluate(shop, out=out, **how)


def hour_of_two(tmp_path, top):
    """A folder with a run before ann and ben judge: its paths, and what it answered.

    top: the document that both call good, by the number of a query."""
    shop = make_folder(tmp_path / "shop", n_queries=0, n_documents=4)
    (shop / "queries.txt").unlink()
    rows = [
        f"q{n},{corpus.short_hash(str(n))} kettle,all,tail,d{document},{grade}"
        for n in range(50)
        for document, grade in ((1, 1), (2, 0))
    ]
    (shop / "judged-queries.csv").write_text("\n".join([RULE.strip(), *rows, ""]))
    out = tmp_path / "out"
    before = decided(shop, out)
    files = []
    dealt = write_pages(shop, "--people", "ann,ben")
    run_before, run_after = settling.around_the_hour(shop)  # nobody has judged yet
    assert (run_before["is_late"], run_after) == (False, {})
    for person, of_page in dealt.items():
        asked = [int(query["query_id"][1:]) for query in of_page["queries"]]
        grades = [
            "2" if document == f"d{top(asked[query])}" else "0"
            for query, document in of_page["pairs"]
        ]
        path = tmp_path / f"saved-{person}.csv"
        files.append(saved(of_page, grades.__getitem__, path, time=grading.now()))
    add(shop, *files)
    return shop, out, before


signed = templates().filters["signed"]


def lead_rows(out):
    """The paragraphs of the page for who leads, and the rows of its last table."""
    text = html.unescape((out / "judge-lead.html").read_text("utf-8"))
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in text.split("<tr>")]
    return text, [row for row in rows if "UTC" in "".join(row[:1])]


@pytest.mark.parametrize("is_better", [True, False])
def test_who_leads_sees_the_decision_before_and_after(tmp_path, is_better):
    def top(number):
        return 0 if is_better else number % 2 * 3

    shop, out, before = hour_of_two(tmp_path, top)
    text, rows = lead_rows(out)
    assert "No run has the grades of this hour yet." in text
    assert len(rows) == 1
    after = decided(shop, out)
    text, rows = lead_rows(out)
    assert out / "judge-lead.html" in after.files
    assert before["verdict"] == "undecided"
    words = (
        ["undecided", "ship “own: new”"] if is_better else ["undecided", "undecided"]
    )
    assert [row[1] for row in rows] == words, after.says
    said = "was undecided, and is ship “own: new” now" if is_better else "is as before"
    assert f"<b>The decision {said}" in text
    for row, result in zip(rows, [before, after], strict=True):
        [gain] = result["candidates"]
        assert f"“own: new” over “own: old”: {signed(gain['difference'])} (" in row[2]
        assert f"({signed(gain['low'])} to {signed(gain['high'])})" in row[2]
        assert row[3] == f"{gain['n']} judged"
    assert int(rows[1][4]) > int(rows[0][4])


HOURS = {  # times of the deal, of two grades and of runs; which run is before, and late
    "before the first grade": ("10", "12 13", "09 11 14", "11 False"),
    "an hour before": ("10", "07 12", "06 08 14", "08 False"),
    "a slow clock alone": ("10", "03 04", "09 14", "09 False"),
    "none before": ("10", "12 13", "15 16", "15 True"),
    "nobody has judged": ("10", "", "09 14", "09 False"),
    "dealt without a time": ("", "07 12", "06 11 14", "06 False"),
}


@pytest.mark.parametrize(
    ("dealt", "graded", "ran", "before"), HOURS.values(), ids=HOURS
)
def test_an_hour_begins_with_the_last_deal(
    tmp_path, monkeypatch, dealt, graded, ran, before
):
    def at(hour):
        return f"2026-11-28T{hour}:00:00.000Z"

    pair = dict.fromkeys(dealing.DEALT_COLUMNS, "x") | {"people": "ann;ben"}
    for hour in ("01", dealt):
        monkeypatch.setattr(grading, "now", lambda hour=hour: at(hour))
        dealing.keep_dealt(tmp_path, pd.DataFrame([pair]))
    assert [*dealing.read_dealt(tmp_path)["time"]] == [at(dealt)]
    if not dealt:
        path = tmp_path / dealing.DEALT
        files.read_csv(path).drop(columns="time").to_csv(path, index=False)
    for person, hour in zip(["ann", "ben"], graded.split(), strict=False):
        columns = [*corpus.TO_JUDGE, "grade", *grading.WHO_AND_WHEN]
        row = [*["x"] * len(corpus.TO_JUDGE), "1", person, at(hour)]
        path = tmp_path / f"judgements-{person}.csv"
        grading.append_rows(path, columns, [row])
    runs = [{"time": at(hour), "gain": {}, "judgements": hour} for hour in ran.split()]
    monkeypatch.setattr(settling.history, "runs_of", lambda source: runs)
    monkeypatch.setattr(settling.history, "with_changes", list)
    first, last = settling.around_the_hour(tmp_path)
    assert f"{first['time'][11:13]} {first['is_late']}" == before
    assert last == runs[-1]
