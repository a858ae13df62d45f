"""What the gate says as JUnit's XML, which GitLab, Jenkins and Azure show.

A suite for each kind of queries, and in it a case for the whole, and one for each
guardrail and each segment. What is undecided has neither passed nor failed: it is
skipped."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from evaluate_retrieval.measuring.outcomes import Outcome
from evaluate_retrieval.reading.writing import write_bytes
from evaluate_retrieval.words import sentences
from evaluate_retrieval.words.constants import (
    ERROR,
    FORBIDDEN,
    NOT_WORSE,
    UNDECIDED,
    UNITS,
    WORSE,
)
from evaluate_retrieval.words.templates import render
from evaluate_retrieval.words.text import printable

STATE_OF = {
    WORSE: "failure",
    FORBIDDEN: "failure",
    UNDECIDED: "skipped",
    ERROR: "error",
}
NOT_OF_XML = "[\ufffe\uffff]"  # of XML, beside controls


def junit_of(outcomes: Sequence[Outcome], titles: Mapping[str, str]) -> bytes:
    """The outcomes as a file of JUnit. titles: of documents, by id."""
    suites = []
    for each in outcomes:
        words = filter(None, [each.kind, each.since, each.candidate])
        suites.append(_suite(" ".join(words), _cases(each, titles)))
    return _file(suites)


def junit_of_error(problem: str) -> bytes:
    """The text of an error as a file of JUnit with a case that could not run."""
    return _file([_suite("gate", [("the gate", ERROR, problem, "")])])


def write_junit(content: bytes, path: str | Path) -> None:
    """Write what `junit_of` returns; OSError names the file."""
    write_bytes(path, content)


def _cases(outcome, titles):
    """Of each case its name, its code, a sentence and a longer text: tuples."""
    code = outcome.code if outcome.alone is None else outcome.alone
    n_aside = len(outcome.guards) + bool(outcome.leaks)
    first, *more = outcome.sentences[n_aside:] or [""]
    losses = outcome.largest.get("losses", [])
    yield "all queries", code, first, "\n".join([*more, _lost(losses, titles)])
    for guard in outcome.guards:
        yield f"guardrail: {guard['guard']}", guard["code"], sentences.guard(guard), ""
    for row in outcome.segments:
        unit = UNITS[outcome.kind]
        sentence = sentences.segments([row], outcome.searches[0], unit)
        text = _lost(row["losses"], titles)
        yield f"segment: {row['segment']}", row["code"], sentence, text
    if outcome.leaks:
        sentence = outcome.sentences[len(outcome.guards)]
        code = FORBIDDEN if outcome.new_leaks else NOT_WORSE
        yield "forbidden documents", code, sentence, ""


def _lost(losses, titles):
    """The queries that lost, and what was found first, as lines."""
    return render("junit.txt.j2", losses=losses, titles=titles)


def _suite(name, cases):
    suite = ElementTree.Element("testsuite", name=_xml_text(name))
    for title, code, sentence, text in cases:
        case = ElementTree.SubElement(suite, "testcase", name=_xml_text(title))
        case.set("classname", _xml_text(f"gate.{name}"))
        case.set("time", "0")
        state = ElementTree.SubElement(case, STATE_OF.get(code, "system-out"))
        if code in STATE_OF:
            state.set("message", _xml_text(sentence))
        state.text = _xml_text(text if code in STATE_OF else f"{sentence}\n{text}")
    _count(suite, suite)
    suite.set("skipped", str(len(suite.findall(".//skipped"))))
    return suite


def _file(suites):
    top = ElementTree.Element("testsuites", name="evaluate-retrieval gate")
    top.extend(suites)
    _count(top, top)
    ElementTree.indent(top)
    return ElementTree.tostring(top, "utf-8", xml_declaration=True)


def _count(node, inside):
    """Set the attributes that count cases. inside: where the cases are."""
    node.set("tests", str(len(inside.findall(".//testcase"))))
    node.set("failures", str(len(inside.findall(".//failure"))))
    node.set("errors", str(len(inside.findall(".//error"))))


def _xml_text(text):
    """A text without what XML cannot hold."""
    able = text.encode(errors="replace").decode()
    return re.sub(NOT_OF_XML, "", printable(able))
