"""The few settings of a repository that tell how to read it. Includes are not followed; nothing else is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from atlas.core.lazy_regex import lazy_regex
from atlas.runtime.process.files_below import read_below

MAX_CONFIG_BYTES = 1 << 20
_REMOTE = lazy_regex(r"[\w./-]+")


@dataclass(frozen=True, slots=True)
class GitConfig:
    """What a repository's `config` says."""

    work_tree: str = ""
    upstreams: Mapping[str, str] = field(default_factory=dict[str, str])
    """By branch: the reference that it follows, such as `refs/remotes/origin/main`."""
    problem: str = ""
    """Why a repository of this configuration cannot be read; "" if it can."""


def read_config(git: Path) -> GitConfig:
    """Return the settings of a git folder; those of an unreadable or missing file are the defaults."""
    from dulwich.config import ConfigFile

    try:
        content = read_below(git, "config", MAX_CONFIG_BYTES)
    except OSError:
        return GitConfig()
    try:
        config = ConfigFile.from_file(BytesIO(content), expand_includes=False)
    except (ValueError, IndexError, KeyError, UnicodeError, AssertionError) as error:
        return GitConfig(problem=f"its config is malformed ({error})")
    upstreams: dict[str, str] = {}
    values: dict[tuple[str, str], str] = {}
    for section in config.sections():
        for name, value in config.items(section):
            values[".".join(_text(part) for part in section).lower(), _text(name).lower()] = _text(value)
        if len(section) == 2 and _text(section[0]).lower() == "branch":
            own = {_text(name).lower(): _text(value) for name, value in config.items(section)}
            if (upstream := _upstream(own)) is not None:
                upstreams[_text(section[1])] = upstream
    return GitConfig(values.get(("core", "worktree"), ""), upstreams, _problem(values))


def _problem(values: Mapping[tuple[str, str], str]) -> str:
    if values.get(("extensions", "objectformat"), "sha1").lower() != "sha1":
        return "its object names are not SHA-1"
    storage = values.get(("extensions", "refstorage"), "files").lower()
    return "" if storage == "files" else f"its references are stored as {storage[:40]}"


def _upstream(branch: Mapping[str, str]) -> str | None:
    remote, merge = branch.get("remote", ""), branch.get("merge", "")
    if not _REMOTE.fullmatch(remote) or not merge.startswith("refs/heads/"):
        return None
    return merge if remote == "." else f"refs/remotes/{remote}/{merge.removeprefix('refs/heads/')}"


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")
