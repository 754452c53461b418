"""`atlas worker`: one of several processes that share a store and a bus, on any number of hosts."""

from __future__ import annotations

from typing import Annotated

import typer

from atlas.cli.options import DataDirOption, settings_of
from atlas.core.errors import ConfigError


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("worker")(worker)


def worker(
    tiers: Annotated[
        str, typer.Option("--tiers", metavar="NAMES", help="Tiers to run: graph,ast (together) and embed.")
    ] = "graph,ast,embed",
    roots: Annotated[
        list[str] | None,
        typer.Option(
            "--project", metavar="PATH", help="A project's folder on this host; repeatable.", show_default=False
        ),
    ] = None,
    data_dir: DataDirOption = "",
) -> None:
    """Run one of several workers on a shared store and bus (store.url, bus.url), in the foreground until a signal.

    Of all workers with the tiers graph and ast, one owns a project: it watches the folder and writes the graph. The
    others stand by and take over when it dies. All workers with the tier embed share the embedding; it needs no folder.
    """
    from atlas.runtime.config.checks import check_worker

    all_settings = [settings_of(root, data_dir) for root in roots or [""]]
    names = [settings.project_name for settings in all_settings]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ConfigError(f"two projects are named {twice}", 'Name one in its atlas.toml: [project] name = "..."')
    wanted = [tier.strip() for tier in tiers.split(",") if tier.strip()]
    check_worker(all_settings, wanted)
    from atlas.app.daemon_main import work_in_foreground

    work_in_foreground(all_settings, wanted)
