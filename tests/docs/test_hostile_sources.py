"""Archives, folders and work trees of strangers: none of 1 MiB costs seconds, waits, or leads to another place."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from atlas.core.errors import AtlasError, ConfigError
from atlas.packs.documentation.article import Article
from atlas.packs.documentation.sources.archive import FREE_MEMBERS, MIN_MEMBER_BYTES, ArchiveTree
from atlas.packs.documentation.sources.collecting import collect
from atlas.packs.documentation.sources.spec import parse_source
from atlas.packs.documentation.sources.values import CollectOptions

DOCUMENT = b"# Guide\n\nText of the guide.\n"
MIB = 1 << 20
SECONDS = 20.0
"""CPU time for a file of 1 MiB."""


async def articles(source: str, options: CollectOptions | None = None) -> list[Article]:
    return [one async for one in collect([parse_source(source)], options or CollectOptions(), None, lambda _: None)]


async def cost(source: str) -> tuple[float, list[Article] | str]:
    """Return the CPU seconds of reading a source, and its articles or the error."""
    started = time.process_time()
    try:
        found: list[Article] | str = await articles(source)
    except AtlasError as error:
        found = error.message
    return time.process_time() - started, found


def header(name: str, size: int = 0, kind: bytes = b"0") -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    return info.tobuf(tarfile.GNU_FORMAT)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 512)


def packed(pack: Callable[[bytes], bytes], blocks: Iterable[bytes]) -> bytes:
    """Return an archive of at most 1 MiB: as many blocks as fit."""
    whole = b"".join(blocks)
    low, high = 0, len(whole) // 512
    if len(pack(whole)) > MIB:
        while high - low > 1000:
            middle = (low + high) // 2
            low, high = (middle, high) if len(pack(whole[: middle * 512])) <= MIB else (low, middle)
        whole = whole[: low * 512]
    return pack(whole + bytes(1024))


def random_file(number: int) -> bytes:
    data = os.urandom(1400)
    return header(f"pkg/noise/{number}.bin", len(data)) + padded(data)


def gz(data: bytes) -> bytes:
    return gzip.compress(data, 6)


def xz(data: bytes) -> bytes:
    return lzma.compress(data, preset=0)


NOISE = b"".join(random_file(number) for number in range(450))
"""650 kB that do not compress: they raise what is allowed for one packed byte."""
PAX = padded(b"1" * 60_000)
RECORDS = padded(b"6 a=b\n" * 40)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "data"),
    [
        ("tar.gz", lambda: packed(gz, [NOISE, *[header("pkg/a.md", 28) + padded(DOCUMENT)] * 100_000])),
        ("tar.gz", lambda: packed(gz, [NOISE, *(header(f"pkg/{n}.md", 28) + padded(DOCUMENT) for n in range(30_000))])),
        ("tar.gz", lambda: packed(gz, [NOISE, *[header("pkg/link", 0, b"2")] * 180_000])),
        ("tar.bz2", lambda: packed(bz2.compress, [NOISE, *[header("pkg/a.md")] * 150_000])),
        ("tar.xz", lambda: packed(xz, [NOISE, *[header("pkg/a.md")] * 150_000])),
        ("tar.gz", lambda: packed(gz, [NOISE, *[header("pax", len(PAX), b"x") + PAX] * 1_000])),
        ("tar.gz", lambda: packed(gz, [NOISE, *[header("pax", 60_000, b"x") + padded(b"6 a=b\n" * 10_000)] * 1_000])),
        ("tar.gz", lambda: packed(gz, [NOISE, *[header("pax", 240, b"x") + RECORDS, header("p/a")] * 50_000])),
        ("tar.gz", lambda: packed(gz, [NOISE, *[header("long", len(PAX), b"L") + PAX] * 1_000, header("x")])),
        ("tar.gz", lambda: packed(gz, [NOISE, header("pkg/a.md", 90 * MIB), bytes(90 * MIB)])),
        ("tar.bz2", lambda: packed(bz2.compress, [NOISE, header("pkg/a.bin", 90 * MIB), bytes(90 * MIB)])),
        ("tar.xz", lambda: packed(xz, [NOISE, header("pkg/a.bin", 90 * MIB), bytes(90 * MIB)])),
        (
            "tar.gz",
            lambda: packed(
                gz, (header(f"p/docs/{a}{b}/{c}.md") for a in "abcdefghij" for b in "klmnopqrst" for c in range(200))
            ),
        ),
        ("crate", lambda: gz(header("p/Cargo.toml", MIB - 4) + padded(b"[package]\n" + b"a." * 524_280 + b"a=1\n"))),
        ("crate", lambda: gz(header("p/Cargo.toml", 9 * 110_000) + padded(b"[a]\nb=[\n]" * 110_000))),
        ("tgz", lambda: gz(header("p/package.json", MIB) + padded(b"[" * MIB))),
        ("tgz", lambda: gz(header("p/package.json", 8_020) + padded(b'{"name":' + b"9" * 8_011 + b"}"))),
    ],
)  # fmt: skip
async def test_an_archive_of_one_mebibyte_costs_no_seconds(
    tmp_path: Path, ending: str, data: Callable[[], bytes]
) -> None:
    path = tmp_path / f"pkg-1.0.{ending}"
    path.write_bytes(data())
    assert path.stat().st_size <= MIB + 65_536
    seconds, found = await cost(str(path))
    assert seconds < SECONDS, (seconds, str(found)[:200])


@pytest.mark.slow
async def test_a_zip_of_one_mebibyte_costs_no_seconds(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "many.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(10_000):
            archive.writestr(f"{number}.md", b"#")
    with zipfile.ZipFile(tmp_path / "same.zip", "w", zipfile.ZIP_DEFLATED) as archive, pytest.warns(UserWarning):
        for _ in range(9_000):
            archive.writestr("a.md", DOCUMENT)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.md", bytes(200 * MIB))
    for name in ("many.zip", "same.zip", "bomb.zip"):
        seconds, found = await cost(str(tmp_path / name))
        assert seconds < SECONDS, (name, seconds)
        assert len(found) == {"many.zip": 10_000, "same.zip": 1}.get(name, len(found))


async def test_a_repeated_name_is_read_once_and_the_last_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(
        b"".join(header("pkg/a.md", 4) + padded(b"# %02d" % number) for number in range(100)) + bytes(1024)
    )
    (article,) = await articles(str(path))
    assert article.title == "99"


def test_members_are_counted_by_the_bytes_that_they_take(tmp_path: Path) -> None:
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gz(b"".join(header(f"pkg/{number}") for number in range(20_000))))
    allowed = FREE_MEMBERS + path.stat().st_size // MIN_MEMBER_BYTES
    with pytest.raises(ConfigError, match=f"more than {allowed:,} files"):
        ArchiveTree(path, 100_000, 1 << 30).entries()


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ([header("a" * 99, 10, b"S") + padded(b"x" * 10)], "sparse"),
        ([header("x", 30, b"x") + padded(b"25 GNU.sparse.size=999999\n" + bytes(4)), header("a.md")], "sparse"),
        ([header("x", 40, b"x") + padded(b"30 size=99999999999999999999\n\n"), header("a.md")], "ends too early"),
        ([header("a.md", 8 << 30)], "ends too early"),
        ([header("x", 8, b"x") + padded(b"-1 a=b\n\n")], "damaged"),
        ([header("x", 8, b"x") + padded(b"0 a=bcd\n")], "damaged"),
        ([b"\xff" * 512], "damaged|invalid"),
        ([b""], "ends too early"),
    ],
)
def test_sizes_that_lie_are_refused(tmp_path: Path, members: list[bytes], reason: str) -> None:
    (tmp_path / "a.tar").write_bytes(b"".join(members) + (bytes(1024) if members[0] else b""))
    with pytest.raises(ConfigError, match=reason):
        ArchiveTree(tmp_path / "a.tar", 100, 1 << 30).entries()


def test_names_that_are_long_deep_or_invisible_are_refused(tmp_path: Path) -> None:
    long, deep, turned = "x" * 1_200 + ".md", "a/" * 50 + "b.md", "pkg/\u202egpj.md"
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        for name in (long, deep, turned, "pkg/new\nline.md", "pkg/good.md", "/etc/x.md", "pkg/../x.md", "C:/x.md"):
            info = tarfile.TarInfo(name)
            info.size = len(DOCUMENT)
            archive.addfile(info, io.BytesIO(DOCUMENT))
    tree = ArchiveTree(tmp_path / "a.tar.gz", 100, 1 << 30)
    assert [one.path for one in tree.entries()] == ["good.md"]
    assert len(tree.problems) == 7


def test_problems_of_an_archive_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(b"".join(header(f"l{n}", 0, b"2") for n in range(1_000)) + bytes(1024))
    tree = ArchiveTree(tmp_path / "a.tar", 1_000, 1 << 30)
    assert tree.entries() == []
    assert len(tree.problems) == 201


@pytest.mark.parametrize("name", ["a.tar.gz", "a.zip", "a.md", "a.crate", "urls.txt"])
def test_a_pipe_or_device_is_refused_at_once(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    (tmp_path / f"link-{name}").symlink_to("/dev/zero")
    started = time.monotonic()
    for path in (tmp_path / name, tmp_path / f"link-{name}"):
        with pytest.raises(ConfigError, match="neither a file nor a folder"):
            parse_source(str(path))
        with pytest.raises(ConfigError, match="not a regular file"):
            ArchiveTree(path, 100, 1 << 20)
    (tmp_path / "folder.zip").mkdir()
    with pytest.raises(ConfigError):
        ArchiveTree(tmp_path / "folder.zip", 100, 1 << 20)
    assert time.monotonic() - started < 10


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A repository of the user with a file that the hostile tree has as well."""
    folder = tmp_path / "victim"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "secret-plan.md").write_text("# Plan\n\ntext\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "x")
    return folder


@pytest.mark.parametrize(
    "lead",
    [
        lambda tree, victim: (tree / ".git").write_text(f"gitdir: {victim}/.git\n"),
        lambda tree, victim: (tree / ".git").symlink_to(victim / ".git"),
        lambda tree, victim: (tree / ".git").write_text("gitdir: ../victim/.git"),
        lambda tree, victim: ((tree / ".git").mkdir(), (tree / ".git/commondir").write_text(f"{victim}/.git\n")),
        lambda tree, victim: ((tree / ".git").mkdir(), (tree / ".git/index").symlink_to(victim / ".git/index")),
        lambda tree, victim: (
            (tree / "real").mkdir(), (tree / "real/gitdir").write_text(f"{tree}/.git"),
            (tree / "real/commondir").write_text(f"{victim}/.git"), (tree / ".git").write_text("gitdir: real")),
        lambda tree, victim: os.mkfifo(tree / ".git"),
    ],
)  # fmt: skip
async def test_a_work_tree_that_leads_to_another_repository_is_refused(
    tmp_path: Path, victim: Path, lead: Callable[[Path, Path], object]
) -> None:
    tree = tmp_path / "tree"
    (tree / "docs").mkdir(parents=True)
    (tree / "docs" / "secret-plan.md").write_text("# Mine\n\ntext\n")
    lead(tree, victim)
    for source in (str(tree), f"git:{tree}"):
        with pytest.raises(ConfigError, match="not read as a git work tree"):
            await articles(source)


async def test_the_head_of_a_work_tree_follows_no_link(tmp_path: Path, victim: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "README.md").write_text("# Mine\n\ntext\n")
    git(tree, "init", "-q", "-b", "main")
    git(tree, "add", ".")
    for name in ("refs/heads/main", "HEAD"):
        (tree / ".git" / name).unlink(missing_ok=True)
        (tree / ".git" / name).symlink_to(victim / ".git" / "HEAD")
        assert [one.source_version for one in await articles(str(tree))] == [""]


async def test_linked_work_trees_and_submodules_are_read(tmp_path: Path, victim: Path) -> None:
    git(victim, "worktree", "add", "-q", str(tmp_path / "linked"))
    git(victim, "submodule", "add", "-q", str(victim), "sub")
    git(victim, "commit", "-qm", "sub")
    head = git(tmp_path / "linked", "rev-parse", "HEAD")
    for folder in (tmp_path / "linked", victim / "sub"):
        (article,) = await articles(str(folder))
        assert (article.key, article.source_version) == ("docs/secret-plan.md", head)


async def test_a_folder_that_a_link_replaces_is_not_left(tmp_path: Path, victim: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "docs").mkdir(parents=True)
    (tree / "docs" / "secret-plan.md").write_text("# Mine\n\ntext\n")
    git(tree, "init", "-q")
    git(tree, "add", ".")
    (tree / "docs" / "secret-plan.md").unlink()
    (tree / "docs").rmdir()
    (tree / "docs").symlink_to(victim / "docs")
    assert await articles(str(tree)) == []
    assert await articles(f"git:{tree}") == []


async def test_documents_hold_a_bounded_memory(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"{number}.md").write_text("* a\n" * 60_000)
    with pytest.raises(ConfigError, match="hold more than"):
        await articles(str(tmp_path), CollectOptions(max_memory=16 << 20))


async def test_patterns_of_contents_are_looked_up_once(tmp_path: Path) -> None:
    for number in range(300):
        globs = "\n".join(f"   *{other}*x" for other in range(300))
        (tmp_path / f"{number}.rst").write_text(f"T{number}\n====\n\n.. toctree::\n   :glob:\n\n{globs}\n\ntext\n")
    seconds, found = await cost(str(tmp_path))
    assert len(found) == 300
    assert seconds < 60
