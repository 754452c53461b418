"""I1: after any sequence of edits the incrementally kept store equals a fresh index of the same tree, compared whole."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import random
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atlas.adapters.stores.sqlite.store import EmbeddedStore
from tests.bench.secrets import stored
from tests.pipeline import polyglot
from tests.pipeline.trees import dump, index, write_tree

NAMES = ("load", "store", "render", "Widget", "Panel", "helper")
MODULES = (
    "app/core.py",
    "app/views.py",
    "app/__init__.py",
    "lib/tools.py",
    "web/ui.ts",
    "web/data.ts",
    "svc/run.go",
    "svc/util.go",
    "pyproject.toml",
    "lib/requirements.txt",
    "web/package.json",
    "web/package-lock.json",
    ".knowledge/claims/2026/a.md",
    ".knowledge/b.md",
    "docs/guide.rst",
    "deploy/app.yaml",
    "db/schema.sql",
    ".atlas/detectors.toml",
)
SOURCES = (
    "",
    "source: arxiv:1706.03762",
    "source: arXiv:1706.03762v5, section 3, and doi:10.18653/v1/N18-1202",
    "source: https://doi.org/10.48550/arXiv.1810.04805",
    "source: arxiv:none",
    "source: [arxiv:1706.03762",
)
"""Papers that notes name: several notes may name one, and a note several; some name none."""
IDS = ("c-01JD2V9Q7K4M8N3P5R6S7T8V9A", "c-01JD2V9Q7K4M8N3P5R6S7T8V9B", "e-01JD2V9Q7K4M8N3P5R6S7T8V9A")


@st.composite
def python_source(draw: st.DrawFn) -> str:
    lines = draw(
        st.lists(
            st.sampled_from(
                (
                    "from app.core import load, Widget",
                    "from app.core import *",
                    "from .views import render as show",
                    "import lib.tools as tools",
                    "from lib import tools",
                    "import os",
                )
            ),
            max_size=3,
        )
    )
    for name in draw(st.lists(st.sampled_from(NAMES), max_size=4)):
        if name[0].isupper():
            base = draw(st.sampled_from(("", "(Widget)", "(Panel)", "(tools.Widget)")))
            method = draw(st.sampled_from(NAMES[:3]))
            body = draw(st.sampled_from(("self.load()", "super().render()", "tools.helper()", "os.getcwd()", "pass")))
            lines += [
                f"class {name}{base}:",
                f'    """{name} doc."""',
                f"    def {method}(self):",
                f"        return {body}",
            ]
        else:
            body = draw(st.sampled_from(("load()", "Widget().render()", "tools.helper(store)", "show", "helper()")))
            lines += [f"def {name}(value: Widget = None):", f"    return {body if body != 'pass' else 'None'}"]
    if draw(st.integers(0, 9)) == 0:
        lines.append("def broken(:")
    return "\n".join(lines) + "\n"


@st.composite
def note_source(draw: st.DrawFn) -> str:
    """A claim or an entity; some are broken, have an id that another file has, or lead to something missing."""
    own, broken = draw(st.sampled_from(IDS)), draw(st.sampled_from(("", "", "", "", "", "x: [", "status: true")))
    targets = st.sampled_from((*IDS, "d-01JD2V9Q7K4M8N3P5R6S7T8V9A", "symbol:app.core.load", "file:lib/tools.py"))
    stated = draw(st.lists(st.tuples(st.sampled_from(("supports", "refutes", "owns")), targets), max_size=3))
    relations = "".join(f"  - {{type: {kind}, to: '{target}', reasoning: {kind} it}}\n" for kind, target in stated)
    about = f"about: [{{symbol: app.core.{draw(st.sampled_from(NAMES))}, line: {len(stated)}}}]"
    kind = "kind: entity\nname: Team" if own.startswith("e-") else "kind: claim"
    source = draw(st.sampled_from(SOURCES))
    body = draw(st.sampled_from(("It is fast. Mostly.", "- First.\n- Second. (client: x)\n", "# Title\n\nSee `load`.")))
    return f"---\nid: {own}\n{kind}\n{source}\n{broken}\n{about}\nrelations:\n{relations or '  []'}\n---\n{body}\n"


REQUIREMENTS = ("PyYAML", "tools>=1", "app", "os-lib==2", "-r ../requirements.txt", "-e ../web", "<<<")


@st.composite
def manifest_source(draw: st.DrawFn, path: str) -> str:
    """A manifest or lock file; some are broken, name another project of the tree, or nothing."""
    names = draw(st.lists(st.sampled_from(REQUIREMENTS), max_size=3))
    if path.endswith(".txt"):
        return "".join(f"{name}\n" for name in names)
    if path.endswith(".toml"):
        return f"[project]\nname = {draw(st.sampled_from(('app', 'tools')))!r}\ndependencies = {names}\n"
    version = draw(st.sampled_from(("1.0.0", "2.0.0", "")))
    if "lock" in path:
        return f'{{"packages": {{"node_modules/data": {{"version": "{version}"}}}}}}'
    return (
        f'{{"name": "web", "dependencies": {{"data": "{version}"}}, "devDependencies": {{"{names[:1]}": "*"}}'[
            : draw(st.sampled_from((200, 30)))
        ]
        + "}"
    )


@st.composite
def text_source(draw: st.DrawFn, path: str) -> str:
    """A document that names definitions, or a text without any; some fill several windows."""
    names, size = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4)), draw(st.sampled_from((1, 30)))
    if path.endswith(".rst"):
        parts = (
            f"{name}\n{'=' * len(name)}\n\nSee :func:`app.core.{name}` and ``x.{name}_all()``.\n\n.. function:: {name}\n"
            for name in names
        )
    elif path.endswith(".sql"):
        parts = (f"CREATE TABLE {name} (\n" + "    id int,\n" * size + "    x int\n);\n" for name in names)
    else:
        parts = (f"{name}:\n" + "".join(f"  key{number}: {name}\n" for number in range(size)) for name in names)
    return "\n".join(parts)


CALLS = "(call function: (identifier) @name arguments: (argument_list) @arguments)"


@st.composite
def rules_source(draw: st.DrawFn) -> str:
    """Rules of the project's own for calls and for paths; some are broken."""
    text = 'languages = ["python"]\n'
    for name in draw(st.lists(st.sampled_from(NAMES), max_size=3)):
        query = f'query = "{CALLS}"' if draw(st.booleans()) else 'shape = "own"'
        text += f'[[rules]]\nkind = "emits"\nwords = ["{name}("]\n{query}\nnames = ["{name}"]\nevent = ["$name"]\n'
    if draw(st.booleans()):
        handlers = draw(st.sampled_from(NAMES))
        text += f'[[files]]\nlanguages = ["python"]\nroots = ["lib"]\nhandlers = "{handlers}"\nmethods = "GET"\n'
    return text + draw(st.sampled_from(("", f'[shapes.own]\npython = "{CALLS}"\n', "[shapes.own]\n", "<<<")))


