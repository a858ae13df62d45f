"""Write the figures of two README files, so that none is typed by hand.

They are the counts of data/README.md, and the minutes of README.md. `make notebooks`
calls this script."""

import re

import machine
import nbformat

from course import our_data
from evaluate_retrieval.reading import places
from evaluate_retrieval.reading.opening import read_table
from evaluate_retrieval.reading.writing import write_text

DATA = our_data.FOLDER
COUNTED = re.compile(r"(?m)^(- \*\*.*\*\* \(`(\S+)`, by `(\w+)`\): ).*$")


def count(match):
    """A line of a list, with the rows of the file that it names, by a column."""
    start, name, column = match.groups()
    table = read_table(DATA / name)
    if column == "kind":  # a row is a judgement
        table = table.drop_duplicates("query_id")
    parts = [f"{value} {n:,}" for value, n in table[column].value_counts().items()]
    return f"{start}{len(table):,} ({', '.join(parts)})."


def minutes(path):
    """Minutes of a notebook: to read it, and of its exercises, as they say.

    150 words a minute, without notes and hints, and 15 seconds a line of code without
    imports and exercises."""
    texts = {"markdown": "", "code": ""}
    for cell in nbformat.read(path, as_version=4).cells:
        if not {"imports", "exercise"} & {*cell.metadata.get("tags", [])}:
            texts[cell.cell_type] += f"{cell.source}\n"
    prose = re.sub("(?s)<!--.*?-->|<details>.*?</details>", "", texts["markdown"])
    n_words = len(prose.split())
    n_lines = len(re.findall(r"\S.*", texts["code"]))
    tasks = re.findall(r"\*\*\d\. [^*]* \((\d+) minutes?\)", prose)
    return round(n_words / 150 + n_lines / 4), sum(map(int, tasks))


def with_minutes(text):
    """README's tables of notebooks with the minutes in their last column."""

    def row(match):
        reading, exercises = minutes(places.ROOT / match[2])
        return f"{match[1]}{reading} + {exercises} |"

    pattern = r"(?m)^(\| \[\d\d [^]]*\]\(([^)]*)\) \|.*\| )[^|]*\|$"
    return re.sub(pattern, row, text)


def texts():
    """The texts that the two files should have, by path."""
    course = places.ROOT / "README.md"
    data = DATA / "README.md"
    return {
        course: with_minutes(course.read_text(encoding="utf-8")),
        data: COUNTED.sub(count, data.read_text(encoding="utf-8")),
    }


if __name__ == "__main__":
    machine.parser(__doc__).parse_args()
    for path, text in texts().items():
        write_text(path, text)
