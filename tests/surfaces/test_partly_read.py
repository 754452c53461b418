"""Answers about a file that was read in part say so; answers about others do not."""

from __future__ import annotations

from pathlib import Path

from atlas.code.freshness import partly_read
from atlas.core.model import FileRecord

from .processes import Place, answer, atlas, server


async def test_answers_say_what_was_read_in_part(tmp_path: Path) -> None:
    place = Place(tmp_path / "parts", tmp_path / "data")
    place.root.mkdir()
    (place.root / "a.kt").write_text("class Sail {\n    fun hoist() { val x = ?? }\n    fun furl() {}\n}\n")
    (place.root / "b.kt").write_text("fun clean() {}\n")
    assert atlas("index", *place.options).returncode == 0
    note = "a.kt was read in part: line 2 does not fit the grammar"
    async with server(place) as client:
        for tool, arguments in (
            ("get_node", {"name": "Sail"}),
            ("get_context", {"name": "Sail.furl"}),
            ("hybrid_search", {"query": "furl"}),
            ("hybrid_search", {"query": "who calls Sail.furl"}),
        ):
            found = await answer(client, tool, **arguments)
            assert note in found["evidence"]["notes"], tool
            assert found["stale"] is False
        clean = await answer(client, "get_node", name="clean")
        assert note not in clean["evidence"].get("notes", [])


def test_reasons_name_lines() -> None:
    def reason(*problems: str) -> str | None:
        return partly_read([FileRecord("a.kt", digest="", problems=problems)]).get("a.kt")

    assert reason("3: secret: aws-key", "1: encoding: the text is not valid UTF-8") is None
    assert reason("1: timeout: the file was not read to its end in time") == (
        "was read in part: the file was not read to its end in time"
    )
    many = [f"{line}: syntax: text that does not fit the grammar" for line in (2, 2, 4, 6, 9)]
    assert reason(*many) == "was read in part: lines 2, 4, 6 and 1 more do not fit the grammar"
