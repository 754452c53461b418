"""Installed packs: archives put in place, removed, exported."""

from __future__ import annotations

from pathlib import Path

from atlas.adapters.opening.packs import check_rows
from atlas.core.errors import NotFound, StoreError
from atlas.core.threads import in_thread
from atlas.core.wording import counted
from atlas.packs.documentation.pack.archive import read_archive_manifest, unpack
from atlas.packs.documentation.pack.folder import draft_folder, load_manifest, verify
from atlas.packs.documentation.pack.manifest import PACK_FILE, Manifest
from atlas.packs.opening import open_pack
from atlas.packs.records import remember_check
from atlas.runtime.process.installation_key import packs_folder


async def install(archive: Path, *, replaces: bool = False) -> tuple[Path, Manifest]:
    """Install a pack from an archive; nothing of it is there before all of it is. Return its folder and manifest.

    Raises NotFound, SchemaMismatch, StoreError for a damaged or hostile archive, and ConfigError if the pack is there
    already.
    """
    stated = read_archive_manifest(archive)
    target = packs_folder() / stated.name / stated.version
    with draft_folder(target, replaces=replaces) as draft:
        manifest = unpack(archive, draft)
        if (manifest.name, manifest.version) != (stated.name, stated.version):
            raise StoreError(f"{archive} changed while it was read", "try again")
        try:  # refuses a file that is no pack's before anybody uses it
            await in_thread(check_rows, draft / PACK_FILE)
            await open_pack(draft, check=False).aclose()
        except (StoreError, NotFound) as error:
            raise StoreError(f"{archive} is refused: {error.message}", "nothing was installed") from error
    remember_check(target / PACK_FILE)
    return target, manifest


async def verify_pack(folder: Path) -> list[str]:
    """Return what is wrong with a pack: files that differ from their checksums, a file that cannot be opened."""
    problems = verify(folder)
    if problems:
        return problems
    try:
        pack = open_pack(folder)
    except StoreError as error:
        return [error.message]
    try:
        manifest = load_manifest(folder)
        (stats,) = await pack.store.stats(manifest.name)
        wanted = manifest.counts.get("Article", stats.files)
        return [] if stats.files == wanted else [f"pack.db has {counted(stats.files, 'article')} instead of {wanted}"]
    except (StoreError, ValueError) as error:
        return [str(error)]
    finally:
        await pack.aclose()
