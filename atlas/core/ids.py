"""Project names and uids: pure string functions.

`uid = "<project>:<qualified name>"`. Files and documents use their path as qualified name, external packages and
symbols `ext:<name>`, packages and the project itself their dotted name.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` is not imported for a session's proxy
if TYPE_CHECKING:
    from pathlib import PurePath

PERSONAL_PROJECT = "~me"
"""The project of the user's own notes. No other project can have this name: `project_name` replaces the character."""


def project_name(root: PurePath) -> str:
    """Return the default project name for a folder: its name, with "-" for characters outside [A-Za-z0-9._-]."""
    return plain_name(root.name)


def plain_name(name: str) -> str:
    """Return a folder's name as that of a project. Without `re`: the proxy of a session does not import it."""
    replaced = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "._-") else " " for letter in name)
    return "-".join(replaced.split()).strip("-.") or "project"


def make_uid(project: str, qualified_name: str) -> str:
    """Return the uid of a qualified name in a project."""
    return f"{project}:{qualified_name}"


def is_personal(uid: str) -> bool:
    """Return whether a uid is that of one of the user's own notes."""
    return uid.startswith(f"{PERSONAL_PROJECT}:")
