"""The version that the path of a file says, and the newest one beside it. Pure.

What else a path says is read in Rust (`rust-parser/retrieval/src/rank/paths.rs`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from atlas.core.lazy_regex import lazy_regex

_VERSION = lazy_regex(r"(?P<before>^|.*?/)v(?P<major>\d+)(?:(?P<stage>alpha|beta)(?P<minor>\d+))?/")
"""The first folder of a path that is a version: `src/v3/`, `apis/v1beta2/`."""


def newest_versions(paths: Iterable[str]) -> Mapping[str, tuple[int, int, int]]:
    """Return the newest version by the folder that has folders of versions."""
    newest: dict[str, tuple[int, int, int]] = {}
    for folder, version in filter(None, map(version_of, paths)):
        newest[folder] = max(version, newest.get(folder, version))
    return newest


def version_of(path: str) -> tuple[str, tuple[int, int, int]] | None:
    """Return the path up to the folder of a version, and the version; None without one."""
    found = _VERSION.match(path)
    if found is None:
        return None
    stage = {"alpha": 0, "beta": 1, None: 2}[found["stage"]]
    return found["before"], (int(found["major"]), stage, int(found["minor"] or 0))
