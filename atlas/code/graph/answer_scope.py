"""What limits the answer to a question about a relation: a file, folder, module or class, tests, and the filters.

A limit is said with the number of results without it; one that the index does not know is not applied, and a note says
so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from atlas.code.graph.targets import Targets
from atlas.code.question.names import dotted
from atlas.code.question.question_scope import LOOSE_NOUNS
from atlas.code.question.relation_kinds import Kind, RelationIntent, TestScope
from atlas.code.reader import Reader
from atlas.code.retrieve.channels import keeps
from atlas.core.english.stems import root_of
from atlas.core.model import Filter, Label, Match, Node

_HOLDERS = (Label.CLASS, Label.PACKAGE, Label.MODULE)
_SMALL = (Label.CLASS, Label.MODULE)
_WHOLE_PROJECT = frozenset(("library", "codebase", "project", "repo", "repository", "code", "module", "workspace"))
_OF_A_CHANGE = (Kind.IMPACT, Kind.DEPENDENTS)
_OUTWARD = (Kind.IMPORTS, Kind.USES)
_FOREIGN = (Label.EXTERNAL_PACKAGE, Label.EXTERNAL_SYMBOL)


@dataclass(frozen=True, slots=True)
class AnswerScope:
    """The limits of an answer."""

    tests: TestScope
    where: Filter
    inside: Callable[[Node], bool] | None = None
    outside: Callable[[Node], bool] | None = None
    words: str = ""
    """The limits that the question states and the index knows: `in shop/cart.py outside tests`."""
    notes: tuple[str, ...] = ()

    def has(self, node: Node) -> bool:
        """Return whether a related symbol is within the limits."""
        if self.tests == TestScope.ONLY and not node.row.is_test:
            return False
        if self.tests == TestScope.EXCLUDED and node.row.is_test:
            return False
        if self.outside is not None and self.outside(node):
            return False
        return keeps(self.where, node) and (self.inside is None or self.inside(node))


async def read_scope(reader: Reader, intent: RelationIntent, targets: Targets, where: Filter) -> AnswerScope:
    """Return the limits of an answer. A scope that owns the named symbol is none: `callers of save in User`."""
    owner = f"{intent.within}.{intent.name}"
    owned = (
        not intent.is_limited
        and intent.kind != Kind.RETURNERS
        and any(_ends_in(target.node, owner) for target in targets.targets)
    )
    # `the impact of changing f in lib/f.js` tells which f
    tells = intent.kind in _OF_A_CHANGE
    owned = owned or (tells and any(_is_in(target.node, intent.within) for target in targets.targets))
    owned = owned and not (targets.total == 1 and await is_folder(reader, intent.within, where.project))
    inside, notes = await _inside(reader, "" if owned else intent.within, where.project)
    within = intent.within
    if (word := _part(within)) and inside is not None:
        within = f"{within} (paths and types with `{word}`)"
    if intent.kind in _OUTWARD and within.lower() in _WHOLE_PROJECT:
        inside, within = _is_own, "this project"
    outside, more = await _inside(reader, intent.outside, where.project)
    tests = {TestScope.ONLY: "in tests", TestScope.EXCLUDED: "outside tests"}.get(intent.tests, "")
    parts = (f"in {within}" if inside else "", f"outside {intent.outside}" if outside else "", tests)
    return AnswerScope(intent.tests, where, inside, outside, " ".join(filter(None, parts)), (*notes, *more))


def _is_own(node: Node) -> bool:
    return node.row.label not in _FOREIGN


async def _inside(reader: Reader, scope: str, project: str) -> tuple[Callable[[Node], bool] | None, tuple[str, ...]]:
    """Return which symbols lie in a module, class or folder; None for no scope, and for one that is unknown."""
    if not scope or scope.lower() in _WHOLE_PROJECT:
        return None, ()
    prefix = scope.removeprefix("./").strip("/")
    anywhere = Filter(project=project)
    if word := _part(scope):
        return partial(_has_word, reader, word), ()
    held = await reader.store.find(dotted(prefix), Match.SUFFIX, anywhere, 50)
    holders = [node.row.qualified_name for node in held if node.row.label in _HOLDERS]
    part = f"/{prefix}/"
    # `iostream.py` of `tornado/iostream.py`
    paths = await reader.store.paths(project)
    if not holders and not any(part in f"/{path}/" for path in paths):
        # `the ftp folder` is written `Ftp`
        folded = next((f"/{path}/" for path in paths if part.lower() in f"/{path}/".lower()), "")
        at = folded.lower().find(part.lower())
        part = folded[at : at + len(part)] or part
    has_files = any(part in f"/{path}/" for path in paths)
    is_path = has_files or "/" in scope
    # a folder of the root is meant before one of that name further down
    is_top = any(f"/{path}/".startswith(part) for path in paths)
    if not is_path and not holders:
        return None, (f"the scope `{prefix}` is not a path or symbol of the index, so it was not applied",)

    def inside(node: Node) -> bool:
        row = node.row
        path = f"/{row.path}/"
        return (is_path and (path.startswith(part) if is_top else part in path)) or any(
            row.qualified_name == name or row.qualified_name.startswith(f"{name}.") for name in holders
        )

    return inside, () if has_files or holders else (f"no indexed file lies in `{prefix}`",)


def _part(scope: str) -> str:
    """Return the word of a part of the project that is named loosely: `auth` of `auth code`; "" for other scopes."""
    word, _, noun = scope.partition(" ")
    return word if noun.lower() in LOOSE_NOUNS else ""


def _has_word(reader: Reader, word: str, node: Node) -> bool:
    """Return whether the path or the class around a symbol has a word, in any of its forms."""
    row = node.row
    owner = row.qualified_name.rpartition(".")[0] if row.label != Label.CLASS else row.qualified_name
    root = root_of(word.lower())
    return any(root_of(each) == root for text in (row.path, owner) for each in reader.split_words(text))


async def is_folder(reader: Reader, scope: str, project: str) -> bool:
    """Return whether a scope names a folder of the project, and no file, module or class. Raises store errors."""
    part = scope.removeprefix("./").strip("/")
    paths = await reader.store.paths(project)
    if not part or any(f"/{path}".endswith(f"/{part}") for path in paths):
        return False
    if not any(f"/{part}/" in f"/{path}" for path in paths):
        return False
    held = await reader.store.find(dotted(part), Match.SUFFIX, Filter(project=project, labels=_SMALL), 20)
    # `src/index.js` is the module `src`
    return all(f"/{part}/" in f"/{node.row.path}" and node.row.label == Label.MODULE for node in held)


async def spelled_scope(reader: Reader, scope: str, project: str) -> str:
    """Return a scope in two words as the index writes it; "" where it has neither a type nor a file of that name.

    A part of the project that is named loosely, as `auth code`, stays as it is where a path has its word.
    """
    one, _, two = scope.partition(" ")
    if word := _part(scope):
        root = root_of(word.lower())
        paths = await reader.store.paths(project)
        return scope if any(root in map(root_of, reader.split_words(path)) for path in paths) else ""
    held = await reader.store.find(f"{one}{two}", Match.FOLDED, Filter(project=project, labels=_HOLDERS), 20)
    held = sorted((node for node in held if not node.row.is_test), key=lambda node: node.row.label != Label.CLASS)
    if held:
        return held[0].row.name if held[0].row.label == Label.CLASS else held[0].row.qualified_name
    paths = await reader.store.paths(project)
    spellings = (f"{one}_{two}", f"{one}-{two}", f"{one}/{two}", f"{two}/{one}", f"{two}s/{one}")
    for end in "/.":
        for part in (f"/{spelled}{end}" for spelled in spellings):
            for path in paths:
                if part in f"/{path}":
                    before, _, after = f"/{path}".partition(part)
                    return f"{before}{part}{'' if end == '/' else after}".strip("/")
    return ""


def _is_in(node: Node, file: str) -> bool:
    return bool(file) and f"/{node.row.path}".endswith(f"/{file.removeprefix('./')}")


def _ends_in(node: Node, name: str) -> bool:
    qualified = node.row.qualified_name
    return qualified == name or qualified.endswith("." + name)
