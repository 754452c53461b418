"""Configuration files that change: what depends on them is linked again, nothing else, and the result is that of a clean link."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from atlas import _parser

sys.path.insert(0, str(Path(__file__).parent))

from test_cases import LANGUAGES, PROJECT, parse

WEB = {
    "tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}',
    "src/a.ts": "export function a() {}\n",
    "lib/a.ts": "export function a() {}\n",
    "main.ts": 'import { a } from "@/a"\nexport function f() { a() }\n',
    "plain.ts": 'import { a } from "./src/a"\nexport function g() { a() }\n',
    "package.json": '{"name": "web", "dependencies": {"x": "1"}}',
    "base.json": "{}",
}
JVM = {
    "one/pom.xml": "<project><artifactId>one</artifactId></project>",
    "two/pom.xml": "<project><artifactId>two</artifactId></project>",
    "app/pom.xml": "<project><artifactId>app</artifactId></project>",
    "one/U.java": "package p;\npublic class U { void f() {} }\n",
    "two/U.java": "package p;\npublic class U { void f() {} }\n",
    "app/M.java": "package q;\nimport p.U;\nclass M { void m(U u) { u.f(); } }\n",
}
PROJECTS = [("one", "maven", "one"), ("two", "maven", "two"), ("app", "maven", "app")]


def linker_of(files: Mapping[str, str]) -> _parser.Linker:
    linker = _parser.Linker(PROJECT, LANGUAGES)
    linker.set_subprojects([project for project in PROJECTS if f"{project[0]}/pom.xml" in files])
    linker.update([parse(path, text.encode()) for path, text in files.items()])
    return linker


def calls(linker: _parser.Linker, path: str) -> list[tuple[str, str]]:
    """Return the targets of the calls of a file, with the rule."""
    found = [(edge[1], edge[4]) for edge in linker.unit(path).edges() if edge[2] == "CALLS"]
    return sorted((target.removeprefix(f"{PROJECT}:"), rule) for target, rule in found)


def changed(files: dict[str, str], path: str, text: str) -> tuple[_parser.Linker, list[str]]:
    """Change a file; return the linker, which is checked against a clean one, and the paths of the changed units."""
    linker = linker_of(files)
    paths = linker.update([parse(path, text.encode())])
    assert linker.digests() == linker_of({**files, path: text}).digests()
    return linker, paths


def test_another_path_of_an_alias() -> None:
    assert calls(linker_of(WEB), "main.ts") == [("src.a.a", "import")]
    linker, paths = changed(WEB, "tsconfig.json", WEB["tsconfig.json"].replace("src", "lib"))
    assert calls(linker, "main.ts") == [("lib.a.a", "import")]
    assert "main.ts" in paths
    assert "plain.ts" not in paths


def test_a_file_that_is_extended() -> None:
    files = {**WEB, "tsconfig.json": '{"extends": "./tsconfig.base.json"}', "tsconfig.base.json": WEB["tsconfig.json"]}
    assert calls(linker_of(files), "main.ts") == [("src.a.a", "import")]
    linker, _ = changed(files, "tsconfig.base.json", WEB["tsconfig.json"].replace("src", "lib"))
    assert calls(linker, "main.ts") == [("lib.a.a", "import")]
    linker, _ = changed(files, "tsconfig.json", "{}")
    assert calls(linker, "main.ts") == [("ext:@/a.a", "import")]


def test_versions_of_dependencies_change_nothing_else() -> None:
    _, paths = changed(WEB, "package.json", WEB["package.json"].replace('"1"', '"2"'))
    assert not {"main.ts", "plain.ts"} & set(paths)


def test_a_dependency_decides_between_equal_names() -> None:
    assert calls(linker_of(JVM), "app/M.java") == [("p.U.f", "equal-name"), ("p.U.f@two/U.java", "equal-name")]
    needs = "<project><artifactId>app</artifactId><dependencies><dependency><groupId>g</groupId><artifactId>{}</artifactId></dependency></dependencies></project>"
    for name, target in (("one", "p.U.f"), ("two", "p.U.f@two/U.java")):
        linker, _ = changed(JVM, "app/pom.xml", needs.format(name))
        assert calls(linker, "app/M.java") == [(target, "annotation")]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"extends": "./tsconfig.json"}',
        '{"extends": ["../../../etc/tsconfig.json", "a/b"]}',
        '{"compilerOptions": {"baseUrl": "../..", "paths": {"*": ["../../*"], "@/*": "x", "a*b*": ["c"], "": [""]}}}',
    ],
)
def test_odd_settings_change_no_relative_import(text: str) -> None:
    linker, _ = changed(WEB, "tsconfig.json", text)
    assert calls(linker, "plain.ts") == [("src.a.a", "import")]
    assert calls(linker, "main.ts") != [("src.a.a", "import")]


def test_status_of_a_decision_and_the_modules_that_it_affects() -> None:
    text = "# 1. Use f\n\n## Status\n\nSuperseded by 3\n\n## Decision\n\nSee `pkg/b.py` and `pkg.a`.\n"
    files = {"adr/0001-f.md": text, "pkg/__init__.py": "", "pkg/a.py": "def f(): pass\n", "pkg/b.py": "def g(): pass\n"}
    linker = linker_of(files)
    unit = linker.unit("adr/0001-f.md")
    (properties,) = [row[24] for row in unit.nodes() if row[1] == "ADR"]
    assert json.loads(properties)["status"] == "superseded"
    targets = {edge[1].removeprefix(f"{PROJECT}:") for edge in unit.edges() if edge[2] == "AFFECTS"}
    assert targets == {"pkg.a", "pkg.b", "pkg/b.py"}


def test_a_project_contains_its_packages_and_these_their_modules() -> None:
    files = {
        "src/pkg/__init__.py": "",
        "src/pkg/a.py": "",
        "src/pkg/sub/__init__.py": "",
        "src/pkg/sub/b.py": "",
        "run.py": "",
    }
    linker = linker_of(files)
    units = [linker.unit(path) for path in linker.digests()]
    labels = {row[0]: row[1] for unit in units for row in unit.nodes()}
    contains = {(edge[0], edge[1]) for unit in units for edge in unit.edges() if edge[2] == "CONTAINS"}
    found = {
        tuple(uid.removeprefix(f"{PROJECT}:") for uid in (project, package, module))
        for project, package in contains
        for inner, module in contains
        if inner == package and (labels[project], labels[package], labels[module]) == ("Project", "Package", "Module")
    }
    assert {module for *_, module in found} == {"pkg.a"} or found == {("project:.", "src.pkg", "src.pkg.a")}
    assert any(labels[inner] == labels[package] == "Package" for inner, package in contains)


SBT = {
    "build.sbt": "lazy val one = project\nlazy val two = project\nlazy val app = project.dependsOn(two)\n",
    "one/U.scala": "package p\nclass U { def f(): Int = 1 }\n",
    "two/U.scala": "package p\nclass U { def f(): Int = 2 }\n",
    "app/M.scala": "package q\nimport p.U\nclass M { def m(u: U): Int = u.f() }\n",
}


def test_projects_that_a_build_declares() -> None:
    assert calls(linker_of(SBT), "app/M.scala") == [("p.U.f@two/U.scala", "annotation")]
    linker, paths = changed(SBT, "build.sbt", SBT["build.sbt"].replace("(two)", "(one)"))
    assert calls(linker, "app/M.scala") == [("p.U.f", "annotation")]
    assert "app/M.scala" in paths
    linker, _ = changed(SBT, "build.sbt", "// nothing\n")
    assert calls(linker, "app/M.scala") == [("p.U.f", "annotation")]
    linker, _ = changed({**SBT, "build.sbt": ""}, "build.sbt", SBT["build.sbt"])
    assert calls(linker, "app/M.scala") == [("p.U.f@two/U.scala", "annotation")]
