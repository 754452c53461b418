"""Which files of a project are indexed, and why the others are not.

A scan writes nothing and reads no file contents except manifests. The rules (git's, `.atlasignore`, size, secrets,
bundles, lock files) are in `rust-parser/scan/src/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from atlas import _parser
from atlas._parser import Languages, ScannedFile, SubProject
from atlas.core.errors import ConfigError
from atlas.core.model import Skipped

__all__ = ["Scan", "ScannedFile", "Scope", "SubProject", "as_scanned", "changes_rules", "scan_project"]

SETTINGS = "atlas.toml"
"""File in the root that contains the scope, among other settings."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which files of a tree belong to the project. Globs have the syntax of a `.gitignore` at its root."""

    include: tuple[str, ...] = ()
    """If given, only files that match one of them."""
    exclude: tuple[str, ...] = ()
    max_bytes: int = 1_048_576
    git_rules: bool = True
    """Obey .gitignore files, .git/info/exclude and core.excludesFile; tracked files are never ignored."""
    generated: bool = False
    """Include files whose name marks them as generated."""
    plain_text: bool = True
    """Include files without definitions (configuration, markup, other languages) as windows of lines."""


@dataclass(frozen=True, slots=True)
class Scan:
    """Files of a tree, or of the requested part of it, sorted by path.

    A skipped folder is one entry whose path ends in `/`.
    """

    files: Sequence[ScannedFile]
    skipped: Sequence[Skipped]
    subprojects: Sequence[SubProject]
    folders: Sequence[str]
    """Every folder that was read, "" for the root: the folders to watch for changes."""
    repositories: Sequence[str] = ()
    """Folders below the root that are roots of repositories."""


def scan_project(
    root: Path, languages: Languages, scope: Scope | None = None, only: Sequence[str] | None = None
) -> Scan:
    """Return the files of a tree that are indexed, and the others with the reason.

    `only`: paths of files and folders relative to the root, separated by `/` ("" = the root). The result is then the
    part of a full scan at and below them, and the skipped folders that contain them; only folders above or below one of
    them are read. A path that does not exist or leads out of the root yields nothing. Sub-projects are those of the
    folders that were read.

    Raises ConfigError for a root that is not a readable folder and for an invalid glob.
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
            plain_text=scope.plain_text,
            only=None if only is None else [as_scanned(path) for path in only],
        )
    except FileNotFoundError as error:
        raise ConfigError(f"{root} does not exist.", "Give the path of a project folder.") from error
    except NotADirectoryError as error:
        raise ConfigError(f"{root} is not a folder.", "Give the path of a project folder.") from error
    except OSError as error:
        hint = "Check the permissions of the folder and of those above it."
        raise ConfigError(f"{root} cannot be read: {error.strerror or error}.", hint) from error
    except ValueError as error:
        raise ConfigError(f"The scope is invalid: {error}", "See scope.include and scope.exclude.") from error
    skipped = [Skipped(path, reason) for path, reason in found.skipped]
    return Scan(found.files, skipped, found.subprojects, found.folders, found.repositories)


def changes_rules(path: str) -> bool:
    """Return whether a change of this file can change which files are indexed, or how sub-projects are named.

    `path` is relative to the root, separated by `/`. True for ignore files, git's index and private excludes, the
    settings in the root, manifests, and the files that mark a folder of installed dependencies.
    """
    return path == SETTINGS or _parser.changes_rules(as_scanned(path))


def as_scanned(path: str) -> str:
    """Return a path as the scan reports it: with replacement characters for bytes that are not UTF-8."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
