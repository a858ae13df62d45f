"""Write the figures of two README files, so that none is typed by hand.

They are the counts of data/README.md, and the minutes of README.md. `make notebooks`
calls this script."""

import re

import machine
import nbformat
import pandas as pd

from course import corpus

DATA = corpus.ROOT / "data"
COUNTED = {  # what is counted: the rows of a file, by a column
    "Records": ("documents-with-ids.json", "course"),
    "Generated questions": ("ground-truth-data.csv", "course"),
    "Read at the gate": ("gate.csv", "decision"),
    "Judged queries": ("judged-queries.csv", "kind"),
    "Judgements by grade": ("judged-queries.csv", "grade"),
    "Spanish records": ("es/documents-with-ids.json", "course"),
    "Spanish questions": ("es/ground-truth-data.csv", "course"),
    "Spanish judged queries": ("es/judged-queries.csv", "kind"),
    "Spanish judgements by grade": ("es/judged-queries.csv", "grade"),
    "Hard pairs": ("hard-pairs.csv", "edit"),
    "Recorded questions": ("recorded-questions.jsonl", "model"),
    "Recorded facts": ("recorded-facts.jsonl", "model"),
    "Recorded verdicts": ("recorded-verdicts.jsonl", "model"),
}


def counts():
    """What is counted in the data, as lines of Markdown."""
    for title, (name, column) in COUNTED.items():
        path = DATA / name
        if path.suffix == ".csv":
            table = pd.read_csv(path)
        else:
            table = pd.read_json(path, lines=path.suffix == ".jsonl")
        if column == "kind":  # a row is a judgement
            table = table.drop_duplicates("query_id")
        parts = [f"{value} {n:,}" for value, n in table[column].value_counts().items()]
        yield f"- **{title}**: {len(table):,} ({', '.join(parts)})."


def minutes(path):
    """Minutes of a notebook: to read it, and of its exercises, as they say.

    150 words a minute, without notes and hints, and 15 seconds a line of code without
    imports and exercises."""
    texts = {"markdown": "", "code": ""}
    for cell in nbformat.read(path, as_version=4).cells:
        if not {"imports", "exercise"} & {*cell.metadata.get("tags", [])}:
            texts[cell.cell_type] += f"{cell.source}\n"
    prose = re.sub("(?s)<!--.*?-->|<details>.*?</details>", "", texts["markdown"])
    n_words, n_lines = len(prose.split()), len(re.findall(r"\S.*", texts["code"]))
    tasks = re.findall(r"\*\*\d\. [^*]* \((\d+) minutes?\)", prose)
    return round(n_words / 150 + n_lines / 4), sum(map(int, tasks))


def with_minutes(text):
    """README's tables of notebooks with the minutes in their last column."""

    def row(match):
        reading, exercises = minutes(corpus.ROOT / match[2])
        return f"{match[1]}{reading} + {exercises} |"

    pattern = r"(?m)^(\| \[\d\d [^]]*\]\(([^)]*)\) \|.*\| )[^|]*\|$"
    return re.sub(pattern, row, text)


def with_counts(text):
    """The text of data's README with new lines between its two marks."""
    marks = re.compile("(?s)(?<=data_card.py -->\n).*(?=<!-- end of counts)")
    return marks.sub(lambda _: "".join(f"{line}\n" for line in counts()), text)


def texts():
    """The texts that the two files should have, by path."""
    changes = {corpus.ROOT: with_minutes, DATA: with_counts}
    paths = {folder / "README.md": change for folder, change in changes.items()}
    return {path: paths[path](path.read_text(encoding="utf-8")) for path in paths}


if __name__ == "__main__":
    machine.parser(__doc__).parse_args()
    for path, text in texts().items():
        path.write_text(text, encoding="utf-8")
