"""The script that notebook 06 writes: it finds what our searches find, without us."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import utils
from course import corpus, embedding, scoring

QUERIES = [("my dag is red", "data-engineering"), ("the", "data-engineering")]
QUERIES += [("cannot log in", "llm-engineering"), ("memory error", "machine-learning")]


ALONE = """
import json, os, runpy, sys
sys.modules["utils"] = sys.modules["course"] = None  # as where they are not installed
os.chdir(sys.argv[2])
search = runpy.run_path(sys.argv[1])["search"]
print(json.dumps([search(*pair) for pair in json.loads(sys.argv[3])]))
"""


@pytest.fixture(scope="module")
def documents():
    return corpus.load_documents()[::10]


@pytest.mark.parametrize(
    ("text", "vectors", "heading"), [(1, 0, 3), (0, 1, 1), (0.3, 0.7, 2)]
)
def test_the_script_alone_returns_the_rankings_of_our_searches(
    documents, text, vectors, heading, tmp_path
):
    embedded = embedding.embed(map(corpus.heading_and_text, documents))
    np.save(tmp_path / "vectors.npy", embedded)
    np.save(tmp_path / "rows.npy", np.arange(len(documents)))
    settings = {"text": text, "vectors": vectors, "heading": heading}
    settings |= {"k1": 1.6, "b": 0.25, "language": "english", "stopwords": "english"}
    settings |= {"model": str(embedding.bundled_model()), "trust_remote_code": False}
    (tmp_path / "settings.json").write_text(json.dumps(settings))
    (tmp_path / "documents.json").write_text(json.dumps(documents))
    script = shutil.copy(corpus.ROOT / "scripts" / "search.py", tmp_path)
    (tmp_path / "empty").mkdir()
    command = [sys.executable, "-I", "-c", ALONE, script, tmp_path / "empty"]
    ran = subprocess.run(
        [*command, json.dumps(QUERIES)], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr

    bm25 = scoring.bm25_scores(documents, k1=1.6, b=0.25, heading=heading)
    parts = [bm25, scoring.vector_scores(embedded, documents)]
    scores = scoring.weighted_sum(parts, [text, vectors]) if vectors else bm25
    above = -np.inf if vectors else 0
    expected = utils.search_by_scores(scores, documents, k=10, above=above)
    queries = pd.DataFrame(QUERIES, columns=["question", "course"])
    found = utils.pad(json.loads(ran.stdout.splitlines()[-1]), 10)
    np.testing.assert_array_equal(found, expected(queries))
