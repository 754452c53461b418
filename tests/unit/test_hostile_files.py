"""No special file, link or huge file in a tree can hang the scan or the parser, fill memory, or have another file read.

What could hang runs in a child process that a timeout ends.
"""

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from atlas._parser import Languages, ParsedFile, digest_paths, parse_paths, read_path, read_small
from atlas.parsing.parse import BUILT_IN
from atlas.parsing.scanning import scan_project

pytestmark = pytest.mark.slow

LANGUAGES = Languages([str(BUILT_IN)])
ROOT = Path(__file__).parents[2]
SPARSE = 5 << 30
GIT_FILES = [".git/index", ".git/info/exclude", ".git/commondir", ".git/config"]
RULES = [".gitignore", ".atlasignore"]
MANIFESTS = ["package.json", "pyproject.toml", "Cargo.toml", "setup.py", "setup.cfg", "go.mod", "pom.xml", "a.csproj"]
NAMES = [*RULES, *MANIFESTS, ".gitmodules", "named.py", "program"]

LOOK = """
import resource, sys
from pathlib import Path
from atlas._parser import Languages, digest_paths, parse_paths, read_path
from atlas.code.index.watch.git_rules import rule_files
from atlas.parsing.parse import BUILT_IN
from atlas.parsing.scanning import scan_project

LANGUAGES = Languages([str(BUILT_IN)])
root = Path(sys.argv[1])
scan = scan_project(root, LANGUAGES)
scan_project(root / "inside", LANGUAGES)
rule_files(root)
names = ["a.py", *sys.argv[2:]]
parse_paths(LANGUAGES, str(root), names)
digest_paths(str(root), names)
assert read_path(str(root), "a.py", 100) == b"x = 1\\n"
status = Path("/proc/self/status")
if status.exists():
    # unlike ru_maxrss it does not begin with the parent's memory
    print(int(status.read_text().partition("VmHWM:")[2].split()[0]) >> 10)
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 20)
print([file.path for file in scan.files])
print(sorted(skip.path for skip in scan.skipped))
"""


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home folder of its own, so that nobody's git settings count."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


def tree(root: Path, *, git: bool = True) -> Path:
    (root / "inside").mkdir(parents=True)
    (root / "a.py").write_text("x = 1\n")
    (root / "inside" / "b.py").write_text("x = 2\n")
    (root / "kept.log.py").write_text("x = 3\n")
    if git:
        (root / ".git" / "info").mkdir(parents=True)
        (root / ".gitignore").write_text("*.log.py\n")
    return root


def look(root: Path, *names: str) -> tuple[list[str], list[str]]:
    """Scan and parse in a child process; return the files and the skipped paths."""
    run = [sys.executable, "-c", LOOK, str(root), *names]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    memory, files, skipped = done.stdout.splitlines()
    # the child itself has some 30 MB
    assert int(memory) < 300
    return eval(files), eval(skipped)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def zero(path: Path) -> None:
    path.symlink_to("/dev/zero")


def outside(path: Path) -> None:
    secret = path.parent.parent / "outside-secret"
    secret.write_text("*\n")
    path.symlink_to(secret)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(SPARSE)
    path.chmod(0o755)


def listener(path: Path) -> None:
    # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as bound, contextlib.chdir(path.parent):
        bound.bind(path.name)


def loop(path: Path) -> None:
    path.symlink_to(path.name)


TRAPS = [pipe, zero, sparse, listener, loop]


@pytest.mark.parametrize("trap", TRAPS)
def test_gits_own_files(tmp_path: Path, trap: Callable[[Path], None]) -> None:
    for name in (".git", ".git/info"):
        root = tree(tmp_path / name.replace("/", "-"), git=name != ".git")
        if name == ".git/info":
            (root / name).rmdir()
        trap(root / name)
        files, _ = look(root, ".git", name)
        assert [path for path in files if path != "kept.log.py"] == ["a.py", "inside/b.py"]
    root = tree(tmp_path / "all")
    for name in GIT_FILES:
        trap(root / name)
    files, _ = look(root, *GIT_FILES)
    # private excludes of 5 GB cannot be obeyed, so nothing may be indexed
    assert files == ([] if trap is sparse else ["a.py", "inside/b.py"])


@pytest.mark.parametrize("trap", TRAPS)
@pytest.mark.parametrize("folder", ["", "inside/"])
def test_files_of_the_tree(tmp_path: Path, folder: str, trap: Callable[[Path], None]) -> None:
    root = tree(tmp_path / "root")
    (root / ".gitignore").unlink()
    names = [name for name in NAMES if not (trap is sparse and name in RULES)]
    for name in names:
        trap(root / folder / name)
    files, _ = look(root, *(folder + name for name in names))
    assert files == ["a.py", "inside/b.py", "kept.log.py"]


