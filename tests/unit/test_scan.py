"""The scan against git itself, and every reason for which a file or folder is left out."""

import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import atlas
from atlas._parser import Languages
from atlas.core.errors import ConfigError
from atlas.parsing.scanning import Scan, Scope, scan_project

LANGUAGES = Languages([str(Path(atlas.__file__).parent / "languages")])


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of its own, so that nobody's git settings count."""
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


def write(root: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def git(root: Path, *arguments: str) -> str:
    command = [
        "git",
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.org",
        "-c",
        "protocol.file.allow=always",
        *arguments,
    ]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout


def git_files(root: Path) -> list[str]:
    listed = git(root, "ls-files", "-z", "--others", "--cached", "--exclude-standard")
    return sorted({path for path in listed.split("\0") if path and (root / path).is_file() and "/." not in f"/{path}"})


def scanned(root: Path, scope: Scope | None = None) -> Scan:
    return scan_project(root, LANGUAGES, scope)


def paths(root: Path, scope: Scope | None = None) -> list[str]:
    return [file.path for file in scanned(root, scope).files]


def reasons(root: Path, scope: Scope | None = None) -> dict[str, str]:
    return {skip.path: skip.reason for skip in scanned(root, scope).skipped}


# --- git's rules ----------------------------------------------------------------------------------------------------

FOLDERS = st.sampled_from(["", "a/", "b/", "a/b/", "a/b/a/", "b/a/"])
FILES = st.builds(str.__add__, FOLDERS, st.sampled_from(["x.py", "y.py", "z w.py", "é.py", "#x.py", "!x.py"]))
PATTERNS = st.sampled_from(
    [
        *[
            "x.py",
            "/x.py",
            "*.py",
            "?.py",
            "[xy].py",
            "[!x].py",
            "a",
            "a/",
            "/a",
            "b/",
            "a/b",
            "a/x.py",
            "/a/*",
            "a/*/x.py",
        ],
        *["**/b", "b/**", "a/**/x.py", "**", "*", "/*", "/*/", "z w.py", "z\\ w.py", "x.py ", "x.py\\ ", "#x.py"],
        *["\\#x.py", "\\!x.py", "", "  ", "é.py", "*/x.py", "**/a/**", "a**", "[", "a\\", "X.PY"],
        *["!x.py", "!*.py", "!a/", "!a", "!/a/b", "!b/**", "!a/x.py", "!/*/", "!**/y.py", "!é.py"],
    ]
)
IGNORES = st.dictionaries(FOLDERS, st.lists(PATTERNS, max_size=5), max_size=4)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.sets(FILES, min_size=1, max_size=12), IGNORES, st.lists(PATTERNS, max_size=3), st.data())
def test_any_tree_gives_the_files_that_git_lists(
    files: set[str], ignores: dict[str, list[str]], private: list[str], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write(root, dict.fromkeys(files, "x = 1\n"))
        write(root, {f"{place}.gitignore": "\n".join(lines) for place, lines in ignores.items()})
        git(root, "init", "-q")
        (root / ".git/info/exclude").write_text("\n".join(private), encoding="utf-8")
        tracked = sorted(data.draw(st.sets(st.sampled_from(sorted(files))), label="tracked"))
        if tracked:
            git(root, "add", "-f", "--", *[f":(literal){path}" for path in tracked])
        assert paths(root) == git_files(root)


def test_a_subfolder_of_a_repository_obeys_the_rules_above_it(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "*.gen.py\n/pkg/old/\n", "pkg/a.py": "", "pkg/b.gen.py": "", "pkg/old/c.py": ""})
    git(tmp_path, "init", "-q")
    assert paths(tmp_path / "pkg") == ["a.py"]
    assert reasons(tmp_path / "pkg") == {"b.gen.py": "gitignore", "old/": "gitignore"}


