"""Service files that start the daemon at login, as text: a systemd user unit and a launchd property list."""

from __future__ import annotations

import plistlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

STOP_SECONDS = 60
"""Seconds; the daemon needs up to 45 for an orderly stop."""


@dataclass(frozen=True, slots=True)
class ServiceUnit:
    """A file for the system's service manager."""

    text: str
    place: str
    """Its path."""
    commands: tuple[str, ...]
    """The commands that register and start it."""


def systemd_unit(project: str, command: Sequence[str]) -> ServiceUnit:
    """Return a systemd user unit that runs this command."""
    name = f"code-atlas-{project}.service"
    lines = [
        "[Unit]",
        f"Description=Code Atlas daemon that keeps the index of {project} current",
        "",
        "[Service]",
        "Type=exec",
        f"ExecStart={' '.join(map(_quoted, command))}",
        "Restart=on-failure",
        "RestartSec=5",
        "# The daemon stops its bus server itself, after the current batch",
        "KillMode=mixed",
        f"TimeoutStopSec={STOP_SECONDS}",
        "",
        "[Install]",
        "WantedBy=default.target",
        "",
    ]
    commands = ("systemctl --user daemon-reload", f"systemctl --user enable --now {name}")
    return ServiceUnit("\n".join(lines), f"~/.config/systemd/user/{name}", commands)


def launchd_unit(project: str, command: Sequence[str]) -> ServiceUnit:
    """Return a launchd agent that runs this command."""
    label = f"code-atlas.{project}"
    document = {
        "Label": label,
        "ProgramArguments": list(command),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 5,
        "ExitTimeOut": STOP_SECONDS,
        "ProcessType": "Background",
    }
    place = f"~/Library/LaunchAgents/{label}.plist"
    return ServiceUnit(
        plistlib.dumps(document, sort_keys=False).decode(), place, (f"launchctl bootstrap gui/$UID {place}",)
    )


def _quoted(word: str) -> str:
    """Return a word in systemd's quoting: `%` and `$` stand for themselves, words with spaces are quoted."""
    word = word.replace("%", "%%").replace("$", "$$")
    if re.fullmatch(r"[\w@%+=:,./$-]+", word):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'
