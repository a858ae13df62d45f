"""What the course needs of a browser; `browser.py` puts it into its wheel, as a module.

No thread starts there, and a lock is a file. The older Pyodide of `--offline` has
scipy 1.14, which calls a generator of random numbers by another name."""

import logging
import warnings

import tqdm
from scipy import __version__, stats


def with_rng(function):
    """The same function, which takes its generator as rng."""

    def called(*args, rng=None, **options):
        return function(*args, random_state=rng, **options)

    return called


tqdm.tqdm.monitor_interval = 0
logging.getLogger("matplotlib.font_manager").setLevel("ERROR")
warnings.filterwarnings("ignore", "only soft file lock")
if __version__.startswith("1.14."):
    for name in ("bootstrap", "permutation_test"):
        setattr(stats, name, with_rng(getattr(stats, name)))