@st.composite
def source(draw: st.DrawFn, path: str) -> str:
    if path.startswith(".atlas/"):
        return draw(rules_source())
    if path.endswith((".txt", ".toml", ".json")):
        return draw(manifest_source(path))
    if path.endswith(".py"):
        return draw(python_source())
    if path.endswith(".md"):
        return draw(note_source())
    if path.endswith((".rst", ".yaml", ".sql")):
        return draw(text_source(path))
    name, other = draw(st.sampled_from(NAMES)), draw(st.sampled_from(NAMES))
    if path.endswith(".ts"):
        return f"import {{ {other} }} from './data';\nexport function {name}(): void {{ {other}(); }}\nexport class C{name} {{ go() {{ this.go(); }} }}\n"
    return f"package svc\n\nfunc {name.title()}() {{ {other.title()}() }}\n\ntype T{name} struct{{}}\n\nfunc (t T{name}) Go() {{ {name.title()}() }}\n"


@st.composite
def edit(draw: st.DrawFn) -> tuple[str, str, str]:
    kind = draw(st.sampled_from(("write", "write", "write", "delete", "swap", "rename", "drop-folder")))
    path, other = draw(st.sampled_from(MODULES)), draw(st.sampled_from(MODULES))
    return kind, path, draw(source(path)) if kind == "write" else other


def apply_edit(root: Path, change: tuple[str, str, str]) -> None:
    kind, path, extra = change
    file = root / path
    if kind == "write":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(extra)
    elif kind == "delete":
        file.unlink(missing_ok=True)
    elif kind == "drop-folder" and file.parent != root:
        shutil.rmtree(file.parent, ignore_errors=True)
    elif file.exists() and kind == "rename":
        (root / extra).parent.mkdir(parents=True, exist_ok=True)
        file.replace(root / extra)
    elif file.exists() and (root / extra).exists():
        one, two = file.read_bytes(), (root / extra).read_bytes()
        file.write_bytes(two)
        (root / extra).write_bytes(one)


