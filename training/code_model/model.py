"""A model folder read with numpy: the reference of the encoder in `rust-parser/src/encode/code.rs`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from training.code_model.bags import MAX_TEXT, Vocabulary
from training.code_model.words import words_of

Floats = npt.NDArray[np.float32]


class Model:
    """Table and vocabulary."""

    def __init__(self, folder: Path) -> None:
        """Read `model.json`, `vocab.txt`, `embedding.npy` and `scale.npy`."""
        self.meta = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        words = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        self.vocabulary = Vocabulary(words, pieces="pieces" in self.meta["tokenizer"])
        self.table: Floats = np.load(folder / "embedding.npy") * np.load(folder / "scale.npy")[:, None]
        self.name_weight = float(self.meta["fields"]["name_weight"])

    def query(self, texts: Sequence[str]) -> Floats:
        """Return one L2-normalised vector a query."""
        return unit(self._sum(texts))

    def encode(self, texts: Sequence[str], names: Sequence[str], name_weight: float | None = None) -> Floats:
        """Return one L2-normalised vector a piece of code and its name."""
        weight = self.name_weight if name_weight is None else name_weight
        return unit(self._sum(texts) + weight * self._sum(names))

    def _sum(self, texts: Sequence[str]) -> Floats:
        return self.vocabulary.bag(words_of(text[:MAX_TEXT]) for text in texts) @ self.table


def unit(rows: Floats) -> Floats:
    """Return the rows with length 1; a row of zeros stays as it is."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
