"""Write the counts of data/README.md between its two marks, so that no figure there is typed by hand. Called by `make notebooks`."""

import json
import re
import sys

import numpy as np
import pandas as pd
from sklearn.metrics import cohen_kappa_score

import utils

CARD = utils.ROOT / "data" / "README.md"
BEGIN, END = "<!-- counts: written by scripts/data_card.py -->", "<!-- end of counts -->"


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
    yield f"- **Headings**: {frame['question'].str.split().str.len().mean():.1f} words in the mean; {(headings > 1).sum()} stand, word for word, in two or three courses."
    yield f"- **With a command, code, a path or an error message**: {frame['text'].str.contains('`').mean():.0%}."


def questions(frame, ground_truth):
    words = {row.id: utils.content_words(f"{row.question} {row.text} {row.section}") for row in frame.itertuples()}
    asked = ground_truth["question"].map(utils.content_words)
    overlap = [len(q & words[d]) / max(1, len(q)) for q, d in zip(asked, ground_truth["document"], strict=True)]
    openings = ground_truth["question"].str.lower().str.split().str[:2].str.join(" ").value_counts(normalize=True)
    yield f"- **Generated questions**: {len(ground_truth):,}, five a record; {ground_truth['question'].str.split().str.len().mean():.1f} words in the mean."
    yield f"- **Overlap**: {np.mean(overlap):.0%} of a question's content words stand in its record (mean)."
    yield f"- **Openings**: the commonest two words are {openings.index[0]!r}, in {openings.iloc[0]:.1%} of the questions."


def judged():
    table = pd.read_csv(CARD.parent / "judged-queries.csv")
    relevant = table[table["grade"] > 0].groupby("query_id").size()
    kinds = ", ".join(f"{kind} {n}" for kind, n in table.drop_duplicates("query_id")["kind"].value_counts().sort_index().items())
    kappa = cohen_kappa_score(table["pass_1"], table["pass_2"])
    weighted = cohen_kappa_score(table["pass_1"], table["pass_2"], weights="linear")
    n = table["query_id"].nunique()
    yield f"- **Judged queries**: {n} ({kinds}), {len(table):,} judgements; {n - len(relevant)} queries without a relevant record, {relevant.mean():.1f} relevant records for the others."
    yield f"- **Two passes of judgement**: equal on {(table['pass_1'] == table['pass_2']).mean():.1%}; Cohen's κ {kappa:.2f}, linearly weighted {weighted:.2f}."


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


def main():
    card = CARD.read_text(encoding="utf-8")
    body = f"{BEGIN}\n" + "\n".join(counts()) + f"\n{END}"
    new = re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: body, card, flags=re.DOTALL)
    if "--check" in sys.argv:
        sys.exit(0 if new == card else f"{CARD}: the counts are not those of the data; run python scripts/data_card.py")
    CARD.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
