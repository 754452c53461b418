"""Other users of the machine: what they can read of a user's files, and what they leave for him in shared folders.

As root the tests ask the system as the user `nobody`; else they look at permissions only.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas.adapters.buses.valkey.paths import ServerPaths, prepare
from atlas.adapters.git.location import locate
from atlas.cli.chat.transcript import write_transcript
from atlas.cli.clients import config_file
from atlas.code.index.watch.git_rules import rule_files
from atlas.core.errors import NotFound
from atlas.parsing.parse import load_languages
from atlas.parsing.scanning import scan_project
from atlas.runtime.config.load import discover_root
from atlas.runtime.process.files import make_private_folder, read_file, write_file
from tests.papers.arxiv_server import Entry, arxiv_server

NOBODY = 65534
IS_ROOT = os.geteuid() == 0
COMMAND = (sys.executable, "-P", "-m", "atlas")
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that every user may enter and fill, as the one for temporary files."""
    folder = Path(tempfile.mkdtemp(prefix="atlas-shared-", dir="/tmp"))
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


def as_nobody(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, user=NOBODY, group=NOBODY, extra_groups=[], cwd="/", capture_output=True, text=True, timeout=60
    )


def left_by_nobody(path: Path, kind: str = "folder") -> None:
    """Make an entry as another user; a test that is not root cannot and makes one that it may not enter."""
    if IS_ROOT:
        done = as_nobody("mkdir" if kind == "folder" else "touch", str(path))
        assert done.returncode == 0, done.stderr
    else:
        path.symlink_to(path.parent / "of-somebody-else")


def readable_by_others(root: Path) -> list[str]:
    """What another user can list, read or write below a folder, and entries whose permissions would allow it."""
    found = [str(path) for path in root.rglob("*") if not path.is_symlink() and path.stat().st_mode & 0o077]
    if IS_ROOT:
        tests = ("-readable", "-o", "-writable", "-o", "-executable")
        found += as_nobody("find", str(root), "(", *tests, ")", "-print").stdout.split()
    return sorted(set(found))


@pytest.mark.slow
@pytest.mark.parametrize("umask", [0o022, 0o000])
def test_private_data_is_private_whatever_the_umask(shared: Path, umask: int) -> None:
    """Every file that the product writes for itself: index, caches, logs, bus, key, token, notes, papers, records."""
    home, project = shared / "home", shared / "project"
    for folder in (home, project):
        folder.mkdir(mode=0o755)
    (project / "small.py").write_text("def answer():\n    return 42\n")
    (project / "README.md").write_text("# Small\n\nThe answer.\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ATLAS_", "XDG_"))}
    user = {**kept, "HOME": str(home), "PYTHONPATH": str(REPOSITORY)}

    def atlas(*arguments: str, **more: str) -> None:
        done = subprocess.run(
            [*COMMAND, *arguments], cwd=project, env=user | more, umask=umask, capture_output=True, timeout=120
        )
        assert done.returncode == 0, done.stderr.decode()

    with arxiv_server(Entry("2401.00001", "A paper")) as server:
        papers = {"ATLAS_PAPERS_URL": server.url, "ATLAS_PAPERS_PAUSE_MS": "0"}
        atlas("index")
        atlas("papers", "search", "a paper", **papers)
        atlas("papers", "list", "--query", "paper", **papers)
    atlas("memory", "remember", "The user", "Prefers short answers.", "--personal")
    atlas("memory", "note", "A thought.")
    atlas("mcp", "--transport", "http", "--print-config", "codex")
    for client in ("claude-code", "cursor", "zed"):
        atlas("connect", client, "--user", "--yes")
    atlas("connect", "claude-code", "--user", "--skill", "--yes")
    atlas("daemon", "start")
    try:
        assert (home / ".cache/code-atlas").is_dir()
        seen = readable_by_others(home)
    finally:
        atlas("daemon", "stop")
    names = {path.name for path in home.rglob("*")}
    expected = {"atlas.db", "installation.key", "mcp.token", "papers_info.json", "valkey.conf", "daemon.log",
                ".claude.json", "connections"}  # fmt: skip
    assert expected <= names
    inside_private = [one for one in seen if "/personal/" in one]  # notes have the modes of a project's files
    assert [one for one in seen if one not in inside_private] == [str(home)] * IS_ROOT
    private = next(path for path in home.rglob("personal") if path.parent.name == "code-atlas")
    assert stat.S_IMODE(private.stat().st_mode) == 0o700


def test_parents_that_are_made_for_private_data_are_private(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_private_folder(tmp_path / "a" / "b" / "c")
        write_file(tmp_path / "a" / "b" / "c" / "file", b"")
    finally:
        os.umask(before)
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in (tmp_path / "a").rglob("*"))
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700


def test_a_private_configuration_is_never_readable_while_it_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"key": "secret"}')
    file.chmod(0o600)
    modes: list[int] = []

    def look(*arguments: object) -> None:
        modes.extend(stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir())

    monkeypatch.setattr(os, "fchmod", lambda *given, fchmod=os.fchmod: (look(), fchmod(*given)))
    before = os.umask(0)
    try:
        config_file.write(config_file.read(file, 1000), "{}")
        config_file.write(config_file.read(tmp_path / "new" / "own.json", 1000), "{}")
        config_file.write(config_file.read(tmp_path / "p" / "new.json", 1000, inside=tmp_path), "{}")
    finally:
        os.umask(before)
    assert modes and set(modes) == {0o600}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    made = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("new", "new/own.json", "p/new.json")}
    assert made == {"new": 0o700, "new/own.json": 0o600, "p/new.json": 0o666}


