"""The manual: what is written from the code is current, and its lines can be typed."""

import re
import shlex

import manual
import pytest

from evaluate_retrieval import line
from evaluate_retrieval.commands import options
from evaluate_retrieval.reading import places

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
