"""The crates of the Rust workspace: dependencies point down, one crate has unsafe code, each begins with a page."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUST = ROOT / "rust-parser"
CRATES = tomllib.loads((RUST / "Cargo.toml").read_text())["workspace"]["members"]


def floors() -> list[set[str]]:
    """The chain of crates in ARCHITECTURE.md, the lowest floor first."""
    chain = re.search(r"```\n(py  ->  [^`]*)```", (ROOT / "ARCHITECTURE.md").read_text())
    assert chain
    return [set(re.split(r"\s*\|\s*", floor.strip())) for floor in reversed(chain[1].split("->"))]


def test_dependencies_of_crates_point_down() -> None:
    order = floors()
    assert sorted(crate for floor in order for crate in floor) == sorted(CRATES)
    below: set[str] = set()
    for floor in order:
        for crate in floor:
            named = tomllib.loads((RUST / crate / "Cargo.toml").read_text()).get("dependencies", {})
            ours = {name.removeprefix("atlas-") for name in named if name.startswith("atlas-")}
            assert ours <= below, f"{crate} depends on {sorted(ours - below)}, which are not below it"
        below |= floor


def test_one_crate_has_unsafe_code() -> None:
    lints = {
        crate: re.findall(r"#!\[(\w+)\(unsafe_code\)\]", (RUST / crate / "src/lib.rs").read_text()) for crate in CRATES
    }
    # the macros of PyO3 allow themselves what is unsafe, which `forbid` would refuse
    assert {crate for crate, found in lints.items() if found == ["forbid"]} == {*CRATES} - {"sys", "py"}
    assert (lints["sys"], lints["py"]) == ([], ["deny"])
    allowing = {
        path.relative_to(RUST).parts[0] for path in RUST.glob("*/src/**/*.rs") if "allow(unsafe" in path.read_text()
    }
    assert not allowing


@pytest.mark.parametrize("crate", CRATES)
def test_crate_begins_with_an_overview_and_an_example(crate: str) -> None:
    page, _, _ = (RUST / crate / "src/lib.rs").read_text().partition("\n\n")
    assert all(line.startswith("//!") for line in page.splitlines())
    assert page.count("//! ```") == 2, "an overview and one example"
