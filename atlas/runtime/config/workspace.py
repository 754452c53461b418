"""Workspaces: projects of the user that answer together. Only the user's own file and variables name them.

A member is written as the absolute path of its root, or as `NAME=PATH` where the user has several workspaces. A
repository cannot make itself a member: what it holds is answered only where the user has said so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from atlas.core.errors import ConfigError
from atlas.core.lazy_regex import lazy_regex
from atlas.runtime.config.settings import Settings

MAX_MEMBERS = 100
"""Members of all workspaces."""
OF_SESSION = "roots-of-the-client"
"""Name of the workspace of a session whose client has several roots."""
_NAMED = lazy_regex(r"([A-Za-z0-9_-]{1,40})=(.*)", re.DOTALL)
_OF_ONE_PROJECT = ("ATLAS_PROJECT", "ATLAS_PROJECT_NAME", "ATLAS_DATA_DIR")


@dataclass(frozen=True, slots=True)
class WorkspaceMember:
    """A project of a workspace."""

    workspace: str
    """Its name; "" for the one without a name."""
    root: Path

    @property
    def written(self) -> str:
        """The entry of the settings file."""
        return f"{self.workspace}={self.root}" if self.workspace else str(self.root)


def members_of(entries: Sequence[str]) -> tuple[WorkspaceMember, ...]:
    """Return the members that entries name, each once. Raises ConfigError for one that is not absolute."""
    if len(entries) > MAX_MEMBERS:
        raise ConfigError(f"workspace.members has more than {MAX_MEMBERS} entries", "Remove some of them.")
    found: dict[WorkspaceMember, None] = {}
    for entry in entries:
        named = _NAMED.fullmatch(entry)
        name, written = (named[1], named[2]) if named else ("", entry)
        path = Path(written).expanduser()
        if not path.is_absolute():
            raise ConfigError(
                f"workspace.members: {entry[:200]!r} is not an absolute path",
                "Write /path/of/the/project or NAME=/path/of/the/project.",
            )
        found[WorkspaceMember(name, _resolved(path))] = None
    return tuple(found)


def check_workspace(settings: Settings) -> None:
    """Raise ConfigError if a member is not an absolute path."""
    members_of(settings.workspace.members)


def roots_beside(settings: Settings) -> tuple[Path, ...]:
    """Return the roots of the other projects that share a workspace with this one, in the order of the settings."""
    members = members_of(settings.workspace.members)
    own = {one.workspace for one in members if one.root == settings.root}
    beside = dict.fromkeys(one.root for one in members if one.workspace in own)
    return tuple(root for root in beside if root != settings.root)


def with_session_members(settings: Settings, roots: Sequence[Path]) -> Settings:
    """Return the settings of a session to which its client has named further projects: a workspace of its own."""
    if not roots:
        return settings
    own = (*settings.workspace.members, *(f"{OF_SESSION}={root}" for root in (settings.root, *roots)))
    return replace(settings, workspace=replace(settings.workspace, members=own))


def environment_of_member(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment in which the settings of a member are read: without what names one project."""
    return {name: value for name, value in environment.items() if name not in _OF_ONE_PROJECT}


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path
