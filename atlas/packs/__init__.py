"""Knowledge packs from Python: the documentation of a library's version as a graph, searched and asked offline.

`Pack` for plain code, `AsyncPack` for `asyncio`; both have the same verbs. `docs/packs.md` has a runnable example.
"""

from atlas.app.pack_build import BuildRequest, BuildResult
from atlas.docs.pack.manifest import Manifest
from atlas.docs.sources.values import CollectOptions, CollectProgress
from atlas.packs.pack import AsyncPack, Pack
from atlas.search.packs.values import Fact, Hit, PackAnswer, Reranker, Source

__all__ = [
    "AsyncPack",
    "BuildRequest",
    "BuildResult",
    "CollectOptions",
    "CollectProgress",
    "Fact",
    "Hit",
    "Manifest",
    "Pack",
    "PackAnswer",
    "Reranker",
    "Source",
]
