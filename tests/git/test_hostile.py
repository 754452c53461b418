"""Repositories made to execute something, to lead outside, or to exhaust memory or time: a clear error, nothing else."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from dulwich.objects import Commit, Tree

from atlas.adapters.git.history import GitHistory
from atlas.core.errors import AtlasError, HistoryError
from atlas.parsing import positions_that_differ

from .repositories import PERSON, GitRepository, entry, loose_object, pack_of

SECRET = "PASSWORD = 'hunter2'\n"
OFS_DELTA, REF_DELTA, COMMIT = 6, 7, 1


@pytest.fixture
def other(tmp_path: Path) -> GitRepository:
    """A repository that the project must not see."""
    repository = GitRepository(tmp_path / "other")
    repository.commit("Hidden", {"secret.py": SECRET})
    repository.close()
    return repository


@pytest.fixture
def victim(tmp_path: Path) -> GitRepository:
    repository = GitRepository(tmp_path / "victim")
    repository.commit("Begin", {"a.py": "x = 1\n"})
    repository.close()
    return repository


async def refused(root: Path, revision: str = "HEAD") -> AtlasError:
    """Ask everything; return the error of the difference. Nothing of another repository may be in any answer."""
    history = GitHistory(root, positions_that_differ)
    asked = [history.diff(revision), history.log(5), history.changed_with("a.py"), history.last_change("secret.py")]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    await history.aclose()
    assert not any("Hidden" in str(answer) or "hunter2" in str(answer) for answer in answers), answers
    assert all(isinstance(answer, AtlasError) or not isinstance(answer, BaseException) for answer in answers), answers
    assert isinstance(answers[0], AtlasError), answers[0]
    return answers[0]


async def test_a_git_file_is_followed_only_to_a_folder_that_points_back(tmp_path: Path, other: GitRepository) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {other.root}/.git\n")
    assert "does not point back" in (await refused(tree)).message
    # a folder of the tree that points back, and has its objects elsewhere
    fake = tree / "fake"
    fake.mkdir()
    (fake / "gitdir").write_text(f"{tree}/.git\n")
    (fake / "commondir").write_text(f"{other.root}/.git\n")
    (fake / "HEAD").write_text("ref: refs/heads/main\n")
    (tree / ".git").write_text("gitdir: fake\n")
    assert "does not point back" in (await refused(tree)).message
    (tree / "worktrees").mkdir()
    fake.rename(tree / "worktrees/fake")
    (tree / ".git").write_text("gitdir: worktrees/fake\n")
    assert "Hidden" not in (await refused(tree)).message
    (tree / ".git").unlink()
    (tree / ".git").symlink_to(other.root / ".git")
    assert "neither a folder nor a file" in (await refused(tree)).message


@pytest.mark.parametrize("linked", ["objects", "refs", "HEAD", "objects/pack"])
async def test_links_inside_of_a_repository_are_not_followed(
    victim: GitRepository, other: GitRepository, linked: str
) -> None:
    other.repo = type(other.repo)(str(other.root))
    other.pack()
    other.close()
    head = (other.root / ".git/packed-refs").read_text().split()[-2]
    inside = victim.root / ".git" / linked
    inside.rename(inside.with_name("away"))
    inside.symlink_to(other.root / ".git" / linked)
    if linked.startswith("objects"):
        (victim.root / ".git/refs/heads/main").write_text(head + "\n")
    assert (await refused(victim.root)).message


async def test_alternates_are_not_read(victim: GitRepository, other: GitRepository) -> None:
    head = (other.root / ".git/refs/heads/main").read_text()
    (victim.root / ".git/objects/info").mkdir(exist_ok=True)
    (victim.root / ".git/objects/info/alternates").write_text(f"{other.root}/.git/objects\n")
    (victim.root / ".git/refs/heads/main").write_text(head)
    error = await refused(victim.root)
    assert "in another repository" in error.message and "git repack" in error.hint


async def test_a_linked_work_tree_and_a_submodule_are_read(tmp_path: Path, victim: GitRepository) -> None:
    main, linked, module = victim.root / ".git", tmp_path / "linked", victim.root / "module"
    own = main / "worktrees/linked"
    own.mkdir(parents=True)
    linked.mkdir()
    (linked / ".git").write_text(f"gitdir: {own}\n")
    (own / "gitdir").write_text(f"{linked}/.git\n")
    (own / "commondir").write_text("../..\n")
    (own / "HEAD").write_text("ref: refs/heads/main\n")
    assert (await GitHistory(linked, positions_that_differ).log(1)).commits[0].subject == "Begin"
    inner = GitRepository(module)
    inner.commit("Inside", {"b.py": "y = 1\n"})
    inner.close()
    (main / "modules").mkdir()
    (module / ".git").rename(main / "modules/module")
    (module / ".git").write_text("gitdir: ../.git/modules/module\n")
    with pytest.raises(HistoryError, match="does not point back"):
        await GitHistory(module, positions_that_differ).log(1)
    with (main / "modules/module/config").open("a") as config:
        config.write("[core]\n\tworktree = ../../../module\n")
    assert (await GitHistory(module, positions_that_differ).log(1)).commits[0].subject == "Inside"


def circle(git: Path) -> None:
    """Two deltas, each the base of the other."""
    names = ["11" * 20, "22" * 20]
    delta = b"\x01\x01\x01x"
    pack_of(git, [(names[i], entry(REF_DELTA, len(delta), delta, bytes.fromhex(names[1 - i]))) for i in (0, 1)])


def endless_size(git: Path) -> None:
    pack_of(git, [("11" * 20, b"\xff" * 4096)])


def outside_of_the_pack(git: Path) -> None:
    pack_of(git, [("11" * 20, entry(OFS_DELTA, 4, b"\x01\x01\x01x", b"\xff\xff\x7f"))])


def large_delta(git: Path) -> None:
    """A delta of some bytes that claims to make 2 GB."""
    base, name = "22" * 20, "11" * 20
    delta = b"\x01" + b"\x80\x80\x80\x80\x08" + b"\x91\x00\x01" * 10
    pack_of(git, [(name, entry(REF_DELTA, len(delta), delta, bytes.fromhex(base))), (base, entry(COMMIT, 1, b"x"))])


def large_object(git: Path) -> None:
    pack_of(git, [("11" * 20, entry(COMMIT, 1 << 40, b"x"))])


def bomb(git: Path) -> None:
    """64 MB of zeros in 64 kB, said to be ten bytes."""
    pack_of(git, [("11" * 20, entry(COMMIT, 10, bytes(64 << 20)))])


def loose_bomb(git: Path) -> None:
    name = loose_object(git, b"commit", 64 << 20, bytes(64 << 20))
    (git / "refs/heads/main").write_text(name + "\n")


def lying_index(git: Path) -> None:
    large_object(git)
    index = next((git / "objects/pack").glob("*.idx"))
    index.write_bytes(index.read_bytes()[:8] + b"\xff" * 1024 + index.read_bytes()[1032:])


def truncated_pack(git: Path) -> None:
    pack_of(git, [("11" * 20, entry(COMMIT, 100, os.urandom(100)))])
    pack = next((git / "objects/pack").glob("*.pack"))
    pack.write_bytes(pack.read_bytes()[:60])


def empty_pack(git: Path) -> None:
    circle(git)
    for file in (git / "objects/pack").iterdir():
        file.write_bytes(b"")


@pytest.mark.parametrize(
    "damage",
    [circle, endless_size, outside_of_the_pack, large_delta, large_object, bomb, loose_bomb, lying_index,
     truncated_pack, empty_pack],
)  # fmt: skip
async def test_damaged_and_huge_objects_are_an_error_in_bounded_memory(
    victim: GitRepository, damage: Callable[[Path], None]
) -> None:
    (victim.root / ".git/refs/heads/main").write_text("11" * 20 + "\n")
    damage(victim.root / ".git")
    started = time.monotonic()
    tracemalloc.start()
    try:
        error = await refused(victim.root)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(error, HistoryError) and ("damaged" in error.message or "too large" in error.message), error
    assert peak < 48 << 20 and time.monotonic() - started < 10


async def test_a_tree_that_multiplies_ends_at_a_limit(victim: GitRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten levels of a hundred names for the same folder would be 10^20 files."""
    monkeypatch.setattr("atlas.adapters.git.history.SECONDS", 1.0)
    store = type(victim.repo)(str(victim.root))
    below = store.object_store[store[store.head()].tree].id  # pyright: ignore
    for _ in range(10):
        tree = Tree()
        for number in range(100):
            tree.add(b"%d" % number, 0o040000, below)
        store.object_store.add_object(tree)
        below = tree.id
    commit = Commit()
    commit.tree, commit.parents, commit.author, commit.committer = below, [], PERSON, PERSON
    commit.commit_time = commit.author_time = commit.commit_timezone = commit.author_timezone = 0
    commit.message = b"Many"
    store.object_store.add_object(commit)
    store.close()
    (victim.root / ".git/refs/heads/main").write_text(commit.id.decode() + "\n")
    error = await refused(victim.root)
    assert "took too long" in error.message or "more than" in error.message


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("HEAD", "ref: refs/heads/one\n", "circle"),
        ("HEAD", "ref: ../../other/.git/refs/heads/main\n", "no commit"),
        ("HEAD", "nonsense\n", "no commit"),
        ("packed-refs", "# pack-refs with: peeled\nnonsense\n", "malformed"),
        ("index", "DIRC\0\0\0\2\xff\xff\xff\xff", "damaged"),
        ("config", "[extensions]\n\tobjectformat = sha256\n", "not SHA-1"),
        ("config", "[extensions]\n\trefstorage = reftable\n", "reftable"),
        ("config", "[core\n\tbare", "malformed"),
    ],
)
async def test_what_cannot_be_read_is_said(victim: GitRepository, name: str, text: str, said: str) -> None:
    git = victim.root / ".git"
    (git / "refs/heads/one").write_text("ref: refs/heads/two\n")
    (git / "refs/heads/two").write_text("ref: refs/heads/one\n")
    if name == "packed-refs":
        (git / "refs/heads/main").unlink()
    (git / name).write_bytes(text.encode("latin-1"))
    assert said in (await refused(victim.root)).message


