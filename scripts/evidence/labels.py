"""How often labels that outlive an edit are right, and how many are found again.

Real edits: a documentation at three dates. Rules were found on the first two, and tried
on the last two. What a sample of decisions was worth is in labels-read.csv, by ids.
Made edits: our FAQ and two collections, aged by the rules of scripts/aging.py.
python scripts/evidence/labels.py --edits FOLDER prints the tables of
docs/evidence/labels.md, which says how the files of FOLDER are made."""

import sys
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from course import our_data
from evaluate_retrieval import utils
from evaluate_retrieval.judging import judged_texts, labels
from evaluate_retrieval.reading import folder, places
from evaluate_retrieval.searching import scoring

sys.path.append(str(places.ROOT / "scripts"))  # so that aging and evidence are found
import aging
from evidence import simulated

READ = Path(__file__).with_name("labels-read.csv")
EDITIONS = ["2022-06", "2024-12", "2026-08"]
EDITS = places.CACHE / "collections" / "edits"
COLLECTIONS = ["stackfaq", "liveqa"]
CARRIED = ["same text", "same words", "carried"]
FATES = [*CARRIED, "asked", "gone"]
DRAWS = 2_000
NDCG = "nDCG@10 of BM25 with stems: by id, by text, carried over, all"


# --- Real edits --------------------------------------------------------------


def edition(path):
    """The documents of an edition, once for each id."""
    table = pd.read_json(path, lines=True, dtype=False).drop_duplicates("id")
    table = table.rename(columns={"title": "question"})[["id", "question", "text"]]
    return table.assign(section="", course="all").to_dict("records")


def both_editions(folder_of_editions, name, following):
    """The documents of an edition, and those of the following one."""
    paths = [folder_of_editions / f"{each}.jsonl" for each in (name, following)]
    return list(map(edition, paths))


def pairs_of_editions():
    """The names of an edition and of the following one."""
    return pairwise(EDITIONS)


def fates(before, after, grade):
    """What becomes of a label on each document: a DataFrame with fate, of FATES.

    same text: title and text are what they were. same words: but for Markdown and
    passing words. carried: to another text. asked: of a person. gone: none is like
    it."""
    ids = [document["id"] for document in before]
    judged = pd.DataFrame({"query_id": ids, "document": ids, "grade": grade})
    table = labels.followed(judged, judged_texts.texts_of(before, judged), after)
    written = {(each["question"], each["text"]) for each in after}
    is_written = np.array(
        [(each["question"], each["text"]) in written for each in before]
    )
    is_same = table["outcome"].isin(labels.SAFE)
    fate = table["is_safe"].map({True: "carried", False: "asked"})
    fate = fate.mask(table["outcome"] == "gone", "gone").mask(is_same, "same words")
    return table.assign(fate=fate.mask(is_same & is_written, "same text"))


def lowest(n_right, n):
    """The lower end of the 95 % interval of a share, by Clopper and Pearson."""
    return stats.beta.ppf(0.025, n_right, n - n_right + 1) if n_right else 0.0


def real_edits(folder_of_editions, name, following):
    """The figures of two editions: a dict of lines of the table.

    What keeps its meaning is counted in the sample that was read, and put on all
    documents of the same fate."""
    before, after = both_editions(folder_of_editions, name, following)
    read = pd.read_csv(READ, dtype={"edition": str}).query("edition == @name")
    tables = {grade: fates(before, after, grade) for grade in (1, 0)}
    counts = tables[1]["fate"].value_counts().reindex(FATES, fill_value=0)
    is_yes = read["keeps"] == "yes"
    relevant = read["grade"] == 1
    is_carried = read["fate"].isin(CARRIED)
    share = is_yes[relevant].groupby(read["fate"]).mean().reindex(FATES)
    kept = share * counts
    changed = kept.drop("same text")
    is_other = is_carried & ~relevant
    again = kept[CARRIED].sum() / kept.sum()
    again_changed = changed[CARRIED[1:]].sum() / changed.sum()
    return {
        "documents before, after": f"{len(before):,}, {len(after):,}",
        "carried over, relevant": f"{counts[CARRIED].sum():,}",
        **{f"of all: {fate}": f"{counts[fate]:,}" for fate in FATES},
        "carried over, not relevant": f"{tables[0]['is_safe'].sum():,}",
        "decisions that were read": f"{len(read)}",
        "right, of those carried over: relevant": right_of(
            is_yes[is_carried & relevant]
        ),
        "right: not relevant": right_of(is_yes[is_other]),
        "found again, of what keeps its meaning": f"{again:.2f}",
        "of what keeps it though its text changed": f"{again_changed:.2f}",
    }


# --- Made edits --------------------------------------------------------------


