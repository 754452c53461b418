"""The judgement of each health check: facts about one part come in, a `Check` with what helps goes out.

Pure: `atlas.app.health` gathers the facts from adapters and settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from atlas.code.tools.state.daemon import DaemonStatus, WatchStatus
from atlas.code.tools.state.health import Check
from atlas.code.tools.state.report import daemon_line, megabytes
from atlas.core.errors import AtlasError
from atlas.core.model import ModelInfo
from atlas.core.project_state import ProjectState, ProjectStats
from atlas.core.wording import counted, counts

MIN_FREE_BYTES = 512 << 20
"""Free disk below which indexing may fail: three times the index of a project of 3,000 files."""

NEARLY_FULL = 0.8
"""Share of a bus server's memory above which the check warns: a full server refuses events."""

WATCH_ADVICE: Mapping[str, str] = {
    "fs.inotify.max_user_watches": "sudo sysctl fs.inotify.max_user_watches=1048576, then restart the daemon",
    "fs.inotify.max_user_instances": "sudo sysctl fs.inotify.max_user_instances=1024 or raise ulimit -n, then restart",
}
"""Limit that the reason for polling names -> what helps."""

USE_STATIC = 'Set embedder.provider = "static"'


class StoreFacts(Protocol):
    """The state of a store server that answers; see `server_info` of `stores.bolt.store`."""

    @property
    def agent(self) -> str:
        """Name and version of the server."""
        ...

    @property
    def indexes(self) -> int:
        """Number of required indexes that exist."""
        ...

    @property
    def missing(self) -> Sequence[str]:
        """Names of the missing ones."""
        ...


class BusFacts(Protocol):
    """The state of a bus server that answers; see `buses.valkey_info`."""

    @property
    def version(self) -> str:
        """Version of the server."""
        ...

    @property
    def used_bytes(self) -> int:
        """Memory in use."""
        ...

    @property
    def cap_bytes(self) -> int:
        """Memory limit; 0 = none."""
        ...

    @property
    def logs(self) -> bool:
        """Whether a restart loses nothing because of the log on disk."""
        ...

    @property
    def log_problem(self) -> str:
        """Why the last write of the log failed; "" if it did not."""
        ...


def parser_check(languages: Sequence[str]) -> Check:
    """Return the check of a parser that has loaded these languages."""
    return Check("parser", "ok", f"languages: {', '.join(languages)}")


def parser_failure(error: ImportError | ValueError, *, has_own_languages: bool) -> Check:
    """Return the check of a parser that cannot be imported (ImportError) or has loaded a wrong language."""
    is_own = isinstance(error, ValueError) and has_own_languages
    fix = "Correct that file." if is_own else "Install the package again, with pip's --force-reinstall."
    return Check("parser", "broken", str(error), fix)


def store_check(facts: StoreFacts, place: str, index_command: str) -> Check:
    """Return the check of a store server at `place`."""
    server = f"{facts.agent} at {place}"
    if not facts.indexes:
        return Check("store", "missing", f"{server}: empty", index_command)
    if facts.missing:
        detail = f"{server}: {counted(len(facts.missing), 'index')} missing: {', '.join(facts.missing[:3])}"
        return Check("store", "broken", detail, index_command)
    return Check("store", "ok", f"{server}, {facts.indexes} indexes online")


def store_failure(error: AtlasError | TimeoutError, place: str, seconds: float) -> Check:
    """Return the check of a store server that did not answer within `seconds` or answered with an error."""
    if isinstance(error, AtlasError):
        return Check("store", "broken", error.message, error.hint)
    return Check("store", "broken", f"{place}: no answer within {seconds:g} s", "Check the server's load.")


def missing_index_check(project: str, others: Sequence[str], index_command: str) -> Check:
    """Return the check of a project that the index does not hold; `others` are the projects that it holds."""
    held = f"; the store holds {', '.join(others)}" if others else ""
    return Check("index", "missing", f"{project} is not indexed{held}", index_command)


def index_under_way_check() -> Check:
    """Return the check of a project whose first index another process makes."""
    return Check("index", "missing", "the first index is under way: another process is indexing", "Ask again later.")


