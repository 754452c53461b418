"""Unused definitions of a project or a part of it: nothing refers to them, and nothing is known that may reach them.

They are candidates. What a framework, the language or other packages may reach without a reference is left out and
counted: decorated definitions, special methods, overrides, members of types with outside bases, entry points, exported
definitions, and names that occur in other text without an edge.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from atlas.code.graph.absence.occurrences import SkippedText, find_in_skipped
from atlas.code.graph.absence.proof import unaccounted
from atlas.code.graph.relation import EdgeAnswer, RelatedSymbol
from atlas.code.graph.targets import Targets
from atlas.code.graph.unreached import (
    MAX_EXAMINED,
    MIN_NAME,
    TIMEOUT,
    LinesOfFiles,
    ProjectPart,
    find_definitions,
    find_mentioned,
    find_part,
    kinds_of,
    left_out,
    title_of,
)
from atlas.code.question.relation_kinds import Kind, RelationIntent, TestScope
from atlas.code.reader import Reader
from atlas.core.labels import EXTERNAL_LABELS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, Edge, EdgeType, Filter, Label, Match, Node
from atlas.core.wording import counted

_REFERRING = (
    EdgeType.CALLS,
    EdgeType.REFERENCES,
    EdgeType.IMPORTS,
    EdgeType.USES_TYPE,
    EdgeType.INHERITS,
    EdgeType.OVERRIDES,
    EdgeType.TESTS,
)
_REFERS = "|".join(_REFERRING)
_SHOWN = 6
"""Definitions that a note lists."""
_HOLDS = (EdgeType.DEFINES, EdgeType.DEFINES_METHOD)
PROOF_SECONDS = 1.0
MAX_PROVEN = 60
"""Definitions whose name stands elsewhere and for which each of its lines is looked at."""
_MAX_EDGES = 20_000
_MAX_LEVELS = 8
_ENTRY_POINTS = frozenset(("main", "init"))
"""Functions that a program or the run time starts."""
_RUN_BY_TESTS = ("test", "bench", "example", "fuzz", "setup", "teardown")
_CONTRACTS = frozenset(("interface", "trait", "protocol"))
"""Kinds of types whose members are called on what implements them."""
_HIDDEN = (
    "MATCH (n:Function|Method) WHERE n.language = $language AND NOT n.exported AND NOT n.name STARTS WITH '_' "
    "AND NOT n.name STARTS WITH '<' RETURN n.uid LIMIT 1"
)
"""In a language without such a function, every name is exported unless it begins with an underscore: that says nothing
about its use."""
_DECORATOR = lazy_regex(r"\s*(?:@|#\[|\[)\s*([A-Za-z_][\w.:]*)")
_INERT_NAMES = """
staticmethod classmethod property cached_property lru_cache cache wraps contextmanager asynccontextmanager final
deprecated dataclass total_ordering derive inline cold doc must_use allow warn deny cfg cfg_attr repr non_exhaustive
track_caller spec moduledoc typedoc suppresswarnings nullable nonnull safevarargs functionalinterface
"""
_INERT = frozenset(_INERT_NAMES.split())
"""Decorators and attributes that register nothing: what they decorate has to be called as anything else."""
_COMPUTED = lazy_regex(
    r"getattr\(\s*(?:self|cls|this)\s*,\s*(?![\"'])|\bthis\[(?![\"'\d])[^\]\n]{1,200}\]\(|\$this->\$|\b(?:public_)?send\((?![:\"'])"
)
"""A method of the own object is called by a name that is computed."""
_IN_COMPUTED = ("getattr(", "this[", "$this->$", "send(", "public_send(")
"""How a match begins: looking for these takes a tenth of the time."""
_BY_COMPUTED = "members of classes that call methods by computed names"
MOST_POSSIBLE = 12
"""Definitions left out for that reason that are named, of a part of a project."""
_EXPORTED = "exported (ask for `unused exports`)"
_PLATFORM = lazy_regex(
    r"[_.-](?:windows|win32|win|unix|posix|linux|darwin|macos|mac|osx|bsd|freebsd|openbsd|netbsd|solaris|android|ios|wasm|js|plan9"
    r"|amd64|arm64|arm|x86|x64|generic|stub|fallback|other|others|no\w+)\.\w+$",
    re.IGNORECASE,
)
"""Files for one platform of several."""
MAX_TWINS = 20
_REDEFINITION = lazy_regex(r"#\d+$")
_ALL_NAMES = lazy_regex(r"^__all__\b[^\[(\n]{0,200}+[\[(]([^\])]*)", re.MULTILINE)


async def find_unused(reader: Reader, intent: RelationIntent, where: Filter) -> EdgeAnswer | None:
    """Return the definitions that nothing refers to, in order of file and line; None if the words describe none.

    Raises store errors.
    """
    part = await find_part(reader, intent.within, where.project)
    if not part.is_known:
        return EdgeAnswer(intent, Targets(part.text, (), reasons=("no file, folder, module or class of that name",)))
    if not part.text and Label.VALUE in intent.labels and len(intent.labels) > 1 and not intent.words:
        # of a whole project, values are asked for by name of the kind
        intent = replace(intent, labels=tuple(label for label in intent.labels if label != Label.VALUE))
    candidates = await _candidates(reader, intent, part, where)
    if intent.words and not candidates.total:
        return None
    reasons, notes, found = candidates.reasons, list(candidates.notes), candidates.found
    used: Mapping[str, Sequence[str]] = {}
    if intent.tests == TestScope.EXCLUDED:
        used = await _uses_in_tests(reader, found)
    if intent.by_tests:
        if unused := [node for node in found if node.row.uid not in used]:
            notes.append(f"not used by tests either: {_listed(unused)}")
        found = [node for node in found if node.row.uid in used]
    elif part.text and intent.tests == TestScope.ANY:
        notes += await _only_in_tests(reader, intent, part, where)
    if part.text and not intent.by_tests and 0 < len(candidates.possible) <= MOST_POSSIBLE:
        notes += await _only_computed(reader, candidates.possible)
    if part.text and not intent.by_tests:
        notes += await _only_elsewhere(reader, candidates.named)
    notes += left_out(+reasons)
    if found:
        public = "exported, but nothing here refers to them; " if candidates.is_public else ""
        notes.append(
            f"candidates: {public}reflection, configuration, templates and other packages may still reach them"
        )
    what = "used by tests only" if intent.by_tests else "without a reference"
    title = title_of("unused", intent, part, len(found), candidates.total, what, certain=not +reasons)
    related = tuple(RelatedSymbol(node, node.row.path, (), quoted=_told(used.get(node.row.uid, ()))) for node in found)
    is_unknown = not found and bool(+reasons)
    return EdgeAnswer(
        intent, Targets(part.text, ()), related=related, notes=tuple(notes), is_unknown=is_unknown, title=title
    )


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Definitions that nothing refers to, and what was left out."""

    found: list[Node]
    total: int
    """All definitions of the kind in the part."""
    reasons: Counter[str]
    notes: tuple[str, ...]
    is_public: bool
    """Whether they are listed although other packages may use them."""
    possible: tuple[Node, ...] = ()
    """Those that only a computed name may reach."""
    named: tuple[Node, ...] = ()
    """Those whose name stands elsewhere."""


