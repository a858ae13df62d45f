"""The manual: what is written from the code is current, and its lines can be typed."""

import contextlib
import json
import re
import shlex
import shutil

import jsonschema
import manual
import pytest
import recording

from evaluate_retrieval import line
from evaluate_retrieval.commands import options
from evaluate_retrieval.reading import folder, places

HOW_TO = sorted((places.ROOT / "docs" / "how-to").glob("*.md"))
PAGES = [*HOW_TO, places.ROOT / "docs" / "for-agents.md", places.ROOT / "README.md"]
MOST_WORDS = 600


def lines_of_commands(text):
    """The lines of a page that run the command, as lists of words."""
    blocks = re.findall(r"(?ms)^```(?:bash|yaml)\n(.*?)^```", text)
    typed = re.findall(r"(?m)^[ -]*(evaluate-retrieval .*)$", "\n".join(blocks))
    lexed = (shlex.split(each.partition(" || ")[0], comments=True) for each in typed)
    return [words[1:] for words in lexed]


def test_the_page_of_the_command_is_what_its_help_says():
    """`make manual` writes it."""
    assert manual.COMMAND_PAGE.read_text("utf-8") == manual.page_of_the_command()


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_a_job_is_told_in_few_words(page):
    assert len(page.read_text("utf-8").split()) <= MOST_WORDS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_line_of_a_page_can_be_typed(page):
    typed = lines_of_commands(page.read_text("utf-8"))
    assert typed or page.stem == "online"
    for words in typed:
        command, *rest = words if line.is_command(words) else ["evaluate", *words]
        module = line.module_of(command)
        parser = options.parser_of(command, module.HELP, module.OPTIONS)
        options.options_of(rest, parser, module.OPTIONS)


def test_the_terminal_of_the_demo_shows_what_it_prints_today():
    """`make manual` draws it; times may be others."""
    shown = recording.rows_in(recording.DEMO_PICTURE.read_text("utf-8"))
    today = recording.picture_of(recording.lines_of_the_demo())
    assert shown == recording.rows_in(today)
    assert sum(row.startswith("Ship") for row in shown) == 1


EVIDENCE = sorted((places.ROOT / "docs" / "evidence").glob("*.md"))


@pytest.mark.parametrize("page", EVIDENCE, ids=lambda page: page.stem)
def test_a_table_of_evidence_has_the_line_that_makes_it(page):
    """In its own part of the page, unless that says it was measured once."""
    text = page.read_text("utf-8")
    parts = [part for part in re.split(r"(?m)^## ", text) if "\n|---" in part]
    assert parts
    for part in parts:
        scripts = re.findall(r"scripts/evidence/\w+\.py", part)
        assert all((places.ROOT / script).exists() for script in scripts)
        is_said = scripts or "measured once" in part.lower() or "make bench" in part
        assert is_said or "`evaluate-retrieval " in part, part.partition("\n")[0]


# --- The page for coding agents ----------------------------------------------

FOR_AGENTS = (places.ROOT / "docs" / "for-agents.md").read_text("utf-8")
FACTS = places.ROOT / "evaluate_retrieval" / "words" / "facts.schema.json"
SCHEMA = json.loads(FACTS.read_text("utf-8"))
CASES = places.ROOT / "tests" / "command" / "cases"
BY_WORDS = """
IDS = {ids}
TEXTS = {texts}


def new(question):
    words = question.lower().split()
    return sorted(IDS, key=lambda id_: -sum(word in TEXTS[id_] for word in words))


SEARCHES = {{"today": lambda question: IDS, "new": new}}
"""
OF_CASES = {  # the exit codes of the three commands
    "golden-set-expected-sources": [0, 0, 0],
    "quepid-export": [2, 2, 2],
    "judged-minimal-columns": [2, 2, 2],
    "rank-eval-request": [2, 2, 2],
    "qrels-duplicate-conflict": [3, 3, 3],
}


@pytest.mark.parametrize("name", OF_CASES)
def test_the_lines_for_agents_give_json_of_the_schema(
    name, tmp_path, monkeypatch, capsys
):
    shutil.copytree(CASES / name, tmp_path / "faq")
    monkeypatch.chdir(tmp_path)
    documents = []
    with contextlib.suppress(ValueError):
        documents = folder.read(tmp_path / "faq").documents
    texts = {each["id"]: each["text"].lower() for each in documents}
    program = BY_WORDS.format(ids=[*texts], texts=texts)
    (tmp_path / "searches.py").write_text(program)
    typed = lines_of_commands(FOR_AGENTS)
    assert [words[0] for words in typed] == ["evaluate", "compare", "gate"]
    codes = []
    for words in typed:
        code = line.main(words)
        shown = json.loads(capsys.readouterr().out)
        jsonschema.validate(shown, SCHEMA)
        assert shown["code"] == code
        codes.append(code)
        made = tmp_path / "results" / "baseline.json.gz"
        if words[0] == "evaluate" and made.exists():
            shutil.copy(made, tmp_path / "baseline.json.gz")
    assert codes == OF_CASES[name]


def test_the_fields_for_agents_are_those_of_the_schema():
    rows = re.findall(r"(?m)^\| *(`[a-z]+`|all|) *\| (`[^|]*) \| .* \|$", FOR_AGENTS)
    of_all = {name for each in SCHEMA["$defs"].values() for name in properties_of(each)}
    command = ""
    for whom, fields in rows:
        command = whom.strip("`") or command
        there = properties_of(SCHEMA["$defs"].get(command, {})) or of_all
        assert {*re.findall(r"`(\w+)`", fields)} <= {*there}, command
    assert len(rows) > 7


def properties_of(definition):
    """The fields that a definition of the schema has."""
    return definition.get("properties", {})
