"""Write the figures of three README files, so that none is typed by hand.

They are the counts of data/README.md, the leaderboard and the machine time of
notebooks/README.md, and the minutes of README.md. `make notebooks` calls this script.
First it copies what a run has left in the folder of results: the times and the
leaderboard to notebooks/, the pictures to docs/. With --check it changes no file, and
only says whether the figures are right."""

import re
import shutil
import sys

import machine
import nbformat
import numpy as np
import pandas as pd

from course import corpus

DATA, NOTEBOOKS = corpus.ROOT / "data", corpus.ROOT / "notebooks"
DURATIONS = NOTEBOOKS / "durations.csv"  # of the committed run, in seconds
LEADERBOARD = NOTEBOOKS / "leaderboard.csv"
PICTURE = corpus.ROOT / "docs" / "quality-and-time.png"
FOR_PHONES = PICTURE.with_stem("quality-and-time-narrow")
HEADINGS = ["search", "nDCG@10, judged", "95 %", "MRR@5, generated", "95 %"]


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
    words = documents["text"].str.split().str.len()
    shares = " / ".join(f"{n:.0f}" for n in np.percentile(words, [5, 25, 50, 75]))
    yield (
        f"- **Answer length** in words: {shares} at 5, 25, 50 and 75 %, "
        f"mean {words.mean():.0f}, longest {words.max()}."
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
    n_relevant = relevant.groupby("query_id").size()
    needs = relevant["need"].nunique()
    yield f"- **Needs**: {needs} among the queries that have an answer."
    yield (
        f"- **Relevant records**: none for {kinds.sum() - len(n_relevant)} queries, "
        f"else {n_relevant.mean():.1f} (mean)."
    )
    either = table[(table["pass_1"] > 0) | (table["pass_2"] > 0)]
    same = either["pass_1"] == either["pass_2"]
    yield (
        f"- **Two passes**: {same.mean():.0%} of {len(same):,} pairs that either calls "
        "relevant got the same grade. Over all pairs, most of them 0 for both,"
    )
    yield f"  κ is {kappa(table)}, with a 95 % interval that draws whole queries."
    shares = same.groupby(either["kind"]).mean()
    parts = [
        f"{kind} {shares[kind]:.0%}, {kappa(part)}"
        for kind, part in table.groupby("kind")
    ]
    yield f"- **By kind**, the same share and κ: {'; '.join(parts)}."


def kappa(table):
    """Cohen's κ of the two passes with its 95 % interval, as text."""
    passes = [table["pass_1"], table["pass_2"]]
    counts = pd.crosstab(table["query_id"], passes, dropna=False)
    n = len(counts)
    each_once = np.ones(n)
    drawn = np.random.default_rng(1).multinomial(n, each_once / n, size=10_000)
    tables = np.vstack([each_once, drawn]) @ counts.to_numpy()
    found, *others = cohen(tables.reshape(-1, 3, 3))
    low, high = np.quantile(others, [0.025, 0.975])
    return f"{found:.2f} ({low:.2f} to {high:.2f})"


def cohen(tables):
    """Cohen's κ of tables of counts, a row for each grade of the first pass."""
    shares = tables / tables.sum(axis=(1, 2), keepdims=True)
    same = np.trace(shares, axis1=1, axis2=2)
    by_chance = (shares.sum(axis=1) * shares.sum(axis=2)).sum(axis=1)
    return (same - by_chance) / (1 - by_chance)


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
    board = pd.read_csv(LEADERBOARD, index_col="search")
    refused = ["refused"] if "refused" in board else []
    headings = [*HEADINGS, *refused, "chosen on"]
    yield line(headings)
    yield f"|{'---|' * len(headings)}"
    chosen = board[board["chosen"]]["queries"]
    generated = board[board["queries"] == "generated"]
    for search, row in board[board["queries"] == "judged"].iterrows():
        other = generated.loc[search]
        cells = [search, f"{row['ndcg']:.3f}", interval(row)]
        cells += [f"{other['mrr']:.3f}", interval(other)]
        cells += [f"{row[column]:.3f}" for column in refused]
        yield line([*cells, ", ".join(chosen[chosen.index == search])])


def machine_time():
    """The seconds of each notebook, and of its slow cells, as lines of a table."""
    yield "| notebook | all cells, s | cells above 2 s: [number] seconds |"
    yield "|---|---|---|"
    durations = pd.read_csv(DURATIONS, index_col="cell")
    for name, seconds in durations.groupby("notebook")["seconds"]:
        slow = seconds[seconds > 2].items()
        slow_cells = ", ".join(f"[{number}] {took:.0f}" for number, took in slow)
        yield line([name, f"{seconds.sum():.0f}", slow_cells])


def visible(text):
    """What a reader reads of Markdown: no code, tables, notes, hints and headings."""
    for hidden in ("<!--.*?-->", "<details>.*?</details>", "```.*?```"):
        text = re.sub(hidden, " ", text, flags=re.DOTALL)
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


def copy_results():
    """Copy what a run has left. A notebook that it left out keeps its old times."""
    results = corpus.results_folder()
    if (results / DURATIONS.name).exists():
        new, old = pd.read_csv(results / DURATIONS.name), pd.read_csv(DURATIONS)
        kept = old[~old["notebook"].isin(new["notebook"])]
        both = pd.concat([kept, new]).sort_values(["notebook", "cell"])
        both.to_csv(DURATIONS, index=False)
    for path in (LEADERBOARD, PICTURE, FOR_PHONES):
        if (results / path.name).exists():
            shutil.copy(results / path.name, path)


def updated(text, what, lines):
    """The text of a README with these lines between their two marks."""
    begin = f"<!-- {what}: written by scripts/data_card.py -->"
    end = f"<!-- end of {what} -->"
    before, rest = text.split(begin)
    _, after = rest.split(end)
    return "\n".join([before + begin, *lines, end + after])


def main(check):
    """Write the figures. With --check, only say which file is not up to date."""
    if not check:
        copy_results()
    readme, card, teachers = (
        folder / "README.md" for folder in (corpus.ROOT, DATA, NOTEBOOKS)
    )
    for path, change in (
        (readme, with_minutes),
        (card, lambda text: updated(text, "counts", counts())),
        (teachers, lambda text: updated(text, "leaderboard", leaderboard())),
        (teachers, lambda text: updated(text, "machine time", machine_time())),
    ):
        old = path.read_text(encoding="utf-8")
        new = change(old)
        if not check:
            path.write_text(new, encoding="utf-8")
        elif new != old:
            sys.exit(f"{path}: not what the data give; run scripts/data_card.py")


if __name__ == "__main__":
    parser = machine.parser(__doc__)
    parser.add_argument(
        "--check", action="store_true", help="only end with 1 if not right"
    )
    main(parser.parse_args().check)
