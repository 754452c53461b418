"""Front matter: what is written is read back, and an edit leaves every other byte as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas.code.notes.note import Note, read_note, text_of
from atlas.core.errors import ConfigError
from atlas.knowledge.notes.front_matter import new_file, with_body, with_item, with_line, with_values, without

ID = "c-01ARZ3NDEKTSV4RRFFQ69G5FAV"
OTHER = "c-01ARZ3NDEKTSV4RRFFQ69G5FAW"
TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), min_size=1, max_size=60)
LINES = TEXTS.map(lambda text: " ".join(text.split())).filter(bool)

HAND_WRITTEN = f"""---
# written by hand
id: {ID}
kind:   claim   # a comment
mood: [curious, "quite: so"]
confidence: 0.8
nested:
  deep:
    - 1

relations:

  # why
  - type: supports
    to: {OTHER}
    strength: high
  - {{type: refutes, to: {OTHER}, odd: yes}}
---

Body *as written*.  \t
<!-- end -->"""


def written(data: bytes) -> tuple[bytes, Note]:
    return data, read_note(data)


@given(LINES, TEXTS, LINES, st.floats(0, 1), LINES)
def test_what_is_written_is_read_back(name: str, body: str, source: str, confidence: float, reasoning: str) -> None:
    values = {
        "id": ID,
        "kind": "claim",
        "name": name,
        "source": source,
        "confidence": confidence,
        "author": {"client": name, "agent": source},
        "aliases": [name, source],
        "relations": [{"type": "supports", "to": OTHER, "reasoning": reasoning, "confidence": confidence}],
    }
    data, note = written(new_file(values, f"Statement: {body}"))
    assert note.problems == ()
    assert (note.id, note.source, note.confidence) == (ID, source, confidence)
    assert (note.client, note.agent, note.aliases) == (name, source, (name, source))
    assert [(one.reasoning, one.confidence) for one in note.relations] == [(reasoning, confidence)]
    assert text_of(data, note) == f"Statement: {body}".strip()


@given(st.binary(max_size=300))
def test_any_bytes_are_read(data: bytes) -> None:
    note = read_note(data)
    assert 0 <= note.front_end <= len(data) and 0 <= note.body <= len(data)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_edit_without_a_change_gives_the_same_bytes(newline: str) -> None:
    data, note = written(HAND_WRITTEN.replace("\n", newline).encode())
    assert note.id == ID and note.problems == ()
    assert with_values(data, note, {}) == data


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_only_the_lines_of_the_key_change(newline: str) -> None:
    data, note = written(HAND_WRITTEN.replace("\n", newline).encode())
    changed = with_values(data, note, {"confidence": 0.5, "status": "disputed"})
    expected = HAND_WRITTEN.replace("confidence: 0.8\n", "confidence: 0.5\n").replace(
        "odd: yes}\n---", "odd: yes}\nstatus: disputed\n---"
    )
    assert changed.decode() == expected.replace("\n", newline)
    assert read_note(changed).status == "disputed"


def test_items_are_appended_and_replaced_alone() -> None:
    data, note = written(HAND_WRITTEN.encode())
    item = {"type": "extends", "to": OTHER}
    longer = with_item(data, note, "relations", item)
    assert longer.decode() == HAND_WRITTEN.replace("yes}\n---", f"yes}}\n  - {{type: extends, to: {OTHER}}}\n---")
    assert [one.type for one in read_note(longer).relations] == ["supports", "refutes", "extends"]
    replaced = with_item(longer, read_note(longer), "relations", item, 1)
    assert [one.type for one in read_note(replaced).relations] == ["supports", "extends", "extends"]
    assert "strength: high" in replaced.decode() and "odd: yes" not in replaced.decode()


@pytest.mark.parametrize("old", ["relations: []", f"relations: [{{type: implies, to: {OTHER}}}]", "other: 1"])
def test_a_list_on_one_line_grows(old: str) -> None:
    data, note = written(f"---\nid: {ID}\nkind: claim\n{old}\n---\nText.\n".encode())
    longer = read_note(with_item(data, note, "relations", {"type": "extends", "to": OTHER}))
    assert longer.problems == ()
    assert [one.type for one in longer.relations] == [*(one.type for one in note.relations), "extends"]


def test_a_key_with_an_empty_value_goes() -> None:
    data, note = written(HAND_WRITTEN.encode())
    assert with_values(data, note, {"mood": ""}).decode() == HAND_WRITTEN.replace('mood: [curious, "quite: so"]\n', "")


def test_bodies_and_lines() -> None:
    data, note = written(f"---\nid: {ID}\nkind: claim\nother: kept\n---\nOld text.\n".encode())
    assert with_body(data, note, "New\ntext.") == data.replace(b"Old text.", b"New\ntext.")
    assert with_line(data.rstrip(b"\n"), "- more") == data + b"- more\n"
    assert without(data, note.body, len(data)) == data[: note.body]


@pytest.mark.parametrize("text", ["", "no front matter", "---\nid: [\n---\n", "---\nid: x\n"])
def test_a_file_that_cannot_be_read_is_not_edited(text: str) -> None:
    data, note = written(text.encode())
    with pytest.raises(ConfigError, match="front matter cannot be read") as caught:
        with_values(data, note, {"status": "disputed"})
    assert caught.value.hint
