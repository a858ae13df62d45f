"""The program `evaluate-retrieval`, or `python -m evaluate_retrieval`: see `line`."""

import sys

from evaluate_retrieval.line import main

if __name__ == "__main__":
    sys.exit(main())
