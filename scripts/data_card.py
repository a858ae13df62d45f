"""Write the figures of three README files, so that none is typed by hand.

They are the counts of data/README.md, the leaderboard and the machine time of
notebooks/README.md, and the minutes of README.md. `make notebooks` calls this
script."""

import re

import machine
import nbformat
import pandas as pd

from course import corpus

DATA, NOTEBOOKS = corpus.ROOT / "data", corpus.ROOT / "notebooks"
SCRIPT = "scripts/data_card.py"
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


def leaderboard():
    """The leaderboard of the committed run, as lines of a Markdown table."""
    yield "| search | nDCG@10, judged | 95 % | MRR@5, generated | 95 % | chosen on |"
    yield "|---|---|---|---|---|---|"
    board = pd.read_csv(NOTEBOOKS / "leaderboard.csv", index_col="queries")
    interval = "{low:.3f} to {high:.3f}".format_map
    for search, rows in board.groupby("search", sort=False):
        judged, generated = rows.loc["judged"], rows.loc["generated"]
        yield (
            f"| {search} | {judged['ndcg']:.3f} | {interval(judged)} "
            f"| {generated['mrr']:.3f} | {interval(generated)} "
            f"| {', '.join(rows.index[rows['chosen']])} |"
        )


def machine_time():
    """The seconds of each notebook, and of its slow cells, as lines of a table."""
    yield "| notebook | all cells, s | cells above 2 s: [number] seconds |"
    yield "|---|---|---|"
    durations = pd.read_csv(NOTEBOOKS / "durations.csv", index_col="cell")
    for name, seconds in durations.groupby("notebook")["seconds"]:
        slow = [f"[{cell}] {took:.0f}" for cell, took in seconds.items() if took > 2]
        yield f"| {name} | {seconds.sum():.0f} | {', '.join(slow)} |"


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


def updated(path, **parts):
    """The text of a README with new lines between the two marks of each part."""
    text = path.read_text(encoding="utf-8")
    for name, lines in parts.items():
        name = name.replace("_", " ")
        before, begin, after = text.partition(f"<!-- {name}: written by {SCRIPT} -->")
        _, end, after = after.partition(f"<!-- end of {name} -->")
        text = "\n".join([before + begin, *lines, end + after])
    return text


def texts():
    """The texts that the three files should have, by path."""
    start, data, page = (
        folder / "README.md" for folder in (corpus.ROOT, DATA, NOTEBOOKS)
    )
    return {
        start: with_minutes(start.read_text(encoding="utf-8")),
        data: updated(data, counts=counts()),
        page: updated(page, leaderboard=leaderboard(), machine_time=machine_time()),
    }


if __name__ == "__main__":
    machine.parser(__doc__).parse_args()
    for path, text in texts().items():
        path.write_text(text, encoding="utf-8")
