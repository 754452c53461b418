"""`atlas index`: one pass over a project, with a progress bar on a terminal and a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from atlas.cli.code.index_pass import make_index
from atlas.cli.options import DataDirOption, JsonOption, ProjectOption, examples, settings_of
from atlas.core.errors import ConfigError

if TYPE_CHECKING:
    from atlas.runtime.config.load import Settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "index",
        epilog=examples("atlas index", "atlas index ~/src/shop --full", "atlas index --publish", "atlas index --json"),
    )(index)


def index(
    path: Annotated[
        str, typer.Argument(metavar="[PATH]", help="Project folder; as --project.", show_default=False)
    ] = "",
    full: Annotated[bool, typer.Option("--full", help="Parse and write all files again.")] = False,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Replace an index of another tree with the same project name.")
    ] = False,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Fail if another `atlas index` is running on this index.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before indexing the home folder, or a folder around it.")
    ] = False,
    quality: Annotated[
        bool, typer.Option("--quality", help="Also wait for the vectors of the sentence transformer (quality.model).")
    ] = False,
    publish: Annotated[
        bool, typer.Option("--publish", help="Then publish the index of the commit, whose files must be unchanged.")
    ] = False,
    publish_to: Annotated[
        str, typer.Option("--publish-to", metavar="PLACE", help="Folder or server; default: published.source.")
    ] = "",
    sign: Annotated[
        str | None, typer.Option("--sign", metavar="FILE", help='Sign it with this secret key; "" = your own.')
    ] = None,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Update the index from the files; only changes are parsed and written. A running daemon does the work."""
    if path and project and path != project:
        raise ConfigError("both PATH and --project are given", "Give one of them.")
    if sign is not None and not (publish or publish_to):
        raise ConfigError("--sign is for an index that is published", "Add --publish.")
    settings = settings_of(path or project, data_dir)
    code = make_index(settings, full=full, take_over=take_over, no_wait=no_wait, yes=yes, quality=quality, as_json=json)
    if code:
        raise typer.Exit(code)
    if publish or publish_to:
        _publish(settings, publish_to, sign, as_json=json)


def _publish(settings: Settings, target: str, sign: str | None, *, as_json: bool) -> None:
    from atlas.app.main import publish
    from atlas.cli.packs.keys import ask_secret

    secret = ask_secret(sign) if sign is not None else None
    made, place = publish(settings, target, secret)
    if not as_json:
        how = ", signed" if secret is not None else ""
        print(f"published {made.project} at commit {made.commit[:12]} to {place}: {made.packed / 1e6:,.1f} MB{how}")
