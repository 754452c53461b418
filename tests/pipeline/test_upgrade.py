"""An index of an older version becomes that of this version with the next pass over the tree, which has not changed."""

from __future__ import annotations

from pathlib import Path

from tests.pipeline.trees import differences, dump, index, write_tree
from tests.raw_database import put_words_in_fts5, raw


async def test_the_words_of_an_older_index_are_written_again(tmp_path: Path) -> None:
    root, data = tmp_path / "p", tmp_path / "d"
    write_tree(root, {"a.py": "def first():\n    return second()\n", "b/c.md": "# Title\n\nWords of a section.\n"})
    await index(root, data)
    before = dump(data)
    assert before["text"]
    connection = raw(data / "atlas.db")
    put_words_in_fts5(connection, "7")
    connection.close()
    await index(root, data)
    assert differences(before, dump(data)) == []
