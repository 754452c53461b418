"""Exports of a knowledge folder: JSON-LD and JSON come back as the same files, GraphML is a graph."""

from __future__ import annotations

import json
import random
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from atlas.code.notes.note import Anchor, NoteRelation
from atlas.knowledge.notes.exporting import CONTEXT, ExportReport, NoteFormat, export_lines
from atlas.knowledge.notes.front_matter import Value, new_file
from atlas.knowledge.notes.ids import PREFIXES, PastIds
from atlas.knowledge.notes.importing.run import import_notes
from atlas.knowledge.notes.notebook import Notebook
from tests.fuzz.notes import CLAIM, ENTITY, ULID

from .books import book_at, tree, write

XML = "{http://graphml.graphdrawing.org/xmlns}"


def exported(book: Notebook, form: NoteFormat, file: Path) -> ExportReport:
    report = ExportReport()
    file.write_text("".join(f"{line}\n" for line in export_lines(book.folder, form, report)), "utf-8")
    return report


def random_text(chance: random.Random) -> str:
    words = [
        "# H",
        "\n\n",
        "\n",
        "- item",
        "  - x",
        "```\n- code\n```",
        "\u202e",
        "Größe",
        "日本",
        '"',
        "\\",
        "'",
        ": #",
    ]
    return (
        " ".join(chance.choices([*words, "a", "scales", "(client: x)", "[x]", "---x", "&a", "*b"], k=8)).strip() or "a"
    )


def random_note(chance: random.Random, ids: list[str]) -> tuple[str, bytes]:
    """A path and a file, some as our tools write them, some as people do."""
    kind = chance.choice(["claim", "decision", "entity"])
    note_id = chance.choice([one for one in ids if one[0] == PREFIXES[kind]])
    ids.remove(note_id)
    targets = [*ids, "symbol:a.b", "file:a b/ü%20.py", "file://x", "route:GET /x", "package:@a/b"]
    values: dict[str, Value] = {"id": note_id, "kind": kind}
    if kind == "entity":
        values |= {"name": random_text(chance).replace("\n", " "), "aliases": ["a", "b: c"][: chance.randrange(3)]}
    if chance.random() < 0.7:
        values |= {"confidence": chance.choice([0, 0.25, 1, 1.0, 7]), "status": chance.choice(["disputed", "accepted"])}
    values["author"] = {"client": "cli", "agent": chance.choice(["", "x"])}
    values["about"] = [{"symbol": "a.b", "body": "0123456789abcdef", "line": 3}, {"file": "a b.py"}][
        : chance.randrange(3)
    ]
    values["relations"] = [
        {"type": chance.choice(["supports", "OWNS"]), "to": chance.choice(targets), "reasoning": random_text(chance)}
        for _ in range(chance.randrange(4))
    ]
    if chance.random() < 0.3:
        values |= {"own_key": ["kept"], "tags": "x"}
    data = new_file(values, random_text(chance))
    if kind == "entity":
        data += f"\n- 2026-11-20T09:00:00Z [{PastIds().at('observation', 1e9)}] Text. (client: cursor)\n- Bare.\n  More.\n".encode()
    if chance.random() < 0.3:
        data = data.replace(b"\n", b"\r\n")
    if chance.random() < 0.2:
        data = data.replace(b"kind:", b"# a comment\nkind:", 1) + b"\n\n"
    folder = chance.choice(["", "claims/2026/", "Übung x/"])
    return f"{folder}{note_id[-4:]}-{chance.choice(['a', 'Größe', 'x y'])}.md", data


@pytest.mark.parametrize("form", [NoteFormat.JSONLD, NoteFormat.JSON])
def test_an_export_comes_back_as_the_same_folder(tmp_path: Path, form: NoteFormat) -> None:
    for seed in range(8):
        chance = random.Random(seed)
        book, copy = book_at(tmp_path / f"{seed}"), book_at(tmp_path / f"{seed}-copy")
        ids = [PastIds().at(kind, 1e9 + number) for number in range(12) for kind in ("claim", "decision", "entity")]
        for _ in range(12):
            write(book, *random_note(chance, ids))
        file = tmp_path / f"{seed}.{form}"
        report = exported(book, form, file)
        assert (report.notes, report.left_out, report.changed) == (12, [], [])
        for added in (12, 0):
            done = import_notes(copy, [file])
            assert done.problems == []
            assert sum(done.added.values()) == added
            assert tree(copy) == tree(book)


