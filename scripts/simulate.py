"""How often does the decision ship a search that is worse, or one that is better?

An incumbent and four candidates, with the spread by query of our typed queries: needs
are drawn with replacement, each candidate's gains are centred, and the true difference
is added to all four. Prints, for each number of queries and each true difference, the
share of draws in which a candidate is shipped. It takes about ten minutes."""

import claims
import machine
import numpy as np
import pandas as pd
from tqdm import tqdm

from evaluate_retrieval import decision

INCUMBENT = "BM25, stems"
CANDIDATES = ["vectors", "sum, 0.5", "RRF, 60", "mpnet"]
QUERIES = [20, 50, 200]
DIFFERENCES = [-0.1, -0.02, 0.0, 0.02, 0.1]
DRAWS = 400


def drawn(values, n, rng):
    """The values of about n queries, whole needs drawn; and a label for each draw."""
    needs = [*values.groupby(level=0).indices.values()]
    rows, labels = [], []
    while len(rows) < n:
        need = needs[rng.integers(len(needs))]
        labels += [len(labels)] * len(need)
        rows += [*need]
    return values.iloc[rows[:n]].reset_index(drop=True), labels[:n]


def shipped(values, n, difference, rng):
    """Whether a candidate is shipped in one draw."""
    some, labels = drawn(values, n, rng)
    searches = {INCUMBENT: some[INCUMBENT].to_numpy()}
    for name in CANDIDATES:
        gain = some[name] - some[INCUMBENT]
        truth = (values[name] - values[INCUMBENT]).mean()
        searches[name] = (some[INCUMBENT] + gain - truth + difference).to_numpy()
    found = decision.decide(INCUMBENT, searches, labels)
    return found.verdict == "ship"


def main():
    """Print the table."""
    values = claims.recorded("ours")
    rows = []
    pairs = [(n, difference) for n in QUERIES for difference in DIFFERENCES]
    for n, difference in tqdm(pairs):
        rng = np.random.default_rng(1)
        share = np.mean([shipped(values, n, difference, rng) for _ in range(DRAWS)])
        error = np.sqrt(share * (1 - share) / DRAWS)
        rows.append((n, difference, share, error))
    columns = ["queries", "true difference", "shipped", "standard error"]
    print(pd.DataFrame(rows, columns=columns).round(3).to_string(index=False))


if __name__ == "__main__":
    machine.parser(__doc__).parse_args()
    main()
