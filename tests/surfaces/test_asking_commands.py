"""Commands that the daemon answers: the bytes and exit codes of a process of its own, few imports, and a way out."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from atlas.runtime.process import session_socket
from atlas.runtime.process.daemon import find_serving
from atlas.runtime.process.places import run_path
from atlas.runtime.process.tree_version import read_version

from .daemons import until
from .processes import COMMAND, REPOSITORY, Place, atlas, environment
from .shop import write_files

ASKED = (
    ("node", "Cart"),
    ("node", "Cart", "--json"),
    ("node", "save"),
    ("node", "Crat"),
    ("node", "Crat", "--json"),
    ("node", "Cart", "--label", "Nonsense"),
    ("node", "Cart", "--token-budget", "3"),
    ("context", "Cart"),
    ("context", "Cart.total", "--json"),
    ("search", "who calls apply_discount"),
    ("search", "reduce the amount for customers", "-n", "2", "--no-tests"),
    ("search", "cart", "--mode", "regex"),
    ("search", "(", "--mode", "regex"),
    ("search", "cart", "--cursor", "nonsense"),
    ("search", "  "),
    ("search", "\udcff caf\u00e9"),
    ("impact", "apply_discount"),
    ("impact", "--diff", "HEAD"),
    ("impact",),
    ("cypher", "MATCH (c:Class) RETURN c.name ORDER BY c.name", "--limit", "2"),
    ("cypher", "MATCH (c:Class RETURN c"),
    ("status", "--skipped"),
)
OWN = {"ATLAS_DEBUG": "1"}
"""A process of its own answers, and prints the traceback of an error."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The shop, which a daemon follows."""
    folder = tmp_path_factory.mktemp("asked")
    made = Place(folder / "shop", folder / "data")
    write_files(made.root)
    assert atlas("daemon", "start", *made.options).returncode == 0
    assert "by the daemon" in atlas("index", *made.options).stdout

    def settled() -> bool:
        version = read_version(made.data, "shop", made.root)
        return version is not None and version.noticed == version.indexed and "not finished" not in said()

    def said() -> str:
        return atlas("node", "Cart", *made.options).stdout

    until(settled, "index and tree are equal, and the first pass has ended", 30)
    yield made
    atlas("daemon", "stop", *made.options)
    assert find_serving(made.data) is None


@contextmanager
def scripted(place: Place, *lines: object, stays: bool = False) -> Iterator[threading.Event]:
    """A peer at the socket of the data folder that says these lines after the first one; the event: it was asked."""
    asked = threading.Event()
    listening = session_socket.listen(run_path(str(place.data), "sock"))
    over = threading.Event()

    def serve() -> None:
        link, _ = listening.accept()
        with link, link.makefile("rb") as heard:
            heard.readline()
            for line in lines:
                link.sendall(session_socket.line_of(line) if isinstance(line, dict) else bytes(str(line), "utf8"))
            asked.set()
            if stays:
                over.wait(20)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield asked
        over.set()
        thread.join(10)
    finally:
        if thread.is_alive():  # nobody has connected
            socket.socket(socket.AF_UNIX).connect(run_path(str(place.data), "sock"))
        listening.close()
        Path(run_path(str(place.data), "sock")).unlink()


