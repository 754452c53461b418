"""Dependencies: constraints.txt fits pyproject.toml everywhere, licences are read as they are meant, audits say what
they did not look up."""

from __future__ import annotations

import json
import re
import tomllib
from itertools import product

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.dist.audit import Audit, read_python, read_rust
from tests.dist.check_licences import EXCEPTIONS, is_permissive, problems, python_licences, rust_licences
from tests.dist.constraints import FILE, NO_WHEELS, PLATFORMS, PYTHONS
from tests.dist.sources import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LINES = [line for line in FILE.read_text().splitlines() if line and not line.startswith("#")]
PINS = [Requirement(line) for line in LINES]


@pytest.mark.parametrize(("python", "platform"), [*product(PYTHONS, PLATFORMS)])
def test_each_dependency_has_one_version_that_fits(python: str, platform: str) -> None:
    system, machine = PLATFORMS[platform]
    where = {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": system}
    where |= {"platform_machine": machine, "extra": ""}
    pinned: dict[str, str] = {}
    for pin in PINS:
        if pin.marker is None or pin.marker.evaluate(where):
            assert pinned.setdefault(canonicalize_name(pin.name), str(pin.specifier)) == str(pin.specifier), pin.name
    missing = NO_WHEELS.get((python, platform), frozenset())
    extras = [lines for name, lines in PROJECT["optional-dependencies"].items() if name not in missing]
    for line in (line for lines in [PROJECT["dependencies"], *extras] for line in lines):
        wanted = Requirement(line)
        version = pinned[canonicalize_name(wanted.name)].removeprefix("==")
        assert wanted.specifier.contains(version, prereleases=False), f"{line}, but {version}: make constraints"


def test_what_dependencies_need_is_pinned_too() -> None:
    pinned = {canonicalize_name(pin.name) for pin in PINS}
    assert {name for name, _ in python_licences()} <= pinned


def test_the_file_names_versions_and_no_place() -> None:
    assert all(re.fullmatch(r"[a-z0-9.-]+==[a-z0-9.+]+( ; [a-z0-9_.'=() ]+)?", line) for line in LINES)
    assert [pin.name for pin in PINS] == sorted(pin.name for pin in PINS)
    classes = [f"Programming Language :: Python :: {python}" for python in PYTHONS]
    assert classes == [line for line in PROJECT["classifiers"] if line.startswith("Programming Language :: Python :: 3.")]


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        ("MIT", True),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0-only", False),
        ("Apache-2.0 OR GPL-2.0-or-later", True),
        ("Apache-2.0 AND GPL-2.0-or-later", False),
        ("(MIT OR GPL-3.0-only) AND Unicode-3.0", True),
        ("MIT OR GPL-3.0-only AND AGPL-3.0-only", True),
        ("(MIT OR GPL-3.0-only) AND AGPL-3.0-only", False),
        ("Apache-2.0 WITH LLVM-exception OR GPL-3.0-only", True),
        ("GPL-2.0-only WITH Classpath-exception-2.0", False),
        ("BUSL-1.1", False),
        ("", False),
        ("MIT)", False),
        ("(MIT", False),
        ("MIT OR", True),
        ("MIT AND", False),
        ("MIT MIT", False),
        ("Proprietary", False),
    ],
)
def test_an_expression_is_permissive_if_it_can_be_met(licence: str, expected: bool) -> None:
    assert is_permissive(licence) == expected


def test_every_dependency_is_permissive_or_a_named_exception() -> None:
    found = dict(python_licences())
    assert problems({**found, **dict(rust_licences())}) == []
    assert set(EXCEPTIONS) <= set(found), "an exception that nothing needs goes"
    assert problems({"certifi": "GPL-3.0-only", "new": ""}) == [
        "certifi: GPL-3.0-only is not on the list of permissive licences",
        "new: no licence is not on the list of permissive licences",
    ]


def test_a_package_that_was_not_looked_up_is_not_called_safe() -> None:
    """pip-audit prints "No known vulnerabilities found" and exits with 0 when its list answers nothing."""
    lost = {"name": "h11", "skip_reason": "not found"}
    whole = {"name": "idna", "version": "3.6", "vulns": [{"id": "PYSEC-1", "fix_versions": ["3.7"]}]}
    assert read_python(json.dumps({"dependencies": [lost]}), "") == Audit(0, (), "1 packages, the first: not found")
    assert read_python(json.dumps({"dependencies": [whole]}), "") == Audit(1, ("idna 3.6: PYSEC-1, fixed in 3.7",))
    assert read_python("", "trace\nno network\n").unchecked == "no network"
    assert read_python(json.dumps({"dependencies": []}), "").unchecked
    assert read_rust("", "error: cannot fetch\n") == Audit(0, (), "error: cannot fetch")
    crate = {"package": {"name": "time", "version": "0.1.0"}, "advisory": {"id": "RUSTSEC-1"}}
    report = {"lockfile": {"dependency-count": 9}, "vulnerabilities": {"list": [crate]}}
    assert read_rust(json.dumps(report), "") == Audit(9, ("time 0.1.0: RUSTSEC-1",))
