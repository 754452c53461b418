"""Start a daemon of this installation as a process of its own: its command line, environment and output file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from atlas.config.load import Settings


def launch_daemon(all_settings: Sequence[Settings], data_dir: str) -> tuple[subprocess.Popen[bytes], Path]:
    """Start a daemon that outlives this process; return it and the file with its output.

    It ends by itself if another one runs in the data folder. Raises ConfigError for a data folder that cannot be used,
    and OSError.
    """
    from atlas.app.store import prepare_data_folder
    from atlas.process.daemon import spawn
    from atlas.process.log import OUTPUT, prepare_log_folder

    first = all_settings[0]
    prepare_data_folder(first)
    printed = prepare_log_folder(first.data_dir) / OUTPUT
    command = daemon_command(all_settings, data_dir, "--detached", "--json")
    return spawn(command, first.root, printed, _environment()), printed


def daemon_command(all_settings: Sequence[Settings], data_dir: str, *options: str) -> list[str]:
    """Return the command line of a daemon of this installation.

    `-P` keeps the current folder off the import path: the daemon starts in a project folder, whose `json.py` must not
    be imported.
    """
    words = [sys.executable, "-P", "-m", "atlas", "daemon", "start", "--foreground", *options]
    if data_dir or "ATLAS_DATA_DIR" in os.environ:
        words += ["--data-dir", str(all_settings[0].data_dir)]
    return [*words, "--", *(str(settings.root) for settings in all_settings)]


def _environment() -> Mapping[str, str]:
    """Return the environment of a daemon, without values relative to the current folder."""
    left = {"ATLAS_PROJECT", "ATLAS_DATA_DIR"}
    return {name: value for name, value in os.environ.items() if name not in left}
