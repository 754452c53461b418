"""Settings -> an embedder, and the one of the write path behind its cache. Nothing is sent before it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from atlas.config.settings import is_loopback

if TYPE_CHECKING:
    from atlas.config.load import Settings
    from atlas.contracts import Embedder, EmbeddingCache
    from atlas.embedders.endpoint import Endpoint

USUAL_DIMENSION = 768
"""Of models for code; what a cache on a server holds is counted in vectors."""


def make_embedder(settings: Settings) -> Embedder:
    """Return the configured embedder."""
    if settings.embedder.provider == "none":
        from atlas.embedders.none import NoEmbedder

        return NoEmbedder()
    if settings.embedder.provider == "static":
        from atlas.embedders.static import StaticEmbedder

        return StaticEmbedder()
    from atlas.embedders.remote import RemoteEmbedder, RequestOptions

    chosen = settings.embedder
    choice = RequestOptions(
        chosen.dimensions, chosen.query_prefix, chosen.document_prefix, chosen.batch, chosen.concurrency
    )
    return RemoteEmbedder(_endpoint(settings), choice)


def _endpoint(settings: Settings) -> Endpoint:
    """Return the configured embedding server; nothing is sent yet."""
    chosen, url = settings.embedder, settings.embedder_url
    local = is_loopback(urlsplit(url).hostname or "")
    place = f"{url or f'the provider of {chosen.model}'}{' on this machine' if local else ''}"
    if chosen.provider == "litellm":
        from atlas.embedders.litellm import LiteLlmEndpoint

        return LiteLlmEndpoint(chosen.model, url, chosen.api_key, chosen.dimensions, chosen.timeout_seconds, place)
    from atlas.embedders.http import JsonClient
    from atlas.embedders.openai import OpenAiEndpoint
    from atlas.embedders.tei import TeiEndpoint

    if chosen.provider == "openai" and not urlsplit(url).path:
        url += "/v1"
    # one more for a question while texts are embedded
    client = JsonClient(url, chosen.api_key, chosen.timeout_seconds, chosen.concurrency + 1, loopback=local)
    kind = TeiEndpoint if chosen.provider == "tei" else OpenAiEndpoint
    return kind(client, place, chosen.model, chosen.dimensions)


def make_writing_embedder(settings: Settings) -> Embedder | None:
    """Return the embedder of the write path, behind its cache where that pays; None when no vectors are wanted.

    A static model embeds a symbol in 8 microseconds, a look into the cache takes 10: "auto" leaves it out there.
    Raises StoreError when the cache's folder cannot be written.
    """
    chosen = settings.embedder
    if chosen.provider == "none":
        return None
    embedder = make_embedder(settings)
    if chosen.cache == "off" or (chosen.cache == "auto" and chosen.provider == "static"):
        return embedder
    from atlas.embedders.cached import CachedEmbedder

    return CachedEmbedder(embedder, _embedding_cache(settings))


def _embedding_cache(settings: Settings) -> EmbeddingCache:
    """Return the cache on the configured bus server, which all its users share; else in the data folder."""
    max_bytes = settings.embedder.cache_mb << 20
    if not settings.bus_address:
        from atlas.stores.sqlite.embedding_cache import DiskCache

        return DiskCache(settings.data_dir, max_bytes)
    from atlas.buses.valkey_cache import ValkeyCache
    from atlas.buses.valkey_connection import Connection

    # a server is asked for its dimension only when it is needed, which is not now
    dimension = settings.embedder.dimensions or USUAL_DIMENSION
    # base64, hash and sorted set make some 2.5 times the bytes of a float16 vector
    return ValkeyCache(Connection.open(settings.bus_address), settings.bus.prefix, max_bytes // (5 * dimension))
