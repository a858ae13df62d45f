"""Write the figures of three README files, so that none is typed by hand.

They are the counts of data/README.md, the leaderboard and the machine time of
notebooks/README.md, and the minutes of README.md. `make notebooks` calls this script.
First it copies what its run has left in the folder of results. With --check it changes
no file, and only says whether the figures are right."""

import re
import shutil
import sys
from functools import partial

import machine
import nbformat
import pandas as pd

from course import corpus

DATA, NOTEBOOKS = corpus.ROOT / "data", corpus.ROOT / "notebooks"
COPIES = {  # of a run's results, and where they go
    "durations.csv": NOTEBOOKS,
    "leaderboard.csv": NOTEBOOKS,
    "quality-and-time.png": corpus.ROOT / "docs",
    "quality-and-time-narrow.png": corpus.ROOT / "docs",
}
HEADINGS = [
    "search",
    "nDCG@10, judged",
    "95 %",
    "MRR@5, generated",
    "95 %",
    "chosen on",
]


def listed(counts):
    """A Series of counts as text: each name and its count."""
    return ", ".join(f"{name} {n}" for name, n in counts.items())


def counts():
    """The measured shape of the data, file by file, as lines of Markdown."""
    documents = pd.DataFrame(corpus.load_documents(DATA))
    courses = listed(documents["course"].value_counts())
    sections = documents.groupby(["course", "section"]).size()
    yield (
        f"- **Records**: {len(documents):,} ({courses}) in {len(sections)} sections "
        f"of {sections.min()} to {sections.max()}."
    )
    questions = corpus.load_ground_truth(DATA)["question"]
    n_words = questions.str.split().str.len().mean()
    decisions = listed(pd.read_csv(DATA / "gate.csv")["decision"].value_counts())
    yield (
        f"- **Generated questions**: {len(questions):,}, {n_words:.1f} words in the "
        f"mean; read at the gate: {decisions}."
    )
    yield from judgements(pd.read_csv(DATA / "judged-queries.csv"))
    yield from further_counts()


def judgements(table):
    """The counts of judged queries and their judgements, as lines."""
    kinds = table.groupby("kind")["query_id"].nunique()
    yield (
        f"- **Judged queries**: {kinds.sum()} ({listed(kinds)}), "
        f"{len(table):,} judgements."
    )
    relevant = table[table["grade"] > 0]
    needs = relevant["need"].nunique()
    yield f"- **Needs**: {needs} among the queries that have an answer."


def further_counts():
    """The counts of what is Spanish, of facts and of recorded responses, as lines."""
    documents = corpus.load_documents(DATA / "es")
    questions = corpus.load_ground_truth(DATA / "es")
    queries, qrels = corpus.load_judged_queries(DATA / "es")
    yield (
        f"- **Spanish**: {len(documents)} records, {len(questions):,} questions, "
        f"{len(queries)} judged queries, {sum(map(len, qrels)):,} judgements."
    )
    facts = pd.read_csv(DATA / "fact-annotations.csv")
    n_facts = facts["fact"].nunique()
    yield f"- **Facts**: {n_facts} that some context states, in {len(facts)} pairs."
    edits = pd.read_csv(DATA / "hard-pairs.csv")["edit"].value_counts()
    yield f"- **Hard pairs**: {edits.sum()} ({listed(edits)})."
    for name in ("questions", "facts", "verdicts"):
        recorded = pd.read_json(DATA / f"recorded-{name}.jsonl", lines=True)
        yield f"- **Recorded {name}**: {listed(recorded['model'].value_counts())}."


