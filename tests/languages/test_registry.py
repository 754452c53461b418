"""Languages are folders of data: recognised by name, line and content; overridden, extended, and refused with a place."""

from pathlib import Path

import pytest

from atlas._parser import Languages, ParsedFile, parse_bytes, parse_paths
from atlas.parsing.parse import BUILT_IN, fingerprint, load_languages

from .cases import facts_of

OWN = """\
name = "{name}"
grammar = "python"
extensions = ["{extension}"]

[scope]
rule = "file"
"""
TAGS = "(class_definition name: (identifier) @name body: (_) @body) @definition.class\n"


def write(folder: Path, name: str, settings: str, tags: str = TAGS) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "language.toml").write_text(settings)
    (folder / name / "tags.scm").write_text(tags)
    return folder


@pytest.fixture(scope="module")
def languages() -> Languages:
    return load_languages()


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.py", "python"),
        ("a/b.pyi", "python"),
        ("B.PY", "python"),
        ("SConstruct", "python"),
        ("x.test.tsx", "tsx"),
        ("x.d.ts", "typescript"),
        ("x.mjs", "javascript"),
        ("build.sh", "bash"),
        ("run.bats", "bash"),
        (".bashrc", "bash"),
        ("a.rockspec", "lua"),
        ("mix.exs", "elixir"),
        ("x.kt", "kotlin"),
        ("build.gradle.kts", "kotlin"),
        ("x.scala", "scala"),
        ("build.sbt", "scala"),
        ("x.swift", "swift"),
        ("py", None),
        (".py.swp", None),
        ("README", "plaintext"),
        ("Dockerfile.test", "dockerfile"),
        ("LICENSE-MIT", "licence"),
        ("nginx.conf.j2", "template"),
        ("x.hs", "haskell"),
        ("photo.png", None),
    ],
)
def test_language_of_a_path(languages: Languages, path: str, language: str | None) -> None:
    assert languages.of_path(path) == language


@pytest.mark.parametrize(
    ("line", "language"),
    [
        (b"#!/usr/bin/env python3\n", "python"),
        (b"#!/usr/bin/python3.12 -u\n", "python"),
        (b"#!/usr/bin/env -S node --harmony\n", "javascript"),
        (b"#!/bin/sh -e\n", "bash"),
        (b"#!/usr/bin/env bash\n", "bash"),
        (b"#!/usr/bin/env luajit\n", "lua"),
        (b"#!/usr/bin/lua5.4\n", "lua"),
        (b"#! /usr/bin/env elixir\n", "elixir"),
        (b"#!/bin/nothing\n", ""),
        (b"#! \n", ""),
    ],
)
def test_language_of_a_program(languages: Languages, line: bytes, language: str) -> None:
    parsed = parse_bytes(languages, "bin/tool", line)
    assert (parsed.language, parsed.skip_reason) == (language, "" if language else "unknown language")


def test_a_project_adds_a_language(tmp_path: Path) -> None:
    folder = write(tmp_path, "own", OWN.format(name="own", extension="own"))
    languages = load_languages([folder])
    assert "own" in languages.names
    facts = facts_of(languages, "a/b.own", "class A: pass\ndef f(): pass\n")
    assert [item["path"] for item in facts["definitions"]] == ["", "A"]
    assert (facts["language"], facts["module"]) == ("own", "a.b")


def test_a_project_overrides_a_language(tmp_path: Path) -> None:
    folder = write(tmp_path, "mine", OWN.format(name="python", extension="py"))
    languages = load_languages([folder])
    assert languages.names == load_languages().names
    facts = facts_of(languages, "a.py", "class A: pass\ndef f(): pass\n")
    assert [item["path"] for item in facts["definitions"]] == ["", "A"]
    assert fingerprint(languages) != fingerprint(load_languages())


def test_fingerprint_is_stable() -> None:
    assert fingerprint(Languages([str(BUILT_IN)])) == fingerprint(Languages([str(BUILT_IN)]))


