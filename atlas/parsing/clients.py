"""Calls by URL as the rules for clients read them, with what the graph does not keep: parameters inside of paths."""

from __future__ import annotations

import json
import re
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from atlas._parser import Languages, Linker, ParsedFile, parse_bytes
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import NodeRow
from atlas.parsing.together import SECONDS, TIMEOUT_MS

MARK = "/-end-of-url-"
"""A segment behind each path: a path that is only a parameter is a path then, too."""
MAX_DEPTH = 50
MAX_HEAD = 2_000
"""Bytes from the beginning of a function within which its parameters are."""
_EMPTY_DEFAULT = lazy_regex(rb"\b([A-Za-z_]\w{0,60})(?: ?: ?\w{1,40})?( ?= ?(?:\"\"|''))")
_PROJECT = "clients"
_NAME = lazy_regex(r"[A-Za-z_$][\w$]*")
_NAMED = lazy_regex("\x01([^\x01\x02]*)\x02")
"""Names in a text, as the facts mark them."""
_SHAPES = ("method-call", "call")
_CLIENT = lazy_regex(r'^kind = "client"$', re.MULTILINE)


class ClientCall(NamedTuple):
    """A call by URL."""

    source: NodeRow
    """The function around it; its uid is that of no index."""
    parameters: tuple[str, ...]
    """Names of the function's parameters, in order."""
    line: int
    rules: str
    """Name of the rules that found it."""
    methods: str
    receiver: str
    written: str
    """The path as it is written, with `{name}` for names."""
    path: str
    """The path as the linker accepts it; "" if it is that of another server, or of an object that is no client."""


