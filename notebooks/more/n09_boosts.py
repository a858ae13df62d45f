"""Notebooks 09 and 10: weights of a record's fields, and a search with each."""

import pandas as pd

import utils

# The settings that notebooks try. The first of BM25 is its default.
BOOSTS = [
    {"question": question, "text": 1, "section": section}
    for question in (0, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 2, 3)
    for section in (0, 0.1, 0.5, 1)
]


def tune_boosts(index, boosts, development, k=5, by="mrr"):
    """`utils.evaluate` for boosts of a minsearch Index: a row for each, best first.

    The column setting has the boosts. Similarities are computed only once."""
    kept = list(utils.field_similarities(index, development))
    rows = []
    for boost in boosts:
        search = utils.minsearch_search(index, boost, k, kept)
        rows.append({"setting": boost} | utils.evaluate(development, search, k))
    table = pd.DataFrame(rows)
    return table.sort_values(by, ascending=False, kind="stable", ignore_index=True)
