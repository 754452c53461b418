"""Composition of the embedders, and of the cache in front of that of the write path. Sends nothing before their use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from atlas.core.model import DOCUMENTS, PROSE
from atlas.runtime.config.addresses import is_loopback
from atlas.runtime.process.data_folder import cache_root
from atlas.runtime.process.places import EMBEDDINGS_FOLDER

if TYPE_CHECKING:
    from atlas.adapters.embedders.remote.endpoint import Endpoint
    from atlas.core.contracts import Embedder, EmbeddingCache
    from atlas.parsing import ProseEncoder, StaticEncoder
    from atlas.runtime.config.load import Settings

USUAL_DIMENSION = 768
"""Dimension of most models for code; estimates how many vectors fit into a cache on a server."""


def make_embedder(settings: Settings) -> Embedder:
    """Return the configured embedder of code."""
    if settings.embedder.provider == "none":
        from atlas.adapters.embedders.none import NoEmbedder

        return NoEmbedder()
    if settings.embedder.provider == "static":
        from atlas.adapters.embedders.static import StaticEmbedder

        return StaticEmbedder()
    from atlas.adapters.embedders.remote.embedder import RemoteEmbedder, RequestOptions

    chosen = settings.embedder
    choice = RequestOptions(
        chosen.dimensions, chosen.query_prefix, chosen.document_prefix, chosen.batch, chosen.concurrency
    )
    return RemoteEmbedder(_endpoint(settings), choice)


def make_documents_embedder(settings: Settings, code: Embedder) -> Embedder | None:
    """Return the embedder of documents: the model of prose, or the server's model, which then embeds code as well."""
    if settings.embedder.provider == "none":
        return None
    if settings.embedder.provider == "static":
        from atlas.adapters.embedders.static import PROSE_FOLDER, StaticEmbedder

        return StaticEmbedder(PROSE_FOLDER, DOCUMENTS)
    from atlas.adapters.embedders.in_space import InSpace

    return InSpace(code, DOCUMENTS)


def make_builtin_embedders() -> dict[str, Embedder]:
    """Return the embedders of the models in the package, by what they embed."""
    from atlas.adapters.embedders.static import PROSE_FOLDER, StaticEmbedder

    return {"of code": StaticEmbedder(), "of prose": StaticEmbedder(PROSE_FOLDER, DOCUMENTS)}


def make_prose_encoder(documents: Embedder | None) -> Callable[[], ProseEncoder | None]:
    """Return what loads the model of prose of an embedder of documents; it returns None where a server embeds them."""
    if documents is None or documents.place:
        return lambda: None
    from atlas.adapters.embedders.static import StaticEmbedder

    return documents.prose_encoder if isinstance(documents, StaticEmbedder) else lambda: None


def make_code_encoder(code: Embedder) -> Callable[[], StaticEncoder | None]:
    """Return what loads the model of code of an embedder; it returns None where a server or nothing embeds code."""
    if code.place:
        return lambda: None
    from atlas.adapters.embedders.static import StaticEmbedder

    return code.code_encoder if isinstance(code, StaticEmbedder) else lambda: None


def make_prose_embedder(settings: Settings) -> Embedder | None:
    """Return the embedder of notes; None if they get no vectors."""
    if not settings.embedder.embeds_prose:
        return None
    from atlas.adapters.embedders.static import PROSE_FOLDER, StaticEmbedder

    return StaticEmbedder(PROSE_FOLDER, PROSE)


def _endpoint(settings: Settings) -> Endpoint:
    """Return the configured embedding server; sends nothing yet."""
    chosen, url = settings.embedder, settings.embedder_url
    local = is_loopback(urlsplit(url).hostname or "")
    place = f"{url or f'the provider of {chosen.model}'}{' on this machine' if local else ''}"
    if chosen.provider == "litellm":
        from atlas.adapters.embedders.litellm import LiteLlmEndpoint

        return LiteLlmEndpoint(chosen.model, url, chosen.api_key, chosen.dimensions, chosen.timeout_seconds, place)
    from atlas.adapters.embedders.remote.http import JsonClient
    from atlas.adapters.embedders.remote.openai import OpenAiEndpoint
    from atlas.adapters.embedders.remote.tei import TeiEndpoint

    if chosen.provider == "openai" and not urlsplit(url).path:
        url += "/v1"
    # one more, so that a query is embedded while chunks are
    client = JsonClient(url, chosen.api_key, chosen.timeout_seconds, chosen.concurrency + 1, loopback=local)
    kind = TeiEndpoint if chosen.provider == "tei" else OpenAiEndpoint
    return kind(client, place, chosen.model, chosen.dimensions)


def make_writing_embedders(settings: Settings) -> list[Embedder]:
    """Return the embedders of the write path, one for each vector space that gets vectors.

    That of notes comes first: it needs no server, and a slow server does not delay it. Raises StoreError if the folder
    of the embedding cache is not writable.
    """
    prose = make_prose_embedder(settings)
    made = [prose] if prose is not None else []
    if settings.embedder.provider == "none":
        return made
    code = _behind_cache(settings, make_embedder(settings))
    documents = make_documents_embedder(settings, code)
    return [*made, *([documents] if documents is not None else []), code]


def _behind_cache(settings: Settings, embedder: Embedder) -> Embedder:
    """Return the embedder, behind its cache if that pays.

    A static model embeds a symbol in 8 microseconds and a cache lookup takes 10, so "auto" uses no cache for it.
    """
    chosen = settings.embedder
    if chosen.cache == "off" or (chosen.cache == "auto" and chosen.provider == "static"):
        return embedder
    from atlas.adapters.embedders.cached import CachedEmbedder

    return CachedEmbedder(embedder, embedding_cache(settings))


def embedding_cache(settings: Settings) -> EmbeddingCache:
    """Return the cache on the configured bus server, which all its users share, or the one on disk.

    Projects whose data folders are in the user's cache share one; a data folder elsewhere has its own.
    """
    max_bytes = settings.embedder.cache_mb << 20
    if not settings.bus_address:
        from atlas.adapters.stores.sqlite.embedding_cache import DiskCache

        cache = cache_root()
        folder = cache / EMBEDDINGS_FOLDER if cache in settings.data_dir.parents else settings.data_dir
        return DiskCache(folder, max_bytes)
    from atlas.adapters.buses.valkey.cache import ValkeyCache
    from atlas.adapters.buses.valkey.connection import Connection

    # asking the server for its dimension here would connect before the first use
    dimension = settings.embedder.dimensions or USUAL_DIMENSION
    # base64, digest and sorted set take about 2.5 times the bytes of a float16 vector
    return ValkeyCache(Connection.open(settings.bus_address), settings.bus.prefix, max_bytes // (5 * dimension))