async def test_special_files_are_not_waited_for(victim: GitRepository) -> None:
    for name in ("HEAD", "packed-refs"):
        (victim.root / ".git" / name).unlink(missing_ok=True)
        os.mkfifo(victim.root / ".git" / name)
    assert (await refused(victim.root)).message


async def test_an_index_does_not_lead_out_of_the_project(tmp_path: Path, victim: GitRepository) -> None:
    (tmp_path / "secret.py").write_text(SECRET)
    repository = type(victim.repo)(str(victim.root))
    index = repository.open_index()
    index[b"../secret.py"] = index[b"a.py"]
    index.write()
    repository.close()
    error = await refused(victim.root)
    assert "damaged" in error.message


async def test_links_in_the_working_tree_are_not_read(tmp_path: Path, victim: GitRepository) -> None:
    (tmp_path / "secret.py").write_text(SECRET)
    (victim.root / "a.py").unlink()
    (victim.root / "a.py").symlink_to(tmp_path / "secret.py")
    (victim.root / "folder").symlink_to(tmp_path)
    history = GitHistory(victim.root, positions_that_differ)
    diff = await history.diff("HEAD", candidates=["folder/secret.py"])
    await history.aclose()
    assert [(change.path, change.new) for change in diff.changes] == [("a.py", None), ("folder/secret.py", None)]


