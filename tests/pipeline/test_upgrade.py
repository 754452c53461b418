"""An index of an older version becomes that of this version with the next pass over the tree, which has not changed."""

from __future__ import annotations

from pathlib import Path

from atlas.app.session import make_session
from atlas.app.toolsets import TOOLSETS, tools_of
from atlas.runtime.config.load import load_settings
from tests.pipeline.trees import differences, dump, index, write_tree
from tests.raw_database import put_words_in_fts5, raw


async def test_the_words_of_an_older_index_are_written_again(tmp_path: Path) -> None:
    root, data = tmp_path / "p", tmp_path / "d"
    write_tree(root, {"a.py": "def first():\n    return second()\n", "b/c.md": "# Title\n\nWords of a section.\n"})
    await index(root, data)
    before = dump(data)
    assert before["text"]
    make_older(data)
    await index(root, data)
    assert differences(before, dump(data)) == []


async def test_the_first_question_of_a_session_upgrades_an_older_index(tmp_path: Path) -> None:
    root, data = tmp_path / "p", tmp_path / "d"
    write_tree(root, {"a.py": "def first():\n    return second()\n"})
    await index(root, data)
    make_older(data)
    settings = load_settings(str(root), str(data))
    session = make_session(settings, serves_agents=True, personal=False)
    text, _ = await session.call(tools_of(tuple(TOOLSETS.values()))["get_node"], {"name": "first"}, report)
    await session.aclose()
    assert "a.py:1" in text


async def report(*_: object) -> None: ...


def make_older(data: Path) -> None:
    """Turn an index into one whose words are in FTS5."""
    connection = raw(data / "atlas.db")
    put_words_in_fts5(connection, "7")
    connection.close()
