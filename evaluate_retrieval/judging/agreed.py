"""How far people agree who graded the same pairs, and how strict each one is."""

import numpy as np
import pandas as pd

from evaluate_retrieval.measuring.graders import grades_by_person
from evaluate_retrieval.measuring.intervals import draws
from evaluate_retrieval.words.templates import line_of

INTERVAL_ENDS = [0.025, 0.975]  # of an interval
SUMS = ["n", "x", "y", "xx", "yy", "apart"]


def agreement_of(judgements: pd.DataFrame) -> pd.DataFrame:
    """How each person's grades stand to others' for the same pairs: a DataFrame.

    A row for each person, and "" for all. graded: how many pairs of a query and a
    document were graded by somebody else, too; pairs: how many comparisons of two
    people these give, one for each of the others. same: the share with the same grade.
    kappa: Cohen's with squares of the difference as weights, see `kappa_of`; of all it
    takes each two people both ways round. above: by how much the person's grades are
    higher on average. Each with low and high: queries are drawn with replacement, with
    all of their pairs. Empty where no pair has two grades."""
    rows = []
    for query_id, of_query in grades_by_person(judgements, with_settled=True).items():
        for document, by_name in of_query.items():
            rows += [
                (query_id, document, person, x, y)
                for person, x in by_name.items()
                for another, y in by_name.items()
                if person != another
            ]
    names = ["query_id", "document", "person", "x", "y"]
    table = pd.DataFrame(rows, columns=names)
    table["n"] = 1.0
    table["xx"] = table["x"] ** 2
    table["yy"] = table["y"] ** 2
    table["apart"] = (table["x"] - table["y"]) ** 2
    table["same"] = (table["x"] == table["y"]).astype(float)
    figures = {}
    if rows:
        figures[""] = _agreement_figures(table)
        figures[""]["pairs"] //= 2
    for person, part in table.groupby("person"):
        figures[person] = _agreement_figures(part)
    return pd.DataFrame.from_dict(figures, orient="index").rename_axis("person")


def _agreement_figures(part):
    """The figures of a person. part: a row for each pair and each other person."""
    sums = part.groupby("query_id")[[*SUMS, "same"]].sum()
    drawn = draws(len(sums), 1_000) @ sums.to_numpy()  # first all of them, as they are
    n_graded = len(part[["query_id", "document"]].drop_duplicates())
    figures: dict[str, float] = {"graded": n_graded, "pairs": int(drawn[0, 0])}
    for name, of_sums in MEASURES.items():
        values = of_sums(drawn)
        figures[name] = values[0]
        ends = [np.nan, np.nan]
        if len(sums) > 1 and not np.isnan(values).all():
            ends = np.nanquantile(values, INTERVAL_ENDS)
        figures[f"{name}_low"], figures[f"{name}_high"] = ends
    return figures


def kappa_of(sums: np.ndarray) -> np.ndarray:
    """Cohen's κ with squared weights, of sums of n, x, y, x², y² and (x - y)².

    It is 1 minus what the grades differ, in parts of what they would by chance. NaN
    where nobody gave two different grades."""
    n, x, y, xx, yy, apart = sums[:, :6].T
    by_chance = xx / n + yy / n - 2 * (x / n) * (y / n)
    ratio = np.full_like(n, np.nan)
    np.divide(apart / n, by_chance, out=ratio, where=by_chance > 1e-12)
    return 1 - ratio


MEASURES = {
    "same": lambda sums: sums[:, 6] / sums[:, 0],
    "kappa": kappa_of,
    "above": lambda sums: (sums[:, 1] - sums[:, 2]) / sums[:, 0],
}


def agreement_in_words(table: pd.DataFrame) -> str:
    """The figures of `agreement_of` in words; "" where no pair has two grades."""
    if table.empty:
        return ""
    people = table.drop(index="").reset_index().to_dict("records")
    return line_of("agreed.txt.j2", all=table.loc[""], people=people)