@pytest.mark.parametrize("folder", ["", "inside/"])
@pytest.mark.parametrize("name", RULES)
def test_rules_that_are_too_large_to_obey(tmp_path: Path, folder: str, name: str) -> None:
    root = tree(tmp_path / "root")
    (root / ".gitignore").unlink()
    sparse(root / folder / name)
    files, skipped = look(root)
    assert (folder or "/") in skipped
    assert files == (["a.py", "kept.log.py"] if folder else [])


@pytest.mark.parametrize("trap", [pipe, zero, sparse])
def test_ignore_files_above_the_root(tmp_path: Path, trap: Callable[[Path], None]) -> None:
    root = tree(tmp_path / "root")
    (root / ".gitignore").unlink()
    trap(root / ".gitignore")
    (root / "inside" / "a.py").write_text("x = 1\n")
    (root / "inside" / "inside").mkdir()
    files, skipped = look(root / "inside")
    assert (files, skipped) == (([], ["/"]) if trap is sparse else (["a.py", "b.py"], []))


@pytest.mark.parametrize(
    "target", ["/dev/zero", "../pipe", ".git", "other", "x" * 5000, "/" * 60_000, "x" * 10_000_000, "", "\0", "\udcff"]
)
def test_a_gitfile_may_name_anything(tmp_path: Path, target: str) -> None:
    root = tree(tmp_path / "root", git=False)
    os.mkfifo(tmp_path / "pipe")
    (root / "other").write_text("gitdir: .git\n")
    (root / ".git").write_bytes(b"gitdir: " + os.fsencode(target) + b"\n")
    assert "a.py" in look(root)[0]


def test_a_folder_named_by_a_gitfile_may_hold_anything(tmp_path: Path) -> None:
    for trap in TRAPS:
        for name in ("commondir", "index", "info"):
            root = tree(tmp_path / f"{trap.__name__}-{name}", git=False)
            (root / "other").mkdir()
            (root / ".git").write_text("gitdir: other\n")
            trap(root / "other" / name)
            assert "a.py" in look(root)[0]
    (root / "other" / "commondir").write_text("../other/../" * 1000 + "/dev")
    assert "a.py" in look(root)[0]


def test_the_configuration_of_a_repository_is_not_read(tmp_path: Path) -> None:
    root = tree(tmp_path / "root")
    os.mkfifo(root / "pipe")
    (root / "all").write_text("*\n")
    (root / ".git/config").write_text(f"[core]\n\texcludesFile = {root}/all\n[include]\n\tpath = {root}/pipe\n")
    assert look(root)[0] == ["a.py", "inside/b.py"]


@pytest.mark.parametrize(
    "head",
    [
        b"DIRC\0\0\0\2\xff\xff\xff\xff",
        b"DIRC\0\0\0\4\xff\xff\xff\xff" + bytes(62) + b"\xff" * 40,
        b"DIRC\0\0\0\4\xff\xff\xff\xff" + bytes(62) + b"\0" + b"a" * 100_000,
        b"DIRC\0\0\0\2\0\0\0\1" + bytes(60),
        b"DIRC",
        b"",
    ],
)
def test_an_index_may_claim_anything(tmp_path: Path, head: bytes) -> None:
    root = tree(tmp_path / "root")
    (root / ".git/index").write_bytes(head)
    assert look(root)[0] == ["a.py", "inside/b.py"]
    with (root / ".git/index").open("ab") as file:
        file.truncate(1 << 30)
    assert look(root)[0] == ["a.py", "inside/b.py"]


def test_an_index_cannot_name_more_paths_than_fit_into_memory(tmp_path: Path) -> None:
    root = tree(tmp_path / "root")
    # version 4: each entry repeats the 4,000 bytes of the one before, and adds one
    first = bytes(62) + b"\0" + b"a" * 4000 + b"\0"
    entries = (bytes(62) + b"\4" + f"{number:04}".encode() + b"\0" for number in range(1, 10_000))
    count = 150_000
    body = first + b"".join(entries)
    for _ in range(4):
        body += body[len(first) :]
    (root / ".git/index").write_bytes(b"DIRC\0\0\0\4" + count.to_bytes(4, "big") + body)
    assert look(root)[0] == ["a.py", "inside/b.py"]


