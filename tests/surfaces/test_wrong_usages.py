"""Wrong usages of the command line: each says in one line what is wrong, in a second one what to do, and ends as stated."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests import raw_database

from .processes import COMMAND, REPOSITORY, Place, atlas, environment

WRONG = (
    ("serach beta", 2, "Did you mean 'search'?", "atlas --help"),
    ("stats", 2, "Did you mean 'status'?", "atlas --help"),
    ("grep beta", 2, "No such command 'grep'.", "Run: atlas search QUERY"),
    ("init", 2, "No such command 'init'.", "Run: atlas index"),
    ("help", 2, "No such command 'help'.", "Run: atlas --help"),
    ("callers beta", 2, "No such command 'callers'.", "Run: atlas search --relation callers --of NAME"),
    ("path alpha beta", 2, "No such command 'path'.", "Run: atlas search --relation path --of NAME --to NAME"),
    ("notes grep beta", 2, "No such command 'grep'.", "See `atlas notes --help`"),
    ("search --relation callers", 2, "relation callers needs `of` (--of)", "--of Cart.save"),
    ("search --relation path --of alpha", 2, "relation path needs `to` (--to)", "--to Cart.save"),
    ("daemon start . /no/such", 2, "no such folder: /no/such", "Give the folder of a project"),
    ("search beta --langauge python", 2, "Possible options: --language", "atlas search --help"),
    ("search beta --limit", 2, "requires an argument", "atlas search --help"),
    ("search beta --limit ten", 2, "it must be a whole number", "atlas search --help"),
    ("search beta --limit 99", 2, "less than or equal to 50", "atlas search --help"),
    ("search beta --mode hybird", 2, "is not one of", "Did you mean hybrid?"),
    ("search ''", 2, "the query is empty", "--relation with --of"),
    ("search ( --mode regex", 2, "unclosed group", "mode exact"),
    ("search beta --cursor nonsense", 2, "the cursor is malformed", "first page"),
    ("node", 2, "Missing argument 'NAME'", "atlas node --help"),
    ("index /no/such/folder", 2, "no such folder: /no/such/folder", "folder of a project"),
    ("index pkg/one.py", 2, "not a folder: pkg/one.py", "not a file in it"),
    ("index --data-dir pkg/one.py", 2, "is not a folder (--data-dir)", "an empty one"),
    ("index --data-dir pkg", 2, "was not made by this installation", "--trust-data-dir"),
    ("cypher 'MATCH (n RETURN n'", 4, "expected `)`", ""),
    ("cypher 'CREATE (n:X) RETURN n'", 4, "CREATE is not supported", "read-only"),
    ("impact --diff nosuchrev", 3, "no Git repository", "git init"),
    ("index --quality", 2, "no sentence transformer is configured", "quality.model"),
    ("mcp --toolsets nonsense", 2, "unknown toolset 'nonsense'", "code, query, claims, memory, packs"),
    ("connect clode-code", 2, "is not one of", "claude-code"),
    ("notes show nosuch", 3, "no note 'nosuch'", "atlas notes list"),
    ("pack query nosuch how", 3, "there is no pack nosuch", "atlas pack list"),
    ("config get x", 2, "No such command 'get'", "atlas config --help"),
    ("man nosuch", 2, "unexpected extra argument", "atlas man --help"),
    ("daemon start --project /no/such", 2, "no such folder: /no/such", "folder of a project"),
)
VARIABLES = (
    ("ATLAS_SEARCH_LIMIT", "many", "must be a whole number, not 'many'", "Hits per answer"),
    ("ATLAS_SEARCH_LIMT", "3", "unknown variable ATLAS_SEARCH_LIMT", "Did you mean ATLAS_SEARCH_LIMIT?"),
    ("ATLAS_SERCH_LIMIT", "3", "unknown variable ATLAS_SERCH_LIMIT", "Did you mean ATLAS_SEARCH_LIMIT?"),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A project of one file with an index."""
    folder = tmp_path_factory.mktemp("wrong")
    made = Place(folder / "shop", folder / "data")
    (made.root / "pkg").mkdir(parents=True)
    (made.root / "pkg" / "one.py").write_text("def alpha():\n    return beta()\n\n\ndef beta():\n    return 1\n")
    assert atlas("index", *made.options).returncode == 0
    return made


def told(done: subprocess.CompletedProcess[str]) -> tuple[str, str]:
    """The line that says what is wrong and the one that says what to do; there is no traceback."""
    lines = done.stderr.splitlines()
    assert "Traceback" not in done.stderr and "This is a bug" not in done.stderr
    errors = [line for line in lines if line.startswith("error: ")]
    assert len(errors) == 1, done.stderr
    return errors[0], "".join(line for line in lines if line.startswith("hint:  "))


