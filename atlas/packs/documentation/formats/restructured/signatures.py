"""Descriptions of objects: which directives they are, what they document and the qualified name of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from atlas.core.lazy_regex import lazy_regex

ROLES = {
    "function": "function", "class": "class", "method": "method", "classmethod": "method", "staticmethod": "method",
    "coroutinefunction": "function", "coroutinemethod": "method", "abstractmethod": "method", "awaitablefunction":
    "function", "awaitablemethod": "method", "attribute": "attribute", "property": "attribute", "data": "data",
    "exception": "exception", "decorator": "decorator", "decoratormethod": "decorator", "module": "module",
    "type": "type", "struct": "class", "enum": "class", "enumerator": "constant", "union": "class", "macro": "macro",
    "member": "attribute", "var": "data", "alias": "type", "concept": "type", "namespace": "module",
    "setting": "setting", "confval": "setting", "django-admin": "command", "django-admin-option": "option",
    "option": "option", "cmdoption": "option", "program": "program", "envvar": "variable", "opcode": "opcode",
    "templatetag": "template tag", "templatefilter": "template filter", "fieldlookup": "lookup", "signal": "signal",
    "fixture": "fixture", "hook": "hook", "describe": "object", "object": "object", "directive": "directive",
    "role": "role", "interface": "class", "trait": "class", "monitoring-event": "event", "audit-event": "event",
    "pdbcommand": "command", "2to3fixer": "fixer", "click:command": "command", "command": "command",
    "autofunction": "function", "autoclass": "class", "automethod": "method", "autoattribute": "attribute",
    "autoproperty": "attribute", "autodata": "data", "autoexception": "exception", "automodule": "module",
    "autodecorator": "decorator", "py:currentmodule": "", "click": "command",
}  # fmt: skip
"""Directive without its domain -> role of the signature."""

OBJECT_DOMAINS = frozenset(
    ("py", "c", "cpp", "js", "rst", "http", "std", "ts", "rb", "php", "go", "rust", "java", "sh")
)

HOLDERS = frozenset(("class", "exception", "interface", "trait", "type", "namespace"))
"""Roles whose name qualifies the objects described below them."""

UNQUALIFIED = frozenset((
    "setting", "command", "option", "variable", "template tag", "template filter", "lookup", "program", "opcode",
    "fixture", "hook", "object", "directive", "role", "event", "fixer",
))  # fmt: skip

SIGNATURE_NAME = lazy_regex(r"(?P<name>[\w.$:@~-]+)")
LEADING_WORDS = lazy_regex(
    r"(?:(?:async|await|abstract|final|static|classmethod|staticmethod|property|class|exception|function|def)\s+)+"
)


NOT_SAID = frozenset((
    "noindex", "no-index", "noindexentry", "no-index-entry", "nocontentsentry", "no-contents-entry", "no-typesetting",
    "single-line-parameter-list", "members", "undoc-members", "private-members", "special-members", "inherited-members",
    "exclude-members", "member-order", "show-inheritance", "class-doc-from", "ignore-module-all", "imported-members",
    "module", "class", "canonical", "synopsis", "name", "show-header", "show-source", "nosignatures", "toctree",
    "home", "id", "ref", "keys", "constant", "force", "no-value", "prog", "program", "nested", "commands", "hook",
    "func", "path",
))  # fmt: skip
"""Options of directives that say how a description is shown or indexed, and none of what it describes."""
VERSION_OPTIONS = {
    "versionadded": ("versionadded", "Added in version"), "added": ("versionadded", "Added in version"),
    "since": ("versionadded", "Added in version"), "changed": ("versionchanged", "Changed in version"),
    "versionchanged": ("versionchanged", "Changed in version"), "removed": ("versionremoved", "Removed in version"),
    "versionremoved": ("versionremoved", "Removed in version"),
    "deprecated": ("deprecated", "Deprecated since version"),
    "versiondeprecated": ("deprecated", "Deprecated since version"),
}  # fmt: skip
"""Option without separators -> label and words of the notice that it states."""
OPTION_VALUE = 600


@dataclass(frozen=True, slots=True)
class StatedOptions:
    """What the options of a description say: a sentence ("" for none), and notices as label and text."""

    sentence: str
    notices: tuple[tuple[str, str], ...]


def stated_options(name: str, options: Mapping[str, str]) -> StatedOptions:
    """Return what options say of an object: `:type: str`, `:default: 5` -> "`name`: type: str; default: `5`"."""
    parts: list[tuple[bool, str]] = []
    notices: list[tuple[str, str]] = []
    for option, raw in options.items():
        value = " ".join(raw.split())[:OPTION_VALUE].rstrip(".")
        key = option.lower()
        version = VERSION_OPTIONS.get(re.sub(r"[-_]|^py:", "", key))
        if version is not None:
            number = value.split(" ")[0] if any(map(str.isdigit, value)) else ""
            rest = value.removeprefix(number).strip(" :")
            said = f"{version[1]} {number}" if number else version[1].partition(" ")[0]
            notices.append((f"{version[0]} {number}".strip(), f"{said}: {rest}." if rest else f"{said}."))
        elif value and key not in NOT_SAID:
            if key == "default" and re.fullmatch(r"[^\s`|:<>]+", value):
                value = f"``{value}``"
            parts.append((key == "default", f"{re.sub('[-_]', ' ', key)}: {value}"))
    parts.sort(key=lambda part: part[0])  # the default is read up to the end of the sentence
    sentence = f"``{name}``: {'; '.join(text for _, text in parts)}." if parts else ""
    return StatedOptions(sentence, tuple(notices))


@dataclass(frozen=True, slots=True)
class RstSignature:
    """One signature."""

    name: str
    text: str
    role: str


def role_of(directive: str) -> str:
    """Return the role of the objects that a directive describes, "" if it describes none."""
    domain, _, name = directive.rpartition(":")
    if not domain:
        return ROLES.get(directive, "")
    if name in ROLES:
        return ROLES[name]
    return name if domain.partition(":")[0] in OBJECT_DOMAINS and name not in ("currentmodule", "namespace") else ""


def described(directive: str, arguments: list[str], module: str, holder: str, role: str) -> list[RstSignature]:
    """Return the signatures that a directive has in its arguments, one a line.

    `holder` is the qualified name of the object around it; a line that ends in a backslash goes on in the next.
    """
    lines = "\n".join(arguments).replace("\\\n", "").split("\n")
    found: list[RstSignature] = []
    for line in lines:
        text = " ".join(line.split())
        if text:
            found.append(RstSignature(_qualified(text, directive, module, holder, role), _unescaped(text), role))
    return found


def _qualified(text: str, directive: str, module: str, holder: str, role: str) -> str:
    text = _unescaped(text)
    if directive.startswith(("c:", "cpp:", "cfunction", "ctype", "cmacro", "cmember", "cvar")):
        return _last_name_before_arguments(text)
    if directive.startswith("http:"):
        return f"{role.upper()} {text}"
    stripped = LEADING_WORDS.sub("", text, count=1) if role not in UNQUALIFIED else text
    found = SIGNATURE_NAME.search(stripped)
    name = found["name"].rstrip(":.") if found else stripped
    if role in UNQUALIFIED:
        return name
    name = name.replace("::", ".")
    if role == "module":
        return name
    if holder and not name.startswith(f"{holder}."):
        last = holder.rpartition(".")[2]
        return f"{holder}.{name.removeprefix(f'{last}.')}"
    if module and not name.startswith(f"{module}."):
        return f"{module}.{name}"
    return name


def _last_name_before_arguments(text: str) -> str:
    """Return the name of a declaration in C or C++: what stands before its arguments, array or value."""
    head = re.split(r"[(\[={;]", text, maxsplit=1)[0].strip()
    names = re.findall(r"[A-Za-z_~][\w:.]*", head)
    return names[-1].replace("::", ".") if names else text


def _unescaped(text: str) -> str:
    return text.replace("\\", "")
