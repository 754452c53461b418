"""The main functions of the daemon's and a worker's process: instance lock, log and signals around `app.daemon`.

The first signal stops the process in order, a second one at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import gc
import json
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from atlas import __version__
from atlas.adapters.opening.data_folder import prepare_data_folder
from atlas.app.daemon import run_daemon, stop_server
from atlas.app.daemon_process import DETACHED, away_options, daemon_command, given_data_dir
from atlas.app.session_host import SessionHost
from atlas.app.worker import run_worker
from atlas.core.errors import AtlasError, StoreError
from atlas.runtime.config.addresses import masked
from atlas.runtime.process.daemon import ENDED, DaemonInstance, RunningDaemon, find_running
from atlas.runtime.process.log import DaemonLog
from atlas.runtime.process.resting import SIGNALS, become_resting

if TYPE_CHECKING:
    from atlas.code.index.worker import Log
    from atlas.runtime.config.load import Settings

SECOND_SIGNAL_CODE = 130
"""Exit code after a second signal."""

VALID_SECONDS = 2.0
"""Interval of the check whether the data folder still exists."""


def run_foreground(all_settings: Sequence[Settings], *, echo: bool, host: SessionHost) -> RunningDaemon | None:
    """Run the daemon of these projects until a signal arrives; return None then, or the daemon that already runs.

    `echo` also prints the log on standard error. A project that a session asks for is added. Logs and raises the error
    that ends the daemon.
    """
    while True:
        other = _watch(all_settings, echo=echo, host=host)
        if other is not None or host.is_left():
            return other
        all_settings = host.watched


def run_for_sessions(host: SessionHost) -> None:
    """Watch what sessions ask for, nothing before that, until they end the process or a signal does.

    Sessions are served without a watcher where that fails; the error is logged.
    """
    while True:
        for kind in SIGNALS:
            signal.signal(kind, lambda number, frame: host.leave())
        if host.is_left():
            return
        try:
            if _watch(host.watched, echo=False, host=host) is not None:
                # another daemon watches this index: these sessions read what it has noticed
                host.watched = ()
        except AtlasError as error:
            host.fail(error)


def _watch(all_settings: Sequence[Settings], *, echo: bool, host: SessionHost) -> RunningDaemon | None:
    """Watch these projects until the host asks for something else; see `run_foreground`."""
    first = all_settings[0]
    prepare_data_folder(first)
    about = RunningDaemon(
        pid=os.getpid(),
        since=time.time(),
        roots=(*(str(settings.root) for settings in all_settings), *map(str, host.away)),
        projects=tuple(settings.project_name for settings in all_settings),
        bus=masked(first.bus_address),
    )
    if host.inherited_lock >= 0:
        instance = DaemonInstance.inherit(first.data_dir, about, host.inherited_lock)
        host.inherited_lock = -1
    else:
        instance = DaemonInstance.take(first.data_dir, about)
    if instance is None:
        return find_running(first.data_dir) or RunningDaemon()
    try:
        log = DaemonLog(first.data_dir, echo=echo)
        try:
            _run_logged(all_settings, instance, about, log, host)
        finally:
            log.close()
        if host.held is not None and not host.is_leaving:
            _rest(all_settings, instance, host, echo=echo)
    finally:
        if host.for_sessions or host.has_more():
            instance.release()  # this process goes on without it, or takes it again
        else:
            instance.report_status(ENDED)
    return None


def _rest(all_settings: Sequence[Settings], instance: DaemonInstance, host: SessionHost, *, echo: bool) -> NoReturn:
    """Replace this process, which has closed its index, by one that waits for the next change or question.

    Raises StoreError where the system refuses that.
    """
    sessions = host.hand_over()
    held = instance.rest(stays=sessions["leaves_at"] is None) | sessions
    resumed = json.dumps({name: held[name] for name in ("lock", "serving", "listening", "leaves_at")})
    options = [*(() if echo else DETACHED), *away_options(host.away), "--resumed", resumed]
    command = daemon_command(all_settings, given_data_dir(all_settings[0]), *options)
    trees = [asdict(watches) for watches in host.held or ()]
    try:
        become_resting(held | {"command": command, "trees": trees})
    except OSError as error:
        raise StoreError(f"the daemon cannot rest: {error.strerror}", "start it again") from error


def _run_logged(
    all_settings: Sequence[Settings], instance: DaemonInstance, about: RunningDaemon, log: DaemonLog, host: SessionHost
) -> None:
    with contextlib.suppress(OSError, ValueError):  # standard error may be no file
        faulthandler.enable()
    # rows come by the hundred thousand without cycles: default collection costs a tenth of a first index
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    log.log("start", {"version": __version__, "pid": about.pid, "roots": list(about.roots), "bus": about.bus})
    try:
        asyncio.run(_run(all_settings, instance, log, host))
    except AtlasError as error:
        log.log("ended", {"error": error.message, "hint": error.hint})
        raise
    except Exception:  # the boundary of the process: the log is all that is left of it
        log.crash("crashed")
        raise
    log.log("end" if host.held is None else "resting", {})


async def _run(all_settings: Sequence[Settings], instance: DaemonInstance, log: DaemonLog, host: SessionHost) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    data_dir = all_settings[0].data_dir

    def asked_to_stop(kind: signal.Signals) -> None:
        if stop.is_set():
            log.log("second signal: exiting at once", {"signal": kind.name})
            stop_server(data_dir, 1.0)
            log.close()
            os._exit(SECOND_SIGNAL_CODE)
        log.log("stopping", {"signal": kind.name})
        host.leave()
        stop.set()

    for kind in SIGNALS:
        loop.add_signal_handler(kind, asked_to_stop, kind)
    gone = asyncio.create_task(_until_invalid(instance, stop))
    try:
        with host.interrupting(partial(loop.call_soon_threadsafe, stop.set)):
            await run_daemon(all_settings, stop, log.log, instance.report_status, host)
    finally:
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        for kind in SIGNALS:
            loop.remove_signal_handler(kind)
    if not instance.is_valid():
        raise StoreError(f"the data folder {data_dir} was removed or replaced", "start the daemon again")


def work_in_foreground(all_settings: Sequence[Settings], tiers: Sequence[str]) -> None:
    """Run a worker until a signal arrives; it logs to standard error. Raises the error that ends it."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)

    log = DaemonLog(None, echo=True)
    try:
        asyncio.run(_work(all_settings, tiers, log.log))
    finally:
        log.close()


async def _work(all_settings: Sequence[Settings], tiers: Sequence[str], log: Log) -> None:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()

    def asked_to_stop(kind: signal.Signals) -> None:
        if stop.is_set():
            os._exit(SECOND_SIGNAL_CODE)
        log("stopping", {"signal": kind.name})
        stop.set()

    for kind in SIGNALS:
        loop.add_signal_handler(kind, asked_to_stop, kind)
    await run_worker(all_settings, tiers, stop, log, lambda phase, detail: log(phase, {"detail": detail}))


async def _until_invalid(instance: DaemonInstance, stop: asyncio.Event) -> None:
    """Stop when the data folder was removed: no client can find this daemon any more, and another may start."""
    while not stop.is_set() and instance.is_valid():
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), VALID_SECONDS)
    stop.set()
