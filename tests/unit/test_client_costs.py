"""Readers of configuration files, and what a chat reads of servers, on the worst inputs of 1 MiB: 2 s of CPU at most."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import TypeVar

import pytest

from atlas.chat.references import expand, find_references, template_pattern, variables
from atlas.chat.server_spec import read_servers
from atlas.cli.chat.transcript import as_markdown
from atlas.cli.clients import jsonc, toml_text
from atlas.cli.clients.edits import apply
from atlas.core.errors import ConfigError
from atlas.core.invisible import printable
from atlas.core.line_diff import unified

SIZE = 1 << 20
MOST_SECONDS = 20
Result = TypeVar("Result")
KEY = ("mcpServers", "code-atlas")
TABLE = ("mcp_servers", "code-atlas")
ENTRY = {"command": "x", "args": ["y"]}


def filled(text: str, size: int = SIZE) -> str:
    return text * (size // len(text))


JSON = {
    "members": "{" + ",".join(f'"{n}":1' for n in range(SIZE // 9)) + "}",
    "members on lines": "{" + ",".join(f'\n"{n}":1' for n in range(SIZE // 10)) + "}",
    "servers": '{"mcpServers":{' + ",".join(f'"{n}":{{}}' for n in range(SIZE // 10)) + "}}",
    "commas": '{"a":[' + filled("1,") + "]}",
    "spaces": '{"a":[1,' + filled(" ") + "]}",
    "spaced commas": '{"a":[1' + filled(",          1") + "]}",
    "comments": "{" + filled("/**/") + "}",
    "open comments": "{" + filled("/*"),
    "lines": filled("\n") + "{}",
    "quotes": filled('"'),
    "escapes": filled('"\\'),
    "depth": filled('{"a":'),
    "digits": '{"a":' + filled("9") + "}",
    "variables": '{"mcpServers":{"a":{"command":"' + filled("${a:-") + '"}}}',
    "more variables": '{"mcpServers":{"a":{"command":"' + filled("${env:") + filled("{env:A") + '"}}}',
    "secrets": '{"' + filled("key") + '":1}',
    "secrets with values": '{"a":"' + filled("token:\\'") + '"}',
}
TOML_SIZE = toml_text.MAX_BYTES
TOML = {
    "keys": "\n".join(f"a{n}=1" for n in range(TOML_SIZE // 9)),
    "headers": "\n".join(f"[a{n}]" for n in range(TOML_SIZE // 9)),
    "dotted": "\n".join(f"a.b.c.d{n}=1" for n in range(TOML_SIZE // 16)),
    "ours": "\n".join(f"[mcp_servers.code-atlas.x{n}]\n[y{n}]" for n in range(TOML_SIZE // 44)),
    "quotes": filled("..", 80) + '"' + filled('\\"', TOML_SIZE),
    "dots": filled("a.", TOML_SIZE),
    "long": 'a = """' + filled('"', TOML_SIZE),
    "long escapes": filled('"""\\', TOML_SIZE),
    "blank lines": "a = 1\n" + filled(" \n", TOML_SIZE),
    "open": filled("a=[", TOML_SIZE),
    "digits": "a=" + filled("9", TOML_SIZE),
}


def timed(work: Callable[[], Result]) -> Result | None:
    """What the work returns in time, None where it refuses the text in time."""
    began, made = time.process_time(), None
    with contextlib.suppress(ConfigError):
        made = work()
    assert time.process_time() - began < MOST_SECONDS
    return made


def connect(text: str) -> str:
    """What `atlas connect` makes of a file."""
    jsonc.load(text)
    after = apply(text, jsonc.put(text, KEY, ENTRY))
    jsonc.load(after)
    return after


def take_back(text: str) -> object:
    """What `atlas connect --undo` makes of a file that was edited since."""
    jsonc.load(text)
    jsonc.has_comment(jsonc.raw(text, KEY))
    return jsonc.load(apply(text, jsonc.remove(text, KEY)))


