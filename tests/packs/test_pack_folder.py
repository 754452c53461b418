"""Packs as folders and archives: built whole, the same bytes, verified, refused when damaged or hostile."""

import inspect
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import jsonschema
import pytest
import zstandard

import atlas.packs.documentation.pack
from atlas.core.errors import ConfigError, NotFound, QueryError, SchemaMismatch, StoreError
from atlas.packs import AsyncPack, Pack
from atlas.packs.build import BuildRequest, build_pack, update_pack
from atlas.packs.documentation.pack.archive import export
from atlas.packs.documentation.pack.folder import load_manifest, verify
from atlas.packs.opening import find_pack, list_packs, open_pack, version_key
from atlas.packs.profiles import difference
from atlas.packs.store import install, verify_pack

PAGES = {
    "index.md": "# Guide\n\nThe `Widget` class turns. See [timeouts](settings.md#timeouts).\n\n"
    "## Usage\n\nCall `Widget.spin()`. It raises `SpinError` when the axle is missing.\n",
    "settings.md": "# Settings\n\n## Timeouts\n\n`SPIN_TIMEOUT` is the number of seconds. Default: `30`. At most 120 seconds.\n",
}


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATLAS_PACKS", str(tmp_path / "packs"))
    return tmp_path / "packs"


async def built(pages: Path, target: Path | None = None, version: str = "1") -> Path:
    request = BuildRequest("widget", (str(pages),), version, "Widget", "2.0", "python")
    return (await build_pack(request, target, replaces=target is not None)).folder


async def test_a_pack_answers_with_its_source(pages: Path) -> None:
    folder = await built(pages)
    assert [one.folder for one in list_packs()] == [folder]
    async with await AsyncPack.open("widget@1") as pack:
        answer = await pack.ask("What is the default of SPIN_TIMEOUT?")
        assert "30" in answer.text
        assert answer.sources[0].article == "settings.md"
        table = await pack.cypher("MATCH (s:Section)-[:HAS_FACT]->(f:Fact {kind: 'default'}) RETURN f.value, s.name")
        assert table.rows == (("30", "Timeouts"),)
        linked = await pack.cypher("MATCH (a:Article)-[:LINKS_TO]->(b:Article) RETURN a.path, b.path")
        assert linked.rows == (("index.md", "settings.md"),)
        query = (
            "MATCH (a:Article)-[h:HAS_SECTION]->(s:Section)-[:HAS_CHUNK]->(c:Chunk) WHERE s.level = 1 AND s.name = 'Guide' "
            "RETURN a.word_count > 5, a.expansion_state, h.index, s.index, c.index, c.word_count > 1, c.content"
        )
        [row] = (await pack.cypher(query)).rows
        assert row[:6] == (True, "processed", 0, 0, 0, True) and "Widget" in str(row[6])
        whole = (await pack.cypher("MATCH (s:Section {name: 'Timeouts'}) RETURN s.level, s.anchor, s.content")).rows
        assert whole[0][:2] == (2, "timeouts") and str(whole[0][2]).startswith("## Timeouts\n\n")
        for query, said, hint in (
            ("MATCH (s:Section) RETURN s.wordcount", "Section has no property `wordcount`", "nearest: word_count"),
            ("MATCH (:Section)-[r:HAS_FACT]->() WHERE r.levle = 1 RETURN r", "HAS_FACT has no property `levle`", ""),
            ("MATCH (f:Fact {licence: 'MIT'}) RETURN f", "Fact has no property `licence`", ""),
            ("MATCH (a:Article) RETURN a.title", "Article has no property `title`", "nearest: name"),
            ("MATCH (f:Fact) RETURN f.content", "Fact has no property `content`", "nearest: docstring"),
            ("MATCH (e:Entity) RETURN e.type", "Entity has no property `type`", "nearest: kind"),
            ("MATCH (a:Articel) RETURN a", "a pack has no label `Articel`", "nearest: Article"),
            ("MATCH (n) WHERE n:Function RETURN n", "a pack has no label `Function`", ""),
            ("MATCH ()-[r:CALLS|HAS_FACT]->() RETURN r", "a pack has no relationship type `CALLS`", ""),
            ("MATCH ()-[:HAS_FACTS*1..2]->() RETURN 1", "type `HAS_FACTS`", "nearest: HAS_FACT"),
        ):
            with pytest.raises(QueryError, match=said) as raised:
                await pack.cypher(query)
            assert hint in str(raised.value.hint)
        assert (await pack.cypher("MATCH (n) WITH {a: 1} AS m RETURN m.b LIMIT 1")).rows == ((None,),)
        assert "Call `Widget.spin()`" in await pack.article("Guide")
        with pytest.raises(NotFound):
            await pack.article("nothing of this name")


