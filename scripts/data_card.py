"""Write the figures of three README files, so that none is typed by hand.

They are the counts of data/README.md, the leaderboard of README.md and the machine time
of notebooks/README.md. Each has its place between two marks. `make notebooks` calls
this script. With --check it only says whether the figures are right."""

import base64
import re
import sys

import nbformat
import numpy as np
import pandas as pd

import corpus

DATA, PICTURE = corpus.ROOT / "data", corpus.ROOT / ".github" / "quality-and-time.png"
NOTEBOOKS = corpus.ROOT / "notebooks"
DURATIONS = NOTEBOOKS / "durations.csv"  # of the committed run, in seconds


def listed(counts):
    """A Series of counts as text: each name and its count."""
    return ", ".join(f"{name} {n}" for name, n in counts.items())


def counts():
    """The measured shape of the data, file by file, as lines of Markdown."""
    frame, generated = (
        pd.DataFrame(corpus.load_documents(DATA)),
        corpus.load_ground_truth(DATA),
    )
    sections = frame.groupby(["course", "section"]).size()
    sizes = f"in {len(sections)} sections of {sections.min()} to {sections.max()}"
    yield (
        f"- **Records**: {len(frame):,} ({listed(frame['course'].value_counts())}) "
        f"{sizes}."
    )
    words, asked = (
        texts.str.split().str.len() for texts in (frame["text"], generated["question"])
    )
    shares = " / ".join(f"{q:.0f}" for q in np.percentile(words, [5, 25, 50, 75]))
    lengths = (
        f"{shares} at 5, 25, 50 and 75 %, "
        f"mean {words.mean():.0f}, longest {words.max()}"
    )
    yield f"- **Answer length** in words: {lengths}."
    decided = listed(pd.read_csv(DATA / "gate.csv")["decision"].value_counts())
    length = f"{len(generated):,}, {asked.mean():.1f} words in the mean"
    yield f"- **Generated questions**: {length}; read at the gate: {decided}."
    table = pd.read_csv(DATA / "judged-queries.csv")
    kinds = table.drop_duplicates("query_id")["kind"].value_counts().sort_index()
    yield (
        f"- **Judged queries**: {kinds.sum()} ({listed(kinds)}), "
        f"{len(table):,} judgements."
    )
    relevant = (table["grade"] > 0).groupby(table["query_id"]).sum()
    none, mean = (relevant == 0).sum(), relevant[relevant > 0].mean()
    needs = table.loc[table["grade"] > 0, "need"].nunique()
    yield f"- **Needs**: {needs} among the queries that have an answer."
    yield f"- **Relevant records**: none for {none} queries, else {mean:.1f} (mean)."
    yield from agreement(table)
    yield from further_counts()


def agreement(table):
    """Yield lines that say how far the two passes agree.

    They have κ and its interval, by kind of query too."""
    relevant = table[(table["pass_1"] > 0) | (table["pass_2"] > 0)]
    same = relevant["pass_1"] == relevant["pass_2"]
    of = f"of {len(same):,} pairs that either calls relevant got the same grade"
    yield (
        f"- **Two passes**: {same.mean():.0%} {of}. "
        "Over all pairs, most of them 0 for both,"
    )
    yield f"  κ is {kappa(table)}, with a 95 % interval that draws whole queries."
    share, by_kind = same.groupby(relevant["kind"]).mean(), table.groupby("kind")
    parts = [f"{kind} {share[kind]:.0%}, {kappa(part)}" for kind, part in by_kind]
    yield f"- **By kind**, the same share and κ: {'; '.join(parts)}."


def kappa(table):
    """Cohen's κ of the two passes with its 95 % interval, as text."""
    cells = 3 * table["pass_1"] + table["pass_2"]
    counts = pd.crosstab(table["query_id"], cells).reindex(
        columns=range(9), fill_value=0
    )
    counts = counts.to_numpy().reshape(-1, 3, 3)
    even = np.full(len(counts), 1 / len(counts))
    times_drawn = np.random.default_rng(1).multinomial(len(counts), even, size=10_000)
    low, high = np.quantile(cohen(np.tensordot(times_drawn, counts, 1)), [0.025, 0.975])
    return f"{cohen(counts.sum(axis=0)):.2f} ({low:.2f} to {high:.2f})"