async def _candidates(reader: Reader, intent: RelationIntent, part: ProjectPart, where: Filter) -> _Candidates:
    outside = intent.tests == TestScope.EXCLUDED
    by = " AND NOT m.is_test" if outside else ""
    condition = f"NOT EXISTS {{ MATCH (n)<-[:{_REFERS}]-(m) WHERE m.uid <> n.uid{by} }}"
    nodes, total = await find_definitions(
        reader, part, kinds_of(intent), condition, where, intent.tests, words=intent.words
    )
    nodes = await _without_used_twins(reader, nodes)
    reasons: Counter[str] = Counter()
    kept: list[Node] = []
    told = await _reached_otherwise(reader, intent, nodes)
    for node in nodes:
        reason = told.get(node.row.uid, "")
        if reason:
            reasons[reason] += 1
        else:
            kept.append(node)
    found, notes = await _without_mentioned(reader, kept, reasons, outside_tests=outside)
    unnamed = {node.row.uid for node in found}
    named = [node for node in kept if node.row.uid not in unnamed]
    is_public = not found and intent.exported is None and reasons[_EXPORTED] > 0
    if is_public:
        # all that is left is what other packages may use: named, because an empty list would read as "none"
        kept = [node for node in nodes if told.get(node.row.uid) == _EXPORTED]
        del reasons[_EXPORTED]
        found, notes = await _without_mentioned(reader, kept, reasons, outside_tests=outside)
    if part.text:
        found = [*found, *await _only_implemented(reader, intent, part, where)]
    possible = [node for node in nodes if told.get(node.row.uid) == _BY_COMPUTED]
    return _Candidates(found, total, reasons, tuple(notes), is_public, tuple(possible), tuple(named))


