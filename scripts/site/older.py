"""What the older Pyodide of `browser.py --offline` lacks; its wheel alone has this.

scipy before 1.15 calls the generator of random numbers by another name."""

from functools import wraps

from scipy import stats


def with_rng(function):
    """The same function, which takes its generator as rng."""

    @wraps(function)
    def called(*args, rng=None, **options):
        return function(*args, random_state=rng, **options)

    return called


for name in ("bootstrap", "permutation_test"):
    setattr(stats, name, with_rng(getattr(stats, name)))
