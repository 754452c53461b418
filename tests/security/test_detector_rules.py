"""Rules of detectors from a repository or a package: data that may be wrong or hostile, and never runs."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from atlas import _parser
from atlas.code.index.detectors import MAX_OWN_BYTES, built_in, installed, of_project
from atlas.parsing import load_languages

RULE = """languages = ["python"]
words = ["x("]

[[rules]]
kind = "handles"
query = '''{query}'''
event = [0]
event_kind = "message"
"""
NESTED = "(call function: (identifier) @name) " * 20


@pytest.mark.parametrize(
    "text",
    [
        "languages = [",
        'unknown = "key"',
        RULE.format(query="(call"),
        RULE.format(query="(no_such_node) @name"),
        RULE.format(query='(call (#match? @name "(a+)+$"))'),
        RULE.format(query="(" * 5000),
        RULE.format(query=NESTED * 8),
        RULE.format(query="(identifier) @name").replace('kind = "handles"', 'kind = "run"'),
        RULE.format(query="(identifier) @name").replace("words", "words_"),
        RULE.format(query="(_) @name"),
        'languages = ["python"]\nwords = ["x"]\n' + '[[rules]]\nshape = "call"\n' * 201,
        "#" * 70_000,
    ],
)
def test_broken_rules_are_an_error_that_names_their_file(text: str) -> None:
    with pytest.raises(ValueError, match="own"):
        load_languages(detectors=[*built_in(), ("own", text)])


def test_rules_outside_of_the_project_are_not_read(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "outside.toml").write_text("words = []")
    (root / "link.toml").symlink_to(tmp_path / "outside.toml")
    (root / "folder").symlink_to(tmp_path)
    (root / "large.toml").write_text("#" * (MAX_OWN_BYTES + 1))
    (root / "bytes.toml").write_bytes(b"\xff\xfe")
    for path in ("../outside.toml", str(tmp_path / "outside.toml"), "link.toml", "folder/outside.toml", "large.toml"):
        assert of_project(root, path) == []
    assert of_project(root, "bytes.toml") == []


def test_a_query_that_matches_everywhere_ends(tmp_path: Path) -> None:
    rule = RULE.format(query="(call function: (_) @name arguments: (argument_list (_) @event))").replace(
        "[0]", '["@event"]'
    )
    languages = load_languages(detectors=[*built_in(), ("own", rule)])
    source = ("x('a')\n" * 30_000).encode()
    linker = _parser.Linker("p", languages)
    linker.update([_parser.parse_bytes(languages, "a.py", source)])
    edges = [edge for path in linker.digests() for edge in linker.unit(path).edges() if edge[2] == "HANDLES_EVENT"]
    assert len(edges) == 1


def test_an_installed_distribution_contributes_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution with an entry point, in a folder as an installer leaves it."""
    package = tmp_path / "shop_rules"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "consumers.toml").write_text(RULE.format(query="(call function: (identifier) @name)"))
    information = tmp_path / "shop_rules-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: shop-rules\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[code_atlas.detectors]\nshop = shop_rules\n")
    assert installed() == []
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    importlib.invalidate_caches()
    assert [name for name, _ in installed()] == ["consumers"]
    shutil.move(information, tmp_path / "removed")
    assert installed() == []
    shutil.move(tmp_path / "removed", information)
    script = "from atlas.code.index.detectors import installed; print([name for name, _ in installed()])"
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={"PYTHONPATH": f"{tmp_path}"}
    )
    assert ran.stdout.strip() == "['consumers']", ran.stderr
