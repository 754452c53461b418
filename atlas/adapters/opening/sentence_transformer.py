"""Composition of the optional sentence transformer: for questions, and for the write path behind a cache.

Nothing of onnxruntime is imported before the first use, and nothing is sent before it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from atlas.adapters.opening.embedder import embedding_cache
from atlas.runtime.config.addresses import is_loopback, masked

if TYPE_CHECKING:
    from atlas.core.contracts import Embedder
    from atlas.runtime.config.load import Settings

CONNECTIONS = 2
REQUEST_SECONDS = 60.0
"""Time limit of a request with texts; a server on a CPU takes seconds for a batch."""
QUESTION_RETRY_SECONDS = 0.5
WITHOUT_MODEL = "answered without the sentence transformer"
"""Begins a note of an answer, as those of `atlas.code.retrieve.sentence_transformer`."""


def make_quality_reader(settings: Settings) -> Embedder | None:
    """Return what embeds questions, None without a sentence transformer or if its stage of the ranking is off."""
    if not settings.quality.is_on or "quality" in settings.search.off:
        return None
    from atlas.adapters.embedders.sentence_transformer import QualityEmbedder

    # A question takes 7 ms on one thread; several wait for each other where the machine is busy.
    return QualityEmbedder(_make(settings, threads=1), float(settings.quality.query_seconds))


def has_model(settings: Settings) -> bool:
    """Return whether the folder of the model is there, or none is named."""
    return not settings.quality.model or Path(settings.quality.model).expanduser().exists()


def missing_model_note(settings: Settings) -> str:
    """Return that the folder of the model is not there, "" if it is or no question would use it."""
    if "quality" in settings.search.off or has_model(settings):
        return ""
    return f"{WITHOUT_MODEL}: no such folder: {settings.quality.model}; correct quality.model"


def make_quality_writer(settings: Settings, *, in_background: bool) -> Embedder | None:
    """Return what embeds code and documents, None without a sentence transformer.

    In the background it uses few threads of low priority. Raises StoreError if the folder of the cache is not writable.
    """
    if not settings.quality.is_on:
        return None
    from atlas.adapters.embedders.cached import CachedEmbedder
    from atlas.adapters.embedders.sentence_transformer import QualityEmbedder

    threads = settings.quality.threads if in_background else settings.index.threads or _all_threads()
    made = _make(settings, threads=threads, in_background=in_background)
    if settings.embedder.cache != "off":
        made = CachedEmbedder(made, embedding_cache(settings))
    return QualityEmbedder(made, float(settings.quality.query_seconds))


def _make(settings: Settings, *, threads: int, in_background: bool = False) -> Embedder:
    chosen = settings.quality
    if chosen.model:
        from atlas.adapters.embedders.onnx_encoder import EncoderOptions, OnnxEncoder

        options = EncoderOptions(
            chosen.pooling,
            chosen.max_tokens,
            chosen.batch,
            chosen.query_prefix,
            chosen.document_prefix,
            threads,
            in_background,
        )
        return OnnxEncoder(Path(chosen.model).expanduser(), options)
    from atlas.adapters.embedders.remote.embedder import RemoteEmbedder, RequestOptions
    from atlas.adapters.embedders.remote.http import JsonClient
    from atlas.adapters.embedders.remote.retry import Backoff
    from atlas.adapters.embedders.remote.tei import TeiEndpoint

    local = is_loopback(urlsplit(chosen.url).hostname or "")
    place = f"{masked(chosen.url)}{' on this machine' if local else ''}"
    client = JsonClient(chosen.url.rstrip("/"), chosen.api_key, REQUEST_SECONDS, CONNECTIONS + 1, loopback=local)
    prefixes = (chosen.query_prefix, chosen.document_prefix)
    question = Backoff(QUESTION_RETRY_SECONDS, 0.1)
    options = RequestOptions(0, *prefixes, chosen.batch, CONNECTIONS, query_backoff=question)
    return RemoteEmbedder(TeiEndpoint(client, place, "", 0), options)


def _all_threads() -> int:
    from atlas.adapters.embedders.onnx_model import MAX_THREADS

    return min(os.cpu_count() or 1, MAX_THREADS)