CONFIGURED = """[core]
\tfsmonitor = {program}
\thooksPath = {folder}
\tpager = {program}
\tsshCommand = {program}
\teditor = {program}
[include]
\tpath = {program}
[diff]
\texternal = {program}
[diff "run"]
\ttextconv = {program}
\tcommand = {program}
[filter "run"]
\tclean = {program}
\tsmudge = {program}
\tprocess = {program}
\trequired = true
[credential]
\thelper = !{program}
[gpg]
\tprogram = {program}
[log]
\tshowSignature = true
[extensions]
\tpartialClone = origin
[remote "origin"]
\turl = ext::{program}
\tpromisor = true
"""
WATCHED = """
import asyncio, sys
from pathlib import Path
from atlas.adapters.git.history import GitHistory
from atlas.parsing import positions_that_differ

def forbid(event, arguments):
    if event.startswith(("subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.system", "socket.", "pty.")):
        if event not in ("socket.__new__", "socket.socketpair"):
            print("FORBIDDEN", event, arguments)
            raise SystemExit(3)
    if event == "open" and isinstance(arguments[0], str) and arguments[0].startswith(sys.argv[2]):
        print("OUTSIDE", arguments[0])

async def main():
    history = GitHistory(Path(sys.argv[1]), positions_that_differ)
    sys.addaudithook(forbid)
    diff = await history.diff("HEAD")
    log = await history.log(5)
    last = await history.last_change("a.py", 1, 1)
    other = await history.changed_with("a.py")
    await history.aclose()
    print(len(diff.changes), log.commits[0].subject, last.notes, other.commits)

asyncio.run(main())
"""


def test_nothing_that_a_repository_configures_runs(tmp_path: Path, victim: GitRepository) -> None:
    marker, hooks = tmp_path / "ran", tmp_path / "hooks"
    hooks.mkdir()
    program = hooks / "post-index-change"
    program.write_text(f"#!/bin/sh\ntouch {marker}\n")
    program.chmod(0o755)
    with (victim.root / ".git/config").open("a") as config:
        config.write(CONFIGURED.format(program=program, folder=hooks))
    (victim.root / ".gitattributes").write_text("* filter=run diff=run working-tree-encoding=UTF-16\n")
    (victim.root / "a.py").write_text("x = 2\n")
    environment = {**os.environ, "GIT_DIR": str(tmp_path / "hooks"), "GIT_EXTERNAL_DIFF": str(program), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(victim.root), str(hooks)],
        capture_output=True, text=True, timeout=60, env=environment, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert (done.stdout, done.returncode) == (
        "1 Begin ('some of these lines are changed and not committed',) 1\n", 0
    ), done.stderr  # fmt: skip
    assert not marker.exists()