def modules_of(place: Place, *words: str) -> list[str]:
    """The modules that a command imports."""
    command = [COMMAND[0], "-X", "importtime", *COMMAND[1:], *words, *place.options]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60, cwd=place.root)
    assert done.returncode == 0, done.stderr
    return [line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")]


@pytest.mark.parametrize("words", ASKED, ids=" ".join)
def test_the_daemon_answers_as_a_process_of_its_own(place: Place, words: tuple[str, ...]) -> None:
    command = [*COMMAND, *words, *place.options]
    served, own = (
        subprocess.run(command, env=environment(**more), capture_output=True, timeout=60, cwd=place.root)
        for more in ({}, OWN)
    )
    if words[0] == "status":  # the daemon's age, its memory and its last batch
        served, own = (_without_daemon(one) for one in (served, own))
    assert served.stdout == own.stdout
    assert served.returncode == own.returncode
    lines = [line for line in own.stderr.splitlines() if line.startswith((b"error:", b"hint:", b"near:", b"warning:"))]
    assert served.stderr.splitlines() == lines
    assert served.stdout or served.stderr


def _without_daemon(done: subprocess.CompletedProcess[bytes]) -> subprocess.CompletedProcess[bytes]:
    head, _, rest = done.stdout.partition(b"\n")
    assert b"shop" in head and b"daemon running" in rest
    rest = b"\n".join(line for line in rest.splitlines() if not line.startswith((b"daemon", b"tier", b"  ")))
    done.stdout = head + rest
    return done


@pytest.mark.parametrize("words", [("status",), ("node", "Cart"), ("search", "cart"), ("index",)], ids=" ".join)
def test_such_a_command_imports_little(place: Place, words: tuple[str, ...]) -> None:
    modules = modules_of(place, *words)
    heavy = {"dataclasses", "asyncio", "pathlib", "typer", "rich", "inspect", "atlas._parser"}
    if words != ("index",):  # how the summary of a pass is printed needs `typing`
        heavy.add("typing")
    assert not heavy & set(modules)
    assert len([one for one in modules if one.startswith("atlas.")]) <= 18


def test_ignored_settings_are_named_once(place: Place) -> None:
    (place.root / "atlas.toml").write_text("[embedder]\nurl = 'http://x'\n")
    try:
        done = atlas("node", "Cart", *place.options)
        assert done.stderr.count("warning: ignored:") == 1 and done.stdout.startswith("[shop")
    finally:
        (place.root / "atlas.toml").unlink()


def test_a_saved_file_is_found_at_once(place: Place) -> None:
    (place.root / "fresh.py").write_text("def just_written():\n    return 1\n")
    assert until(lambda: "fresh.py:1" in atlas("node", "just_written", *place.options).stdout, "the function is found")


@pytest.mark.parametrize("more", [{"TZ": "Asia/Tokyo"}, {"ATLAS_SCOPE_MAX_FILE_BYTES": "5000"}])
def test_another_environment_asks_itself(place: Place, more: dict[str, str]) -> None:
    done = subprocess.run(
        [*COMMAND, "node", "Cart", *place.options], env=environment(**more), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and done.stdout.startswith("[shop")


def test_a_daemon_of_another_version_is_not_asked_and_named(place: Place, tmp_path: Path) -> None:
    copy = tmp_path / "atlas"
    copy.mkdir()
    for entry in (REPOSITORY / "atlas").iterdir():
        (copy / entry.name).symlink_to(entry)
    (copy / "__init__.py").unlink()
    (copy / "__init__.py").write_text('__version__ = "9.9"\n')
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import atlas.cli.main as m; m.main()"
    variables = {name: value for name, value in environment().items() if name != "PYTHONPATH"}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [COMMAND[0], "-P", "-c", code, *words, *place.options]
        return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60)

    assert run("--version").stdout == "atlas 9.9\n"
    assert run("node", "Cart").stdout == atlas("node", "Cart", *place.options).stdout
    for words in (("daemon", "status"), ("daemon", "start")):
        said = run(*words).stderr
        assert "is Code Atlas 0.1.0 and this is 9.9" in said and "`atlas daemon restart`" in said
    assert "another version than this program (9.9)" in run("status").stdout
    health = next(one for one in json.loads(run("health", "--json").stdout)["checks"] if one["name"] == "daemon")
    assert health["state"] == "warning" and health["fix"].startswith("atlas daemon restart")


def test_a_command_asks_itself_while_the_daemon_hangs(place: Place) -> None:
    serving = find_serving(place.data)
    assert serving is not None
    os.kill(serving.pid, signal.SIGSTOP)
    try:
        done = atlas("node", "Cart", *place.options)
    finally:
        os.kill(serving.pid, signal.SIGCONT)
    assert done.returncode == 0 and done.stdout.startswith("[shop")


@pytest.mark.parametrize("index", [False, True])
def test_without_an_index_the_command_makes_one(tmp_path: Path, index: bool) -> None:
    """A daemon at another folder of data, or none, has no part in it."""
    made = Place(tmp_path / "shop", tmp_path / "data")
    write_files(made.root)
    assert not index or atlas("index", *made.options).returncode == 0
    assert "Cart" in atlas("node", "Cart", *made.options).stdout


WELCOME = {"accepted": True, "ignored": []}


@pytest.mark.parametrize(
    "lines",
    [(), ({"accepted": False, "why": "other version"},), (WELCOME,), (WELCOME, {}), (WELCOME, "no json\n"), ("[]\n",)],
    ids=["closes", "refuses", "dies", "declines", "garbles", "is odd"],
)
def test_a_daemon_that_does_not_answer_is_not_needed(tmp_path: Path, lines: tuple[object, ...]) -> None:
    made = Place(tmp_path / "shop", tmp_path / "data")
    write_files(made.root)
    assert atlas("index", *made.options).returncode == 0
    with scripted(made, *lines):
        done = atlas("node", "Cart", *made.options)
    assert done.returncode == 0 and done.stdout.startswith("[shop") and not done.stderr


def test_an_interrupt_while_the_daemon_is_asked_ends_quietly(tmp_path: Path) -> None:
    made = Place(tmp_path / "shop", tmp_path / "data")
    write_files(made.root)
    with scripted(made, WELCOME, stays=True) as asked:
        process = subprocess.Popen(
            [*COMMAND, "search", "cart", *made.options],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert asked.wait(20)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=20) == (b"", b"")
    assert process.returncode == 130


def test_a_reader_that_goes_away_is_no_error(place: Place) -> None:
    process = subprocess.Popen(
        [*COMMAND, "search", "cart", "--json", *place.options],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == b""
    assert process.wait(20) == 1


def test_a_tool_that_writes_is_refused(place: Place) -> None:
    hello = session_socket.hello("answer", str(place.root), str(place.data)) | {
        "tool": "remember",
        "arguments": {},
        "json": True,
        "cursor": "",
    }
    said = session_socket.ask(run_path(str(place.data), "sock"), hello, 10)
    assert said["accepted"] is False


def test_json_stays_one_line(place: Place) -> None:
    done = atlas("search", "cart", "--json", *place.options)
    assert done.stdout.count("\n") == 1 and json.loads(done.stdout)["evidence"]["project"] == "shop"
