"""Reranking by a sentence transformer: the cosines of a question and texts."""

from __future__ import annotations

import math
import struct
from pathlib import Path

from atlas.adapters.embedders.onnx_encoder import EncoderOptions, OnnxEncoder
from atlas.core.model import Chunk

_FILES = ("modules.json", "1_Pooling")
"""What exports of sentence transformers have and those of cross-encoders lack."""


class EncoderReranker:
    """`atlas.packs.questions.values.Reranker` over a model on this machine. Close it with `aclose`."""

    def __init__(self, folder: Path) -> None:
        """Name the folder or file of the model; it is read at the first question."""
        self._encoder = OnnxEncoder(folder, EncoderOptions(threads=1))

    async def rerank(self, question: str, texts: list[str]) -> list[float]:
        """Return one cosine per text, in order. Raises Unavailable or ConfigError if the model cannot be used."""
        if not texts:
            return []
        asked = await self._encoder.embed_query(question)
        vectors = await self._encoder.embed_chunks([Chunk("", "", "", text, False) for text in texts])
        size = len(asked) // 4
        query = struct.unpack(f"<{size}f", asked)
        return [math.fsum(map(float.__mul__, query, struct.unpack(f"<{size}e", each))) for each in vectors]

    async def aclose(self) -> None:
        """Release the model; idempotent."""
        await self._encoder.aclose()


def is_sentence_transformer(folder: Path) -> bool:
    """Return whether a folder, or that of a file, has the files of a sentence transformer."""
    parent = folder if folder.is_dir() else folder.parent
    places = (parent, parent.parent) if parent.name == "onnx" else (parent,)
    return any((place / name).exists() for place in places for name in _FILES)
