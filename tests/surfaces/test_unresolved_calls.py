"""Answers about callers list the calls of the name that no rule resolves, after the callers or instead of none."""

from __future__ import annotations

from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.graph.absence.unresolved import find_unresolved
from atlas.code.tools.impact import impact
from atlas.code.tools.relation_answer import RelationAnswer
from atlas.code.tools.search.search import hybrid_search
from atlas.code.tools.symbol.node import get_context
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed

FILES = {
    "net/body.py": "class Body:\n    def save(self):\n        pass\n\n    def open_it(self):\n        pass\n",
    "net/other.py": "class Other:\n    def save(self):\n        pass\n",
    "net/run.py": (
        "from net.body import Body\n\n\ndef known():\n    Body().save()\n\n\n"
        "def unknown(x):\n    x.save()\n    return x.part.save()\n\n\nclass Own:\n    def go(self):\n        self.open_it()\n"
    ),
}


@pytest.fixture
async def root(tmp_path: Path) -> Path:
    root = tmp_path / "net"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    return root


async def test_unresolved_calls_are_listed(root: Path) -> None:
    async with open_atlas(load_settings(str(root), str(root.parent / "data"), environment=QUICK)) as atlas:
        beside = await hybrid_search(atlas, "callers of Body.save")
        none = await hybrid_search(atlas, "callers of open_it")
        context = await get_context(atlas, "Body.open_it")
        found = await find_unresolved(atlas.reader, "save", "net")
    assert isinstance(beside, RelationAnswer)
    assert any(
        "and 2 unresolved calls of this name" in note
        and "net/run.py:9 in `unknown` (unknown receiver, on a variable)" in note
        and "net/run.py:10 in `unknown` (unknown receiver, on an attribute)" in note
        for note in beside.evidence.notes
    ), beside.evidence.notes
    for answer in (none, context):
        notes = answer.evidence.notes
        assert any("1 unresolved call of this name" in note and "net/run.py:15 in `go`" in note for note in notes), (
            notes
        )
    assert [(call.caller.row.name, call.shape, call.reason, call.lines) for call in found.calls] == [
        ("unknown", "name", "unknown-receiver", (9,)),
        ("unknown", "attribute", "unknown-receiver", (10,)),
    ]


async def test_callers_of_a_name_of_several_symbols_count_the_unresolved_calls_once(root: Path) -> None:
    for number in range(3):
        (root / "net" / f"more{number}.py").write_text(f"class More{number}:\n    def save(self):\n        pass\n")
    settings = load_settings(str(root), str(root.parent / "data"), environment=QUICK)
    async with open_atlas(settings) as atlas:
        few = await hybrid_search(atlas, "callers of save")
    await indexed(root, root.parent / "data")
    async with open_atlas(settings) as atlas:
        many = await hybrid_search(atlas, "callers of save")
    for answer, head in (
        (few, "2 symbols are called `save`; callers of all: 1"),
        (many, "5 symbols are called `save`; callers of all: 1"),
    ):
        lines = answer.render().splitlines()
        assert lines[1] == head, lines
        said = [line for line in lines if "unresolved call" in line]
        places = "net/run.py:9 in `unknown`, net/run.py:10 in `unknown`"
        assert said == [f"note: 2 unresolved calls of `save`, each of which may be of any of these symbols: {places}"]


async def test_what_ends_up_calling_is_asked_for_at_any_level(tmp_path: Path) -> None:
    (root := tmp_path / "mail").mkdir()
    (root / "send.py").write_text(
        "def put_bytes(text):\n    return text\n\n\ndef send_mail(text):\n    return put_bytes(text)\n\n\n"
        "def send_all(texts):\n    return [send_mail(text) for text in texts]\n"
    )
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        for question in (
            "who ends up calling put_bytes?",
            "which functions end up calling put_bytes",
            "show me everything that ends up calling put_bytes",
        ):
            text = (await hybrid_search(atlas, question)).render()
            assert "callers of function send.put_bytes send.py:1: 2\n" in text, text
            assert "send_all 10 (" in text and "[2] through send.send_mail" in text
        way = await hybrid_search(atlas, "how does send_all end up calling put_bytes?")
    assert isinstance(way, RelationAnswer) and way.kind == "path"


async def test_an_unresolved_call_may_lead_further_than_a_chain_of_callers(tmp_path: Path) -> None:
    (root := tmp_path / "mail").mkdir()
    (root / "send.py").write_text(
        "def put_bytes(text):\n    return text\n\n\nclass Mailer:\n    def send_mail(self, text):\n        return put_bytes(text)\n\n\n"
        "def send_all(make, texts):\n    return [make(text).send_mail(text) for text in texts]\n\n\n"
        "class Other:\n    def send_mail(self, text):\n        return text\n"
    )
    (root / "lib.rs").write_text(
        "pub fn join_path() {}\n\npub struct Inner;\nimpl Inner {\n    pub fn nest_it(&self) { join_path(); }\n}\n\n"
        "pub struct Other;\nimpl Other {\n    pub fn nest_it(&self) {}\n}\n\n"
        "pub struct Router { inner: Inner }\nimpl Router {\n    pub fn nest(self) {\n"
        "        tap!(self, mut this => {\n            this.inner.nest_it();\n        })\n    }\n}\n"
    )
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        callers = (await hybrid_search(atlas, "who ends up calling put_bytes")).render()
        changed = (await hybrid_search(atlas, "What would be affected if I change join_path?")).render()
        certain = (await impact(atlas, "Mailer.send_mail")).render()
    assert "`send_mail` may have further callers, which no rule resolves: send.py:11 in `send_all`" in callers
    assert "possible:\n  lib.rs: lib.Router.nest 17: may call Inner.nest_it, unknown receiver" in changed, changed
    assert "may call" not in certain


async def test_a_member_that_the_type_lacks_does_not_lead_further(tmp_path: Path) -> None:
    (root := tmp_path / "mail").mkdir()
    (root / "send.py").write_text(
        "def put_bytes(text):\n    return text\n\n\nclass Mailer:\n    def __init__(self):\n        put_bytes('')\n\n\n"
        "class Retry:\n    def __init__(self):\n        super().__init__()\n"
    )
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        said = (await impact(atlas, "put_bytes")).render()
    assert "Mailer" in said and "may call" not in said, said
