"""Which files of a project are indexed, and why the others are not.

A root and a scope come in, values go out; nothing is written, and no content is read but that of manifests. The rules
themselves (git's, `.atlasignore`, size, secrets, bundles, lock files) are in `rust-parser/src/scan/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from atlas import _parser
from atlas._parser import Languages, ScannedFile, SubProject
from atlas.errors import ConfigError
from atlas.model import Skipped

__all__ = ["Scan", "ScannedFile", "Scope", "SubProject", "changes_rules", "scan_project"]

SETTINGS = "atlas.toml"
"""File in the root with, among others, the scope."""


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
    """What a tree, or the part of it that was asked for, holds, sorted by path.

    A skipped folder is one entry whose path ends in `/`.
    """

    files: Sequence[ScannedFile]
    skipped: Sequence[Skipped]
    subprojects: Sequence[SubProject]
    folders: Sequence[str]
    """Every folder that was entered, "" for the root: what must be watched to see that something changed."""


def scan_project(
    root: Path, languages: Languages, scope: Scope | None = None, only: Sequence[str] | None = None
) -> Scan:
    """Return the files of a tree that are indexed, and the others with their reason.

    `only`: paths of files and folders below the root, parted by `/` ("" = the root). The result is then what a scan of
    the whole tree finds at and below them, and the skipped folders that they lie in; only folders that hold one of them
    or lie below one are read. A path that does not exist, or leads out of the root, yields nothing. Sub-projects are
    those of the folders that were read.

    Raises ConfigError for a root that is no readable folder and for a glob that is none.
    """
    scope = scope or Scope()
    try:
        found = _parser.scan(
            str(root),
            languages,
            include=scope.include,
            exclude=scope.exclude,
            max_bytes=scope.max_bytes,
            git_rules=scope.git_rules,
            generated=scope.generated,
            only=None if only is None else [_as_scanned(path) for path in only],
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
    return Scan(found.files, skipped, found.subprojects, found.folders)


def changes_rules(path: str) -> bool:
    """Say whether a change of this file can change which others are indexed, or how sub-projects are named.

    `path` is below the root, parted by `/`. True for ignore files, git's index and private excludes, the settings in
    the root, manifests, and the files that mark a folder of installed dependencies.
    """
    return path == SETTINGS or _parser.changes_rules(_as_scanned(path))


def _as_scanned(path: str) -> str:
    """Return a path as the scan reports it: with replacement characters for bytes that are no UTF-8."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
