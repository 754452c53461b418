"""Two stores are equal when all that they say is; whatever differs is found, counted under its kind, and shown."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from atlas_bench.compose import compare_indexes

from atlas.core.errors import NotFound
from tests.pipeline.trees import index, write_tree
from tests.raw_database import raw

FILES = {
    "a.py": "from b import g\n\n\ndef f():\n    '''Doc of f.'''\n    return g()\n",
    "b.py": "def g():\n    return 1\n",
    "guide.md": "# Title\n\n`a.f` in words\n",
    "key.pem": "not indexed\n",
}

DAMAGE = {
    "files": "UPDATE file SET stale = 1 WHERE path = 'a.py'",
    "skipped": "UPDATE skipped SET reason = 'another'",
    "contents": "UPDATE content SET data = (SELECT data FROM content LIMIT 1)",
    "nodes": "UPDATE node SET end_line = 9 WHERE name = 'f'",
    "edges": "UPDATE edge SET confidence = 0.1 WHERE type = 'CALLS'",
    "edge_counts": "UPDATE edge_count SET count = count + 1",
    # a segment without texts, in which the text of this node is replaced
    "words": "INSERT INTO word_segment SELECT max(id) + 1, 1, x'00', "
    "CAST(char((SELECT id FROM symbol_id WHERE uid = 'p:b.g')) AS BLOB), x'' FROM word_segment",
    "vectors": "UPDATE vector SET data = zeroblob(512) WHERE id = (SELECT id FROM symbol_id WHERE uid = 'p:b.g')",
}


@pytest.fixture
async def stored(tmp_path: Path) -> Path:
    write_tree(tmp_path / "p", FILES)
    await index(tmp_path / "p", tmp_path / "a")
    return tmp_path


def damaged(stored: Path, statement: str) -> Path:
    shutil.copytree(stored / "a", stored / "b")
    connection = raw(stored / "b" / "atlas.db")
    connection.execute(statement)
    assert connection.total_changes(), "the statement must change something for the test to mean anything"
    connection.close()
    return stored / "b"


async def test_a_second_index_of_the_same_tree_is_equal(stored: Path) -> None:
    await index(stored / "p", stored / "b")
    comparison = compare_indexes(stored / "a", stored / "b")
    assert comparison.equal
    assert comparison.lines() == []
    assert all(kind.rows_a == kind.rows_b > 0 for kind in comparison.kinds)


async def test_the_order_in_which_files_came_does_not_matter(stored: Path) -> None:
    """Internal ids, generations and times differ here; what the store says does not."""
    write_tree(stored / "p", {"guide.md": FILES["guide.md"]})
    await index(stored / "p", stored / "b")
    for path in ("b.py", "key.pem", "a.py"):
        (stored / "p" / path).write_text(FILES[path])
        await index(stored / "p", stored / "b")
    assert compare_indexes(stored / "a", stored / "b").lines() == []


@pytest.mark.parametrize("kind", DAMAGE)
async def test_a_difference_is_found_under_its_kind(stored: Path, kind: str) -> None:
    comparison = compare_indexes(stored / "a", damaged(stored, DAMAGE[kind]))
    assert not comparison.equal
    assert [one.kind for one in comparison.kinds if not one.equal] == [kind]


async def test_rows_of_one_side_are_told_apart(stored: Path) -> None:
    other = damaged(stored, "DELETE FROM edge WHERE type = 'CALLS'")
    (edges,) = (kind for kind in compare_indexes(stored / "a", other).kinds if not kind.equal)
    assert (edges.kind, edges.only_a, edges.only_b, edges.changed) == ("edges", 1, 0, 0)
    assert edges.samples[0].startswith("only in A: p:a.f CALLS p:b.g 6")
    (edges,) = (kind for kind in compare_indexes(other, stored / "a").kinds if not kind.equal)
    assert (edges.only_a, edges.only_b) == (0, 1)


async def test_an_edge_into_nothing_differs_from_one_into_a_node(stored: Path) -> None:
    other = damaged(stored, "DELETE FROM node WHERE name = 'g'")
    kinds = {kind.kind: kind for kind in compare_indexes(stored / "a", other).kinds if not kind.equal}
    assert kinds["nodes"].only_a == 1
    assert kinds["edges"].changed >= 1


def test_the_command_says_so_and_exits_with_1(stored: Path) -> None:
    command = [sys.executable, "-P", "-m", "atlas", "bench", "compare", str(stored / "a")]
    same = subprocess.run([*command, str(stored / "a")], capture_output=True, text=True)
    other = subprocess.run([*command, str(damaged(stored, DAMAGE["nodes"]))], capture_output=True, text=True)
    assert (same.returncode, other.returncode) == (0, 1), same.stderr + other.stderr
    assert "nodes: 0 only in A, 0 only in B, 1 differ" in other.stdout
    assert "p:a.f: end_line 6 -> 9" in other.stdout


async def test_a_folder_without_an_index_is_not_an_empty_one(stored: Path) -> None:
    with pytest.raises(NotFound):
        compare_indexes(stored / "a", stored / "p")
