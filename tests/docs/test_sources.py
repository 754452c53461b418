"""What users type as sources, and what of a folder, work tree or installed package is read."""

from __future__ import annotations

import random
import string
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from atlas.core.errors import ConfigError, NotFound, Unavailable
from atlas.packs.documentation.article import Article
from atlas.packs.documentation.sources.collecting import collect, plan
from atlas.packs.documentation.sources.crawl.addresses import canonical
from atlas.packs.documentation.sources.installed import find_installed
from atlas.packs.documentation.sources.local import read_source
from atlas.packs.documentation.sources.registries import download
from atlas.packs.documentation.sources.spec import parse_source
from atlas.packs.documentation.sources.values import CollectOptions, SourceKind


async def articles(*sources: str, options: CollectOptions | None = None) -> list[Article]:
    specs = [parse_source(one) for one in sources]
    return [one async for one in collect(specs, options or CollectOptions(), None, lambda _: None)]


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("text", "kind", "name", "version"),
    [
        ("pypi:Django==5.2", SourceKind.PYPI, "Django", "5.2"),
        ("pypi:requests", SourceKind.PYPI, "requests", ""),
        ("npm:@types/node@20.1.0", SourceKind.NPM, "@types/node", "20.1.0"),
        ("npm:lodash", SourceKind.NPM, "lodash", ""),
        ("crate:serde@1.0.219", SourceKind.CRATE, "serde", "1.0.219"),
        ("installed:typing_extensions", SourceKind.INSTALLED, "typing_extensions", ""),
        ("https://example.org/docs/", SourceKind.URL, "", ""),
        ("https://example.org/sitemap.xml", SourceKind.SITEMAP, "", ""),
        ("https://example.org/sitemap-2.xml.gz", SourceKind.SITEMAP, "", ""),
        ("sitemap:https://example.org/map", SourceKind.SITEMAP, "", ""),
    ],
)
def test_sources_are_told_apart(text: str, kind: SourceKind, name: str, version: str) -> None:
    spec = parse_source(text)
    assert (spec.kind, spec.name, spec.version) == (kind, name, version)


@pytest.mark.parametrize(
    "text", ["", "missing", "pypi:--index-url=x", "pypi:a b", "npm:-g", "npm:../x", "crate:--help", "ftp://x/y", "file:///etc", "git:", "\x00"],
)  # fmt: skip
def test_what_is_no_source_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        parse_source(text, tmp_path)


async def test_a_folder_is_read_in_order_without_links_and_hidden_files(tmp_path: Path) -> None:
    write(tmp_path / "out", {"secret.md": "# Outside"})
    docs = write(tmp_path / "docs", {"b.md": "# B", "a/index.md": "# Topic A\n\nx", "a/z.md": "# Z\n\ny", ".hidden.md": "# H", "_build/x.html": "<p>x", "en/c.md": "# C\n\nc", "de/c.md": "# D\n\nd", "node_modules/m.md": "# M"})  # fmt: skip
    (docs / "link.md").symlink_to(tmp_path / "out" / "secret.md")
    (docs / "folder").symlink_to(tmp_path / "out")
    found = await articles(str(docs))
    assert [one.key for one in found] == ["a/index.md", "a/z.md", "b.md", "en/c.md"]
    assert found[1].parents == ("Topic A",)
    assert await articles(str(docs)) == found


async def test_a_folder_given_by_a_single_file(tmp_path: Path) -> None:
    write(tmp_path, {"LICENSE.txt": "Some text to read."})
    assert [one.key for one in await articles(str(tmp_path / "LICENSE.txt"))] == ["LICENSE.txt"]


async def test_keys_of_several_sources_are_unique(tmp_path: Path) -> None:
    one = write(tmp_path / "one", {"index.rst": "One\n===\n\n.. toctree::\n\n   a\n", "a.rst": "A\n==\n\ntext\n"})
    two = write(tmp_path / "two", {"index.rst": "Two\n===\n\n.. toctree::\n\n   a\n", "a.rst": "A\n==\n\nother\n"})
    found = await articles(str(one), str(two))
    assert [article.key for article in found] == ["a.rst", "index.rst", "2/a.rst", "2/index.rst"]
    assert found[3].children == ("2/a.rst",)


