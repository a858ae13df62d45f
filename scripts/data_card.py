"""Write the counts of data/README.md and the leaderboard of README.md between their marks, so that no figure is typed by hand.

Called by `make notebooks`; with --check it only says whether they are what the data and notebook 03 give.
"""

import html
import json
import re
import sys

import nbformat
import numpy as np
import pandas as pd
from sklearn.metrics import cohen_kappa_score

import utils

CARD = utils.ROOT / "data" / "README.md"


def counts():
    """The measured shape of the data, as lines of Markdown."""
    documents, ground_truth = utils.load_documents(CARD.parent), utils.load_ground_truth(CARD.parent)
    frame = pd.DataFrame(documents)
    yield from records(frame)
    yield from questions(frame, ground_truth)
    yield from judged()
    yield from essays()


def records(frame):
    words = frame["text"].str.split().str.len()
    headings = frame.assign(key=frame["question"].str.lower().str.strip(" ?.")).groupby("key")["course"].nunique()
    by_course = ", ".join(f"{course} {n}" for course, n in frame["course"].value_counts().items())
    yield f"- **Records**: {len(frame)} ({by_course}) in {frame.groupby('course')['section'].nunique().sum()} sections."
    quartiles = " / ".join(f"{q:.0f}" for q in np.percentile(words, [25, 50, 75]))
    yield f"- **Answer length** in words: {quartiles} at the quartiles, mean {words.mean():.0f}, longest {words.max()}."
    words = frame["question"].str.split().str.len().mean()
    yield f"- **Headings**: {words:.1f} words in the mean; {(headings > 1).sum()} stand, word for word, in two or three courses."
    yield f"- **With a command, code, a path or an error message**: {frame['text'].str.contains('`').mean():.0%}."


def questions(frame, ground_truth):
    words = {row.id: utils.content_words(f"{row.question} {row.text} {row.section}") for row in frame.itertuples()}
    asked = ground_truth["question"].map(utils.content_words)
    overlap = [len(q & words[d]) / max(1, len(q)) for q, d in zip(asked, ground_truth["document"], strict=True)]
    openings = ground_truth["question"].str.lower().str.split().str[:2].str.join(" ").value_counts(normalize=True)
    length = ground_truth["question"].str.split().str.len().mean()
    yield f"- **Generated questions**: {len(ground_truth):,}, five a record; {length:.1f} words in the mean."
    yield f"- **Overlap**: {np.mean(overlap):.0%} of a question's content words stand in its record (mean)."
    yield f"- **Openings**: the commonest two words are {openings.index[0]!r}, in {openings.iloc[0]:.1%} of the questions."


def judged():
    table = pd.read_csv(CARD.parent / "judged-queries.csv")
    relevant = table[table["grade"] > 0].groupby("query_id").size()
    kinds = ", ".join(
        f"{kind} {n}" for kind, n in table.drop_duplicates("query_id")["kind"].value_counts().sort_index().items()
    )
    kappa = cohen_kappa_score(table["pass_1"], table["pass_2"])
    weighted = cohen_kappa_score(table["pass_1"], table["pass_2"], weights="linear")
    n = table["query_id"].nunique()
    yield f"- **Judged queries**: {n} ({kinds}), {len(table):,} judgements."
    yield f"- **Relevant records**: none for {n - len(relevant)} of these queries, {relevant.mean():.1f} in the mean for the others."
    equal = (table["pass_1"] == table["pass_2"]).mean()
    yield f"- **Two passes of judgement**: equal on {equal:.1%}; Cohen's κ {kappa:.2f}, linearly weighted {weighted:.2f}."


def essays():
    folder = CARD.parent
    lengths = [len(path.read_text(encoding="utf-8")) for path in (folder / "essays").glob("*.md")]
    discrete = pd.read_csv(folder / "discrete-set.csv", keep_default_na=False)
    annotations = pd.read_csv(folder / "verdict-annotations.csv")
    n_questions = len(json.loads((folder / "essay-questions.json").read_text(encoding="utf-8")))
    yield f"- **Essays**: {len(lengths)} of {min(lengths):,} to {max(lengths):,} characters, {n_questions} questions."
    yield f"- **Discrete set**: {len(discrete)} points, κ between the two passes {cohen_kappa_score(discrete['pass_1'], discrete['pass_2']):.2f}."
    kappa = cohen_kappa_score(annotations["annotator_1"], annotations["annotator_2"])
    yield f"- **Fact verdicts**: {len(annotations):,} pairs of fact and context, κ between the two annotators {kappa:.2f}."


def leaderboard():
    """The last leaderboard that the committed notebook 03 displays, as a Markdown table."""
    notebook = nbformat.read(utils.ROOT / "notebooks" / "03-vector-evaluation.ipynb", as_version=4)
    pages = [
        o["data"]["text/html"]
        for cell in notebook.cells
        for o in cell.get("outputs", [])
        if "text/html" in o.get("data", {})
    ]
    page = [page for page in pages if "<th>chosen</th>" in page][-1]
    yield "| search | hit rate@5 | MRR@5 | 95 % interval |"
    yield "|---|---|---|---|"
    for line in re.findall(r"<tr>\s*<th>([^<]+)</th>\s*((?:<td>[^<]*</td>\s*)+)</tr>", page):
        hit_rate, mrr, _, low, high, *_, chosen = re.findall(r"<td>([^<]*)</td>", line[1])
        name = f"**{html.unescape(line[0])}** (chosen)" if chosen == "True" else html.unescape(line[0])
        yield f"| {name} | {hit_rate} | {mrr} | {low} to {high} |"


def main():
    wrong = []
    for path, what, lines in [(CARD, "counts", counts()), (utils.ROOT / "README.md", "leaderboard", leaderboard())]:
        begin, end = f"<!-- {what}: written by scripts/data_card.py -->", f"<!-- end of {what} -->"
        old = path.read_text(encoding="utf-8")
        body = "\n".join([begin, *lines, end])
        new = re.sub(f"{re.escape(begin)}.*{re.escape(end)}", lambda _, body=body: body, old, flags=re.DOTALL)
        wrong += [str(path)] if new != old else []
        if "--check" not in sys.argv:
            path.write_text(new, encoding="utf-8")
    if wrong and "--check" in sys.argv:
        sys.exit(f"not what the data and the notebooks give; run python scripts/data_card.py: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