def cohen(counts):
    """Return Cohen's κ of tables of counts, (..., 3, 3).

    A table has a row for each grade of the first pass."""
    shares = counts / counts.sum(axis=(-1, -2), keepdims=True)
    chance = (shares.sum(axis=-1) * shares.sum(axis=-2)).sum(axis=-1)
    return (np.trace(shares, axis1=-2, axis2=-1) - chance) / (1 - chance)


def further_counts():
    """The counts of what is Spanish, of facts and of recorded responses, as lines."""
    documents = corpus.load_documents(DATA / "es")
    questions = corpus.load_ground_truth(DATA / "es")
    queries, qrels = corpus.load_judged_queries(DATA / "es")
    judged = f"{len(queries)} judged queries, {sum(map(len, qrels)):,} judgements"
    yield (
        f"- **Spanish**: {len(documents)} records, {len(questions):,} questions, "
        f"{judged}."
    )
    facts, hard = (
        pd.read_csv(DATA / "fact-annotations.csv"),
        pd.read_csv(DATA / "hard-pairs.csv"),
    )
    stated = (
        f"{facts['fact'].nunique()} that some context states, in {len(facts)} pairs"
    )
    yield f"- **Facts**: {stated}."
    yield f"- **Hard pairs**: {len(hard)} ({listed(hard['edit'].value_counts())})."
    for name in ("questions", "facts", "verdicts"):
        recorded = pd.DataFrame(corpus.read_json(DATA / f"recorded-{name}.jsonl"))
        yield f"- **Recorded {name}**: {listed(recorded['model'].value_counts())}."


def outputs(kind):
    """The outputs of one media type in the committed notebook 03, in order."""
    notebook = nbformat.read(NOTEBOOKS / "03-vector-evaluation.ipynb", as_version=4)
    data = [
        output.get("data", {})
        for cell in notebook.cells
        for output in cell.get("outputs", [])
    ]
    return [one[kind] for one in data if kind in one]


def leaderboard():
    """The last leaderboard that notebook 03 displays, as a Markdown table."""
    page = [page for page in outputs("text/html") if "<th>chosen</th>" in page][-1]
    cells = re.findall(r"<t[hd]>([^<]*)</t[hd]>", page.split("<tbody>")[1])
    yield (
        "| search | nDCG@10, judged | 95 % | MRR@5, generated | 95 % "
        "| refused | chosen on |"
    )
    yield "|---|---|---|---|---|---|---|"
    for row in np.reshape(cells, (-1, 7)):
        yield f"| {' | '.join(row)} |"


def machine_time():
    """Yield a table of the seconds of each notebook.

    It also has the seconds of the cells above 2 s, by their number."""
    yield "| notebook | all cells, s | cells above 2 s: [number] seconds |"
    yield "|---|---|---|"
    for name, took in pd.read_csv(DURATIONS, index_col="cell").groupby("notebook")[
        "seconds"
    ]:
        slow = ", ".join(f"[{n}] {s:.0f}" for n, s in took[took > 2].items())
        yield f"| {name} | {took.sum():.0f} | {slow} |"


def main(check):
    """Write the files and the picture.

    With --check, only say which file is not up to date."""
    if not check and (path := corpus.results_folder() / "durations.csv").exists():
        new, old = pd.read_csv(path), pd.read_csv(DURATIONS)
        both = pd.concat([old[~old["notebook"].isin(new["notebook"])], new])
        both.sort_values(["notebook", "cell"]).to_csv(DURATIONS, index=False)
    for folder, make in (
        (DATA, counts),
        (corpus.ROOT, leaderboard),
        (NOTEBOOKS, machine_time),
    ):
        what = make.__name__.replace("_", " ")
        begin, end = (
            f"<!-- {what}: written by scripts/data_card.py -->",
            f"<!-- end of {what} -->",
        )
        old = (folder / "README.md").read_text(encoding="utf-8")
        head, rest = old.split(begin)
        new = head + "\n".join([begin, *make(), end]) + rest.split(end)[1]
        if not check:
            (folder / "README.md").write_text(new, encoding="utf-8")
        elif new != old:
            sys.exit(
                f"{folder}/README.md: not what the data give; "
                "run python scripts/data_card.py"
            )
    if not check:
        PICTURE.write_bytes(base64.b64decode(outputs("image/png")[-1]))


if __name__ == "__main__":
    main("--check" in sys.argv)
