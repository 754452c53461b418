"""Conflict markers of a merge are a note in answers that cite the file, and in the status."""

from __future__ import annotations

from pathlib import Path

import pytest

from atlas.code.conflicts import first_conflict

from .processes import Place, answer, atlas, server

CONFLICT = """def tax(net):
    return net
<<<<<<< HEAD
def price(net):
    return net * 2
=======
def price(net):
    return net * 3
>>>>>>> other
"""


async def test_conflict_markers_are_told(tmp_path: Path) -> None:
    place = Place(tmp_path / "merged", tmp_path / "data")
    place.root.mkdir()
    (place.root / "a.py").write_text(CONFLICT)
    (place.root / "b.py").write_text("def clean():\n    return 1\n")
    assert atlas("index", *place.options).returncode == 0
    note = "a.py has conflict markers at line 3"
    async with server(place) as client:
        for tool, arguments in (("get_context", {"name": "tax"}), ("hybrid_search", {"query": "price"})):
            found = await answer(client, tool, **arguments)
            assert note in found["evidence"]["notes"]
            assert found["stale"] is False
        assert note in (await answer(client, "status"))["evidence"]["notes"]
        clean = await answer(client, "get_context", name="clean")
        assert note not in clean["evidence"].get("notes", [])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (CONFLICT.encode(), 3),
        (CONFLICT.replace("\n", "\r\n").encode(), 3),
        (b"<<<<<<< a\n||||||| base\n=======\n>>>>>>> b", 1),
        (b"Title\n=======\n", 0),
        (b'"<<<<<<< a"\n=======\n">>>>>>> b"', 0),
        (b"<<<<<<<< a\n=======\n>>>>>>> b", 0),
        (b">>>>>>> a\n=======\n<<<<<<< b", 0),
    ],
)
def test_a_conflict_has_all_its_markers(text: bytes, line: int) -> None:
    assert first_conflict(text) == line
