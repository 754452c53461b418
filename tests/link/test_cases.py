"""The linker on small projects: expected and forbidden edges, and incremental == clean on each of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from atlas import _parser
from atlas.code.index.detectors import built_in
from atlas.parsing import load_languages

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from case_files import Case, read_cases  # noqa: E402

LANGUAGES = load_languages(detectors=built_in())
CASES = [case for path in sorted((HERE / "cases").glob("*.md")) for case in read_cases(path)]
PROJECT = "p"

Edges = list[tuple[str, str, str, str, tuple[int, ...]]]


def parse(path: str, data: bytes) -> _parser.ParsedFile:
    return _parser.parse_bytes(LANGUAGES, path, data)


def link(case: Case) -> _parser.Linker:
    linker = _parser.Linker(PROJECT, LANGUAGES)
    linker.set_subprojects(case.subprojects)
    linker.update([parse(path, data) for path, data in case.files.items()])
    return linker


def edges_of(linker: _parser.Linker) -> Edges:
    prefix = len(PROJECT) + 1
    return [
        (source[prefix:], kind, target[prefix:], strategy, (line, *further))
        for path in sorted(linker.digests())
        for source, target, kind, line, strategy, _confidence, further, _properties in linker.unit(path).edges()
    ]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_edges(case: Case) -> None:
    unsupported = [path for path in case.files if LANGUAGES.of_path(path) is None]
    assert not unsupported, f"no language for {unsupported}"
    linker = link(case)
    edges = edges_of(linker)
    listing = "\n".join(
        f"{source} -{kind}-> {target}  {strategy}  @{','.join(map(str, lines))}"
        for source, kind, target, strategy, lines in edges
    )
    for expected in case.expected:
        found = [edge for edge in edges if expected.matches(edge)]
        if expected.absent:
            assert not found, f"must not be there: {found}\n{listing}"
        else:
            assert found, f"missing: {expected}\n{listing}"
    if case.open:
        rows = [row for path in linker.digests() for row in linker.unit(path).nodes()]
        properties = {row[0][len(PROJECT) + 1 :]: json.loads(row[24] or "{}") for row in rows}
        for source, name, group in case.open:
            assert group in properties[source].get("unresolved", {}).get(name, []), f"{source}: {properties[source]}"
    for path, count in case.unresolved.items():
        assert linker.unit(path).unresolved == count, f"{path}\n{listing}"


@pytest.mark.parametrize("case", [case for case in CASES if case.routes is not None], ids=lambda case: case.name)
def test_routes(case: Case) -> None:
    """All routes, and nothing else."""
    found = [
        f"{target.removeprefix('route:').partition('@')[0]} {source}"
        for source, kind, target, _strategy, _lines in edges_of(link(case))
        if kind == "HANDLES_ROUTE"
    ]
    assert sorted(found) == case.routes


@pytest.mark.parametrize("case", [case for case in CASES if case.events is not None], ids=lambda case: case.name)
def test_events(case: Case) -> None:
    words = {"HANDLES_EVENT": "handled", "EMITS_EVENT": "emitted"}
    found = [
        f"{target.removeprefix('event:').replace(':', ' ', 1)} {words[kind]} {source}"
        for source, kind, target, _strategy, _lines in edges_of(link(case))
        if kind in words
    ]
    assert sorted(found) == case.events


@pytest.mark.parametrize("case", [case for case in CASES if case.clients is not None], ids=lambda case: case.name)
def test_clients(case: Case) -> None:
    """All calls of routes, and nothing else."""
    found = [
        f"{target.removeprefix('route:')} {source} {strategy}"
        for source, kind, target, strategy, _lines in edges_of(link(case))
        if kind == "CALLS_ROUTE"
    ]
    assert sorted(found) == case.clients


@pytest.mark.parametrize("case", [case for case in CASES if case.variables is not None], ids=lambda case: case.name)
def test_variables(case: Case) -> None:
    """All places that read or set a variable of the environment, and nothing else."""
    words = {"READS_ENV": "read", "SETS_ENV": "set"}
    found = [
        f"{target.removeprefix('env:')} {words[kind]} {source} {','.join(map(str, lines))}"
        for source, kind, target, _strategy, lines in edges_of(link(case))
        if kind in words
    ]
    assert sorted(found) == case.variables


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_every_edge_has_both_ends(case: Case) -> None:
    linker = link(case)
    units = [linker.unit(path) for path in linker.digests()]
    uids = [row[0] for unit in units for row in unit.nodes()]
    assert len(uids) == len(set(uids))
    for unit in units:
        own = {row[0] for row in unit.nodes()}
        for source, target, _type, _line, strategy, *_rest in unit.edges():
            assert source in own
            # a note names its targets, which may be missing
            assert target in uids or strategy in ("stated", "anchor")


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_incremental_equals_clean(case: Case) -> None:
    """Files one by one, each taken out and put back, and each emptied and restored: always the graph of a fresh linker."""
    clean = link(case).digests()
    linker = _parser.Linker(PROJECT, LANGUAGES)
    linker.set_subprojects(case.subprojects)
    parsed = {path: parse(path, data) for path, data in case.files.items()}
    for file in reversed(list(parsed.values())):
        linker.update([file])
    assert linker.digests() == clean
    for path, file in parsed.items():
        before = linker.digests()
        linker.update([], [path])
        without = _parser.Linker(PROJECT, LANGUAGES)
        without.set_subprojects(case.subprojects)
        without.update([other for name, other in parsed.items() if name != path])
        assert linker.digests() == without.digests()
        linker.update([parse(path, b"")])
        changed = linker.update([file])
        assert linker.digests() == clean == before
        assert path in changed or case.files[path].strip() == b""


def test_calls_by_url_without_a_route_are_kept() -> None:
    """Another project of the workspace may have the route."""
    linker = _parser.Linker(PROJECT, LANGUAGES)
    text = (
        'import axios from "axios";\n'
        'const api = axios.create({ baseURL: "/api" });\n'
        "export async function load(id) {\n"
        "  await api.get(`/articles/${id}`);\n"
        '  await fetch(`${process.env.API}/users`, { method: "POST" });\n'
        '  await fetch("https://api.github.com/users");\n'
        '  await fetch("/own");\n'
        "}\n"
    )
    own = 'import express from "express";\nconst app = express();\napp.get("/own", (q, s) => s.end());\n'
    linker.update([parse("web.js", text.encode()), parse("own.js", own.encode())])
    (properties,) = [json.loads(row[24]) for row in linker.unit("web.js").nodes() if row[3] == "load"]
    assert properties == {"requests": [["GET", "/api/articles/{id}", 4], ["POST", "/{}:/users", 5]]}


def test_calls_and_routes_of_two_projects_match_by_the_linkers_rule() -> None:
    routes = [("GET", "/api/users/{id}"), ("GET", "/api/users/me"), ("POST", "/api/users"), ("GET", "/api/users")]
    calls = [("/api/users/me", "GET"), ("/{}:/users", "GET"), ("/api/users/{x}", "GET"), ("/api/users", "DELETE")]
    assert _parser.match_routes(calls, routes) == [([1], False), ([3], True), ([0], False), ([], False)]


def test_a_module_below_a_package_is_a_client() -> None:
    linker = _parser.Linker(PROJECT, LANGUAGES)
    text = (
        "import { HttpClient } from '@angular/common/http';\n"
        "export class Tags {\n  constructor(private http: HttpClient) {}\n  all() { return this.http.get('/tags'); }\n}\n"
    )
    linker.update([parse("tags.ts", text.encode())])
    (properties,) = [json.loads(row[24]) for row in linker.unit("tags.ts").nodes() if row[24]]
    assert properties == {"requests": [["GET", "/tags", 4]]}


def test_a_url_below_the_member_of_an_object_that_changes() -> None:
    """A field's URL begins with a member of an object in another file: linking that file anew links the calls anew."""
    server = b"from fastapi import FastAPI\napp = FastAPI()\n@app.get('/a/x')\ndef a(): ...\n@app.get('/b/x')\ndef b(): ...\n"
    client = (
        b"import { HttpClient } from '@angular/common/http';\nimport { env } from './env';\nclass Own {\n  url = env.base + 'x';\n"
        b"  constructor(private http: HttpClient) {}\n  all() { return this.http.get(this.url); }\n}\n"
    )
    fixed = [parse(*one) for one in (("server.py", server), ("client.ts", client))]
    linker = _parser.Linker(PROJECT, LANGUAGES)
    linker.update(fixed)
    called: list[list[str]] = []
    for base in ("base: '/a/'", "base: '/b/'", "other: '/a/'", "in: { base: '/b/' }, base: '/a/'"):
        env = parse("env.ts", f"export const env = {{ {base} }};\n".encode())
        linker.update([env])
        clean = _parser.Linker(PROJECT, LANGUAGES)
        clean.update([*fixed, env])
        assert linker.digests() == clean.digests(), base
        called.append([edge[1] for edge in linker.unit("client.ts").edges() if edge[2] == "CALLS_ROUTE"])
    assert called == [[f"{PROJECT}:route:GET /a/x"], [f"{PROJECT}:route:GET /b/x"], [], [f"{PROJECT}:route:GET /a/x"]]
