"""What a reader reads of a text: without Markdown, links, pictures, and who wrote it.

Editors change these often, and no answer changes with them."""

import html
import re
from functools import cache

# An attribute may have tags, too, between its quotes
HTML_TAG = r"(?s)<!--(?:(?!<!--).)*?-->|</?[A-Za-z](?:[^<>\"]|\"[^\"]*\")*>"
JSX_TAG = r"<[A-Za-z][^<>]*=\{[^<>]*>"  # is no HTML, so Markdown leaves it in a text
FENCE = r"(?m)^[ \t]*(?:```|~~~)[ \t]*(\S*)"  # of code, with its language
LINK = r"!?\[([^\[\]\n]*)\]\((?:https?:|mailto:|[/#])[^()\s]*\)"  # where code is cut
ADDRESS = r"\b(?:https?://|www\.)[^\s<>()\[\]\"'`]+"
MENTION = r"(?<![\w.@])@[\w-]+(?![\w.@(]*[\w(])"
PROMPT = r"(?m)^[ \t]*(?:>>>|\.\.\.|\$)[ \t]"
VERBS = "added|answered|asked|contributed|edited|posted|suggested|updated|written"
GREETINGS = "best|cheers|greetings|kind regards|best regards|regards|thanks|thank you"
# Each begins where nothing of its kind is before it: no text takes long to read
SIGNATURES = [
    rf"(?i)(?<![(\[*_])[(\[*_]+(?:{VERBS})\s+by\b[^()\[\]\n]{{1,80}}[)\]*_]+",
    rf"(?im)^[^\w\n]*(?:{VERBS})\s+by\b.{{1,60}}$",
]
LAST_LINES = [
    rf"(?i)\n[ \t]*(?:{GREETINGS})[ \t]*[,!][ \t]*\n?[^\n]{{0,40}}\Z",
    r"\n[ \t]*(?:—|–|--)[ \t]*[^\W\d_][^\n]{1,40}\Z",
]
END = 200  # letters at the end of a text, in which it is signed
# Without one of these signs Markdown has nothing to take away
MARKDOWN = r"[*_`~<>\[\]|#]|(?m:^\s*(?:[-+]|\d+[.)])\s)"
LONGEST_LIST = 99  # items; what has a higher number in front is none
# Kinds of nodes after which the line goes on
INLINE = {"text", "codespan", "emphasis", "strong", "strikethrough", "link"}
INLINE |= {"image", "inline_html"}


@cache
def _parser():
    import mistune  # when the first text asks for it

    return mistune.create_markdown(renderer=None, plugins=["strikethrough", "table"])


def plain_text(text: str) -> str:
    """A text as a reader sees it, one block below the other.

    Links become their text. Code stays as it is, without its fence. Pictures, tags,
    comments, addresses of pages, mentions of people and signatures are left out."""
    text = text.replace("\r\n", "\n").strip()
    if _begins_in_code(text):
        text = f"```\n{text}"
    for signature in SIGNATURES:
        text = re.sub(signature, "\n", text)
    for signature in LAST_LINES:
        text = text[:-END] + re.sub(signature, "", text[-END:])
    if not re.search(MARKDOWN, text):
        return _prose(text)
    return "".join(_parts(_parser()(text), is_outer=True))


def _begins_in_code(text):
    """Whether a text was cut within code: its first fence ends some, and begins none.

    Only a fence that begins code may have a language."""
    languages = re.findall(FENCE, text)
    if any(languages[::2]):
        return False
    return any(languages[1::2]) or len(languages) % 2 == 1


def _prose(text):
    """Prose without tags, addresses and people."""
    for sign in (JSX_TAG, ADDRESS, MENTION):
        text = re.sub(sign, " ", text)
    return html.unescape(text)


def _parts(nodes, is_outer):
    """The parts of the text of nodes of Markdown.

    is_outer: what stands between tags, or is set in, is read as Markdown, too."""
    for node in nodes:
        kind = node["type"]
        raw = node.get("raw", "")
        if kind == "list" and node["attrs"].get("start", 1) > LONGEST_LIST:
            yield f"{node['attrs']['start']} "  # an answer: "8082. Port 8081 is taken"
        if "children" in node and kind != "image":
            yield from _parts(node["children"], is_outer)
        elif kind in ("block_html", "inline_html") or node.get("style") == "indent":
            raw = re.sub(r"(?m)^[ \t]+", "", re.sub(HTML_TAG, "\n", raw))
            if is_outer and raw.strip():
                yield from _parts(_parser()(raw), is_outer=False)
        elif kind in ("codespan", "block_code"):
            yield re.sub(LINK, r"\1", re.sub(PROMPT, "", raw))
        elif kind != "image":
            yield _prose(raw)
        if kind not in INLINE:
            yield "\n"
