"""What is read from the file of a note: its values, the places by which it is edited, and what is wrong with it."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from atlas._parser import parse_note
from tests.fuzz.notes import CLAIM, ENTITY, ULID


def note(text: str | bytes) -> dict[str, Any]:
    return json.loads(parse_note(text.encode() if isinstance(text, str) else text))


def claim(*lines: str, body: str = "A text.") -> dict[str, Any]:
    return note("\n".join(["---", f"id: c-{ULID}", "kind: claim", *lines, "---", body]))


def problems(found: dict[str, Any]) -> list[tuple[int, str]]:
    return [(line, code) for line, code, _ in found["problems"]]


def test_claim() -> None:
    found = note(CLAIM)
    assert found["problems"] == []
    assert (found["kind"], found["id"], found["status"], found["confidence"]) == ("claim", f"c-{ULID}", "disputed", 0.8)
    assert (found["source"], found["created"]) == ("doi:10.48550/arXiv.1706.03762", "2026-11-23T10:04:11Z")
    assert found["author"] == {"client": "claude-code/2.1", "agent": "session"}
    assert found["name"] == "Attention scales quadratically."
    assert found["text"] == "Attention scales quadratically. Größe: 日本語."
    [about] = found["about"]
    assert (about["kind"], about["target"], about["line"], about["at"]) == ("symbol", "pkg.attn.forward", 41, 9)
    assert (about["body"], about["signature"], about["path"]) == ("3e20aa55bb66cc77", "", "pkg/attn.py")
    expected = {"type": "supports", "to": f"d-{ULID}", "reasoning": "same experiment, larger n", "confidence": 0.9}
    assert found["relations"] == [expected | {"created": "", "at": 11}]


def test_entity() -> None:
    found = note(ENTITY)
    assert found["problems"] == []
    assert (found["name"], found["aliases"]) == ("Billing team", ["payments", 'the "others"'])
    first, second = found["observations"]
    assert (first["id"], first["created"], first["client"]) == (f"o-{ULID}", "2026-11-20T09:00:00Z", "cursor")
    assert (first["text"], first["at"]) == ("Releases on Thursdays.", 10)
    assert (second["id"], second["text"], second["created"]) == (f"e-{ULID}.1", "Plain.\n```\n- code\n```", "")
    assert found["text"] == "# About\n\nProse."
    data = ENTITY.encode()
    assert data[first["start"] : first["end"]].startswith(b"- 2026-11-20T09")
    assert data[second["start"] : second["end"]] == b"- Plain.\n  ```\n  - code\n  ```\n"


def test_lines_of_keys_can_be_replaced() -> None:
    data = CLAIM.encode()
    places = {name: (start, end) for name, start, end in note(data)["keys"]}
    start, end = places["relations"]
    changed = data[:start] + b"relations: []\n" + data[end:]
    found = note(changed)
    assert found["relations"] == []
    assert found["problems"] == []
    assert b"own_key: {kept: true}\n---\nAttention" in changed
    front = note(data)["front_end"]
    assert note(data[:front] + b'updated: "2026-11-24T00:00:00Z"\n' + data[front:])["updated"] == "2026-11-24T00:00:00Z"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", (1, "note-front-matter")),
        ("Only text.\n", (1, "note-front-matter")),
        (f"---\nid: c-{ULID}\n", (1, "note-front-matter")),
        ("---\n---\nText.\n", (2, "note-yaml")),
        ("---\na: 1\nb: [\n---\n", (4, "note-yaml")),
        ("---\nid: 1\n<<<<<<< HEAD\nkind: claim\n=======\n---\n", (4, "note-yaml")),
        ("---\n- a\n---\n", (2, "note-yaml")),
        ("---\n{id: x}\n---\n", (2, "note-yaml")),
        (f"---\nid: &a c-{ULID}\nkind: claim\nsource: *a\n---\nText.\n", (2, "note-yaml")),
        (f"---\nid: c-{ULID}\n---\nText.\n", (2, "note-kind")),
        (f"---\nid: c-{ULID}\nkind: rumour\n---\nText.\n", (3, "note-kind")),
        ("---\nkind: claim\n---\nText.\n", (2, "note-id")),
        (f"---\nid: e-{ULID}\nkind: claim\n---\nText.\n", (2, "note-id")),
        ("---\nid: c-../../etc/passwd\nkind: claim\n---\nText.\n", (2, "note-id")),
        (b"---\nid: \xff\n---\n", (2, "note-yaml")),
    ],
)
def test_no_note(text: str | bytes, expected: tuple[int, str]) -> None:
    found = note(text)
    assert not (found["kind"] and found["id"])
    assert problems(found)[0] == expected


@pytest.mark.parametrize(
    ("line", "code", "value"),
    [
        ("confidence: 7", "note-value", ("confidence", 1.0)),
        ("confidence: .nan", "note-value", ("confidence", 0.5)),
        ("confidence: high", "note-value", ("confidence", 0.5)),
        ("status: rejected", "note-value", ("status", "proposed")),
        ("created: yesterday", "note-value", ("created", "")),
        ("author: me", "note-value", ("author", {"client": "", "agent": ""})),
        ("source: [a]", "note-value", ("source", "")),
        ("about: {symbol: x}", "note-value", ("about", [])),
        ("about: [{path: x.py}]", "note-target", ("about", [])),
        ("about: [{symbol: x, file: y}]", "note-target", ("about", [])),
        ("relations: [{type: supports}]", "note-target", ("relations", [])),
        ("relations: [{type: supports, to: https://example.org}]", "note-target", ("relations", [])),
        (f"relations: [{{to: c-{ULID}}}]", "note-value", ("relations", [])),
        ("source: x\nsource: y", "note-yaml", ("source", "x")),
    ],
)
def test_wrong_values_leave_the_rest(line: str, code: str, value: tuple[str, object]) -> None:
    found = claim(line)
    assert (found["kind"], found["id"], found["text"]) == ("claim", f"c-{ULID}", "A text.")
    assert problems(found) == [(3 + len(line.splitlines()), code)]
    assert found[value[0]] == value[1]


def test_limits() -> None:
    relations = "".join(f"  - {{type: supports, to: symbol:a{number}}}\n" for number in range(1001))
    found = claim(f"relations:\n{relations}")
    assert len(found["relations"]) == 1000
    assert problems(found) == [(1005, "note-limit")]
    assert problems(claim(body="x" * (1 << 20)))[0] == (1, "note-limit")
    many = note(f"---\nid: e-{ULID}\nkind: entity\nname: E\n---\n" + "- item\n" * 10_001)
    assert len(many["observations"]) == 10_000
    assert problems(many) == [(10_006, "note-limit")]
    assert len(claim("about: [" + "{x: 1}, " * 900 + "]")["problems"]) == 101


def test_random_bytes() -> None:
    chance = random.Random(14)
    for _ in range(2000):
        data = b"---\n" + chance.randbytes(chance.randrange(80)) + b"\n---\n" + chance.randbytes(chance.randrange(40))
        assert note(data)["problems"]
