"""Host, Origin and token of a request against what was agreed at start."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from atlas.core.errors import ConfigError
from atlas.server.http.auth import Access, make_access, read_token

TOKEN = "a-token-that-is-long-enough"
OWN = make_access("127.0.0.1", is_open=False)
OPEN = make_access("0.0.0.0", is_open=True, names=("Atlas.Example.org",), token=TOKEN)


@pytest.mark.parametrize(
    ("host", "own", "opened"),
    [
        ("127.0.0.1", True, True),
        ("127.0.0.1:8765", True, True),
        ("LOCALHOST:1", True, True),
        ("[::1]:8765", True, True),
        ("10.1.2.3:8765", False, True),
        ("[fd00::1]", False, True),
        ("atlas.example.ORG", False, True),
        ("example.org", False, False),
        ("atlas.example.org.evil.org", False, False),
        ("127.0.0.1.evil.org", False, False),
        ("evil@127.0.0.1", False, False),
        ("127.0.0.1:x", False, False),
        ("127.0.0.1/x", False, False),
        ("127.0.0.1?x", False, False),
        ("127.0.0.1\\evil.org", False, False),
        ("[::1", False, False),
        ("2130706433", False, False),
        ("", False, False),
    ],
)
def test_hosts(host: str, own: bool, opened: bool) -> None:
    for access, allowed in ((OWN, own), (OPEN, opened)):
        refusal = access.check_host_origin({"host": host})
        assert (refusal is None) == allowed
        assert refusal is None or refusal.status == 421
    assert OWN.check_host_origin({}) is not None


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("http://localhost:5173", True),
        ("https://atlas.example.org", True),
        ("http://10.1.2.3:8765", True),
        ("http://10.1.2.3:1", False),
        ("http://10.1.2.4:8765", False),
        ("https://example.org", False),
        ("http://user@localhost", False),
        ("vscode-webview://localhost", False),
        ("null", False),
        ("", False),
    ],
)
def test_an_origin_is_a_known_name_or_the_very_place_that_is_asked(origin: str, allowed: bool) -> None:
    headers = {"host": "10.1.2.3:8765", "origin": origin, "authorization": f"Bearer {TOKEN}"}
    refusal = OPEN.rejection(headers)
    assert (refusal is None) == allowed
    assert refusal is None or refusal.status == 403


def test_a_foreign_host_is_not_told_whether_its_token_is_right() -> None:
    for token in (TOKEN, "wrong"):
        refusal = OPEN.rejection({"host": "example.org", "authorization": f"Bearer {token}"})
        assert refusal is not None
        assert refusal.status == 421


def test_the_token_is_in_no_representation() -> None:
    assert TOKEN not in repr(OPEN)
    assert Access(frozenset(), token=TOKEN) != Access(frozenset(), token="other")


def test_on_loopback_a_short_token_is_better_than_none_but_not_for_others() -> None:
    assert make_access("127.0.0.1", is_open=False, token="short").token == "short"
    with pytest.raises(ConfigError, match="fewer than 16"):
        make_access("0.0.0.0", is_open=True, token="short")
    with pytest.raises(ConfigError, match="requires a token"):
        make_access("0.0.0.0", is_open=True)


def test_a_token_file_that_is_no_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "token")
    with pytest.raises(ConfigError, match="cannot read the token file"):
        read_token(tmp_path / "token", "")