def marked(rules: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return rules for clients only, by (name, TOML text), whose paths end with `MARK`."""
    texts = [(name, _CLIENT.sub(f'kind = "client"\nsuffix = "{MARK}"', text)) for name, text in rules]
    return [(name, text) for name, text in texts if MARK in text or "[shapes." in text]


def read_client_calls(languages: Languages, files: Mapping[str, bytes]) -> list[ClientCall]:
    """Return the calls by URL in files, in the order of paths and lines. Raises TimeoutError if that takes too long."""
    end = time.monotonic() + SECONDS
    parsed: list[ParsedFile] = []
    for path in sorted(files):
        if time.monotonic() > end:
            raise TimeoutError(f"{len(files)} files take longer than {SECONDS:.0f} s")
        one = parse_bytes(languages, path, files[path], timeout_ms=TIMEOUT_MS)
        if '"<str>"' in (facts := one.to_json()) and (text := _without_defaults(facts, files[path])) != files[path]:
            one = parse_bytes(languages, path, text, timeout_ms=TIMEOUT_MS)
        parsed += [one] if not one.skip_reason else []
    linker = Linker(_PROJECT, languages, low_memory=True)
    linker.update(parsed)
    return [call for one in parsed for call in _calls(one, linker)]


def _without_defaults(facts: str, text: bytes) -> bytes:
    """Return a text with blanks for empty texts as defaults of parameters: callers mostly give them a value."""
    for one in json.loads(facts)["definitions"]:
        names = {each["name"].encode() for each in one["params"] if each["default"] == "<str>"}
        head = one["start_byte"], min(one["end_byte"], one["start_byte"] + MAX_HEAD)
        for found in _EMPTY_DEFAULT.finditer(text, *head) if names else ():
            if found[1] in names:
                start, end = found.span(2)
                text = text[:start] + b" " * (end - start) + text[end:]
    return text


def _calls(parsed: ParsedFile, linker: Linker) -> Iterator[ClientCall]:
    facts: dict[str, Any] = json.loads(parsed.to_json())
    detections = [one for one in facts["detections"] if one["kind"] == "Client"]
    if not detections:
        return
    nodes = [NodeRow._make(row) for row in linker.unit(parsed.path).nodes()]
    modules = [node for node in nodes if node.label in ("Module", "File")]
    by_place = {(node.line, node.name.partition("#")[0]): node for node in reversed(nodes) if node not in modules}
    definitions = {one["path"]: one for one in facts["definitions"]}
    accepted = [one for node in nodes for one in _requests(node)]
    for one in detections:
        source, parameters = _around(one["scope"], definitions, by_place)
        path = _accepted(one, accepted)
        if source is None and not modules:
            continue
        yield ClientCall(
            source=source or modules[0],
            parameters=parameters,
            line=one["line"],
            rules=one["framework"],
            methods=one["methods"],
            receiver=one["receiver"] or "",
            written=_NAMED.sub(r"{\1}", one["path"].removesuffix(MARK)),
            path=path.removesuffix(MARK) or ("/" if path else ""),
        )


def _accepted(detection: Mapping[str, Any], requests: Sequence[tuple[str, str, int]]) -> str:
    """Return the path of a call as the linker accepts it; of several in one line that which is written, else ""."""
    same = [path for methods, path, line in requests if (methods, line) == (detection["methods"], detection["line"])]
    written = "/" + _NAMED.sub(r"{\1}", detection["path"]).partition("?")[0].strip("/")
    return written if written in same else same[0] if len(set(same)) == 1 else ""


def _around(
    scope: str, definitions: Mapping[str, Any], nodes: Mapping[tuple[int, str], NodeRow]
) -> tuple[NodeRow | None, tuple[str, ...]]:
    """Return the function around a call that the graph has, and its parameters that no function inside hides."""
    hidden: set[str] = set()
    for _ in range(MAX_DEPTH):
        definition = definitions.get(scope) if scope else None
        if definition is None:
            return None, ()
        names = [one["name"] for one in definition["params"]]
        node = nodes.get((definition["name_line"], definition["name"].partition("#")[0]))
        if node is not None:
            return node, tuple("" if name in hidden else name for name in names)
        hidden.update(names)
        scope = definition["parent"]
    return None, ()


def _requests(node: NodeRow) -> list[tuple[str, str, int]]:
    return json.loads(node.properties).get("requests", []) if '"requests"' in node.properties else []


def client_packages(rules: Sequence[tuple[str, str]]) -> frozenset[str]:
    """Return the names of the packages whose objects the rules take for clients."""
    files: list[dict[str, Any]] = [tomllib.loads(text) for _, text in rules if _CLIENT.search(text)]
    return frozenset(name for each in files for name in each.get("packages", ()))


def call_shapes(rules: Sequence[tuple[str, str]]) -> dict[str, dict[str, str]]:
    """Return the queries for calls of methods and of functions that rules share, by shape and language."""
    texts = [text for _, text in rules if "[shapes." in text]
    shapes = [cast("dict[str, dict[str, str]]", tomllib.loads(text)["shapes"]) for text in texts]
    return {name: queries for each in shapes for name, queries in each.items() if name in _SHAPES}


def rules_by_name(
    shapes: Mapping[str, Mapping[str, str]], names: Sequence[tuple[str, str, int, int, str]]
) -> list[tuple[str, str]]:
    """Return rules by which calls of functions and methods with these names are calls by URL.

    Each is (name of the rules, name of the function, place of the path, place of the HTTP method or -1, methods without
    it); a keyword `method` is one as well.
    """
    found = [(rules, _rules(shapes, *rest)) for rules, *rest in names if _NAME.fullmatch(str(rest[0]))]
    return [(rules, text) for rules, text in found if text]


def _rules(shapes: Mapping[str, Mapping[str, str]], name: Any, path: Any, method: Any, methods: Any) -> str:
    languages = sorted({language for queries in shapes.values() for language in queries})
    head = [f"languages = {json.dumps(languages)}\nwords = {json.dumps([name])}\n"]
    tables = [
        f"[shapes.{shape}]\n"
        + "".join(f"{language} = {json.dumps(query)}\n" for language, query in sorted(each.items()))
        for shape, each in sorted(shapes.items())
    ]
    places = [method, "method"] if method >= 0 else ["method"]
    rule = f"names = {json.dumps([name])}\npath = [{path}]\nurl = true\nmethod = {json.dumps(places)}\n"
    rule += f"methods = {json.dumps(methods)}\n" if methods else ""
    rules = [
        f'[[rules]]\nkind = "client"\nshape = "{shape}"\nlanguages = {json.dumps(sorted(queries))}\n{rule}'
        for shape, queries in sorted(shapes.items())
    ]
    return "\n".join([*head, *tables, *rules])
