"""`atlas lsp`."""

from __future__ import annotations

import typer

from atlas.cli.options import DataDirOption, ProjectOption, examples, settings_of
from atlas.core.errors import ConfigError


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("lsp", epilog=examples("atlas lsp", "atlas lsp --project ~/src/shop"))(lsp)


def lsp(project: ProjectOption = "", data_dir: DataDirOption = "") -> int:
    """Serve this project to an editor over the Language Server Protocol, on stdin and stdout, read-only."""
    settings = settings_of(project, data_dir)
    try:
        from atlas.server.editor.protocol import serve_editor
    except ImportError as error:
        from atlas.runtime.process.extras import how_to_install

        raise ConfigError(f"the language server needs another package: {error}", how_to_install("lsp")) from error
    from atlas.app.session import make_session

    return serve_editor(make_session(settings, personal=False))