def test_languages_are_shared_until_a_file_of_theirs_changes(tmp_path: Path) -> None:
    folder = write(tmp_path, "own", OWN.format(name="own", extension="own"))
    before = load_languages([folder])
    assert load_languages([folder]) is before is not load_languages([folder], "notes")
    (folder / "own" / "language.toml").write_text(OWN.format(name="own", extension="other"))
    after = load_languages([folder])
    assert (before.of_path("a.own"), before.of_path("a.other")) == ("own", None)
    assert (after.of_path("a.own"), after.of_path("a.other")) == (None, "own")


@pytest.mark.parametrize(
    ("settings", "tags", "place"),
    [
        ("name = 1\n", TAGS, "language.toml: "),
        (OWN.format(name="own", extension="own") + "extra = 1\n", TAGS, "unknown field `extra`"),
        (OWN.replace('"python"', '"nope"').format(name="own", extension="own"), TAGS, 'unknown grammar "nope"'),
        (OWN.format(name="own", extension="own") + "[docs]\nstyle = 'x'\n", TAGS, "line 8, column 9"),
        (OWN.format(name="own", extension="own"), "\n(nothing) @definition.class", "tags.scm:2:1: the grammar has no node (nothing)"),
        (OWN.format(name="own", extension="own"), "(class_definition nope: (_) @name)", "tags.scm:1:19: the grammar has no field nope"),
        (OWN.format(name="own", extension="own"), "(class_definition", "tags.scm:1:18: missing `)`"),
        (OWN.format(name="own", extension="own"), "(block) @definition.nope", "tags.scm:1:9: @definition.nope is not a role"),
        (OWN.format(name="own", extension="own"), "(block (_) @nope)", "tags.scm:1:12: unknown capture @nope"),
        (OWN.format(name="own", extension="own"), '(block (_) @name (#lua-match? @name "x"))', "unsupported predicate"),
    ],
)  # fmt: skip
def test_mistakes_name_their_place(tmp_path: Path, settings: str, tags: str, place: str) -> None:
    folder = write(tmp_path, "own", settings, tags)
    with pytest.raises(ValueError, match="own") as raised:
        load_languages([folder])
    assert place in str(raised.value)


def test_two_languages_claim_one_extension(tmp_path: Path) -> None:
    folder = write(tmp_path, "own", OWN.format(name="own", extension="py"))
    with pytest.raises(ValueError, match=r"\"py\" is claimed by the languages own and python"):
        load_languages([folder])


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="absent"):
        Languages([str(BUILT_IN), str(tmp_path / "absent")])


@pytest.mark.parametrize(
    ("path", "module", "is_test"),
    [
        ("pkg/sub/mod.py", "pkg.sub.mod", False),
        ("pkg/__init__.py", "pkg", False),
        ("src/pkg/__init__.py", "pkg", False),
        ("src/src/a.py", "src.a", False),
        ("src.py", "src", False),
        ("__init__.py", "__init__", False),
        ("lib/src/a.py", "lib.src.a", False),
        ("pkg/a.pyi", "pkg.a", False),
        ("tests/test_a.py", "tests.test_a", True),
        ("pkg/tests/helper.py", "pkg.tests.helper", True),
        ("pkg/a_test.py", "pkg.a_test", True),
        ("conftest.py", "conftest", True),
        ("latest/contest.py", "latest.contest", False),
        ("src/app/index.ts", "src.app", False),
        ("index.js", "index", False),
        ("src/a.d.ts", "src.a", False),
        ("src/a.test.ts", "src.a.test", True),
        ("src/__tests__/a.jsx", "src.__tests__.a", True),
    ],
)
def test_module_and_test_by_path(languages: Languages, path: str, module: str, is_test: bool) -> None:
    parsed = parse_bytes(languages, path, b"")
    assert (parsed.module, parsed.is_test) == (module, is_test)


