"""A scan of parts of a tree is that part of the full scan; which files change what else is indexed."""

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import atlas
from atlas._parser import Languages
from atlas.parsing.scanning import Scan, Scope, changes_rules, scan_project

LANGUAGES = Languages([str(Path(atlas.__file__).parent / "languages")])


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home folder of its own, so that nobody's git settings count."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


def write(root: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


def part(root: Path, *only: str, scope: Scope | None = None) -> Scan:
    return scan_project(root, LANGUAGES, scope, only)


def found(scan: Scan) -> tuple[list[tuple[str, str, int, int]], list[tuple[str, str]]]:
    """Return what a scan found as values that can be compared."""
    files = [(file.path, file.language, file.size, file.mtime_ns) for file in scan.files]
    return files, [(skip.path, skip.reason) for skip in scan.skipped]


def expected(full: Scan, only: Sequence[str]) -> tuple[list[tuple[str, str, int, int]], list[tuple[str, str]]]:
    """Return the part of a full scan that lies at or below given paths, with the skipped folders around them."""

    def below(path: str, folder: str) -> bool:
        return folder == "" or path == folder or path.startswith(folder + "/")

    files, skipped = found(full)
    return (
        [file for file in files if any(below(file[0], path) for path in only)],
        [
            (skip, reason)
            for skip, reason in skipped
            if any(below(skip.rstrip("/"), path) or (skip[-1] == "/" and below(path, skip[:-1])) for path in only)
        ],
    )


NAMES = st.sampled_from(["a", "b", "a.b", "a-b", "x.py", "y.py", "é.py", "node_modules", ".h", "vendor"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
MARKERS = st.sampled_from(["pyvenv.cfg", "package.json", ".env", "z.min.js"])
LINES = st.sampled_from(["x.py", "a/", "/a", "!x.py", "*.py", "!a/", "b/**", "a/b", "/vendor/", "*", "!*.b/"])
RULES = st.tuples(st.sampled_from([".gitignore", ".atlasignore"]), st.lists(LINES, max_size=3).map("\n".join))
SCOPES = st.builds(Scope, include=st.sampled_from([(), ("a/",), ("/a/b/",)]), exclude=st.sampled_from([(), ("b",)]))


def grow(root: Path, files: set[str], rules: Mapping[str, tuple[str, str]], markers: Mapping[str, str]) -> list[str]:
    """Write a random tree; what would be a file and a folder at once stays what it was first. Return its files."""
    written: list[str] = []
    places = [*((path, "x = 1\n") for path in sorted(files)), *((f"{at}/{name}", "") for at, name in markers.items())]
    for path, text in [*places, *((f"{folder}/{name}", text) for folder, (name, text) in rules.items())]:
        try:
            write(root, {path: text})
        except OSError:
            continue
        written.append(str(Path(path)))
    return written


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.sets(PATHS, min_size=1, max_size=14),
    st.dictionaries(st.one_of(st.just("."), PATHS), RULES, max_size=4),
    st.dictionaries(PATHS, MARKERS, max_size=2),
    st.lists(PATHS, max_size=3),
    SCOPES,
    st.data(),
)
def test_any_part_of_any_tree_is_that_part_of_the_full_scan(
    files: set[str],
    rules: dict[str, tuple[str, str]],
    markers: dict[str, str],
    missing: list[str],
    scope: Scope,
    data: st.DataObject,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        written = grow(root, files, rules, markers)
        if data.draw(st.booleans(), label="in git"):
            git(root, "init", "-q")
            tracked = data.draw(st.sets(st.sampled_from(written)), label="tracked")
            if tracked:
                git(root, "add", "-f", "--", *sorted(tracked))
        parents = {str(parent) for path in written for parent in Path(path).parents if parent != Path()}
        real = st.sampled_from(sorted({*written, *parents}))
        only = [*missing, *data.draw(st.lists(real, max_size=4), label="only")]
        full = scan_project(root, LANGUAGES, scope)
        some = part(root, *only, scope=scope)
        assert found(some) == expected(full, only)
        assert {*some.folders} <= {*full.folders}
        wanted = [(sub.folder, sub.kind, sub.name) for sub in full.subprojects if sub.folder in some.folders]
        assert [(sub.folder, sub.kind, sub.name) for sub in some.subprojects] == wanted


def test_only_folders_that_lead_to_or_lie_below_the_given_paths_are_read(tmp_path: Path) -> None:
    write(tmp_path, dict.fromkeys(["a/b/c/x.py", "a/b/y.py", "a/other/z.py", "far/w.py", "a/b/c/d/v.py"], ""))
    assert part(tmp_path, "a/b/y.py").folders == ["", "a", "a/b"]
    assert part(tmp_path, "a/b/c").folders == ["", "a", "a/b", "a/b/c", "a/b/c/d"]
    assert part(tmp_path, "gone/x.py").folders == [""]
    assert part(tmp_path).folders == []


def test_every_folder_that_can_come_to_matter_is_named(tmp_path: Path) -> None:
    write(tmp_path, dict.fromkeys(["a/x.py", "out/deep/y.py", "env/pyvenv.cfg", "env/lib/z.py", ".hidden/w.py"], ""))
    write(tmp_path, {".gitignore": "out/\n"})
    (tmp_path / "empty").mkdir()
    # The folder with the marker too: without it its files would be indexed.
    assert scan_project(tmp_path, LANGUAGES).folders == ["", "a", "empty", "env"]


@pytest.mark.parametrize("path", ["../beside/x.py", "a/../../beside/x.py", "/etc", "..", "link/x.py", "\0", "a/x.py/b"])
def test_paths_that_are_not_in_the_tree_yield_nothing(tmp_path: Path, path: str) -> None:
    write(tmp_path, {"root/a/x.py": "", "beside/x.py": ""})
    (tmp_path / "root/link").symlink_to("../beside")
    assert found(part(tmp_path / "root", path)) == ([], [])


@pytest.mark.parametrize("path", ["", ".", "./", "a/.."])
def test_the_root_is_the_whole_tree(tmp_path: Path, path: str) -> None:
    write(tmp_path, {"a/x.py": "", "b.txt": ""})
    whole = part(tmp_path, path)
    assert found(whole) == (found(scan_project(tmp_path, LANGUAGES)) if ".." not in path else ([], []))


def test_names_that_are_no_text_are_found_as_the_full_scan_reports_them(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    try:
        (tmp_path / name).write_text("")
    except OSError:
        pytest.skip("the file system takes UTF-8 names only")
    assert found(part(tmp_path, name)) == found(scan_project(tmp_path, LANGUAGES))


def test_a_file_becomes_tracked_between_two_looks(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "x.py\n", "x.py": ""})
    git(tmp_path, "init", "-q")
    for _ in range(2):
        assert found(part(tmp_path, "x.py")) == ([], [("x.py", "gitignore")])
        git(tmp_path, "add", "-f", "x.py")
        assert [file.path for file in part(tmp_path, "x.py").files] == ["x.py"]
        git(tmp_path, "rm", "-q", "--cached", "x.py")


@pytest.mark.parametrize(
    "path",
    [
        *[".gitignore", "a/b/.gitignore", ".atlasignore", "a/.atlasignore", "atlas.toml"],
        *[".git", "a/.git", ".git/index", ".git/info/exclude", "sub/.git/index"],
        *["pyproject.toml", "web/package.json", "Core.csproj", "env/pyvenv.cfg", "cache/CACHEDIR.TAG"],
    ],
)
def test_files_that_change_the_rules(path: str) -> None:
    assert changes_rules(path)


@pytest.mark.parametrize(
    "path",
    [
        "a.py",
        "a/atlas.toml",
        ".git/HEAD",
        "x.git/index",
        "index",
        "info/exclude",
        ".gitignore/a",
        "package.json.py",
        "",
    ],
)
def test_files_that_do_not(path: str) -> None:
    assert not changes_rules(path)
