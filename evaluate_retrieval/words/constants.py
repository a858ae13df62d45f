"""Exit codes, the default margin, what a verdict asks for, how packages are added."""

NOT_WORSE, WORSE, UNDECIDED, ERROR, FORBIDDEN = range(5)  # exit codes
TERMINATED = 143  # by SIGTERM or SIGHUP
MARGIN = 0.01  # of the metric: a cheaper search may lose this much, and no more
LARGE = 0.5  # of the metric: a query that loses more has lost most of what it had
SURE = 0.02  # how often the bound on the share of such queries is wrong
FEW = 50  # queries; fewer decide nothing, and nothing is tuned on them
# A search is shipped below this p. One judges more, and looks again: eight looks at it
# ship a search without gain in 2.5 % of cases, see docs/reference/rules.md
LEVEL = 0.01
UNITS = {"generated": "documents", "judged": "needs"}  # what an interval draws
LEFT_OUT = (
    "Queries without a relevant document are left out, as trec_eval does "
    "(--only-answered)."
)
# in the words of README.md; the extras are those of pyproject.toml
ADD_EXTRA = 'uv tool install ".[{0}]" in the clone, or pip install ".[{0}]"'
