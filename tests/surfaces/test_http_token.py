"""The token that a server over HTTP asks for when none is configured: made once, kept from others, told to clients."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from .http_server import http_server
from .processes import COMMAND, Place, answer, atlas, environment, filled

INSTALLED = ("claude-code", "codex", "gemini-cli", "opencode", "copilot-cli", "cursor", "windsurf")
"""Clients that read the token from their environment."""
OTHERS = ("vscode", "zed", "cline", "jetbrains")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return asyncio.run(filled(tmp_path_factory.mktemp("token")))


@pytest.fixture
def user(tmp_path: Path) -> dict[str, str]:
    """The folders of a user who has nothing yet."""
    home = tmp_path / "home"
    home.mkdir()
    # the index of the test was made by another installation
    named = {"HOME": str(home), "ATLAS_TRUST_DATA_DIR": "1"}
    return {**named, **{f"XDG_{one}_HOME": str(home / one.lower()) for one in ("CACHE", "CONFIG", "DATA")}}


def token_of(user: dict[str, str]) -> tuple[Path, str]:
    file = Path(user["XDG_DATA_HOME"], "code-atlas", "mcp.token")
    return file, file.read_text().strip()


def command_lines() -> str:
    """What every user sees of the running processes."""
    return subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
async def test_without_a_configured_token_one_is_made_asked_for_and_kept(place: Place, user: dict[str, str]) -> None:
    with http_server(place, own_token=True, **user) as served:
        file, token = token_of(user)
        assert re.fullmatch(r"[A-Za-z0-9_-]{43}", token)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        assert "(a token is required)" in served.log
        for wrong in ({}, {"Authorization": "Bearer"}, {"Authorization": f"Bearer {token[:-1]}"}):
            assert served.ask("get_node", {"name": "Cart"}, **wrong).status == 401
        for elsewhere in (
            {"X-Api-Key": token},
            {"Cookie": f"token={token}"},
            {"Proxy-Authorization": f"Bearer {token}"},
        ):
            assert served.ask("get_node", {"name": "Cart"}, **elsewhere).status == 401
        assert served.request("POST", f"/mcp?access_token={token}", b"{}").status == 401
        line = served.request("GET", "/healthz").body
        assert token.encode() not in line and str(place.root).encode() not in line
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http_client,
            Client(streamable_http_client(served.url, http_client=http_client)) as client,
        ):
            assert (await answer(client, "get_node", name="apply_discount"))["outcome"] == "found"
        assert token not in command_lines()
        assert served.stop() == 0
        assert f'export ATLAS_MCP_TOKEN="$(cat {file})"' in served.log
        assert token not in served.log
    with http_server(place, "--workers", "2", own_token=True, **user) as served:
        assert token_of(user) == (file, token), "clients keep it"
        bearer = {"Authorization": f"Bearer {token}"}
        assert [served.ask("get_node", {"name": "Cart"}, **bearer).status for _ in range(4)] == [200] * 4
        assert served.ask("get_node", {"name": "Cart"}).status == 401
    said = [atlas(*words, *place.options, env=user) for words in (("status",), ("health",), ("config",))]
    assert all(token not in one.stdout + one.stderr for one in said)


@pytest.mark.slow
def test_papers_are_not_served_without_a_token_either(user: dict[str, str], tmp_path: Path) -> None:
    command = [*COMMAND, "papers", "serve", "--transport", "http", "--port", "0", "--project", str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment(**user)) as process:
        assert process.stderr is not None
        try:
            url = re.search(r"http://\S+", process.stderr.readline())
            assert url and "mcp.token" in process.stderr.readline()
            _, token = token_of(user)
            with httpx2.Client() as client:
                asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
                assert client.post(url[0], json=asked).status_code == 401
                bearer = {"Authorization": f"Bearer {token}"}
                assert client.post(url[0], json=asked, headers=bearer).status_code not in (401, 403, 421)
        finally:
            process.send_signal(signal.SIGTERM)


def test_none_is_asked_for_only_when_told_and_then_it_says_what_that_opens(place: Place, user: dict[str, str]) -> None:
    with http_server(place, **user, ATLAS_MCP_TOKEN="") as served:  # an empty variable is none
        assert served.ask("get_node", {"name": "Cart"}).status == 401
    with http_server(place, "--no-token", own_token=True, **user) as served:
        assert "warning: without a token every user of this machine can call all tools" in served.log
        assert served.ask("get_node", {"name": "Cart"}).status == 200
    words = ("mcp", "--transport", "http", "--no-token", *place.options)
    assert "Give one of them" in atlas(*words, "--token-file", "x", env=user).stderr
    done = atlas(*words, "--host", "0.0.0.0", "--port", "0", env=user)
    assert done.returncode == 2 and "requires a token" in done.stderr
    assert "--no-token" in atlas("mcp", "--no-token", *place.options, env=user).stderr


@pytest.mark.parametrize("client", [*INSTALLED, *OTHERS])
def test_no_configuration_holds_the_token(place: Place, user: dict[str, str], client: str, tmp_path: Path) -> None:
    printed = atlas("mcp", "--transport", "http", "--print-config", client, *place.options, env=user)
    file, token = token_of(user)
    assert printed.returncode == 0 and str(file) in printed.stderr
    assert ("Bearer" in printed.stdout) == (client != "codex")
    for scope in ([], ["--user"]):
        done = atlas("connect", client, "--transport", "http", "--yes", *scope, *place.options, env=user)
        assert (done.returncode == 0) == (client in INSTALLED), done.stderr
        assert token not in done.stdout + done.stderr
        if client in OTHERS:
            assert "--print-config" in done.stderr
    written = [path for root in (place.root, Path(user["HOME"])) for path in root.rglob("*") if path.is_file()]
    holders = [path for path in written if token.encode() in path.read_bytes()]
    assert holders == [file]
    for scope in ([], ["--user"]):
        atlas("connect", client, "--undo", "--yes", *scope, *place.options, env=user)


def test_an_entry_over_http_is_written_listed_and_taken_back(place: Place, user: dict[str, str]) -> None:
    done = atlas("connect", "claude-code", "--transport", "http", "--port", "4321", "--yes", *place.options, env=user)
    assert 'export ATLAS_MCP_TOKEN="$(cat ' in done.stdout and "atlas mcp --transport http --port 4321" in done.stdout
    entry = json.loads((place.root / ".mcp.json").read_text())["mcpServers"]["code-atlas"]
    assert entry == {
        "type": "http",
        "url": "http://127.0.0.1:4321/mcp",
        "headers": {"Authorization": "Bearer ${ATLAS_MCP_TOKEN}"},
    }
    listed = json.loads(atlas("connect", "--json", *place.options, env=user).stdout)["clients"]
    assert next(one for one in listed if one["client"] == "claude-code")["project"]["state"] == "http"
    assert "deleted" in atlas("connect", "claude-code", "--undo", "--yes", *place.options, env=user).stdout
    assert "for HTTP" in atlas("connect", "claude-code", "--port", "1", *place.options, env=user).stderr


def test_sessions_that_start_at_once_make_one_token(user: dict[str, str]) -> None:
    code = "import sys; from atlas.server.http.auth import own_token; sys.stdin.read(1); print(own_token()[0])"
    started = [
        subprocess.Popen(
            [sys.executable, "-P", "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(**user),
        )
        for _ in range(6)
    ]
    found: list[str] = []
    waiting = [
        threading.Thread(target=lambda one=one: found.append(one.communicate("x", timeout=60)[0])) for one in started
    ]
    for one in waiting:
        one.start()
    for one in waiting:
        one.join()
    assert len(found) == 6 and len(set(found)) == 1
    assert [path.name for path in token_of(user)[0].parent.iterdir()] == ["mcp.token"], "no draft stays"


def test_a_token_file_that_is_not_ours_alone_is_refused(place: Place, user: dict[str, str], tmp_path: Path) -> None:
    folder = Path(user["XDG_DATA_HOME"], "code-atlas")
    folder.mkdir(parents=True)
    file, elsewhere = folder / "mcp.token", tmp_path / "elsewhere"
    elsewhere.write_text("a-token-that-somebody-else-knows\n")
    elsewhere.chmod(0o600)

    def refused(words: str) -> None:
        done = atlas("mcp", "--transport", "http", "--port", "0", *place.options, env=user, timeout=30)
        assert done.returncode == 2 and words in done.stderr and "hint:" in done.stderr, done.stderr
        assert "somebody" not in done.stderr
        file.unlink()

    file.symlink_to(elsewhere)
    refused("cannot be used")
    file.symlink_to(tmp_path / "missing")
    refused("cannot be used")
    assert not (tmp_path / "missing").exists()
    os.mkfifo(file)
    refused("cannot be used")
    for mode in (0o644, 0o620, 0o604):
        file.write_bytes(elsewhere.read_bytes())
        file.chmod(mode)
        refused("open to other users")
    for content, words in (("", "contains no token"), ("short", "too short"), ("a b" * 9, "characters")):
        file.write_text(content)
        file.chmod(0o600)
        refused(words)
    if os.geteuid() == 0:
        file.write_bytes(elsewhere.read_bytes())
        file.chmod(0o600)
        os.chown(file, 65534, 65534)
        refused("cannot be used")
    folder.chmod(0o777)
    done = atlas("mcp", "--transport", "http", "--print-config", "codex", *place.options, env=user)
    assert done.returncode == 0 and stat.S_IMODE(folder.stat().st_mode) == 0o700
