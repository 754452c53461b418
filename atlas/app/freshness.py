"""Keeps answers as new as the files: checks the tree before an answer and has a few newer files indexed first.

A session asks `look` before and `update` if files are newer. The index is updated by the running daemon, or by a pass
in this process that goes on in the background after a deadline. Questions that arrive together share one check and one
pass. Nothing here raises: what cannot be done becomes a note of the answer.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.answers.evidence import NewerFiles
from atlas.app.daemon_process import launch_daemon_once
from atlas.app.single_flight import SingleFlight
from atlas.app.store import describe_writer
from atlas.core.errors import AtlasError, ConfigError, WriterBusy
from atlas.core.project_state import ProjectState
from atlas.core.wording import counted
from atlas.runtime.process.daemon import RunningDaemon, find_running, is_resting, start_failure
from atlas.runtime.process.tree_version import TreeVersion, read_version

if TYPE_CHECKING:
    import subprocess

    from atlas.answers.toolset import Report
    from atlas.app.session_host import SessionHost
    from atlas.code.atlas import TreeReport
    from atlas.code.index.project.tree_check import TreeCheck
    from atlas.code.index.warm_index import WarmIndex
    from atlas.core.contracts import Store
    from atlas.runtime.config.load import Settings

FEW_FILES = 20
"""Up to this many newer files are indexed before an answer; more are only named."""
MANY_NOTES = 5_000
"""The same for notes: a note is parsed in a fraction of the time of a source file."""
FEW_BYTES = 4 << 20

UPDATE_SECONDS = 3.0
"""An answer waits this long for an index pass; a tree of 3,000 files takes 1 s for a changed file."""
DAEMON_SECONDS = 1.5
"""An answer waits this long for the daemon, which needs 0.25 s for a saved file."""
STARTING_SECONDS = 10.0
"""And this long for one that is starting, perhaps because of this question: it reads its state first."""
FIRST_SECONDS = 10.0
"""Questions wait for a first index until its pass is this old; a tree of 1,000 files is finished by then."""
FIRST_PATIENCE = 3600.0
"""Seconds that a background pass waits for another writer; no answer waits for that pass."""
REST_SECONDS = 10.0
"""A file that is rewritten faster than it is indexed is not waited for again within this time."""
POLL_SECONDS = 0.03
BUSY_POLL_SECONDS = 0.1
"""Interval of attempts to become the writer while another process is."""


class FreshnessGuard:
    """One per session; use from one event loop, close with `aclose`."""

    def __init__(
        self, settings: Settings, *, may_index: bool, on_demand: bool, host: SessionHost | None = None
    ) -> None:
        """`may_index`: index a few newer files before an answer; `on_demand`: also make the first index.

        `host`: the daemon in whose process the session is.
        """
        self._settings, self._may_index, self._on_demand = settings, may_index, on_demand
        self._host = host if host is not None and host.holds(settings) else None
        self._check: TreeCheck | None = None
        self._checks: SingleFlight[NewerFiles | None] = SingleFlight()
        self._checked_at = -math.inf
        """When the last check that ended began."""
        self._passes: SingleFlight[None] = SingleFlight()
        self._warm: WarmIndex | None = None
        self._scans_seen = 0
        """Scans of the whole tree by the check that the last pass has seen."""
        self._progress = ("scan", 0, 0)
        self._problem: AtlasError | None = None
        self._tried: frozenset[tuple[str, int]] = frozenset()
        self._resting: dict[str, float] = {}
        self._daemon: tuple[subprocess.Popen[bytes], Path] | None = None
        self._daemon_problem = ""
        self._has_launched = False
        self._equal_at = TreeVersion("", 0, -1)
        """What the daemon had noticed when index and tree were last equal."""

    @property
    def is_watched(self) -> bool:
        """Whether a daemon watches the tree, so that `look` may rely on it."""
        return self._noticed() is not None

    @property
    def is_at_work(self) -> bool:
        """Whether a check of the tree or an index pass runs."""
        return self._checks.running is not None or self._passes.running is not None

    async def look(self, store: Store, *, certain: bool = False) -> NewerFiles | None:
        """Return which files are newer than the index, from a check that began after the call; None if unknown.

        Nothing is read while a daemon that watches the tree has noticed no change since index and tree were equal,
        unless the answer must be `certain`: the daemon notices a change after some milliseconds.
        """
        asked = time.monotonic()
        version = self._noticed()
        if version is not None and version.noticed == version.indexed:
            self._equal_at = version
        if not certain and version is not None and self._equal_at == replace(version, indexed=self._equal_at.indexed):
            return NewerFiles()
        run = await self._checks.after(asked, partial(self._compare, store, version))
        assert run is not None
        return run.task.result()

    def verify_early(self) -> None:
        """Have the next check look at each file, so that no call has to; for checks in the background."""
        if self._check is not None:
            self._check.verify_early()

    async def update(self, store: Store, newer: NewerFiles) -> tuple[NewerFiles, str]:
        """Have the newer files indexed if they are few; return those that still are newer, and why."""
        assert self._check is not None
        paths = newer.paths
        daemon = await asyncio.to_thread(self._serving_daemon)
        now = time.monotonic()
        waits_for = [path for path in paths if self._resting.get(path, 0.0) < now]
        folder = f"{self._settings.knowledge.folder}/"
        sources = sum(not path.startswith(folder) for path in paths)
        few = sources <= FEW_FILES and len(paths) <= MANY_NOTES and self._check.bytes_of(paths) <= FEW_BYTES
        why = "the daemon is indexing them" if daemon else ""
        if not few:
            return newer, why or self._advice()
        if daemon:
            starts = daemon.phase in ("starting", "indexing")
            newer = await self._by_daemon(store, newer, starts=starts) if waits_for else newer
            self._rest(newer)
        elif not self._may_index:
            return newer, self._advice()
        else:
            versions = self._check.identities(paths)
            if waits_for and not versions <= self._tried:
                newer = await self._by_pass(store, versions)
            why = self._why_not() if newer.paths else ""
        return newer, why

    async def make_index(self) -> bool:
        """Make the first index in the background; return whether it is finished.

        Every call waits until the pass is `FIRST_SECONDS` old, later ones only for a moment.

        Raises ConfigError where no index may be made, and the error of the pass.
        """
        self.check_allowed()
        now, running = time.monotonic(), self._passes.running
        began = running.began if running is not None else now
        left = max(began + FIRST_SECONDS - now, POLL_SECONDS)
        finished = await self._passes.after(began, partial(self._run_pass, FIRST_PATIENCE), left)
        if finished is not None and self._problem is not None:
            raise self._problem
        return finished is not None

    def check_allowed(self) -> None:
        """Raise ConfigError where no index may be made on demand."""
        if (reason := self.forbidden()) != "":
            raise ConfigError(reason, "Name a project folder with --project, or run `atlas index` for this one.")

    def forbidden(self) -> str:
        """Return why the root is never indexed on demand, "" if it may be."""
        root, home = self._settings.root, Path.home().resolve()
        if root == home:
            return f"{root} is the home folder: it is not indexed on demand"
        if root in home.parents or root == Path(root.anchor):
            return f"{root} contains the home folder: it is not indexed on demand"
        return ""

    def unsupported(self, forms: Mapping[str, str]) -> dict[str, int]:
        """Return the endings of files in unsupported languages with their numbers; `forms`: form of each language."""
        return self._check.unsupported(forms) if self._check is not None else {}

    def progress(self) -> str:
        """Return how far the pass at work is, "" without one."""
        if self._passes.running is None:
            return ""
        from atlas.code.tools.state.index_pass import PHASES

        phase, done, total = self._progress
        name = PHASES[phase][2] if phase in PHASES else phase
        if not total:
            return name
        return f"{name}, {done:,} of {total:,} {'texts' if phase == 'embed' else 'files'}"

    async def tell(self, report: Report) -> None:
        """Report how far the pass at work is, once there is one, until cancelled."""
        from atlas.code.tools.state.index_pass import REPORT_SECONDS, IndexProgress
        from atlas.core.threads import in_background

        while self._passes.running is None:  # noqa: ASYNC110 a call that needs no pass ends before
            await asyncio.sleep(REPORT_SECONDS)
        progress = IndexProgress()
        progress(*self._progress)
        async with in_background(progress.pump(report)):
            while True:
                await asyncio.sleep(REPORT_SECONDS)
                progress(*self._progress)

    async def work_at_index(self) -> str:
        """Return how far the pass at work is, or that another process writes; "" without either."""
        return self.progress() or await asyncio.to_thread(describe_writer, self._settings)

    async def unfinished(self, store: Store) -> TreeReport:
        """Continue an interrupted first index if this session may; return how far it is, and what is missing."""
        from atlas.code.atlas import TreeReport

        problem = ""
        if self._on_demand and not self.forbidden():
            try:
                if await self.make_index():
                    return TreeReport()
            except AtlasError as error:
                problem = f"it cannot be continued: {error.message}"
        newer, check = await self.look(store, certain=True), self._check
        share = f"{check.indexed:,} of {counted(check.files, 'file', ',')} indexed" if check and newer else ""
        progress = await self.work_at_index() or problem or "`atlas index` completes it"
        return TreeReport(newer or NewerFiles(), unfinished="; ".join(part for part in (share, progress) if part))

    async def start_daemon(self) -> None:
        """Have the daemon in whose process the session is watch the tree; once per session.

        Elsewhere start a detached one unless one runs, if the settings say so themselves: it stays until it is stopped.
        A failure becomes `daemon_problem`.
        """
        if self._has_launched:
            return
        self._has_launched = True
        settings = self._settings
        if self._host is not None:
            self._host.begin(settings)
            return
        if settings.origin("mcp.start_daemon") == "default":
            return
        data_dir = "" if settings.origin("data_dir") == "default" else str(settings.data_dir)
        try:
            if await asyncio.to_thread(find_running, settings.data_dir) is None:
                self._daemon = await asyncio.to_thread(launch_daemon_once, [settings], data_dir)
        except AtlasError as error:
            self._daemon_problem = error.message
        except OSError as error:
            self._daemon_problem = error.strerror or str(error)

    def daemon_problem(self) -> str:
        """Return why the daemon that this session has started does not run, "" if it does or was not started."""
        if self._host is not None:
            return self._host.problem
        if self._daemon is not None:
            error = start_failure(self._settings.data_dir, *self._daemon)
            return error.message if error is not None else ""
        return self._daemon_problem

    async def aclose(self) -> None:
        """End the pass at work; what it has written stays, and the next pass continues. Idempotent.

        The scanned tree is kept for the next session.
        """
        await self._passes.aclose()
        await self._checks.aclose(cancel=False)
        if self._warm is not None:
            await self._warm.aclose()
        if self._check is not None:
            await self._check.aclose()

    async def _compare(self, store: Store, version: TreeVersion | None) -> NewerFiles | None:
        settings, began = self._settings, time.monotonic()
        try:
            state = await self._state(store)
            if state is None or state.root != str(settings.root):
                return None
            if self._check is None:
                from atlas.app.main import make_tree_check

                self._check = await asyncio.to_thread(make_tree_check, settings)
            newer = await self._check.compare(store, state)
        except AtlasError:
            # the root is gone or cannot be read; the check of the cited files says so
            return None
        self._checked_at = began
        if not newer.paths and version is not None:
            self._equal_at = version
        return newer

    async def _state(self, store: Store) -> ProjectState | None:
        return next((one for one in await store.projects() if one.project == self._settings.project_name), None)

    def _noticed(self) -> TreeVersion | None:
        settings = self._settings
        return None if settings.shared else read_version(settings.data_dir, settings.project_name, settings.root)

    def _serving_daemon(self) -> RunningDaemon | None:
        """Return the running daemon if it keeps this project up to date."""
        if self._settings.shared:
            return None
        try:
            running = find_running(self._settings.data_dir)
        except ConfigError:
            return None
        if running is None or is_resting(running):
            return None  # one that rests wakes up by the same change, and finds it indexed
        return running if self._settings.project_name in running.projects else None

    async def _by_daemon(self, store: Store, newer: NewerFiles, *, starts: bool) -> NewerFiles:
        """Wait until the daemon has indexed these files, for a time; `starts`: it has just been started."""
        hinting = asyncio.create_task(self._hint(newer.paths))
        end, generation = time.monotonic() + (STARTING_SECONDS if starts else DAEMON_SECONDS), -1
        try:
            while newer.paths and time.monotonic() < end:
                await asyncio.sleep(POLL_SECONDS)
                state = await self._state(store)
                if state is None or state.generation != generation:
                    newer = await self.look(store, certain=True) or NewerFiles()
                    generation = state.generation if state is not None else -1
        finally:
            hinting.cancel()
            await asyncio.gather(hinting, return_exceptions=True)
        return newer

    async def _hint(self, paths: Sequence[str]) -> None:
        """Tell the daemon of these files: it may poll, or wait for its watcher's window."""
        from atlas.app.bus import connect_bus_of_running_daemon
        from atlas.code.index.events import FILE_CHANGED
        from atlas.core.events import Event

        bus = await connect_bus_of_running_daemon(self._settings)
        if bus is not None:
            try:
                await bus.publish(FILE_CHANGED, [Event(self._settings.project_name, path) for path in paths])
            finally:
                await bus.aclose()

    async def _by_pass(self, store: Store, versions: frozenset[tuple[str, int]]) -> NewerFiles:
        """Index in this process; return what is newer afterwards, or when the time is over."""
        end = time.monotonic() + UPDATE_SECONDS
        running = self._passes.running
        if running is not None and running.began < self._checked_at:
            # it may have begun before these files changed
            await asyncio.wait([running.task], timeout=UPDATE_SECONDS)
            newer = await self.look(store, certain=True) or NewerFiles()
            if not newer.paths:
                return newer
        # a pass that began after the check reads what the check has seen
        work = partial(self._run_pass, UPDATE_SECONDS, store)
        ended = await self._passes.after(self._checked_at, work, max(end - time.monotonic(), 0.0))
        newer = await self.look(store, certain=True) or NewerFiles()
        if ended is not None and self._problem is None:
            # a file that is deleted again has the version that it had the first time
            self._tried = frozenset(one for one in self._tried | versions if one[0] in newer.paths)
            self._rest(newer)
        elif isinstance(self._problem, WriterBusy):
            self._rest(newer)
        return newer

    def _rest(self, newer: NewerFiles) -> None:
        """Do not wait for these files again soon: they have just been indexed, or the daemon has a lot to do."""
        until = time.monotonic() + REST_SECONDS
        self._resting = {path: until for path in newer.paths}

    async def _run_pass(self, patience: float, store: Store | None = None) -> None:
        """Index what is newer; waits up to `patience` seconds for another writer, which may index it for all.

        `store` tells whether it has; None while there is no index.
        """
        self._problem, self._progress = None, ("scan", 0, 0)
        # a server may be slow: the next `atlas index` or the daemon makes the vectors that need it
        settings = replace(self._settings, embedder=self._settings.embedder.in_process())
        end = time.monotonic() + patience
        while True:
            try:
                await self._index(settings, store)
                self._problem = None
                return
            except AtlasError as error:
                self._problem = error
            if not isinstance(self._problem, WriterBusy) or time.monotonic() >= end:
                return
            await asyncio.sleep(BUSY_POLL_SECONDS)
            if store is not None and (newer := await self.look(store, certain=True)) is not None and not newer.paths:
                self._problem = None
                return

    async def _index(self, settings: Settings, store: Store | None) -> None:
        """Index what is newer now: the files that the check names, or everything if an earlier pass left nothing.

        Raises AtlasError as a pass does.
        """
        from atlas.app.main import index_project, make_warm_index

        # other hosts may write an index on a server; a first pass is best without keeping anything
        if store is None or settings.store.url:
            await index_project(settings, self._note_progress, patience=0.0)
            return
        if self._warm is None:
            self._warm = make_warm_index(settings)
        newer = await self.look(store, certain=True)
        scans = self._check.scans if self._check is not None else 0
        if newer is None or not await self._warm.update(newer.paths, everything=scans != self._scans_seen):
            await index_project(settings, self._note_progress, patience=0.0, warm=self._warm)
        self._scans_seen = scans

    def _note_progress(self, phase: str, done: int, total: int) -> None:
        self._progress = phase, done, total

    def _why_not(self) -> str:
        if isinstance(self._problem, WriterBusy):
            return f"another process is indexing: {self._problem.message}"
        if self._passes.running is not None:
            return self.progress()
        return f"they cannot be indexed: {self._problem.message}" if self._problem is not None else ""

    def _advice(self) -> str:
        return "the index tool or `atlas index` brings the index up to date" if self._may_index else "run `atlas index`"