@settings(
    max_examples=int(os.environ.get("ATLAS_TEST_SEQUENCES", "8")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
@given(st.lists(edit(), min_size=1, max_size=8), st.data())
def test_random_edits_end_at_the_clean_index(edits: list[tuple[str, str, str]], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root, kept = Path(folder) / "project", Path(folder) / "kept"
        write_tree(root, {path: data.draw(source(path)) for path in MODULES})
        asyncio.run(index(root, kept))
        for number, change in enumerate(edits):
            apply_edit(root, change)
            asyncio.run(index(root, kept))
            fresh = Path(folder) / f"fresh{number}"
            asyncio.run(index(root, fresh))
            assert dump(kept) == dump(fresh)


async def test_notes_with_one_id_are_told_as_long_as_there_are_two(tmp_path: Path) -> None:
    """The second file appears, changes and goes: problems, edges and properties are those of a clean index."""
    root, kept = tmp_path / "p", tmp_path / "d"
    note = f"---\nid: {IDS[0]}\nkind: claim\nrelations: [{{type: supports, to: {IDS[1]}}}]\n---\nText.\n"
    write_tree(root, {".knowledge/a.md": note, "a.py": "def f():\n    pass\n"})
    await index(root, kept)
    other = root / ".knowledge/deep/b.md"
    other.parent.mkdir()
    told: list[list[object]] = []
    dangling: list[int] = []
    for number, text in enumerate((note, f"{note}More.\n", note.replace(IDS[0], IDS[1]), None)):
        if text is None:
            other.unlink()
        else:
            other.write_text(text)
        await index(root, kept)
        await index(root, tmp_path / f"fresh{number}")
        state = dump(kept)
        assert state == dump(tmp_path / f"fresh{number}")
        told.append([row[9] for row in state["files"] if str(row[0]).endswith(".md")])
        dangling.append(len(state["dangling"]))
    first = f"1: note-duplicate-id: .knowledge/deep/b.md has the id {IDS[0]}, too"
    second = f"1: note-duplicate-id: .knowledge/a.md has the id {IDS[0]}, too"
    assert told == [[first, second], [first, second], ["", ""], [""]]
    assert dangling == [2, 2, 0, 1]


async def test_an_unchanged_tree_is_not_parsed_again(tmp_path: Path) -> None:
    write_tree(
        tmp_path / "p", {"a.py": "def f():\n    return g()\n\ndef g():\n    return 1\n", "b.md": "# Title\n\nsee `f`\n"}
    )
    for path in (tmp_path / "p").rglob("*.*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    first = await index(tmp_path / "p", tmp_path / "d")
    again = await index(tmp_path / "p", tmp_path / "d")
    assert (first.parsed, first.written) == (2, 3)
    assert (again.changed, again.parsed, again.written, again.vectors) == (0, 0, 0, 0)


async def test_a_touched_file_is_neither_parsed_nor_written(tmp_path: Path) -> None:
    write_tree(tmp_path / "p", {"a.py": "def f():\n    pass\n", "b.py": "def g():\n    pass\n"})
    await index(tmp_path / "p", tmp_path / "d")
    os.utime(tmp_path / "p" / "a.py", (1_700_000_000, 1_700_000_000))
    again = await index(tmp_path / "p", tmp_path / "d")
    assert (again.parsed, again.written) == (0, 0)
    assert again.changed >= 1


async def test_a_same_size_edit_within_the_time_stamp_is_seen(tmp_path: Path) -> None:
    """The racy case of git: size and mtime equal, content not."""
    root = tmp_path / "p"
    write_tree(root, {"a.py": "def one():\n    pass\n"})
    stamp = (root / "a.py").stat().st_mtime_ns
    await index(root, tmp_path / "d")
    (root / "a.py").write_text("def two():\n    pass\n")
    os.utime(root / "a.py", ns=(stamp, stamp))
    await index(root, tmp_path / "d")
    names = [row[4] for row in dump(tmp_path / "d")["nodes"]]
    assert "two" in names
    assert "one" not in names


async def test_an_edge_into_a_file_that_was_deleted_and_came_back(tmp_path: Path) -> None:
    root = tmp_path / "p"
    files = {"a.py": "from b import g\n\ndef f():\n    return g()\n", "b.py": "def g():\n    return 1\n"}
    write_tree(root, files)
    await index(root, tmp_path / "d")
    before = dump(tmp_path / "d")
    (root / "b.py").unlink()
    await index(root, tmp_path / "d")
    assert not any(edge[2] == "CALLS" and edge[1] == "p:b.g" for edge in dump(tmp_path / "d")["edges"])
    (root / "b.py").write_text(files["b.py"])
    await index(root, tmp_path / "d")
    assert dump(tmp_path / "d") == before
    assert any(edge[2] == "CALLS" and edge[1] == "p:b.g" for edge in before["edges"])


async def test_the_facts_cache_may_vanish_or_be_damaged(tmp_path: Path) -> None:
    root = tmp_path / "p"
    write_tree(root, {"a.py": "from b import g\n\ndef f():\n    return g()\n", "b.py": "def g():\n    return 1\n"})
    await index(root, tmp_path / "d")
    for damage in (lambda file: file.unlink(), lambda file: file.write_bytes(b"\x00garbage" * 50)):
        damage(tmp_path / "d" / "facts-p.bin")
        with (root / "b.py").open("a") as file:
            file.write("\n# more\n")
        await index(root, tmp_path / "d")
        await index(root, tmp_path / "fresh")
        assert dump(tmp_path / "d") == dump(tmp_path / "fresh")
        shutil.rmtree(tmp_path / "fresh")


async def test_full_writes_everything_again_and_ends_equal(tmp_path: Path) -> None:
    root = tmp_path / "p"
    write_tree(
        root, {"a.py": "def f():\n    pass\n", "pkg/__init__.py": "from a import f\n", "README.md": "# R\n\n`a.f`\n"}
    )
    await index(root, tmp_path / "d")
    before = dump(tmp_path / "d")
    summary = await index(root, tmp_path / "d", full=True)
    assert summary.parsed == 3
    assert dump(tmp_path / "d") == before


async def test_secrets_and_ignored_files_never_enter_the_store(tmp_path: Path) -> None:
    root = tmp_path / "p"
    secret = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
    key = "\n".join(base64.b64encode(hashlib.sha384(bytes([line])).digest()).decode() for line in range(12))
    write_tree(
        root,
        {
            "a.py": "def f():\n    pass\n",
            ".env": f"KEY={secret}\n",
            "ignored.py": "HIDDEN_MARKER = 1\n",
            ".gitignore": "ignored.py\n",
            "key.py": f'KEY = """-----BEGIN RSA PRIVATE KEY-----\n{key}\n-----END RSA PRIVATE KEY-----"""\n',
        },
    )
    await index(root, tmp_path / "d")
    assert [row[0] for row in dump(tmp_path / "d")["files"] if row[0]] == ["a.py", "key.py"]
    assert key.split("\n")[3].encode() not in await stored(tmp_path / "d")
    for file in (tmp_path / "d").iterdir():
        data = file.read_bytes()
        assert secret.encode() not in data, file
        assert key[:40].encode() not in data, file


@pytest.mark.parametrize("files", [{}, {"picture.png": "not text"}])
async def test_a_tree_without_code_is_indexed_as_empty(tmp_path: Path, files: dict[str, str]) -> None:
    write_tree(tmp_path / "p", files)
    summary = await index(tmp_path / "p", tmp_path / "d")
    assert (summary.files, summary.parsed) == (0, 0)


async def test_the_embedding_cache_changes_no_vector_and_serves_the_next_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"a.py": "def f():\n    return 1\n", "b.py": "class C:\n    def m(self):\n        return 2\n"}
    write_tree(tmp_path / "p", files)
    await index(tmp_path / "p", tmp_path / "plain")
    monkeypatch.setenv("ATLAS_EMBEDDER_CACHE", "on")
    await index(tmp_path / "p", tmp_path / "cached")
    assert dump(tmp_path / "cached") == dump(tmp_path / "plain")
    held = (tmp_path / "cached" / "embeddings.db").stat().st_size
    write_tree(tmp_path / "q", files)
    await index(tmp_path / "q", tmp_path / "cached")
    assert (tmp_path / "cached" / "embeddings.db").stat().st_size == held, "the second project brings no new text"


def test_a_first_pass_that_frees_files_while_it_writes_gives_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a transaction for each file; the pass after it continues from the linker that it saved."""
    root = tmp_path / "p"
    write_tree(root, polyglot.tree(40, random.Random(31)) | {"late.py": "def late(): pass\n"})
    asyncio.run(index(root, tmp_path / "one"))
    monkeypatch.setattr(EmbeddedStore, "apply_bytes", 1)
    asyncio.run(index(root, tmp_path / "many"))
    assert dump(tmp_path / "one") == dump(tmp_path / "many")
    (root / "late.py").write_text("def other(): pass\n")
    asyncio.run(index(root, tmp_path / "many"))
    asyncio.run(index(root, tmp_path / "fresh"))
    assert dump(tmp_path / "many") == dump(tmp_path / "fresh")
