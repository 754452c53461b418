"""A sentence transformer in this process: a model in ONNX format, run by onnxruntime (extra `quality`).

Where chunks are embedded, it works on one thread of low priority, so that the fast models and searches go first.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from atlas.adapters.embedders.onnx_model import (
    MAX_TOKENS,
    OnnxModel,
    Purpose,
    described,
    first_line,
    limit_tokens,
    load_model,
)
from atlas.adapters.embedders.prefixes import AUTO, Prefixes, prefixes
from atlas.adapters.embedders.remote.batches import clean
from atlas.core.errors import ConfigError, Unavailable
from atlas.core.model import QUALITY, Chunk, EmbeddingStats, ModelInfo

PURPOSE = Purpose("the sentence transformer", "quality")
POOLED = "sentence_embedding"
"""Output of exports that pool by themselves."""
TOKENS_AT_ONCE = 4096
"""Tokens of one run, with padding: 16 texts of 256."""
BACKGROUND_NICENESS = 10

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class EncoderOptions:
    """How a model is used."""

    pooling: str = AUTO
    """`mean`, `cls`, or as the model's files say."""
    max_tokens: int = 0
    """0 = as the model's files say, at most `MAX_TOKENS`."""
    batch: int = 16
    query_prefix: str = AUTO
    document_prefix: str = AUTO
    threads: int = 1
    in_background: bool = False
    """Work with low priority."""


@dataclass(frozen=True, slots=True)
class _Encoder:
    model: OnnxModel
    info: ModelInfo
    prefixes: Prefixes
    pooling: str
    output: str | None


class OnnxEncoder:
    """`atlas.core.contracts.Embedder` of the space `QUALITY` over a model on this machine. Close it with `aclose`."""

    def __init__(self, folder: Path, options: EncoderOptions) -> None:
        """Name the folder or file of the model; it is read at the first use."""
        self._folder, self._options = folder, options
        self._encoder: _Encoder | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._losses = EmbeddingStats()

    @property
    def place(self) -> str:
        """Empty: no text leaves the process."""
        return ""

    @property
    def embedding_stats(self) -> EmbeddingStats:
        """Number of texts that were cut off at the model's limit, or got no vector."""
        return self._losses

    async def info(self) -> ModelInfo:
        """Return the model. Raises Unavailable if it cannot be loaded, ConfigError if it is of no use."""
        return (await self._run(self._loaded)).info

    async def embed_chunks(self, chunks: Sequence[Chunk]) -> list[bytes]:
        """Return one vector per chunk, in order; zeros for one that the model makes no numbers of."""
        encoder = await self._run(self._loaded)
        prefix = encoder.prefixes.document
        texts = [clean(f"{prefix}{chunk.name}\n{chunk.text}") for chunk in chunks]
        encodings = await self._run(encoder.model.tokenizer.encode_batch, texts)
        vectors: dict[int, bytes] = {}
        for part in _batches([len(each.ids) for each in encodings], self._options.batch):
            # One run at a time: a stop, or a query of this process, need not wait for all of them.
            rows = await self._run(self._vectors, encoder, [encodings[at] for at in part])
            vectors.update(zip(part, (row.astype("<f2").tobytes() for row in rows), strict=True))
        cut = sum(bool(each.overflowing) for each in encodings)
        failed = sum(not any(vector) for vector in vectors.values())
        self._losses = EmbeddingStats(self._losses.truncated + cut, self._losses.given_up + failed)
        return [vectors[at] for at in range(len(chunks))]

    async def embed_query(self, text: str) -> bytes:
        """Return the vector of a query; the first one loads the model. Raises the errors of `info`."""
        return await self._run(self._query, text)

    async def aclose(self) -> None:
        """End the thread and release the model; idempotent."""
        thread, self._thread, self._encoder = self._thread, None, None
        if thread is not None:
            await asyncio.to_thread(thread.shutdown, wait=True, cancel_futures=True)

    async def _run(self, work: Callable[..., _Result], *arguments: Any) -> _Result:
        """Run work on the one thread of this model; after a cancellation it still ends, without effect."""
        if self._thread is None:
            start = _lower_priority if self._options.in_background else None
            self._thread = ThreadPoolExecutor(1, "quality", initializer=start)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)
        except (Unavailable, ConfigError):
            raise
        except Exception as error:  # onnxruntime and tokenizers raise classes of their own, without a common base
            raise Unavailable(f"{PURPOSE.name} in {self._folder} failed: {first_line(error)}") from error

    def _loaded(self) -> _Encoder:
        self._encoder = self._encoder or _load(self._folder, self._options)
        return self._encoder

    def _query(self, text: str) -> bytes:
        encoder = self._loaded()
        encoding = encoder.model.tokenizer.encode(clean(f"{encoder.prefixes.query}{text}"))
        return cast("bytes", self._vectors(encoder, [encoding])[0].astype("<f4").tobytes())

    def _vectors(self, encoder: _Encoder, encodings: Sequence[Any]) -> Any:
        """Return L2-normalised vectors as rows; zeros for a row with NaN or infinity."""
        np = encoder.model.numpy
        found = np.asarray(encoder.model.run(encodings, encoder.output), dtype=np.float32)
        if found.ndim == 3:
            mask = np.zeros(found.shape[:2], dtype=np.float32)
            for at, each in enumerate(encodings):
                mask[at, : len(each.attention_mask)] = each.attention_mask
            found = _pooled(found, mask, encoder.pooling, np)
        found = np.where(np.isfinite(found).all(axis=1, keepdims=True), found, 0.0)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return found / np.where(lengths > 0, lengths, 1.0)


