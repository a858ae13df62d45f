"""Write the counts of data/README.md and the leaderboards of README.md between their marks, so that
no figure is typed by hand. Called by `make notebooks`; --check only says whether they are right."""

import base64
import re
import sys

import nbformat
import numpy as np
import pandas as pd
from sklearn.metrics import cohen_kappa_score

import utils

DATA = utils.ROOT / "data"
CARD, README = DATA / "README.md", utils.ROOT / "README.md"
PICTURE = utils.ROOT / ".github" / "quality-and-time.png"


def counts():
    """The measured shape of the data, as lines of Markdown."""
    documents = pd.DataFrame(utils.load_documents(DATA))
    for lines in (records(documents), questions(documents), judged(), essays()):
        yield from (f"- {line}" for line in lines)


def records(frame):
    by_course = ", ".join(f"{course} {n}" for course, n in frame["course"].value_counts().items())
    sections = frame.groupby(["course", "section"]).size()
    sizes = f"in {len(sections)} sections of {sections.min()} to {sections.max()}"
    yield f"**Records**: {len(frame):,} ({by_course}) {sizes}."
    words = frame["text"].str.split().str.len()
    quartiles = " / ".join(f"{q:.0f}" for q in np.percentile(words, [5, 25, 50, 75]))
    lengths = f"{quartiles} at 5, 25, 50 and 75 %, mean {words.mean():.0f}, longest {words.max()}"
    yield f"**Answer length** in words: {lengths}."


def questions(frame):
    generated, gate = utils.load_ground_truth(DATA), pd.read_csv(DATA / "gate.csv")["decision"]
    frame, asked = frame.set_index("id").loc[generated["document"]], generated["question"]
    decided = ", ".join(f"{n} {decision}" for decision, n in gate.value_counts().items())
    length = f"{asked.str.split().str.len().mean():.1f} words in the mean"
    yield f"**Generated questions**: {len(asked):,}, {length}; read at the gate: {decided}."
    whole = frame["question"] + " " + frame["text"] + " " + frame["section"]
    shared = [utils.shared_words(asked, text).mean() for text in (whole, frame["question"])]
    shared = f"{shared[0]:.0%} of a question's content words stand in its record, {shared[1]:.0%}"
    yield f"**Overlap**: {shared} in its heading (mean)."


def judged():
    table = pd.read_csv(DATA / "judged-queries.csv")
    kinds = table.groupby("query_id")["kind"].first().value_counts().sort_index()
    listed = ", ".join(f"{kind} {n}" for kind, n in kinds.items())
    yield f"**Judged queries**: {kinds.sum()} ({listed}), {len(table):,} judgements."
    relevant = (table["grade"] > 0).groupby(table["query_id"]).sum()
    none, mean = (relevant == 0).sum(), relevant[relevant > 0].mean()
    yield f"**Relevant records**: none for {none} queries, else {mean:.1f} (mean)."
    a, b = table["pass_1"], table["pass_2"]
    plain, weighted = (cohen_kappa_score(a, b, weights=weights) for weights in (None, "linear"))
    either = (a > 0) | (b > 0)
    same = f"of {either.sum():,} pairs that either calls relevant {(a == b)[either].mean():.0%}"
    yield f"**Two passes**: κ {plain:.2f}, weighted {weighted:.2f}; {same} got the same grade."


def essays():
    sizes = [len(path.read_text(encoding="utf-8")) for path in (DATA / "essays").glob("*.md")]
    yield f"**Essays**: {len(sizes)} of {min(sizes):,} to {max(sizes):,} characters."
    discrete = pd.read_csv(DATA / "discrete-set.csv", keep_default_na=False)
    kappa = cohen_kappa_score(discrete["pass_1"], discrete["pass_2"])
    yield f"**Discrete set**: {len(discrete)} points, κ between the two passes {kappa:.2f}."
    pairs = pd.read_csv(DATA / "fact-annotations.csv")
    same = (pairs["annotator_1"] == pairs["annotator_2"]).mean()
    yield f"**Stated facts**: {len(pairs)} pairs of fact and context, {same:.0%} by both readings."
    edits = pd.read_csv(DATA / "hard-pairs.csv")["edit"].value_counts().items()
    edits = ", ".join(f"{edit} {n}" for edit, n in edits)
    yield f"**Hard pairs**: {edits}."
    lines = (DATA / "recorded-verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    yield f"**Answers of the judge**, one digit each: {len(lines):,}."


def outputs(kind):
    """The outputs of one media type in the committed notebook 03, in order."""
    notebook = nbformat.read(utils.ROOT / "notebooks" / "03-vector-evaluation.ipynb", as_version=4)
    data = [o.get("data", {}) for cell in notebook.cells for o in cell.get("outputs", [])]
    return [one[kind] for one in data if kind in one]


def leaderboard():
    """The last leaderboard that notebook 03 displays, as a Markdown table."""
    page = [page for page in outputs("text/html") if "<th>chosen</th>" in page][-1]
    yield "| search | nDCG@10, judged | 95 % | MRR@5, generated | 95 % | chosen on |"
    yield "|---|---|---|---|---|---|"
    row = re.compile(r"<tr>\s*<th>([^<]+)</th>\s*((?:<td>[^<]*</td>\s*)+)</tr>")
    for name, cells in row.findall(page):
        ndcg, low, high, mrr, low_mrr, high_mrr, on = re.findall(r"<td>([^<]*)</td>", cells)
        yield f"| {name} | {ndcg} | {low} to {high} | {mrr} | {low_mrr} to {high_mrr} | {on} |"


def main():
    wrong = []
    for path, what, lines in [(CARD, "counts", counts()), (README, "leaderboard", leaderboard())]:
        begin, end = f"<!-- {what}: written by scripts/data_card.py -->", f"<!-- end of {what} -->"
        old, body = path.read_text(encoding="utf-8"), "\n".join([begin, *lines, end])
        between = re.compile(f"{re.escape(begin)}.*{re.escape(end)}", re.DOTALL)
        new = between.sub(lambda _, body=body: body, old)
        wrong += [str(path)] if new != old else []
        if "--check" not in sys.argv:
            path.write_text(new, encoding="utf-8")
    if "--check" not in sys.argv:
        PICTURE.write_bytes(base64.b64decode(outputs("image/png")[-1]))
    if wrong and "--check" in sys.argv:
        sys.exit(f"not what the data give; run python scripts/data_card.py: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
