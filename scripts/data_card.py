"""Write the counts of data/README.md and the leaderboards of README.md between their marks, so that
no figure is typed by hand. Called by `make notebooks`; --check only says whether they are right.
"""

import json
import re
import sys

import nbformat
import numpy as np
import pandas as pd
from sklearn.metrics import cohen_kappa_score

import utils

DATA = utils.ROOT / "data"
CARD, README = DATA / "README.md", utils.ROOT / "README.md"


def counts():
    """The measured shape of the data, as lines of Markdown."""
    documents = pd.DataFrame(utils.load_documents(DATA))
    for lines in (records(documents), questions(documents), judged(), essays()):
        yield from lines


def records(frame):
    by_course = ", ".join(f"{course} {n}" for course, n in frame["course"].value_counts().items())
    sections = frame.groupby(["course", "section"]).size()
    yield f"- **Records**: {len(frame):,} ({by_course}) in {len(sections)} sections of {sections.min()} to {sections.max()}."
    words = frame["text"].str.split().str.len()
    quartiles = " / ".join(f"{q:.0f}" for q in np.percentile(words, [5, 25, 50, 75]))
    yield f"- **Answer length** in words: {quartiles} at 5, 25, 50, 75 %, mean {words.mean():.0f}, longest {words.max()}."
    yield f"- **Headings**: {frame['question'].str.split().str.len().mean():.1f} words in the mean."
    shares = {"a line break": "\n", "code": "`", "a link": "http", "a semicolon": ";"}
    shares = {name: frame["text"].str.contains(mark, regex=False) for name, mark in shares.items()}
    shares["I or my"] = frame["text"].str.contains(r"\b(?:I|my|My)\b")
    listed = ", ".join(f"{name} {share.mean():.0%}" for name, share in shares.items())
    yield f"- **Answers with** {listed}."


def questions(frame):
    generated = utils.load_ground_truth(DATA)
    frame = frame.set_index("id").loc[generated["document"]]
    whole = frame["question"] + " " + frame["text"] + " " + frame["section"]
    length = generated["question"].str.split().str.len().mean()
    gate = pd.read_csv(DATA / "gate.csv")["decision"].value_counts()
    openings = generated["question"].str.lower().str.split().str[:2].str.join(" ")
    common = openings.value_counts(normalize=True)
    yes_no = generated["question"].str.match(
        r"(?i)(is|are|do|does|did|can|could|should|would|will|has)\b"
    )
    shared = [
        utils.shared_words(generated["question"], text).mean()
        for text in (whole, frame["question"])
    ]
    yield f"- **Generated questions**: {len(generated):,}, {length:.1f} words in the mean; the gate mended {gate['mend']} and dropped {gate['drop']}."
    yield f"- **Overlap**: {shared[0]:.0%} of a question's content words stand in its record, {shared[1]:.0%} in its heading (mean)."
    yield f"- **Openings**: the commonest is {common.index[0]!r}, {common.iloc[0]:.1%}; {yes_no.mean():.0%} begin like a yes/no question."


def judged():
    table = pd.read_csv(DATA / "judged-queries.csv")
    queries, n_relevant = table.groupby("query_id")["kind"].first(), (table["grade"] > 0)
    n_relevant = n_relevant.groupby(table["query_id"]).sum()
    kinds = ", ".join(f"{kind} {n}" for kind, n in queries.value_counts().sort_index().items())
    passes = table["pass_1"], table["pass_2"]
    kappas = [cohen_kappa_score(*passes, weights=weights) for weights in (None, "linear")]
    either = (passes[0] > 0) | (passes[1] > 0)
    yield f"- **Judged queries**: {len(queries)} ({kinds}), {len(table):,} judgements."
    yield f"- **Relevant records**: none for {(n_relevant == 0).sum()} queries, {n_relevant[n_relevant > 0].mean():.1f} in the mean for the others."
    yield f"- **Two passes of judgement**: κ {kappas[0]:.2f}, linearly weighted {kappas[1]:.2f}; of the {either.sum():,} pairs that either calls relevant, {(passes[0] == passes[1])[either].mean():.0%} have the same grade."


def essays():
    lengths = [len(path.read_text(encoding="utf-8")) for path in (DATA / "essays").glob("*.md")]
    discrete = pd.read_csv(DATA / "discrete-set.csv", keep_default_na=False)
    annotations = pd.read_csv(DATA / "verdict-annotations.csv")
    asked = len(json.loads((DATA / "essay-questions.json").read_text(encoding="utf-8")))
    kappas = (
        cohen_kappa_score(discrete["pass_1"], discrete["pass_2"]),
        cohen_kappa_score(annotations["annotator_1"], annotations["annotator_2"]),
    )
    yield f"- **Essays**: {len(lengths)} of {min(lengths):,} to {max(lengths):,} characters, {asked} questions."
    yield f"- **Discrete set**: {len(discrete)} points, κ between the two passes {kappas[0]:.2f}."
    yield f"- **Fact verdicts**: {len(annotations):,} pairs of fact and context, κ between the two annotators {kappas[1]:.2f}."


def leaderboard():
    """The last leaderboard that the committed notebook 03 displays, as a Markdown table."""
    notebook = nbformat.read(utils.ROOT / "notebooks" / "03-vector-evaluation.ipynb", as_version=4)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pages = [
        output["data"]["text/html"] for output in outputs if "text/html" in output.get("data", {})
    ]
    page = [page for page in pages if "chosen" in page][-1]
    lines = re.findall(r"<tr>\s*<th>([^<]+)</th>\s*((?:<td>[^<]*</td>\s*)+)</tr>", page)
    yield "| search | nDCG@10, judged | 95 % interval | MRR@5, generated | 95 % interval | chosen |"
    yield "|---|---|---|---|---|---|"
    for name, cells in lines:
        ndcg, low, high, mrr, low_mrr, high_mrr, chosen = re.findall(r"<td>([^<]*)</td>", cells)
        intervals = f"{low} to {high}", f"{low_mrr} to {high_mrr}"
        yield f"| {name} | {ndcg} | {intervals[0]} | {mrr} | {intervals[1]} | {chosen} |"


def main():
    wrong = []
    for path, what, lines in [(CARD, "counts", counts()), (README, "leaderboard", leaderboard())]:
        begin, end = f"<!-- {what}: written by scripts/data_card.py -->", f"<!-- end of {what} -->"
        old, body = path.read_text(encoding="utf-8"), "\n".join([begin, *lines, end])
        new = re.sub(
            f"{re.escape(begin)}.*{re.escape(end)}", lambda _, b=body: b, old, flags=re.DOTALL
        )
        wrong += [str(path)] if new != old else []
        if "--check" not in sys.argv:
            path.write_text(new, encoding="utf-8")
    if wrong and "--check" in sys.argv:
        sys.exit(f"not what the data give; run python scripts/data_card.py: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