async def test_a_work_tree_gives_tracked_files_by_the_rules_of_a_scan(tmp_path: Path) -> None:
    write(tmp_path, {"README.md": "# Project\n\nx", "docs/guide.md": "# Guide\n\nx", "docs/draft.md": "# Draft", "docs/old.md": "# Old", "docs/untracked.md": "# No", "docs/credentials.md": "# ok", "docs/.env": "KEY=1", ".atlasignore": "docs/old.md\n"})  # fmt: skip
    hook = write(tmp_path, {"hook": "#!/bin/sh\ntouch ran\n"}) / "hook"
    hook.chmod(0o755)

    def git(*arguments: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    git("add", "README.md", "docs/guide.md", "docs/old.md", "docs/.env", ".atlasignore")
    git("commit", "-qm", "first")
    commit = git("rev-parse", "HEAD")
    git("config", "core.fsmonitor", str(hook))
    found = await articles(str(tmp_path))
    assert [one.key for one in found] == ["README.md", "docs/guide.md"]
    assert {one.source_version for one in found} == {commit}
    assert not (tmp_path / "ran").exists()


async def test_secrets_in_documents_are_masked(tmp_path: Path) -> None:
    secret = "glpat-" + "".join(random.Random(6).choices(string.ascii_letters + string.digits, k=20))
    write(tmp_path, {"a.md": f'# A\n\n    token = "{secret}"\n'})
    (article,) = await articles(str(tmp_path))
    assert secret not in repr(article)


async def test_an_installed_package_gives_its_description_and_code() -> None:
    package = find_installed("click")
    assert package.version
    assert [path.name for path in package.code()] == ["click"]
    found = await articles("installed:click")
    assert any(one.key.startswith("README-") and one.sections[0].blocks for one in found)
    with pytest.raises(NotFound):
        find_installed("no-such-package-here")


async def test_a_plan_names_every_file_and_why_it_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "# A", "b.png": "x", ".c.md": "x"})
    found = await plan(
        [parse_source(str(tmp_path)), parse_source("pypi:click==8.0")], CollectOptions(), None, lambda _: None
    )
    assert [(one.key, one.skipped) for one in found] == [
        (".c.md", "hidden"), ("a.md", ""), ("b.png", "format"), ("click 8.0", ""),
    ]  # fmt: skip


def test_a_registry_without_its_client_or_network_is_a_clear_error(tmp_path: Path) -> None:
    script = (
        "import asyncio, sys\nfrom atlas.packs.documentation.sources.collecting import collect\nfrom atlas.packs.documentation.sources.spec import parse_source\n"
        "from atlas.packs.documentation.sources.values import CollectOptions\nfrom atlas.core.errors import AtlasError\n"
        "async def main():\n    async for _ in collect([parse_source(sys.argv[1])], CollectOptions(), None, lambda _: None): pass\n"
        "try:\n    asyncio.run(main())\nexcept AtlasError as error:\n    print(type(error).__name__, error.message)\n"
    )
    environment = {"PATH": str(tmp_path), "HOME": str(tmp_path), "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0", "PIP_CONFIG_FILE": "/dev/null"}  # fmt: skip
    answers = [
        subprocess.run(
            [sys.executable, "-c", script, source], env=environment, capture_output=True, text=True, timeout=60
        ).stdout
        for source in ("npm:lodash@4.17.21", "crate:serde@1.0.0", "pypi:click==8.0.0")
    ]
    assert answers[0].startswith("ConfigError npm:lodash@4.17.21 needs npm")
    assert answers[1].startswith("ConfigError crate:serde@1.0.0 needs cargo")
    assert answers[2].startswith(("NotFound", "Unavailable"))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("HTTP://Example.ORG:80/a/../b/./c.html#x", "http://example.org/b/c.html"),
        ("https://example.org", "https://example.org/"),
        ("https://example.org/a?b=2&a=1&utm_source=x&sid=9", "https://example.org/a?a=1&b=2"),
        ("https://example.org/a;jsessionid=1F?x=", "https://example.org/a?x="),
        ("https://example.org//a//b/", "https://example.org/a/b/"),
        ("https://example.org/%7Euser/%C3%A9", "https://example.org/~user/%C3%A9"),
        ("https://example.org/a/a/a/a/b", ""),
        ("javascript:alert(1)", ""),
        ("mailto:a@b", ""),
        ("http://[bad", ""),
        ("https://example.org:99999/", ""),
    ],
)
def test_addresses_have_one_spelling(written: str, expected: str) -> None:
    assert canonical(written) == expected
    if expected:
        assert canonical(expected) == expected


def test_the_reason_of_a_failed_download_is_what_the_client_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = tmp_path / "cargo"
    client.write_text(
        "#!/bin/sh\necho 'warning: old' >&2\necho 'error: no toolchain' >&2\necho '  13: trace' >&2\nexit 1\n"
    )
    client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    (tmp_path / "empty").mkdir()
    with pytest.raises(Unavailable, match="error: no toolchain"):
        download(parse_source("crate:serde@1.0.0"), tmp_path / "empty")


def test_a_python_package_without_documentation_says_where_it_is(tmp_path: Path) -> None:
    from io import BytesIO

    metadata = (
        "Metadata-Version: 2.1\nName: widget\nVersion: 1.0\nProject-URL: Documentation, https://widget.example.org\n"
        "Project-URL: Source, https://github.com/o/widget\nProject-URL: Docs, https://evil.example/\x1b[2J\n\n# Widget\n"
    )
    files = {"PKG-INFO": metadata, "README.md": "# Widget\n\nSpins.\n", "widget/__init__.py": '"""Spins."""\n'}
    archive = tmp_path / "widget-1.0.tar.gz"

    def problems(more: dict[str, str]) -> list[str]:
        with tarfile.open(archive, "w:gz") as tar:
            for name, text in {**files, **more}.items():
                info = tarfile.TarInfo(f"widget-1.0/{name}")
                info.size = len(text.encode())
                tar.addfile(info, BytesIO(text.encode()))
        found: list[str] = []
        read_source(parse_source(str(archive)), CollectOptions(), lambda one: found.append(one.problem))
        return [one for one in found if "no documentation" in one]

    [said] = problems({})
    assert said.endswith(
        "add --from https://widget.example.org or --from git:FOLDER with a clone of https://github.com/o/widget"
    )
    assert problems({"docs/index.md": "# Guide\n\nText.\n"}) == []
