"""Descriptions of objects: which directives they are, what they document and the qualified name of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

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

SIGNATURE_NAME = re.compile(r"(?P<name>[\w.$:@~-]+)")
LEADING_WORDS = re.compile(
    r"(?:(?:async|await|abstract|final|static|classmethod|staticmethod|property|class|exception|function|def)\s+)+"
)


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
