"""What a build of a pack is asked for, and what the pack says about itself. Pure but for the clock."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from atlas import __version__
from atlas.packs.documentation.pack.manifest import MAX_TEXT, Manifest, PackModel, PackSource, shown
from atlas.packs.documentation.sources.values import CollectOptions, build_time

if TYPE_CHECKING:
    from atlas.packs.documentation.article import Article
    from atlas.packs.model import ModelPass
    from atlas.packs.opening import BuiltFile

STATEMENTS = "statements"
"""Instead of a space of vectors: a language model that has added entities and facts."""
KEPT_OPTIONS = (
    *(
        "max_files",
        "code",
        "language",
        "max_pages",
        "max_depth",
        "hosts",
        "below",
        "max_pages_per_pattern",
        "ignore_robots",
    ),
)
"""Options of a collection that decide what is in the pack; they stand in its manifest."""


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What to build."""

    name: str
    sources: tuple[str, ...]
    version: str = ""
    """Of the pack; by default that of the library, else 1."""
    library: str = ""
    """The library that it documents; by default the package that is its source."""
    library_version: str = ""
    ecosystem: str = ""
    description: str = ""
    options: CollectOptions = field(default_factory=CollectOptions)
    folder: str = ""
    """Folder at which relative paths start; by default the current one."""
    private: tuple[str, ...] | None = None
    """Hosts that may be on this machine or its network; None: those of the sources, which the user has named."""


def make_manifest(
    request: BuildRequest, articles: Sequence[Article], built: BuiltFile, model: ModelPass | None
) -> Manifest:
    """Return the manifest of a pack, without checksums."""
    options = asdict(request.options)
    models = [PackModel(one.space, one.provider, one.model, one.dimension, one.fingerprint) for one in built.models]
    if model is not None:
        models.append(PackModel(STATEMENTS, "litellm", model.model.name))
    return Manifest(
        name=request.name,
        version=request.version,
        created=build_time(),
        program=f"code-atlas {__version__}",
        description=shown(request.description)[:MAX_TEXT],
        library=request.library,
        library_version=request.library_version,
        ecosystem=request.ecosystem,
        sources=_sources(request, articles),
        counts={str(name): count for name, count in sorted(built.graph.counts.items())},
        models=tuple(models),
        licences=tuple(sorted({one.licence for one in articles if one.licence})),
        settings={name: options[name] for name in KEPT_OPTIONS},
    )


def _sources(request: BuildRequest, articles: Sequence[Article]) -> tuple[PackSource, ...]:
    found: list[PackSource] = []
    for text in request.sources or tuple(dict.fromkeys(one.source for one in articles)):
        own = sorted((one for one in articles if one.source == text), key=lambda one: one.key)
        digest = hashlib.blake2b(digest_size=16)
        for one in own:
            digest.update(f"{one.key}\0{one.digest}\n".encode("utf8", "surrogatepass"))
        version = own[0].source_version if own and not own[0].retrieved else ""
        found.append(PackSource(text, version, digest.hexdigest(), len(own)))
    return tuple(found)


def urls_text(articles: Sequence[Article]) -> str:
    """Return one URL or key per line, sorted."""
    return "".join(f"{line}\n" for line in sorted({shown(one.url or one.key) for one in articles}))
