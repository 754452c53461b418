"""The first index of a tree from the published one of its nearest ancestor.

What arrives is compared with the digests of its manifest, and opened as a stranger's database is. Facts for the digest
of a file are believed, so only a source that the user named is asked.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.app.published.body import unpack
from atlas.app.published.manifest import (
    DATABASE_PART,
    FACTS_PART,
    LINKS_PART,
    Entry,
    PublishedIndex,
    read_manifest,
)
from atlas.app.published.publishing import open_place
from atlas.app.published.shelf import PIECE
from atlas.app.store import facts_files
from atlas.core.errors import StoreError, Unavailable
from atlas.runtime.config.addresses import masked

if TYPE_CHECKING:
    from atlas.adapters.git.kinship import Checkout
    from atlas.adapters.stores.sqlite.file.seeding import StoredTree
    from atlas.app.published.shelf import Place
    from atlas.runtime.config.load import Settings

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PublishedStart:
    """The published index of an ancestor, not yet fetched."""

    published: PublishedIndex
    settings: Settings

    @property
    def title(self) -> str:
        """As words."""
        return f"commit {self.published.commit[:12]} at {masked(self.settings.published.source)}"

    def fill(self, folder: Path, project: str) -> StoredTree:
        """Fetch it into a folder, with the names that the files of this project have; return what it holds.

        Raises AtlasError and OSError; what was written then is of no use.
        """
        from atlas.adapters.stores.sqlite.file.connection import DATABASE
        from atlas.adapters.stores.sqlite.file.seeding import check_received

        published = self.published
        free = shutil.disk_usage(folder).free
        if free < published.size:
            sizes = f"{published.size / 1e6:,.1f} MB, but only {free / 1e6:,.1f} MB are free"
            raise StoreError(f"it needs {sizes} in {folder}")
        facts, links = facts_files(project)
        names = {DATABASE_PART: DATABASE, FACTS_PART: facts, LINKS_PART: links}
        targets = {part: folder / name for part, name in names.items()}
        with closing(open_place(self.settings.published.source, self.settings.published.token)) as place:
            unpack(_pieces(place, published), published, targets)
        tree = check_received(folder / DATABASE)
        if tree.project != published.project or not tree.read_by.startswith(published.read_by):
            raise StoreError("the published index is not the one that its manifest describes")
        return tree


def find_published(settings: Settings, own: Checkout, fingerprint: str) -> PublishedStart | None:
    """Return the published index of the nearest ancestor of HEAD; None without one. Raises AtlasError."""
    source = settings.published.source
    with closing(open_place(source, settings.published.token)) as place:
        listed = place.entries()
    fit, others = _fitting(listed, own.prefix, fingerprint, settings.published.signer)
    commit = own.nearest(frozenset(bytes.fromhex(one) for one in fit))
    if commit is None:
        if others and own.nearest(frozenset(bytes.fromhex(one) for one in others)) is not None:
            _log.warning("%s has indexes of this history by other versions of Code Atlas only", masked(source))
        return None
    return PublishedStart(fit[commit.hex()], settings)


def _fitting(
    listed: Iterable[Entry], prefix: str, fingerprint: str, signer: str
) -> tuple[dict[str, PublishedIndex], set[str]]:
    """Return the indexes that can be used, by commit, and the commits of those that other versions have read."""
    fit: dict[str, PublishedIndex] = {}
    others: set[str] = set()
    refused: list[str] = []
    for entry in listed:
        try:
            published = read_manifest(entry.manifest)
            if published.prefix != prefix:
                continue
            if published.read_by != fingerprint:
                others.add(published.commit)
                continue
            if signer:
                _check_signature(entry, signer)
        except StoreError as error:
            refused.append(error.message)
            continue
        known = fit.get(published.commit)
        if known is None or known.made_at < published.made_at:
            fit[published.commit] = published
    if refused:
        _log.warning("%d of the published indexes are refused, the last because: %s", len(refused), refused[-1])
    return fit, others - fit.keys()


def _check_signature(entry: Entry, signer: str) -> None:
    """Raise StoreError unless the manifest is signed by this signer, the name of a trusted key or a key itself.

    Keys are those that sign packs (ADR 0053); the manifest holds the digest of everything else.
    """
    from atlas.packs.documentation.pack import minisign
    from atlas.packs.documentation.pack.signers import check, demanded

    if not entry.signature:
        raise StoreError("it is not signed")
    check(entry.signature.encode(), minisign.digest_of(BytesIO(entry.manifest.encode())), demanded(signer))


def _pieces(place: Place, published: PublishedIndex) -> Iterator[bytes]:
    """Yield the body; the next piece is fetched while the last one is unpacked."""
    total = published.packed
    with ThreadPoolExecutor(1, "atlas-published") as ahead:
        asked = [ahead.submit(_piece, place, published, 0, min(PIECE, total))] if total else []
        for offset in range(0, total, PIECE):
            length = min(PIECE, total - offset)
            data = asked.pop().result()
            if len(data) != length:
                raise StoreError("the body of the published index ends early, or is longer than stated")
            if (following := offset + length) < total:
                asked.append(ahead.submit(_piece, place, published, following, min(PIECE, total - following)))
            yield data


def _piece(place: Place, published: PublishedIndex, offset: int, length: int) -> bytes:
    try:
        return place.read(published.project, published.body, offset, length)
    except Unavailable as error:
        _log.info("a piece is asked for again: %s", error.message)
        return place.read(published.project, published.body, offset, length)
