"""Texts that can be shown: on a line, without control characters and secrets.

Only the standard library is imported here: `--help` need not wait for pandas."""

import re

SECRETS = re.compile(
    r"(https?:/+|//)[^/\s:@]*(?::\S*)?(?=@)"  # of an address, or of it as a path
    r"|(bearer\s"
    r"|(?:key|token|passw\w*|pwd|secret)\s?=\s?"
    r"|(?:api.?key|passw\w*|secret|authorization|token[\"'])[\"'\\]*\s?[:=]\s?"
    r"(?:(?:bearer|basic|apikey)\s)?+)"
    # what was hidden once stays as it is
    r"(?!…)(?:\\?\"[^\"]*\"|'[^']*'|\S+)",
    re.IGNORECASE,
)


def without_secrets(text: str) -> str:
    """A text without its passwords, keys and tokens, and users of addresses."""
    return SECRETS.sub(r"\1\2…", text)


def printable(text: str) -> str:
    """A text for a terminal: without control characters, such as escape sequences."""
    return re.sub(r"[\0-\x08\x0b-\x1f\x7f-\x9f]", "", text)


MARKUP = r"""[\\`*_{}\[\]()#+!|~$@:<>&"'-]"""  # of Markdown and HTML


def plain(text: object, longest: int = 200) -> str:
    """A text of users on one line: no control characters, only its first letters."""
    # of a user: an id may be a number, say
    line = printable(" ".join(str(text).split()))
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def cell(text: object, longest: int = 200) -> str:
    """A text of users for a table in Markdown: on one line, and no markup."""
    return re.sub(MARKUP, lambda match: f"&#{ord(match[0])};", plain(text, longest))
