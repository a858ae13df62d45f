"""Test the server for people who judge in one room: what it takes, keeps and gives."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from unittest import mock

import pytest
from test_judging_together import facts_in, make_folder, saved, write_pages

from evaluate_retrieval.commands import judge as judge_command
from evaluate_retrieval.judging import dealing, grading, room
from evaluate_retrieval.reading import files, folder

PEOPLE = ["ann", "ben", "carl", "dora"]


@pytest.fixture
def shop(tmp_path):
    """A folder that was dealt to four people."""
    source = make_folder(tmp_path / "shop", n_queries=10, n_documents=20)
    write_pages(source, "--people", ",".join(PEOPLE))
    return source


@contextmanager
def served(source):
    """A server in this process: the room, and a function that asks it."""
    of_room = judge_command.room_for(folder.read(source), dealing.read_dealt(source))
    server = room.server_of(of_room, port=0)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield of_room, server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ask(port, method, path, body=None, **headers):
    """The status, headers and text of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, named)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, dict(answer.getheaders()), text


def rows_of(facts, tmp_path, grade="1"):
    """What the page of a person would send, a dict for each pair."""
    path = saved(facts, grade, tmp_path / f"{facts['person']}.csv")
    return files.read_csv(path).to_dict("records")


def send(port, row, seat, **more):
    headers = {"Content_Type": "application/json", "X_Seat": seat, **more}
    return ask(port, "POST", "/grades", json.dumps(row), **headers)


def pages_of(source):
    out = source.parent / "out"
    return {person: facts_in(out / f"judge-{person}.html") for person in PEOPLE}


def test_a_hundred_grades_by_four_at_once_are_all_kept_once(shop, tmp_path):
    sent = {who: rows_of(facts, tmp_path)[:25] for who, facts in pages_of(shop).items()}
    with served(shop) as (of_room, port):

        def judge_all(person):
            twice = [*sent[person], *sent[person][:10]]  # an answer may have been lost
            return [send(port, row, of_room.seats[person])[0] for row in twice]

        with ThreadPoolExecutor(4) as pool:
            statuses = list(pool.map(judge_all, PEOPLE))
    assert {status for each in statuses for status in each} == {200}
    for person in PEOPLE:
        table = files.read_csv(shop / f"judgements-{person}.csv")
        keys = list(zip(table["query_id"], table["document"], strict=True))
        assert keys == [(row["query_id"], row["document"]) for row in sent[person]]
        assert {*table["judge"]} == {person}


def test_a_grade_leaves_the_server_for_nobody(shop, tmp_path):
    """The page says which pairs one has judged elsewhere, and no grade of anybody."""
    of_ann = rows_of(pages_of(shop)["ann"], tmp_path, "2")
    with served(shop) as (of_room, port):
        for row in of_ann[:7]:
            send(port, row | {"note": "a secret note"}, of_room.seats["ann"])
        for person in PEOPLE:
            status, _, text = ask(port, "GET", f"/?seat={of_room.seats[person]}")
            facts = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])
            assert status == 200
            assert facts["person"] == person
            assert facts["done"] == (list(range(7)) if person == "ann" else [])
            assert "secret note" not in text
            assert '"grade": "2"' not in text.replace(json.dumps(facts["scale"]), "")
            assert facts["seat"] == of_room.seats[person]
            others = {of_room.seats[each] for each in PEOPLE if each != person}
            assert not [seat for seat in others if seat in text]
        lead = of_room.seats["settled"]
        _, headers, text = ask(port, "GET", f"/?seat={lead}")
        assert "7 of " in text
        assert "2: 7" not in text  # how often, before all are done
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        _, _, text = ask(port, "GET", f"/settle?seat={lead}")
        assert (
            json.loads(re.search(r'id="data">(.*?)</script>', text)[1])["pairs"] == []
        )
        # who judges may not see what is to be settled
        assert ask(port, "GET", f"/settle?seat={of_room.seats['ann']}")[0] == 404


