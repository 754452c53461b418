"""`atlas papers`: find papers, store, search, relate and export them, and serve all that to agents over MCP."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from atlas.cli import output
from atlas.cli.options import DataDirOption, JsonOption, ProjectOption, examples, settings_of
from atlas.cli.over_http import (
    HTTP_OPTIONS,
    CertificateOption,
    HostOption,
    HttpGuard,
    KeyOption,
    NamesOption,
    NoTokenOption,
    PortOption,
    TokenOption,
    Transport,
    TransportOption,
    serve_over_http,
)
from atlas.core.errors import ConfigError
from atlas.papers.catalogue import MAX_RESULTS, USUAL_RESULTS
from atlas.papers.export import FORMATS
from atlas.papers.importing import MAX_BYTES
from atlas.runtime.process.files import read_file, write_file

if TYPE_CHECKING:
    from atlas.papers.desk import PapersDesk
    from atlas.runtime.config.load import Settings
    from atlas.server.mcp import HttpSite

_Result = TypeVar("_Result")

PDF = "pdf"
"""A format of files only."""

AuthorOption = Annotated[str, typer.Option("--author", metavar="NAME", help="Name of an author, or part of it.")]
CategoryOption = Annotated[str, typer.Option("--category", metavar="NAME", help="Category of arXiv: cs.LG, cs.*")]
SinceOption = Annotated[str, typer.Option("--since", metavar="DATE", help="YYYY, YYYY-MM or YYYY-MM-DD.")]
UntilOption = Annotated[str, typer.Option("--until", metavar="DATE", help="The same, inclusive.")]
TopicOption = Annotated[str, typer.Option("--topic", metavar="NAME", help="Stored topic. Default: all.")]

family = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Papers: find, store, search, relate, export.")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(family, name="papers")


@family.command(epilog=examples("atlas papers serve", "atlas papers serve --transport http --port 8766"))
def serve(
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    transport: TransportOption = Transport.STDIO,
    host: HostOption = "",
    port: PortOption = None,
    token_file: TokenOption = None,
    no_token: NoTokenOption = False,
    allow_host: NamesOption = None,
    tls_cert: CertificateOption = None,
    tls_key: KeyOption = None,
) -> None:
    """Serve papers to agents over MCP: one client on stdin and stdout, or many over HTTP."""
    settings = settings_of(project, data_dir)
    guard = HttpGuard(token_file, no_token, tuple(allow_host or ()), tls_cert, tls_key)
    if transport is Transport.STDIO:
        if host or port is not None or guard != HttpGuard():
            raise ConfigError(f"{HTTP_OPTIONS} are for HTTP", "Add --transport http.")
        from atlas.app.papers import make_papers_desk
        from atlas.server.mcp import serve_stdio
        from atlas.server.papers import make_papers_server

        desk = make_papers_desk(settings)
        serve_stdio(desk, make_papers_server(desk))
        return
    given = settings.mcp
    # one process: the store's files are read once, and the service is asked by one at a time anyway
    changed = replace(given, host=host or given.host, port=given.port if port is None else port, workers=1)
    settings = replace(settings, mcp=changed)

    def serve_site(site: HttpSite, ready: Callable[[], None], *, with_token: bool) -> None:
        _serve_site(settings, site, ready)

    serve_over_http(settings, "papers", serve_site, guard)


def _serve_site(settings: Settings, site: HttpSite, ready: Callable[[], None]) -> None:
    from atlas import __version__
    from atlas.app.papers import make_papers_desk
    from atlas.server.mcp import serve_http
    from atlas.server.papers import make_papers_server

    desk = make_papers_desk(settings)

    async def health() -> tuple[bool, dict[str, object]]:
        return True, {"status": "ok", "version": __version__}

    serve_http(make_papers_server(desk), desk, site, ready, health)


@family.command(epilog=examples('atlas papers search "graph neural networks" --category cs.LG --since 2023'))
def search(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="Words that papers must have.")],
    max_results: Annotated[int, typer.Option("--max-results", "-n", min=1, max=MAX_RESULTS)] = USUAL_RESULTS,
    author: AuthorOption = "",
    category: CategoryOption = "",
    since: SinceOption = "",
    until: UntilOption = "",
    sort: Annotated[str, typer.Option("--sort", help="relevance, submitted or updated.")] = "relevance",
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Search arXiv and store what is found; the same search is answered from the store."""
    arguments: dict[str, object] = {
        "topic": topic,
        "max_results": max_results,
        "author": author,
        "category": category,
        "since": since,
        "until": until,
        "sort": sort,
    }
    _answer("search_papers", arguments, project, data_dir, as_json=json)


