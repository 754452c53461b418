"""Packs from elsewhere: an archive is refused or gives a pack that answers, and nothing is left of a refused one."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import os
import shutil
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import zstandard

from atlas.adapters.stores.shared.statements import schema
from atlas.app.toolsets import BY_NAME
from atlas.core.errors import AtlasError
from atlas.packs.build import BuildRequest, build_pack
from atlas.packs.documentation.pack.skill import skill_text
from atlas.packs.store import install
from atlas.packs.toolset import PackDesk
from tests.fuzz.target import Target
from tests.packs.library import DOCUMENTATION, write_tree
from tests.raw_database import raw

FILES = {
    **{b"m": "manifest.json", b"d": "pack.db", b"k": "kg_config.json", b"v": "vocabulary.json"},
    **{b"q": "eval/questions.jsonl", b"s": "skill.md"},
}
"""The file that an input replaces, by its first byte; `t` stands for the whole tar."""


class Packs(Target):
    name = "packs"
    words = (
        *(b"null", b"NaN", b"-1", b"1e999", b"{}", b"[]", b'""', b"\x00", b"\xff", b"\\ud800", b'"', b",", b"{", b"["),
        *(b"9" * 30, b"\xe2\x80\xae", b'"files"', b'"sources"', b'"counts"', b'"size"', b'"pipeline"', b'"gate"'),
        *(b"ustar", b"../", b"/", b"pack.db", b"manifest.json", b"skill.md", b"SQLite format 3\x00"),
    )

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._before = os.environ.get("ATLAS_PACKS")
        os.environ["ATLAS_PACKS"] = str(folder / "packs")
        write_tree(folder / "docs", DOCUMENTATION)
        made = asyncio.run(build_pack(BuildRequest("widget", (str(folder / "docs"),), "1"), folder / "made"))
        names = ["manifest.json", *sorted(made.manifest.files)]
        self._members = {name: (made.folder / name).read_bytes() for name in names}
        self._members["pack.db"] = _unsealed(made.folder / "pack.db", folder / "plain.db")

    def seeds(self) -> Sequence[bytes]:
        return [
            *(kind + self._members[name] for kind, name in FILES.items()),
            b"t" + _tar(_stated(self._members)),
            *(b"k" + text.encode() for text in ('{"pipeline": {"limit": 3}}', '{"gate": {"weights": {}}}')),
            b'q{"question": "How?", "gold": [{"article": "guide.md"}], "fact": "a|b"}\n',
        ]

    def check(self, data: bytes) -> str:
        name = FILES.get(data[:1])
        tar = _tar(_stated({**self._members, name: data[1:]}) if name else self._members) if name else data[1:]
        archive = self.folder / "a.tar.zst"
        archive.write_bytes(zstandard.ZstdCompressor(1).compress(tar))
        packs = self.folder / "packs"
        shutil.rmtree(packs, ignore_errors=True)
        try:
            _, manifest = asyncio.run(install(archive))
        except AtlasError as error:
            assert not packs.exists(), list(packs.rglob("*"))
            return type(error).__name__
        assert not any(word in skill_text(manifest) for word in ("\x1b", "\u202e", "---\n---", "<!--"))
        return asyncio.run(_asked())

    def close(self) -> None:
        if self._before is None:
            del os.environ["ATLAS_PACKS"]
        else:
            os.environ["ATLAS_PACKS"] = self._before


async def _asked() -> str:
    desk = PackDesk("project", None)
    found: list[str] = []
    try:
        for tool, arguments in (
            ("list_packs", {}),
            ("ask_pack", {"question": "What is the default of SPIN_TIMEOUT?", "profile": "maximum"}),
            ("search_pack", {"query": "deprecated since 1.8"}),
            ("pack_article", {"article": "widget.spin"}),
        ):
            try:
                text = (await desk.answer(BY_NAME[tool], arguments)).render()
                assert not {"\x1b", "\u202e"} & set(text)
                found.append("ok")
            except AtlasError as error:
                found.append(type(error).__name__)
    finally:
        await desk.aclose()
    return " ".join(found)


def _stated(members: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files with a manifest whose checksums fit, where it can be read."""
    try:
        document: Any = json.loads(members["manifest.json"])
        for name in document["files"]:
            data = members.get(name, b"")
            document["files"][name] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        return {**members, "manifest.json": json.dumps(document).encode()}
    except (ValueError, KeyError, TypeError, RecursionError):
        return members


def _tar(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def _unsealed(file: Path, target: Path) -> bytes:
    """Return a pack's file without page checksums, as a stranger can write it: changes are not seen by them."""
    plain = apsw.Connection(str(target))
    plain.execute(schema())
    sealed = raw(file, writing=False)
    for (table,) in sealed.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'text' AND name NOT GLOB 'sqlite_*'"
    ):
        plain.execute(f"DELETE FROM {table}")
        for row in sealed.execute(f"SELECT * FROM {table}"):
            plain.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    plain.execute("UPDATE meta SET value = '6' WHERE key = 'schema'; VACUUM")
    for connection in (sealed, plain):
        connection.close()
    return target.read_bytes()
