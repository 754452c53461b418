"""The reranker of questions to packs, as the settings name it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from atlas.runtime.config.addresses import is_loopback

if TYPE_CHECKING:
    from atlas.adapters.embedders.encoder_reranker import EncoderReranker
    from atlas.adapters.embedders.onnx_reranker import OnnxReranker
    from atlas.adapters.embedders.reranker import TeiReranker
    from atlas.runtime.config.load import Settings

    ConfiguredReranker = TeiReranker | OnnxReranker | EncoderReranker

CONNECTIONS = 2


def make_reranker(settings: Settings) -> ConfiguredReranker | None:
    """Return the configured reranker, None without one. Close it; it sends and loads nothing before its use."""
    chosen = settings.packs
    if chosen.reranker_model:
        from atlas.adapters.embedders.encoder_reranker import EncoderReranker, is_sentence_transformer
        from atlas.adapters.embedders.onnx_reranker import OnnxReranker

        folder = Path(chosen.reranker_model).expanduser()
        return EncoderReranker(folder) if is_sentence_transformer(folder) else OnnxReranker(folder)
    if not chosen.reranker_url:
        return None
    from atlas.adapters.embedders.remote.http import JsonClient
    from atlas.adapters.embedders.reranker import TeiReranker

    local = is_loopback(urlsplit(chosen.reranker_url).hostname or "")
    url, seconds = chosen.reranker_url.rstrip("/"), float(chosen.reranker_timeout_seconds)
    return TeiReranker(JsonClient(url, chosen.reranker_api_key, seconds, CONNECTIONS, loopback=local))
