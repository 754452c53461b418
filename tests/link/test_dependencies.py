"""Dependencies from manifests: every declared package with kind, group, range, locked version and place, and no other."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from case_files import Case
from test_cases import CASES, LANGUAGES, link, parse

from atlas import _parser

DECLARING = [case for case in CASES if case.depends]


def dependencies(linker: _parser.Linker) -> list[str]:
    unit = linker.unit("")
    names = {row[0]: row[3] if row[1] == "ExternalPackage" else row[4] for row in unit.nodes()}
    rows: list[str] = []
    for source, target, kind, line, strategy, _confidence, _further, properties in unit.edges():
        if kind != "DEPENDS_ON":
            continue
        assert strategy == "manifest"
        said = json.loads(properties)
        place = f"{said['path']}:{line}"
        fields = (
            names[source],
            names[target],
            said["kind"],
            *(said.get(key, "-") for key in ("group", "range", "locked")),
        )
        rows.append(" | ".join((*fields, place)))
        rows += [f"also {said['kind']} {names[target]} {other}" for other in said.get("also", ())]
    return sorted(" ".join(row.split()) for row in rows)


@pytest.mark.parametrize("case", DECLARING, ids=[case.name for case in DECLARING])
def test_exactly_the_declared_packages(case: Case) -> None:
    assert dependencies(link(case)) == sorted(case.depends)


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("pyproject.toml", "[project]\nname = 'a'\ndependencies = ['x',\n", 3),
        ("pyproject.toml", "[project]\ndependencies = [\n  'x',\n  '!!',\n]\n", 4),
        ("package.json", '{\n  "dependencies": {\n    "a": 1\n  }\n}\n', 3),
        ("package.json", '{\n  "dependencies": {\n', 2),
        ("Cargo.toml", "[dependencies]\nserde = \n", 2),
        ("go.mod", "module a\n\nrequire (\n\tx.org/y v1\n)\nwhat is this\n", 6),
        ("pom.xml", "<project>\n  <dependencies>\n    <dependency>\n", 3),
        ("pom.xml", '<!DOCTYPE p [<!ENTITY x "y">]>\n<project>&x;</project>\n', 1),
        ("composer.json", "[]", 1),
        ("requirements.txt", "requests\n=== conflict\n", 2),
        ("setup.py", "from setuptools import setup\nsetup(install_requires=read())\n", 2),
    ],
)
def test_a_manifest_that_cannot_be_read_is_a_problem_with_a_line(path: str, text: str, line: int) -> None:
    problems = parse(path, text.encode()).problems
    assert [problem.partition(": manifest: ")[0] for problem in problems if ": manifest: " in problem][:1] == [
        str(line)
    ]


def test_hostile_manifests_are_harmless() -> None:
    files = {
        "requirements.txt": "-r other/requirements.txt\n-r ../../../etc/passwd\na\n",
        "other/requirements.txt": "-r ../requirements.txt\n-r requirements.txt\nb\n",
        "deep.csproj": "<a>" * 50_000,
        "pom.xml": "<project><properties><p>${p}${p}</p></properties><parent><artifactId>x</artifactId><relativePath>pom.xml"
        "</relativePath></parent><artifactId>x</artifactId><dependencies><dependency><groupId>${p}</groupId><artifactId>y"
        "</artifactId></dependency></dependencies></project>",
        "package.json": '{"dependencies": ' + '{"a": ' * 20_000 + "1" + "}" * 20_001,
        "pyproject.toml": "[dependency-groups]\na = [{include-group = 'b'}]\nb = [{include-group = 'a'}, 'c']\nd = ["
        + "[" * 5_000
        + "\n",
        "setup.py": "a = b + b\nb = a + a\nsetup(install_requires=a)\n",
        "yarn.lock": "x" * 100_000 + "\n  version\n",
    }
    linker = _parser.Linker("p", LANGUAGES)
    linker.update([parse(path, text.encode()) for path, text in files.items()])
    found = dependencies(linker)
    assert [row for row in found if "requirements" in row] == [
        "project:. | a | runtime | - | - | - | requirements.txt:3",
        "project:. | b | runtime | - | - | - | other/requirements.txt:3",
    ]


def test_addresses_lose_their_credentials() -> None:
    linker = _parser.Linker("p", LANGUAGES)
    linker.update([parse("requirements.txt", b"lib @ git+https://me:hidden@host.test/lib.git\n")])
    (row,) = dependencies(linker)
    assert "hidden" not in row and "git+https://host.test/lib.git" in row


def test_imports_reach_the_declared_package_and_the_standard_library_is_apart() -> None:
    files = {
        "requirements.txt": "PyYAML\nattrs\n",
        "app.py": "import os.path\nimport yaml\nfrom attr import define\nimport numpy\nyaml.safe_load('')\n",
        "go.mod": "module example.com/m\n\nrequire github.com/a/b/v2 v2.0.0\n",
        "main.go": 'package main\n\nimport (\n\t"net/http"\n\t"github.com/a/b/v2/sub"\n)\n',
        "package.json": '{"name": "w", "dependencies": {"@s/p": "^1"}}',
        "web.ts": "import { x } from '@s/p/deep';\nimport fs from 'node:fs';\n",
        "pom.xml": "<project><groupId>g</groupId><artifactId>a</artifactId><dependencies><dependency><groupId>com.google.guava"
        "</groupId><artifactId>guava</artifactId><version>33</version></dependency></dependencies></project>",
        "A.java": "import com.google.common.collect.ImmutableList;\nimport java.util.List;\nclass A {}\n",
    }
    linker = _parser.Linker("p", LANGUAGES)
    linker.update([parse(path, text.encode()) for path, text in files.items()])
    unit = linker.unit("")
    nodes = {row[0]: (row[3], json.loads(row[24] or "{}")) for row in unit.nodes() if row[1] == "ExternalPackage"}
    contains = {(row[0], row[1]) for row in unit.edges() if row[2] == "CONTAINS"}
    assert nodes["p:ext:yaml"] == ("PyYAML", {"ecosystem": "python", "import_name": "yaml"})
    assert nodes["p:ext:attr"][0] == "attrs"
    assert nodes["p:ext:numpy"] == ("numpy", {"ecosystem": "python"})
    assert nodes["p:ext:os"][1]["standard"] == "python"
    assert nodes["p:ext:net/http"][1]["standard"] == "go"
    assert nodes["p:ext:fs"][1]["standard"] == "typescript"
    assert nodes["p:ext:java.util"][1]["standard"] == "java"
    assert ("p:ext:github.com/a/b/v2", "p:ext:github.com/a/b/v2/sub") in contains
    assert ("p:ext:com.google.guava:guava", "p:ext:com.google.common.collect") in contains
    targets = {row[1] for path in ("app.py", "web.ts") for row in linker.unit(path).edges() if row[2] == "IMPORTS"}
    assert {"p:ext:yaml", "p:ext:attr.define", "p:ext:@s/p.deep.x"} & targets
    assert "p:ext:yaml" in targets


def test_a_lock_file_is_neither_searched_nor_embedded() -> None:
    parsed = parse("poetry.lock", b'[[package]]\nname = "requests"\nversion = "2.31.0"\n')
    linker = _parser.Linker("p", LANGUAGES)
    linker.update([parsed])
    (node,) = linker.unit("poetry.lock").nodes()
    assert (node[1], node[6], node[22]) == ("File", "dependency-lock", "")


def test_projects_say_which_packages_they_provide() -> None:
    files = {
        "pyproject.toml": '[project]\nname = "shop-lib"\nversion = "1.2"\ndependencies = []\n',
        "web/package.json": '{"name": "@acme/web", "version": "2.0.0"}',
        "tools/go.mod": "module example.com/tools\n",
        "java/pom.xml": "<project><groupId>g</groupId><artifactId>a</artifactId><version>3</version></project>",
        "requirements.txt": "x\n",
    }
    linker = _parser.Linker("p", LANGUAGES)
    linker.set_subprojects([("web", "npm", "web"), ("java", "maven", "a")])
    linker.update([parse(path, text.encode()) for path, text in files.items()])
    provides = {row[4]: json.loads(row[24])["provides"] for row in linker.unit("").nodes() if row[1] == "Project"}
    assert provides == {
        "project:.": [
            ["go", "example.com/tools", "", "tools/go.mod"],
            ["python", "shop-lib", "1.2", "pyproject.toml"],
        ],
        "project:web": [["npm", "@acme/web", "2.0.0", "web/package.json"]],
        "project:java": [["maven", "g:a", "3", "java/pom.xml"]],
    }
