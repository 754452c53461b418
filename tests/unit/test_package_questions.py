"""Questions about packages: what is asked, of which package and project; other questions are left alone."""

from __future__ import annotations

import pytest

from atlas.code.graph.declarations import Declaration, names_of
from atlas.code.question.package_questions import PackageAspect, PackageQuestion, find_package_question

LIST, VERSION, DEPENDS, DEPENDENTS, UNUSED = (
    PackageAspect.LIST,
    PackageAspect.VERSION,
    PackageAspect.DEPENDS,
    PackageAspect.DEPENDENTS,
    PackageAspect.UNUSED,
)


@pytest.mark.parametrize(
    ("text", "asks", "package", "project", "kinds"),
    [
        ("what does this project depend on", LIST, "", "", ()),
        ("What are the dependencies of this project?", LIST, "", "", ()),
        ("list all dependencies", LIST, "", "", ()),
        ("dev dependencies", LIST, "", "", ("development",)),
        ("which dev dependencies does the project have", LIST, "", "", ("development",)),
        ("show me the optional dependencies", LIST, "", "", ("optional",)),
        ("which third party packages does this project use", LIST, "", "", ()),
        ("what do we depend on at runtime", LIST, "", "", ("runtime",)),
        ("which packages are needed for testing", LIST, "", "", ("development",)),
        ("dependencies of packages/core", LIST, "", "packages/core", ()),
        ("what does packages/core depend on", LIST, "", "packages/core", ()),
        ("peer dependencies of web", LIST, "", "web", ("peer",)),
        ("which version of requests is used", VERSION, "requests", "", ()),
        ("which version of requests is used/locked", VERSION, "requests", "", ()),
        ("what version of `serde` does the project require", VERSION, "serde", "", ()),
        ("which version of lodash is packages/a using", VERSION, "lodash", "packages/a", ()),
        ("what version of the react package is pinned in the lockfile", VERSION, "react", "", ()),
        ("which requests version do we use", VERSION, "requests", "", ()),
        ("which version of fast-check is used in development", VERSION, "fast-check", "", ("development",)),
        ("which version of pgx v5 is required", VERSION, "pgx/v5", "", ()),
        ("which dependencies are only for development", LIST, "", "", ("development",)),
        ("which test dependencies does the pom declare", LIST, "", "", ("development",)),
        ("requests version", VERSION, "requests", "", ()),
        ("is requests pinned", VERSION, "requests", "", ()),
        ("does this project depend on requests", DEPENDS, "requests", "", ()),
        ("does packages/core depend on lodash", DEPENDS, "lodash", "packages/core", ()),
        ("do we use lodash", DEPENDS, "lodash", "", ()),
        ("is lodash a dev dependency", DEPENDS, "lodash", "", ("development",)),
        ("which packages depend on serde", DEPENDENTS, "serde", "", ()),
        ("what depends on @babel/core", DEPENDENTS, "@babel/core", "", ()),
        ("who imports yaml", DEPENDENTS, "yaml", "", ()),
        ("who uses yaml", DEPENDENTS, "yaml", "", ()),
        ("where is yaml imported", DEPENDENTS, "yaml", "", ()),
        ("which files import yaml", DEPENDENTS, "yaml", "", ()),
        ("why do we need mio", DEPENDENTS, "mio", "", ()),
        ("unused dependencies", UNUSED, "", "", ()),
        ("which dependencies are never imported", UNUSED, "", "", ()),
        ("are there any unused dependencies", UNUSED, "", "", ()),
    ],
)
def test_questions_about_packages(
    text: str, asks: PackageAspect, package: str, project: str, kinds: tuple[str, ...]
) -> None:
    found = find_package_question(text)
    assert found is not None
    assert found == PackageQuestion(asks, package, project, kinds, found.certain)


@pytest.mark.parametrize(
    "text",
    [
        "what does get_user call",
        "callers of save_user",
        "what does Session use",
        "how does import work",
        "unused functions in shop",
        "where is the version parsed",
        "what version is this",
        "how are dependencies resolved between modules",
        "parse requirements from a file",
    ],
)
def test_other_questions_are_left_alone(text: str) -> None:
    assert find_package_question(text) is None


def declaration(name: str, group: str = "", also: tuple[str, ...] = ()) -> Declaration:
    parts = ("p:project:.", "shop", f"e:{name}", name, False, name, name, "runtime", group, "", "", "", "")
    return Declaration(*parts, "pyproject.toml", 3, also)


def test_names_are_those_of_the_listing() -> None:
    one, other = [declaration("github.com/go-yaml/yaml.v3", "dev")], [declaration("@trpc/client")]
    for _ in range(2):
        assert names_of(one).short == {"yaml"} and names_of(one).groups == {"dev": "dev"}
        assert names_of(other).families == {"trpc"} and not names_of(other).groups
    assert names_of(other).full == {"@trpc/client": "@trpc/client"}
    # an equal listing of the next generation
    assert names_of([*one]) is not names_of(one) and names_of([*one]) == names_of(one)