async def test_the_manifest_follows_its_schema_and_describes_every_file(pages: Path) -> None:
    folder = await built(pages)
    document = json.loads((folder / "manifest.json").read_text())
    schema = json.loads((Path(atlas.packs.documentation.pack.__file__).parent / "manifest.schema.json").read_text())
    jsonschema.validate(document, schema)
    assert set(document["files"]) == {
        *("pack.db", "urls.txt", "skill.md", "kg_config.json", "vocabulary.json", "eval/questions.jsonl")
    }
    assert (folder / "skill.md").read_text().startswith("---\nname: widget-docs\ndescription: ")
    assert await verify_pack(folder) == []


async def test_equal_sources_give_equal_bytes_but_for_the_time(pages: Path, tmp_path: Path) -> None:
    first, second = await built(pages, tmp_path / "a"), await built(pages, tmp_path / "b")
    for name in load_manifest(first).files:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name


async def test_an_update_equals_a_clean_build(pages: Path, tmp_path: Path) -> None:
    folder = await built(pages)
    unchanged = await update_pack(folder)
    assert unchanged.added == unchanged.changed == unchanged.removed == ()
    (pages / "settings.md").write_text(f"{PAGES['settings.md']}\n## Limits\n\n`SPIN_LIMIT` counts turns.\n")
    (pages / "more.md").write_text("# More\n\nA further page.\n")
    old = open_pack(await built_before(pages, tmp_path))
    updated = await update_pack(folder)
    assert (updated.added, updated.changed, updated.removed) == (("more.md",), ("settings.md",), ())
    assert updated.embedded < updated.manifest.counts["Chunk"]
    clean = await built(pages, tmp_path / "clean")
    for name in load_manifest(clean).files:
        assert (folder / name).read_bytes() == (clean / name).read_bytes(), name
    new = open_pack(folder)
    found = await difference(old, new)
    assert found.added == ("more.md",) and found.changed == ("settings.md",)
    await old.aclose()
    await new.aclose()


async def built_before(pages: Path, tmp_path: Path) -> Path:
    earlier = tmp_path / "earlier"
    earlier.mkdir()
    for name, text in PAGES.items():
        (earlier / name).write_text(text)
    return await built(earlier, tmp_path / "old")


async def test_an_export_is_installed_elsewhere(pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = await built(pages)
    export(folder, tmp_path / "one.tar.zst")
    export(folder, tmp_path / "two.tar.zst")
    assert (tmp_path / "one.tar.zst").read_bytes() == (tmp_path / "two.tar.zst").read_bytes()
    with pytest.raises(ConfigError, match="already"):
        await install(tmp_path / "one.tar.zst")
    await install(tmp_path / "one.tar.zst", replaces=True)
    monkeypatch.setenv("ATLAS_PACKS", str(tmp_path / "other"))
    target, manifest = await install(tmp_path / "one.tar.zst")
    assert target == tmp_path / "other" / "widget" / "1"
    assert manifest == load_manifest(folder)
    assert verify(target) == []


def repacked(source: Path, target: Path, change: object) -> None:
    """Write an archive whose members are changed by `change(name, data) -> [(TarInfo, data)]`."""
    data = zstandard.ZstdDecompressor().stream_reader(source.read_bytes()).read()
    out = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(data)) as old,
        tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as new,
    ):
        for member in old.getmembers():
            body = old.extractfile(member).read()  # type: ignore[union-attr]
            for info, content in change(member, body):  # type: ignore[operator]
                info.size = len(content) if info.isreg() else 0
                new.addfile(info, io.BytesIO(content))
    target.write_bytes(zstandard.ZstdCompressor().compress(out.getvalue()))


