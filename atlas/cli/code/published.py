"""`atlas published`: indexes of commits on a server or in a folder: list them, serve them, make a token."""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.cli import output
from atlas.cli.options import DataDirOption, JsonOption, ProjectOption, examples, settings_of
from atlas.cli.over_http import CertificateOption, HttpGuard, KeyOption, NamesOption, site_of
from atlas.core.errors import ConfigError
from atlas.core.wording import counted

if TYPE_CHECKING:
    from atlas.app.published.manifest import PublishedIndex

PORT = 8767

TokensOption = Annotated[
    Path, typer.Option("--tokens", metavar="FILE", help="File with the digests of tokens, their projects and rights.")
]


def register(app: typer.Typer) -> None:
    """Add the command family."""
    family = typer.Typer(help="Indexes of commits that are published: list, serve, make tokens.", no_args_is_help=True)
    family.command("list", epilog=examples("atlas published list"))(list_published)
    family.command("serve", epilog=examples("atlas published serve --dir /srv/atlas --tokens /etc/atlas/tokens.toml"))(
        serve
    )
    family.command(
        "token", epilog=examples("atlas published token ci --tokens /etc/atlas/tokens.toml --project shop --publish")
    )(token)
    app.add_typer(family, name="published")


def list_published(project: ProjectOption = "", data_dir: DataDirOption = "", json: JsonOption = False) -> None:
    """List the indexes at published.source that this user may read."""
    from contextlib import closing

    from atlas.app.published.manifest import read_manifest
    from atlas.app.published.publishing import open_place

    settings = settings_of(project, data_dir).published
    if not settings.source:
        raise ConfigError("published.source is not set", "name a folder or a server in your own atlas.toml")
    with closing(open_place(settings.source, settings.token)) as place:
        found = [(read_manifest(entry.manifest), entry) for entry in place.entries()]
    if json:
        output.print_json([_document(one, signed=bool(entry.signature)) for one, entry in found])
        return
    rows = [
        (
            one.project,
            one.commit[:12],
            f"{one.packed / 1e6:,.1f} MB",
            one.made_at[:16].replace("T", " "),
            "yes" if entry.signature else "no",
        )
        for one, entry in found
    ]
    if rows:
        output.console().print(output.table(("project", "commit", "size", "made (UTC)", "signed"), rows))
    print(counted(len(rows), "published entry"))


def serve(
    folder: Annotated[Path, typer.Option("--dir", metavar="FOLDER", help="Folder of the published indexes.")],
    tokens: TokensOption,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65_535, help="Port, 0 = any.")] = PORT,
    allow_host: NamesOption = None,
    tls_cert: CertificateOption = None,
    tls_key: KeyOption = None,
) -> None:
    """Serve published indexes over HTTP: each token reads, or also publishes, the projects that it is for."""
    from atlas.app.published.shelf import IndexShelf
    from atlas.app.published.tokens import Holders
    from atlas.server.published import serve_published

    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    holders, shelf = Holders(tokens.resolve()), IndexShelf(folder.resolve())
    guard = HttpGuard(names=tuple(allow_host or ()), certificate=tls_cert, key=tls_key)
    with site_of(host, port, guard) as site:

        def ready() -> None:
            print(
                f"serving published indexes of {folder} at {site.url}; press Ctrl-C to stop",
                file=sys.stderr,
                flush=True,
            )

        asyncio.run(serve_published(shelf, holders, site.listening, site.access, ready, site.tls))


def token(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who gets the token.")],
    tokens: TokensOption,
    project: Annotated[list[str], typer.Option("--project", metavar="NAME", help='Project, or "*"; repeatable.')],
    publish: Annotated[bool, typer.Option("--publish", help="Also publish, not only read.")] = False,
) -> None:
    """Make a token for projects and print it once: the file holds its digest only."""
    from atlas.app.published.tokens import add_holder

    made = add_holder(tokens.expanduser().resolve(), name, project, publish=publish)
    rights = "read and publish" if publish else "read"
    print(f"{name} may {rights} {', '.join(project)}; the token goes into ATLAS_PUBLISHED_TOKEN:", file=sys.stderr)
    print(made)


def _document(one: PublishedIndex, *, signed: bool) -> dict[str, object]:
    return {
        "project": one.project,
        "commit": one.commit,
        "prefix": one.prefix,
        "program": one.program,
        "made_at": one.made_at,
        "bytes": one.packed,
        "signed": signed,
    }