@family.command("list", epilog=examples("atlas papers list", 'atlas papers list --query "attention" --since 2020'))
def list_(
    query: Annotated[str, typer.Option("--query", "-q", metavar="TEXT", help="By meaning and words.")] = "",
    topic: TopicOption = "",
    author: AuthorOption = "",
    category: CategoryOption = "",
    venue: Annotated[str, typer.Option("--venue", metavar="TEXT", help="Part of the journal or category.")] = "",
    since: SinceOption = "",
    until: UntilOption = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100)] = USUAL_RESULTS,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """List stored papers: the newest, or the best for a query."""
    arguments: dict[str, object] = {
        "query": query,
        "topic": topic,
        "author": author,
        "category": category,
        "venue": venue,
        "since": since,
        "until": until,
        "limit": limit,
    }
    _answer("search_stored", arguments, project, data_dir, as_json=json)


@family.command(
    epilog=examples(
        "atlas papers show 1706.03762",
        "atlas papers show 1706.03762 --related",
        "atlas papers show 1706.03762 --summary",
    )
)
def show(
    paper: Annotated[str, typer.Argument(metavar="ID", help="Identifier or address of arXiv.")],
    related: Annotated[bool, typer.Option("--related", help="List related stored papers.")] = False,
    summary: Annotated[
        bool, typer.Option("--summary", help="Have the configured language model summarise the abstract.")
    ] = False,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Show a paper with its citations and the notes about it."""
    if related and summary:
        raise ConfigError("--related and --summary exclude each other", "Ask twice.")
    arguments: dict[str, object] = {"id": paper, **({"summary": True} if summary else {})}
    _answer("related_papers" if related else "get_paper", arguments, project, data_dir, as_json=json)


@family.command(
    epilog=examples(
        "atlas papers export --format ris > papers.ris", "atlas papers export --format pdf --output reading.pdf"
    )
)
def export(
    form: Annotated[str, typer.Option("--format", "-f", help=f"{', '.join((*FORMATS, PDF))}.")] = "bibtex",
    topic: TopicOption = "",
    identifiers: Annotated[
        list[str] | None, typer.Option("--id", metavar="ID", help="Only this paper; repeatable.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write this file instead of stdout.")
    ] = None,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Export stored papers as BibTeX, RIS, Markdown or PDF."""
    if form == PDF:
        if file is None or json:
            raise ConfigError("a PDF file is no text for the terminal", "Name the file with --output FILE.")
        found = _with_desk(project, data_dir, lambda desk: desk.reading_list(topic, identifiers or []))
        _written(file, found.content)
        if found.missing:
            print(f"note: the font lacks {found.missing} characters, printed as ?", file=sys.stderr)
        return
    arguments: dict[str, object] = {"format": form, "topic": topic, "ids": identifiers or []}
    if file is None:
        _answer("export_papers", arguments, project, data_dir, as_json=json)
        return
    text, document = _with_desk(project, data_dir, lambda desk: desk.call("export_papers", arguments))
    _written(file, text.encode())
    if json:
        output.print_json({**document, "text": "", "file": str(file)})


@family.command(
    "import",
    epilog=examples(
        "atlas papers import zotero.bib --topic attention", "atlas papers import --zotero --topic attention"
    ),
)
def import_file(
    topic: Annotated[str, typer.Option("--topic", metavar="NAME", help="Topic under which they are stored.")],
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="BibTeX, RIS or CSL-JSON, as Zotero and Mendeley export.")
    ] = None,
    zotero: Annotated[bool, typer.Option("--zotero", help="Read the Zotero that runs on this machine.")] = False,
    collection: Annotated[
        str, typer.Option("--collection", metavar="KEY", help="Only this collection of Zotero.")
    ] = "",
    zotero_url: Annotated[
        str, typer.Option("--zotero-url", metavar="URL", help="Where Zotero answers, on this machine.")
    ] = "",
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Store the papers of a file that a reference manager has exported, or of a running Zotero."""
    zotero = zotero or bool(collection or zotero_url)
    if zotero == (file is not None):
        raise ConfigError("papers come from a file or from Zotero", "Name a file, or give --zotero.")
    if file is None:
        from atlas.app.papers import read_zotero

        listed = read_zotero(settings_of(project, data_dir), collection, zotero_url)
    else:
        try:
            listed = read_file(file, MAX_BYTES).decode("utf-8", "replace")
        except OSError as error:
            raise ConfigError(f"{file} cannot be read: {error.strerror or error}", "Name a file.") from error
    text, document = _with_desk(project, data_dir, lambda desk: desk.take(listed, topic))
    output.print_json(document) if json else print(output.plain(text))


@family.command(epilog=examples("atlas papers stats", "atlas papers stats --svg years.svg"))
def stats(
    topic: TopicOption = "",
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Also write all tables as charts.")] = None,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Count the stored papers by year, venue, author, and the growth of each topic."""
    from dataclasses import asdict

    from atlas.papers.analysis import counts_svg, counts_text

    counts = _with_desk(project, data_dir, lambda desk: desk.stats(topic))
    if svg is not None:
        _written(svg, counts_svg(counts).encode())
    output.print_json(asdict(counts)) if json else print(output.plain(counts_text(counts)))