def line(cells):
    """A line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def interval(row):
    return f"{row['low']:.3f} to {row['high']:.3f}"


def leaderboard():
    """The leaderboard of the committed run, as lines of a Markdown table."""
    board = pd.read_csv(NOTEBOOKS / "leaderboard.csv", index_col="search")
    yield line(HEADINGS)
    yield f"|{'---|' * len(HEADINGS)}"
    chosen = board[board["chosen"]]["queries"]
    generated = board[board["queries"] == "generated"]
    for search, row in board[board["queries"] == "judged"].iterrows():
        cells = [search, f"{row['ndcg']:.3f}", interval(row)]
        row = generated.loc[search]
        cells += [f"{row['mrr']:.3f}", interval(row)]
        yield line([*cells, ", ".join(chosen[chosen.index == search])])


def machine_time():
    """The seconds of each notebook, and of its slow cells, as lines of a table."""
    yield "| notebook | all cells, s | cells above 2 s: [number] seconds |"
    yield "|---|---|---|"
    durations = pd.read_csv(NOTEBOOKS / "durations.csv", index_col="cell")
    for name, seconds in durations.groupby("notebook")["seconds"]:
        slow = seconds[seconds > 2].items()
        slow_cells = ", ".join(f"[{number}] {took:.0f}" for number, took in slow)
        yield line([name, f"{seconds.sum():.0f}", slow_cells])


def visible(text):
    """What a reader reads of Markdown: no code, tables, notes, hints and headings."""
    text = re.sub("(?s)<!--.*?-->|<details>.*?</details>|```.*?```", " ", text)
    text = re.sub(r"(?m)^\s*\|.*$|^#+ .*$|^\s*>", " ", text)
    return re.sub(r"!?\[([^]]*)\]\([^)]*\)|`[^`]*`", r"\1 x", text)


def minutes(path):
    """Minutes of a notebook: to read it, and of its exercises, as they say.

    150 words a minute, and 15 seconds a line of code without imports and exercises."""
    cells = nbformat.read(path, as_version=4).cells
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    words = len(re.findall(r"[\w’'-]+", visible(prose)))
    lines = sum(
        len([line for line in cell.source.split("\n") if line.strip()])
        for cell in cells
        if cell.cell_type == "code"
        and not {"imports", "exercise"} & set(cell.metadata.get("tags", []))
    )
    tasks = re.findall(r"\*\*\d\. [^*]* \((\d+) minutes?\)", prose)
    return round(words / 150 + lines * 15 / 60), sum(map(int, tasks))


def with_minutes(text):
    """README's tables of notebooks with the minutes in their last column."""

    def row(match):
        reading, exercises = minutes(corpus.ROOT / match["path"])
        return f"{match['row']}{reading} + {exercises} |"

    pattern = r"(?m)^(?P<row>\| \[\d\d [^]]*\]\((?P<path>[^)]*)\) \|.*\| )[^|]*\|$"
    return re.sub(pattern, row, text)


def updated(text, **parts):
    """The text of a README with new lines between the two marks of each part."""
    for name, lines in parts.items():
        name = name.replace("_", " ")
        begin = f"<!-- {name}: written by scripts/data_card.py -->"
        end = f"<!-- end of {name} -->"
        before, after = text.split(begin)
        after = after.split(end)[1]
        text = "\n".join([before + begin, *lines, end + after])
    return text


def main(check):
    """Write the figures. With --check, only say which file is not up to date."""
    for name, folder in {} if check else COPIES.items():
        if (path := corpus.results_folder() / name).exists():
            shutil.copy(path, folder)
    tables = {"leaderboard": leaderboard(), "machine_time": machine_time()}
    for folder, change in {
        corpus.ROOT: with_minutes,
        DATA: partial(updated, counts=counts()),
        NOTEBOOKS: partial(updated, **tables),
    }.items():
        path = folder / "README.md"
        text = path.read_text(encoding="utf-8")
        new = change(text)
        if not check:
            path.write_text(new, encoding="utf-8")
        elif new != text:
            sys.exit(f"{path}: not what the data give; run scripts/data_card.py")


if __name__ == "__main__":
    parser = machine.parser(__doc__)
    parser.add_argument(
        "--check", action="store_true", help="only end with 1 if not right"
    )
    main(parser.parse_args().check)