def _pooled(tokens: Any, mask: Any, pooling: str, np: Any) -> Any:
    """Return one row per text from its tokens: the first of them, or the mean of those that are not padding."""
    if pooling == "cls":
        return tokens[:, 0]
    weights = mask[:, :, None]
    return (tokens * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)


def _batches(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Return the positions of each run: texts of similar length, which need little padding."""
    batches: list[list[int]] = []
    for at in sorted(range(len(lengths)), key=lambda at: lengths[at]):
        last: list[int] = batches[-1] if batches else []
        if not last or len(last) == most or (len(last) + 1) * lengths[at] > TOKENS_AT_ONCE:
            last = []
            batches.append(last)
        last.append(at)
    return batches


def _load(folder: Path, options: EncoderOptions) -> _Encoder:
    model = load_model(folder, PURPOSE, options.threads)
    said = described(model.folder / "1_Pooling" / "config.json")
    pooling = ("cls" if said.get("pooling_mode_cls_token") else "mean") if options.pooling == AUTO else options.pooling
    tokens = limit_tokens(model, options.max_tokens or MAX_TOKENS, "sentence_bert_config.json", "max_seq_length")
    name = (folder if folder.is_dir() else model.folder).name
    chosen = _prefixes(model.folder, name, options)
    outputs = [each.name for each in model.session.get_outputs()]
    output = POOLED if POOLED in outputs else None
    found = model.run([model.tokenizer.encode("probe")], output)
    if found.ndim not in (2, 3) or found.shape[0] != 1 or not found.shape[-1]:
        raise ConfigError(
            f"{folder} is not a sentence transformer: its output has the shape {tuple(found.shape)}",
            "Name a model that makes one vector per text or per token.",
        )
    if found.ndim == 3 and _has_dense_layer(model.folder):
        raise ConfigError(
            f"{folder} has a dense layer outside of the ONNX graph", f"Export it with the output {POOLED}."
        )
    made_by = "\0".join((pooling, str(tokens), chosen.document))
    digest = _digest(model, made_by)
    info = ModelInfo("onnx", name, int(found.shape[-1]), digest, QUALITY)
    return _Encoder(model, info, chosen, pooling, output)


def _prefixes(folder: Path, name: str, options: EncoderOptions) -> Prefixes:
    """Return the prefixes of the settings, else those of the model's files, else those known for its name."""
    prompts = described(folder / "config_sentence_transformers.json").get("prompts")
    said = cast("dict[str, object]", prompts) if isinstance(prompts, dict) else {}
    known = prefixes(name, options.query_prefix, options.document_prefix)
    query = said.get("query") if options.query_prefix == AUTO else None
    document = said.get("document") if options.document_prefix == AUTO else None
    return Prefixes(
        query if isinstance(query, str) else known.query, document if isinstance(document, str) else known.document
    )


def _has_dense_layer(folder: Path) -> bool:
    return any(folder.glob("*_Dense/config.json"))


def _digest(model: OnnxModel, made_by: str) -> str:
    """Return the digest of everything that a vector depends on: weights, also those in further files, and tokenizer."""
    digest = hashlib.sha256(made_by.encode("utf8", "surrogatepass"))
    weights = sorted(file for file in model.file.parent.glob(f"{model.file.name}*") if file.is_file())
    for file in (*weights, model.folder / "tokenizer.json"):
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()


def _lower_priority() -> None:
    """Let the other threads of the machine go first; threads that this one starts inherit it (Linux)."""
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), BACKGROUND_NICENESS)
