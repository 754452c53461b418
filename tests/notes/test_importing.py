"""Files of other programs become notes: once, with their times and relations, and nothing is lost without a word."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from atlas.core.errors import ConfigError, StoreError
from atlas.knowledge.notes import requests
from atlas.knowledge.notes.doctor import examine
from atlas.knowledge.notes.ids import IdSource, PastIds
from atlas.knowledge.notes.importing.items import ImportReport, read_time
from atlas.knowledge.notes.importing.run import import_notes
from atlas.knowledge.notes.listing import FoundNote, find_note, notes
from atlas.knowledge.notes.notebook import Notebook
from tests.fuzz.notes import CLAIM, ULID

from .books import book_at, tree, write

UNITS = [
    {"id": "u1", "content": "Attention is quadratic.", "source_doi": "10.48550/arXiv.1706.03762", "confidence": 0.8},
    {"id": "u2", "content": "Attention is linear.", "confidence": 0.25, "created_at": "2024-05-06T07:08:09+02:00"},
]
RELATIONS = [
    {"source_id": "u2", "target_id": "u1", "type": "refutes", "reasoning": "by test", "created_at": 1700000000},
    {"source_id": "u1", "target_id": "u9", "type": "supports"},
]
MEMORY = [
    {
        "type": "entity",
        "name": "Billing team",
        "entityType": "team",
        "observations": ["Four people.", "Ships Thursdays."],
    },
    {"type": "entity", "name": "Ada", "entityType": "person", "observations": []},
    {"type": "relation", "from": "Ada", "to": "Billing team", "relationType": "works in"},
    {"type": "relation", "from": "Ada", "to": "Nobody", "relationType": "knows"},
]


@pytest.fixture
def book(tmp_path: Path) -> Notebook:
    return book_at(tmp_path)


def given(place: Path, **files: object) -> Path:
    """A folder with files; `name_ext=content` is `name.ext`."""
    folder = place / "given"
    for name, content in files.items():
        file = folder / ".".join(name.rsplit("_", 1))
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else _text(content).encode())
    return folder


def _text(content: object) -> str:
    return content if isinstance(content, str) else json.dumps(content, indent=1)


def lines(rows: list[Any]) -> str:
    return "\n".join(json.dumps(row) for row in rows)


def told(report: ImportReport) -> list[tuple[str, int, str]]:
    return [(Path(one.place.file).name, one.place.line, one.message) for one in report.problems]


def all_notes(book: Notebook) -> list[FoundNote]:
    found = list(notes(book.folder))
    assert all(one.note.problems == () for one in found)
    return found


def test_units_relations_and_keys_of_a_claims_graph(book: Notebook, tmp_path: Path) -> None:
    keys = {"key-1": {"unit_id": "u1", "status": "created"}, "key-2": {"relation": 3}, "key-3": {"id": "u7"}}
    folder = given(tmp_path, units_json=UNITS, relations_json=RELATIONS, idempotency_json=keys)
    dry = import_notes(book, [folder], dry_run=True)
    assert not (book.folder.root / ".knowledge").exists()
    done = import_notes(book, [folder])
    assert done.added == dry.added == {"claim": 2, "relation": 1, "key": 1}
    assert told(done) == told(dry)
    assert told(done) == [
        ("idempotency.json", 6, "the result of the key names no unit"),
        ("idempotency.json", 9, "the key is for 'u7', which is not imported"),
        ("relations.json", 9, "no unit 'u9': the relation is not imported"),
    ]
    first, second = (find_note(book.folder, one.note.id) for one in sorted(all_notes(book), key=lambda one: one.text))
    linear, quadratic = first.note, second.note
    assert (quadratic.source, quadratic.confidence) == ("doi:10.48550/arXiv.1706.03762", 0.8)
    assert (linear.created, linear.client) == ("2024-05-06T05:08:09Z", "cli")
    assert linear.id[:8] == PastIds().at("claim", 1714972089)[:8]
    assert first.path.startswith(".knowledge/claims/2024/")
    [relation] = linear.relations
    assert (relation.type, relation.to, relation.reasoning) == ("refutes", quadratic.id, "by test")
    assert relation.created == "2023-11-14T22:13:20Z"
    assert b"imported_from: u1\n" in second.data
    call = requests.begin(book.data_dir, "key-1", "ingest_hypothesis", {"any": 1}, "c-new")
    assert (call.is_repeated, call.note_id) == (True, quadratic.id)


def test_a_second_import_adds_nothing(book: Notebook, tmp_path: Path) -> None:
    units = [*UNITS, {"content": "A row without an id."}]
    folder = given(tmp_path, units_jsonl=lines(units), relations_json=RELATIONS, memory_jsonl=lines(MEMORY))
    first = import_notes(book, [folder])
    assert first.added == {"claim": 3, "entity": 2, "observation": 2, "relation": 2}
    before = tree(book)
    again = import_notes(book, [folder])
    assert (again.added, again.present) == ({}, 3 + 2 + 1 + 2)
    assert tree(book) == before
    units[0] = {**units[0], "content": "Another text."}
    folder = given(tmp_path, units_jsonl=lines(units))
    changed = import_notes(book, [folder / "units.jsonl"])
    assert changed.added == {}
    assert "is there with another text" in changed.problems[0].message
    assert import_notes(book, [folder / "units.jsonl"], origin="other").added == {"claim": 3}


def test_memory_joins_the_entities_that_are_there(book: Notebook, tmp_path: Path) -> None:
    team = book.ids.new("entity")
    path = book.add("entity", team, {"name": "Payments", "aliases": ["billing TEAM"]}, "", "Payments")
    book.observe(path, team, "Four people.")
    document = {
        "entities": [MEMORY[0], MEMORY[1], {"name": "Tool", "entityType": "x"}],
        "relations": [
            MEMORY[2],
            {"from": "Payments", "to": "symbol:shop.billing", "type": "OWNS", "confidence": "0.5"},
        ],
        "observations": [
            {"entityName": "ada", "contents": ["Wrote it.", {"text": "Left.", "created_at": "2025-01-02"}]},
            {"entityName": "Nobody", "contents": ["x"]},
        ],
    }
    done = import_notes(book, [given(tmp_path, memory_json=document)])
    assert done.added == {"entity": 2, "observation": 3, "relation": 2}
    assert [message for _, _, message in told(done)] == ["no entity 'Nobody'"]
    found = find_note(book.folder, "Payments").note
    assert found.id == team
    assert [one.text for one in found.observations] == ["Four people.", "Ships Thursdays."]
    assert [(one.type, one.to, one.confidence) for one in found.relations] == [("OWNS", "symbol:shop.billing", 0.5)]
    ada = find_note(book.folder, "Ada").note
    assert ada.type == "person"
    assert [(one.type, one.to) for one in ada.relations] == [("works in", team)]
    assert [(one.text, one.created[:10]) for one in ada.observations][1] == ("Left.", "2025-01-02")
    assert all_notes(book)


def test_csv(book: Notebook, tmp_path: Path) -> None:
    text = (
        'id,content,confidence,created_at\n1,"Two\nlines, one claim",0.5,2024-01-01\n2,x,high,\n3,a,b,c,d\n4,Short,,\n'
    )
    done = import_notes(book, [given(tmp_path, units_csv=text)])
    assert done.added == {"claim": 2}
    assert [(line, message.partition(",")[0]) for _, line, message in told(done)] == [
        (4, "confidence is nan"),
        (5, "the row has more cells than the heading"),
    ]
    assert {one.text for one in all_notes(book)} == {"Two\nlines, one claim", "Short"}


def test_folders_of_markdown(book: Notebook, tmp_path: Path) -> None:
    folder = tmp_path / "adr"
    folder.mkdir()
    (folder / "0001-use-sqlite.md").write_text("# 1. Use SQLite\n\nDate: 2023-04-05\n\n## Status\n\nSuperseded by 2\n")
    (folder / "0002-use-lmdb.md").write_text(
        "---\nid: ADR-2\ntitle: 'Use: LMDB'\ntags: [store]\nrelations:\n  - {type: supersedes, to: adr/0001-use-sqlite.md}\n---\nText.\n"
    )
    (folder / "README.md").write_text("# Index\n")
    (folder / "claim.md").write_text("# Claim: it scales\n\nWith n.\n")
    (folder / "team.md").write_text("---\nkind: entity\n---\n# Entity: Billing\n\n- Four people.\n")
    (folder / "own.md").write_text(CLAIM)
    done = import_notes(book, [folder])
    assert done.added == {"decision": 2, "claim": 2, "entity": 1}
    assert [message for _, _, message in told(done)] == ["a README without front matter is no note"]
    found = {one.text.partition("\n")[0]: one for one in all_notes(book)}
    old, new = found["# 1. Use SQLite"].note, found["Text."].note
    assert (old.status, old.created, old.kind) == ("superseded", "2023-04-05T00:00:00Z", "decision")
    assert [(one.type, one.to) for one in new.relations] == [("supersedes", old.id)]
    assert b"\ntags: [store]\n" in found["Text."].data and b"imported_from: ADR-2" in found["Text."].data
    assert find_note(book.folder, "Billing").note.observations[0].text == "Four people."
    assert find_note(book.folder, f"c-{ULID}").data == CLAIM.encode()
    before = tree(book)
    assert import_notes(book, [folder]).added == {}
    assert tree(book) == before
    loose = given(tmp_path, loose_md="Only text.\n")
    assert told(import_notes(book, [loose])) == [("loose.md", 1, "the file does not say what it is")]
    assert import_notes(book, [loose], kind="claim").added == {"claim": 1}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": 1, "content": "x", "confidence": 7}, "confidence is 7"),
        ({"id": 1, "content": "x", "created_at": "yesterday"}, "'yesterday' is not a time"),
        ({"id": 1, "content": "x", "created_at": -1}, "'-1' is not a time"),
        ({"id": 1, "content": "x", "kind": "rumour"}, "unknown kind 'rumour'"),
        ({"id": 1, "content": "x", "status": "sure"}, "unknown status 'sure'"),
        ({"id": 1, "content": " "}, "content is empty"),
        ({"id": 1, "content": "a\0b"}, "content contains a NUL"),
        ({"id": 1, "content": "\ud800"}, "content is not valid Unicode"),
        ({"id": 1, "content": "x" * 100_001}, "content has 100001 characters"),
        ({"id": 1, "content": ["x"]}, "\"['x']\" must be text"),
        ({"id": {"a": 1}, "content": "x"}, "the id \"{'a': 1}\" is neither"),
        ({"id": 1, "content": "aws_access_key_id = AKIAQ3EGRZKX5MTLWNPB"}, "content contains a secret"),
        (
            {"name": "E", "entityType": "x", "observations": ["key AKIAQ3EGRZKX5MTLWNPB"]},
            "observation contains a secret",
        ),
        ({"source_id": "a", "target_id": "b", "type": ""}, "relation type is empty"),
        ({"id": f"c-{ULID}", "kind": "claim", "text": "x", "confidence": 7}, "the note cannot be read: the confidence"),
        ({"id": f"c-{ULID}", "kind": "claim", "text": "x", "relations": [{"to: x}\nkind": 1}]}, "the note cannot"),
        ({"id": f"c-{ULID}", "kind": "claim", "text": "x", "other": 1}, "the note cannot keep the fields: 'other'"),
        ({"id": f"c-{ULID}", "kind": "claim", "text": "x", "author": 3}, "the note has a field of an unknown form"),
        ({"@id": "https://example.org/x", "@type": "Thing"}, "the object has no id of a note"),
        ({"foo": 1}, "the row is of no known format: it has 'foo'"),
        ([1], "the row is no object"),
    ],
)
def test_a_row_that_cannot_be_imported_is_reported(book: Notebook, tmp_path: Path, row: object, message: str) -> None:
    done = import_notes(book, [given(tmp_path, units_json=[UNITS[0], row])])
    assert done.added == {"claim": 1}
    [(file, line, said)] = told(done)
    assert (file, line) == ("units.json", 8)
    assert said.startswith(message)
    assert done.problems[0].hint


@pytest.mark.parametrize(
    ("name", "content", "line", "message"),
    [
        ("x_json", "", 1, "the file is empty"),
        ("x_csv", "", 1, "the file is empty"),
        ("x_json", '[{"content": "a"},\n{"content": b}]', 2, "the file is not JSON: Expecting value"),
        ("x_json", '[{"content": "a"}\n {}]', 2, "the file is not JSON: a comma or ] is missing"),
        ("x_json", '[{"content": "a"}]\n[]', 1, "the file goes on after the JSON document"),
        ("x_json", '{"units": [{"content": "a"}], 3: 4}', 1, "the file is not JSON: a key and a colon"),
        ("x_jsonl", '{"content": "a"}\nnot JSON\n{"content": "b"}', 2, "the line is not JSON"),
        ("x_json", '[{"content": "a"}, NaN]', 1, "the file is not JSON: NaN is not a number"),
        ("x_json", '[{"content": "a"}, ' + "[" * 100_000, 1, "the file is not JSON: it is nested too deeply"),
        ("x_json", '[{"content": "a", "n": ' + "9" * 5000 + "}]", 1, "the file is not JSON"),
        ("x_md", b"# Claim: \xff", 1, "the file is not UTF-8"),
        ("x_md", "---\nid: [\n---\nText", 1, "line 3: while parsing"),
        ("x_md", "---\nkind: rumour\n---\nText", 1, "unknown kind 'rumour'"),
        ("x_md", "# Claim: key AKIAQ3EGRZKX5MTLWNPB", 1, "the file contains a secret"),
        ("x_md", "x" * ((1 << 20) + 1), 1, "the file cannot be read: File too large"),
    ],
)
def test_a_file_that_cannot_be_read_is_reported(
    book: Notebook, tmp_path: Path, name: str, content: str | bytes, line: int, message: str
) -> None:
    [found] = told(import_notes(book, [given(tmp_path, **{name: content})]))
    assert found[:2] == (name.replace("_", "."), line)
    assert found[2].startswith(message)


@pytest.mark.parametrize(
    "path", ["../x.md", "/x.md", "a/../../x.md", ".git/x.md", "x.txt", "a\0.md", "a/" * 20 + "x.md"]
)
def test_a_path_in_a_document_stays_in_the_folder(book: Notebook, tmp_path: Path, path: str) -> None:
    row = {"id": f"c-{ULID}", "kind": "claim", "text": "x", "status": "accepted", "confidence": 1, "path": path}
    done = import_notes(book, [given(tmp_path, x_json=[row])])
    assert done.added.get("claim", 0) == 0
    assert "is no path of a note" in told(done)[0][2]
    assert not [one for one in tmp_path.rglob("x.*") if one.parent.name != "given"]


def test_ten_thousand_observations(book: Notebook, tmp_path: Path) -> None:
    row = {"name": "Log", "entityType": "x", "observations": [f"{number}" for number in range(10_002)]}
    done = import_notes(book, [given(tmp_path, x_json=[row])])
    assert done.added == {"entity": 1, "observation": 10_000}
    assert [message for _, _, message in told(done)] == [
        "too many observations: '10000'",
        "too many observations: '10001'",
    ]
    assert [one.code for one in examine(book.folder).findings] == []


def test_a_note_that_becomes_too_large_is_reported(book: Notebook, tmp_path: Path) -> None:
    row = {"name": "Log", "entityType": "x", "observations": [f"{number} " + "x" * 90_000 for number in range(12)]}
    done = import_notes(book, [given(tmp_path, x_json=[row, UNITS[0]])])
    assert done.added == {"claim": 1}
    assert "at most 1048576 are allowed" in told(done)[0][2]


def test_links_and_missing_files(book: Notebook, tmp_path: Path) -> None:
    folder = given(tmp_path, units_json=UNITS)
    (folder / "link.json").symlink_to("/etc/passwd")
    (folder / ".hidden.json").write_text("[]")
    assert told(import_notes(book, [folder])) == [("link.json", 1, "symbolic links are not followed")]
    with pytest.raises(ConfigError, match="does not exist"):
        import_notes(book, [tmp_path / "missing"])
    with pytest.raises(ConfigError, match="unknown kind"):
        import_notes(book, [folder], kind="rumour")


def test_a_folder_that_cannot_be_written(book: Notebook, tmp_path: Path) -> None:
    write(book, "entities", "a file in place of the folder")
    folder = given(tmp_path, memory_jsonl=lines(MEMORY))
    with pytest.raises(StoreError, match="cannot write"):
        import_notes(book, [folder])
    (book.folder.root / ".knowledge/entities").unlink()
    assert import_notes(book, [folder]).added["entity"] == 2


FULL = """
import resource, signal, sys
from pathlib import Path
from atlas.knowledge.notes.importing.run import import_notes
from tests.notes.books import book_at
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
book = book_at(Path(sys.argv[1]))
try:
    import_notes(book, [Path(sys.argv[2])])