def test_a_root_that_the_repository_around_it_ignores_stands_alone(tmp_path: Path) -> None:
    write(
        tmp_path,
        {".gitignore": "*\n", "projects/one/a.py": "", "projects/one/.gitignore": "b.py\n", "projects/one/b.py": ""},
    )
    git(tmp_path, "init", "-q")
    assert paths(tmp_path) == []
    assert paths(tmp_path / "projects/one") == ["a.py"]


def test_an_ignored_folder_is_reported_once_and_not_entered(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "out/\n", "out/deep/a.py": "", "out/b.py": "", "c.py": ""})
    git(tmp_path, "init", "-q")
    assert reasons(tmp_path) == {".gitignore": "hidden", "out/": "gitignore"}


def test_tracked_files_are_not_ignored_in_linked_work_trees_and_with_compressed_indexes(tmp_path: Path) -> None:
    main, linked = tmp_path / "main", tmp_path / "linked"
    write(main, {".gitignore": "lib/\n", "lib/kept.py": "", "lib/sub/kept.py": "", "a.py": ""})
    git(main, "init", "-q")
    git(main, "add", "-f", ".")
    git(main, "commit", "-qm", "first")
    git(main, "update-index", "--index-version", "4")
    git(main, "worktree", "add", "-q", str(linked))
    (main / ".git/info/exclude").write_text("private.py\n", encoding="utf-8")
    for root in (main, linked):
        write(root, {"lib/new.py": "", "lib/sub/new.py": "", "lib/other/new.py": "", "private.py": ""})
        assert paths(root) == git_files(root) == ["a.py", "lib/kept.py", "lib/sub/kept.py"]
        assert reasons(root)["lib/other/"] == "gitignore"


def test_nested_repositories_have_their_own_rules(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "x.py\n", "x.py": "", "sub/x.py": "", "sub/y.py": "", "sub/.gitignore": "y.py\n"})
    git(tmp_path, "init", "-q")
    git(tmp_path / "sub", "init", "-q")
    assert paths(tmp_path) == ["sub/x.py"]


def test_submodules_are_files_of_the_project(tmp_path: Path) -> None:
    library, project = tmp_path / "library", tmp_path / "project"
    write(library, {"code.py": "", "made.py": "", ".gitignore": "made.py\n"})
    git(library, "init", "-q")
    git(library, "add", ".")
    git(library, "commit", "-qm", "first")
    write(project, {"main.py": ""})
    git(project, "init", "-q")
    git(project, "submodule", "--quiet", "add", str(library), "vendor/library")
    write(project, {"vendor/library/made.py": ""})
    assert paths(project) == [".gitmodules", "main.py", "vendor/library/code.py"]


def test_personal_excludes_count_in_repositories_only(tmp_path: Path, home: Path) -> None:
    write(home, {".config/git/ignore": "notes.py\n"})
    write(tmp_path, {"notes.py": "", "a.py": ""})
    assert paths(tmp_path) == ["a.py", "notes.py"]
    git(tmp_path, "init", "-q")
    assert paths(tmp_path) == git_files(tmp_path) == ["a.py"]


def test_ignore_files_count_without_git(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "a.py\n", "sub/.gitignore": "!a.py\n", "a.py": "", "sub/a.py": "", "b.py": ""})
    assert paths(tmp_path) == ["b.py", "sub/a.py"]


def test_git_rules_can_be_switched_off(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "a.py\n", ".atlasignore": "b.py\n", "a.py": "", "b.py": ""})
    git(tmp_path, "init", "-q")
    assert paths(tmp_path, Scope(git_rules=False)) == ["a.py"]


# --- own rules ------------------------------------------------------------------------------------------------------


def test_atlasignore_leaves_out_more_and_never_less(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "a.py\n", ".atlasignore": "!a.py\nold/\nb*.py\n", "sub/.atlasignore": "!b1.py\n"})
    write(tmp_path, dict.fromkeys(["a.py", "b1.py", "old/c.py", "sub/b1.py", "sub/b2.py", "d.py"], ""))
    assert paths(tmp_path) == ["d.py", "sub/b1.py"]
    found = reasons(tmp_path)
    assert (found["a.py"], found["b1.py"], found["old/"], found["sub/b2.py"]) == (
        *("gitignore", "atlasignore", "atlasignore", "atlasignore"),
    )


