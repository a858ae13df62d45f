"""Texts that can be shown: on a line, without control characters and secrets.

Only the standard library is imported here: `--help` need not wait for pandas."""

import json
import os
import re
from collections.abc import Iterable
from urllib.parse import quote

# of a text that may hold secrets: more of it is cut off before it is looked at
LONGEST_TEXT = 10_000
# Repeats have a limit, or end where they began: a text of a stranger takes a moment.
SECRETS = re.compile(
    r"(https?:/+|//)[^/\s:@]{0,300}(?::\S{0,300})?(?=@)"  # an address, also as a path
    r"|((?<![\w.+-])(?!mailto:)[\w.+-]{1,64}:)(?!//|…)[^\s@/]{1,300}(?=@)"  # or a part
    r"|(nonnumeric\ port:\s')[^'@]*(?=@)"
    # everything up to the end of the line, or of the brackets
    r"|(cookie[\"']?\s?[:=]\s?+)(?!…)[^\n]+"
    r"|(\b\w{0,20}auth(?:entication|orization)?\s?=\s?[(\[])(?!…)[^)\]]*"
    r"|(-----BEGIN\ [A-Z ]{0,30}PRIVATE\ KEY-----)(?!…)[^…]*"
    # what is a secret by its own form
    r"|\b(sk-|[spr]k_(?:live|test)_|gh[opsur]_|github_pat_|glpat-|hf_|xox[abeprs]-"
    r"|A[KS]IA(?=[\dA-Z]{8})|AIza|npm_|pypi-|eyJ(?=[\w-]{4,300}\.))(?!…)[\w.-]{6,}"
    # a name, a sign and a value
    r"|(bearer\s"
    r"|\s-u\s?[^\s:]{1,64}:"
    r"|--[\w-]{0,30}(?:key|token|passw\w{0,9}|secret)[\s=]"
    r"|[?&]code="
    r"|(?:key|token|passw\w{0,30}|pwd|\bpass|passphrase|secret|\bsig|signature"
    r"|credentials?|jwt|session_?id)\s?=\s?"
    r"|(?<!unexpected\ )\btoken:\s?(?=\S{6})"
    r"|(?:api.?key|passw\w{0,30}|passphrase|\bpwd|secret|authorization|token[\"'])"
    r"[\"'\\]{0,4}\s?[:=]\s?(?:(?:bearer|basic|apikey)\s)?+)"
    # what was hidden once stays as it is
    r"(?!…)(?:\\?\"[^\"]*\"|'[^']*'|\S+)",
    re.IGNORECASE,
)
# variables of the environment whose values are secrets; those of PLACES are none
NAMES = re.compile("KEY|TOKEN|PASS|SECRET|PWD|CREDENTIAL|AUTH|COOKIE", re.IGNORECASE)
PLACES = re.compile("^(OLD)?PWD$|_(PATH|FILE|DIR|HOME|SOCK|URL)$", re.IGNORECASE)
SHORTEST_SECRET = 6  # letters: `1` and `true` are no secrets


def own_secrets() -> list[str]:
    """The secrets in the environment, in the forms that errors have: longest first."""
    values = {
        value
        for name, value in os.environ.items()
        if NAMES.search(name) and not PLACES.search(name)
        if len(value) >= SHORTEST_SECRET
        and not value.isdigit()
        and not os.path.exists(value)
    }
    return forms_of(values)


def forms_of(values: Iterable[str]) -> list[str]:
    """Secrets as they are, and as addresses and JSON have them: longest first."""
    forms = {form for value in values for form in (value, quote(value, ""))}
    forms |= {json.dumps(value)[1:-1] for value in values}
    return sorted(forms, key=len, reverse=True)


def without_secrets(text: str) -> str:
    """A text without its passwords, keys and tokens, and users of addresses.

    Nor has it those of the environment. What is beyond LONGEST_TEXT is cut off."""
    text = text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"
    for secret in own_secrets():
        text = text.replace(secret, "…")
    return SECRETS.sub(lambda match: f"{match[match.lastindex or 0]}…", text)


def printable(text: str) -> str:
    """A text for a terminal: without control characters, such as escape sequences.

    Nor has it those that turn the direction of what follows, or are not seen."""
    controls = r"[\0-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2066-\u2069\ufeff]"
    return re.sub(controls, "", text)


def bare_name(name: object, names: Iterable[object] = ()) -> str:
    """The name of a search without "own: " or "run: ", unless another is called so.

    names: of all searches."""
    bare = re.sub("^(own|run): ", "", str(name))
    is_shared = any(
        re.sub("^(own|run): ", "", str(other)) == bare
        for other in names
        if other != name
    )
    return str(name) if is_shared else bare


MARKUP = r"""[\\`*_{}\[\]()#+!|~$@:<>&"'-]"""  # of Markdown and HTML


def plain(text: object, longest: int = 200) -> str:
    """A text of users on one line: no control characters, only its first letters."""
    # of a user: an id may be a number, say
    line = printable(" ".join(str(text).split()))
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def cell(text: object, longest: int = 200) -> str:
    """A text of users for a table in Markdown: on one line, and no markup."""
    return re.sub(MARKUP, lambda match: f"&#{ord(match[0])};", plain(text, longest))
