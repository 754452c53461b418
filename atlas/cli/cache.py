"""`atlas cache`: list the data folders of all projects, and remove those of deleted projects."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.cli import output
from atlas.cli.options import JsonOption, settings_of
from atlas.core.errors import StoreError
from atlas.core.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atlas.runtime.process.cache import CachedFolder


def register(app: typer.Typer) -> None:
    """Add the command family."""
    family = typer.Typer(help="Data folders of all projects in the user's cache.", no_args_is_help=True)
    family.command("list")(list_folders)
    family.command("prune")(prune)
    app.add_typer(family, name="cache")


def list_folders(json: JsonOption = False) -> None:
    """List every project's data folder with its size, last use, and whether the project still exists."""
    from atlas.runtime.process.cache import cached_folders, shared_vectors
    from atlas.runtime.process.data_folder import cache_root

    folders, vectors = cached_folders(), shared_vectors()
    if json:
        documents = [_document(one) for one in folders]
        output.print_json({"cache": str(cache_root()), "folders": documents, "vectors_bytes": vectors})
        return
    if not folders:
        print(f"no data folders in {cache_root()}")
        return
    rows = [
        (one.root or "-", _state(one), f"{one.bytes_on_disk / 1e6:,.1f} MB", _day(one), str(one.folder))
        for one in folders
    ]
    output.console().print(output.table(("project", "state", "size", "used", "folder"), rows))
    print(f"{counted(len(folders), 'folder')}, {sum(one.bytes_on_disk for one in folders) / 1e6:,.1f} MB")
    if vectors:
        print(f"vectors of embedding models, for all projects: {vectors / 1e6:,.1f} MB")


def prune(
    older_than: Annotated[
        int | None,
        typer.Option(
            "--older-than", min=0, metavar="DAYS", help="Also those that are unused for so long; 0 = no limit."
        ),
    ] = None,
    max_mb: Annotated[
        int | None,
        typer.Option(
            "--max-mb", min=0, metavar="MB", help="Above this size of all, also the least recently used; 0 = no limit."
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only show what would be removed.")] = False,
    json: JsonOption = False,
) -> None:
    """Remove the data folders of deleted projects, and those beyond the limits of [cache] in your settings.

    The next `atlas index` of a project creates its folder again. Folders in use and folders that this installation did
    not create are kept. A project on a volume that is not mounted counts as deleted.
    """
    from atlas.runtime.process.cache import beyond_limits, cached_folders, remove_folder

    limits = settings_of("", "").cache
    days = limits.max_days if older_than is None else older_than
    size = (limits.max_mb if max_mb is None else max_mb) * 1_000_000
    folders = cached_folders()
    chosen = [one for one in folders if one.root and one.gone]
    chosen += beyond_limits([one for one in folders if one not in chosen], days, size, time.time())
    free = [one for one in chosen if not _in_use(one)]
    for one in free if not dry_run else ():
        try:
            remove_folder(one.folder)
        except OSError as error:
            raise StoreError(f"cannot remove {one.folder}: {error.strerror}", "Check its permissions.") from error
    busy = [one for one in chosen if one not in free]
    if json:
        output.print_json({"removed": _documents(free), "in_use": _documents(busy), "dry_run": dry_run})
        return
    for one in busy:
        print(output.plain(f"in use    {one.folder} ({one.root})"))
    for one in free:
        words = f"{'to remove' if dry_run else 'removed'} {one.folder} ({one.root}, {one.bytes_on_disk / 1e6:,.1f} MB)"
        print(output.plain(words))
    print(f"{'would free' if dry_run else 'freed'} {sum(one.bytes_on_disk for one in free) / 1e6:,.1f} MB")


def _in_use(one: CachedFolder) -> bool:
    from atlas.runtime.process.daemon import find_running
    from atlas.runtime.process.lock import has_writer

    return find_running(one.folder) is not None or has_writer(one.folder)


def _state(one: CachedFolder) -> str:
    if not one.root:
        return "not made here"
    return "project gone" if one.gone else "ok"


def _day(one: CachedFolder) -> str:
    return datetime.fromtimestamp(one.used_at, UTC).date().isoformat()


def _documents(folders: Sequence[CachedFolder]) -> list[dict[str, object]]:
    return [_document(one) for one in folders]


def _document(one: CachedFolder) -> dict[str, object]:
    return {
        "project": one.root,
        "folder": str(one.folder),
        "bytes": one.bytes_on_disk,
        "used_at": datetime.fromtimestamp(one.used_at, UTC).isoformat(timespec="seconds"),
        "state": _state(one),
    }
