"""Neighbours of the words of a model: `python -m training.code_model.neighbours TEACHER MODEL`.

A question rarely has the form of a word that the code has, and often another word of the same meaning. Each word of the
vocabulary, read alone by a sentence transformer, has up to six nearest ones; the encoder moves the words of a question
towards theirs (`rust-parser/retrieval/src/encode/neighbours.rs`). Vectors of code do not change, so that no index is
made again.
Writes `neighbours.npy` (uint16 [V, 6]) and `shares.npy` (uint8 [V, 6], 255 = 1), and says so in `model.json`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
import numpy.typing as npt

NEIGHBOURS = 6
DROPPED_COMPONENTS = 2
NEAR = 0.5
"""Least cosine of a neighbour. With .4 and .6, or 4 and 12 neighbours, questions find about the same."""
ROWS_AT_ONCE = 2000
MADE_WITH = "all-MiniLM-L6-v2 (Apache-2.0), each word alone"
Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]
FORMULA = (
    "in a query of at most 40 different words: |row| * unit(unit(row) + sum of shares / 255 * unit(row of neighbour))"
)


def centred(vectors: Floats, dropped: int = DROPPED_COMPONENTS) -> Floats:
    """Return unit vectors without their mean and the directions that nearly all words share."""
    rows = vectors - vectors.mean(0)
    axes = np.linalg.svd(rows, full_matrices=False)[2][:dropped]
    rows = rows - (rows @ axes.T) @ axes
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def nearest(vectors: Floats, count: int = NEIGHBOURS, least: float = NEAR) -> tuple[Integers, Floats]:
    """Return the nearest other rows of each unit vector, nearest first, and their shares, 0 for those too far away."""
    rows, cosines = list[Integers](), list[Floats]()
    for start in range(0, len(vectors), ROWS_AT_ONCE):
        near = vectors[start : start + ROWS_AT_ONCE] @ vectors.T
        near[np.arange(len(near)), np.arange(start, start + len(near))] = -1
        order = np.argsort(-near, axis=1, kind="stable")[:, :count]
        rows.append(order)
        cosines.append(np.take_along_axis(near, order, 1))
    kept = np.vstack(cosines)
    kept = np.where(kept > least, kept, 0)
    return np.vstack(rows), kept / np.maximum(kept.sum(1, keepdims=True), 1e-9)


def write(folder: Path, rows: Integers, shares: Floats) -> None:
    """Write the arrays and describe them in `model.json`."""
    np.save(folder / "neighbours.npy", rows.astype("<u2"))
    np.save(folder / "shares.npy", np.round(shares * 255).astype(np.uint8))
    meta = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    meta["neighbours"] = {"made_with": MADE_WITH, "formula": FORMULA}
    for name in ("neighbours.npy", "shares.npy"):
        meta["sha256"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "model.json").write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Parse the command line."""
    from training.code_model.teacher import Teacher  # scipy is needed for the command alone

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("teacher", type=Path)
    parser.add_argument("model", type=Path)
    given = parser.parse_args()
    words = (given.model / "vocab.txt").read_text(encoding="utf-8").splitlines()
    write(given.model, *nearest(centred(Teacher(given.teacher).encode(words))))


if __name__ == "__main__":
    main()
