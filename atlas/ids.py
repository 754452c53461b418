"""Names of things: project names and uids. Pure string rules, no I/O.

`uid = "<project>:<qualified name>"`; files and documents use their path as qualified name, external packages
and symbols `ext:<name>`, the project itself and packages their dotted name.
"""

from __future__ import annotations

import re
from pathlib import PurePath


def project_name(root: PurePath) -> str:
    """Return the default project name of a folder: its own name, with every character outside [A-Za-z0-9._-] as "-"."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", root.name).strip("-.")
    return name or "project"


def make_uid(project: str, qualified_name: str) -> str:
    """Return the uid of a qualified name in a project."""
    return f"{project}:{qualified_name}"