def connect_toml(text: str) -> str:
    toml_text.load(text)
    after = apply(text, toml_text.put(text, TABLE, ENTRY))
    toml_text.load(after)
    return after


def take_back_toml(text: str) -> object:
    toml_text.load(text)
    toml_text.has_comment(toml_text.raw(text, TABLE))
    return toml_text.load(apply(text, toml_text.remove(text, TABLE)))


@pytest.mark.parametrize("name", JSON)
def test_json_of_a_client(name: str) -> None:
    text = JSON[name]
    assert len(text) > SIZE // 2
    after = timed(lambda: connect(text))
    if after is not None:
        timed(lambda: take_back(after))
    timed(lambda: read_servers(jsonc.load(text), "f", {}))


@pytest.mark.parametrize("name", TOML)
def test_toml_of_a_client(name: str) -> None:
    after = timed(lambda: connect_toml(TOML[name]))
    if after is not None:
        assert 'command = "x"' in after
        timed(lambda: take_back_toml(after))


@pytest.mark.parametrize("name", ["members", "lines", "secrets", "secrets with values"])
def test_a_change_is_shown(name: str) -> None:
    from atlas.cli.connect import SECRET_VALUE, masked_lines

    def show() -> None:
        before, after = masked_lines(JSON[name]), masked_lines(f"{JSON[name]}\n1")
        assert [SECRET_VALUE.sub("", line) for line in unified(before, after)]

    timed(show)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([str(n % 300) for n in range(300_000)], [str(n % 299) for n in range(300_000)]),
        (["a"] * 300_000, ["a", "b"] * 150_000),
        (["a"] * 300_000, ["a"] * 150_000 + ["b"] + ["a"] * 150_000),
    ],
)
def test_a_difference(before: list[str], after: list[str]) -> None:
    assert timed(lambda: [*unified(before, after)])


TEMPLATES = {
    "adjacent": "x://" + "".join(f"{{+{chr(97 + n)}}}" for n in range(26)),
    "separated": "x://" + "a".join(f"{{+{chr(97 + n)}}}" for n in range(26)) + "b",
    "simple": "x://" + "a".join(f"{{{chr(97 + n)}}}" for n in range(26)) + "b",
    "queries": "x://{?" + ",".join(f"v{n}" for n in range(200)) + "}{&a}",
    "long": "x://" + filled("{a}"),
    "open": filled("{"),
    "open names": filled("{a"),
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates(name: str) -> None:
    template = TEMPLATES[name]
    for uri in ("x://" + filled("a"), "x://" + "a" * 1900, "x://" + "a/" * 900, "x://" + filled("?a=b&")):
        timed(lambda uri=uri: template_pattern(template).fullmatch(uri))  # type: ignore[misc]
    expanded = timed(lambda: (variables(template), expand(template, {"a": "b"})))
    assert expanded is None or "{a}" not in expanded[1]


@pytest.mark.parametrize("text", ["@a", " @a(", "@a(b=c, ", "@", " @a@(", "(@"])
def test_references_of_a_question(text: str) -> None:
    assert timed(lambda: find_references(filled(text), ())) is not None


@pytest.mark.parametrize("text", ["`", "## You", "## You\n", "##  ", "\x1b", "\ud800", "````\n"])
def test_a_transcript(text: str) -> None:
    messages = [{"role": role, "content": filled(text)} for role in ("user", "tool")]
    shown = timed(lambda: (as_markdown(messages), printable(filled(text))))
    assert shown is not None and "\x1b" not in shown[1]


def test_a_template_still_fits_what_it_makes() -> None:
    assert template_pattern("x://{a}/{+b}").fullmatch("x://1/2/3")
    assert template_pattern("x://{a}{?q,r}").fullmatch("x://1?q=2&r=3")
    assert template_pattern("x://{path}").fullmatch("x://lib/x.rb")  # a path has folders
    assert not template_pattern("x://{a}").fullmatch("y://1")
    assert not template_pattern("x://{a").fullmatch("x://{a")
