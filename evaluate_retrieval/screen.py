"""Exit codes, the default margin, and texts that can be shown.

Only the standard library is imported here: `--help` need not wait for pandas."""

import re

NOT_WORSE, WORSE, UNDECIDED, ERROR = range(4)  # exit codes
TERMINATED = 143  # by SIGTERM
METRICS = {  # and how they are called
    "ndcg": "nDCG",
    "recall": "recall",
    "precision": "precision",
    "mrr": "MRR",
    "hit_rate": "hit rate",
}
MARGIN = 0.01  # of the metric: a cheaper search may lose this much, and no more

SECRETS = re.compile(
    r"(https?:/+|//)[^/\s:@]*(?::\S*)?(?=@)"  # of an address, or of it as a path
    r"|(bearer\s"
    r"|(?:key|token|passw\w*|pwd|secret)\s?=\s?"
    r"|(?:api.?key|passw\w*|secret|authorization|token[\"'])[\"'\\]*\s?[:=]\s?"
    r"(?:(?:bearer|basic|apikey)\s)?+)"
    r"(?!…)(?:\\?\"[^\"]*\"|'[^']*'|\S+)",
    re.IGNORECASE,
)


def without_secrets(text):
    """A text without its passwords, keys and tokens, and users of addresses."""
    return SECRETS.sub(r"\1\2…", text)


def printable(text):
    """A text for a terminal: without control characters, such as escape sequences."""
    return re.sub(r"[\0-\x08\x0b-\x1f\x7f-\x9f]", "", text)
