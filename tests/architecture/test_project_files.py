"""The files around the code parse, and say what the code does."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from atlas.cli.app import EXIT_CODES
from atlas.core.errors import AtlasError
from tests.conftest import LONGEST_FILES

ROOT = Path(__file__).parents[2]


def test_decisions_are_numbered_once_and_have_every_part() -> None:
    pages = sorted((ROOT / "adr").glob("*.md"))
    numbers = [page.name[:4] for page in pages]
    assert len(numbers) == len(set(numbers))
    for page in pages:
        text = page.read_text()
        assert re.match(rf"# {page.name[:4]} \S", text), page.name
        for part in ("Context", "Decision", "Consequences"):
            assert re.search(rf"^## {part}$", text, re.MULTILINE), f"{page.name} has no {part}"
        assert len(text.splitlines()) <= 60, f"{page.name} is longer than a page"


PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "adr").glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *ROOT.glob("atlas/**/README.md"),
]
EXAMPLES = ("tests/bench/search/PART",)
"""Paths in which a part stands for a name."""
NAMED_PATH = re.compile(r"`((?:atlas|rust-parser|tests|benchmarks|training|docs|adr)/[\w./*-]+)`")


def test_links_between_documents_lead_somewhere() -> None:
    assert len(PAGES) > 15
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_paths_that_documents_name_exist() -> None:
    named = [(page.name, path) for page in PAGES for path in NAMED_PATH.findall(page.read_text())]
    assert len(named) > 200
    missing = [one for one in named if not any(ROOT.glob(one[1])) and one[1] not in EXAMPLES]
    assert missing == []


ROOMS = sorted([*(ROOT / "atlas").glob("*/__init__.py"), *(ROOT / "atlas/code").glob("*/__init__.py")])
NO_MODULES = {"atlas", "asyncio", "claims", "memory", "to_dict"}
"""Names in stories that are no modules: a command, a library, toolsets, a function."""


@pytest.mark.parametrize("page", ROOMS, ids=lambda page: page.parent.relative_to(ROOT).as_posix())
def test_a_room_opens_with_its_story(page: Path) -> None:
    story = ast.get_docstring(ast.parse(page.read_text())) or ""
    for name in set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*)`", story)) - NO_MODULES:
        places = [one / name for one in (page.parent, ROOT / "atlas")]
        assert any(one.exists() or one.with_suffix(".py").exists() for one in places), f"there is no {name}"


def test_contributing_names_what_is_there() -> None:
    """Steps name modules and variables by their short names, which no link can check."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for name, place in (
        ("STORES", "tests/conformance/conftest.py"),
        ("HOMES", "tests/architecture/test_layers.py"),
        ("open_store", "atlas/app/store.py"),
        ("store_address", "atlas/app/bus.py"),
        ("ENDINGS", "atlas/packs/documentation/formats/reading.py"),
        ("MEDIA_TYPES", "atlas/packs/documentation/formats/reading.py"),
        ("NAMES", "tests/docs/test_any_bytes.py"),
        ("HOSTILE", "tests/docs/test_any_bytes.py"),
        ("code_atlas.detectors", "atlas/code/index/detectors/__init__.py"),
        (".atlas/detectors.toml", "atlas/runtime/config/settings.py"),
    ):
        assert f"`{name}`" in text, name
        assert name in (ROOT / place).read_text(), f"{place} has no {name}"


def test_the_size_of_the_cypher_front_end_is_as_its_decision_says() -> None:
    said = re.search(r"maintain about ([\d,]+) lines", (ROOT / "adr/0007-cypher-on-the-embedded-store.md").read_text())
    assert said
    folders = ("atlas/adapters/stores/cypher", "atlas/adapters/stores/sqlite/cypher")
    lines = sum(len(path.read_text().splitlines()) for one in folders for path in (ROOT / one).rglob("*.py"))
    assert abs(lines - int(said[1].replace(",", ""))) <= 300


def test_every_exit_code_is_documented() -> None:
    def tree(kind: type[AtlasError]) -> set[int]:
        return {kind.exit_code}.union(*map(tree, kind.__subclasses__()))

    for code in tree(AtlasError):
        assert f"{code} " in EXIT_CODES
    readme = " ".join((ROOT / "README.md").read_text().split())
    for code in (*tree(AtlasError), 130):
        assert re.search(rf"Exit codes: [^.]*\b{code} ", readme), f"README does not explain exit code {code}"


def test_the_tests_run_with_every_extra() -> None:
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = document["project"]["optional-dependencies"].values()
    assert sorted(document["dependency-groups"]["extras"]) == sorted({name for extra in extras for name in extra})


@pytest.mark.parametrize(
    "target",
    [
        "run",
        "test",
        "test-rust",
        "quick",
        "coverage",
        "docs",
        "check",
        "lint",
        "dist",
        "licences",
        "constraints",
        "audit",
    ],
)
def test_make_knows_its_targets(target: str) -> None:
    done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_no_path_of_a_developer_machine_in_tracked_files() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, timeout=60)
    if listed.returncode:
        pytest.skip("not a git checkout")
    pattern = re.compile(r"/(?:home|Users|root|work)/[a-z]+/")
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if (
            path.suffix in {".py", ".rs", ".md", ".toml", ".pyi", ".sql", ".yml"}
            and path.is_file()
            and "tests/" not in name
        ):
            assert not pattern.search(path.read_text()), name


@pytest.mark.parametrize("name", LONGEST_FILES)
def test_a_file_that_runs_early_exists(name: str) -> None:
    assert (ROOT / "tests" / name).is_file()