@pytest.mark.parametrize(
    "line", ["*a" * 2000, "?" * 1000, "name{n}", "a/**/{n}*/c", "[a-z]*" * 50 + "{n}", "{a,b}" * 500]
)
@pytest.mark.parametrize("name", [".gitignore", ".atlasignore", ".git/info/exclude"])
def test_millions_of_patterns(tmp_path: Path, name: str, line: str) -> None:
    root = tree(tmp_path / "root")
    lines = [line.replace("{n}", str(number)) for number in range(3_900_000 // len(line))]
    (root / name).write_text("\n".join(lines))
    files, skipped = look(root)
    assert (files, skipped) == ([], ["/"]), "what is ignored is not known, so nothing may be indexed"


def test_many_ignore_files_share_one_budget(tmp_path: Path) -> None:
    root = tree(tmp_path / "root")
    rules = "\n".join(f"*a{number}*b?c[x]*d" for number in range(2_000))
    for number in range(100):
        folder = root / "many" / f"folder{number}"
        folder.mkdir(parents=True)
        (folder / ".gitignore").write_text(rules)
        (folder / "deeper").mkdir()
        (folder / "deeper" / "c.py").write_text("x = 1\n")
    files, skipped = look(root)
    assert {"a.py", "inside/b.py"} <= set(files)
    assert any(path.startswith("many/") for path in skipped)
    assert any(path.startswith("many/") for path in files)


def test_ordinary_large_ignore_files_are_obeyed(tmp_path: Path) -> None:
    root = tree(tmp_path / "root")
    (root / ".gitignore").write_text("\n".join([*(f"/build/{number}/*.o" for number in range(5_000)), "kept.*"]))
    assert look(root)[0] == ["a.py", "inside/b.py"]


def test_folders_deeper_than_a_path_can_be(tmp_path: Path) -> None:
    root = tree(tmp_path / "root")
    before = Path.cwd()
    os.chdir(root / "inside")
    try:
        for _ in range(5_000):
            Path("d").mkdir()
            os.chdir("d")
        Path("deep.py").write_text("x = 1\n")
    finally:
        os.chdir(before)
    try:
        files, skipped = look(root)
        assert files == ["a.py", "inside/b.py"]
        assert f"inside/{'d/' * 512}" in skipped
    finally:
        subprocess.run(["rm", "-rf", str(root / "inside")], check=True)


def test_a_folder_of_many_names(tmp_path: Path) -> None:
    root = tree(tmp_path / "root")
    (root / "inside" / "many").mkdir()
    for number in range(50_000):
        (root / "inside" / "many" / f"{number}.dat").touch()
    files, skipped = look(root)
    assert (files, len(skipped)) == (["a.py", "inside/b.py"], 50_002)


# --- between the scan and the read ----------------------------------------------------------------------------------


def swap(path: Path, trap: Callable[[Path], None]) -> None:
    path.unlink()
    trap(path)


@pytest.mark.parametrize("trap", [pipe, zero, outside, loop, listener])
def test_a_file_replaced_after_the_scan_is_not_read(tmp_path: Path, trap: Callable[[Path], None]) -> None:
    root = tree(tmp_path / "root")
    assert [file.path for file in scan_project(root, LANGUAGES).files] == ["a.py", "inside/b.py"]
    swap(root / "inside" / "b.py", trap)
    look(root, "inside/b.py")
    (reason,) = parse_paths(LANGUAGES, str(root), ["inside/b.py"])
    assert isinstance(reason, str)
    assert digest_paths(str(root), ["inside/b.py"]) == [""]
    assert read_path(str(root), "inside/b.py", 100) is None


def test_a_folder_replaced_by_a_link_after_the_scan_is_not_followed(tmp_path: Path) -> None:
    root = tree(tmp_path / "root")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "b.py").write_text("secret = 1\n")
    (root / "inside" / "b.py").unlink()
    (root / "inside").rmdir()
    (root / "inside").symlink_to(elsewhere)
    (reason,) = parse_paths(LANGUAGES, str(root), ["inside/b.py"])
    assert isinstance(reason, str)
    assert digest_paths(str(root), ["inside/b.py"]) == [""]
    assert read_path(str(root), "inside/b.py", 100) is None
    scan = scan_project(root, LANGUAGES, only=["inside/b.py"])
    assert not scan.files


def test_hard_links_are_files(tmp_path: Path) -> None:
    root = tree(tmp_path / "root")
    (root / "inside" / "c.py").hardlink_to(root / "a.py")
    assert "inside/c.py" in [file.path for file in scan_project(root, LANGUAGES).files]
    (parsed,) = parse_paths(LANGUAGES, str(root), ["inside/c.py"])
    assert isinstance(parsed, ParsedFile)


def test_reading_is_bounded(tmp_path: Path) -> None:
    root = tree(tmp_path / "root")
    assert read_path(str(root), "a.py", 6) == b"x = 1\n"
    assert read_path(str(root), "a.py", 5) is None
    for path in ("../root/a.py", "/etc/hostname", "inside", "", ".", "inside/../a.py", "gone.py", "a.py/x", "a\0b"):
        assert read_path(str(root), path, 100) is None, path
    sparse(root / "large.py")
    assert read_path(str(root), "large.py", 1 << 20) is None
    assert read_small(str(root / "a.py"), 6) == b"x = 1\n"
    assert read_small("/dev/zero", 6) is None