@pytest.mark.parametrize(("words", "code", "error", "hint"), WRONG, ids=[one[0] for one in WRONG])
def test_a_wrong_usage_says_what_is_wrong_and_what_to_do(
    place: Place, words: str, code: int, error: str, hint: str
) -> None:
    done = atlas(*shlex.split(words), cwd=place.root, env={"ATLAS_PROJECT_NAME": "shop"})
    said, then = told(done)
    assert error in said and hint in then
    assert done.returncode == code


@pytest.mark.parametrize(("name", "value", "error", "hint"), VARIABLES)
def test_a_variable_with_a_slip_is_named(place: Place, name: str, value: str, error: str, hint: str) -> None:
    done = atlas("search", "beta", *place.options, env={name: value})
    said, then = told(done)
    assert error in said and hint in then and done.returncode == 2


def test_a_variable_of_another_program_is_none_of_ours(place: Place) -> None:
    done = atlas("node", "beta", *place.options, env={"ATLAS_REGION": "north", "ATLAS_SEARCHLIGHT": "on"})
    assert "pkg/one.py:5" in done.stdout and not done.stderr


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("[search\nlimit = 3\n", "Expected ']'"),
        ('[search]\nlimit = "ten"\n', "search.limit must be a whole number, not 'ten'"),
        ("[search]\nlimt = 3\n", "unknown setting search.limt (did you mean search.limit?)"),
        ("[serach]\nlimit = 3\n", "unknown section serach (did you mean search?)"),
        ('[embedder]\nmodel = "x"\n', "embedder.model cannot be set by a project's file"),
    ],
)
def test_a_mistake_in_a_projects_file_is_a_warning(place: Place, text: str, warning: str) -> None:
    (place.root / "atlas.toml").write_text(text)
    try:
        done = atlas("node", "beta", *place.options)
        assert done.stderr.startswith("warning: ignored: ") and warning in done.stderr
        assert "pkg/one.py:5" in done.stdout and done.returncode == 0
    finally:
        (place.root / "atlas.toml").unlink()


@pytest.mark.parametrize(
    ("version", "next_step"), [("99", "A newer Code Atlas made it: upgrade this one"), ("1", "Rebuild it")]
)
def test_an_index_of_another_version_says_what_to_do(tmp_path: Path, version: str, next_step: str) -> None:
    made = Place(tmp_path / "shop", tmp_path / "data")
    made.root.mkdir()
    (made.root / "a.py").write_text("def alpha(): pass\n")
    assert atlas("index", *made.options).returncode == 0
    connection = raw_database.raw(made.data / "atlas.db")
    connection.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (version,))
    connection.close()
    for words in (("node", "alpha"), ("index",)):
        done = atlas(*words, *made.options)
        said, then = told(done)
        assert f"has schema {version}" in said and next_step in then and "atlas index --full" in then
        assert done.returncode == 6
    assert atlas("index", "--full", *made.options).returncode == 0
    assert "a.py:1" in atlas("node", "alpha", *made.options).stdout


def test_a_disk_that_is_mounted_for_reading_is_named(tmp_path: Path) -> None:
    disk, root = tmp_path / "disk", tmp_path / "shop"
    disk.mkdir()
    root.mkdir()
    (root / "a.py").write_text("def alpha(): pass\n")
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("needs the right to mount")
    try:
        options = ("--project", str(root), "--data-dir", str(disk / "data"))
        assert atlas("index", *options).returncode == 0
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        said, then = told(atlas("node", "alpha", *options))
        assert "is on a disk that cannot be written" in said and "--data-dir" in then
        said, _ = told(atlas("index", *options))
        assert "Read-only file system" in said
    finally:
        subprocess.run(["umount", disk], check=True)


def test_without_the_compiled_part_nothing_is_called_a_bug(tmp_path: Path, place: Place) -> None:
    copy = tmp_path / "atlas"
    copy.mkdir()
    for entry in (REPOSITORY / "atlas").iterdir():
        if not entry.name.startswith("_parser."):
            (copy / entry.name).symlink_to(entry)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import atlas.cli.main as m; m.main()"
    variables = {name: value for name, value in environment().items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [COMMAND[0], "-P", "-c", code, "node", "beta", *place.options],
        env=variables,
        capture_output=True,
        text=True,
        timeout=60,
    )
    said, then = told(done)
    assert "the compiled part of Code Atlas is missing" in said and "pip install ." in then
    assert done.returncode == 2


def test_a_project_without_a_file_that_is_read_says_so(tmp_path: Path) -> None:
    made = Place(tmp_path / "photos", tmp_path / "data")
    made.root.mkdir()
    (made.root / "one.png").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    assert "No file was indexed; `atlas status --skipped` shows why." in atlas("index", *made.options).stdout
    assert "no file of photos is indexed; `status` with skipped" in atlas("search", "beta", *made.options).stdout
    assert "no file of the project is indexed -> atlas status --skipped" in atlas("health", *made.options).stdout