async def _only_implemented(reader: Reader, intent: RelationIntent, part: ProjectPart, where: Filter) -> list[Node]:
    """Return the methods of a part that others override, of which neither they nor any override is used."""
    using = "|".join(each for each in _REFERRING if each != EdgeType.OVERRIDES)
    by = " AND NOT m.is_test" if intent.tests == TestScope.EXCLUDED else ""
    condition = (
        f"NOT EXISTS {{ MATCH (n)<-[:{using}]-(m) WHERE m.uid <> n.uid{by} }}"
        " AND EXISTS { MATCH (n)<-[:OVERRIDES]-(m) WHERE m.uid <> n.uid }"
        f" AND NOT EXISTS {{ MATCH (n)<-[:OVERRIDES]-(o)<-[:{using}]-(m) WHERE m.uid <> o.uid{by} }}"
    )
    if Label.METHOD not in kinds_of(intent):
        return []
    nodes, _ = await find_definitions(reader, part, (Label.METHOD,), condition, where, intent.tests, words=intent.words)
    if not nodes:
        return []
    mentioned = await find_mentioned(reader, nodes, outside_tests=intent.tests == TestScope.EXCLUDED)
    mentioned -= await _accounted(reader, [node for node in nodes if node.row.uid in mentioned])
    return [node for node in nodes if node.row.uid not in mentioned]


async def _without_mentioned(
    reader: Reader, kept: Sequence[Node], reasons: Counter[str], *, outside_tests: bool
) -> tuple[list[Node], list[str]]:
    """Leave out definitions whose name stands elsewhere, and count them; a note says how many were looked at."""
    notes: list[str] = []
    if len(kept) > MAX_EXAMINED:
        notes.append(f"the first {MAX_EXAMINED} of {len(kept)} in order of path were examined: name a folder or module")
    kept = kept[:MAX_EXAMINED]
    mentioned = await find_mentioned(reader, kept, outside_tests=outside_tests)
    mentioned -= await _accounted(reader, [node for node in kept if node.row.uid in mentioned])
    reasons["named elsewhere without an edge"] += len(mentioned)
    found = [node for node in kept if node.row.uid not in mentioned]
    project = kept[0].project if kept else ""
    hidden = await find_in_skipped(reader, {node.row.name for node in found}, project) if found else SkippedText()
    reasons["named in files that are not indexed"] += sum(node.row.name in hidden.places for node in found)
    return [node for node in found if node.row.name not in hidden.places], notes


async def _uses_in_tests(reader: Reader, nodes: Sequence[Node]) -> dict[str, list[str]]:
    """Return by uid the files of the tests that refer to definitions."""
    files: dict[str, set[str]] = {}
    edges = await _edges(reader, [node.row.uid for node in nodes], Direction.IN, _REFERRING) if nodes else []
    for edge in edges:
        if edge.node.row.is_test:
            files.setdefault(edge.row.target, set()).add(edge.node.row.path)
    return {uid: sorted(paths) for uid, paths in files.items()}