def index_check(state: ProjectState, stats: ProjectStats, index_command: str) -> Check:
    """Return the check of an indexed project."""
    nodes, edges = sum(stats.nodes.values()), sum(stats.edges.values())
    contents = counts((stats.files, "file"), (nodes, "node"), (edges, "edge"))
    if stats.stale_files:
        contents += f"; {counted(stats.stale_files, 'file')} changed since the index was made"
    if state.indexed_at and not stats.files:
        return Check("index", "missing", "no file of the project is indexed", "atlas status --skipped")
    if state.indexed_at:
        return Check("index", "ok", f"generation {state.generation} of {state.indexed_at}: {contents}")
    return Check("index", "missing", f"the first index is under way or was stopped: {contents}", index_command)


def vectors_check(stats: ProjectStats, daemon: DaemonStatus, index_command: str, *, embeds: bool) -> Check:
    """Return the check of the project's vectors; `embeds`: an embedder is configured."""
    share = f"{stats.vectors} of {counted(stats.chunks, 'text')} with an up-to-date vector"
    if not embeds:
        return Check("vectors", "missing", "switched off", USE_STATIC)
    if stats.vectors < stats.chunks and daemon.state == "running":
        return Check("vectors", "ok", f"{share}; the daemon makes the others, those of small changes later")
    if stats.vectors < stats.chunks:
        return Check("vectors", "missing", share, index_command)
    return Check("vectors", "ok", share)


def no_embedder_check() -> Check:
    """Return the check of an embedder that is switched off."""
    return Check("embedder", "missing", "switched off: no search by meaning", USE_STATIC)


def embedder_check(info: ModelInfo, place: str, *, unencrypted: bool) -> Check:
    """Return the check of an embedder that answers. `place`: where it sends texts, "" if they stay in this process."""
    model = f"{info.provider} {info.model}, {info.dimension} dimensions"
    if not place:
        return Check("embedder", "ok", f"{model}, on this machine")
    detail = f"{model}; code is sent to {place}"
    if unencrypted:
        return Check("embedder", "warning", f"{detail}, unencrypted", "Use an https:// address in embedder.url.")
    return Check("embedder", "ok", detail)


def embedder_failure(error: AtlasError, place: str) -> Check:
    """Return the check of an embedder that fails. `place`: see `embedder_check`."""
    sent = f"; code would be sent to {place}" if place else ""
    return Check("embedder", "broken", f"{error.message}{sent}", error.hint)


def model_checks(made: ModelInfo, stored: ModelInfo | None, index_command: str) -> list[Check]:
    """Return a warning if the store's vectors are not of the embedder's model. `stored` None: there are no vectors."""
    if stored is None or stored == made:
        return []
    detail = (
        f"vectors are of {stored.provider} {stored.model} ({stored.dimension} dimensions), the embedder makes "
        f"{made.provider} {made.model} ({made.dimension}): no search by meaning"
    )
    return [Check("model", "warning", detail, index_command)]


def quality_check(
    stats: ProjectStats, place: str, command: str, problem: AtlasError | None = None, *, unencrypted: bool = False
) -> Check:
    """Return the check of the sentence transformer: the share of its vectors, or why it cannot be used.

    `place`: where it sends texts, "" if they stay in this process. `command` makes its vectors at once.
    """
    sent = f"; code is sent to {place}" if place else ", on this machine"
    if problem is not None:
        return Check("quality", "broken", f"sentence transformer: {problem.message}{sent}", problem.hint)
    share = f"{stats.quality_vectors} of {counted(stats.quality_chunks, 'text')} with a vector"
    detail = f"sentence transformer: {share}{sent}"
    if stats.quality_vectors < stats.quality_chunks:
        return Check("quality", "missing", detail, f"{command}, or let a daemon make the others in the background")
    if unencrypted:
        return Check("quality", "warning", f"{detail}, unencrypted", "Use an https:// address in quality.url.")
    return Check("quality", "ok", detail)