def made_edits(data, seed=1):
    """The figures of a folder that is aged by rules: a dict of lines of the table.

    A label is right if its text keeps the meaning by its rule, and is where it went.
    Shares are of documents."""
    before, after, truth = aging.aged(data.documents, seed)
    texts = judged_texts.texts_of(before, data.judgements)
    table = labels.followed(data.judgements, texts, after, data.language)
    rules, became = zip(*table["document"].map(truth), strict=True)
    pairs = zip(table["becomes"], became, strict=True)
    is_there = np.array([{*ids} <= {*true} != set() for ids, true in pairs])
    figures = {
        "documents, labels": f"{len(before):,}, {len(table):,}",
        "carried over": f"{table['is_safe'].sum():,}",
    }
    for name, of_kind, kept in [
        ("relevant", table["grade"] > 0, aging.KEEPS_RELEVANT),
        ("not relevant", table["grade"] == 0, aging.KEEPS_IRRELEVANT),
    ]:
        keeps = np.isin(rules, kept)
        rows = table.assign(keeps=keeps, right=keeps & is_there)[of_kind]
        rows = rows.groupby("document")[["is_safe", "keeps", "right"]].first()
        figures[f"right: {name}"] = right_of(rows["right"][rows["is_safe"]])
        is_again = (rows["right"] & rows["is_safe"])[rows["keeps"]]
        figures[f"found again: {name}"] = share_of(is_again)
    values = ndcgs(data, after, table.assign(truth=became))
    return figures | {NDCG: ", ".join(f"{value:.3f}" for value in values)}


def ndcgs(data, after, table):
    """The mean nDCG@10 of one ranking of today's documents, by each way to go on.

    table: of `labels.followed`, with truth, the ids that each document became."""
    is_same = table["outcome"].isin(labels.SAFE)
    ids = {document["id"] for document in after}
    ways = {
        "by id": table[table["document"].isin(ids)].assign(becomes=table["document"]),
        "by text": table[is_same].explode("becomes"),
        "carried over": table[table["is_safe"]].explode("becomes"),
        "all": table.assign(becomes=table["truth"]).explode("becomes"),
    }
    best = data.judgements.groupby("query_id")["grade"].max()
    queries = data.judgements.drop_duplicates("query_id")
    queries = queries.rename(columns={"query": "question"})
    queries = queries[queries["query_id"].map(best) > 0].drop(columns="document")
    queries = queries.reset_index(drop=True)
    scores = scoring.bm25_scores(after)
    search = utils.search_by_scores(scores, after, k=10, above=0)
    with warnings.catch_warnings(action="ignore"):  # some queries share no word
        rankings = utils.run_search(queries, search, 10)
    for rows in ways.values():
        of_query = rows.dropna(subset="becomes").groupby("query_id")
        qrels = {
            id_: dict(zip(part["becomes"], part["grade"], strict=True))
            for id_, part in of_query
        }
        judged = [qrels.get(id_, {"none": 0}) for id_ in queries["query_id"]]
        yield utils.score(queries.assign(document=judged), rankings)["ndcg"].mean()


def right_of(is_right):
    """How many are right, with the 95 % interval; – of none."""
    n = len(is_right)
    n_right = sum(is_right)
    if not n:
        return "–"
    high = 1 - lowest(n - n_right, n)
    return f"{n_right} of {n} ({lowest(n_right, n):.3f} to {high:.3f})"


def share_of(is_again):
    """A share of documents, with its bootstrap interval; – of none."""
    n = len(is_again)
    if not n:
        return "–"
    rng = np.random.default_rng(1)
    means = rng.binomial(n, is_again.mean(), DRAWS) / n
    low, high = np.percentile(means, [2.5, 97.5])
    return f"{is_again.mean():.3f} ({low:.3f} to {high:.3f})"


# --- In print ----------------------------------------------------------------


def as_markdown(columns):
    """Columns of figures, by title, as a table in Markdown."""
    table = pd.DataFrame(columns)
    lines = [f"| | {' | '.join(table)} |", "|---" * (len(table.columns) + 1) + "|"]
    for name, row in table.iterrows():
        lines.append(f"| {name} | {' | '.join(row.fillna('–'))} |")
    return "\n".join(lines)


def main():
    parser = simulated.parser(__doc__)
    parser.add_argument("--edits", type=Path, default=EDITS, help="the three editions")
    options = parser.parse_args()
    paths = {name: options.collections / name for name in COLLECTIONS}
    paths = {name: path for name, path in paths.items() if path.exists()}
    for name in {*COLLECTIONS} - {*paths}:
        print(f"no {name} in {options.collections}: run `make collections` first")
    with warnings.catch_warnings(action="ignore"):  # the command says them
        made = {
            name: made_edits(folder.read(path))
            for name, path in {"our FAQ": our_data.FOLDER, **paths}.items()
        }
    print(f"**made edits**\n\n{as_markdown(made)}\n")
    if options.edits.exists():
        real = {
            f"{name} to {following}": real_edits(options.edits, name, following)
            for name, following in pairs_of_editions()
        }
        print(f"**real edits**\n\n{as_markdown(real)}")
    else:
        print(f"no editions in {options.edits}: docs/evidence/labels.md says which")


if __name__ == "__main__":
    sys.exit(main())
