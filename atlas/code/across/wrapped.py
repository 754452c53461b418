"""Calls by URL through functions of a project: `requests.get("/articles")`, where `get` passes it on to a client.

A function whose body has its own parameter in the URL of a client's call is a wrapper. Its callers are those of the
graph; the path that each writes is read with rules for the wrapper's name, and stands where the parameter stood.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from atlas.code.reader import Outline, Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Filter, Match, Node
from atlas.core.wording import counted
from atlas.parsing.clients import ClientCall

MAX_FILES = 2_000
"""Files with clients that are read when a question is asked."""
MAX_ROUNDS = 3
"""Wrappers around wrappers."""
MAX_WRAPPERS = 200
MAX_CALLS = 10_000
_BASE = "/{}:"
_HOST = lazy_regex(r"/?https?:/{1,2}([^/{}]+)")
_METHOD = lazy_regex(r"method|verb", re.IGNORECASE)
_PLACE = lazy_regex(r"\{(\d+)\}")
_LITERAL = lazy_regex(r"/[A-Za-z]")
_SLASHES = lazy_regex(r"//+")


@dataclass(frozen=True, slots=True)
class WrappedCall:
    """A call by URL through a function of the project."""

    caller: Node
    methods: str
    path: str
    line: int
    host: str
    """The host that the wrapper writes if it is not one of the project's own, else ""."""


@dataclass(frozen=True, slots=True)
class WrappedCalls:
    """The calls by URL through functions of a project, and what was not looked at."""

    calls: tuple[WrappedCall, ...] = ()
    unread: str = ""
    """Why calls may be missing, in words; "" if the whole project was looked at."""


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """A function whose parameter is in the URL of a call."""

    node: Node
    template: str
    """The path with `{0}`, `{1}` ... for the parameters at these places."""
    methods: str
    method_place: int
    """Of the parameter that is the HTTP method, -1 for none."""
    host: str

    @property
    def places(self) -> list[int]:
        """The places of the parameters, in the order of the path."""
        return [int(place) for place in _PLACE.findall(self.template)]

    @property
    def before(self) -> str:
        """What comes before the first parameter."""
        return self.template[: self.template.index("{")]


async def wrapped_calls(reader: Reader) -> WrappedCalls:
    """Return the calls by URL through functions of the project. Raises store errors."""
    outline = reader.outline
    if outline is None:
        return WrappedCalls()
    paths = await _paths(reader, outline)
    if len(paths) > MAX_FILES:
        return WrappedCalls(unread=f"{len(paths):,} files may call by URL, more than {MAX_FILES:,}")
    texts = await reader.store.content(reader.project, paths) if paths else {}
    found: list[WrappedCall] = []
    is_cut = False
    try:
        calls: Sequence[ClientCall] = await asyncio.to_thread(outline.client_calls, texts) if texts else ()
        packages = outline.client_packages
        wrappers = [one for call in calls if (one := await _wrapper(reader, call, packages)) is not None]
        for _ in range(MAX_ROUNDS):
            if not wrappers:
                break
            is_cut |= len(wrappers) > MAX_WRAPPERS
            made, wrappers = await _called(reader, outline, texts, wrappers[:MAX_WRAPPERS])
            found += made
        found += await _passed_by_name(reader, calls)
    except TimeoutError:
        return WrappedCalls(unread=f"reading {counted(len(paths), 'file')} that may call by URL takes too long")
    unread = f"more than {MAX_WRAPPERS} functions pass a path on" if is_cut else ""
    return WrappedCalls(tuple(dict.fromkeys(found)), unread)


async def _passed_by_name(reader: Reader, calls: Sequence[ClientCall]) -> list[WrappedCall]:
    """Return calls of functions that call a client, where an argument is a path: `this.request({ path: "/users" })`.

    The function takes its parameter apart, so that nothing says what comes before the path.
    """
    asked = {(one.source.path, one.line): one for one in calls if not one.path and _LITERAL.match(one.written)}
    reached = (
        [await _stored(reader, one) for one in {one.source: one for one in calls if one.path}.values()] if asked else []
    )
    clients = {node.row.uid for node in reached if node is not None}
    found: list[WrappedCall] = []
    for _ in range(MAX_ROUNDS - 1):
        edges = await reader.store.edges(sorted(clients), Direction.IN, (EdgeType.CALLS,), MAX_CALLS) if clients else []
        places = [
            (edge.node, asked[place])
            for edge in edges
            for line in edge.row.lines
            if (place := (edge.node.row.path, line)) in asked
        ]
        found += [
            WrappedCall(node, one.methods, f"{_BASE}{_without_base(one.written, ())}", one.line, "")
            for node, one in places
        ]
        clients = {edge.node.row.uid for edge in edges}
    return found


async def _paths(reader: Reader, outline: Outline) -> list[str]:
    records = await reader.store.manifest(reader.project)
    languages = outline.client_languages
    return [one.path for one in records.values() if one.language in languages and not one.is_test]


