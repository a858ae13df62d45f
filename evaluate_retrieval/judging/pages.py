"""The page on which a person judges: one HTML file, which asks for nothing outside.

No search, rank, score or grade of another person is in it."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evaluate_retrieval.judging import grading
from evaluate_retrieval.judging.dealing import hash_of_text
from evaluate_retrieval.measuring.plan import PAIR_SECONDS
from evaluate_retrieval.reading import corpus
from evaluate_retrieval.reading.files import text_cell
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.reading.joining import PAIR
from evaluate_retrieval.reading.language import words_of
from evaluate_retrieval.words.templates import render

MINUTES = 30  # of an hour together that are for judging
MEANS = {
    "0": "The same topic alone is 0.",
    "1": "A part of the answer, or a step towards it.",
    "2": "This person could stop searching.",
}
PRACTICE = 5  # pairs, at most
SECONDS_TO_TALK = 60  # to talk about a pair
MINUTES_TO_SETTLE = 15  # of an hour together
CSP = "default-src 'none'; base-uri 'none'; form-action 'none'; {more}"
CSP += "script-src 'sha256-{script}'; style-src 'sha256-{style}'; connect-src {to}"
JUDGING = {
    "heading": "Does this document answer the query?",
    "note_label": "Note",
    "cannot_tell": "I cannot tell",
}
SETTLING = {
    "heading": "Talk for a minute, then press the grade that you agree on",
    "note_label": "Which sentence would have settled it? It goes into the rule",
    "cannot_tell": "leave it: both grades stay",
}
DONE = "Press “Save file”, and send {file} to who asked you."
SETTLED_DONE = "Press “Save file”, and take {file} in with judge FOLDER --add."
SERVED = "All of it is on the server."


def judging_page(
    folder: Folder,
    pairs: pd.DataFrame,
    person: str,
    keys: Mapping[str, str],
    agreed: pd.DataFrame,
    rules: Sequence[str],
    done: Sequence[int] = (),
    served: Mapping[str, Any] | None = None,
    given: Sequence[list[dict]] | None = None,
) -> tuple[str, str]:
    """The page of a person, and its Content-Security-Policy.

    pairs: what the person judges, in order. keys: see `grading.keys_for`. agreed: pairs
    with an agreed grade, see `agreed_pairs`: examples and practice. rules: what earlier
    sessions agreed on. done: the places of pairs that the person has judged elsewhere.
    served: of a page that a server brings: post and seat. given: of a page on which
    people settle pairs together: what they gave each pair."""
    file = f"judgements-{person}.csv"
    by_id = {document["id"]: document for document in folder.documents}
    scale = scale_in(keys)
    key_of = {each["grade"]: each["key"] for each in scale}
    examples, practice = _examples(agreed, by_id, key_of)
    facts: dict[str, Any] = {
        "mode": "judge",
        "folder": folder.source.name,
        "person": person,
        "file": file,
        "minutes": MINUTES,
        "seconds": PAIR_SECONDS,
        "scale": scale,
        "practice": [
            {**each, "words": _stems(each["query"], folder)} for each in practice
        ],
        "post": "",
        "seat": "",
        "done": list(done),
        **_texts(folder, pairs, by_id),
        **(served or {}),
    }
    title = f"{person} judges"
    words = JUDGING
    done_by_file = DONE
    if given is not None:
        keyed = [
            [
                {**each, "grade": key_of.get(each["grade"], each["grade"])}
                for each in told
            ]
            for told in given
        ]
        listed = zip(facts["pairs"], keyed, strict=True)
        facts |= {
            "mode": "settle",
            "minutes": MINUTES_TO_SETTLE,
            "seconds": SECONDS_TO_TALK,
            "practice": [],
            "pairs": [[*pair, of_pair] for pair, of_pair in listed],
        }
        title = "Settle"
        words = SETTLING
        done_by_file = SETTLED_DONE
    shown = {
        "title": f"{title}: {folder.source.name}",
        **words,
        "after": SERVED if served else done_by_file.format(file=file),
        "scale": [each | examples[each["grade"]] for each in scale],
        "rules": list(rules),
    }
    return whole_page(facts, shown, bool(served))


def scale_in(keys: Mapping[str, str]) -> list[dict[str, str]]:
    """Each key with its grade and what it says: a list of dicts."""
    parts = {key: says.split(" ", 1) for key, says in keys.items()}
    return [
        {"key": key, "grade": grade, "says": says if key == grade else f"grade {grade}"}
        for key, (grade, says) in parts.items()
    ]


def whole_page(
    facts: Mapping[str, Any], shown: Mapping[str, Any], is_served: bool
) -> tuple[str, str]:
    """A page, and its Content-Security-Policy. facts: for the script.

    shown: for the template. What a text has is no HTML and no script: the facts are
    JSON without <, and the script makes nodes of texts alone."""
    script = render("judge.js").strip()
    style = style_of_page()
    policy = CSP.format(
        script=_sha256(script),
        style=_sha256(style),
        to="'self'" if is_served else "'none'",
        # a file cannot say who may frame it
        more="frame-ancestors 'none'; " if is_served else "",
    )
    data = json.dumps(facts, ensure_ascii=True).replace("<", r"\u003c")
    page = render(
        "judge.html.j2",
        **shown,
        is_served=is_served,
        policy=policy,
        data=data,
        script=script,
        style=style,
    )
    return page.strip() + "\n", policy


def style_of_page() -> str:
    """The style of all pages on which people judge."""
    return render("judge.css.j2").strip()


def policy_without_script() -> str:
    """The Content-Security-Policy of a page with this style, and no script."""
    return f"default-src 'none'; style-src 'sha256-{_sha256(style_of_page())}'"


def _sha256(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _stems(query, folder):
    """The stems of a query, without common words: a list."""
    [words] = words_of([query], language=folder.language)
    # a stem may end in a letter that its words have not: categori
    return [re.sub(r"(?<=...)[iy]$", "", word) for word in words]


def histories_of(folder: Folder) -> dict[str, str]:
    """What was said before each query of a conversation, by query_id."""
    histories = {}
    for table in (folder.log, folder.unanswered, *folder.test.values()):
        if "history" in table:
            histories |= dict(zip(table["query_id"], table["history"], strict=True))
    return histories


def _texts(folder, pairs, by_id):
    """Queries, documents and pairs for the page: a dict."""
    first = pairs.drop_duplicates("query_id")
    histories = histories_of(folder)
    queries = [
        {
            "query_id": row["query_id"],
            "query": row["query"],
            "history": histories.get(row["query_id"], ""),
            "words": _stems(row["query"], folder),
            "cells": {
                name: text_cell(grading.one_line(row[name]))
                for name in ("query_id", "query", "course", "kind")
            },
        }
        for row in first.to_dict("records")
    ]
    documents = {
        id_: {
            "title": by_id[id_]["question"],
            "text": by_id[id_]["text"],
            "hash": hash_of_text(by_id[id_]),
            "cell": text_cell(grading.one_line(id_)),
        }
        for id_ in dict.fromkeys(pairs["document"])
    }
    places = {query["query_id"]: n for n, query in enumerate(queries)}
    listed = [
        [places[query_id], id_] for query_id, id_ in pairs[PAIR].to_numpy().tolist()
    ]
    return {"queries": queries, "documents": documents, "pairs": listed}


# --- Examples, and pairs to practise on ----------------------------------------


def agreed_pairs(
    judgements: pd.DataFrame, asked: pd.Series, grades: Sequence[str]
) -> pd.DataFrame:
    """Judged pairs with an agreed grade, of queries that nobody is asked about now.

    judgements: of a folder. asked: the ids of the queries of this session. grades: as
    texts. Those on which several people agree come first, then those with one grade. A
    DataFrame with query, document and grade; the order is that of a hash."""
    table = judgements[~judgements["query_id"].isin(asked)]
    told = table.get("grades", pd.Series("", table.index)).fillna("")
    given = told.map(lambda cell: re.findall(r"=([^;]+)", cell))
    is_agreed = given.map(lambda each: len({*each}) < 2).astype(bool)
    table = table.assign(
        grade=table["grade"].map("{:g}".format),
        is_of_one=given.map(len).astype(int) < 2,
        hash=(table["query"] + "\n" + table["document"]).map(corpus.short_hash),
    )
    table = table[is_agreed & table["grade"].isin(list(grades))]
    table = table.sort_values(["is_of_one", "hash"]).drop_duplicates(["query", "grade"])
    return table[["query", "document", "grade"]].reset_index(drop=True)


def _examples(agreed, by_id, key_of):
    """One example of each grade, a dict by grade, and pairs to practise on, a list.

    key_of: the key of each grade."""
    agreed = agreed[agreed["document"].isin(by_id)]
    firsts = agreed.groupby("grade", sort=False).head(1)
    is_usual = list(key_of) == list(MEANS)
    of_grade = {
        grade: {"query": "", "means": MEANS[grade] if is_usual else ""}
        for grade in key_of
    }
    for row in firsts.to_dict("records"):
        of_grade[row["grade"]] |= {
            "query": row["query"],
            "title": by_id[row["document"]]["question"],
        }
    others = agreed.drop(firsts.index)
    # of each grade in turn, so that practice shows all
    turns = others.groupby("grade").cumcount()
    others = others.assign(turn=turns).sort_values(["turn", "grade"]).head(PRACTICE)
    practice = [
        {
            "query": row["query"],
            "title": by_id[row["document"]]["question"],
            "text": by_id[row["document"]]["text"],
            "grade": key_of[row["grade"]],
        }
        for row in others.to_dict("records")
    ]
    return of_grade, practice
