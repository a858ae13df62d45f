"""Write the figures of three README files, so that none is typed by hand.

They are the counts of data/README.md, and the minutes of README.md and README.es.md.
`make notebooks` calls this script."""

import re

import machine
import nbformat

from course import our_data
from evaluate_retrieval.reading import places
from evaluate_retrieval.reading.opening import read_table
from evaluate_retrieval.reading.writing import write_text

DATA = our_data.FOLDER
COUNTED = re.compile(r"(?m)^(- \*\*.*\*\* \(`(\S+)`, by `(\w+)`\): ).*$")

SECONDS = {"words": 60 / 150, "lines": 15, "pictures": 10, "rows": 5}
ROWS = 10  # of an output that somebody reads; of a longer one the rest is skimmed
UNCOUNTED = {"imports", "exercise"}  # tags of cells whose code is not read
COURSE = range(1, 6)  # the lessons whose minutes README adds up
TOTAL = r"(The course is 01 to 05: )\d+ h \d+ min, and \d+ min "


def count(match):
    """A line of a list, with the rows of the file that it names, by a column."""
    start, name, column = match.groups()
    table = read_table(DATA / name)
    if column == "kind":  # a row is a judgement
        table = table.drop_duplicates("query_id")
    parts = [f"{value} {n:,}" for value, n in table[column].value_counts().items()]
    return f"{start}{len(table):,} ({', '.join(parts)})."


def visible(text):
    """The prose of a markdown text that somebody reads.

    Left out are notes, hints, code, formulas, tables, headings and quotations, and the
    addresses of links. Code within a sentence counts as one word."""
    blocks = r"<!--.*?-->|<details>.*?</details>|```.*?```|\$\$.*?\$\$"
    text = re.sub(blocks, "\n\n", text, flags=re.DOTALL)
    text = re.sub(r"(?m)^\s*\|.*$|^#+ .*$|^\s*>", "", text)
    text = re.sub(r"(?m)^\s*(?:[-*]|\d+\.) ", "\n", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)|<[^>]+>", r"\1", text)
    return re.sub(r"`[^`]*`|\$[^$\n]*\$", "x", text)


def counts(notebook):
    """What a reader of a notebook reads and looks at: words, lines, pictures and rows.

    lines: of code, without imports and exercises. rows: of what cells print, at most
    ROWS of an output. A picture that a cell draws has none."""
    texts = [c.source for c in notebook.cells if c.cell_type == "markdown"]
    code = [c for c in notebook.cells if c.cell_type == "code"]
    shown = [c for c in code if not UNCOUNTED & {*c.metadata.get("tags", [])}]
    outputs = [output for cell in code for output in cell.outputs]
    drawn = [each for each in outputs if "image/png" in each.get("data", {})]
    printed = [each for each in outputs if each not in drawn]
    n_rows = [len(printed_text(each).splitlines()) for each in printed]
    return {
        "words": len(re.findall(r"[\w’'-]+", "\n\n".join(map(visible, texts)))),
        "lines": sum(len(re.findall(r"(?m)^.*\S", cell.source)) for cell in shown),
        "pictures": len(drawn) + len(re.findall(r"!\[", " ".join(texts))),
        "rows": sum(min(ROWS, n) for n in n_rows),
    }


def printed_text(output):
    """What an output of a cell prints, or the table that it shows, as text."""
    return output.get("text") or output.get("data", {}).get("text/plain") or ""


def minutes(path):
    """Minutes of a notebook: to read it, and of its exercises, as they say.

    To read it is 150 words a minute, and SECONDS for all else that `counts` counts."""
    notebook = nbformat.read(path, as_version=4)
    counted = counts(notebook)
    seconds = sum(SECONDS[what] * counted[what] for what in SECONDS)
    texts = [c.source for c in notebook.cells if c.cell_type == "markdown"]
    prose = re.sub("(?s)<!--.*?-->|<details>.*?</details>", "", "\n".join(texts))
    tasks = re.findall(r"\*\*\d\. [^*]* \((\d+) minut(?:e|o)s?\)", prose)
    return round(seconds / 60), sum(map(int, tasks))


def with_minutes(text):
    """README's tables of notebooks with the minutes in their last column.

    The sentence above the tables has the sum of the lessons."""
    lessons = []

    def row(match):
        pair = minutes(places.ROOT / match[2])
        if int(match[3]) in COURSE:
            lessons.append(pair)
        return f"{match[1]}{pair[0]} + {pair[1]} |"

    pattern = r"(?m)^(\| \[(?=(?:\d\d) [^]]*\]\(([^)]*)\))(\d\d) .*\| )[^|]*\|$"
    text = re.sub(pattern, row, text)
    reading, exercises = map(sum, zip(*lessons, strict=True))
    hours, rest = divmod(5 * round(reading / 5), 60)
    return re.sub(TOTAL, rf"\g<1>{hours} h {rest:02} min, and {exercises} min ", text)


def in_spanish(text):
    """README.es.md with the minutes of its lesson."""

    def line(match):
        reading, exercises = minutes(places.ROOT / match[2])
        return f"{match[1]}{reading} minutos, más unos {exercises} de"

    pattern = r"(?m)^(\| \[es/.*?\]\((.*?)\) \|.* )\d+ minutos, más unos \d+ de"
    return re.sub(pattern, line, text)


def texts():
    """The texts that the three files should have, by path."""
    course = places.ROOT / "README.md"
    spanish = places.ROOT / "README.es.md"
    data = DATA / "README.md"
    return {
        course: with_minutes(course.read_text(encoding="utf-8")),
        spanish: in_spanish(spanish.read_text(encoding="utf-8")),
        data: COUNTED.sub(count, data.read_text(encoding="utf-8")),
    }


if __name__ == "__main__":
    machine.parser(__doc__).parse_args()
    for path, text in texts().items():
        write_text(path, text)
