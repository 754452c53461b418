"""What else answers questions about code: grep always, ripgrep and ctags if they are on PATH, and given commands.

A peer runs without a shell, in the tree, with a pattern that a competent reader chose. Its output is cut where the
tools of agents cut it.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from atlas.core.errors import ConfigError
from atlas_bench.answers.questions import Question

MAX_OUTPUT = 30_000
"""Characters of output that a reader gets to see."""
TIMEOUT = 30.0
"""Seconds."""
PATTERN = "{pattern}"
FIXED = ("error-text",)
"""Kinds whose pattern is a text, not an expression."""
WIDE = ("concept",)
"""Kinds that are searched for without regard to case."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A command to compare with; `command` may contain `{pattern}`. `indexes`: the output lists all definitions."""

    name: str
    command: tuple[str, ...]
    indexes: bool = False


def peers(templates: Sequence[str]) -> list[Peer]:
    """Return grep, those of ripgrep and ctags that exist, and `NAME=COMMAND` templates. Raises ConfigError."""
    found = [Peer("grep", ("grep", "-rnI", "--exclude-dir=.git"))] if shutil.which("grep") else []
    if shutil.which("rg"):
        found.append(Peer("rg", ("rg", "-n", "--no-heading", "--color=never", "--no-config")))
    if shutil.which("ctags"):
        found.append(Peer("ctags", ("ctags", "--options=NONE", "-R", "-x", "--links=no", "."), indexes=True))
    return [*found, *(_given(template) for template in templates)]


def _given(template: str) -> Peer:
    name, _, command = template.partition("=")
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise ConfigError(f"--peer {template}: {error}") from error
    if not name or not words or not any(PATTERN in word for word in words):
        raise ConfigError(
            f"--peer {template} is not NAME=COMMAND with {PATTERN}", "Example: ag='ag --nogroup {pattern}'."
        )
    if shutil.which(words[0]) is None:
        raise ConfigError(f"--peer {name}: {words[0]} is not on PATH")
    return Peer(name, words)


class PeerRunner:
    """Runs peers in one tree; output of commands that index is kept."""

    def __init__(self, tree: Path) -> None:
        self._tree, self._indexes = tree, dict[str, str]()

    def ask(self, peer: Peer, question: Question) -> tuple[str, float]:
        """Return what the reader gets to see, and the milliseconds until then. Raises ConfigError if it cannot run."""
        started = time.perf_counter()
        pattern = question.pattern
        output = self._definitions(peer, pattern) if peer.indexes else self._run(_command(peer, question))
        return output[:MAX_OUTPUT], (time.perf_counter() - started) * 1000

    def _definitions(self, peer: Peer, pattern: str) -> str:
        """Return `path:line:definition` of the symbols with the name that a pattern ends with."""
        if peer.name not in self._indexes:
            self._indexes[peer.name] = self._run(peer.command)
        name = re.split(r"\W+", pattern.strip("\\b()"))[-1]
        rows = (row.split(None, 4) for row in self._indexes[peer.name].splitlines())
        return "\n".join(f"{row[3]}:{row[2]}:{row[4]}" for row in rows if len(row) == 5 and row[0] == name)

    def _run(self, command: Sequence[str]) -> str:
        environment: Mapping[str, str] = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"}
        try:
            done = subprocess.run(
                command, cwd=self._tree, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT
            )
        except subprocess.TimeoutExpired:
            return ""
        except OSError as error:
            raise ConfigError(f"{command[0]} cannot be run: {error}") from error
        return done.stdout.decode(errors="replace")


def _command(peer: Peer, question: Question) -> list[str]:
    pattern = question.pattern
    if any(PATTERN in word for word in peer.command):
        return [word.replace(PATTERN, pattern) for word in peer.command]
    wide = ["-i"] if question.kind in WIDE else []
    if question.kind in FIXED:
        how = ["-F"]
    else:
        how = ["-w"] if re.fullmatch(r"\w+", pattern) and not wide else ["-E"] if peer.name == "grep" else []
    return [*peer.command, *wide, *how, "-e", pattern, "."]
