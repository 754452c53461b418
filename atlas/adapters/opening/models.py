"""The models beside the embedder: the language model and the reranker that the settings name, and emotions."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from atlas.runtime.config.addresses import is_loopback

if TYPE_CHECKING:
    from atlas.adapters.embedders.encoder_reranker import EncoderReranker
    from atlas.adapters.embedders.onnx_reranker import OnnxReranker
    from atlas.adapters.embedders.reranker import TeiReranker
    from atlas.core.language_model import LanguageModel
    from atlas.runtime.config.load import Settings

    ConfiguredReranker = TeiReranker | OnnxReranker | EncoderReranker
    from atlas.adapters.embedders.static import EmotionEncoder


CONNECTIONS = 2


def make_language_model(settings: Settings) -> LanguageModel | None:
    """Return the configured language model, None without one. Sends nothing before its use."""
    chosen = settings.language_model
    if not chosen.model:
        return None
    from atlas.adapters.language_models.litellm import LiteLlmModel

    return LiteLlmModel(chosen.model, chosen.url, chosen.api_key, float(chosen.timeout_seconds))


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


@cache
def _encoder() -> EmotionEncoder:
    from atlas.adapters.embedders.static import EmotionEncoder

    return EmotionEncoder()


def encode_emotion(text: str) -> bytes:
    """Return the emotions of a text as a vector in bytes."""
    return _encoder().encode(text)
