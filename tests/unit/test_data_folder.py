"""Data folders: only what this installation made is used, and nothing is read or written through what was planted."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from atlas.adapters.opening.data_folder import prepare_data_folder
from atlas.core.errors import ConfigError
from atlas.runtime.config.load import load_settings
from atlas.runtime.process.cache import cached_folders, remove_folder
from atlas.runtime.process.data_folder import (
    MARKER,
    cache_root,
    check_folder,
    default_folder,
    legacy_folder,
    make_folder,
    move_legacy_folder,
    read_marker,
)
from atlas.runtime.process.files import open_file, read_file, write_file
from atlas.runtime.process.installation_key import KEY_FILE, config_folder, packs_folder, personal_folder, sign


@pytest.fixture(autouse=True)
def user_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path_factory.mktemp(name)))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_a_project_has_one_private_folder_with_a_readable_name(tmp_path: Path) -> None:
    root = tmp_path / "my project"
    root.mkdir()
    (tmp_path / "link").symlink_to(root)
    folder = default_folder(root)
    assert folder.parent == cache_root()
    assert folder.name.startswith("my-project-")
    assert default_folder(tmp_path / "link") == folder
    assert default_folder(tmp_path) != folder
    make_folder(folder, root)
    assert (mode(folder), mode(folder.parent), mode(folder / MARKER)) == (0o700, 0o700, 0o600)
    marker = read_marker(folder)
    assert marker is not None
    assert marker.root == str(root)
    assert mode(config_folder() / KEY_FILE) == 0o600
    assert (folder.parent / "CACHEDIR.TAG").exists()
    assert not (folder / ".gitignore").exists()


def test_a_chosen_folder_is_hidden_from_git_and_made_private(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(0o777)
    make_folder(folder)
    assert mode(folder) == 0o700
    assert (folder / ".gitignore").read_text() == "*\n"
    make_folder(folder)
    check_folder(folder)


def test_what_somebody_else_made_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "atlas.db").write_text("planted")
    for use in (check_folder, make_folder):
        with pytest.raises(ConfigError, match="was not made by this installation") as caught:
            use(folder)
        assert "--trust-data-dir" in caught.value.hint
    assert [path.name for path in folder.iterdir()] == ["atlas.db"]
    check_folder(tmp_path / "not there")


def test_a_mounted_volume_and_a_draft_of_another_process_count_as_empty(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "lost+found").mkdir(parents=True)
    (folder / f"{MARKER}.123-abc").touch()
    make_folder(folder)
    assert read_marker(folder) is not None


@pytest.mark.parametrize(
    "change",
    [
        lambda document: {**document, "root": "/elsewhere"},
        lambda document: {**document, "digest": "0" * 32},
        lambda document: {**document, "digest": ""},
        lambda document: {**document, "digest": None},
        lambda document: [],
        lambda document: {},
    ],
)
def test_a_marker_that_was_not_signed_here_proves_nothing(tmp_path: Path, change: object) -> None:
    folder = tmp_path / "data"
    make_folder(folder, tmp_path)
    document = json.loads((folder / MARKER).read_text())
    (folder / MARKER).write_text(json.dumps(change(document)))  # type: ignore[operator]
    assert read_marker(folder) is None
    with pytest.raises(ConfigError, match="was not made by this installation"):
        check_folder(folder)


def test_a_deep_marker_proves_nothing(tmp_path: Path) -> None:
    make_folder(tmp_path / "data")
    (tmp_path / "data" / MARKER).write_text("[" * 200_000)
    assert read_marker(tmp_path / "data") is None


def test_a_copy_of_a_folder_and_a_folder_of_another_user_prove_nothing(tmp_path: Path) -> None:
    folder, copy = tmp_path / "data", tmp_path / "copy"
    make_folder(folder, tmp_path)
    copy.mkdir()
    write_file(copy / MARKER, (folder / MARKER).read_bytes())
    assert read_marker(copy) is None
    # the same path, but a new folder: as when a repository brings the marker that once was published
    published = (folder / MARKER).read_bytes()
    folder.rename(tmp_path / "old")
    folder.mkdir()
    write_file(folder / MARKER, published)
    assert read_marker(folder) is None
    (config_folder() / KEY_FILE).write_bytes(b"k" * 32)
    assert read_marker(tmp_path / "old") is None


def test_a_signed_folder_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    make_folder(folder)
    folder.chmod(0o777)
    with pytest.raises(ConfigError, match="was not made by this installation"):
        check_folder(folder)


def test_a_folder_that_was_brought_along_is_trusted_on_request(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "logs").mkdir(parents=True)
    (folder / "atlas.db").write_text("from the last run of the CI")
    check_folder(folder, trust=True)
    check_folder(folder)
    assert (folder / "atlas.db").read_text() == "from the last run of the CI"


@pytest.mark.parametrize("kind", ["link", "fifo"])
def test_trust_ends_at_links_and_special_files(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "data"
    (folder / "logs").mkdir(parents=True)
    planted = folder / "logs" / "daemon.log"
    if kind == "link":
        planted.symlink_to(tmp_path)
    else:
        os.mkfifo(planted)
    with pytest.raises(ConfigError, match=r"cannot be trusted: .*daemon\.log"):
        check_folder(folder, trust=True)
    with pytest.raises(ConfigError, match="was not made"):
        check_folder(folder)


def test_trust_needs_no_key_where_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "atlas.db").touch()
    check_folder(folder, trust=True)
    with pytest.raises(ConfigError, match="installation key"):
        make_folder(tmp_path / "new")


def test_a_folder_in_the_project_is_moved_when_it_proves_its_origin_else_named(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    assert legacy_folder(root) is None
    (root / ".atlas").mkdir()
    (root / ".atlas" / "atlas.db").write_text("of an earlier version")
    assert not move_legacy_folder(root, default_folder(root))
    assert legacy_folder(root) == root / ".atlas"
    (root / ".atlas" / "atlas.db").unlink()
    make_folder(root / ".atlas", root)
    (root / ".atlas" / "atlas.db").write_text("of this one")
    assert move_legacy_folder(root, default_folder(root))
    assert legacy_folder(root) is None
    check_folder(default_folder(root))
    assert (default_folder(root) / "atlas.db").read_text() == "of this one"
    assert not move_legacy_folder(root, default_folder(root))


def test_processes_that_make_a_folder_at_once_agree(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from atlas.runtime.process.data_folder import check_folder, make_folder\n"
        "for n in range(20):\n    make_folder(Path(sys.argv[1]) / str(n)); check_folder(Path(sys.argv[1]) / str(n))"
    )
    commands = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path)]) for _ in range(4)]
    assert [command.wait(60) for command in commands] == [0, 0, 0, 0]
    assert len(sign("x", create=False)) == 32
    assert [path.name for path in config_folder().iterdir()] == [KEY_FILE]


def test_the_cache_lists_what_there_is_and_removes_only_its_own(tmp_path: Path) -> None:
    assert cached_folders() == []
    here, gone = tmp_path / "here", tmp_path / "gone"
    for root in (here, gone):
        root.mkdir()
        make_folder(default_folder(root), root)
        (default_folder(root) / "logs").mkdir()
        (default_folder(root) / "atlas.db").write_bytes(b"x" * 10_000)
    gone.rmdir()
    foreign = cache_root() / "foreign"
    foreign.mkdir()
    (foreign / "atlas.db").touch()
    found = {one.folder: one for one in cached_folders()}
    assert {folder.name[:4]: (one.root, one.gone) for folder, one in found.items()} == {
        "here": (str(here), False),
        "gone": (str(gone), True),
        "fore": ("", False),
    }
    assert found[default_folder(here)].bytes_on_disk >= 10_000
    remove_folder(default_folder(gone))
    assert not default_folder(gone).exists()
    for other in (foreign, tmp_path):
        with pytest.raises(ValueError, match="not a data folder"):
            remove_folder(other)


def test_files_are_opened_without_following_links(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "link").symlink_to(victim)
    (tmp_path / "nowhere").symlink_to(tmp_path / "made")
    (tmp_path / "folder-link").symlink_to(tmp_path)
    for name in ("link", "nowhere", "folder-link/victim", "folder-link/new"):
        with pytest.raises(OSError):
            open_file(tmp_path / name, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    assert victim.read_text() == "precious"
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_RDWR])
def test_special_files_are_refused_without_waiting_for_them(tmp_path: Path, flags: int) -> None:
    os.mkfifo(tmp_path / "fifo")
    failures: list[OSError] = []

    def attempt() -> None:
        for path in (tmp_path / "fifo", Path("/dev/zero"), tmp_path):
            try:
                open_file(path, flags)
            except OSError as error:
                failures.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(10)
    assert len(failures) == 3


def test_a_file_larger_than_expected_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(OSError, match="too large"):
        read_file(tmp_path / "sparse")


@pytest.mark.parametrize(("value", "is_used"), [("/own/place", True), ("relative", False), ("", False)])
def test_folders_of_the_user_are_named_by_absolute_variables(
    monkeypatch: pytest.MonkeyPatch, value: str, is_used: bool
) -> None:
    monkeypatch.setenv("HOME", "/users/ada")
    monkeypatch.delenv("ATLAS_PACKS", raising=False)
    for name in ("CONFIG", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", value)
    monkeypatch.setattr(sys, "platform", "linux")
    config, data = (value, value) if is_used else ("/users/ada/.config", "/users/ada/.local/share")
    assert str(config_folder()) == f"{config}/code-atlas"
    assert str(packs_folder()) == f"{data}/code-atlas/packs"
    assert str(personal_folder()) == f"{data}/code-atlas/personal"
    monkeypatch.setattr(sys, "platform", "darwin")
    library = value if is_used else "/users/ada/Library/Application Support"
    assert str(config_folder()) == str(packs_folder().parent) == f"{library}/code-atlas"


@pytest.mark.parametrize(("code", "hint"), [(errno.ENOSPC, "Make room"), (errno.EACCES, "Check its permissions")])
def test_a_folder_that_cannot_be_made_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, hint: str
) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise OSError(code, os.strerror(code))

    settings = load_settings(str(tmp_path), str(tmp_path / "data"), {})
    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(ConfigError, match="cannot write") as failed:
        prepare_data_folder(settings)
    assert str(failed.value.hint).startswith(hint)
