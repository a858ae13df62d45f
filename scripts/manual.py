"""For authors: write what docs/reference/command.md says of commands and options.

python scripts/manual.py

Everything below its comment comes from the help of the command itself."""

from collections import defaultdict
from dataclasses import MISSING
from typing import Any

from evaluate_retrieval import line
from evaluate_retrieval.commands import options
from evaluate_retrieval.reading import places

COMMAND_PAGE = places.ROOT / "docs" / "reference" / "command.md"
WRITTEN_BELOW = (
    "<!-- scripts/manual.py writes what follows: change the help in the code -->"
)
JSON_OPTION = ("`--json`", "stdout is one JSON document, and all else goes to stderr")


def usage_of(field: Any) -> str:
    """How one types an option, such as `--k N`."""
    flag, how = options.flag_of(field), field.metadata
    if how.get("place"):
        return f"`{flag.upper()}`"
    word = how.get("metavar") or field.name.upper()
    if choices := how.get("choices"):
        word = ",".join(choices)
    return f"`{flag}`" if field.default is False else f"`{flag} {word}`"


def default_of(field: Any) -> str:
    """The default of an option as one would type it, or nothing."""
    value = "" if field.default is MISSING else field.default
    return f"{value:g}" if isinstance(value, float) else str(value or "")


def tables_of_options(commands: list[str]) -> list[str]:
    """The options of our commands: a heading and a table for those that share them."""
    takes = defaultdict(list)
    for command in commands:
        for field in options.shown(line.module_of(command).OPTIONS):
            usual = default_of(field)
            meaning = field.metadata["help"] + (f" (usually {usual})" if usual else "")
            takes[usage_of(field), meaning].append(command)
    groups = defaultdict(lambda: ["| option | |", "|---|---|"])
    for row, names in [*takes.items(), (JSON_OPTION, commands)]:
        groups[whose(names, commands)].append(f"| {' | '.join(row)} |")
    return [part for whom, rows in groups.items() for part in (whom, "\n".join(rows))]


def whose(names: list[str], commands: list[str]) -> str:
    """The heading above the options of some commands, in as few words as may be."""
    others = [name for name in commands if name not in names]
    if not others:
        return "### Options of all commands"
    few = len(others) < len(names)
    shown = ", ".join(f"`{name}`" for name in (others if few else names))
    return f"### Options of {'all but ' if few else ''}{shown}"


def written_part() -> str:
    """What follows the comment of the page, as Markdown."""
    helps = line.own_commands()
    commands = ["| command | |", "|---|---|"]
    commands += [f"| `{name}` | {text} |" for name, text in helps.items()]
    asked = sorted(helps, key=lambda name: name != "evaluate")
    codes = " ".join(line.CODES.split()).removeprefix("Exit codes: ")
    parts = ["## Commands", "\n".join(commands), "## Options"]
    parts += tables_of_options(asked)
    return "\n\n".join([WRITTEN_BELOW, *parts, "## Exit codes", f"{codes}\n"])


def page_of_the_command() -> str:
    """The whole page as it should be: its own beginning, and what is written."""
    return COMMAND_PAGE.read_text("utf-8").partition(WRITTEN_BELOW)[0] + written_part()


if __name__ == "__main__":
    COMMAND_PAGE.write_text(page_of_the_command(), encoding="utf-8")
