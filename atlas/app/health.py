"""Health of an installation, of one project's index and of its daemon: asks each part and has the answers judged.

Every check is a real attempt: the extension is imported, the model encodes a word, the store is opened and counted, the
bus is asked. Starts nothing. `tools.health_checks` says what each answer means.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.adapters.opening.embedder import make_embedder
from atlas.adapters.opening.sentence_transformer import make_quality_reader
from atlas.answers.evidence import Evidence
from atlas.app.bus import bus_program, bus_server_info, connect_bus_of_running_daemon, load_bus_driver
from atlas.app.main import open_atlas
from atlas.app.store import describe_writer, store_server_info
from atlas.code.index.heartbeat import DAEMON
from atlas.code.tools.state import health_checks as judge
from atlas.code.tools.state.daemon import DEADLINE_SECONDS, DaemonStatus, Trace, look
from atlas.code.tools.state.health import Check, HealthAnswer, health
from atlas.code.tools.state.report import LETTERS
from atlas.core.errors import AtlasError, ConfigError, NotFound
from atlas.core.wording import counted
from atlas.runtime.config.load import discover_root
from atlas.runtime.process.daemon import find_running, last_running
from atlas.runtime.process.data_folder import legacy_folder

if TYPE_CHECKING:
    from atlas.core.contracts import Bus
    from atlas.core.project_state import ProjectState, ProjectStats
    from atlas.runtime.config.load import Settings

STORE_SECONDS = 10.0
"""Time limit of the question to a store server."""


async def check_health(settings: Settings, daemon_problem: str = "") -> HealthAnswer:
    """Return the state of every part; never raises an AtlasError. `daemon_problem`: why a session started none."""
    daemon = await look_at_daemon(settings)
    index, state = await _check_index(settings, daemon)
    checks = [
        await asyncio.to_thread(_check_parser, settings),
        *await _check_store(settings),
        *index,
        *await _check_embedder(settings, state),
        await asyncio.to_thread(_check_disk, settings),
        *judge.legacy_folder_checks(legacy_folder(settings.root)),
        judge.daemon_check(daemon, daemon_problem),
        await _check_bus(settings, daemon),
        *judge.watching_checks(daemon.projects),
        *judge.dead_letter_checks(daemon, _command(settings, LETTERS)),
    ]
    checks += await _check_packs(settings) if state is not None else ()
    generation, indexed_at = (state.generation, state.indexed_at) if state else (0, "")
    return health(checks, Evidence(settings.project_name, generation, indexed_at, "", (), "cl100k_base", 0, 0))


async def look_at_daemon(settings: Settings) -> DaemonStatus:
    """Return the state of the data folder's daemon within about a second; starts nothing, raises no AtlasError.

    On shared servers, returns that of the worker processes on all hosts.
    """

    async def connect() -> Bus | None:
        return await connect_bus_of_running_daemon(settings)

    if settings.shared:
        from atlas.code.tools.state.workers import look_at_workers

        load_bus_driver()
        return await look_at_workers(connect, settings.project_name, DAEMON, time.time())
    trace = await asyncio.to_thread(_trace, settings.data_dir)
    if trace.pid:
        load_bus_driver()
    daemon = await look(connect, trace, DAEMON, time.time())
    return replace(daemon, fix=_command(settings, daemon.fix)) if daemon.fix else daemon


MAX_NOTED = 5
"""Ignored settings that the status names."""


def describe_places(settings: Settings) -> list[str]:
    """Return notes on where the index is, on settings of the project that are ignored, and on an old data folder."""
    ignored = [f"ignored: {each.line}" for each in settings.ignored[:MAX_NOTED]]
    if len(settings.ignored) > MAX_NOTED:
        ignored.append(f"ignored: and {len(settings.ignored) - MAX_NOTED} more; `atlas config show` lists them")
    old = legacy_folder(settings.root)
    unused = [f"{old} is of an earlier version and no longer used: delete it"] if old is not None else []
    chosen = settings.origin("root")
    project = [f"project: {settings.root} ({chosen})"] if chosen != "default" else []
    return [*project, f"index: {settings.store_place}", *ignored, *unused]


def _trace(data_dir: Path) -> Trace:
    try:
        alive = find_running(data_dir)
    except ConfigError:  # without file locks there can be no daemon either
        return Trace()
    found = alive or last_running(data_dir)
    if found is None:
        return Trace()
    # a daemon that has just started may not have written its process id yet
    return Trace(found.pid or -1, alive is not None, found.since or time.time(), found.phase, found.detail)


def _command(settings: Settings, command: str) -> str:
    """Return a command with the options that it needs to mean this project in the current folder."""
    if discover_root(Path.cwd()) != settings.root:
        command += f" --project {shlex.quote(str(settings.root))}"
    if settings.origin("data_dir") == "--data-dir":
        command += f" --data-dir {shlex.quote(str(settings.data_dir))}"
    return command


def _index_command(settings: Settings) -> str:
    return f"atlas index {settings.root}"


def _check_parser(settings: Settings) -> Check:
    try:
        from atlas.parsing import load_languages

        return judge.parser_check(load_languages(settings.language_folders).names)
    except (ImportError, ValueError) as error:
        return judge.parser_failure(error, has_own_languages=bool(settings.languages.folders))


async def _check_store(settings: Settings) -> list[Check]:
    """Ask a configured server; an index in a folder needs no check here, because `_check_index` opens it."""
    if not settings.store.url:
        return []
    place = settings.store_place
    try:
        async with asyncio.timeout(STORE_SECONDS):
            facts = await store_server_info(settings)
    except (TimeoutError, AtlasError) as error:
        return [judge.store_failure(error, place, STORE_SECONDS)]
    return [judge.store_check(facts, place, _index_command(settings))]


async def _check_index(settings: Settings, daemon: DaemonStatus) -> tuple[list[Check], ProjectState | None]:
    command, embeds = _index_command(settings), settings.embedder.provider != "none"
    try:
        async with open_atlas(settings) as atlas:
            states = {state.project: state for state in await atlas.reader.store.projects()}
            state = states.get(settings.project_name)
            if state is not None and not state.indexed_at and await asyncio.to_thread(describe_writer, settings):
                return [judge.index_under_way_check()], state
            if state is None or not state.generation:
                others = [name for name in states if name != settings.project_name]
                return [judge.missing_index_check(settings.project_name, others, command)], state
            stats = (await atlas.reader.store.stats(settings.project_name))[0]
    except NotFound:
        return [Check("index", "missing", f"no index in {settings.store_place}", command)], None
    except AtlasError as error:
        return [Check("index", "broken", error.message, error.hint)], None
    return [
        judge.index_check(state, stats, command),
        judge.vectors_check(stats, daemon, command, embeds=embeds),
        *await _check_quality(settings, stats),
    ], state


async def _check_quality(settings: Settings, stats: ProjectStats) -> list[Check]:
    """Embed a question with the sentence transformer, if there is one."""
    embedder = make_quality_reader(settings)
    if embedder is None:
        return []
    command, problem = f"{_index_command(settings)} --quality", None
    try:
        await embedder.embed_query("health check")
    except AtlasError as error:
        problem = error
    finally:
        await embedder.aclose()
    return [judge.quality_check(stats, embedder.place, command, problem, unencrypted=settings.quality_unencrypted)]


async def _check_embedder(settings: Settings, state: ProjectState | None) -> list[Check]:
    if settings.embedder.provider == "none":
        return [judge.no_embedder_check()]
    embedder = make_embedder(settings)
    try:
        await embedder.embed_query("health check")
        info = await embedder.info()
    except AtlasError as error:
        return [judge.embedder_failure(error, embedder.place)]
    finally:
        await embedder.aclose()
    return [
        judge.embedder_check(info, embedder.place, unencrypted=settings.embedder_unencrypted),
        *judge.model_checks(info, state.model() if state is not None else None, _index_command(settings)),
    ]


def _check_disk(settings: Settings) -> Check:
    folder = settings.data_dir
    while not folder.exists():
        folder = folder.parent
    return judge.disk_check(folder, shutil.disk_usage(folder).free, writable=os.access(folder, os.W_OK))


async def _check_bus(settings: Settings, daemon: DaemonStatus) -> Check:
    """Ask the server that the daemon uses; without a daemon, only a configured server can be asked."""
    if daemon.state == "off" and not settings.bus.url:
        try:
            bus_program()
        except ConfigError as error:
            return judge.bus_program_check(error)
        return judge.bus_program_check(None)
    where = "configured server" if settings.bus.url else "own server"
    load_bus_driver()
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            facts = await bus_server_info(settings)
    except (TimeoutError, AtlasError) as error:
        return judge.bus_failure(error, where, DEADLINE_SECONDS)
    return judge.bus_check(facts, daemon, where)


async def _check_packs(settings: Settings) -> list[Check]:
    """Return which dependencies have no installed pack, with the command that builds one; none without dependencies."""
    from atlas.app.store import open_store
    from atlas.packs.links import build_command, dependencies, pack_of
    from atlas.packs.opening import list_packs

    try:
        store = await open_store(settings)
        try:
            declared = [one for one in await dependencies(store, settings.project_name) if one.version]
        finally:
            await store.aclose()
    except AtlasError:
        return []  # the check of the store says why
    packs = await asyncio.to_thread(list_packs)
    if not declared:
        return []
    without = [one for one in declared if pack_of(one, packs) is None]
    names = ", ".join(f"{one.name} {one.version}" for one in without[:8])
    more = f" and {len(without) - 8} more" if len(without) > 8 else ""
    detail = f"with a pack: {len(declared) - len(without)} of {counted(len(declared), 'locked dependency')}"
    detail += f"; without: {names}{more}" if without else ""
    return [Check("packs", "ok", detail, build_command(without[0]) if without else "")]