def disk_check(folder: Path, free_bytes: int, *, writable: bool) -> Check:
    """Return the check of the disk with the data folder; `folder` is that folder or its nearest existing parent."""
    if not writable:
        return Check("disk", "broken", f"{folder} is not writable", "Choose another folder with --data-dir")
    if free_bytes < MIN_FREE_BYTES:
        return Check("disk", "missing", f"{free_bytes >> 20} MB free at {folder}", "Free disk space before indexing")
    return Check("disk", "ok", f"{free_bytes >> 30} GB free at {folder}")


def legacy_folder_checks(folder: Path | None) -> list[Check]:
    """Return a warning if there is a data folder of an earlier version, which this version does not use."""
    if folder is None:
        return []
    detail = f"{folder} is of an earlier version and no longer used"
    return [Check("old data", "warning", detail, f"rm -r {folder}")]


def daemon_check(daemon: DaemonStatus, problem: str = "") -> Check:
    """Return the check of the daemon; `problem`: why one that was to start did not."""
    if problem:
        return Check("daemon", "broken", f"could not be started: {problem}", daemon.fix)
    state = {"gone": "warning", "stuck": "broken", "running": "warning" if daemon.fix else "ok"}.get(daemon.state, "ok")
    detail = daemon_line(replace(daemon, fix="")).removeprefix("daemon ")
    return Check("daemon", state, detail, daemon.fix)


def bus_check(facts: BusFacts | None, daemon: DaemonStatus, where: str) -> Check:
    """Return the check of the bus server; `facts` None: it does not answer. `where` names it for people."""
    if facts is None:
        state = "ok" if daemon.state in ("gone", "starting") else "warning"
        return Check("bus", state, f"{where}: does not answer", daemon.fix)
    cap = f" of {megabytes(facts.cap_bytes)}" if facts.cap_bytes else ""
    log = "log on disk" if facts.logs else "no log on disk: after a restart, the daemon scans everything"
    detail = f"{where}: Valkey {facts.version}, {megabytes(facts.used_bytes)}{cap} used, {log}"
    if facts.log_problem:
        return Check("bus", "warning", f"{detail}; {facts.log_problem}", "Free disk space; see the server's log.")
    if facts.cap_bytes and facts.used_bytes > NEARLY_FULL * facts.cap_bytes:
        return Check("bus", "warning", f"{detail}; nearly full", "See `atlas status` for the longest stream.")
    return Check("bus", "ok", detail)


def bus_failure(error: AtlasError | TimeoutError, where: str, seconds: float) -> Check:
    """Return the check of a bus server that did not answer within `seconds` or answered with an error."""
    is_known = isinstance(error, AtlasError)
    problem = error.message if is_known else f"no answer within {seconds:g} s"
    hint = error.hint if is_known else ""
    return Check("bus", "warning", f"{where}: {problem}", hint or "see `atlas daemon logs`")


def bus_program_check(error: AtlasError | None) -> Check:
    """Return the check of the server program that the daemon starts; `error` says why there is none."""
    if error is not None:
        return Check("bus", "missing", f"the daemon cannot start its own server: {error.message}", error.hint)
    return Check("bus", "ok", "the daemon starts its own server")


def watching_checks(projects: Sequence[WatchStatus]) -> list[Check]:
    """Return a check for each project that the daemon watches; a warning for one that it polls."""
    checks: list[Check] = []
    for watch in projects:
        if watch.mode == "watching":
            checks.append(Check("watching", "ok", f"{watch.project}: {counted(watch.folders, 'folder')}"))
        elif watch.ready:
            fix = next((advice for word, advice in WATCH_ADVICE.items() if word in watch.reason), "")
            detail = f"{watch.project}: scanned at intervals only: {watch.reason}"
            checks.append(Check("watching", "warning", detail, fix or "see `atlas daemon logs`"))
    return checks


def dead_letter_checks(daemon: DaemonStatus, list_command: str) -> list[Check]:
    """Return a warning if there are dead letters."""
    dead = sum(tier.dead for tier in daemon.tiers)
    return [Check("letters", "warning", f"{counted(dead, 'event')} failed permanently", list_command)] if dead else []
