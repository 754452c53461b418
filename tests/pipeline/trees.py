"""Small trees and a whole dump of what the store says about them: what "equal" means in I1."""

from __future__ import annotations

import shutil
from pathlib import Path

from atlas.adapters.stores.sqlite.text_segments import occurrences
from atlas.app.main import open_atlas
from atlas.code.index.events import IndexSummary
from atlas.runtime.config.load import load_settings
from tests.raw_database import raw


def write_tree(root: Path, files: dict[str, str]) -> None:
    """Make the folder hold exactly these files."""
    if root.exists():
        shutil.rmtree(root)
    root.mkdir(parents=True)
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


async def index(root: Path, data: Path, *, full: bool = False) -> IndexSummary:
    """Run one index pass with the product's own wiring."""
    settings = load_settings(project=str(root), data_dir=str(data))
    async with open_atlas(settings, writing=True) as atlas:
        return await atlas.index(full=full)


class Dump(dict[str, list[tuple[object, ...]]]):
    """What a store holds; two that differ say in which rows."""


def differences(left: Dump, right: Dump, most: int = 10) -> list[str]:
    """Return the rows that only one has, the first of each kind, in lines that can be read."""
    lines: list[str] = []
    for part in left:
        for side, one, other in (("left", left[part], right[part]), ("right", right[part], left[part])):
            only = sorted(set(one) - set(other), key=repr)
            lines += [f"{part}, only {side}: {repr(row)[:300]}" for row in only[:most]]
            if len(only) > most:
                lines.append(f"{part}, only {side}: {len(only) - most} more")
        if not lines and left[part] != right[part]:
            lines.append(f"{part}: the same rows, not as often")
    return lines


def dump(data: Path) -> Dump:
    """Return everything in the store but times, generations and internal ids."""
    connection = raw(data / "atlas.db", writing=False)
    query = connection.execute
    try:
        query("BEGIN")  # a daemon may write meanwhile
        uids = dict(query("SELECT id, uid FROM symbol_id"))
        return Dump(
            files=sorted(
                query(
                    "SELECT path, language, digest, size, lines, resolved, unresolved, is_test, is_generated, problems, stale, "
                    "CASE path WHEN '' THEN '' ELSE unit_digest END FROM file"
                )
            ),
            structure=sorted(query("SELECT unit_digest FROM file WHERE path = ''")),
            nodes=sorted(
                query(
                    "SELECT uid, path, label, kind, name, qualified_name, line, start_line, end_line, start_byte, end_byte, "
                    "signature, docstring, node.is_test, node.is_generated, exported, modifiers, signature_digest, "
                    "body_digest, docstring_digest, text_digest, chunk_digest, chunk_name, properties "
                    "FROM node JOIN symbol_id USING (id) JOIN file ON file.id = node.file"
                )
            ),
            edges=sorted(
                query(
                    "SELECT a.uid, b.uid, type, line, strategy, confidence, further_lines, properties FROM edge "
                    "JOIN symbol_id a ON a.id = source JOIN symbol_id b ON b.id = target"
                )
            ),
            dangling=sorted(
                query(
                    "SELECT a.uid, type, b.uid FROM edge JOIN symbol_id a ON a.id = source "
                    "JOIN symbol_id b ON b.id = target WHERE target NOT IN (SELECT id FROM node)"
                )
            ),
            text=sorted((uids[node], *where) for node, *where in occurrences(connection)),
            contents=sorted(query("SELECT path, data FROM content JOIN file ON file.id = content.file")),
            vectors=sorted(
                query(
                    "SELECT uid, v.id < 0, digest, provider, model.model, fingerprint, data FROM vector v "
                    "JOIN symbol_id ON symbol_id.id = abs(v.id) JOIN model ON model.id = v.model"
                )
            ),
        )
    finally:
        connection.close()
