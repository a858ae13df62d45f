"""This is a sentence-transformers module for models in ONNX.

models.py puts it beside their files."""

import os
from pathlib import Path

import numpy as np
import torch

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # it is read by the next line
import onnxruntime
from onnxruntime_extensions import get_library_path
from sentence_transformers.base.modules import InputModule
from tokenizers import Tokenizer

INPUTS = {
    "input_ids": "ids",
    "attention_mask": "attention_mask",
    "token_type_ids": "type_ids",
}


class OnnxEncoder(InputModule):
    """Turn each text into the vector of its first token.

    A model with its own tokenizer gives the vector of the text itself."""

    def __init__(self, folder):
        super().__init__()
        options = onnxruntime.SessionOptions()
        options.register_custom_ops_library(get_library_path())
        self.session = onnxruntime.InferenceSession(Path(folder, "model.onnx"), options)
        tokenizer = Path(folder, "tokenizer.json")
        if tokenizer.exists():
            self.tokenizer = Tokenizer.from_file(str(tokenizer))
            self.tokenizer.enable_truncation(512)
            self.tokenizer.enable_padding()

    def preprocess(self, inputs, prompt=None, **_):
        """The texts, with the prompt before them."""
        return {"texts": [(prompt or "") + text for text in inputs]}

    def forward(self, features):
        """Add the vectors, (n_texts, dimension)."""
        texts = features["texts"]
        run = self.session.run
        if hasattr(self, "tokenizer"):
            parts = self.tokenizer.encode_batch(texts)
            given = {
                name: [getattr(part, n) for part in parts] for name, n in INPUTS.items()
            }
            vectors = run(None, given)[0][:, 0]
        else:  # one by one: its integers are scaled over all texts of a call
            vectors = np.vstack([run(None, {"inputs": [text]})[0] for text in texts])
        return {**features, "sentence_embedding": torch.from_numpy(vectors)}

    def get_embedding_dimension(self):
        """The length of a vector."""
        return self.session.get_outputs()[0].shape[-1]

    def save(self, *_, **__):
        """Nothing: the model is where it came from."""

    @classmethod
    def load(cls, model_name_or_path, **_):
        """Read the model from its folder."""
        return cls(model_name_or_path)
