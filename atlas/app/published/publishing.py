"""Publishes the index of a commit: a copy without what is this machine's own, packed, sent, and then entered.

Only what is committed leaves the machine: each indexed file must have the content that HEAD records.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from atlas import __version__
from atlas.app.published.body import pack
from atlas.app.published.manifest import (
    DATABASE_PART,
    FACTS_PART,
    LINKS_PART,
    Entry,
    PublishedIndex,
    is_project,
)
from atlas.app.published.shelf import PIECE, IndexShelf
from atlas.app.store import facts_files
from atlas.core.errors import ConfigError, StoreError, Unavailable
from atlas.core.wording import counted
from atlas.runtime.config.addresses import is_loopback
from atlas.runtime.process.files import make_private_folder, open_file

if TYPE_CHECKING:
    from atlas.adapters.stores.sqlite.file.seeding import StoredTree
    from atlas.app.published.shelf import Place
    from atlas.packs.documentation.pack.minisign import MinisignSecret
    from atlas.runtime.config.load import Settings

OUTGOING = "published"
"""Folder in the data folder with the copy, until it is published."""
SHOWN = 3
ATTEMPTS, PAUSE_SECONDS = 5, 1.0
"""For one piece, while the server is busy."""


def open_place(place: str, token: str) -> Place:
    """Return the folder or server at a place; the caller closes it."""
    if "://" not in place:
        return IndexShelf(Path(place).expanduser())
    from urllib.parse import urlsplit

    from atlas.adapters.web.named_server import NamedServer
    from atlas.app.published.remote import PATH, RemoteShelf

    loopback = is_loopback(urlsplit(place).hostname or "")
    return RemoteShelf(NamedServer(f"{place.rstrip('/')}{PATH}", token, loopback=loopback))


def publish_index(
    settings: Settings, target: str, fingerprint: Callable[[], str], secret: MinisignSecret | None
) -> PublishedIndex:
    """Publish the index of the commit that is checked out, which must be current. Raises AtlasError.

    A project whose index is on a server has none to publish.
    """
    project = settings.project_name
    if settings.store.url:
        raise ConfigError("the index is on a server, and is shared already", "publish from a folder without store.url")
    if not is_project(project):
        raise ConfigError(f"{project!r} cannot be published under this name", "set project.name")
    folder = settings.data_dir / f"{OUTGOING}-{os.getpid()}"
    try:
        make_private_folder(folder)
        published = _packed(settings, folder, fingerprint())
        with closing(open_place(target, settings.published.token)) as place:
            _send(place, published, folder / "body")
            place.enter(project, _entry(published, secret))
    except OSError as error:
        raise StoreError(f"the index cannot be packed: {error.strerror or error}", "check the disk") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return published


def _packed(settings: Settings, folder: Path, fingerprint: str) -> PublishedIndex:
    from atlas.adapters.stores.sqlite.file.connection import DATABASE
    from atlas.adapters.stores.sqlite.file.seeding import adopt, copy_database, copy_files, stored_tree

    facts, links = facts_files(settings.project_name)
    copy_database(settings.data_dir / DATABASE, folder / DATABASE)
    copy_files([(settings.data_dir / name, folder / name) for name in (facts, links)])
    tree = stored_tree(folder / DATABASE)
    if tree is None or tree.project != settings.project_name or not tree.read_by.startswith(fingerprint):
        raise StoreError("the index is not one of this project and this program", "run: atlas index")
    commit, prefix = _check_committed(settings.root, tree)
    # no path of this machine, no file that is left out, and no decision leaves with it
    adopt(folder / DATABASE, settings.project_name, "", [])
    files = [(DATABASE_PART, folder / DATABASE), (FACTS_PART, folder / facts), (LINKS_PART, folder / links)]
    parts, digest = pack([(name, path) for name, path in files if path.exists()], folder / "body")
    made_at = datetime.now(UTC).isoformat(timespec="milliseconds")
    return PublishedIndex(settings.project_name, commit, prefix, fingerprint, __version__, made_at, digest, parts)


def _check_committed(root: Path, tree: StoredTree) -> tuple[str, str]:
    """Return the commit that holds each indexed file as it was indexed, and the project's folder in its repository.

    Raises ConfigError with the files that differ.
    """
    from atlas.adapters.git.kinship import committed_files
    from atlas.parsing import digest_paths, positions_that_differ

    commit, prefix, same = committed_files(root, tree.files, positions_that_differ)
    current = {
        path: digest
        for path, digest in zip(tree.files, digest_paths(str(root), list(tree.files)), strict=True)
        if digest
    }
    differing = [path for path, (_, digest) in tree.files.items() if path not in same or current.get(path) != digest]
    if differing:
        names = ", ".join(differing[:SHOWN]) + (", ..." if len(differing) > SHOWN else "")
        raise ConfigError(
            f"{counted(len(differing), 'indexed file')} with other content than in commit {commit[:12]}: {names}",
            "publish from a clean checkout: commit these files, ignore them, or remove them",
        )
    return commit, prefix


def _entry(published: PublishedIndex, secret: MinisignSecret | None) -> Entry:
    text = published.text()
    if secret is None:
        return Entry(text)
    from atlas.packs.documentation.pack import minisign

    comment = f"timestamp:{int(time.time())}\tindex:{published.project}\tcommit:{published.commit}"
    return Entry(text, minisign.sign(secret, minisign.digest_of(BytesIO(text.encode())), comment))


def _send(place: Place, published: PublishedIndex, body: Path) -> None:
    total = published.packed
    with os.fdopen(open_file(body, os.O_RDONLY), "rb") as file:
        for offset in range(0, total, PIECE):
            data = file.read(PIECE)
            if _sent(
                lambda offset=offset, data=data: place.write(published.project, published.body, offset, total, data)
            ):
                return
    raise StoreError("the body did not arrive as a whole", "publish again")


def _sent(send: Callable[[], bool]) -> bool:
    """Send a piece, again while the server is busy. A piece that arrives twice changes nothing."""
    for _ in range(ATTEMPTS - 1):
        try:
            return send()
        except Unavailable:
            time.sleep(PAUSE_SECONDS)
    return send()