def test_pairs_that_both_judged_are_settled_over_the_server(shop, tmp_path):
    pages = pages_of(shop)
    sent = {who: rows_of(facts, tmp_path) for who, facts in pages.items()}
    pair = dealing.read_dealt(shop).iloc[0]
    first, second = pair["people"].split(";")
    with served(shop) as (of_room, port):
        for person, grade in ((first, "2"), (second, "0")):
            [row] = [
                row
                for row in sent[person]
                if (row["query_id"], row["document"])
                == (*pair[["query_id", "document"]],)
            ]
            send(port, row | {"grade": grade}, of_room.seats[person])
        lead = of_room.seats["settled"]
        _, _, text = ask(port, "GET", f"/settle?seat={lead}")
        facts = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])
        [(_, document, given)] = facts["pairs"]
        assert document == pair["document"]
        assert [each["grade"] for each in given] == ["2", "0"]
        agreed = row | {"grade": "1", "judge": "settled", "note": "Half is 1."}
        assert send(port, agreed, lead)[0] == 200
        _, _, text = ask(port, "GET", f"/?seat={of_room.seats['ann']}")
    assert files.read_csv(shop / "judgements-settled.csv")["note"].tolist() == [
        "Half is 1."
    ]


def test_who_is_done_sees_how_much_the_others_have_left(tmp_path):
    shop = make_folder(tmp_path / "shop", n_queries=4, n_documents=6)
    write_pages(shop, "--people", ",".join(PEOPLE))
    sent = {who: rows_of(facts, tmp_path, "2") for who, facts in pages_of(shop).items()}
    n_of_others = sum(len(sent[who]) for who in PEOPLE if who != "ann")
    with served(shop) as (of_room, port):

        def left(person="ann"):
            seat = of_room.seats[person]
            status, headers, text = ask(port, "GET", f"/left?seat={seat}")
            assert status == 200
            assert headers["Content-Type"].startswith("text/plain")
            return text

        assert left() == f"The others have {n_of_others:,} pairs left."
        for row in [*sent["ann"][:2], *sent["ben"][:3]]:
            send(port, row, of_room.seats[row["judge"]])
        assert left() == f"The others have {n_of_others - 3:,} pairs left."
        assert left("settled") == (
            f"The others have {n_of_others + len(sent['ann']) - 5:,} pairs left."
        )
        assert ask(port, "GET", "/left?seat=none")[0] == 403
        for who in PEOPLE[1:]:
            for row in sent[who]:
                send(port, row, of_room.seats[who])
        assert left() == "The others are done, too."


def test_a_server_that_begins_anew_without_somebody_gives_others_the_rest(
    shop, tmp_path
):
    sent = rows_of(pages_of(shop)["dora"], tmp_path)[:7]
    with served(shop) as (of_room, port):
        for row in sent:
            assert send(port, row, of_room.seats["dora"])[0] == 200
    there = folder.read(shop)
    asked = judge_command.JudgeOptions(source=shop, people="ann,ben,carl", serve=True)
    dealt = judge_command.dealt(there, dealing.read_dealt(shop), asked)
    of_room = judge_command.room_for(there, dealt, names=asked.people)
    assert {*of_room.seats} == {"ann", "ben", "carl", "settled"}
    theirs = dealt[dealt["people"].str.contains("dora")]
    pairs = theirs[["query_id", "document"]].to_numpy().tolist()
    assert sorted(pairs) == sorted([row["query_id"], row["document"]] for row in sent)
    assert {cell.count(";") for cell in dealt["people"]} == {1}


REFUSED = {
    "without a seat": ({"X_Seat": ""}, {}, 403),
    "with another's seat": ({"X_Seat": "ben"}, {}, 403),
    "as a form of another page": ({"Content_Type": "text/plain"}, {}, 403),
    "from another page": ({"Origin": "http://evil.example"}, {}, 403),
    "by a name bound anew": ({"Host": "evil.example:80"}, {}, 403),
    "of another folder": ({}, {"document": "x"}, 400),
    "of another scale": ({}, {"grade": "9"}, 400),
    "as somebody else": ({}, {"judge": "ben"}, 403),
    "into another file": ({}, {"judge": "../ben"}, 403),
    "too long": ({}, {"note": "x" * 9_000}, 413),
}


@pytest.mark.parametrize(
    ("headers", "changes", "status"), REFUSED.values(), ids=REFUSED
)
def test_what_is_no_grade_of_this_person_is_refused(
    shop, tmp_path, headers, changes, status
):
    row = rows_of(pages_of(shop)["ann"], tmp_path)[0] | changes
    before = sorted(path.name for path in shop.iterdir())
    with served(shop) as (of_room, port):
        headers = dict(headers)
        if headers.get("X_Seat") == "ben":
            headers["X_Seat"] = of_room.seats["ben"]
        answer = send(port, row, headers.pop("X_Seat", of_room.seats["ann"]), **headers)
    assert answer[0] == status
    assert "Access-Control-Allow-Origin" not in answer[1]
    assert sorted(path.name for path in shop.iterdir()) == before


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"[" * 5_000, b"\xff", b'{"a": 1}'])
def test_a_body_that_is_no_row_is_refused(shop, body):
    with served(shop) as (of_room, port):
        headers = {"Content_Type": "application/json", "X_Seat": of_room.seats["ann"]}
        status, _, text = ask(port, "POST", "/grades", body, **headers)
    assert (status, text[:8]) in [(400, "no grade"), (403, "that is ")]
    assert not list(shop.glob("judgements-*"))