@family.command(epilog=examples("atlas papers check", 'atlas papers check "graph neural networks"'))
def check(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="Stored topic. Default: all.")] = "",
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Ask what is new in the stored topics."""
    _answer("check_topics", {"topic": topic}, project, data_dir, as_json=json)


@family.command(epilog=examples("atlas papers watch --file new-papers.md", "atlas papers watch --notify --every 12"))
def watch(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="Stored topic. Default: all.")] = "",
    every: Annotated[
        float, typer.Option("--every", min=0.1, max=8784, metavar="HOURS", help="Hours between questions.")
    ] = 24.0,
    file: Annotated[Path | None, typer.Option("--file", metavar="FILE", help="Add a line for each new paper.")] = None,
    notify: Annotated[bool, typer.Option("--notify", help="Show a notification of the desktop.")] = False,
    once: Annotated[bool, typer.Option("--once", help="Ask once and end, for a timer of the system.")] = False,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
) -> None:
    """Ask again and again what is new in the stored topics, and tell each new paper once."""
    from atlas.papers import alerts

    program = alerts.notifier() if notify else ()

    async def tell(found: list[alerts.PaperAlert], problems: list[str]) -> None:
        for line in (*(alert.line for alert in found), *(f"note: {problem}" for problem in problems)):
            print(output.plain(line), flush=True)
        if found and file is not None:
            alerts.append(file, found)
        if found and program:
            await alerts.notify(program, found)

    async def work(desk: PapersDesk) -> int:
        return await alerts.watch(desk, topic, tell, rounds=int(once), pause=every * 3600)

    _with_desk(project, data_dir, work)


def _written(file: Path, content: bytes) -> None:
    try:
        write_file(file, content)
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror or error}", "Name another file.") from error


def _with_desk(project: str, data_dir: str, work: Callable[[PapersDesk], Awaitable[_Result]]) -> _Result:
    import asyncio

    from atlas.app.papers import make_papers_desk

    desk = make_papers_desk(settings_of(project, data_dir))

    async def run() -> _Result:
        try:
            return await work(desk)
        finally:
            await desk.aclose()

    return asyncio.run(run())


def _answer(tool: str, arguments: dict[str, object], project: str, data_dir: str, *, as_json: bool) -> None:
    import asyncio

    from atlas.app.papers import make_papers_desk

    desk = make_papers_desk(settings_of(project, data_dir))

    async def work() -> tuple[str, dict[str, object]]:
        try:
            return await desk.call(tool, arguments)
        finally:
            await desk.aclose()

    text, document = asyncio.run(work())
    if as_json:
        output.print_json(document)
    elif tool == "export_papers":
        # the file format as it is: the fields have no control characters
        sys.stdout.write(text)
    else:
        print(output.plain(text))
