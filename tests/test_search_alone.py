"""The script that notebook 05 writes: it finds what our searches find, without us."""

import json
import runpy
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import utils
from course import corpus, embedding, scoring
from evaluate_retrieval import built_in, run

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
    script = shutil.copy(corpus.ROOT / "course" / "alone" / "search.py", tmp_path)
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


ADDED = """
import json, runpy, sys
sys.modules["utils"] = sys.modules["course"] = None
script = runpy.run_path(sys.argv[1])
script["add"](json.loads(sys.argv[2]))
print(json.dumps(script["search"](*json.loads(sys.argv[3]))))
"""


def in_isolation(*command):
    return subprocess.run(
        [sys.executable, "-I", *map(str, command)], capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def long(documents):
    """Records of which every third is long, so that its text is cut."""
    words = 3 * " ".join(one["text"] for one in documents).split()
    texts = [" ".join(words[n : n + 330]) for n in range(0, 9_000, 300)]
    return [
        {**one, "text": text if n % 3 == 0 else one["text"]}
        for n, (one, text) in enumerate(zip(documents, texts, strict=False))
    ]


@pytest.mark.parametrize("setting", [{"text": 1}, built_in.SAFE, {"vectors": 1}])
def test_documents_that_are_added_are_found_as_if_they_had_always_been_there(
    setting, long, tmp_path
):
    name = "vectors: chunks" if setting.get("vectors") else "vectors"
    setting = setting | {"embedded": name}
    whole, before = built_in.embed_all(long), built_in.embed_all(long[:-5])
    assert list(whole) == list(before) == ["vectors", "vectors: chunks"]
    run.write_search(tmp_path, long[:-5], setting, before)
    new = [{**one, "section": one["section"] or None} for one in long[-5:]]
    asked = [long[-1]["text"], long[-1]["course"]]
    ran = in_isolation(
        "-c", ADDED, tmp_path / "search.py", *map(json.dumps, [new, asked])
    )
    assert ran.returncode == 0, ran.stderr
    scores = built_in.builder(long, whole)(setting)
    search = built_in.search_of(long, scores, setting)
    queries = pd.DataFrame([asked], columns=["question", "course"])
    in_it = json.loads(ran.stdout.splitlines()[-1])
    for found in in_it, [*filter(None, search(queries)[0])]:
        assert found[0] == long[-1]["id"]
    assert in_it == [*filter(None, search(queries)[0])]
    assert json.loads((tmp_path / "documents.json").read_text()) == long
    assert run.same_alone(tmp_path, search, queries).all()  # also from the files
    assert (tmp_path / "vectors.npy").exists() == bool(setting.get("vectors"))
    if setting.get("vectors"):
        values, rows = (np.load(tmp_path / f"{of}.npy") for of in ("vectors", "rows"))
        assert rows.tolist() == whole[name].rows.tolist()
        assert values.dtype == np.float32
        np.testing.assert_allclose(values, whole[name].values, atol=1e-5)


@pytest.fixture(scope="module")
def text_folder(documents, tmp_path_factory):
    """A folder with a search of text, of all courses."""
    folder = tmp_path_factory.mktemp("text")
    one = {"vectors": built_in.Vectors(np.eye(1), [0], None)}
    run.write_search(folder, documents, {"text": 1}, one)
    return folder


def test_a_course_that_there_is_not_is_an_error_that_names_those_there_are(
    documents, text_folder, tmp_path
):
    script = text_folder / "search.py"
    ran = in_isolation(script, "my dag is red", "data-engineering")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout
    for course in ("dataeng", "", "all"):
        ran = in_isolation(script, "my dag is red", course)
        assert ran.returncode == 1
        names = ", ".join(sorted({repr(one["course"]) for one in documents}))
        said = f"error: no document is of the course {course!r}; the courses are "
        assert ran.stderr == f"{said}{names}\n"
    with pytest.raises(ValueError, match="of the course 'dataeng'; the courses are"):
        runpy.run_path(str(script))["search"]("my dag is red", "dataeng")
    one_course = [{**one, "course": "all"} for one in documents]
    vectors = {"vectors": built_in.Vectors(np.eye(1), [0], None)}
    run.write_search(tmp_path, one_course, {"text": 1}, vectors)
    search = runpy.run_path(str(tmp_path / "search.py"))["search"]
    found = search("my dag is red", "all")
    assert found
    assert found == search("my dag is red") == search("my dag is red", "")


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ({"id": "x"}, "documents have to be a list"),
        ([], "a list, and not an empty one"),
        (["a text"], "document 0 is no dict: a text"),
        ([{"id": "x", "text": "y"}], "no document is of the course ''; the courses"),
        ([{"id": 7, "text": "y", "course": "c"}], "document 0: its id is 7, no text"),
        ([{"id": "x", "course": "c"}], "document 0: its text is '', no text"),
        ([{"id": "x", "text": "y", "course": "c"}] * 2, "1: the id 'x' is there"),
    ],
)
def test_documents_that_cannot_be_added_are_one_line_and_none_is_added(
    new, said, text_folder, tmp_path
):
    before = (text_folder / "documents.json").read_bytes()
    (tmp_path / "new.json").write_text(json.dumps(new))
    ran = in_isolation(text_folder / "search.py", "--add", tmp_path / "new.json")
    assert ran.returncode == 1
    assert ran.stderr.startswith("error: ")
    assert said in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert (text_folder / "documents.json").read_bytes() == before


def test_a_script_that_cannot_cut_texts_as_its_vectors_were_says_so(long, tmp_path):
    embedded = built_in.embed_all(long)
    setting = {"vectors": 1, "embedded": "vectors: chunks"}
    run.write_search(tmp_path, long, setting, embedded)
    path = tmp_path / "settings.json"
    settings = json.loads(path.read_text())
    assert settings.pop("chunks") == built_in.CUT
    path.write_text(json.dumps(settings))
    add = runpy.run_path(str(tmp_path / "search.py"))["add"]
    new = [{"id": "x", "text": "y", "course": long[0]["course"]}]
    with pytest.raises(ValueError, match=r"cut, and settings\.json does not say how"):
        add(new)
    assert (
        np.load(tmp_path / "rows.npy").tolist()
        == embedded[setting["embedded"]].rows.tolist()
    )
