"""The default embedders: static word-vector models inside the package, on the CPU, without network.

Storing vectors is the caller's task. A model is loaded on first use, so that a process that embeds nothing does not
pay for it.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import cast
from weakref import WeakValueDictionary

from atlas import _parser
from atlas._parser import ProseEncoder, StaticEncoder
from atlas.core.errors import ConfigError
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import CODE, DOCUMENTS, Chunk, EmbeddingStats, ModelInfo

MODEL_FOLDER = Path(__file__).with_name("model")
"""The model of code that ships in the package."""
PROSE_FOLDER = Path(__file__).with_name("prose_model")
"""The model of English prose that ships in the package."""

DOCUMENT_CHARACTERS = 1500
"""A longer text of a section changes no ranking and costs twice the time (docs/measurements/retrieval.md)."""

_OBSERVATION_MARKS = lazy_regex(
    r"^[-*+] (?:\d{4}-\d\d-\d\dT\S+ )?(?:\[o-\w++\] )?|(?<!\s)\s*+\(client: [^()\n]*+\)$", re.MULTILINE
)

EMOTION_FOLDER = Path(__file__).with_name("emotion_model")
"""The model that ships in the package."""


_sharing = threading.Lock()
_models: WeakValueDictionary[tuple[Path, bool], _Model] = WeakValueDictionary()


class StaticEmbedder:
    """`atlas.core.contracts.Embedder` over a model folder. Safe for concurrent tasks and threads."""

    def __init__(self, folder: Path = MODEL_FOLDER, space: str = CODE) -> None:
        """Read the description of the model, not the model. Raises ConfigError if the folder contains no model.

        `space` says of which kind the model is: a model of code weighs names, a model of prose knows word pieces.
        """
        self._info = _read_info(folder, space)
        self._model = _shared_model(folder, is_prose=space != CODE)
        self._last = ("", b"")
        """The last query and its vector, which several channels of a search ask for."""

    @property
    def place(self) -> str:
        """Empty: no text leaves the process."""
        return ""

    @property
    def embedding_stats(self) -> EmbeddingStats:
        """Always empty."""
        return EmbeddingStats()

    async def info(self) -> ModelInfo:
        """Return the model of the vectors."""
        return self._info

    async def embed_chunks(self, chunks: Sequence[Chunk]) -> list[bytes]:
        """Return one L2-normalised float16 little-endian vector per chunk, in order."""
        return await asyncio.to_thread(self._encode, chunks)

    async def embed_query(self, text: str) -> bytes:
        """Return the float32 little-endian vector of a query; all zeros if the model knows none of its words."""
        # A query takes 0.01 ms and a round trip to a thread 0.1 ms; loading the model takes 40 ms.
        encoder = self._model.encoder or await asyncio.to_thread(self._model.load)
        last, vector = self._last
        if last != text or not vector:
            vector = encoder.query(text)
            self._last = (text, vector)
        return vector

    def prose_encoder(self) -> ProseEncoder | None:
        """Return the model, loaded in the calling thread; None if it is one of code. Raises ConfigError if damaged."""
        encoder = self._model.load()
        return encoder if isinstance(encoder, ProseEncoder) else None

    def code_encoder(self) -> StaticEncoder | None:
        """Return the model, loaded in the calling thread; None if it is one of prose. Raises ConfigError if damaged."""
        encoder = self._model.load()
        return encoder if isinstance(encoder, StaticEncoder) else None

    async def aclose(self) -> None:
        """Do nothing: the model only uses memory."""

    def _encode(self, chunks: Sequence[Chunk]) -> list[bytes]:
        encoder = self._model.load()
        if isinstance(encoder, ProseEncoder):
            text_of = document_text if self._info.space == DOCUMENTS else prose_text
            return encoder.encode([text_of(chunk) for chunk in chunks])
        texts = [chunk.text for chunk in chunks]
        names = [chunk.name for chunk in chunks]
        return encoder.encode(texts, names, [chunk.is_file for chunk in chunks])


def _shared_model(folder: Path, *, is_prose: bool) -> _Model:
    """Return the model of a folder: several vector spaces and all sessions of a process use one, of 11 MB."""
    with _sharing:
        return _models.setdefault((folder, is_prose), _Model(folder, is_prose=is_prose))


class _Model:
    """The encoder of a model folder, loaded once."""

    def __init__(self, folder: Path, *, is_prose: bool) -> None:
        self._folder, self._kind = folder, ProseEncoder if is_prose else StaticEncoder
        self._loading = threading.Lock()
        self.encoder: StaticEncoder | ProseEncoder | None = None

    def load(self) -> StaticEncoder | ProseEncoder:
        """Return the encoder. Raises ConfigError if the model is damaged."""
        with self._loading:
            if self.encoder is None:
                try:
                    self.encoder = self._kind(str(self._folder))
                except ValueError as error:
                    raise _damaged(str(error)) from error
            return self.encoder


def document_text(chunk: Chunk) -> str:
    """Return a chunk of a document as a model of prose reads it: path and headings, then the start of its text."""
    return f"{chunk.name}. {chunk.text[:DOCUMENT_CHARACTERS]}"


def prose_text(chunk: Chunk) -> str:
    """Return a chunk as a model of prose reads it: its name, which says what the text is about, then its text.

    Times, ids and clients of observations are left out: they have nothing to do with what is observed.
    """
    text = _OBSERVATION_MARKS.sub("", chunk.text)
    return text if not chunk.name or text.startswith(chunk.name) else f"{chunk.name}. {text}"


def _read_info(folder: Path, space: str) -> ModelInfo:
    path = folder / "model.json"
    try:
        meta = cast("dict[str, object]", json.loads(path.read_text(encoding="utf-8")))
        weights = cast("dict[str, object]", meta["sha256"])
        return ModelInfo("static", str(meta["name"]), int(str(meta["dim"])), str(weights["embedding.npy"]), space)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(f"{path}: {error}") from error


def _damaged(what: str) -> ConfigError:
    return ConfigError(f"The embedding model cannot be read: {what}", "Install the package again.")


class EmotionEncoder:
    """Text -> vector over 27 emotions. Safe for threads."""

    def __init__(self, folder: Path = EMOTION_FOLDER) -> None:
        """Load the model. Raises ValueError if it is damaged."""
        self._encoder = _parser.EmotionEncoder(str(folder))

    def encode(self, text: str) -> bytes:
        """Return 27 float32 values, little-endian and L2-normalised; b"" if no emotion is found."""
        vector = self._encoder.encode([text])[0]
        return vector if any(vector) else b""
