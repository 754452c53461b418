"""The part of a project that a title names in front of a colon."""

from __future__ import annotations

import time

import pytest

from atlas.code.rank.paths import FOLDER, PART, component_share, read_components


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("httputil: reject duplicate headers", ("httputil",)),
        ("[PATCH] nl80211: fix the length", ("nl80211",)),
        ("feat(cookies): keep the port", ("cookies",)),
        ("net/http: keep the port", ("net/http",)),
        ("compat,build: read the first entry", ("compat", "build")[:1]),
        ("lib: xmlparse.c: free the model", ("lib", "xmlparse.c")),
        ("fix: keep the port", ()),
        ("ValueError: no dots in the domain", ()),
        ("Expected: a list", ()),
        ("CVE-2024-12345: keep the port", ()),
        ("the jar keeps this: a port", ()),
        ("see https://example.org/a", ()),
        ("httputil", ()),
    ],
)
def test_components_stand_before_a_colon(title: str, names: tuple[str, ...]) -> None:
    assert read_components(title) == names


@pytest.mark.parametrize(
    ("path", "name", "share"),
    [
        ("src/httputil.py", "httputil", 1.0),
        ("src/HttpUtil.py", "httputil", 1.0),
        ("src/xmlparse.c", "xmlparse.c", 1.0),
        ("src/net/http/server.go", "net/http", FOLDER),
        ("src/net/http.go", "net/http", 1.0),
        ("src/net/http.go", "net/http.go", 1.0),
        ("src/mynet/http.go", "net/http", 0.0),
        ("src/httputil/read.py", "httputil", FOLDER),
        ("common/flatpak-run.c", "run", PART),
        ("common/prune.c", "run", 0.0),
    ],
)
def test_paths_of_a_component(path: str, name: str, share: float) -> None:
    assert component_share(path, (name,)) == share


def test_no_component_lifts_nothing() -> None:
    assert component_share("a.py", ()) == 0.0


@pytest.mark.parametrize("text", ["a" * 200_000, "[" * 200_000, "a, " * 60_000, "(a" * 60_000, "[x] " * 50_000])
def test_hostile_titles_are_quick(text: str) -> None:
    started = time.perf_counter()
    read_components(text)
    assert time.perf_counter() - started < 1
