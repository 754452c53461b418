"""What a `conf.py` of Sphinx adds to the texts of its documents: substitutions and targets. It is parsed and never run.

Only texts are taken that stand there as such: literals, their sums and `f"{name}"` of names above, `dedent`, `join`.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterable, Mapping

from atlas.packs.documentation.formats.decoding import decode
from atlas.packs.documentation.formats.document import SphinxSettings
from atlas.packs.documentation.formats.restructured.inline import Names
from atlas.packs.documentation.formats.restructured.reader import read_names

FILE = "conf.py"
MAX_BYTES = 1 << 18
MAX_FILES = 20
MAX_VALUE = 20_000
"""Characters of a text, also of one that is computed."""
MAX_DEPTH = 20
_UNCHANGED = frozenset(("strip", "lstrip", "rstrip", "dedent", "cleandoc", "str"))
"""Calls that give their text, up to the space around it."""


NO_SETTINGS = SphinxSettings()


def with_settings(names: Names, settings: SphinxSettings) -> Names:
    """Return names of a document with those of the settings that it does not define itself."""
    names.substitutions = {**settings.substitutions, **names.substitutions}
    names.targets = {**settings.targets, **names.targets}
    return names


def settings_files(paths: Iterable[str]) -> list[str]:
    """Return the files of settings among the paths of a tree, the outermost first."""
    found = [path for path in paths if path.rpartition("/")[2] == FILE]
    return sorted(found, key=lambda path: (path.count("/"), path))[:MAX_FILES]


def nearest(settings: Mapping[str, SphinxSettings], path: str) -> SphinxSettings:
    """Return the settings in the folder of a document or the nearest one above it; `settings` by path."""
    folder: str = posixpath.dirname(path)
    while True:
        if found := settings.get(posixpath.join(folder, FILE)):
            return found
        if not folder:
            return NO_SETTINGS
        folder = posixpath.dirname(folder)


def read_settings(data: bytes, version: str = "") -> SphinxSettings:
    """Return what a file of settings defines; `version` is that of the source if the file computes it."""
    values: dict[str, str] = {}
    variables: dict[str, str] = {}
    text, _ = decode(data, "")
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        body = []
    for node in body:
        if not isinstance(node, ast.Assign | ast.AugAssign):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names, value = [target.id for target in targets if isinstance(target, ast.Name)], node.value
        if "myst_substitutions" in names and isinstance(value, ast.Dict):
            variables |= _texts(value, values)
        said = _text(value, values)
        for name in names:
            before = values.get(name, "") if isinstance(node, ast.AugAssign) else ""
            if said is not None:
                values[name] = (before + said)[:MAX_VALUE]
            elif not before:
                values.pop(name, None)
    lines = "\n".join(values.get(name, "") for name in ("rst_prolog", "rst_epilog")).split("\n")
    found = read_names([line.strip() if line.lstrip().startswith("..") else line.rstrip() for line in lines])
    release = values.get("release") or version or values.get("version", "")
    short = values.get("version") or release
    own = {name: said for name, said in (("release", release), ("version", short)) if said}
    return SphinxSettings({**own, **found.substitutions}, found.targets, variables)


def _texts(node: ast.Dict, values: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        name, said = (_text(key, values) if key is not None else None), _text(value, values)
        if name and said is not None:
            found[name] = said
    return found


def _text(node: ast.expr, values: Mapping[str, str], depth: int = 0) -> str | None:
    """Return the text that an expression is, None if it would have to be run."""
    if depth > MAX_DEPTH:
        return None
    parts: list[str | None]
    match node:
        case ast.Constant(value=str(said)):
            return said[:MAX_VALUE]
        case ast.Name(id=name):
            return values.get(name)
        case ast.JoinedStr(values=inner):
            plain = [one.value if isinstance(one, ast.FormattedValue) else one for one in inner]
            parts = [_text(one, values, depth + 1) for one in plain]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            parts = [_text(left, values, depth + 1), _text(right, values, depth + 1)]
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(between)), attr="join"), args=[listed]):
            items = listed.elts if isinstance(listed, ast.List | ast.Tuple) else []
            texts = [_text(one, values, depth + 1) for one in items]
            return between.join(one or "" for one in texts)[:MAX_VALUE]
        case ast.Call(func=ast.Attribute(value=inner, attr=name), args=arguments) if name in _UNCHANGED:
            return _text(arguments[0] if arguments else inner, values, depth + 1)
        case ast.Call(func=ast.Name(id=name), args=[inner]) if name in _UNCHANGED:
            return _text(inner, values, depth + 1)
        case _:
            return None
    return None if None in parts else "".join(one or "" for one in parts)[:MAX_VALUE]
