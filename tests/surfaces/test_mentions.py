"""Mentions without an edge: prose and tests that name a symbol are listed, strings are no callers."""

from __future__ import annotations

from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.tools.relation_answer import RelationAnswer
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed

FILES = {
    "net/body.py": "def send_body(stream):\n    return stream\n\n\ndef close(stream):\n    return stream\n",
    "net/run.py": "NAMES = ['send_body']\n\n\ndef run(name):\n    return name\n",
    "tests/test_net.py": "def test_bodies_are_sent(program):\n    assert program('send_body') == 0\n",
    "net/old.js": (
        "/*\nfunction old(stream) {\n  send_body(stream)\n}\n*/\nfunction runOld(x) {\n"
        "  /* send_body(x) */\n  return x /* && send_body(x) */\n}\n"
    ),
    "README.md": "# Net\n\nEvery answer ends in send_body, whatever the server is.\n",
}


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("which docs mention send_body", {("README.md", (3,))}),
        ("tests of send_body", {("tests/test_net.py", (2,))}),
        ("callers of send_body", set[tuple[str, tuple[int, ...]]]()),
    ],
)
async def test_mentions_are_listed_as_text(
    tmp_path: Path, question: str, places: set[tuple[str, tuple[int, ...]]]
) -> None:
    root = tmp_path / "net"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        answer = await hybrid_search(atlas, question)
    assert isinstance(answer, RelationAnswer)
    lines = [(group.path, line) for group in answer.files for line in group.symbols]
    assert {(path, line.lines) for path, line in lines} == places
    assert all((line.strategy, line.confidence) == ("text", 0.4) for _, line in lines)