except Exception as error:
    print(type(error).__name__, error.message, error.hint)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(sorted(one.name for one in (Path(sys.argv[1]) / "project").rglob("*") if one.is_file()))
print(import_notes(book, [Path(sys.argv[2])]).added)
"""


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    units = [UNITS[0], {"id": "u3", "content": "x " * 1000}, UNITS[1]]
    folder = given(tmp_path, units_json=units)
    arguments = [sys.executable, "-c", FULL, str(tmp_path / "book"), str(folder)]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=True)
    error, files, added = done.stdout.splitlines()
    assert error.startswith("StoreError cannot write")
    written = len(json.loads(files.replace("'", '"')))
    assert written < 3
    assert error.endswith(f"written: {written} of 3 notes Then import again: nothing is added twice.")
    assert added == f"{{'claim': {3 - written}}}"


def test_ids_increase_when_the_clock_is_set_back() -> None:
    times = iter([1e9, 2e9, 1e9, 1e9])
    source = IdSource(lambda: next(times))
    ids = [source.new("claim") for _ in range(4)]
    assert ids == sorted(ids) and len(set(ids)) == 4
    assert PastIds().at("claim", 1e9)[:12] == ids[0][:12]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-01-02", "2024-01-02T00:00:00Z"),
        ("2024-01-02T03:04:05.5Z", "2024-01-02T03:04:05.500000Z"),
        (1700000000, "2023-11-14T22:13:20Z"),
        (1700000000123, "2023-11-14T22:13:20.123000Z"),
        (None, ""),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
    ],
)
def test_times(value: object, expected: str) -> None:
    assert read_time(value) == expected


def test_the_turns_of_a_conversation_keep_their_order(book: Notebook, tmp_path: Path) -> None:
    rows = [{"type": "entity", "name": name, "entityType": "person"} for name in ("Ada", "Ben")]
    said = [
        {"type": "observation", "entityName": name, "contents": [f"Turn {at}."], "created_at": "8 May 2023"}
        for at, name in enumerate(("Ada", "Ben") * 10)
    ]
    report = import_notes(book, [given(tmp_path, m_jsonl="\n".join(map(json.dumps, [*rows, *said])))])
    assert report.added["observation"] == 20, report
    turns = [one for found in notes(book.folder) for one in found.note.observations]
    assert [one.text for one in sorted(turns, key=lambda one: one.id)] == [f"Turn {at}." for at in range(20)]
    assert {one.created for one in turns} == {"2023-05-08T00:00:00Z"}


def test_a_conversation_log_and_memories_of_mem0(book: Notebook, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"entity": "Mara", "text": "I moved to Porto.", "created_at": "2025-03-04T10:00:00Z"}\n')
    rows = [{"id": "1", "memory": "Likes figs.", "user_id": "mara", "hash": "x", "created_at": "2025-03-05T10:00:00Z"}]
    edges = [{"source": "mara", "relationship": "lives_in", "destination": "Porto"}]
    (tmp_path / "mem0.json").write_text(json.dumps({"results": rows, "relations": edges}))
    line = (
        '{"type": "entity", "name": "Porto", "entityType": "city", "observations": ["On the Douro."]}'
        '{"type": "relation", "from": "Mara", "to": "Porto", "relationType": "LIVES_IN"}'
    )
    (tmp_path / "memory.jsonl").write_text(line + "\n" + line)
    report = import_notes(book, [log, tmp_path / "memory.jsonl", tmp_path / "mem0.json"])
    assert not report.problems, report.problems
    mara, porto = (find_note(book.folder, name).note for name in ("Mara", "Porto"))
    assert [(one.text, one.created) for one in mara.observations] == [
        ("I moved to Porto.", "2025-03-04T10:00:00Z"),
        ("Likes figs.", "2025-03-05T10:00:00Z"),
    ]
    assert {(one.type.upper(), one.to) for one in mara.relations} == {("LIVES_IN", porto.id)}


def test_folders_of_obsidian_and_basic_memory(book: Notebook, tmp_path: Path) -> None:
    vault, basic = tmp_path / "vault", tmp_path / "basic"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / "Tea.md").write_text(
        "---\naliases: [chai]\n---\n# Tea\nGrows in [[Places/Assam|the north]].\n\n- Needs rain.\n"
    )
    (vault / "Assam.markdown").write_text("A valley. ![[map.png]]\n")
    (vault / "map.png").write_bytes(b"x")
    basic.mkdir()
    (basic / "coffee.md").write_text(
        "---\ntitle: Coffee\ntype: note\npermalink: coffee\n---\n# Coffee\n\n## Observations\n"
        "- [fact] Grows in shade. #plant (botany)\n\n## Relations\n- competes_with [[Tea]]\n- pairs with [[Milk]]\n"
    )
    report = import_notes(book, [vault, basic])
    assert report.left_out == {".png": 1}
    assert [one.message for one in report.problems] == ["no entity 'Milk': the relation is not imported"]
    tea, assam, coffee = (find_note(book.folder, name).note for name in ("chai", "Assam", "Coffee"))
    assert [one.text for one in tea.observations] == ["Grows in the north.", "Needs rain."]
    assert [(one.type, one.to) for one in tea.relations] == [("LINKS_TO", assam.id)]
    assert [(one.type, one.to) for one in coffee.relations] == [("COMPETES_WITH", tea.id)]
    assert [one.text for one in coffee.observations] == ["[fact] Grows in shade. #plant (botany)"]


@pytest.mark.parametrize(("stated", "read"), [("90%", 0.9), ("0,9", 0.9), ("0.25", 0.25), ("2%", 0.02)])
def test_a_confidence_as_people_write_it(book: Notebook, tmp_path: Path, stated: str, read: float) -> None:
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims/page.md").write_text(f"---\nconfidence: {stated}\n---\nOn a page.\n")
    (tmp_path / "rows.json").write_text(json.dumps([{"content": "In a row.", "confidence": stated}]))
    import_notes(book, [tmp_path / "claims", tmp_path / "rows.json"])
    assert [one.note.confidence for one in notes(book.folder)] == [read, read]
