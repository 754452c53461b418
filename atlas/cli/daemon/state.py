"""`atlas status`, `health` and `schema`: what is indexed, what works, and what can be queried."""

from __future__ import annotations

from typing import Annotated

import typer

from atlas.cli.options import BudgetOption, DataDirOption, JsonOption, ProjectOption, examples, settings_of
from atlas.cli.requests import STATUS_BUDGET, status_request
from atlas.cli.run import answer_of, ask, given, run, show
from atlas.core.errors import ConfigError


def register(app: typer.Typer) -> None:
    """Add the commands."""
    shown = examples(
        "atlas status",
        "atlas status --watch",
        "atlas status --skipped --only secret",
        "atlas status --all --json",
        "atlas status --worktrees",
    )
    app.command("status", epilog=shown)(status)
    app.command("health", epilog=examples("atlas health", "atlas health --json"))(health)
    app.command("schema")(schema)


def status(
    skipped: Annotated[
        bool, typer.Option("--skipped", help="List files that are not indexed or only partly read, with reasons.")
    ] = False,
    only: Annotated[
        str,
        typer.Option(
            "--only",
            metavar="REASON|PATH",
            help="With --skipped: only this reason (or `partial`), path prefix or glob.",
        ),
    ] = "",
    every: Annotated[bool, typer.Option("--all", help="Show all projects of the store.")] = False,
    worktrees: Annotated[
        bool, typer.Option("--worktrees", help="List the work trees and clones of this repository with their indexes.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Refresh every second until Ctrl-C.")] = False,
    metrics: Annotated[bool, typer.Option("--metrics", help="Print the counts as Prometheus reads them.")] = False,
    token_budget: BudgetOption = STATUS_BUDGET,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Show what is indexed, what is not and why, and the daemon's work; --watch --json prints one document per line."""
    tool, arguments = status_request(skipped=skipped, only=only, every=every, token_budget=token_budget)
    settings = settings_of(project, data_dir)
    if worktrees:
        from atlas.cli.daemon.worktrees_view import print_worktrees

        print_worktrees(settings, as_json=json)
        return
    if metrics:
        if watch or skipped or json:
            raise ConfigError("--metrics prints text only", "Give it alone, or with --all.")
        from atlas.cli.daemon.status_view import metrics_of

        print(metrics_of(run(answer_of(settings, tool, arguments))), end="")
        return
    if not watch:
        ask(settings, tool, arguments, as_json=json)
        return
    if skipped:
        raise ConfigError("--watch does not list skipped files", "Give --watch or --skipped.")
    from atlas.cli.daemon.status_watch import watch as watch_status

    watch_status(settings, arguments, as_json=json)


def health(project: ProjectOption = "", data_dir: DataDirOption = "", json: JsonOption = False) -> None:
    """Show what works, what is missing, and how to fix it; exits with 1 when something is broken."""
    settings = settings_of(project, data_dir)
    from atlas.app.health import check_health

    answer = run(check_health(settings))
    show(answer, as_json=json)
    if answer.state == "broken":
        raise typer.Exit(1)


def schema(
    token_budget: BudgetOption = 200_000,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Show labels, edge types, properties, strategies and example queries."""
    ask(settings_of(project, data_dir), "schema_info", given(token_budget=token_budget), as_json=json)
