"""What the course needs of a browser; `browser.py` puts it into its wheel, as a module.

No thread starts there, and a lock is a file. The older Pyodide of `--offline` has
scipy 1.14, which calls a generator of random numbers by another name."""

import logging
import warnings

import numpy as np
import tqdm
from scipy import __version__, stats

from evaluate_retrieval.searching import embedding


def with_rng(function):
    """The same function, which takes its generator as rng."""

    def called(*args, rng=None, **options):
        return function(*args, random_state=rng, **options)

    return called


async def make_vector(text):
    """Encode a text here: from then on `embed` knows it. The first one fetches 37 MB.

    The model is in 8 bits: the cosine of a text's two vectors is about 0.99."""
    import js
    from pyodide.code import run_js

    site = js.location.href.split("/extensions/")[0]
    module = await run_js(f"import('{site}/model/vectors.mjs')")
    vector = (await module.vectorOf(text)).to_py()
    vectors, _ = embedding._made_before()
    vectors[embedding.short_key(text)] = np.asarray(vector, np.float32)


tqdm.tqdm.monitor_interval = 0
logging.getLogger("matplotlib.font_manager").setLevel("ERROR")
warnings.filterwarnings("ignore", "only soft file lock")
if __version__.startswith("1.14."):
    for name in ("bootstrap", "permutation_test"):
        setattr(stats, name, with_rng(getattr(stats, name)))
