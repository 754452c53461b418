"""What is fetched is what the question file names, and an archive writes only below its folder."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from atlas_bench.answers.questions import QuestionFile

from atlas.core.errors import ConfigError

from .fetch_packages import fetch, unpack


def tar(path: Path, *members: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    info.size = 1 if kind == tarfile.REGTYPE else 0
    return info


def package(archive: Path, digest: str) -> QuestionFile:
    return QuestionFile(Path("q.toml"), "p", "1", "c", (), "npm", "p", archive.name, digest)


def test_an_archive_is_unpacked_without_its_folder_and_links(tmp_path: Path) -> None:
    link = member("p-1.0/etc", tarfile.SYMTYPE, "/etc")
    made = tar(tmp_path / "p.tgz", member("p-1.0/src/a.c"), link, member("p-1.0/docs/b.md"))
    digest = hashlib.sha256(made.read_bytes()).hexdigest()
    tree = fetch(package(made, digest), tmp_path / "trees", tmp_path)
    assert sorted(path.relative_to(tree).as_posix() for path in tree.rglob("*") if not path.is_dir()) == [
        "docs/b.md",
        "src/a.c",
    ]


def test_another_digest_is_refused(tmp_path: Path) -> None:
    made = tar(tmp_path / "p.tgz", member("p-1.0/a.c"))
    with pytest.raises(ConfigError, match="has the digest"):
        fetch(package(made, "0" * 64), tmp_path / "trees", tmp_path)
    assert not (tmp_path / "trees/p").exists()


@pytest.mark.parametrize("name", ["../out.c", "p-1.0/../../out.c", "/tmp/out.c", "p-1.0\\..\\out.c", "C:/out.c"])
@pytest.mark.parametrize("ending", ["tgz", "zip"])
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str, ending: str) -> None:
    made = tmp_path / f"p.{ending}"
    if ending == "tgz":
        tar(made, member("p-1.0/a.c"), member(name))
    else:
        with zipfile.ZipFile(made, "w") as archive:
            archive.writestr("p-1.0/a.c", "x")
            archive.writestr(name, "x")
    with pytest.raises(ConfigError, match="outside of its folder"):
        unpack(made, tmp_path / "tree")
    assert not (tmp_path / "tree").exists()


def test_only_included_prefixes_are_unpacked(tmp_path: Path) -> None:
    made = tar(tmp_path / "p.tgz", member("package/lib/a.ts"), member("package/dist/a.js"), member("package/README.md"))
    unpack(made, tmp_path / "tree", ("lib/", "README.md"))
    assert sorted(path.name for path in (tmp_path / "tree").rglob("*.*")) == ["README.md", "a.ts"]
