"""A model folder read with numpy: the reference of the encoder in `rust-parser/retrieval/src/encode/code.rs`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from training.code_model.bags import MAX_TEXT, Vocabulary, words_of

Floats = npt.NDArray[np.float32]
MAX_ASKED = 40
"""Different known words of a question."""


class Model:
    """Table and vocabulary."""

    def __init__(self, folder: Path) -> None:
        """Read `model.json`, `vocab.txt`, `embedding.npy` and `scale.npy`."""
        self.meta = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        words = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        self.vocabulary = Vocabulary(words, pieces="pieces" in self.meta["tokenizer"])
        self.table: Floats = np.load(folder / "embedding.npy") * np.load(folder / "scale.npy")[:, None]
        self.name_weight = float(self.meta["fields"]["name_weight"])
        self._asked = self._moved(folder) if self.meta.get("neighbours") else self.table

    def query(self, texts: Sequence[str]) -> Floats:
        """Return one L2-normalised vector a query; words of a long one stay where they are."""
        bags = self.vocabulary.bag(words_of(text[:MAX_TEXT]) for text in texts)
        is_short = (np.diff(bags.indptr) <= MAX_ASKED)[:, None]
        return unit(np.where(is_short, bags @ self._asked, bags @ self.table))

    def encode(self, texts: Sequence[str], names: Sequence[str], name_weight: float | None = None) -> Floats:
        """Return one L2-normalised vector a piece of code and its name."""
        weight = self.name_weight if name_weight is None else name_weight
        return unit(self._sum(texts) + weight * self._sum(names))

    def _moved(self, folder: Path) -> Floats:
        """Return the table of words in questions, each moved towards its neighbours."""
        rows, shares = np.load(folder / "neighbours.npy"), np.load(folder / "shares.npy") / np.float32(255)
        directions = unit(self.table)
        moved = directions.copy()
        for column in range(rows.shape[1]):
            moved += shares[:, column, None] * directions[rows[:, column]]
        return unit(moved) * np.linalg.norm(self.table, axis=1, keepdims=True)

    def _sum(self, texts: Sequence[str]) -> Floats:
        return self.vocabulary.bag(words_of(text[:MAX_TEXT]) for text in texts) @ self.table


def unit(rows: Floats) -> Floats:
    """Return the rows with length 1; a row of zeros stays as it is."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
