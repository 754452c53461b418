"""Documentation of libraries as knowledge packs: built once, installed, asked offline; also from Python.

Sources come in (`documentation/sources`, read by `documentation/formats`), articles become entities and facts
(`documentation/extract`), `build` writes them to a pack's folder (`documentation/pack`), `opening` opens it,
`questions` answers from it, and `tools` and `toolset` serve it to agents.

`Pack` for plain code, `AsyncPack` for `asyncio`; both have the same verbs. `docs/packs.md` has a runnable example. The
names are imported on first use: whatever needs one module of this package does not load all of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from atlas.packs.build import BuildRequest, BuildResult
    from atlas.packs.documentation.pack.manifest import Manifest
    from atlas.packs.documentation.sources.values import CollectOptions, CollectProgress
    from atlas.packs.pack import AsyncPack, Pack
    from atlas.packs.questions.values import Fact, Hit, PackAnswer, Reranker, Source

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

_HOMES = {
    "atlas.packs.build": ("BuildRequest", "BuildResult"),
    "atlas.packs.documentation.pack.manifest": ("Manifest",),
    "atlas.packs.documentation.sources.values": ("CollectOptions", "CollectProgress"),
    "atlas.packs.pack": ("AsyncPack", "Pack"),
    "atlas.packs.questions.values": ("Fact", "Hit", "PackAnswer", "Reranker", "Source"),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
