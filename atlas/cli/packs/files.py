"""`atlas pack list|info|verify|diff|install|remove|export`: packs as files."""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.cli import output
from atlas.cli.options import DataDirOption, JsonOption, ProjectOption, examples, settings_of
from atlas.cli.run import run
from atlas.core.errors import ConfigError
from atlas.core.wording import counted

if TYPE_CHECKING:
    from atlas.packs.outdated_uses import OutdatedUse
    from atlas.packs.profiles import PackDifference
    from atlas.runtime.config.load import Settings

PackArgument = Annotated[str, typer.Argument(metavar="PACK", help="NAME, NAME@VERSION, or a folder as a path: ./pack.")]

DAMAGED = 5
SHOWN = 20

EXAMPLES = {
    "list": examples("atlas pack list", "atlas pack list --json"),
    "info": examples("atlas pack info django", "atlas pack info ./click-pack --json"),
    "verify": examples("atlas pack verify django@5.2"),
    "diff": examples("atlas pack diff django@5.1 django@5.2"),
    "install": examples(
        "atlas pack install django-5.2.tar.zst --replace",
        "atlas pack install django-5.2.tar.zst --signer alice",
        "curl -s https://packs.example.org/django.tar.zst | atlas pack install -",
    ),
    "deprecated": examples("atlas pack deprecated", "atlas pack deprecated --project ~/src/shop --json"),
    "remove": examples("atlas pack remove django@5.1", "atlas pack remove django --dry-run"),
    "skill": examples("atlas pack skill django", "atlas pack skill django --output .claude/skills"),
    "export": examples("atlas pack export django@5.2 --output packs/django.tar.zst", "atlas pack export django --sign"),
}


def register(family: typer.Typer) -> None:
    """Add the commands."""
    family.command("list", epilog=EXAMPLES["list"])(list_packs)
    for command in (info, verify, diff, install, remove, export, skill, deprecated):
        family.command(command.__name__, epilog=EXAMPLES[command.__name__])(command)


def list_packs(json: JsonOption = False) -> None:
    """List the installed packs."""
    from atlas.packs.documentation.pack.folder import total_bytes
    from atlas.packs.documentation.pack.signers import signer_of
    from atlas.packs.opening import list_packs as installed
    from atlas.packs.opening import packs_folder

    packs = installed()
    if json:
        documents = [
            {
                "folder": str(one.folder),
                "problem": one.problem,
                "manifest": dataclasses.asdict(one.manifest) if one.manifest is not None else None,
                "signer": dataclasses.asdict(signer_of(one.folder)),
            }
            for one in packs
        ]
        output.print_json({"folder": str(packs_folder()), "packs": documents})
        return
    if not packs:
        print(f"no packs in {packs_folder()}; build one: atlas pack build NAME --from SOURCE")
        return
    rows = [
        (
            *(one.manifest.name, one.manifest.version, one.manifest.library, one.manifest.library_version),
            *(one.manifest.counts.get("Article", 0), f"{total_bytes(one.manifest) / 1e6:.1f} MB"),
            signer_of(one.folder).short,
        )
        if one.manifest is not None
        else (one.folder.parent.name, one.folder.name, output.one_line(f"damaged: {one.problem}"), "", 0, "", "")
        for one in packs
    ]
    columns = ("pack", "version", "library", "documents", "articles", "size", "signer")
    output.console().print(output.table(columns, rows))


def info(pack: PackArgument, json: JsonOption = False) -> None:
    """Show a pack's manifest: what it documents, its sources, counts, models and licences."""
    from atlas.packs.documentation.pack.folder import load_manifest
    from atlas.packs.documentation.pack.signers import signer_of
    from atlas.packs.opening import find_pack

    folder = find_pack(pack)
    manifest, signer = load_manifest(folder), signer_of(folder)
    if json:
        output.print_json({"folder": str(folder), **dataclasses.asdict(manifest), "signer": dataclasses.asdict(signer)})
        return
    rows = [
        ("pack", manifest.title),
        ("documents", f"{manifest.library} {manifest.library_version}".strip() or "-"),
        ("built", f"{manifest.created} by {manifest.program}"),
        (
            "sources",
            "\n".join(f"{output.one_line(one.text)} {one.version} ({one.articles:,})" for one in manifest.sources),
        ),
        ("counts", ", ".join(f"{name} {count:,}" for name, count in manifest.counts.items() if ":" not in name)),
        ("facts", ", ".join(f"{name[5:]} {count:,}" for name, count in manifest.counts.items() if ":" in name)),
        ("models", ", ".join(one.model for one in manifest.models)),
        ("licences", ", ".join(manifest.licences) or "not stated"),
        ("signer", signer.title),
        ("folder", str(folder)),
    ]
    output.console().print(output.table(("", ""), rows))


