"""Comparing the metadata of many files in Rust gives what a loop over `lstat` gives."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from array import array
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas.parsing import paths_that_differ, positions_that_differ, stamps

KIND = 0o170000
NAMES = ("a", "b.py", "ä", "sub/c", "sub/d.py", "sub/deep/e")
ACTS = ("keep", "write", "touch", "delete", "replace", "link", "folder")


def identities(root: Path, paths: list[str]) -> list[tuple[int, int] | None]:
    """Return inode and last change of each path; None without one."""
    found: list[tuple[int, int] | None] = []
    for path in paths:
        try:
            status = (root / path).lstat()
        except OSError:
            found.append(None)
        else:
            found.append((status.st_ino, status.st_ctime_ns))
    return found


def records(root: Path, paths: list[str]) -> list[tuple[int, int, int]]:
    found: list[tuple[int, int, int]] = []
    for path in paths:
        try:
            status = (root / path).lstat()
        except OSError:
            found.append((-1, 0, 0))
        else:
            found.append((status.st_size, status.st_mtime_ns, status.st_mode & KIND))
    return found


def act(root: Path, path: str, what: str) -> None:
    place = root / path
    if what in ("delete", "replace", "link", "folder"):
        place.unlink()
    if what == "write":
        place.write_text("other")
    elif what == "touch":
        os.utime(place, ns=(1, 1))
    elif what == "replace":
        place.write_text("text")
    elif what == "link":
        place.symlink_to("/etc/hostname")
    elif what == "folder":
        place.mkdir()


@given(acts=st.dictionaries(st.sampled_from(NAMES), st.sampled_from(ACTS)), asked=st.permutations(NAMES))
@settings(max_examples=60, deadline=None)
def test_rust_and_python_see_the_same_differences(acts: dict[str, str], asked: tuple[str, ...]) -> None:
    root = Path(tempfile.mkdtemp())
    try:
        for name in NAMES:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("text")
        paths = ["", "sub", "sub/deep", "missing", *asked]
        never = time.time_ns() + 10**12
        stamped, before = stamps(str(root), "\n".join(paths), never), identities(root, paths)
        recorded = records(root, paths)
        for name, what in acts.items():
            act(root, name, what)
        after = identities(root, paths)
        expected = [
            path
            for path, old, new in zip(paths, before, after, strict=True)
            if old is None or new is None or old != new
        ]
        assert paths_that_differ(str(root), "\n".join(paths), stamped, never) == expected
        pairs = enumerate(zip(recorded, records(root, paths), strict=True))
        packed = array("q", [number for record in recorded for number in record]).tobytes()
        found = positions_that_differ(root, b"\0".join(os.fsencode(path or ".") for path in paths), packed)
        assert found == [position for position, (old, new) in pairs if old != new or new[0] == -1]
    finally:
        shutil.rmtree(root)


def test_a_young_file_always_differs_and_records_must_fit(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("text")
    old = (tmp_path / "a").lstat().st_ctime_ns
    stamped = stamps(str(tmp_path), "a", old + 1)
    assert paths_that_differ(str(tmp_path), "a", stamped, old + 1) == []
    assert paths_that_differ(str(tmp_path), "a", stamped, old) == ["a"]
    assert paths_that_differ(str(tmp_path), "a", stamps(str(tmp_path), "a", old), old + 1) == ["a"]
    with pytest.raises(ValueError, match="one stamp per path"):
        paths_that_differ(str(tmp_path), "a\nb", stamped, old)
    with pytest.raises(ValueError, match="one record per path"):
        positions_that_differ(tmp_path, b"a\0b", bytes(24))
    assert positions_that_differ(tmp_path, b"", b"") == []
    with pytest.raises(FileNotFoundError):
        positions_that_differ(tmp_path / "missing", b"a", bytes(24))
