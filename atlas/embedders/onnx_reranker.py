"""A cross-encoder in this process: a model in ONNX format with its tokenizer, run by onnxruntime (extra `rerank`).

The folder is as exports of sentence-transformers and Optimum have it: `tokenizer.json`, and `model.onnx` there or in
`onnx/`. Nothing is downloaded. The libraries are imported at the first question.
"""

from __future__ import annotations

import importlib
import json
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from atlas.errors import Unavailable
from atlas.threads import in_thread

MODELS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
TOKENIZER = "tokenizer.json"
BATCH = 8
"""Texts of one run, of similar length: padding costs as much as text."""
MAX_TOKENS = 512
"""Of a pair, where the tokenizer states no limit; the longer one, which is the text, is cut."""
LEAST_TOKENS = 8
MAX_THREADS = 4
INSTALL = "Install it: pip install 'code-atlas[rerank]'"


@dataclass(frozen=True, slots=True)
class _Loaded:
    session: Any
    tokenizer: Any
    numpy: Any
    inputs: frozenset[str]


def model_file(folder: Path) -> Path | None:
    """Return the model of a folder, or of a file whose tokenizer is in its folder or the parent; None without one."""
    if folder.is_file():
        return folder if _tokenizer_file(folder) is not None else None
    found = next((folder / name for name in MODELS if (folder / name).is_file()), None)
    return found if found is not None and _tokenizer_file(found) is not None else None


class OnnxReranker:
    """`atlas.search.packs.values.Reranker` over a model on this machine. Close it with `aclose`."""

    def __init__(self, folder: Path) -> None:
        """Name the folder or file of the model; it is read at the first question."""
        self._folder = folder
        self._loaded: _Loaded | None = None
        self._lock = threading.Lock()

    async def rerank(self, question: str, texts: list[str]) -> list[float]:
        """Return one score per text, in order; higher is better.

        Raises Unavailable if the libraries or the model cannot be loaded, or the model does not score pairs.
        """
        return await in_thread(self._scores, question, texts) if texts else []

    async def aclose(self) -> None:
        """Release the model; idempotent."""
        self._loaded = None

    def _scores(self, question: str, texts: list[str]) -> list[float]:
        with self._lock:
            loaded = self._loaded = self._loaded or _load(self._folder)
            try:
                pairs = loaded.tokenizer.encode_batch([(question, text) for text in texts])
                scores: dict[int, float] = {}
                order = sorted(range(len(texts)), key=lambda at: len(pairs[at].ids))
                for start in range(0, len(order), BATCH):
                    part = order[start : start + BATCH]
                    scores.update(zip(part, _run(loaded, [pairs[at] for at in part]), strict=True))
            except Unavailable:
                raise
            except Exception as error:  # onnxruntime raises classes of its own, without a common base
                raise Unavailable(f"the cross-encoder in {self._folder} failed: {_first_line(error)}") from error
        return [scores[at] for at in range(len(texts))]


def _load(folder: Path) -> _Loaded:
    try:
        numpy, runtime, tokenizers = (
            cast("Any", importlib.import_module(name)) for name in ("numpy", "onnxruntime", "tokenizers")
        )
    except ImportError as error:
        raise Unavailable(f"the cross-encoder cannot be loaded: {error}", INSTALL) from error
    model = model_file(folder)
    tokens = _tokenizer_file(model) if model is not None else None
    if model is None or tokens is None:
        hint = f"It must hold {TOKENIZER} and {MODELS[0]} or {MODELS[1]}."
        raise Unavailable(f"no cross-encoder in {folder}", hint)
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(tokens))
        tokenizer.enable_truncation(_max_tokens(tokens.parent, tokenizer), strategy="longest_first")
        tokenizer.no_padding()
        options = runtime.SessionOptions()
        options.intra_op_num_threads = min(os.cpu_count() or 1, MAX_THREADS)
        options.log_severity_level = 3
        session = runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # both libraries raise classes of their own
        raise Unavailable(f"the cross-encoder in {folder} cannot be loaded: {_first_line(error)}") from error
    return _Loaded(session, tokenizer, numpy, frozenset(each.name for each in session.get_inputs()))


def _run(loaded: _Loaded, pairs: list[Any]) -> list[float]:
    """Return the scores of pairs. A model with one output says how well they match, one with two whether they do."""
    length = max(len(pair.ids) for pair in pairs)
    rows = {
        "input_ids": [pair.ids for pair in pairs],
        "attention_mask": [pair.attention_mask for pair in pairs],
        "token_type_ids": [pair.type_ids for pair in pairs],
    }
    unknown = sorted(loaded.inputs - rows.keys())
    if unknown:
        raise Unavailable(f"the cross-encoder has inputs that are not known: {', '.join(unknown)}")
    arrays = {
        name: loaded.numpy.array([[*row, *[0] * (length - len(row))] for row in rows[name]], dtype=loaded.numpy.int64)
        for name in loaded.inputs
    }
    found = loaded.session.run(None, arrays)[0]
    shape = tuple(found.shape)
    if shape == (len(pairs), 2):
        scores = [float(row[1]) - float(row[0]) for row in found]
    elif shape in ((len(pairs), 1), (len(pairs),)):
        scores = [float(row) for row in found.reshape(-1)]
    else:
        raise Unavailable(f"the model scores no pairs: its output has the shape {shape}")
    if any(score != score for score in scores):
        raise Unavailable("the cross-encoder gave a score that is no number")
    return scores


def _tokenizer_file(model: Path) -> Path | None:
    places = (model.parent / TOKENIZER, model.parent.parent / TOKENIZER)
    return next((place for place in places if place.is_file()), None)


def _max_tokens(folder: Path, tokenizer: Any) -> int:
    """Return the limit that the tokenizer or its configuration states, at most `MAX_TOKENS`."""
    limits = [MAX_TOKENS]
    truncation: Any = tokenizer.truncation
    stated: list[object] = [truncation["max_length"]] if truncation else []
    try:
        read = cast("object", json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8")))
        stated += [cast("dict[str, object]", read).get("model_max_length")] if isinstance(read, dict) else []
    except (OSError, ValueError):
        pass
    limits += [int(each) for each in stated if isinstance(each, int | float) and LEAST_TOKENS <= each <= MAX_TOKENS]
    return min(limits)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:300]
