"""Health of an installation, of one project's index and of what keeps it true: what works, what is missing, what helps.

Every check is tried for real: the extension is imported, the model encodes a word, the store is opened and counted, the
bus is asked. Nothing is started.
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

from atlas.app.bus import (
    bus_program,
    bus_server_facts,
    connect_bus_of_running_daemon,
    load_bus_driver,
)
from atlas.app.embedder import make_embedder
from atlas.app.health_store import check_model, check_store
from atlas.app.main import open_atlas
from atlas.config.load import discover_root
from atlas.errors import AtlasError, ConfigError, NotFound
from atlas.pipeline.heartbeat import DAEMON
from atlas.process.daemon import find_running, last_running
from atlas.process.data_folder import legacy_folder
from atlas.tools.answers import Check, Evidence, HealthAnswer
from atlas.tools.health import health
from atlas.tools.status.daemon import DEADLINE_SECONDS, DaemonStatus, Trace, WatchStatus, look
from atlas.tools.status.report import LETTERS, daemon_line, megabytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atlas.config.load import Settings
    from atlas.contracts import Bus
    from atlas.model import ProjectState, ProjectStats

LITTLE_SPACE = 512 << 20
"""Bytes of free disk below which indexing may fail: three times the index of a project of 3,000 files."""


FULL_SHARE = 0.8
"""Share of a bus server's memory beyond which somebody should look at it: it refuses events when it is full."""

WATCH_ADVICE = {
    "fs.inotify.max_user_watches": "sudo sysctl fs.inotify.max_user_watches=1048576, then restart the daemon",
    "fs.inotify.max_user_instances": "sudo sysctl fs.inotify.max_user_instances=1024 or raise ulimit -n, then restart",
}
"""What is named in the reason why a tree is polled -> what helps."""


async def check_health(settings: Settings) -> HealthAnswer:
    """Return the state of every part; never raises an AtlasError."""
    daemon = await look_at_daemon(settings)
    index, state = await _check_index(settings, daemon)
    checks = [
        await asyncio.to_thread(_check_extension, settings),
        *await check_store(settings),
        *index,
        *await _check_embedder(settings, state),
        await asyncio.to_thread(_check_data_dir, settings),
        *_check_legacy_folder(settings),
        _check_daemon(daemon),
        *await _check_bus(settings, daemon),
        *_check_watching(daemon.projects),
        *_check_letters(settings, daemon),
    ]
    return health(checks, _evidence(settings, state))


async def look_at_daemon(settings: Settings) -> DaemonStatus:
    """Return the state of the data folder's daemon within about a second; starts nothing, raises no AtlasError.

    On shared servers: of the processes there, on whatever host.
    """
    if settings.shared:
        return await _look_at_workers(settings)
    trace = await asyncio.to_thread(_trace, settings.data_dir)
    if trace.pid:
        load_bus_driver()

    async def connect() -> Bus | None:
        return await connect_bus_of_running_daemon(settings)

    daemon = await look(connect, trace, DAEMON, time.time())
    return replace(daemon, fix=_command(settings, daemon.fix)) if daemon.fix else daemon


async def _look_at_workers(settings: Settings) -> DaemonStatus:
    from atlas.tools.status.workers import look_at_workers

    load_bus_driver()

    async def connect() -> Bus | None:
        return await connect_bus_of_running_daemon(settings)

    return await look_at_workers(connect, settings.project_name, DAEMON, time.time())


def _trace(data_dir: Path) -> Trace:
    try:
        alive = find_running(data_dir)
    except ConfigError:  # a platform or a disk without locks has no daemon either
        return Trace()
    found = alive or last_running(data_dir)
    if found is None:
        return Trace()
    # a daemon that has not written itself down yet is there all the same
    return Trace(found.pid or -1, alive is not None, found.since or time.time(), found.phase, found.detail)


def _command(settings: Settings, command: str) -> str:
    """Return a command with the options without which it would mean another project from the current folder."""
    if discover_root(Path.cwd()) != settings.root:
        command += f" --project {shlex.quote(str(settings.root))}"
    if settings.origin("data_dir") == "--data-dir":
        command += f" --data-dir {shlex.quote(str(settings.data_dir))}"
    return command