async def _wrapper(reader: Reader, call: ClientCall, packages: Collection[str]) -> _Wrapper | None:
    """Return the function around a call if the path begins with one of its parameters, or goes on with one."""
    written = call.written.lstrip("/")
    known = _HOST.match(written)
    if known is not None:
        host, path = known[1], written[known.end() :]
    elif call.path or call.receiver.rpartition(".")[2].lstrip("$") in packages:
        begins = any(written.startswith(f"{{{name}}}") for name in call.parameters)
        host, path = (
            "",
            written if begins or _PLACE.search(_with_places(call.path, call.parameters)) is None else call.path,
        )
    else:
        return None
    template = _with_places(_without_base(path, call.parameters), call.parameters)
    first = _PLACE.search(template)
    if first is None or "{" in template[: first.start()]:
        return None
    node = await _stored(reader, call)
    return _Wrapper(node, template, call.methods, _method_place(call), host) if node is not None else None


def _without_base(path: str, parameters: Sequence[str]) -> str:
    """Return a path without its query and without an unknown beginning that is no parameter."""
    depth, end = 0, len(path)
    for at, letter in enumerate(path):
        depth += (letter == "{") - (letter == "}")
        if letter in "?#" and not depth:
            end = at
            break
    path = path[:end].removeprefix(_BASE)
    begins = path.startswith("{") and not any(path.startswith(f"{{{name}}}") for name in parameters)
    return path.partition("}")[2] if begins else path


def _with_places(path: str, parameters: Sequence[str]) -> str:
    """Return a path with the places of parameters instead of their names."""
    for at, name in enumerate(parameters):
        path = path.replace(f"{{{name}}}", f"{{{at}}}") if name.isidentifier() else path
    return path


def _method_place(call: ClientCall) -> int:
    return next((at for at, name in enumerate(call.parameters) if _METHOD.search(name)), -1)


async def _stored(reader: Reader, call: ClientCall) -> Node | None:
    where = Filter(project=reader.project, path=call.source.path)
    nodes = await reader.store.find(call.source.name, Match.SUFFIX, where, 40)
    same = [node for node in nodes if (node.row.path, node.row.line) == (call.source.path, call.source.line)]
    return same[0] if len(same) == 1 else None


async def _called(
    reader: Reader, outline: Outline, texts: Mapping[str, bytes], wrappers: Sequence[_Wrapper]
) -> tuple[list[WrappedCall], list[_Wrapper]]:
    """Return the calls of wrappers, and the callers that are wrappers themselves."""
    uids = list(dict.fromkeys(one.node.row.uid for one in wrappers))
    edges = await reader.store.edges(uids, Direction.IN, (EdgeType.CALLS,), MAX_CALLS)
    paths = {edge.node.row.path for edge in edges} & texts.keys()
    rules = [
        (f"{at}.{place}", one.node.row.name.partition("#")[0], place, one.method_place, one.methods)
        for at, one in enumerate(wrappers)
        for place in one.places
    ]
    if not paths:
        return [], []
    calls = await asyncio.to_thread(outline.calls_by_name, {path: texts[path] for path in sorted(paths)}, rules)
    written = {(one.rules, one.source.path, one.line): one for one in calls}
    callers = {(edge.row.target, edge.node.row.path, line): edge.node for edge in edges for line in edge.row.lines}
    found: list[WrappedCall] = []
    more: list[_Wrapper] = []
    for at, wrapper in enumerate(wrappers):
        first, *rest = wrapper.places
        for (uid, path, line), caller in callers.items():
            call = written.get((f"{at}.{first}", path, line)) if uid == wrapper.node.row.uid else None
            if call is None:
                continue
            others = {
                place: _with_places(one.written, one.parameters)
                for place in rest
                if (one := written.get((f"{at}.{place}", path, line)))
            }
            if template := _passed_on(wrapper, call, others):
                more.append(_Wrapper(caller, template, call.methods, _method_place(call), wrapper.host))
            elif is_path := _joined(wrapper, call, others):
                found.append(WrappedCall(caller, call.methods, is_path, line, wrapper.host))
    return found, more


def _passed_on(wrapper: _Wrapper, call: ClientCall, others: Mapping[int, str]) -> str:
    """Return the template of a caller that passes a parameter of its own on as the path, or as its beginning or end."""
    text = _with_places(call.written, call.parameters)
    first = _PLACE.search(text)
    if (
        first is None
        or "{" in text[: first.start()]
        or (text[: first.start()].rstrip("/") and text[first.start() - 1] == "/")
    ):
        return ""  # `/articles/{slug}` is a path with an unknown segment
    return _filled(wrapper, text, others)


def _joined(wrapper: _Wrapper, call: ClientCall, others: Mapping[int, str]) -> str:
    """Return the path of a call through a wrapper, "" for one that is not known or not meant as a path."""
    has_own = wrapper.before.strip("/")
    begins = call.written[:1] not in ("", "{")
    is_path = call.written.startswith("/") or (begins and (not has_own or "/" in call.written.strip("/")))
    if not is_path or not call.path or call.path.startswith(_BASE) or _HOST.match(call.written):
        return ""
    names = {place: text if not _PLACE.search(text) else _PLACE.sub(r"{p\1}", text) for place, text in others.items()}
    return _filled(wrapper, call.path, names)


def _filled(wrapper: _Wrapper, first: str, others: Mapping[int, str]) -> str:
    """Return the template of a wrapper with texts for its parameters."""
    texts = {**others, wrapper.places[0]: first}
    path = _PLACE.sub(lambda found: texts.get(int(found[1]), ""), f"/{wrapper.template}")
    return _SLASHES.sub("/", path).rstrip("/") or "/"
