"""Whom a path belongs to: every folder above it, every link on the way, and what stands at its end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from atlas.runtime.process.ownership import foreign_part

IS_ROOT = os.geteuid() == 0


def make(folder: Path, mode: int = 0o755) -> Path:
    folder.mkdir(parents=True)
    folder.chmod(mode)
    return folder


def test_a_path_of_this_user_below_a_shared_folder_is_his(tmp_path: Path) -> None:
    shared = make(tmp_path / "shared", 0o1777)
    own = make(shared / "own")
    (own / "file").touch()
    assert foreign_part(own / "file") is None
    assert foreign_part(own / "missing" / "deeper") is None
    assert foreign_part(Path("/usr/bin")) is None


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o1773])
def test_what_ends_in_a_shared_folder_is_not(tmp_path: Path, mode: int) -> None:
    shared = make(tmp_path / "shared", mode)
    assert foreign_part(shared) == shared
    assert foreign_part(shared / "missing") == shared


def test_a_folder_that_others_can_write_gives_away_what_is_below(tmp_path: Path) -> None:
    shared = make(tmp_path / "shared", 0o777)
    own = make(shared / "own", 0o700)
    assert foreign_part(own) == shared


def test_links_are_followed_and_checked(tmp_path: Path) -> None:
    shared = make(tmp_path / "shared", 0o777)
    (shared / "tool").touch()
    own = make(tmp_path / "own")
    (own / "absolute").symlink_to(shared / "tool")
    (own / "relative").symlink_to("../shared/tool")
    (own / "good").symlink_to("../own/./file")
    (own / "file").touch()
    (own / "circle").symlink_to("circle")
    assert foreign_part(own / "absolute") == foreign_part(own / "relative") == shared
    assert foreign_part(own / "good") is None
    with pytest.raises(OSError, match="symbolic links"):
        foreign_part(own / "circle")


@pytest.mark.skipif(not IS_ROOT, reason="only root gives files away")
def test_what_belongs_to_another_user_is_his(tmp_path: Path) -> None:
    theirs = make(tmp_path / "theirs")
    (theirs / "link").symlink_to("/usr/bin")
    os.chown(theirs / "link", 4242, 4242, follow_symlinks=False)
    assert foreign_part(theirs / "link") == theirs / "link"
    os.chown(theirs, 4242, 4242)
    assert foreign_part(theirs) == theirs


@pytest.mark.skipif(not IS_ROOT, reason="only root gives files away")
def test_a_group_counts_if_it_has_other_members(tmp_path: Path) -> None:
    import grp

    group = next(
        (one for one in grp.getgrall() if set(one.gr_mem) - {"root"} and one.gr_name not in ("sudo", "admin")), None
    )
    folder = make(tmp_path / "folder", 0o775)
    os.chown(folder, 0, 0)
    assert foreign_part(folder) is None
    os.chown(folder, 0, group.gr_gid if group else 65_000)
    assert foreign_part(folder) == folder