def _check_daemon(daemon: DaemonStatus) -> Check:
    state = {"gone": "warning", "stuck": "broken"}.get(daemon.state, "ok")
    detail = daemon_line(replace(daemon, fix="")).removeprefix("daemon ")
    return Check("daemon", state, detail, daemon.fix)


async def _check_bus(settings: Settings, daemon: DaemonStatus) -> list[Check]:
    """Ask the server that the daemon uses; without a daemon only a configured one is there to be asked."""
    if daemon.state == "off" and not settings.bus.url:
        return [_check_program()]
    where = "configured server" if settings.bus.url else "own server"
    load_bus_driver()
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            facts = await bus_server_facts(settings)
    except (TimeoutError, AtlasError) as error:
        said = error.message if isinstance(error, AtlasError) else f"no answer within {DEADLINE_SECONDS:g} s"
        hint = error.hint if isinstance(error, AtlasError) else ""
        return [Check("bus", "warning", f"{where}: {said}", hint or "see `atlas daemon logs`")]
    if facts is None:
        state = "ok" if daemon.state in ("gone", "starting") else "warning"
        return [Check("bus", state, f"{where}: none answers", daemon.fix)]
    cap = f" of {megabytes(facts.cap_bytes)}" if facts.cap_bytes else ""
    kept = "log on disk" if facts.logs else "no log on disk: a restart of it costs a look at everything"
    detail = f"{where}: Valkey {facts.version}, {megabytes(facts.used_bytes)}{cap} used, {kept}"
    if facts.log_problem:
        return [Check("bus", "warning", f"{detail}; {facts.log_problem}", "Free disk space; see the server's log.")]
    if facts.cap_bytes and facts.used_bytes > FULL_SHARE * facts.cap_bytes:
        return [Check("bus", "warning", f"{detail}; nearly full", "See `atlas status`: which stream is long, and why?")]
    return [Check("bus", "ok", detail)]


def _check_program() -> Check:
    try:
        bus_program()
    except ConfigError as error:
        return Check("bus", "missing", f"the daemon cannot start its own server: {error.message}", error.hint)
    return Check("bus", "ok", "the daemon starts its own server")


def _check_watching(projects: Sequence[WatchStatus]) -> list[Check]:
    checks: list[Check] = []
    for watch in projects:
        if watch.mode == "watching":
            checks.append(Check("watching", "ok", f"{watch.project}: {watch.folders} folders"))
        elif watch.ready:
            fix = next((advice for word, advice in WATCH_ADVICE.items() if word in watch.reason), "")
            detail = f"{watch.project}: looked at at intervals only: {watch.reason}"
            checks.append(Check("watching", "warning", detail, fix or "see `atlas daemon logs`"))
    return checks


def _check_letters(settings: Settings, daemon: DaemonStatus) -> list[Check]:
    dead = sum(tier.dead for tier in daemon.tiers)
    if not dead:
        return []
    detail = f"{dead} events were given up"
    return [Check("letters", "warning", detail, _command(settings, LETTERS))]


def _check_extension(settings: Settings) -> Check:
    try:
        from atlas.parsing import load_languages

        names = load_languages(settings.language_folders).names
    except (ImportError, ValueError) as error:
        own = isinstance(error, ValueError) and settings.languages.folders
        fix = "Correct that file." if own else "Install the package again: pip install --force-reinstall code-atlas"
        return Check("parser", "broken", str(error), fix)
    return Check("parser", "ok", f"languages: {', '.join(names)}")


