"""Notes on disk: written whole or not at all, never through links, one writer per note at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from atlas.core.errors import ConfigError, NotFound, StoreError
from atlas.knowledge.notes.folder import KnowledgeFolder


@pytest.fixture
def folder(tmp_path: Path) -> KnowledgeFolder:
    (tmp_path / "project").mkdir()
    return KnowledgeFolder(tmp_path / "project", ".knowledge", tmp_path / "data")


def test_nothing_exists_before_the_first_note(folder: KnowledgeFolder, tmp_path: Path) -> None:
    assert not (tmp_path / "project" / ".knowledge").exists()
    path = folder.create("claims/2026", "Attention scales, quadratically!", "c-1", b"one")
    assert path == ".knowledge/claims/2026/attention-scales-quadratically.md"
    assert folder.read(path) == b"one"
    assert [one.name for one in (tmp_path / "project" / ".knowledge/claims/2026").iterdir()] == [Path(path).name]


def test_a_new_note_replaces_no_file(folder: KnowledgeFolder) -> None:
    paths = [folder.create("claims", "Same text", f"c-{number:026}", str(number).encode()) for number in range(2)]
    assert paths == [".knowledge/claims/same-text.md", ".knowledge/claims/same-text-000001.md"]
    assert [folder.read(path) for path in paths] == [b"0", b"1"]


@pytest.mark.parametrize("name", ["", "???", "../../etc/passwd", "日本語", "a" * 500, "con\x00trol", ".hidden"])
def test_any_name_stays_inside_the_folder(folder: KnowledgeFolder, name: str) -> None:
    path = folder.create("claims", name, "c-01ABC", b"x")
    assert Path(path).parent.as_posix() == ".knowledge/claims"
    assert len(Path(path).name) < 80 and not Path(path).name.startswith(".")


@pytest.mark.parametrize("path", ["other.md", "../x.md", ".knowledge/../x.md", "/etc/passwd", ".knowledge/x.txt"])
def test_other_files_are_no_notes(folder: KnowledgeFolder, path: str) -> None:
    with pytest.raises(NotFound):
        folder.read(path)
    with pytest.raises(NotFound):
        folder.change(path, lambda data: data)


@pytest.mark.parametrize("place", ["/abs", "../out", "a/../../b"])
def test_a_folder_outside_of_the_project_is_refused(tmp_path: Path, place: str) -> None:
    with pytest.raises(ConfigError, match="not inside the project"):
        KnowledgeFolder(tmp_path, place, tmp_path / "data")


def test_links_are_not_followed(folder: KnowledgeFolder, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "project" / ".knowledge").symlink_to(outside)
    with pytest.raises(StoreError, match="symbolic link"):
        folder.create("claims", "x", "c-1", b"x")
    assert list(outside.iterdir()) == []
    (tmp_path / "project" / ".knowledge").unlink()
    (tmp_path / "project" / ".knowledge").mkdir()
    (outside / "victim.md").write_bytes(b"old")
    (tmp_path / "project" / ".knowledge" / "link.md").symlink_to(outside / "victim.md")
    with pytest.raises(StoreError):
        folder.change(".knowledge/link.md", lambda _: b"new")
    assert (outside / "victim.md").read_bytes() == b"old"


def test_concurrent_changes_are_not_lost(folder: KnowledgeFolder) -> None:
    path = folder.create("entities", "Team", "e-1", b"")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: folder.change(path, lambda old: old + b"%d\n" % number), range(200)))
    assert sorted(map(int, folder.read(path).split())) == list(range(200))


def test_a_failed_change_leaves_the_note(folder: KnowledgeFolder, tmp_path: Path) -> None:
    path = folder.create("claims", "x", "c-1", b"old")

    def fail(_: bytes) -> bytes:
        raise ConfigError("no")

    with pytest.raises(ConfigError):
        folder.change(path, fail)
    with pytest.raises(ConfigError, match="at most"):
        folder.change(path, lambda _: b"x" * (1 << 20) + b"x")
    assert folder.read(path) == b"old"
    assert len(list((tmp_path / "project/.knowledge/claims").iterdir())) == 1


WRITER = """
import sys
from pathlib import Path
from atlas.knowledge.notes.folder import KnowledgeFolder
folder = KnowledgeFolder(Path(sys.argv[1]), ".knowledge", Path(sys.argv[2]))
path = folder.create("claims", "note", "c-1", b"0" * 50_000)
print("ready", flush=True)
number = 0
while True:
    number = (number + 1) % 10
    folder.change(path, lambda _: str(number).encode() * 50_000)
"""


def test_a_killed_writer_leaves_a_whole_note(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    note = tmp_path / "project/.knowledge/claims/note.md"
    for pause in range(10):
        arguments = [sys.executable, "-c", WRITER, str(tmp_path / "project"), str(tmp_path / "data")]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            with pytest.raises(subprocess.TimeoutExpired):
                writer.wait(0.005 * pause)
            os.kill(writer.pid, signal.SIGKILL)
        content = note.read_bytes()
        assert len(content) == 50_000 and len(set(content)) == 1
        visible = [one for one in note.parent.iterdir() if not one.name.startswith(".")]
        assert visible == [note]
        note.unlink()


def test_git_keeps_the_observations_that_two_branches_append(folder: KnowledgeFolder, tmp_path: Path) -> None:
    folder.create("claims/2026", "A claim", "c-01JD2V9Q7K4M8N3P5R6S7T8V9A", b"text")
    rules = tmp_path / "project/.knowledge/entities/.gitattributes"
    assert not rules.parent.exists() and not list(rules.parents[1].glob(".git*"))
    folder.place("entities/team.md", b"- First.\n")
    assert rules.read_text().endswith("*.md merge=union\n")
    # who removes the rule wants none
    rules.unlink()
    folder.create("entities", "Another", "e-01JD2V9Q7K4M8N3P5R6S7T8V9A", b"text")
    assert not rules.exists()