def test_a_taken_name_in_the_temporary_folder_does_not_stop_the_bus(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    usual = ServerPaths.of(deep).socket.parent
    assert usual.parent == shared
    left_by_nobody(usual)
    paths = ServerPaths.of(deep)
    assert paths.socket.parent != usual and paths.socket.parent.name.startswith(usual.name)
    prepare(paths)
    assert stat.S_IMODE(paths.socket.parent.stat().st_mode) == 0o700
    write_file(paths.settings, f'unixsocket "{paths.socket}"\n'.encode())
    assert ServerPaths.of(deep) == paths, "the others find it"
    paths.remove_short()
    left_by_nobody(paths.socket.parent)
    assert ServerPaths.of(deep).socket.parent not in (usual, paths.socket.parent)


def test_a_project_does_not_begin_in_a_folder_that_all_users_share(shared: Path) -> None:
    work = shared / "work" / "inner"
    work.mkdir(parents=True)
    for marker in ("atlas.toml", ".git"):
        left_by_nobody(shared / marker)
    assert discover_root(work) == work
    with pytest.raises(NotFound):
        locate(work)
    assert discover_root(shared) == shared, "the user went there"
    (shared / "work" / "atlas.toml").touch()
    assert discover_root(work) == shared / "work"
    (shared / "work").chmod(0o777)  # a user who works without a umask, or on a file system without permissions
    assert discover_root(work) == shared / "work"


def test_rules_of_a_repository_in_a_folder_that_all_users_share_hide_nothing(shared: Path) -> None:
    left_by_nobody(shared / ".git")
    (shared / ".gitignore").write_text("*.py\n")
    project = shared / "work" / "project"
    project.mkdir(parents=True)
    (project / "small.py").write_text("def answer():\n    return 42\n")
    assert [file.path for file in scan_project(project, load_languages()).files] == ["small.py"]
    assert rule_files(project) == {}
    (shared / "work" / ".git").mkdir()
    (shared / "work" / ".gitignore").write_text("*.py\n")
    assert not scan_project(project, load_languages()).files
    assert shared / "work" in rule_files(project)


@pytest.mark.slow
def test_an_export_follows_no_link_that_waits_in_a_shared_folder(shared: Path, tmp_path: Path) -> None:
    project, diary = tmp_path / "project", tmp_path / "diary"
    project.mkdir()
    (project / "small.py").write_text("def answer():\n    return 42\n")
    diary.write_text("private")
    for name in ("graph.jsonl.partial", "graph.jsonl", ".chat.md"):
        (shared / name).symlink_to(diary)
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    for words in (("index",), ("export", "--output", str(shared / "graph.jsonl"))):
        subprocess.run([*COMMAND, *words], cwd=project, env=environment, check=True, capture_output=True, timeout=120)
    assert diary.read_text() == "private"
    rows = (shared / "graph.jsonl").read_text().splitlines()
    assert rows and all(isinstance(json.loads(row), dict) for row in rows)
    write_transcript(shared / "chat.md", [{"role": "user", "content": "hello"}], replace=True)
    assert stat.S_IMODE((shared / "chat.md").stat().st_mode) == 0o600
    assert diary.read_text() == "private"


def test_what_is_planted_in_place_of_a_file_is_not_read(shared: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    place = shared / "file"
    place.symlink_to(secret)
    with pytest.raises(OSError):
        read_file(place)
    place.unlink()
    os.mkfifo(place)
    with pytest.raises(OSError):
        read_file(place)
    place.unlink()
    with socket.socket(socket.AF_UNIX) as waiting:
        waiting.bind(str(place))
        with pytest.raises(OSError):
            read_file(place)
    place.unlink()
    left_by_nobody(place, "file")
    with pytest.raises(OSError):
        read_file(place)


@pytest.mark.slow
def test_pruning_the_cache_follows_no_link(tmp_path: Path) -> None:
    project, outside, home = tmp_path / "project", tmp_path / "outside", tmp_path / "home"
    project.mkdir()
    (project / "small.py").write_text("def answer():\n    return 42\n")
    (outside / "kept").mkdir(parents=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ATLAS_", "XDG_"))}
    user = {**kept, "HOME": str(home), "PYTHONPATH": str(REPOSITORY)}

    def atlas(*arguments: str) -> str:
        done = subprocess.run(
            [*COMMAND, *arguments], cwd=tmp_path, env=user, check=True, capture_output=True, timeout=120, text=True
        )
        return done.stdout

    atlas("index", str(project))
    cache = home / ".cache/code-atlas"
    folder = next(path for path in cache.iterdir() if path.is_dir())
    (folder / "link").symlink_to(outside)
    (folder / "logs" if (folder / "logs").exists() else folder).joinpath("deep").symlink_to(outside / "kept")
    (cache / "planted").symlink_to(outside)
    (cache / "empty").mkdir()
    shutil.rmtree(project)
    listed = json.loads(atlas("cache", "list", "--json"))["folders"]
    assert [one["state"] for one in listed if one["folder"].endswith("empty")] == ["not made here"]
    assert not any(one["folder"].endswith("planted") for one in listed)
    atlas("cache", "prune")
    assert not folder.exists() and (outside / "kept").is_dir() and (cache / "empty").is_dir()
    assert (cache / "planted").is_symlink()
