"""Check of the rows of a pack's file before use. A pack comes from anywhere, and SQLite stores any value in any column.

Every value must have the type that its column declares, and a size and range that a build can give it, so that what
reads packs need not expect anything else. The tables themselves are compared by `schema_check`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import apsw

from atlas.adapters.stores.sqlite.file.connection import open_reader
from atlas.adapters.stores.sqlite.file.errors import damaged, translated
from atlas.adapters.stores.sqlite.rows import fetch, select
from atlas.adapters.stores.sqlite.text_segments import are_sound

MAX_TEXT = 1 << 20
"""Bytes of a text; a name, signature or headings have at most `MAX_NAME`."""
MAX_NAME = 1 << 18
MAX_CONTENT = 64 << 20
"""Bytes of an article: a build reads files of at most half."""
MAX_RATIO, MIN_CONTENT = 16, 8 << 20
"""Bytes of all articles for one of the file, and what any file may hold: the words, vectors and rows of a text take
more room than itself."""

STEPS, STEPS_PER_BYTE = 10_000_000, 40
"""Instructions of SQLite that a check takes at most, and for each byte of the file: a build's takes one or two."""

WORDS_PER_BYTE = 4
"""Words in the index for one byte of the file: the words of a path repeat for every node and take no room."""

_TYPES = {"TEXT": "text", "INTEGER": "integer", "REAL": "real", "BLOB": "blob"}
_NAMES = ("name", "qualified_name", "label", "kind", "signature", "chunk_name", "chunk_digest", "modifiers")
_NUMBERS = ("line", "start_line", "end_line", "start_byte", "end_byte")
_MOST = (1 << 31) - 1
_DIGIT = "[0-9]"

_RULES = {
    "a name": f"SELECT 1 FROM node WHERE {' OR '.join(f'octet_length({name}) > {MAX_NAME}' for name in _NAMES)}",
    "a position": f"SELECT 1 FROM node WHERE {' OR '.join(f'{name} NOT BETWEEN 0 AND {_MOST}' for name in _NUMBERS)}",
    "properties": "SELECT 1 FROM (SELECT properties FROM node UNION ALL SELECT properties FROM edge) "
    "WHERE properties <> '' AND iif(json_valid(properties), json_type(properties) <> 'object', 1)",
    "a uid": f"SELECT 1 FROM symbol_id WHERE octet_length(uid) > {MAX_NAME}",
    "a reference": "SELECT 1 FROM node n LEFT JOIN symbol_id s ON s.id = n.id LEFT JOIN file f ON f.id = n.file "
    "LEFT JOIN project p ON p.id = f.project WHERE s.id IS NULL OR p.id IS NULL",
    "a file": f"SELECT 1 FROM file WHERE size NOT BETWEEN 0 AND {MAX_CONTENT} OR octet_length(path) > {MAX_NAME} "
    f"OR max(lines, resolved, unresolved) > {_MOST} OR min(lines, resolved, unresolved) < 0",
    "an edge": f"SELECT 1 FROM edge WHERE confidence NOT BETWEEN 0 AND 1 OR line NOT BETWEEN 0 AND {_MOST} "
    f"OR octet_length(type) > 200 OR octet_length(strategy) > 200 OR further_lines GLOB '*[^0-9 ]*' "
    f"OR further_lines GLOB '*{_DIGIT * 11}*'",
    "a count": "SELECT 1 FROM edge_count WHERE count NOT BETWEEN 0 AND 1000000000000",
    "a model": "SELECT 1 FROM model WHERE dimension NOT BETWEEN 1 AND 8192",
    "a vector": "SELECT 1 FROM vector LEFT JOIN model ON model.id = vector.model "
    "WHERE octet_length(data) <> 2 * ifnull(dimension, 0)",
}
"""What may be wrong with values of the right type -> a query that finds one."""


def check_pack(path: Path) -> None:
    """Raise StoreError unless the file is a whole database with the tables and values of a pack; reads all of it."""
    size = path.stat().st_size if path.is_file() else 0
    with translated(path):
        try:
            connection = open_reader(path, owned=False, most_steps=STEPS + STEPS_PER_BYTE * size)
            try:
                found = next(_problems(connection, size), "")
            finally:
                connection.close(True)
        except apsw.InterruptError:
            found = "it takes longer to read than the file of a build"
    if found:
        raise damaged(path, found)


def _problems(connection: apsw.Connection, size: int) -> Iterator[str]:
    # first of all: a page that many others lead to makes every statement endless
    for (problem,) in fetch(connection, "PRAGMA quick_check(1)"):
        if problem != "ok":
            yield str(problem)[:200]
    tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"
    for (table,) in fetch(connection, tables):
        columns = fetch(connection, "SELECT name, type FROM pragma_table_info(?)", (table,))
        wrong = [f"typeof({name}) <> '{_TYPES[kind]}'" for name, kind in columns]
        wrong += [f"octet_length({name}) > {MAX_TEXT}" for name, kind in columns if kind == "TEXT"]
        if fetch(connection, f"SELECT 1 FROM {table} WHERE {' OR '.join(wrong)} LIMIT 1"):
            yield f"a value of {table} has the wrong type or size"
    for what, query in _RULES.items():
        if fetch(connection, f"{query} LIMIT 1"):
            yield f"{what} is not as a build writes it"
    if not are_sound(connection, WORDS_PER_BYTE * size):
        yield "its words are not those of a build"
    if not _has_whole_contents(connection, size):
        yield "a text is not what it states"


def _has_whole_contents(connection: apsw.Connection, size: int) -> bool:
    """Return whether every article has the size that is stated, and all together one that such a file can have."""
    left = max(MAX_RATIO * size, MIN_CONTENT)
    query = "SELECT file.size, data FROM content LEFT JOIN file ON file.id = content.file"
    for stated, data in select(connection, query):
        if stated is None or stated > left or len(data) > stated + 1024:
            return False
        reader = zlib.decompressobj()
        if len(reader.decompress(data, stated + 1)) != stated or not reader.eof:
            return False
        left -= stated
    return True
