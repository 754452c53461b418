"""The composition root: settings -> adapters -> `Atlas`. The only module that knows which store and embedder there are.

Opening for reading needs an index; opening for writing makes one. Adapters are imported where they are needed: a server
that lists its tools, or a command that prints help, loads none of them.
"""

from __future__ import annotations

import asyncio
import math
import os
import socket
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from atlas.app.bus import connect_bus, connect_project_bus
from atlas.app.embedder import make_embedder, make_writing_embedder
from atlas.app.store import has_writer, open_store, prepare_data_folder
from atlas.config.load import load_settings
from atlas.errors import ConfigError, StoreError, Unavailable, WriterBusy

if TYPE_CHECKING:
    from pathlib import Path

    from atlas.api import Atlas
    from atlas.buses.valkey_info import ServerInfo
    from atlas.config.load import Settings
    from atlas.contracts import Bus, Embedder, Store
    from atlas.pipeline.daemon_client import DaemonResult
    from atlas.pipeline.events import IndexSummary, Progress
    from atlas.pipeline.index import Indexer
    from atlas.pipeline.workspace import ProjectSource
    from atlas.scan import Scope
    from atlas.search import Reader
    from atlas.search.languages import LanguageTerms

FACTS_FILE = "facts-{project}.bin"
"""The facts cache of a project in the data folder; it may be deleted at any time."""

BUSY_SECONDS = 0.3
"""How often it is tried to become the writer of an index that another process writes to."""


@asynccontextmanager
async def open_atlas(settings: Settings, *, writing: bool = False, reset: bool = False) -> AsyncGenerator[Atlas]:
    """Open the index of a project and close it at the end.

    For reading, raises NotFound when there is none. For writing, the index is made when there is none (`reset`: anew
    even if there is one), and WriterBusy is raised when someone else is writing. Else Unavailable for a server that is
    away, ConfigError for one that refuses this user, SchemaMismatch and StoreError.
    """
    atlas = await connect(settings, writing=writing, reset=reset)
    try:
        yield atlas
    finally:
        await atlas.aclose()


async def index_project(
    settings: Settings,
    progress: Progress,
    *,
    full: bool = False,
    take_over: bool = False,
    patience: float = math.inf,
    waiting: Callable[[str, float], None] | None = None,
) -> IndexSummary:
    """Make the index of a project equal to its files; `full` also replaces a store that only a rebuild can help.

    `take_over` replaces what is indexed under the project's name, whatever tree that is.

    A daemon that runs does it, and the summary says so. For any other writer it is waited `patience` seconds, and
    `waiting` is told again and again for whom and for how long already. Raises WriterBusy when that was not enough,
    Unavailable when the daemon serves other projects only or would have to make way for `full`; else as `open_atlas`
    does.
    """
    started = time.monotonic()
    while True:
        try:
            atlas = await _connect_to_index(settings, full)
            break
        except WriterBusy as error:
            busy = error
        summary = await _index_by_daemon(settings, progress, full=full)
        if summary is not None:
            return summary
        if (waited := time.monotonic() - started) >= patience:
            raise busy
        if waiting is not None:
            waiting(busy.message, waited)
        await asyncio.sleep(BUSY_SECONDS)
    try:
        return await atlas.index(full=full, take_over=take_over, progress=progress)
    except StoreError as error:
        if not full or "--full" not in error.hint:
            raise
    finally:
        await atlas.aclose()
    async with open_atlas(settings, writing=True, reset=True) as atlas:
        return await atlas.index(full=True, take_over=take_over, progress=progress)


async def _connect_to_index(settings: Settings, full: bool) -> Atlas:
    try:
        return await connect(settings, writing=True)
    except StoreError as error:
        if not full or "--full" not in error.hint:
            raise
    return await connect(settings, writing=True, reset=True)


async def _index_by_daemon(settings: Settings, progress: Progress, *, full: bool) -> IndexSummary | None:
    """Have the running daemon do an index pass; None when none runs or it ended meanwhile."""
    bus = await connect_bus_of_running_daemon(settings)
    if bus is None:
        return None
    from atlas.pipeline.daemon_client import index_by_daemon, served_project

    started, cpu = time.perf_counter(), time.process_time()
    try:
        served = await served_project(bus, settings.project_name)
        if served is None:
            return None
        if full:
            raise Unavailable(
                f"the daemon (process {served.pid}) keeps this index; it must not run while all is written again",
                "run: atlas daemon stop, atlas index --full, atlas daemon start",
            )
        if served.root != str(settings.root) and served.host in ("", socket.gethostname()):
            raise Unavailable(
                f"the daemon serves {settings.project_name} at {served.root}, not at {settings.root}",
                "give this project another name: project.name in its atlas.toml, or ATLAS_PROJECT_NAME",
            )
        # elsewhere nobody can look: there the state that it tells every second has to do
        alive = partial(has_writer, settings.data_dir) if not settings.shared else lambda: True
        done = await index_by_daemon(bus, settings.project_name, served, alive, progress)
    finally:
        await bus.aclose()
    return None if done is None else await _summary_of(settings, done, time.perf_counter() - started, cpu)


async def _summary_of(settings: Settings, done: DaemonResult, seconds: float, cpu: float) -> IndexSummary:
    from atlas.pipeline.events import IndexSummary

    async with open_atlas(settings) as atlas:
        stats = (await atlas.reader.store.stats(settings.project_name))[0]
    return IndexSummary(
        project=settings.project_name,
        root=str(settings.root),
        generation=stats.generation,
        files=done.files,
        changed=done.parsed + done.removed,
        parsed=done.parsed,
        written=done.written,
        removed=done.removed,
        skipped=sum(stats.skipped.values()),
        vectors=done.vectors,
        problems=stats.problems,
        seconds=seconds,
        cpu_seconds=time.process_time() - cpu,
        phases=(),
        by="daemon",
        given_up=done.given_up,
    )