def verify(pack: PackArgument, json: JsonOption = False) -> None:
    """Compare every file of a pack with its checksum and open its graph. Exits with 5 if something is wrong."""
    from atlas.packs.documentation.pack.folder import edited_files
    from atlas.packs.opening import find_pack
    from atlas.packs.store import verify_pack

    folder = find_pack(pack)
    problems, edited = run(verify_pack(folder)), sorted(edited_files(folder))
    if json:
        output.print_json({"folder": str(folder), "problems": problems, "edited": edited})
    else:
        for problem in problems:
            print(output.one_line(problem))
        for name in edited:
            print(f"note: {name} was edited after the build")
        print(f"{folder}: {counted(len(problems), 'problem') if problems else 'all files are as they were built'}")
    if problems:
        raise typer.Exit(DAMAGED)


def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="NAME@VERSION, or a folder as a path.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="NAME@VERSION, or a folder as a path.")],
    json: JsonOption = False,
) -> None:
    """Show the articles, entities and facts that differ between two packs."""
    found = run(_difference(old, new))
    if json:
        output.print_json(dataclasses.asdict(found))
        return
    for one in dataclasses.fields(found):
        names: tuple[str, ...] = getattr(found, one.name)
        print(f"{one.name.replace('_', ' ')}: {len(names):,}")
        for name in names[:SHOWN]:
            print(f"  {output.one_line(name)}")
        if len(names) > SHOWN:
            print(f"  ... {len(names) - SHOWN:,} more with --json")


def install(
    archive: Annotated[
        str, typer.Argument(metavar="ARCHIVE", help="A .tar.zst from `atlas pack export`, or - for standard input.")
    ],
    replace: Annotated[bool, typer.Option("--replace", help="Replace an installed pack of this version.")] = False,
    signer: Annotated[
        str, typer.Option("--signer", metavar="KEY", help="Key that must have signed: a trusted name or a public key.")
    ] = "",
    signature: Annotated[
        str, typer.Option("--signature", metavar="FILE", help="Signature. Default: ARCHIVE.minisig if it is there.")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only show what would be installed.")] = False,
    json: JsonOption = False,
) -> None:
    """Install a pack from an archive after checking its signature and every file.

    A damaged or hostile archive and one with a bad signature change nothing. Says who signed it.
    """
    from atlas.packs.signing import install_archive

    work = install_archive(archive, signature, signer, replaces=replace, dry_run=dry_run)
    folder, manifest, found = run(work)
    if json:
        values = {"folder": str(folder), "manifest": dataclasses.asdict(manifest), "dry_run": dry_run}
        output.print_json(values | {"signer": dataclasses.asdict(found)})
    else:
        print(f"{'would install' if dry_run else 'installed'} {manifest.title} in {folder}")
        print(output.one_line(found.title))


def remove(
    pack: PackArgument,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only show what would be deleted.")] = False,
    json: JsonOption = False,
) -> None:
    """Delete a pack."""
    from atlas.packs.documentation.pack.folder import remove as remove_pack
    from atlas.packs.opening import find_pack

    folder = find_pack(pack)
    if not dry_run:
        remove_pack(folder)
    if json:
        output.print_json({"folder": str(folder), "dry_run": dry_run})
    else:
        print(f"{'would delete' if dry_run else 'deleted'} {folder}")


def export(
    pack: PackArgument,
    target: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Archive. Default: NAME-VERSION.tar.zst here.")
    ] = "",
    sign: Annotated[bool, typer.Option("--sign", help="Sign it: writes FILE.minisig, too.")] = False,
    key: Annotated[
        str, typer.Option("--key", metavar="FILE", help="Secret key to sign with. Default: `atlas pack key create`'s.")
    ] = "",
    json: JsonOption = False,
) -> None:
    """Write a pack as one archive; the same pack gives the same bytes."""
    from atlas.packs.documentation.pack.archive import SUFFIX
    from atlas.packs.documentation.pack.archive import export as export_pack
    from atlas.packs.documentation.pack.folder import load_manifest
    from atlas.packs.opening import find_pack

    folder = find_pack(pack)
    manifest = load_manifest(folder)
    path = Path(target or f"{manifest.name}-{manifest.version}{SUFFIX}")
    if sign or key:
        from atlas.cli.packs.keys import ask_secret
        from atlas.packs.signing import export_signed

        secret = ask_secret(key)
        size, signed_by = export_signed(folder, path, secret), secret.public.text
    else:
        size, signed_by = export_pack(folder, path), ""
    if json:
        output.print_json({"archive": str(path), "bytes": size, "signed_by": signed_by})
    else:
        print(f"{path}: {size / 1e6:.1f} MB{f', signed by {signed_by}' if signed_by else ''}")


