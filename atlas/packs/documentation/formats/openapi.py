"""Descriptions of HTTP interfaces (OpenAPI 3, Swagger 2): a section for each operation and each schema.

The document is data of a stranger: references are followed within it only, and the type of each value is checked.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from atlas import _parser
from atlas.packs.documentation.article import BlockKind
from atlas.packs.documentation.formats.markdown import read_markdown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from atlas.packs.documentation.formats.draft import Draft

    Members = Mapping[str, object]

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
MAX_DEPTH = 4
"""Of a reference that leads to a reference, and of the properties of a property."""
MAX_VALUES = 20
"""Of an enumeration that are named."""
MAX_TEXT = 20_000


def read_openapi(text: str, draft: Draft) -> None:
    """Read a description into a draft. What is none is a problem."""
    try:
        content: object = json.loads(text if text.lstrip()[:1] == "{" else _parser.yaml_as_json(text))
    except (ValueError, RecursionError) as error:
        draft.problem(0, "not-openapi", f"the description cannot be read: {error}")
        return
    root = _members(content)
    if not ("openapi" in root or "swagger" in root):
        draft.problem(0, "not-openapi", "the file describes no interface")
        return
    _OpenApiReader(root, draft).read()


class _OpenApiReader:
    def __init__(self, root: Members, draft: Draft) -> None:
        self._root, self._draft = root, draft

    def read(self) -> None:
        """Read what the interface is, its operations, and its schemas."""
        about = _members(self._root.get("info"))
        title, version = _text(about, "title") or "API", _text(about, "version")
        self._draft.heading(1, f"{title} {version}".strip())
        self._prose(_text(about, "description") or _text(about, "summary"))
        for server in _items(self._root.get("servers")):
            self._term("Server", _sentences(_text(_members(server), "url"), _text(_members(server), "description")))
        for path, found in _members(self._root.get("paths")).items():
            item = self._resolved(found)
            shared = _items(item.get("parameters"))
            for method in METHODS:
                if isinstance(item.get(method), dict):
                    self._operation(f"{method.upper()} {path}", _members(item[method]), shared)
        components = _members(self._root.get("components")) or {"schemas": self._root.get("definitions")}
        for name, found in _members(components.get("schemas")).items():
            self._schema(name, self._resolved(found))

    def _operation(self, route: str, operation: Members, shared: list[object]) -> None:
        name = _text(operation, "operationId")
        self._draft.heading(2, route, labels=[name] if name else [])
        self._draft.add(BlockKind.SIGNATURE, route, name or route, role="operation")
        if operation.get("deprecated") is True:
            self._draft.add(BlockKind.NOTE, f"{name or route} is deprecated.", "deprecated")
        self._prose(_text(operation, "summary"))
        self._prose(_text(operation, "description"))
        for one in (*shared, *_items(operation.get("parameters"))):
            parameter = self._resolved(one)
            where = " ".join(filter(None, ("in", _text(parameter, "in")))) if parameter.get("in") else ""
            said = self._value(_members(parameter.get("schema")) or parameter)
            is_needed = "required" if parameter.get("required") is True else ""
            text = ", ".join(filter(None, (where, is_needed, said)))
            self._term(_text(parameter, "name"), _sentences(text, _text(parameter, "description")))
        body = self._resolved(operation.get("requestBody"))
        self._term("Request body", _sentences(_text(body, "description"), *self._media(body)))
        for status, one in _members(operation.get("responses")).items():
            response = self._resolved(one)
            self._term(f"Response {status}", _sentences(_text(response, "description"), *self._media(response)))

    def _media(self, holder: Members) -> Iterator[str]:
        for kind, one in _members(holder.get("content")).items():
            said = self._value(_members(_members(one).get("schema")))
            yield f"{kind}: {said}" if said else kind

    def _schema(self, name: str, schema: Members) -> None:
        self._draft.heading(2, name)
        self._draft.add(BlockKind.SIGNATURE, f"schema {name}", name, role="class")
        self._prose(_text(schema, "description"))
        if values := self._value(schema):
            self._draft.add(BlockKind.PARAGRAPH, f"{name}: {values}.")
        parts = [
            schema,
            *(self._resolved(one) for key in ("allOf", "anyOf", "oneOf") for one in _items(schema.get(key))),
        ]
        for part in parts:
            required = {one for one in _items(part.get("required")) if isinstance(one, str)}
            for field, one in _members(part.get("properties")).items():
                found = self._resolved(one)
                said = ", ".join(filter(None, ("required" if field in required else "", self._value(_members(one)))))
                self._term(field, _sentences(said, _text(found, "description")))

    def _value(self, schema: Members, depth: int = 0) -> str:
        """Return what a schema says about a value: "integer, at least 1, default `180`"."""
        if reference := _text(schema, "$ref"):
            return reference.rpartition("/")[2]
        kind = schema.get("type")
        kinds = " or ".join(one for one in (_items(kind) or [kind]) if isinstance(one, str))
        if kinds == "array" and depth < MAX_DEPTH:
            kinds = f"array of {self._value(_members(schema.get('items')), depth + 1) or 'any'}"
        values = [json.dumps(one, ensure_ascii=False) for one in _items(schema.get("enum"))[:MAX_VALUES]]
        found = [kinds, _text(schema, "format"), f"one of {', '.join(values)}" if values else ""]
        for key, words in (("minimum", "at least"), ("maximum", "at most"), ("maxLength", "characters at most")):
            if isinstance(schema.get(key), int | float):
                found.append(f"{words} {schema[key]}")
        if "default" in schema:
            found.append(f"default `{json.dumps(schema['default'], ensure_ascii=False)[:200]}`")
        return ", ".join(filter(None, found))

    def _resolved(self, value: object) -> Members:
        """Return an object, or the one that its reference within the document leads to."""
        for _ in range(MAX_DEPTH):
            reference = _text(_members(value), "$ref")
            if not reference.startswith("#/"):
                break
            value = self._root
            for part in reference[2:].split("/"):
                value = _members(value).get(part.replace("~1", "/").replace("~0", "~"))
        return _members(value)

    def _prose(self, text: str) -> None:
        """Read a description, which is Markdown; its headings would end the operation's section."""
        if text:
            read_markdown("\n".join(line.lstrip("#") for line in text.split("\n")), self._draft)

    def _term(self, label: str, text: str) -> None:
        if label and text:
            self._draft.add(BlockKind.TERM, text, label)


def _members(value: object) -> Members:
    return cast("Members", value) if isinstance(value, dict) else {}


def _items(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _text(holder: Members, key: str) -> str:
    value = holder.get(key)
    return value.strip()[:MAX_TEXT] if isinstance(value, str) else ""


def _sentences(*parts: str) -> str:
    """Join parts as sentences."""
    kept = [" ".join(part.split()) for part in parts if part.strip()]
    return " ".join(part if part[-1] in ".!?" else f"{part}." for part in kept)
