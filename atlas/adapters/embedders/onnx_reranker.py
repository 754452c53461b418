"""A cross-encoder in this process: a model in ONNX format with its tokenizer, run by onnxruntime (extra `rerank`)."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from atlas.adapters.embedders.onnx_model import MAX_THREADS, OnnxModel, Purpose, first_line, limit_tokens, load_model
from atlas.core.errors import Unavailable
from atlas.core.threads import in_thread

BATCH = 8
"""Texts of one run, of similar length: padding costs as much as text."""
PURPOSE = Purpose("the cross-encoder", "rerank")


class OnnxReranker:
    """`atlas.packs.questions.values.Reranker` over a model on this machine. Close it with `aclose`."""

    def __init__(self, folder: Path) -> None:
        """Name the folder or file of the model; it is read at the first question."""
        self._folder = folder
        self._loaded: OnnxModel | None = None
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
                raise Unavailable(f"the cross-encoder in {self._folder} failed: {first_line(error)}") from error
        return [scores[at] for at in range(len(texts))]


def _load(folder: Path) -> OnnxModel:
    loaded = load_model(folder, PURPOSE, min(os.cpu_count() or 1, MAX_THREADS))
    limit_tokens(loaded)
    return loaded


def _run(loaded: OnnxModel, pairs: list[Any]) -> list[float]:
    """Return the scores of pairs. A model with one output says how well they match, one with two whether they do."""
    found = loaded.run(pairs)
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
