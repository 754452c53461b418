"""Start a daemon of this installation as a process of its own: its command line, environment and output file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from atlas.runtime.config.load import Settings

DETACHED = ("--detached", "--json")
"""Options of a daemon that runs in the background."""
AWAY = "--away"


def launch_daemon(
    all_settings: Sequence[Settings], data_dir: str, keep: Sequence[int] = (), away: Sequence[Path] = ()
) -> tuple[subprocess.Popen[bytes], Path]:
    """Start a daemon that outlives this process and inherits the descriptors `keep`; return it and its output file.

    It watches the roots `away`, too, once their folders are there. It ends by itself if another one runs in the data
    folder. Raises ConfigError for a data folder that cannot be used, and OSError.
    """
    from atlas.adapters.opening.data_folder import prepare_data_folder
    from atlas.runtime.process.daemon import spawn
    from atlas.runtime.process.log import OUTPUT, prepare_log_folder

    first = all_settings[0]
    prepare_data_folder(first)
    printed = prepare_log_folder(first.data_dir) / OUTPUT
    command = daemon_command(all_settings, data_dir, *DETACHED, *away_options(away))
    return spawn(command, first.root, printed, _environment(), keep), printed


def launch_daemon_once(all_settings: Sequence[Settings], data_dir: str) -> tuple[subprocess.Popen[bytes], Path] | None:
    """Launch a daemon as `launch_daemon` does; return None when another process has launched one that still runs.

    Of two daemons launched at the same time the slower one would take over when the other is stopped. The lock file is
    inherited by the daemon, so that it is released when the daemon has ended, however it ends.
    """
    from atlas.adapters.opening.data_folder import prepare_data_folder
    from atlas.runtime.process.daemon import LAUNCH_FILE
    from atlas.runtime.process.lock import LockFile

    prepare_data_folder(all_settings[0])
    lock = LockFile.open(all_settings[0].data_dir / LAUNCH_FILE)
    try:
        return launch_daemon(all_settings, data_dir, keep=(lock.fileno(),)) if lock.try_lock() else None
    finally:
        lock.close()


def become_daemon(project: str, data_dir: str, lock: int) -> None:
    """Replace this process by the daemon that serves sessions, holding `lock`; return if the settings want none.

    Raises ConfigError and OSError.
    """
    from atlas.runtime.config.load import load_settings
    from atlas.runtime.process.files import open_file
    from atlas.runtime.process.places import run_path

    settings = load_settings(project, data_dir)
    if settings.shared or not settings.mcp.start_daemon:
        return
    output = open_file(Path(run_path(str(settings.data_dir), "out")), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    # what a client's program left open is not for the daemon
    os.closerange(3, lock)
    os.closerange(lock + 1, os.sysconf("SC_OPEN_MAX"))
    os.set_inheritable(lock, True)
    os.chdir(settings.root)
    command = daemon_command([settings], given_data_dir(settings), *DETACHED, "--for-sessions", str(lock))
    os.execve(command[0], command, {**_environment()})


def given_data_dir(settings: Settings) -> str:
    """Return the data folder for a command line, "" for the default one."""
    return "" if settings.origin("data_dir") == "default" else str(settings.data_dir)


def away_options(away: Sequence[Path]) -> list[str]:
    """Return the options of a daemon for roots whose folders are not there."""
    return [word for root in away for word in (AWAY, str(root))]


def daemon_command(all_settings: Sequence[Settings], data_dir: str, *options: str) -> list[str]:
    """Return the command line of a daemon of this installation.

    `-P` keeps the current folder off the import path: the daemon starts in a project folder, whose `json.py` must not
    be imported.
    """
    words = [sys.executable, "-P", "-m", "atlas", "daemon", "start", "--foreground", *options]
    # with several roots the first may be away when the process returns, and another one has another default folder
    if data_dir or "ATLAS_DATA_DIR" in os.environ or len(all_settings) > 1 or AWAY in options:
        words += ["--data-dir", str(all_settings[0].data_dir)]
    return [*words, "--", *(str(settings.root) for settings in all_settings)]


def _environment() -> Mapping[str, str]:
    """Return the environment of a daemon, without values relative to the current folder."""
    left = {"ATLAS_PROJECT", "ATLAS_DATA_DIR"}
    return {name: value for name, value in os.environ.items() if name not in left}