async def _only_in_tests(reader: Reader, intent: RelationIntent, part: ProjectPart, where: Filter) -> tuple[str, ...]:
    """Return a note on the definitions of a part that tests use and nothing else does."""
    outside = replace(intent, tests=TestScope.EXCLUDED)
    found = (await _candidates(reader, outside, part, where)).found
    used = await _uses_in_tests(reader, found)
    tested = [node for node in found if node.row.uid in used]
    return (f"used by tests only: {_listed(tested)}",) if tested else ()


async def _only_computed(reader: Reader, possible: Sequence[Node]) -> tuple[str, ...]:
    """Return a note on the definitions that no text names: unused, unless a computed name reaches them."""
    mentioned = await find_mentioned(reader, possible)
    hidden = await find_in_skipped(reader, {node.row.name for node in possible}, possible[0].project)
    left = [node for node in possible if node.row.uid not in mentioned and node.row.name not in hidden.places]
    listed = ", ".join(f"{node.row.name} {node.row.path}:{node.row.line}" for node in left)
    return (f"possible, named nowhere else, unless a computed name reaches them: {listed}",) if left else ()


async def _only_elsewhere(reader: Reader, named: Sequence[Node]) -> tuple[str, ...]:
    """Return a note on private definitions whose name stands in other files only, where it may be another one's."""
    hidden = [node for node in named if node.row.name.startswith(("_", "#")) and not node.row.name.endswith("__")]
    if not hidden:
        return ()
    texts = await reader.store.content(hidden[0].project, sorted({node.row.path for node in hidden}))
    lines = {path: text.decode("utf-8", "replace").split("\n") for path, text in texts.items()}
    left = [node for node in hidden if not _in_own_file(node, lines.get(node.row.path, []))]
    if not left:
        return ()
    return (f"private, and named nowhere else in their file, only in other files: {_listed(left)}",)


def _in_own_file(node: Node, lines: Sequence[str]) -> bool:
    word = re.compile(rf"(?<![\w$]){re.escape(node.row.name)}(?![\w$])")
    own = node.row.line or node.row.start_line
    return any(word.search(line) for number, line in enumerate(lines, 1) if number != own)


def _listed(nodes: Sequence[Node]) -> str:
    names = [f"{node.row.name} {node.row.line}" for node in nodes[:_SHOWN]]
    more = f" and {len(nodes) - _SHOWN} more" if len(nodes) > _SHOWN else ""
    return f"{', '.join(names)}{more}"


def _told(paths: Sequence[str]) -> tuple[str, ...]:
    """Return which tests use a definition."""
    more = f" and {counted(len(paths) - 1, 'other file')}" if len(paths) > 1 else ""
    return (f"used in {paths[0]}{more}",) if paths else ()


async def _accounted(reader: Reader, mentioned: Sequence[Node]) -> set[str]:
    """Return the definitions of which each line with the name is one of another symbol of that name, by its edges."""
    found: set[str] = set()
    end, where = time.monotonic() + PROOF_SECONDS, Filter(project=mentioned[0].project if mentioned else "")
    for node in mentioned[:MAX_PROVEN]:
        if len(node.row.name) < MIN_NAME:
            continue
        # a name that no other symbol has has no other edges
        namesakes = await reader.store.find(node.row.name, Match.SUFFIX, where, 2)
        if len(namesakes) < 2:
            continue
        if time.monotonic() > end:
            break
        left = await unaccounted(reader, [node], Kind.USAGES)
        if not left.places and not left.more:
            found.add(node.row.uid)
    return found


def _computes_names(text: str) -> bool:
    for start in _IN_COMPUTED:
        at = text.find(start)
        while at >= 0:
            if _COMPUTED.match(text, at):
                return True
            at = text.find(start, at + 1)
    return False


