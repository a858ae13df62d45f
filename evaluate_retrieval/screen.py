"""Exit codes, the default margin, and texts for a terminal.

Only the standard library is imported here: `--help` need not wait for pandas."""

import itertools
import unicodedata

NOT_WORSE, WORSE, UNDECIDED, ERROR = range(4)  # exit codes
METRICS = {  # and how they are called
    "ndcg": "nDCG",
    "recall": "recall",
    "precision": "precision",
    "mrr": "MRR",
    "hit_rate": "hit rate",
}
MARGIN = 0.01  # of the metric: a cheaper search may lose this much, and no more


def printable(text):
    """A text for a terminal: without control characters, such as escape sequences."""
    kept = (char in "\n\t" or unicodedata.category(char) != "Cc" for char in text)
    return "".join(itertools.compress(text, kept))