async def connect_bus_of_running_daemon(settings: Settings) -> Bus | None:
    """Return the bus of the data folder's daemon, None when no server answers; starts nothing.

    On shared servers it is the project's own bus, whoever keeps it. A server that answers may be one that a killed
    daemon left: what is on the bus tells. The caller closes the bus. Raises ConfigError when a configured server
    refuses this user.
    """
    if settings.shared:
        try:
            return await connect_project_bus(settings)
        except Unavailable:
            return None
    address = settings.bus_address
    if not address:
        from atlas.buses.valkey_server import ManagedServer

        server = await asyncio.to_thread(ManagedServer.find, settings.data_dir)
        if server is None:
            return None
        address = server.url
    bus = connect_bus(settings, address)
    try:
        await bus.states()
    except Unavailable:
        await bus.aclose()
        return None
    return bus


def load_bus_driver() -> None:
    """Import what talking to a bus takes, so that a deadline afterwards counts the server's time only."""
    for module in ("valkey", "valkey_info", "valkey_server"):
        import_module(f"atlas.buses.{module}")


async def bus_server_facts(settings: Settings) -> ServerInfo | None:
    """Return what the configured bus server tells of itself, or the daemon's own one; None when that does not answer.

    Starts nothing. Raises Unavailable and ConfigError for a configured server.
    """
    from atlas.buses.valkey_info import server_facts
    from atlas.buses.valkey_server import ManagedServer

    if settings.bus_address:
        return await server_facts(settings.bus_address)
    server = await asyncio.to_thread(ManagedServer.find, settings.data_dir)
    return await server_facts(server.url) if server is not None else None


def bus_program() -> Path:
    """Return the program that a daemon would start as its own bus server. Raises ConfigError when there is none."""
    from atlas.buses.valkey_server import server_program

    return server_program()


async def connect(settings: Settings, *, writing: bool = False, reset: bool = False) -> Atlas:
    """Return an opened index that the caller closes; see `open_atlas`."""
    limit_threads(settings)
    store = await open_store(settings, writing=writing, reset=reset)
    return await asyncio.to_thread(assemble, settings, store, writing=writing)


def assemble(settings: Settings, store: Store, *, writing: bool = False) -> Atlas:
    """Return what reads an opened store and, if `writing`, indexes into it; closing it closes the store."""
    from atlas.api import Atlas

    return Atlas(_reader(settings, store, make_embedder(settings)), _indexer(settings, store) if writing else None)


def limit_threads(settings: Settings) -> None:
    """Tell the extension how many threads it may use; of no effect once it has used them."""
    if settings.index.threads:
        os.environ.setdefault("RAYON_NUM_THREADS", str(settings.index.threads))


class Cl100kCounter:
    """`atlas.contracts.TokenCounter` of the extension."""

    @property
    def encoding(self) -> str:
        """Name of the encoding."""
        return "cl100k_base"

    def count(self, text: str) -> int:
        """Return the exact number of tokens."""
        from atlas.parsing import count_tokens

        return count_tokens(text)


def _reader(settings: Settings, store: Store, embedder: Embedder) -> Reader:
    from atlas.parsing import digest_paths, split_words
    from atlas.search import Reader

    counter, languages = Cl100kCounter(), make_language_terms(settings)
    return Reader(store, embedder, counter, settings.project_name, settings.root, split_words, digest_paths, languages)


def make_language_terms(settings: Settings) -> LanguageTerms:
    """Return what the languages say about questions and hits. Raises ConfigError for a language that is wrong."""
    from atlas.parsing import search_terms
    from atlas.search.languages import LanguageRow, language_terms

    with _language_errors(settings):
        return language_terms(map(LanguageRow._make, search_terms(settings.language_folders)))


def _indexer(settings: Settings, store: Store) -> Indexer:
    from atlas.buses.memory import MemoryBus
    from atlas.pipeline.index import Indexer
    from atlas.pipeline.tiers.gate import SignificanceGate

    return Indexer(
        source=make_source(settings),
        store=store,
        bus=MemoryBus(),
        gate=SignificanceGate(
            store, settings.pipeline.body_threshold / 100, embeds=settings.embedder.provider != "none"
        ),
        embedder=make_writing_embedder(settings),
    )


def make_source(settings: Settings) -> ProjectSource:
    """Return what the write path has to know of a project; its data folder is there then. Raises ConfigError."""
    from atlas.parsing import fingerprint, load_languages
    from atlas.pipeline.workspace import ProjectSource

    # an index on a server needs the folder for the fact cache only
    prepare_data_folder(settings)
    with _language_errors(settings):
        languages = load_languages(settings.language_folders)
    return ProjectSource(
        project=settings.project_name,
        root=settings.root,
        languages=languages,
        fingerprint=fingerprint(languages),
        cache=settings.data_dir / FACTS_FILE.format(project=settings.project_name),
        scope=_scope(settings),
        timeout_ms=settings.index.parse_timeout_ms,
        rescope=lambda: _scope(load_settings(str(settings.root), str(settings.data_dir))),
    )


@contextmanager
def _language_errors(settings: Settings) -> Generator[None]:
    try:
        yield
    except ValueError as error:
        own = settings.languages.folders
        hint = "Correct that file." if own else "Install the package again."
        raise ConfigError(f"a language cannot be used: {error}", hint) from error


def _scope(settings: Settings) -> Scope:
    from atlas.scan import Scope

    scope = settings.scope
    return Scope(scope.include, scope.exclude, scope.max_file_bytes, scope.git_rules, scope.include_generated)