def test_notes_that_our_tools_write_need_no_copy_of_their_file(tmp_path: Path) -> None:
    book = book_at(tmp_path)
    one, other = book.ids.new("claim"), book.ids.new("entity")
    path = book.add("claim", one, {"confidence": 0.8, "source": "doi:10.1/x"}, "Größe matters.", "Größe")
    book.anchor(path, one, Anchor("symbol", "a.b", "0123456789abcdef", line=4))
    book.relate(path, one, NoteRelation("supports", other, "same: #1", 0.9))
    book.observe(book.add("entity", other, {"name": "Team"}, "A team.", "Team"), other, "Releases on Thursdays.")
    exported(book, NoteFormat.JSON, tmp_path / "x.json")
    claim, entity = json.loads((tmp_path / "x.json").read_text())["notes"]
    assert "file" not in claim
    assert entity["observations"][0]["text"] == "Releases on Thursdays."
    assert (claim["relations"][0]["to"], claim["about"][0]["target"]) == (other, "symbol:a.b")


def test_json_ld_explains_every_term_without_the_network(tmp_path: Path) -> None:
    book = book_at(tmp_path)
    write(book, "a.md", CLAIM)
    write(book, "e.md", ENTITY)
    exported(book, NoteFormat.JSONLD, tmp_path / "x.jsonld")
    document = json.loads((tmp_path / "x.jsonld").read_text())
    assert document["@context"] == CONTEXT
    claim, entity = document["@graph"]
    assert (claim["@id"], claim["@type"]) == (f"note:c-{ULID}", ["prov:Entity", "schema:Claim"])
    assert claim["relations"][0]["to"] == f"note:d-{ULID}"
    assert entity["relations"][0]["to"] == "symbol:shop.billing"

    def names(value: object) -> set[str]:
        if isinstance(value, list):
            return set().union(*map(names, value))
        return set(value).union(*map(names, value.values())) if isinstance(value, dict) else set()

    assert {one for one in names([claim, entity]) if not one.startswith("@")} <= set(CONTEXT)


def test_an_edited_field_counts_more_than_the_copy_of_the_file(tmp_path: Path) -> None:
    book, copy = book_at(tmp_path / "one"), book_at(tmp_path / "two")
    write(book, "a.md", CLAIM)
    exported(book, NoteFormat.JSON, tmp_path / "x.json")
    document = json.loads((tmp_path / "x.json").read_text())
    assert document["notes"][0]["file"] == CLAIM
    document["notes"][0]["confidence"] = 0.1
    (tmp_path / "x.json").write_text(json.dumps(document))
    assert import_notes(copy, [tmp_path / "x.json"]).problems == []
    assert b"confidence: 0.1" in tree(copy)["a.md"]


def test_graphml_has_typed_keys_and_every_end(tmp_path: Path) -> None:
    book = book_at(tmp_path)
    write(book, "a.md", CLAIM.replace("Größe", "<\x01&\ufffe>"))
    write(book, "e.md", ENTITY)
    exported(book, NoteFormat.GRAPHML, tmp_path / "x.graphml")
    root = ElementTree.parse(tmp_path / "x.graphml").getroot()
    keys = {one.get("id"): one.get("attr.type") for one in root.iter(f"{XML}key")}
    assert (keys["n_confidence"], keys["e_line"], keys["n_text"]) == ("double", "long", "string")
    nodes = {
        one.get("id"): {data.get("key"): data.text for data in one.iter(f"{XML}data")}
        for one in root.iter(f"{XML}node")
    }
    edges = [(one.get("source"), one.get("target")) for one in root.iter(f"{XML}edge")]
    assert {end for pair in edges for end in pair} <= set(nodes)
    assert nodes[f"d-{ULID}"]["n_kind"] == "missing"
    assert nodes["symbol:shop.billing"]["n_kind"] == "symbol"
    assert nodes[f"o-{ULID}"]["n_text"] == "Releases on Thursdays."
    assert float(nodes[f"c-{ULID}"]["n_confidence"] or "") == 0.8
    assert "<&>" in (nodes[f"c-{ULID}"]["n_text"] or "")
    assert {key for values in nodes.values() for key in values} <= set(keys)


def test_what_is_left_out_or_changed_is_named(tmp_path: Path) -> None:
    book = book_at(tmp_path)
    write(book, "a.md", CLAIM)
    write(book, "b.md", CLAIM)
    write(book, "c.md", "---\nid: [\n---\n")
    write(book, "large.md", b"x" * ((1 << 20) + 1))
    write(book, "README.md", "# About")
    write(book, "z.md", CLAIM.replace("c-", "d-").replace("claim", "decision").encode() + b"\xff")
    report = exported(book, NoteFormat.JSONLD, tmp_path / "x.jsonld")
    assert report.notes == 2
    assert report.left_out == [
        (".knowledge/b.md", "has the id of .knowledge/a.md"),
        (".knowledge/c.md", "line 3: while parsing a node, did not find expected node content"),
        (".knowledge/large.md", "too large"),
    ]
    assert report.changed == [(".knowledge/z.md", "bytes that are not UTF-8 are replaced")]
