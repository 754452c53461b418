"""Members that a question names or describes and a class lacks: `SqlSession.selectStream`, `which field of Cmd holds`.

Both are said before the hits of a search, which would look like the member. Reads the graph and the text of the class.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from atlas.code.graph.subjects import Subjects
from atlas.code.question.names import dotted
from atlas.code.reader import Reader
from atlas.code.retrieve.resolve import resolve
from atlas.core.english.stems import base_forms, root_of
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.invisible import escaped
from atlas.core.labels import EXTERNAL_LABELS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Filter, Label, Match, Node

MAX_LEVELS = 8
MAX_EDGES = 5_000
MOST_NEAR = 5
MOST_FIELDS = 30
MIN_ALIKE = 0.6
MAX_LINE = 400
MIN_WORD = 3
MOST_WORDS = 30
FEW_FIELDS = 15
"""Fields that are listed beside those that fit."""
_HOLDS = (EdgeType.DEFINES, EdgeType.DEFINES_METHOD)
_FIELD = lazy_regex(
    r"\b(?:which|what) (?P<kind>field|attribute|property|member|column|method|variable)s? (?:of|in|on) "
    r"(?:the |our |an? )?(?:(?:class|struct|interface|type|record) )?[`'\"]?(?P<owner>[A-Za-z_][\w.:]{1,120})[`'\"]?"
    r"(?: (?:class|struct|object|type|record|instance))? "
    r"(?:holds?|stores?|keeps?|contains?|sets?|has|have|says?|tells?|controls?|limits?|counts?|carr(?:y|ies)|records?"
    r"|tracks?|gives?|returns?|decides?|configures?|represents?|remembers?|saves?|means?|is|are)"
    r" (?P<rest>[^?;]{1,200})",
    re.IGNORECASE,
)
_DEFAULT_OF = lazy_regex(
    r"\b(?:default|maximum|minimum|initial) (?P<rest>(?:[a-z-]{2,30} ){0,2}?[a-z-]{2,30})"
    r" (?:between|of|for|in|when|before|after|until)\b"
    r"(?:.{0,80}?\b(?:marked|decorated|annotated|tagged) (?:with|by|as) (?:the |an? )?"
    r"[`\[@]{0,2}(?P<owner>[A-Za-z_]\w{1,80})"
    r"|.{0,60}? ?(?:the |an? )[`\[@]{0,2}(?P<named>[A-Za-z_]\w{1,80})[`\]]{0,2} (?:attribute|decorator|annotation))\b",
    re.IGNORECASE,
)
"""`The default pause between attempts of a test marked with Retry`: of what the mark can be given."""
_BOUND_OF = lazy_regex(
    r"\b(?:set|configure|change|limit|restrict|control|pass|give) (?:the |an? )?"
    r"(?:(?P<most>max(?:imum|imal)?|limit|upper (?:limit|bound)|cap)|(?P<least>min(?:imum|imal)?|lower (?:limit|bound))"
    r"|(?P<time>timeout|time-?out|deadline))\b[^?;.]{0,60}?"
    r" (?:for|of|on|in|by|to) (?:the |an? )?`?(?P<owner>[A-Z]\w{2,80})\b"
)
"""`Where do I set the maximum number of threads for Pool`: a bound, and the class that should have it."""
_SAYS = {
    "most": ("`max` or `limit`", lazy_regex(r"max|limit|at most\b|\bbound|\bcap(?:acity|ped)?\b", re.IGNORECASE)),
    "least": ("`min` or `limit`", lazy_regex(r"min|limit|at least\b|\bbound", re.IGNORECASE)),
    "time": ("`timeout` or `deadline`", lazy_regex(r"time_?-? ?out|deadline", re.IGNORECASE)),
}
MOST_METHODS = 8
_MARKS = ("", "Attribute", "Decorator")
"""Endings of classes that a mark leaves out."""
_BEYOND = lazy_regex(
    r" (?:for|when|while|that|which|by|in|on|if|during|after|before|to|from|with|so|and then|at)\b", re.IGNORECASE
)
"""Behind what a field holds stands what it is for: `the number of retries for a failing command`."""
_GENERAL = frozenset(
    """
    number numbers count amount value values name list kind type flag time whether current given actual maximum minimum
    max min default total set one own all any information info data content contents
    """.split()  # noqa: SIM905
)
_NONE = "no "
_DYNAMIC = frozenset(("__getattr__", "__getattribute__", "method_missing", "__call", "__get", "respond_to_missing"))
"""Methods by which a class has members that it does not declare."""
_ASSIGNED = lazy_regex(
    r"(?:\b(?:self|this)(?:\.|->)|(?<![\w@])@)(?P<name>[A-Za-z_]\w{0,80})\s?(?::[^=\n]{1,80})?=(?![=>~])"
)
"""What methods give an object, without a declaration: `self.timeout = None`."""
_ABOVE = lazy_regex(r"\s*(?:#|//|\*|/\*|--|\"\"\")")


@dataclass(frozen=True, slots=True)
class _ClassMembers:
    """What a class and the bases that the index has declare."""

    node: Node
    members: tuple[Node, ...]
    assigned: tuple[tuple[str, int], ...]
    """What methods of the class give an object, with the first line."""
    outside: tuple[str, ...]
    """Names of bases that are not indexed."""
    text: str
    """Of the class and its bases."""

    @property
    def title(self) -> str:
        """The class as answers name it."""
        row = self.node.row
        return f"{row.kind} {row.qualified_name} {row.path}:{row.line or row.start_line}"


async def member_lines(reader: Reader, text: str, subjects: Subjects, project: str) -> tuple[str, ...]:
    """Return lines about members that a class lacks, or about its fields that a question describes; () for others."""
    if len(text.split()) > MOST_WORDS:
        return ()
    asked = _FIELD.search(text)
    if asked is not None and (held := await _class_of(reader, asked["owner"], project)) is not None:
        return await _fields(reader, held, asked["kind"].lower(), asked["rest"])
    lines: list[str] = []
    if (told := _DEFAULT_OF.search(text)) is not None:
        for ending in _MARKS:
            held = await _class_of(reader, f"{told['owner'] or told['named']}{ending}", project)
            found = await _fields(reader, held, "property", told["rest"]) if held is not None else ()
            lines += [each for each in found if each.startswith(_NONE)]  # what it has is found by its own words
    if (bound := _BOUND_OF.search(text)) is not None and (held := await _class_of(reader, bound["owner"], project)):
        lines += _unbounded(held, next(key for key in _SAYS if bound[key]))
    for written in (*subjects.unknown, *(each.written for each in subjects.found)):
        owner, dot, member = dotted(written.text.strip("()")).rpartition(".")
        if not dot or not member.isidentifier() or reader.languages.path.fullmatch(written.text):
            continue
        if await _is_member(reader, owner, member, project):
            continue
        held = await _class_of(reader, owner, project)
        if held is None and owner.isidentifier() and owner[:1].islower():
            held = await _class_of(reader, f"{owner[:1].upper()}{owner[1:]}", project)  # `job.start()` of a `Job`
        if held is not None:
            lines += _missing(reader, held, member)
    return tuple(lines)


def _unbounded(held: _ClassMembers, kind: str) -> list[str]:
    """Return that no line of a class and its bases speaks of a bound, with what they have; [] where one does."""
    words, says = _SAYS[kind]
    if says.search(held.text) is not None:
        return []
    listed = ", ".join(_shown(each) for each in held.members[:MOST_METHODS])
    more = f" and {len(held.members) - MOST_METHODS} more" if len(held.members) > MOST_METHODS else ""
    return [escaped(f"no line of {held.title} says {words}{_not_indexed(held)}; it has: {listed}{more}")]


async def _is_member(reader: Reader, owner: str, member: str, project: str) -> bool:
    """Return whether any class of a name has the member: a declaration of it elsewhere may lack it."""
    found = await reader.store.find(f"{owner}.{member}", Match.FOLDED, Filter(project=project), MOST_NEAR)
    rows = [node.row for node in found if node.row.name == member and node.row.path]
    return any(row.label == Label.METHOD or f".{row.qualified_name}".endswith(f".{owner}.{member}") for row in rows)


async def _class_of(reader: Reader, name: str, project: str) -> _ClassMembers | None:
    """Return the members of the one class of the project that has a name; None where there are several, or none."""
    nodes = (await resolve(reader, dotted(name.strip(":.")), Filter(project=project))).nodes
    classes = [each for each in nodes if each.row.label == Label.CLASS and each.row.path]
    classes = [each for each in classes if not each.row.is_test] or classes
    declarations = reader.languages.declarations
    classes = [each for each in classes if not each.row.path.endswith(declarations)] or classes
    if len(classes) != 1:
        return None
    every, outside = [classes[0]], list[str]()
    level = [classes[0].row.uid]
    for _ in range(MAX_LEVELS):
        edges = await reader.store.edges(level, Direction.OUT, (EdgeType.INHERITS,), MAX_EDGES) if level else []
        outside += [edge.node.row.name for edge in edges if edge.node.row.label in EXTERNAL_LABELS]
        new = [edge.node for edge in edges if edge.node.row.label not in EXTERNAL_LABELS and edge.node not in every]
        every += new
        level = [each.row.uid for each in new]
    held = await reader.store.edges([each.row.uid for each in every], Direction.OUT, _HOLDS, MAX_EDGES)
    own = classes[0].row.uid
    members = sorted((edge for edge in held), key=lambda edge: (edge.row.source != own, edge.node.row.start_line))
    texts = await reader.store.content(project, sorted({each.row.path for each in every}))
    lines = {path: text.decode("utf-8", "replace").splitlines() for path, text in texts.items()}
    parts = [
        "\n".join(lines.get(each.row.path, [])[each.row.start_line - 1 : each.row.end_line])
        for each in (*every, *(edge.node for edge in members))
        if each.row.path
    ]
    assigned: dict[str, int] = {}
    for each in every:
        for number, line in enumerate(
            lines.get(each.row.path, [])[each.row.start_line - 1 : each.row.end_line], each.row.start_line
        ):
            for match in _ASSIGNED.finditer(line[:MAX_LINE]):
                assigned.setdefault(match["name"], number)
    return _ClassMembers(
        classes[0],
        tuple(edge.node for edge in members),
        tuple(assigned.items()),
        tuple(dict.fromkeys(outside)),
        "\n".join(parts),
    )


def _missing(reader: Reader, held: _ClassMembers, member: str) -> list[str]:
    """Return the line that a class has no such member, with the nearest; [] where its text has the name."""
    if re.search(rf"(?<!\w){re.escape(member)}(?!\w)", held.text) is not None:
        return []
    names: dict[str, int] = {}
    for each in held.members:
        names.setdefault(each.row.name, each.row.line or each.row.start_line)
    words = {root_of(word) for word in reader.split_words(member)}

    def alike(name: str) -> tuple[int, float]:
        shared = len(words & {root_of(word) for word in reader.split_words(name)})
        return shared, SequenceMatcher(None, member.lower(), name.lower()).ratio()

    near = [name for name in names if alike(name)[0] or alike(name)[1] >= MIN_ALIKE]
    near.sort(key=lambda name: (-alike(name)[0], -alike(name)[1], names[name]))
    line = f"`{member}` is no member of {held.title}"
    if near:
        line += f"; nearest: {', '.join(f'{name} {names[name]}' for name in near[:MOST_NEAR])}"
    line += _not_indexed(held)
    if dynamic := sorted(_DYNAMIC & names.keys()):
        line += f"; `{dynamic[0]}` may give it others"
    return [escaped(line)]


async def _fields(reader: Reader, held: _ClassMembers, kind: str, rest: str) -> tuple[str, ...]:
    """Return the members of a kind in one line, first those of whose line the question has a word."""
    wants_method = kind == "method"
    fields = [
        each
        for each in held.members
        if (each.row.label == Label.METHOD and each.row.kind != "property") == wants_method
    ]
    fields = [each for each in fields if each.row.label in (Label.METHOD, Label.VALUE)]
    words = _words(_BEYOND.split(rest)[0]) or _words(rest)
    known = {each.row.name for each in held.members}
    further = [] if wants_method else [each for each in held.assigned if each[0] not in known]
    if not (fields or further) or not words:
        return ()
    project = held.node.project
    texts = await reader.store.content(project, sorted({each.row.path for each in fields}))
    lines = {path: text.decode("utf-8", "replace").splitlines() for path, text in texts.items()}
    said = [(_shown(each), _said(each, lines.get(each.row.path, []))) for each in fields]
    said += [(f"{name} {line}", name) for name, line in further]
    fitting: dict[str, list[str]] = {word: [] for word in words}
    for shown, text in said:
        parts = {root_of(part) for part in reader.split_words(text)}
        for word in words:
            if not parts.isdisjoint((root_of(word), *base_forms(word))):
                fitting[word].append(shown)
    noun = "methods" if wants_method else "fields"
    found = list(dict.fromkeys(each for kept in fitting.values() for each in kept))
    found.sort(key=lambda each: (-sum(each in kept for kept in fitting.values()), len(reader.split_words(each))))
    listed = ", ".join(each for each, _ in said[:MOST_FIELDS])
    listed += f" and {len(said) - MOST_FIELDS} more" if len(said) > MOST_FIELDS else ""
    if not found:
        none = " or ".join(f"`{word}`" for word in words)
        return (escaped(f"{_NONE}{noun[:-1]} of {held.title} has {none}{_not_indexed(held)}; {noun}: {listed}"),)
    has = ", ".join(f"`{word}`" for word, kept in fitting.items() if kept)
    rest = f"; all {len(said)}: {listed}" if len(said) <= FEW_FIELDS else f"; of {len(said)}"
    return (escaped(f"{noun} of {held.title} with {has}: {', '.join(found[:FEW_FIELDS])}{rest}"),)


def _not_indexed(held: _ClassMembers) -> str:
    names = " and ".join(f"`{name}`" for name in held.outside[:2])
    return f"; its {'bases' if len(held.outside) > 1 else 'base'} {names} may have more" if names else ""


def _words(text: str) -> list[str]:
    words = [word.strip("`'\".,?!:;()").lower() for word in re.split(r"[\s/]+", text)]
    kept = [word for word in words if len(word) >= MIN_WORD and word not in STOP_WORDS and word not in _GENERAL]
    return list(dict.fromkeys(kept))


def _shown(node: Node) -> str:
    return f"{node.row.name} {node.row.line or node.row.start_line}"


def _said(node: Node, lines: Sequence[str]) -> str:
    """Return the name of a member, its lines and the comment above it, without what other members say."""
    first, last = node.row.start_line, max(node.row.end_line, node.row.start_line)
    above = first - 1
    while 0 < above <= len(lines) and _ABOVE.match(lines[above - 1]):
        above -= 1
    own = lines[above : last if node.row.label == Label.VALUE else first]
    return " ".join((node.row.name, *own))
