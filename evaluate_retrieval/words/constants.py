"""Exit codes, metrics, the default margin, and how packages are added."""

NOT_WORSE, WORSE, UNDECIDED, ERROR = range(4)  # exit codes
TERMINATED = 143  # by SIGTERM
MARGIN = 0.01  # of the metric: a cheaper search may lose this much, and no more
LEFT_OUT = (
    "Queries without a relevant document are left out, as trec_eval does "
    "(--only-answered)."
)
# in the words of README.md; the extras are those of pyproject.toml
ADD_EXTRA = 'uv tool install ".[{0}]" in the clone, or pip install ".[{0}]"'