async def _without_used_twins(reader: Reader, nodes: Sequence[Node]) -> list[Node]:
    """Leave out definitions of which another one of the same name is used: branches of an `if`, stubs, overloads.

    So are definitions of one folder for several platforms: a build has one of them.
    """
    known = {node.row.uid for node in nodes}
    twins: dict[str, list[str]] = {}
    for uid in known:
        base = _REDEFINITION.sub("", uid)
        twins[uid] = [twin for twin in (base, f"{base}#2") if twin not in known]
    wanted = sorted({twin for others in twins.values() for twin in others})
    used = {node.row.uid for node in await reader.store.symbols(wanted)}
    left = [node for node in nodes if used.isdisjoint(twins[node.row.uid])]
    by_platform = [node for node in left if _PLATFORM.search(node.row.path)]
    elsewhere: set[str] = set()
    for node in by_platform[:MAX_PROVEN]:
        row, where = node.row, Filter(project=node.project)
        same = await reader.store.find(row.name, Match.SUFFIX, where, MAX_TWINS)
        folder = row.path.rpartition("/")[0]
        others = [each.row for each in same if each.row.path != row.path and each.row.path.rpartition("/")[0] == folder]
        if any(other.uid not in known and other.label == row.label and other.name == row.name for other in others):
            elsewhere.add(row.uid)
    return [node for node in left if node.row.uid not in elsewhere]


async def _reached_otherwise(reader: Reader, intent: RelationIntent, nodes: Sequence[Node]) -> dict[str, str]:
    """Return by uid how a definition may be reached without a reference; omits those of which nothing is known."""
    uids = [node.row.uid for node in nodes]
    if not uids:
        return {}
    project = nodes[0].project
    overriding = {edge.row.source for edge in await _edges(reader, uids, Direction.OUT, (EdgeType.OVERRIDES,))}
    owners = {edge.row.target: edge.node for edge in await _edges(reader, uids, Direction.IN, _HOLDS)}
    bases = await _bases(reader, {node.row.uid for node in owners.values()})
    outside = {uid for uid, found in bases.items() if any(node.row.label in EXTERNAL_LABELS for node in found.values())}
    constructed = await _constructed(reader, [node.row.uid for node in nodes if node.row.label == Label.CLASS])
    paths = {node.row.path for node in nodes}
    paths.update(base.row.path for found in bases.values() for base in found.values() if base.row.path)
    contents = await reader.store.content(project, sorted(paths))
    texts = {path: content.decode("utf-8", "replace") for path, content in contents.items()}
    lines = LinesOfFiles(texts)
    public = {path: _public_names(text) for path, text in texts.items()}
    computed = {path for path, text in texts.items() if _computes_names(text)}
    dynamic = {
        owner.row.uid
        for owner in owners.values()
        if owner.row.path in computed
        or any(base.row.path in computed for base in bases.get(owner.row.uid, {}).values())
    }
    unused = {node.row.uid for node in nodes}
    marking = await _marking(reader, nodes)
    told: dict[str, str] = {}
    for node in nodes:
        row, owner = node.row, owners.get(node.row.uid)
        is_member = owner is not None and owner.row.label == Label.CLASS
        if {"declaration", "overload", "abstract"} & set(row.modifiers.split()):
            reason = "declarations"
        elif _is_special(row.name, owner if is_member else None, reader.languages.constructors):
            reason = "special methods"
        elif row.uid in overriding:
            reason = "overrides"
        elif is_member and owner is not None and owner.row.kind in _CONTRACTS:
            reason = "members of interfaces"
        elif is_member and owner is not None and owner.row.uid in outside:
            reason = "members of classes with outside bases"
        elif row.uid in constructed:
            reason = "constructed classes"
        elif _is_decorated(row.start_line, row.line, lines.of(row.path)):
            reason = "decorated"
        elif is_member and owner is not None and owner.row.uid in dynamic:
            hidden = _asked(intent, node, frozenset(), marking) if intent.exported is not None else None
            reason = hidden or _BY_COMPUTED
        elif row.is_test and row.name.lower().startswith(_RUN_BY_TESTS):
            reason = "run by the test runner"
        elif not is_member and row.name in _ENTRY_POINTS:
            reason = "entry points"
        elif (wanted := _asked(intent, node, public.get(row.path, frozenset()), marking)) is not None:
            reason = wanted
        elif is_member and owner is not None and Label.CLASS in kinds_of(intent) and owner.row.uid in unused:
            reason = "members of unreferenced classes"
        else:
            continue
        told[row.uid] = reason
    return told


