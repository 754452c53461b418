"""The verbs that change notes, on real files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from atlas.code.notes.note import Anchor, Note, NoteRelation, read_note, text_of
from atlas.core.errors import ConfigError, NotFound
from atlas.knowledge.notes import checks, notebook
from atlas.knowledge.notes.folder import KnowledgeFolder
from atlas.knowledge.notes.ids import IdSource
from atlas.knowledge.notes.notebook import Notebook

DIGEST = "0123456789abcdef"


@pytest.fixture
def book(tmp_path: Path) -> Notebook:
    (tmp_path / "project").mkdir()
    folder = KnowledgeFolder(tmp_path / "project", ".knowledge", tmp_path / "data")
    return Notebook(folder, IdSource(), tmp_path / "data", client="cursor/1.0", agent="reviewer")


def added(book: Notebook, kind: str = "claim", **values: str | float) -> tuple[str, str]:
    note_id = book.ids.new(kind)
    return book.add(kind, note_id, values, "Attention is quadratic.", "Attention is quadratic"), note_id


def note_at(book: Notebook, path: str) -> Note:
    return read_note(book.folder.read(path))


def test_a_new_note_says_who_wrote_it_and_when(book: Notebook) -> None:
    path, note_id = added(book, confidence=0.8, source="doi:10.1/x")
    note = note_at(book, path)
    assert path.startswith(f".knowledge/claims/{note.created[:4]}/attention")
    assert (note.id, note.kind, note.confidence, note.source) == (note_id, "claim", 0.8, "doi:10.1/x")
    assert (note.client, note.agent, note.problems) == ("cursor/1.0", "reviewer", ())
    assert text_of(book.folder.read(path), note) == "Attention is quadratic."


def test_a_relation_is_added_once(book: Notebook) -> None:
    (path, one), (_, other) = added(book), added(book)
    assert book.relate(path, one, NoteRelation("supports", other, "same: #1", 0.9))
    assert not book.relate(path, one, NoteRelation("supports", other, "again"))
    assert book.relate(path, one, NoteRelation("extends", other))
    relations = note_at(book, path).relations
    assert [(r.type, r.to, r.reasoning, r.confidence) for r in relations] == [
        ("supports", other, "same: #1", 0.9),
        ("extends", other, "", 1.0),
    ]


def test_values_and_text_change_and_the_rest_stays(book: Notebook) -> None:
    path, note_id = added(book, confidence=0.8)
    note = book.update(path, note_id, {"status": "disputed"}, "Attention is linear.")
    assert (note.status, note.confidence, note.name) == ("disputed", 0.8, "Attention is linear.")
    assert note.updated >= note.created


def test_an_anchor_is_replaced_by_a_newer_one_of_its_target(book: Notebook) -> None:
    path, note_id = added(book)
    book.anchor(path, note_id, Anchor("symbol", "a.b", DIGEST, DIGEST, "", "a.py", 7))
    book.anchor(path, note_id, Anchor("file", "a.py"))
    note = book.anchor(path, note_id, Anchor("symbol", "a.b", DIGEST, "f" * 16, "", "a.py", 9))
    assert [(one.kind, one.target, one.body, one.line) for one in note.about] == [
        ("symbol", "a.b", "f" * 16, 9),
        ("file", "a.py", "", 0),
    ]
    assert note.problems == ()


def test_observations_come_and_go(book: Notebook) -> None:
    path, entity = added(book, "entity", name="Billing team")
    first, second = book.observe(path, entity, "Releases on Thursdays."), book.observe(path, entity, "Owns [billing].")
    seen = note_at(book, path).observations
    assert [(one.id, one.text, one.client) for one in seen] == [
        (first.id, "Releases on Thursdays.", "cursor/1.0"),
        (second.id, "Owns [billing].", "cursor/1.0"),
    ]
    assert book.forget(path, entity, first.id).text == "Releases on Thursdays."
    assert [one.id for one in note_at(book, path).observations] == [second.id]
    with pytest.raises(NotFound, match="no observation"):
        book.forget(path, entity, first.id)


def test_limits(book: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    path, entity = added(book, "entity", name="Billing team")
    monkeypatch.setattr(notebook, "MAX_OBSERVATIONS", 1)
    book.observe(path, entity, "One.")
    with pytest.raises(ConfigError, match="1 observations already"):
        book.observe(path, entity, "Two.")
    monkeypatch.setattr(notebook, "MAX_RELATIONS", 0)
    with pytest.raises(ConfigError, match="0 relations already"):
        book.relate(path, entity, NoteRelation("OWNS", "symbol:a"))
    assert checks.MAX_OBSERVATIONS == 10_000


def test_another_note_in_the_file_is_not_changed(book: Notebook) -> None:
    path, _ = added(book)
    before = book.folder.read(path)
    with pytest.raises(NotFound, match="does not hold"):
        book.update(path, book.ids.new("claim"), {"status": "retracted"})
    assert book.folder.read(path) == before


def test_a_text_cannot_name_another_author(book: Notebook) -> None:
    path, entity = added(book, "entity", name="Team")
    for client in ("cursor/1.0", ""):
        replace(book, client=client).observe(path, entity, "It is big. (client: root)")
    assert [(one.text, one.client) for one in note_at(book, path).observations] == [
        ("It is big. (client: root)", "cursor/1.0"),
        ("It is big. (client: root)", "unknown"),
    ]
