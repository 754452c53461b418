"""Which files of a project are indexed, and why the others are not.

A root and a scope come in, values go out; nothing is written, and no content is read but that of manifests. The rules
themselves (git's, `.atlasignore`, size, secrets, bundles, lock files) are in `rust-parser/src/scan/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from atlas._parser import Languages, ScannedFile, SubProject, scan
from atlas.errors import ConfigError
from atlas.model import Skipped

__all__ = ["Scan", "ScannedFile", "Scope", "SubProject", "scan_project"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Which files of a tree belong to the project. Globs are written as in a `.gitignore` at its root."""

    include: tuple[str, ...] = ()
    """When given, only files that match one."""
    exclude: tuple[str, ...] = ()
    max_bytes: int = 1_048_576
    git_rules: bool = True
    """Obey .gitignore files, .git/info/exclude and core.excludesFile; tracked files are never ignored."""
    generated: bool = False
    """Take files whose name says that they are generated."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What a tree holds, sorted by path. A skipped folder is one entry whose path ends in `/`."""

    files: Sequence[ScannedFile]
    skipped: Sequence[Skipped]
    subprojects: Sequence[SubProject]


def scan_project(root: Path, languages: Languages, scope: Scope | None = None) -> Scan:
    """Return the files of a tree that are indexed, and the others with their reason.

    Raises ConfigError for a root that is no readable folder and for a glob that is none.
    """
    scope = scope or Scope()
    try:
        found = scan(
            str(root),
            languages,
            include=scope.include,
            exclude=scope.exclude,
            max_bytes=scope.max_bytes,
            git_rules=scope.git_rules,
            generated=scope.generated,
        )
    except FileNotFoundError as error:
        raise ConfigError(f"{root} does not exist.", "Give the path of a project folder.") from error
    except NotADirectoryError as error:
        raise ConfigError(f"{root} is not a folder.", "Give the path of a project folder.") from error
    except OSError as error:
        hint = "Check the permissions of the folder and of those above it."
        raise ConfigError(f"{root} cannot be read: {error.strerror or error}.", hint) from error
    except ValueError as error:
        raise ConfigError(f"The scope cannot be used: {error}", "See scope.include and scope.exclude.") from error
    skipped = [Skipped(path, reason) for path, reason in found.skipped]
    return Scan(found.files, skipped, found.subprojects)