def escape(member: tarfile.TarInfo, body: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
    return [(member, body), (tarfile.TarInfo("../evil"), b"x")] if member.name == "manifest.json" else [(member, body)]


def link(member: tarfile.TarInfo, body: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
    if member.name == "urls.txt":
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
    return [(member, body)]


def device(member: tarfile.TarInfo, body: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
    if member.name == "urls.txt":
        member.type = tarfile.CHRTYPE
    return [(member, body)]


def other_checksum(member: tarfile.TarInfo, body: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
    return [(member, body[:-1] + b"~" if member.name == "skill.md" else body)]


def bomb(member: tarfile.TarInfo, body: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
    return [(member, b"\0" * 50_000_000 if member.name == "urls.txt" else body)]


def huge(member: tarfile.TarInfo, body: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
    if member.name != "manifest.json":
        return [(member, body)]
    document = json.loads(body)
    document["files"]["pack.db"]["size"] = 1 << 50
    return [(member, json.dumps(document).encode())]


def missing(member: tarfile.TarInfo, body: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
    return [] if member.name == "skill.md" else [(member, body)]


@pytest.mark.parametrize("change", [escape, link, device, other_checksum, bomb, huge, missing])
async def test_a_hostile_archive_is_refused_and_leaves_nothing(
    pages: Path, tmp_path: Path, installed: Path, change: object
) -> None:
    export(await built(pages, tmp_path / "pack"), tmp_path / "good.tar.zst")
    repacked(tmp_path / "good.tar.zst", tmp_path / "bad.tar.zst", change)
    with pytest.raises(StoreError, match="refused"):
        await install(tmp_path / "bad.tar.zst")
    assert not [path for path in installed.rglob("*") if path.is_file()]  # noqa: ASYNC240
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("content", [b"", b"no archive", zstandard.ZstdCompressor().compress(b"short")])
async def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.tar.zst").write_bytes(content)
    with pytest.raises(StoreError):
        await install(tmp_path / "a.tar.zst")
    with pytest.raises(NotFound):
        await install(tmp_path / "none.tar.zst")


async def test_a_pack_of_a_newer_program_is_refused(pages: Path, tmp_path: Path) -> None:
    folder = await built(pages, tmp_path / "pack")
    document = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(document | {"schema": 2}))
    with pytest.raises(SchemaMismatch, match="schema 2"):
        open_pack(folder)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 1, "name": "../x", "version": "1"}', "[" * 10_000])
async def test_what_is_no_manifest_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(StoreError, match="is not a pack manifest: "):
        load_manifest(tmp_path)


async def test_damage_is_found(pages: Path, tmp_path: Path) -> None:
    folder = await built(pages, tmp_path / "pack")
    (folder / "extra.txt").write_text("?")
    (folder / "urls.txt").unlink()
    with (folder / "pack.db").open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 64)
    assert await verify_pack(folder) == [
        "pack.db differs from its checksum",
        "urls.txt is missing",
        "extra.txt is not part of the pack",
    ]
    (folder / "pack.db").write_bytes(b"not a database" * 1000)
    with pytest.raises(StoreError, match=r"damaged|failed"):
        open_pack(folder)
    (folder / "pack.db").unlink()
    with pytest.raises(StoreError, match=r"no pack\.db"):
        open_pack(folder)


async def test_a_pack_is_not_built_over_something_else(pages: Path, tmp_path: Path) -> None:
    other = tmp_path / "mine"
    other.mkdir()
    (other / "thesis.txt").write_text("years of work")
    with pytest.raises(ConfigError, match="something else"):
        await built(pages, other)
    await built(pages)
    with pytest.raises(ConfigError, match="already"):
        await built(pages)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError):
        await build_pack(BuildRequest("empty", (str(tmp_path / "empty"),), "1"))


def test_a_killed_build_leaves_no_pack(pages: Path, tmp_path: Path, installed: Path) -> None:
    code = (
        "import asyncio, sys, time\n"
        "from atlas.packs import build as pack_build\n"
        "def report(progress):\n"
        "    if progress.phase == 'calibrate':\n"
        "        print('now', flush=True); time.sleep(60)\n"
        f"asyncio.run(pack_build.build_pack(pack_build.BuildRequest('widget', ({str(pages)!r},), '1'), report=report))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=os.environ.copy())
    assert process.stdout is not None and process.stdout.readline() == b"now\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert list_packs() == []
    assert [path.name for path in (installed / "widget").iterdir()] == [f".building-{process.pid}-1"]
    subprocess.run(
        [sys.executable, "-m", "atlas", "pack", "build", "widget", "--from", str(pages), "--version", "1"],
        check=True,
        capture_output=True,
    )
    assert [path.name for path in (installed / "widget").iterdir()] == ["1"]


async def test_many_processes_read_a_pack_in_a_folder_without_write_permission(pages: Path, tmp_path: Path) -> None:
    folder = await built(pages, tmp_path / "pack")
    for path in folder.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    folder.chmod(0o555)
    try:
        before = sorted(folder.rglob("*"))
        code = (
            f"from atlas.packs import Pack\nwith Pack.open({str(folder)!r}) as p: print(p.search('timeout')[0].article)"
        )
        running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(3)]  # noqa: ASYNC220
        assert [process.communicate()[0] for process in running] == [b"settings.md\n"] * 3
        assert sorted(folder.rglob("*")) == before
    finally:
        folder.chmod(0o755)
        (folder / "eval").chmod(0o755)
        (folder / "eval" / "results").chmod(0o755)


def test_a_pack_has_the_verbs_of_an_asynchronous_pack() -> None:
    for name in ("open", "build", "search", "ask", "article", "cypher"):
        mine, theirs = getattr(Pack, name), getattr(AsyncPack, name)
        assert list(inspect.signature(mine).parameters.items()) == list(inspect.signature(theirs).parameters.items())
        assert mine.__doc__ == f"See `AsyncPack.{name}`." and mine.__qualname__ == f"Pack.{name}"
        assert inspect.iscoroutinefunction(theirs) and not inspect.iscoroutinefunction(mine)


def test_the_newest_version_is_found(installed: Path) -> None:
    assert sorted(["5.10", "5.2", "5.2rc1", "10.0", "5.2.1"], key=version_key) == [
        "5.2rc1",
        "5.2",
        "5.2.1",
        "5.10",
        "10.0",
    ]
    with pytest.raises(NotFound):
        find_pack("nothing")