def test_atlasignore_counts_for_tracked_files_too(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "lib/\n", ".atlasignore": "lib/\na.py\n", "lib/b.py": "", "a.py": "", "c.py": ""})
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-f", ".")
    assert paths(tmp_path) == ["c.py"]


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        (["src/"], [], ["src/a.py", "src/deep/b.py", "tests/src/d.py"]),
        (["/src/"], [], ["src/a.py", "src/deep/b.py"]),
        (["src/**"], [], ["src/a.py", "src/deep/b.py"]),
        (["src/*.py"], [], ["src/a.py"]),
        (["src/deep/b.py", "tests/c.py"], [], ["src/deep/b.py", "tests/c.py"]),
        (["*.py", "!tests/**"], [], ["src/a.py", "src/deep/b.py"]),
        (["a.py"], [], ["src/a.py"]),
        ([], ["tests/"], ["src/a.py", "src/deep/b.py"]),
        ([], ["**/deep", "c.py"], ["src/a.py", "tests/src/d.py"]),
        (["/src/**"], ["deep/"], ["src/a.py"]),
    ],
)
def test_scope(tmp_path: Path, include: list[str], exclude: list[str], expected: list[str]) -> None:
    write(tmp_path, dict.fromkeys(["src/a.py", "src/deep/b.py", "tests/c.py", "tests/src/d.py"], ""))
    assert paths(tmp_path, Scope(tuple(include), tuple(exclude))) == expected
    assert set(reasons(tmp_path, Scope(tuple(include), tuple(exclude))).values()) == {"scope"}


def test_reasons(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            **dict.fromkeys(["ok.py", ".env", "deploy/server.pem", "id_rsa", ".npmrc", "config/secrets.yaml"], ""),
            **dict.fromkeys(["flake.lock", "app.min.js", "api_pb2.py", ".hidden.py", ".idea/a.py", "logo.png"], ""),
            **dict.fromkeys(["node_modules/x/a.py", "web/node_modules/b.py", "__pycache__/c.py"], ""),
            **dict.fromkeys(["env/pyvenv.cfg", "env/lib/d.py", "target/CACHEDIR.TAG", "target/e.py"], ""),
            "big.py": "#" * 2000,
        },
    )
    (tmp_path / "link.py").symlink_to("ok.py")
    assert paths(tmp_path, Scope(max_bytes=1999)) == ["ok.py"]
    assert reasons(tmp_path, Scope(max_bytes=1999)) == {
        **dict.fromkeys([".env", ".npmrc", "config/secrets.yaml", "deploy/server.pem", "id_rsa"], "secret"),
        **dict.fromkeys(["__pycache__/", "env/", "node_modules/", "target/", "web/node_modules/"], "dependencies"),
        **{".idea/": "hidden", ".hidden.py": "hidden", "api_pb2.py": "generated", "app.min.js": "minified"},
        **{"big.py": "too-large", "link.py": "symlink", "logo.png": "language", "flake.lock": "lock-file"},
    }
    assert paths(tmp_path, Scope(generated=True)) == ["api_pb2.py", "big.py", "ok.py"]


