"""A model in ONNX format with its tokenizer, as cross-encoder and sentence transformer share it.

The folder is as exports of sentence-transformers and Optimum have it: `tokenizer.json`, and `model.onnx` there or in
`onnx/`. Nothing is downloaded. onnxruntime, tokenizers and numpy, which it brings, are imported when a model is loaded.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from atlas.core.errors import Unavailable

MODELS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
TOKENIZER = "tokenizer.json"
MAX_TOKENS = 512
"""Of a text, where neither a setting nor the model's files state fewer."""
LEAST_TOKENS = 8
MAX_THREADS = 4


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a model is for, in messages."""

    name: str
    """With its article: "the cross-encoder"."""
    extra: str
    """The extra that installs the libraries."""


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """A loaded model; safe for one thread at a time."""

    purpose: Purpose
    file: Path
    folder: Path
    """Of the tokenizer and the other files that describe the model."""
    session: Any
    tokenizer: Any
    numpy: Any
    inputs: frozenset[str]

    def run(self, encodings: Sequence[Any], output: str | None = None) -> Any:
        """Return an output for these encodings, the first one by default, as an array.

        Raises Unavailable for a model whose inputs are not those of a text.
        """
        length = max(len(each.ids) for each in encodings)
        rows = {
            "input_ids": [each.ids for each in encodings],
            "attention_mask": [each.attention_mask for each in encodings],
            "token_type_ids": [each.type_ids for each in encodings],
        }
        unknown = sorted(self.inputs - rows.keys())
        if unknown:
            raise Unavailable(f"{self.purpose.name} has inputs that are not known: {', '.join(unknown)}")
        arrays = {
            name: self.numpy.array([[*row, *[0] * (length - len(row))] for row in rows[name]], dtype=self.numpy.int64)
            for name in self.inputs
        }
        return self.session.run([output] if output else None, arrays)[0]


def model_file(folder: Path) -> Path | None:
    """Return the model of a folder, or of a file whose tokenizer is in its folder or the parent; None without one."""
    if folder.is_file():
        return folder if _tokenizer_file(folder) is not None else None
    found = next((folder / name for name in MODELS if (folder / name).is_file()), None)
    return found if found is not None and _tokenizer_file(found) is not None else None


def load_model(folder: Path, purpose: Purpose, threads: int) -> OnnxModel:
    """Import the libraries and read a model. Raises Unavailable if that fails."""
    if not folder.exists():
        hint = f"Correct or remove the path in the settings; the folder holds {TOKENIZER} and {MODELS[0]}."
        raise Unavailable(f"{purpose.name} cannot be loaded: no such folder: {folder}", hint)
    try:
        numpy, runtime, tokenizers = (
            cast("Any", importlib.import_module(name)) for name in ("numpy", "onnxruntime", "tokenizers")
        )
    except ImportError as error:
        from atlas.runtime.process.extras import how_to_install

        raise Unavailable(f"{purpose.name} cannot be loaded: {error}", how_to_install(purpose.extra)) from error
    model = model_file(folder)
    tokens = _tokenizer_file(model) if model is not None else None
    if model is None or tokens is None:
        hint = f"It must hold {TOKENIZER} and {MODELS[0]} or {MODELS[1]}."
        raise Unavailable(f"no model for {purpose.name} in {folder}", hint)
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(tokens))
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        session = runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # both libraries raise classes of their own
        raise Unavailable(f"{purpose.name} in {folder} cannot be loaded: {first_line(error)}") from error
    inputs = frozenset(each.name for each in session.get_inputs())
    return OnnxModel(purpose, model, tokens.parent, session, tokenizer, numpy, inputs)


def limit_tokens(model: OnnxModel, most: int = MAX_TOKENS, file: str = "", key: str = "") -> int:
    """Have the tokenizer cut texts at the least of `most` and what the model's files say; return that number.

    `file` and `key` name a further limit besides those of the tokenizer and its configuration.
    """
    truncation: Any = model.tokenizer.truncation
    stated = [
        truncation["max_length"] if truncation else None,
        described(model.folder / "tokenizer_config.json").get("model_max_length"),
        described(model.folder / file).get(key) if file else None,
    ]
    numbers = (int(each) for each in stated if isinstance(each, int | float) and LEAST_TOKENS <= each < most)
    limit = min(numbers, default=most)
    model.tokenizer.enable_truncation(limit, strategy="longest_first")
    model.tokenizer.no_padding()
    return limit


def described(file: Path) -> dict[str, object]:
    """Return what a file that describes a model says; nothing for a file that is not there or is no JSON object."""
    try:
        read = cast("object", json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}
    return cast("dict[str, object]", read) if isinstance(read, dict) else {}


def first_line(error: Exception) -> str:
    """Return the first line of an error of a library."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:300]


def _tokenizer_file(model: Path) -> Path | None:
    places = (model.parent / TOKENIZER, model.parent.parent / TOKENIZER)
    return next((place for place in places if place.is_file()), None)
