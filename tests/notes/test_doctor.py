"""The problems of a knowledge folder, each with its line and a fix."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from atlas.core.errors import StoreError
from atlas.knowledge.notes.doctor import FIXES, examine
from atlas.knowledge.notes.listing import find_note, notes
from atlas.knowledge.notes.notebook import Notebook

from .books import book_at, write

A, B, C, D = (f"c-01JD2V9Q7K4M8N3P5R6S7T8V9{letter}" for letter in "ABCD")
E = "e-01JD2V9Q7K4M8N3P5R6S7T8V9E"
SEEN = "o-01JD2V9Q7K4M8N3P5R6S7T8V9F"


@pytest.fixture
def book(tmp_path: Path) -> Notebook:
    return book_at(tmp_path)


def claim(note_id: str, *lines: str, body: str = "A text.") -> str:
    return "\n".join(["---", f"id: {note_id}", "kind: claim", *lines, "---", body, ""])


def relations(*pairs: tuple[str, str]) -> str:
    return "relations:\n" + "\n".join(f"  - {{type: {kind}, to: {to}}}" for kind, to in pairs)


def found(book: Notebook) -> list[tuple[str, int, str]]:
    done = examine(book.folder)
    assert all(one.code in FIXES and one.message and one.fix for one in done.findings)
    return [(one.path.removeprefix(".knowledge/"), one.line, one.code) for one in done.findings]


def test_a_folder_without_problems(book: Notebook) -> None:
    assert found(book) == []
    write(book, "a.md", claim(A, relations(("implies", B), ("OWNS", "symbol:x.y"), ("supports", f"{E}.2"))))
    write(book, "b.md", claim(B, "status: disputed", relations(("refutes", D), ("extends", SEEN))))
    write(book, "d.md", claim(D, relations(("implies", B))))
    write(book, "e.md", f"---\nid: {E}\nkind: entity\nname: E\n---\n- [{SEEN}] One.\n- Two.\n")
    write(book, "README.md", "# About this folder\n")
    write(book, "data.txt", b"\xff")
    write(book, ".a.1-0123abcd.draft", "a writer is at work")
    assert found(book) == []
    assert examine(book.folder).notes == 4


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("---\nid: [\n---\nText.\n", 3, "note-yaml"),
        ("No front matter.\n", 1, "note-front-matter"),
        (f"---\nid: {A}\nkind: rumour\n---\nText.\n", 3, "note-kind"),
        (claim("x-1"), 2, "note-id"),
        (claim(A, "confidence: 7"), 4, "note-value"),
        (claim(A, "status: rejected"), 4, "note-value"),
        (claim(A, "relations: [{type: supports, to: nowhere}]"), 4, "note-target"),
        (claim(A, relations(("extends", A), ("supports", B))), 6, "note-dangling"),
        (claim(A, relations(("supports", A))), 5, "note-self-relation"),
        (claim(A, body=""), 5, "note-empty"),
        (claim(A, body="one\0two"), 5, "note-encoding"),
        (claim(A).encode() + b"\xff\n", 6, "note-encoding"),
        (claim(A, body="aws_access_key_id = AKIAQ3EGRZKX5MTLWNPB\n"), 5, "note-secret"),
        (claim(A, body="x" * (1 << 20)), 0, "note-limit"),
        (f"---\nid: {E}\nkind: entity\nname: E\n---\n" + "- item\n" * 10_001, 10_006, "note-limit"),
        (f"---\nid: {E}\nkind: entity\nname: E\n---\n- [{SEEN}] a\n- [{SEEN}] b\n", 7, "note-duplicate-id"),
        (f"---\nid: {E}\nkind: entity\nname: E\n---\n- a\n- 2026-77-01T09:00:00Z [{SEEN}] b\n", 7, "note-observation"),
        (f"---\nid: {E}\nkind: entity\nname: E\n---\n- 2026-11-01T09:00:00Z [o-1] b\n", 6, "note-observation"),
        (f"---\nid: {A}\n<<<<<<< HEAD\nkind: claim\n=======\nkind: entity\n>>>>>>> x\n---\n", 3, "note-conflict"),
    ],
)
def test_a_problem_of_one_file(book: Notebook, text: str | bytes, line: int, code: str) -> None:
    write(book, "claims/a.md", text)
    assert ("claims/a.md", line, code) in found(book)
    assert {one for _, _, one in found(book)} <= {code, "note-self-relation"}


def test_ids_relations_and_cycles_of_several_files(book: Notebook) -> None:
    write(book, "a.md", claim(A, relations(("implies", B), ("supports", D), ("refutes", D))))
    write(book, "b.md", claim(B, relations(("IMPLIES", C))))
    write(book, "c.md", claim(C, relations(("implies", A), ("implies", D))))
    write(book, "d.md", claim(D))
    write(book, "e.md", claim(D))
    assert found(book) == [
        ("a.md", 5, "note-cycle"),
        ("a.md", 7, "note-self-contradiction"),
        ("e.md", 2, "note-duplicate-id"),
    ]
    messages = [one.message for one in examine(book.folder).findings]
    assert messages[0] == f"implies leads back to this note: {A}, {B}, {C}"
    assert messages[1] == f"the note supports (line 6) and refutes {D}"
    assert messages[2] == f"{D} is also the id in .knowledge/d.md"


def test_stated_contradictions_are_named_once_for_each_pair(book: Notebook) -> None:
    write(book, "a.md", claim(A, relations(("contradicts", B), ("refutes", C))))
    write(book, "b.md", claim(B, relations(("CONTRADICTS", A))))
    write(book, "c.md", claim(C, "status: superseded"))
    assert found(book) == [("a.md", 5, "note-contradiction")]
    assert examine(book.folder).findings[0].message.startswith(f"the note contradicts {B} (.knowledge/b.md)")


def test_a_long_chain_of_implications_is_no_cycle(book: Notebook) -> None:
    ids = [f"c-01JD2V9Q7K4M8N3P5R6S7T{number:04}" for number in range(1500)]
    for number, note_id in enumerate(ids[:-1]):
        write(book, f"{number:04}.md", claim(note_id, relations(("implies", ids[number + 1]))))
    write(book, "last.md", claim(ids[-1]))
    assert found(book) == []
    write(book, "last.md", claim(ids[-1], relations(("implies", ids[0]))))
    assert [code for _, _, code in found(book)] == ["note-cycle"]


def test_files_that_must_not_be_there(book: Notebook) -> None:
    write(book, "a.md", claim(A))
    write(book, "Notes/b.md", claim(B))
    write(book, "notes/B.md", claim(C))
    top = book.folder.root / ".knowledge"
    (top / "link.md").symlink_to(top / "a.md")
    os.mkfifo(top / "pipe.md")
    draft = write(book, ".a.1-0123abcd.draft", "half")
    os.utime(draft, (time.time() - 4000,) * 2)
    expected = [
        (".a.1-0123abcd.draft", 0, "note-draft"),
        ("link.md", 0, "note-link"),
        ("notes", 0, "note-case"),
        ("notes/B.md", 0, "note-case"),
        ("pipe.md", 0, "note-special"),
    ]
    assert found(book) == expected
    write(book, ".b.1-0123abcd.draft", "a writer is at work")
    write(book, ".own.draft", "not ours")
    assert examine(book.folder, fix=True).removed == [".knowledge/.a.1-0123abcd.draft"]
    assert found(book) == expected[1:]
    assert {one.name for one in top.glob(".*")} == {".b.1-0123abcd.draft", ".own.draft"}


@pytest.mark.parametrize("is_link", [False, True])
def test_a_folder_that_is_none_is_an_error(book: Notebook, is_link: bool) -> None:
    place = book.folder.root / ".knowledge"
    place.symlink_to("/") if is_link else place.write_text("x")
    with pytest.raises(StoreError, match="symbolic link" if is_link else "not a folder"):
        examine(book.folder)


def test_notes_are_listed_in_order_and_filtered(book: Notebook) -> None:
    write(book, "b/one.md", claim(B, "status: disputed", body="Größe matters."))
    write(book, "a.md", claim(A))
    write(book, "broken.md", "no note")
    write(book, "team.md", f"---\nid: {E}\nkind: entity\nname: Billing team\naliases: [payments]\n---\n- One.\n")
    assert [one.note.id for one in notes(book.folder)] == [A, B, E]
    assert [one.note.id for one in notes(book.folder, kind="claim", status="disputed")] == [B]
    assert [one.note.id for one in notes(book.folder, text="GRÖSSE")] == [B]
    for name in (E, ".knowledge/team.md", "billing TEAM", "Payments"):
        assert find_note(book.folder, name).note.id == E