def test_text_without_definitions_is_indexed_unless_it_is_data_or_a_copy(tmp_path: Path) -> None:
    kept = [
        *[".eslintrc.json", ".github/workflows/ci.yml", ".pre-commit-config.yaml", "Dockerfile.test", "LICENSE-MIT"],
        *["app/schema.sql", "src/main.hs", "templates/base.html", "tests/fixtures/lexer.zig"],
    ]
    left = {
        **{"big.json": "data", "tests/fixtures/users.json": "data", "one-line.yaml/": "", "prod.secrets.yml": "secret"},
        **{"a.egg-info/deps.toml": "generated", "third_party/x/config.toml": "vendored", ".vscode/": "hidden"},
    }
    del left["one-line.yaml/"]
    write(tmp_path, dict.fromkeys([*kept, *(path for path in left if not path.endswith("/"))], "a: 1\n"))
    write(tmp_path, {"big.json": '{"a": 1}\n' * 15_000, ".vscode/settings.json": "{}"})
    assert paths(tmp_path) == kept
    assert reasons(tmp_path) == left
    assert paths(tmp_path, Scope(plain_text=False)) == []
    assert set(reasons(tmp_path, Scope(plain_text=False)).values()) == {"plain-text", "secret", "hidden"}


def test_the_data_folder_and_gits_own_are_not_even_skipped(tmp_path: Path) -> None:
    write(tmp_path, {".atlas/a.py": "", "a.py": ""})
    git(tmp_path, "init", "-q")
    assert reasons(tmp_path) == {}


def test_a_root_that_looks_like_a_dependency_is_still_a_root(tmp_path: Path) -> None:
    root = tmp_path / "node_modules"
    write(root, {"pyvenv.cfg": "", "a.py": ""})
    assert paths(root) == ["a.py", "pyvenv.cfg"]


def test_symlink_loops_end(tmp_path: Path) -> None:
    write(tmp_path, {"a/b/c.py": ""})
    (tmp_path / "a/b/up").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "outside").symlink_to("/")
    assert paths(tmp_path) == ["a/b/c.py"]
    assert reasons(tmp_path) == dict.fromkeys(["a/b/up", "outside", "self"], "symlink")


def test_a_linked_root_is_followed(tmp_path: Path) -> None:
    write(tmp_path / "real", {"a.py": ""})
    (tmp_path / "link").symlink_to("real")
    assert paths(tmp_path / "link") == ["a.py"]


def test_pipes_sockets_and_names_that_are_no_text(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(tmp_path / "socket.py"))
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.py")).write_text("")
    except OSError:
        pytest.skip("the file system takes UTF-8 names only")
    write(tmp_path, {"line\nbreak.py": "", "back\\slash.py": ""})
    assert paths(tmp_path) == ["back\\slash.py"]
    assert reasons(tmp_path) == {
        "pipe.py": "special",
        "socket.py": "special",
        "caf\ufffd.py": "unreadable",
        "line\ufffdbreak.py": "control-characters",
    }


