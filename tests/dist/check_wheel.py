"""Check a wheel: what it contains, and that it works in a fresh environment without a compiler.

    python -m tests.dist.check_wheel DIST

The environment's PATH holds only the environment's own programs: no cargo, no C compiler, no git. pip installs wheels
only, in the versions of constraints.txt, which names every package that comes. There, Code Atlas indexes packages of Python's standard library, answers from the embedded store and the built-in
model, follows an edit with a daemon and its own Valkey server, and serves an agent over MCP.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.dist.constraints import FILE, pins
from tests.dist.sources import explain_difference, only, tracked

EXTENSION = "atlas/_parser.abi3.so"
MAX_BYTES = 36_000_000
"""Of the packed wheel, which has 30 million since it carries a model of prose."""
PACKAGES = ("json", "email", "http")
COMPILERS = ("cargo", "rustc", "cc", "gcc", "clang", "c++", "g++")


@dataclass(frozen=True, slots=True)
class Installation:
    """A fresh environment that holds the wheel, and a project to index."""

    programs: Path
    project: Path
    variables: dict[str, str]

    def run(self, *words: str, timeout: float = 300) -> str:
        """Return the standard output of a program; fail when it fails."""
        command = [str(self.programs / words[0]), *words[1:]]
        done = subprocess.run(
            command, cwd=self.project, env=self.variables, capture_output=True, text=True, timeout=timeout
        )
        assert done.returncode == 0, f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def ask(self, *words: str) -> dict[str, Any]:
        """Return the JSON document that an `atlas` command prints."""
        document = json.loads(self.run("atlas", "--json", *words))
        assert isinstance(document, dict)
        return document


def main() -> None:
    wheel = only(Path(sys.argv[1]).resolve(), "*.whl")
    check_contents(wheel)
    report_size(wheel)
    with tempfile.TemporaryDirectory(prefix="atlas-wheel-") as folder:
        installation = install(wheel, Path(folder))
        check_commands(installation)
        check_daemon(installation)
        check_agent(installation)


def check_contents(wheel: Path) -> None:
    """Fail when the wheel lacks a tracked file of the package, holds another one, or fits one Python version only."""
    assert re.search(r"-cp311-abi3-[a-z0-9_.]+\.whl$", wheel.name), wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    about = {name for name in names if name.partition("/")[0].endswith(".dist-info")}
    expected = tracked("atlas") | {EXTENSION}
    assert names - about == expected, explain_difference(expected, names - about)
    for part in ("/licenses/LICENSE", "/licenses/rust-parser/secret-rules/betterleaks.LICENSE", ".cyclonedx.json"):
        assert any(name.endswith(part) for name in about), f"{wheel.name} has no {part}"


def report_size(wheel: Path) -> None:
    """Print the packed and unpacked size and the largest files; fail when the wheel outgrew its limit."""
    with zipfile.ZipFile(wheel) as archive:
        files = sorted(archive.infolist(), key=lambda one: -one.file_size)
    unpacked = sum(one.file_size for one in files)
    packed = wheel.stat().st_size
    print(f"{wheel.name}: {packed / 1e6:.1f} MB, unpacked {unpacked / 1e6:.1f} MB, {len(files)} files")
    for one in files[:4]:
        print(f"  {one.compress_size / 1e6:6.2f} MB, unpacked {one.file_size / 1e6:6.2f}  {one.filename}")
    assert packed <= MAX_BYTES, f"the wheel has {packed} bytes, the limit is {MAX_BYTES}"


def install(wheel: Path, folder: Path) -> Installation:
    """Install the wheel where no compiler is on PATH; print the size of the environment."""
    environment, project = folder / "environment", folder / "project"
    begun = time.monotonic()
    venv.create(environment, with_pip=True, symlinks=True)
    programs = environment / "bin"
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("ATLAS_", "PYTHON"))}
    variables |= {"PATH": str(programs), "HOME": str(folder), "COLUMNS": "200", "ATLAS_DAEMON_IDLE_SECONDS": "5"}
    variables |= {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CACHE", "CONFIG", "DATA")}
    assert not [name for name in COMPILERS if shutil.which(name, path=variables["PATH"])]
    # pip keeps the user's cache of downloads
    downloads = subprocess.run(
        [sys.executable, "-m", "pip", "cache", "dir"], capture_output=True, text=True, timeout=60, check=False
    ).stdout.strip()
    for package in PACKAGES:
        source = Path(sysconfig.get_path("stdlib")) / package
        shutil.copytree(source, project / package, ignore=shutil.ignore_patterns("__pycache__"))
    installation = Installation(programs, project, variables)
    cached = ["--cache-dir", downloads] if downloads else []
    only_wheels = ("--quiet", "--only-binary", ":all:", "--constraint", str(FILE))
    installation.run("python", "-m", "pip", "install", *only_wheels, *cached, str(wheel))
    check_pins(installation)
    bytes_on_disk = sum(one.stat().st_size for one in environment.rglob("*") if one.is_file())
    print(f"installed in {time.monotonic() - begun:.0f} s, {bytes_on_disk / 1e6:.0f} MB on disk with all dependencies")
    return installation


def check_pins(installation: Installation) -> None:
    """Fail when a package is installed that constraints.txt does not pin."""
    listed = json.loads(installation.run("python", "-m", "pip", "list", "--format", "json"))
    pinned = {name for name, _ in pins()}
    # a release is checked with a Python that has no packages, not even `packaging`
    free = {re.sub(r"[-_.]+", "-", one["name"]).lower() for one in listed} - pinned - {"code-atlas", "pip", "setuptools"}
    assert not free, f"constraints.txt has no version of {sorted(free)}: make constraints"


def check_commands(installation: Installation) -> None:
    """Index the project and ask: by meaning and words, through the graph, for source, in Cypher."""
    done = installation.ask("index")
    assert done["vectors"] >= 500, done
    found = installation.ask("search", "decode a JSON document", "--limit", "3")["hits"][0]
    assert found["symbol"]["qualified_name"] == "json.decoder.JSONDecoder.decode" and "meaning" in found["channels"]
    callers = installation.run("atlas", "search", "callers of json.decoder.JSONDecoder.raw_decode")
    assert "json/decoder.py\n  JSONDecoder.decode " in callers, callers
    assert "def dumps" in installation.run("atlas", "context", "json.dumps")
    rows = installation.ask("cypher", "MATCH (c:Class {name: 'JSONDecoder'}) RETURN c.path")
    assert rows["rows"] == [["json/decoder.py"]], rows
    health = installation.ask("health")
    assert health["state"] == "ok", health
    print(f"indexed {done['files']} files, {done['vectors']} vectors; searched, read, queried")


def check_daemon(installation: Installation) -> None:
    """A daemon with its own Valkey server makes a saved function searchable."""
    installation.run("atlas", "daemon", "start")
    try:
        with (installation.project / "json" / "decoder.py").open("a") as module:
            module.write("\n\ndef wheel_under_test():\n    return 1\n")
        saved = time.monotonic()
        while "wheel_under_test() json/decoder.py:" not in installation.run("atlas", "search", "wheel_under_test"):
            assert time.monotonic() < saved + 30, "the daemon did not follow an edit"
        print(f"daemon: a saved function was found after {time.monotonic() - saved:.1f} s, command start included")
    finally:
        installation.run("atlas", "daemon", "stop")


def check_agent(installation: Installation) -> None:
    """A client of `atlas mcp` over stdio lists the tools and gets an answer."""
    process = subprocess.Popen(
        [str(installation.programs / "atlas"), "mcp"],
        cwd=installation.project,
        env=installation.variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None

    def send(message: dict[str, Any]) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        process.stdin.flush()

    def call(number: int, method: str, **parameters: object) -> dict[str, Any]:
        send({"id": number, "method": method, "params": parameters})
        assert process.stdout is not None
        while (reply := json.loads(process.stdout.readline())).get("id") != number:
            pass
        assert "result" in reply, reply
        return reply["result"]

    try:
        client = {"name": "check", "version": "1"}
        call(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        send({"method": "notifications/initialized"})
        tools = [one["name"] for one in call(2, "tools/list")["tools"]]
        answer = call(3, "tools/call", name="hybrid_search", arguments={"query": "encode an object as JSON"})
        assert "json/encoder.py:" in answer["content"][0]["text"], answer
        print(f"mcp: {len(tools)} tools, an answer with evidence")
    finally:
        process.stdin.close()
        process.wait(30)
    assert process.returncode == 0


if __name__ == "__main__":
    main()