def test_a_page_comes_with_a_strict_policy_and_only_for_a_seat(shop):
    with served(shop) as (of_room, port):
        seat = of_room.seats["ann"]
        _, headers, text = ask(port, "GET", f"/?seat={seat}")
        for path in ("/", "/?seat=", "/?seat=x", f"/grades?seat={seat}", "/../x"):
            assert ask(port, "GET", path)[0] in (403, 404)
        assert ask(port, "GET", f"/?seat={seat}", Host="evil.example:1")[0] == 403
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert 'http-equiv="Content' not in text  # the header is the stricter one


def test_a_full_disk_is_told_and_the_file_stays_whole(shop, tmp_path):
    rows = rows_of(pages_of(shop)["ann"], tmp_path)
    with served(shop) as (of_room, port):
        seat = of_room.seats["ann"]
        send(port, rows[0], seat)
        content = (shop / "judgements-ann.csv").read_bytes()
        full = OSError(28, "No space left on device")
        with mock.patch.object(os, "fsync", side_effect=full):
            status, _, text = send(port, rows[1], seat)
        assert status == 507
        assert "No space left" in text
        assert (shop / "judgements-ann.csv").read_bytes() == content
        assert send(port, rows[1], seat)[0] == 200
    assert len(files.read_csv(shop / "judgements-ann.csv")) == 2


def test_a_clock_that_is_ahead_hides_no_correction(shop, tmp_path):
    row = rows_of(pages_of(shop)["ann"], tmp_path)[0]
    with served(shop) as (of_room, port):
        seat = of_room.seats["ann"]
        ahead = row | {"grade": "2", "time": "2099-01-01T00:00:00.000Z"}
        assert send(port, ahead, seat)[0] == 200
        now = row | {"grade": "0", "time": grading.now()}
        assert send(port, now, seat)[0] == 200
    last = grading.last_grades(shop / "judgements-ann.csv")
    assert last["grade"].tolist() == ["0"]


def test_a_connection_that_is_cut_leaves_the_others(shop, tmp_path):
    rows = rows_of(pages_of(shop)["ann"], tmp_path)
    with served(shop) as (of_room, port):
        cut = http.client.HTTPConnection("127.0.0.1", port)
        cut.putrequest("POST", "/grades")
        cut.putheader("Content-Length", "500")
        cut.endheaders(b'{"query_id"')
        cut.close()
        assert send(port, rows[0], of_room.seats["ann"])[0] == 200


LINK = re.compile(r"(\w+): http://127\.0\.0\.1:(\d+)/\?seat=(\S+)")


def started(source, out):
    """The command with --serve, and the port and seat of each person."""
    words = ["judge", str(source), "--serve", "--people", ",".join(PEOPLE)]
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "evaluate_retrieval",
            *words,
            "--port",
            "0",
            "--out",
            out,
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    links = {}
    for line in process.stdout:
        if match := LINK.match(line):
            links[match[1]] = (int(match[2]), match[3])
        if "Ctrl-C ends" in line:
            return process, links
    raise AssertionError(links)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
def test_a_server_that_is_killed_loses_nothing_and_one_that_ends_adds_all(
    shop, tmp_path
):
    rows = rows_of(pages_of(shop)["ann"], tmp_path)
    process, links = started(shop, str(tmp_path / "out"))
    assert set(links) == {*PEOPLE}
    port, seat = links["ann"]
    for row in rows[:5]:
        assert send(port, row, seat)[0] == 200
    process.kill()
    process.wait(20)
    assert len(files.read_csv(shop / "judgements-ann.csv")) == 5
    process, links = started(shop, str(tmp_path / "out"))
    port, seat = links["ann"]
    assert send(port, rows[5], seat)[0] == 200
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "6 of " in said
    assert len(files.read_csv(shop / "judged-queries.csv")) == 6
    assert (shop / "judged-texts.csv").exists()