def skill(
    pack: PackArgument,
    folder: Annotated[
        str,
        typer.Option("--output", "-o", metavar="DIR", help="Folder of an agent client's skills. Default: only show."),
    ] = "",
    json: JsonOption = False,
) -> None:
    """Show a pack's skill description, or write it where an agent client discovers it: DIR/NAME-docs/SKILL.md."""
    from atlas.packs.documentation.pack.folder import load_manifest
    from atlas.packs.documentation.pack.skill import skill_name, skill_text
    from atlas.packs.opening import find_pack

    manifest = load_manifest(find_pack(pack))
    text = skill_text(manifest)
    path = write_skill(folder, skill_name(manifest.name), text) if folder else None
    if json:
        output.print_json({"skill": str(path or ""), "text": text})
    else:
        print(f"wrote {path}" if path is not None else output.plain(text))


def deprecated(project: ProjectOption = "", data_dir: DataDirOption = "", json: JsonOption = False) -> None:
    """List the places of a project that use APIs which the packs of its dependencies call deprecated or removed."""
    notes: list[str] = []
    found = run(_outdated(settings_of(project, data_dir), notes))
    if json:
        output.print_json({"uses": [dataclasses.asdict(one) for one in found], "notes": notes})
        return
    for note in notes:
        print(f"note: {output.one_line(note)}", file=sys.stderr)
    for one in found:
        print(output.one_line(f"{one.path}:{one.line} {one.user} uses {one.symbol}: {one.state} ({one.pack})"))
    print(counted(len(found), "use"))


async def _outdated(settings: Settings, notes: list[str]) -> list[OutdatedUse]:
    from atlas.app.main import open_atlas
    from atlas.packs.outdated_uses import outdated_uses
    from atlas.packs.toolset import PackDesk

    desk = PackDesk(settings.project_name, None)
    try:
        async with open_atlas(settings) as atlas:
            return await outdated_uses(desk, atlas.reader.store, settings.project_name, notes)
    finally:
        await desk.aclose()


async def _difference(old: str, new: str) -> PackDifference:
    from atlas.packs.opening import find_pack, open_pack
    from atlas.packs.profiles import difference

    first = open_pack(find_pack(old))
    try:
        second = open_pack(find_pack(new))
        try:
            return await difference(first, second)
        finally:
            await second.aclose()
    finally:
        await first.aclose()


def write_skill(folder: str, name: str, text: str) -> Path:
    """Write a skill to its own folder below the folder of an agent client's skills; return the file.

    Raises ConfigError for a link on the way and for a page that is not from here; nothing is written then.
    A repository can plant links and files where a user writes skills: no link is followed, and only a page that Code
    Atlas wrote itself is replaced.
    """
    from atlas.cli.clients.change import make, plan
    from atlas.cli.clients.record import ConfigEntry
    from atlas.packs.documentation.pack.skill import SKILL_FILE

    base = Path(os.path.abspath(Path(folder).expanduser()))  # noqa: PTH100 - `resolve` follows links
    path = base / name / SKILL_FILE
    real = Path(os.path.realpath(path))
    if real != path:
        raise ConfigError(
            f"{path} leads through a link to {real}",
            f"Nothing was written. If that is the place you mean: --output {os.path.realpath(base)}",
        )
    change = plan(ConfigEntry(path, (), base, "page"), text)
    is_ours = change.record is not None and not change.record["before"]  # it replaces what it has written itself
    if change.action == "replace" and not is_ours:
        raise ConfigError(f"{path} is not from here, or was edited", "Nothing was written. Move it away, or keep it.")
    if change.action != "none":
        make(change)
    return path
