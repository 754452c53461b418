"""`atlas ui`: the explorer, the graph as pages in a browser on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.cli.code.export import opened
from atlas.cli.options import DataDirOption, ProjectOption, examples, settings_of
from atlas.cli.output import plain
from atlas.cli.run import run
from atlas.core.errors import ConfigError

if TYPE_CHECKING:
    from atlas.chat.server_spec import ServerSpec
    from atlas.runtime.config.load import Settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    shown = examples(
        "atlas ui",
        "atlas ui Cart.total",
        "atlas ui src/shop",
        "atlas ui --diff main...HEAD",
        "atlas ui --no-open --port 8080",
    )
    app.command("ui", epilog=shown)(ui)


def ui(
    symbol: Annotated[
        str, typer.Argument(metavar="[SYMBOL|PATH]", help="Where to begin: a symbol, a file or a folder.")
    ] = "",
    diff: Annotated[
        str, typer.Option("--diff", metavar="REV", help="Begin at the changes since REV, or of a range A..B.")
    ] = "",
    export: Annotated[
        str,
        typer.Option("--export", metavar="FOLDER", help="Write the overview and what is named as HTML files."),
    ] = "",
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the address and start no browser.")] = False,
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65_535, help="Port; 0 = any.")] = 0,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
) -> None:
    """Show the graph in a browser: search, symbols, files. Listens on 127.0.0.1 and lets one browser in."""
    from atlas.app.session import make_session
    from atlas.cli.code.index_pass import make_first_index
    from atlas.server.explorer.app import new_token, serve_explorer
    from atlas.server.explorer.render import url
    from atlas.server.http.server import listen, url_of

    settings = settings_of(project, data_dir)
    if export:
        written = run(_exported(settings, [symbol] if symbol else [], diff))
        for name, page in written.items():
            Path(export).mkdir(parents=True, exist_ok=True)
            with opened(str(Path(export) / name)) as written_file:
                written_file.write(page)
        print(plain("\n".join(str(Path(export) / name) for name in written)))
        return
    token = new_token()
    start = url("/changes", diff=diff) if diff else url("/open", name=symbol) if symbol else "/"
    with listen("127.0.0.1", port) as listening:
        address = url_of(listening, "127.0.0.1", None, f"/?token={token}")

        def ready() -> None:
            print(plain(f"{settings.project_name} at {address}"), file=sys.stderr)
            print("the address works once; press Ctrl-C to stop", file=sys.stderr, flush=True)
            if file is not None:
                _open_browser(file)

        with nullcontext() if no_open else _private_page(address) as file:
            session = make_session(settings, first_index=make_first_index)
            run(serve_explorer(session, listening, token, start, ready, lambda: _chat_servers(settings)))


def _chat_servers(settings: Settings) -> tuple[tuple[ServerSpec, ...], tuple[str, ...]]:
    from atlas.cli.chat.servers import chosen_servers

    return chosen_servers(settings, (), ())


async def _exported(settings: Settings, names: list[str], diff: str) -> dict[str, str]:
    from atlas.app.session import make_session
    from atlas.cli.code.index_pass import make_first_index
    from atlas.server.explorer.export import exported_pages

    session = make_session(settings, personal=False, first_index=make_first_index)
    try:
        return await exported_pages(session, names, diff)
    finally:
        await session.aclose()


@contextmanager
def _private_page(address: str) -> Generator[Path]:
    """Make a file of this user that leads to the address, and delete it at the end.

    Every user of the machine can read the arguments of a browser's process, so they must not hold the token.
    """
    from secrets import token_hex

    from atlas.runtime.process.files import create_once, make_private_folder
    from atlas.runtime.process.installation_key import token_file

    file = token_file().parent / f"explorer-{token_hex(8)}.html"
    page = f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(address)}"><title>Code Atlas</title>'
    try:
        make_private_folder(file.parent)
        create_once(file, page.encode())
    except OSError as error:
        raise ConfigError(f"cannot write {file}: {error.strerror}", "Give --no-open.") from error
    try:
        yield file
    finally:
        file.unlink(missing_ok=True)


def _open_browser(file: Path) -> None:
    """Have the desktop open the page; without a desktop do nothing, because a text browser would take the terminal."""
    import webbrowser

    if sys.platform not in ("win32", "darwin") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return
    webbrowser.open(file.as_uri())
