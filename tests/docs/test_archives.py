"""Hostile archives are refused or read in part; nothing is written, and no limit is passed."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from atlas.core.errors import ConfigError
from atlas.packs.documentation.sources.archive import ArchiveTree
from atlas.packs.documentation.sources.collecting import collect
from atlas.packs.documentation.sources.spec import parse_source
from atlas.packs.documentation.sources.values import CollectOptions

DOCUMENT = b"# Guide\n\nText of the guide.\n"


def tar(path: Path, *members: tarfile.TarInfo | tuple[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                archive.addfile(info, io.BytesIO(member[1]))
    return path


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def read(tree: ArchiveTree) -> dict[str, bytes]:
    paths = [one.path for one in tree.entries()]
    return {path: data for path, data, _ in tree.read(paths, 1 << 20)}


def test_members_that_leave_the_archive_and_links_are_refused(tmp_path: Path) -> None:
    path = tar(
        tmp_path / "a.tar.gz",
        ("pkg/docs/guide.md", DOCUMENT),
        ("pkg/../../etc/passwd.md", DOCUMENT),
        ("/etc/absolute.md", DOCUMENT),
        special("pkg/docs/link.md", tarfile.SYMTYPE, "/etc/passwd"),
        special("pkg/docs/hard.md", tarfile.LNKTYPE, "pkg/docs/guide.md"),
        special("pkg/docs/pipe.md", tarfile.FIFOTYPE),
        special("pkg/docs/device.md", tarfile.CHRTYPE),
    )
    tree = ArchiveTree(path, 100, 1 << 20)
    assert read(tree) == {"docs/guide.md": DOCUMENT}
    assert {name for name, _ in tree.problems} == {
        "pkg/../../etc/passwd.md", "/etc/absolute.md", "pkg/docs/link.md", "pkg/docs/hard.md", "pkg/docs/pipe.md",
        "pkg/docs/device.md",
    }  # fmt: skip


def test_zip_members_that_leave_the_archive_and_links_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("pkg/guide.md", DOCUMENT)
        archive.writestr("../up.md", DOCUMENT)
        archive.writestr("C:/windows.md", DOCUMENT)
        link = zipfile.ZipInfo("pkg/link.md")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    tree = ArchiveTree(path, 100, 1 << 20)
    assert read(tree) == {"guide.md": DOCUMENT}
    assert len(tree.problems) == 3


def test_bombs_end_at_the_limit(tmp_path: Path) -> None:
    zeros = bytes(64 << 20)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.md", zeros)
    (tmp_path / "b.tar.gz").write_bytes(gzip.compress(zeros))
    tar(tmp_path / "c.tar.gz", ("pkg/a.md", zeros))
    many = tar(tmp_path / "d.tar.gz", *((f"pkg/{number}.md", b"x") for number in range(2_000)))
    assert ArchiveTree(tmp_path / "b.tar.gz", 100, 1 << 20).entries() == []
    for name in ("a.zip", "c.tar.gz"):
        with pytest.raises(ConfigError, match=r"limit|not a readable archive"):
            ArchiveTree(tmp_path / name, 100, 1 << 20).entries()
    with pytest.raises(ConfigError, match="more than 1,000 files"):
        ArchiveTree(many, 100, 1 << 20).entries()


def test_an_extended_header_of_megabytes_is_refused(tmp_path: Path) -> None:
    header = tarfile.TarInfo("pkg/pax")
    header.type, header.size = tarfile.XHDTYPE, 300 << 20
    with gzip.open(tmp_path / "a.tar.gz", "wb") as file:
        file.write(header.tobuf(tarfile.USTAR_FORMAT))
        for _ in range(300):
            file.write(bytes(1 << 20))
    with pytest.raises(ConfigError, match="extended header"):
        ArchiveTree(tmp_path / "a.tar.gz", 100, 1 << 30).entries()


@pytest.mark.parametrize("cut", [20, 200, 2_000])
def test_a_damaged_archive_is_an_error_or_a_problem(tmp_path: Path, cut: int) -> None:
    whole = tar(tmp_path / "a.tar.gz", *((f"pkg/docs/{number}.md", bytes(range(256)) * 50) for number in range(50)))
    broken = tmp_path / "b.tar.gz"
    broken.write_bytes(whole.read_bytes()[:cut])
    try:
        tree = ArchiveTree(broken, 100, 1 << 20)
        found = read(tree)
        assert len(found) < 50
    except ConfigError as error:
        assert "not a readable archive" in error.message


async def test_an_sdist_gives_its_documentation_with_version_and_licence(tmp_path: Path) -> None:
    metadata = b"Metadata-Version: 2.4\nName: pkg\nVersion: 1.2.3\nLicense-Expression: MIT\n\nText"
    path = tar(
        tmp_path / "pkg-1.2.3.tar.gz",
        ("pkg-1.2.3/PKG-INFO", metadata),
        ("pkg-1.2.3/README.md", b"# pkg\n\nWhat it is.\n"),
        ("pkg-1.2.3/pkg/templates/page.html", b"<p>no documentation</p>"),
        ("pkg-1.2.3/tests/case.md", DOCUMENT),
        ("pkg-1.2.3/docs/requirements.txt", b"sphinx"),
        ("pkg-1.2.3/docs/index.rst", b"Pkg\n===\n\n.. toctree::\n\n   guide\n   topics/*\n"),
        ("pkg-1.2.3/docs/guide.md", DOCUMENT),
        ("pkg-1.2.3/docs/topics/testing.rst", b"Testing\n=======\n\nHow to test.\n"),
    )
    articles = [one async for one in collect([parse_source(str(path))], CollectOptions(), None, lambda _: None)]
    assert [one.key for one in articles] == ["README.md", "docs/guide.md", "docs/index.rst", "docs/topics/testing.rst"]
    assert {(one.source_version, one.licence) for one in articles} == {("1.2.3", "MIT")}
    assert articles[2].children == ("docs/guide.md", "docs/topics/testing.rst")
    assert articles[1].parents == ("Pkg",)
