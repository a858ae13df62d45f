"""Exit codes, metrics, the default margin, and how packages are added."""

NOT_WORSE, WORSE, UNDECIDED, ERROR = range(4)  # exit codes
TERMINATED = 143  # by SIGTERM or SIGHUP
MARGIN = 0.01  # of the metric: a cheaper search may lose this much, and no more
# in the words of README.md; the extras are those of pyproject.toml
ADD_EXTRA = 'uv tool install ".[{0}]" in the clone, or pip install ".[{0}]"'