@pytest.mark.parametrize(
    ("path", "is_test"),
    [
        ("t/basic.t", True),
        ("t/lib/Helper.pm", True),
        ("cpan/Text/t/01-load.t", True),
        ("xt/pod.t", True),
        ("lib/App/Text.pm", False),
        ("t/data/page.html", True),
        ("t/t0000-basic.sh", True),
        ("i18n/t/page.html", False),
        ("testdata/message.proto", True),
        ("src/__mocks__/api.ts", True),
        ("lib/server_test.ts", True),
        ("types/index.test-d.ts", True),
        ("lib/contest.ts", False),
        ("lib/latest.js", False),
        ("src/test-loop.c", True),
        ("src/loop-test.c", True),
        ("src/latest.c", False),
        ("src/test-loop.cpp", True),
        ("src/ParserTests.cpp", True),
        ("llvm/unittests/IR/Value.cpp", True),
        ("src/HitTest.cpp", False),
        ("Shop.UnitTests/Cart.cs", True),
        ("Tests/Cart.cs", True),
        ("Shop/Contests/Cart.cs", False),
        ("src/integrationTest/java/Cart.java", True),
        ("src/main/java/org/shop/test/Client.java", False),
        ("pkg/cart_tests.py", True),
        ("sqlalchemy/testing/engines.py", False),
        ("spec/cart_spec.sh", True),
        ("Pester/Cart.Tests.ps1", True),
        ("lib/cart_test.dart", True),
        ("apps/cart_SUITE.erl", True),
        ("Sources/KitTests/Cart.m", True),
        ("features/cart.feature", True),
        ("doc/tests/defined.rst", False),
    ],
)
def test_conventions_of_test_files(languages: Languages, path: str, is_test: bool) -> None:
    assert parse_bytes(languages, path, b"").is_test == is_test


def test_paths_in_order_with_reasons(languages: Languages, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside.py").write_text("secret = 1\n")
    (root / "a.py").write_text("def a(): pass\n")
    (root / "big.py").write_text("x = 1\n" * 100)
    (root / "out.py").symlink_to(tmp_path / "outside.py")
    (root / "in.py").symlink_to(root / "a.py")
    (root / "loop.py").symlink_to(root / "loop.py")
    (root / "folder.py").mkdir()
    paths = ["big.py", "a.py", "out.py", "../outside.py", "in.py", "gone.py", "loop.py", "folder.py", "a.py"]
    results = parse_paths(languages, str(root), paths, max_bytes=100)
    shown = [result.path if isinstance(result, ParsedFile) else result for result in results]
    assert [item.split(" (")[0] for item in shown] == [
        "unreadable: larger than 100 bytes",
        "a.py",
        "unreadable: a symbolic link",
        "unreadable: leads out of the project",
        "unreadable: a symbolic link",
        "unreadable: No such file or directory",
        shown[6].split(" (")[0],
        "unreadable: not a regular file",
        "a.py",
    ]
    assert shown[6].startswith("unreadable: ")


def test_batches_equal_single_files(languages: Languages) -> None:
    root = Path(__file__).parents[2] / "atlas"
    paths = sorted(str(path.relative_to(root)) for path in root.rglob("*.py"))
    for path, parsed in zip(paths, parse_paths(languages, str(root), paths), strict=True):
        assert isinstance(parsed, ParsedFile)
        assert parsed.to_bytes() == parse_bytes(languages, path, (root / path).read_bytes()).to_bytes()
        assert not parsed.problems


def test_facts_survive_as_bytes(languages: Languages) -> None:
    parsed = parse_bytes(languages, "a.py", b"class A:\n    def f(self): return self.g(1)\n")
    again = ParsedFile.from_bytes(parsed.to_bytes())
    assert again.to_json() == parsed.to_json()
    assert (again.path, again.digest, again.size, again.lines) == (parsed.path, parsed.digest, 43, 2)
    for damaged in (b"", b"\x00", parsed.to_bytes()[:-3], b"\xff" * 40):
        with pytest.raises(ValueError, match="not the facts of a file"):
            ParsedFile.from_bytes(damaged)


def test_content_that_must_not_be_indexed_has_no_facts(languages: Languages) -> None:
    generated = b"# Code generated by tool. DO NOT EDIT.\ndef f(): pass\n"
    parsed = parse_bytes(languages, "a.py", generated)
    assert (parsed.skip_reason, parsed.is_generated) == ("generated", False)
    asked = parse_bytes(languages, "a.py", generated, generated=True)
    assert (asked.skip_reason, asked.is_generated) == ("", True)
    assert parse_bytes(languages, "a.js", b"\x7fELF" + b"\0" * 100).skip_reason == "binary"