async def _marking(reader: Reader, nodes: Sequence[Node]) -> set[str]:
    """Return the languages of the nodes in which being exported says something, see `_HIDDEN`."""
    found: set[str] = set()
    for language in sorted({node.row.language for node in nodes}):
        hidden = await reader.store.cypher(_HIDDEN, {"language": language}, 1, TIMEOUT, nodes[0].project)
        if hidden.rows:
            found.add(language)
    return found


async def _edges(reader: Reader, uids: Sequence[str], direction: Direction, types: Sequence[EdgeType]) -> list[Edge]:
    return await reader.store.edges(uids, direction, types, max(_MAX_EDGES, 4 * len(uids)))


async def _bases(reader: Reader, uids: Iterable[str]) -> dict[str, dict[str, Node]]:
    """Return what each of the classes derives from, directly or not, by uid of class and base."""
    found: dict[str, dict[str, Node]] = {}
    level = {uid: {uid} for uid in uids}
    for _ in range(_MAX_LEVELS):
        if not level:
            break
        following: dict[str, set[str]] = {}
        for edge in await _edges(reader, sorted(level), Direction.OUT, (EdgeType.INHERITS,)):
            base = edge.row.target
            new = {uid for uid in level[edge.row.source] if base not in found.setdefault(uid, {})}
            for uid in new:
                found[uid][base] = edge.node
            if new:
                following.setdefault(base, set()).update(new)
        level = following
    return found


async def _constructed(reader: Reader, classes: Sequence[str]) -> set[str]:
    """Return the classes whose constructor is called: the call is an edge to the constructor."""
    held = await _edges(reader, classes, Direction.OUT, (EdgeType.DEFINES_METHOD,)) if classes else []
    made = {edge.row.target: edge.row.source for edge in held if edge.node.row.name in reader.languages.constructors}
    counts = await reader.store.degrees(list(made), Direction.IN, (EdgeType.CALLS, EdgeType.REFERENCES, EdgeType.TESTS))
    return {made[uid] for uid in counts}


def _is_special(name: str, owner: Node | None, constructors: frozenset[str]) -> bool:
    """Return whether the language calls a method: `__len__`, constructors and destructors."""
    if name.startswith("__") and name.endswith("__"):
        return True
    return owner is not None and (name in constructors or name.lstrip("~") == owner.row.name)


def _is_decorated(first: int, last: int, lines: Sequence[str]) -> bool:
    """Return whether a decorator or attribute that may register the definition stands before its name."""
    for line in lines[first - 1 : last]:
        match = _DECORATOR.match(line)
        if match is not None and re.split(r"[.:]+", match[1])[-1].lower() not in _INERT:
            return True
    return False


def _public_names(text: str) -> frozenset[str]:
    """Return the names that a module lists as its public ones."""
    lists = _ALL_NAMES.findall(text) if "__all__" in text else ()
    return frozenset(name for listed in lists for name in re.findall(r"[\"'](\w+)[\"']", listed))


def _asked(intent: RelationIntent, node: Node, public: frozenset[str], marking: set[str]) -> str | None:
    """Return why a definition is left out for its visibility; None if it is asked for.

    `marking` are the languages in which a definition has to be exported explicitly, or by its first letter.
    """
    row = node.row
    if intent.exported is True:
        return None if row.exported else "not exported"
    if intent.exported is False:
        return "exported" if row.exported else None
    is_public = row.name in public or (row.exported and row.language in marking)
    return _EXPORTED if is_public else None