@contextmanager
def without_privileges() -> Iterator[None]:
    """Drop root's rights for a while: root reads everything."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


def test_unreadable_folders_are_reported_or_refused() -> None:
    # Not below tmp_path, which only its owner can enter.
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        root.chmod(0o755)
        write(root, {"closed/a.py": "", "b.py": ""})
        (root / "closed").chmod(0)
        with without_privileges():
            assert paths(root) == ["b.py"]
            assert reasons(root) == {"closed/": "unreadable"}
            with pytest.raises(ConfigError, match="cannot be read"):
                scanned(root / "closed")
        (root / "closed").chmod(0o755)


def test_programs_without_extension_are_known_by_their_first_line(tmp_path: Path) -> None:
    first = "#!/usr/bin/env python3\n"
    write(tmp_path, {"run": first, "run.2": first, "copied": first, "copied.2": first, "other": "text"})
    for name in ("run", "run.2", "other"):
        (tmp_path / name).chmod(0o755)
    assert [(file.path, file.language) for file in scanned(tmp_path).files] == [
        (path, "python") for path in ("copied", "run", "run.2")
    ]


def test_files_carry_language_size_and_time(tmp_path: Path) -> None:
    write(tmp_path, {"b.py": "x = 1\n", "a/é.py": ""})
    os.utime(tmp_path / "b.py", ns=(1, 1_700_000_000_123_456_789))
    files = scanned(tmp_path).files
    assert [file.path for file in files] == ["a/é.py", "b.py"]
    assert (files[1].language, files[1].size, files[1].mtime_ns) == ("python", 6, 1_700_000_000_123_456_789)


def test_deep_and_wide_trees(tmp_path: Path) -> None:
    deep = "/".join(["d"] * 300)
    write(tmp_path, {f"{deep}/a.py": "", **{f"w/{number}.py": "" for number in range(1000)}})
    assert len(paths(tmp_path)) == 1001


# --- sub-projects ---------------------------------------------------------------------------------------------------


def test_subprojects(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "pyproject.toml": "[project]\nname = 'whole'\n",
            "web/package.json": '{"name": "@team/web"}',
            "web/setup.py": "setup(name='web')",
            "web/setup.cfg": "[metadata]\nname = web-cfg\n",
            "api/go.mod": "module example.org/api\n",
            "core/Cargo.toml": "[package]\nname = 'core'\n",
            "app/pom.xml": "<project><artifactId>app</artifactId></project>",
            "net/Net.Core.csproj": "<Project/>",
            "php/composer.json": "not json",
            "node_modules/x/package.json": '{"name": "x"}',
            "ignored/package.json": '{"name": "y"}',
            ".gitignore": "ignored/\n",
        },
    )
    assert [(sub.folder, sub.kind, sub.name) for sub in scanned(tmp_path).subprojects] == [
        ("", "python", "whole"),
        ("api", "go", "example.org/api"),
        ("app", "maven", "app"),
        ("core", "rust", "core"),
        ("net", "dotnet", "Net.Core"),
        ("php", "php", "php"),
        ("web", "npm", "@team/web"),
        ("web", "python", "web-cfg"),
    ]


# --- bad roots and scopes -------------------------------------------------------------------------------------------


def test_bad_roots_are_settings_errors(tmp_path: Path) -> None:
    write(tmp_path, {"file": ""})
    with pytest.raises(ConfigError, match="does not exist") as missing:
        scanned(tmp_path / "missing")
    with pytest.raises(ConfigError, match="not a folder"):
        scanned(tmp_path / "file")
    assert missing.value.hint


def test_a_glob_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"a\{b"):
        scanned(tmp_path, Scope(exclude=("a{b",)))


def test_an_empty_folder_is_an_empty_project(tmp_path: Path) -> None:
    scan = scanned(tmp_path)
    assert (list(scan.files), list(scan.skipped), list(scan.subprojects)) == ([], [], [])


def test_the_folder_of_notes_is_scanned_although_hidden(tmp_path: Path) -> None:
    files = {
        "src/a.py": "",
        ".knowledge/claims/a.md": "",
        ".knowledge/tool.py": "",
        ".knowledge/.obsidian/b.md": "",
        ".knowledge/private/c.md": "",
        ".knowledge/.env.md": "",
        ".other/d.md": "",
        "src/.knowledge/e.md": "",
    }
    write(tmp_path, {**files, ".gitignore": "private/\n"})
    git(tmp_path, "init", "--quiet")
    languages = Languages([str(Path(atlas.__file__).parent / "languages")], ".knowledge")

    def found(scope: Scope | None = None, only: list[str] | None = None) -> dict[str, str]:
        return {file.path: file.language for file in scan_project(tmp_path, languages, scope, only).files}

    notes = {".knowledge/claims/a.md": "note"}
    assert found() == {"src/a.py": "python", ".knowledge/tool.py": "python", **notes}
    assert found(Scope(include=("src/**",))) == {"src/a.py": "python", **notes}
    assert found(Scope(exclude=(".knowledge/**",))) == {"src/a.py": "python"}
    assert found(only=[".knowledge/claims"]) == notes
    assert ".knowledge/claims/a.md" not in {file.path for file in scanned(tmp_path).files}
    write(tmp_path, {".atlasignore": ".knowledge/\n"})
    assert found() == {"src/a.py": "python"}
