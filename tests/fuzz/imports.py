"""Imports: any file becomes notes or reported rows, a second import adds nothing, and what is written can be read."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence

from atlas.knowledge.notes.doctor import examine
from atlas.knowledge.notes.exporting import linked
from atlas.knowledge.notes.importing.run import import_notes
from tests.fuzz.notes import CLAIM, ENTITY, ULID
from tests.fuzz.target import Target
from tests.notes.books import book_at, tree

NAMES = {b"j": "units.json", b"l": "rows.jsonl", b"c": "units.csv", b"i": "idempotency.json", b"m": "adr/note.md"}
"""Files by the first byte of an input."""
UNIT = {"id": "u1", "content": "It scales.", "source_doi": "10.1/x", "confidence": 0.5, "created_at": "2024-05-06"}
RELATION = {"source_id": "u1", "target_id": "u1", "type": "extends", "reasoning": "x", "created_at": 1700000000}
TEAM = {
    "type": "entity",
    "name": "Team",
    "entityType": "team",
    "observations": ["One.", {"text": "Two.", "created": 1}],
}
SEEN = {"entityName": "Team", "contents": ["Three."]}
OWNS = {"type": "relation", "from": "Team", "to": "symbol:a.b", "relationType": "owns"}
NOTE = {"id": f"c-{ULID}", "kind": "claim", "text": "It scales.", "path": "a/b.md", "about": [{"target": "symbol:a.b"}]}
ADR = "---\nid: ADR-1\nrelations:\n  - {type: supersedes, to: ADR-0}\n---\n# 1. Use it\n\nDate: 2023-04-05\n\n## Status\n\nDraft\n"
HARMLESS = {"note-dangling", "note-self-relation", "note-self-contradiction", "note-cycle"}
"""What notes may say about each other is not for an import to judge."""


class Imports(Target):
    name = "imports"
    words = (
        *(
            b"null",
            b"-1",
            b"1e999",
            b"{}",
            b"[]",
            b'""',
            b"\x00",
            b"\xff",
            b"\\ud800",
            b"\n",
            b'"',
            b",",
            b":",
            b"{",
            b"}",
        ),
        *(
            b'"id"',
            b'"@id"',
            b'"kind"',
            b'"claim"',
            b'"file"',
            b'"path"',
            b'"../x.md"',
            b"9" * 30,
            b"---\n",
            ULID.encode(),
        ),
    )

    def seeds(self) -> Sequence[bytes]:
        rows = [UNIT, RELATION, TEAM, SEEN, OWNS, NOTE, linked(NOTE)]
        documents = [
            {"entities": [TEAM], "relations": [OWNS], "observations": [SEEN]},
            {"u1": UNIT},
            {"@graph": [linked(NOTE)]},
        ]
        return [
            *(b"j" + json.dumps(one).encode() for one in [rows, *documents]),
            b"l" + "\n".join(map(json.dumps, rows)).encode(),
            b'cid,content,confidence\n1,"Two\nlines",0.5\n2,x,\n',
            b"i" + json.dumps({"units": [UNIT], "key": {"id": "u1"}}).encode(),
            *(b"m" + one.encode() for one in (CLAIM, ENTITY, ADR, "# Claim: it scales\n")),
        ]

    def check(self, data: bytes) -> str:
        place = self.folder / "import"
        shutil.rmtree(place, ignore_errors=True)
        file = place / "given" / NAMES.get(data[:1], "units.json")
        file.parent.mkdir(parents=True)
        file.write_bytes(data[1:])
        book = book_at(place)
        first = import_notes(book, [file.parent])
        before = tree(book)
        again = import_notes(book, [file.parent])
        assert (again.added, tree(book)) == ({}, before)
        assert {one.parts[len(place.parts)] for one in place.rglob("*.md")} <= {"given", "project"}
        found = {one.code for one in examine(book.folder).findings} - HARMLESS
        # files are copied with their problems
        assert not found or data[:1] == b"m" or b"file" in data or b"source_text" in data
        return f"{sorted(first.added)} {bool(first.refused)}"