async def _check_index(settings: Settings, daemon: DaemonStatus) -> tuple[list[Check], ProjectState | None]:
    command = f"atlas index {settings.root}"
    try:
        async with open_atlas(settings) as atlas:
            states = {state.project: state for state in await atlas.reader.store.projects()}
            state = states.get(settings.project_name)
            if state is None or not state.generation:
                others = ", ".join(name for name in states if name != settings.project_name)
                known = f"; the store holds {others}" if others else ""
                return [Check("index", "missing", f"{settings.project_name} is not indexed{known}", command)], state
            stats = (await atlas.reader.store.stats(settings.project_name))[0]
    except NotFound:
        return [Check("index", "missing", f"no index in {settings.store_place}", command)], None
    except AtlasError as error:
        return [Check("index", "broken", error.message, error.hint)], None
    counts = f"{stats.files} files, {sum(stats.nodes.values())} nodes, {sum(stats.edges.values())} edges"
    if stats.stale_files:
        counts += f"; {stats.stale_files} files changed since they were read"
    if state.indexed_at:
        found = Check("index", "ok", f"generation {state.generation} of {state.indexed_at}: {counts}")
    else:
        found = Check("index", "missing", f"the first index is under way or was stopped: {counts}", command)
    return [found, _check_vectors(settings, stats, daemon, command)], state


def _check_vectors(settings: Settings, stats: ProjectStats, daemon: DaemonStatus, command: str) -> Check:
    share = f"{stats.vectors} of {stats.chunks} texts have an up-to-date vector"
    if settings.embedder.provider == "none":
        return Check("vectors", "missing", "switched off", 'Set embedder.provider = "static"')
    if stats.vectors < stats.chunks and daemon.state == "running":
        return Check("vectors", "ok", f"{share}; the daemon makes the others, those of small changes later")
    if stats.vectors < stats.chunks:
        return Check("vectors", "missing", share, command)
    return Check("vectors", "ok", share)


async def _check_embedder(settings: Settings, state: ProjectState | None) -> list[Check]:
    if settings.embedder.provider == "none":
        return [Check("embedder", "missing", "switched off: no search by meaning", 'Set embedder.provider = "static"')]
    embedder = make_embedder(settings)
    try:
        await embedder.embed_query("health check")
        info = await embedder.info()
    except AtlasError as error:
        sent = f"; code would be sent to {embedder.place}" if embedder.place else ""
        return [Check("embedder", "broken", f"{error.message}{sent}", error.hint)]
    finally:
        await embedder.aclose()
    made, model = f"{info.provider} {info.model}, {info.dimension} dimensions", check_model(settings, info, state)
    if not embedder.place:
        return [Check("embedder", "ok", f"{made}, on this machine"), *model]
    detail = f"{made}; code is sent to {embedder.place}"
    if settings.embedder_unencrypted:
        fix = "Use an https:// address in embedder.url."
        return [Check("embedder", "warning", f"{detail}, unencrypted", fix), *model]
    return [Check("embedder", "ok", detail), *model]


def describe_places(settings: Settings) -> list[str]:
    """Return notes on where the index is, and on a folder of an earlier version that is not used any more."""
    old = legacy_folder(settings.root)
    unused = [f"{old} is of an earlier version and not used any more: delete it"] if old is not None else []
    return [f"index: {settings.store_place}", *unused]


def _check_data_dir(settings: Settings) -> Check:
    folder = settings.data_dir
    while not folder.exists():
        folder = folder.parent
    if not os.access(folder, os.W_OK):
        return Check("disk", "broken", f"{folder} cannot be written", "Choose another folder with --data-dir")
    free = shutil.disk_usage(folder).free
    if free < LITTLE_SPACE:
        return Check("disk", "missing", f"{free >> 20} MB free at {folder}", "Free disk space before indexing")
    return Check("disk", "ok", f"{free >> 30} GB free at {folder}")


def _check_legacy_folder(settings: Settings) -> list[Check]:
    old = legacy_folder(settings.root)
    if old is None:
        return []
    return [Check("old data", "warning", f"{old} is of an earlier version and not used any more", f"rm -r {old}")]


def _evidence(settings: Settings, state: ProjectState | None) -> Evidence:
    generation, indexed_at = (state.generation, state.indexed_at) if state else (0, "")
    return Evidence(settings.project_name, generation, indexed_at, "", (), "cl100k_base", 0, 0)
