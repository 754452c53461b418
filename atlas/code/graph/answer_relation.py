"""Find the edges that answer a question about a relation; each symbol once, with all lines. Reads the graph only.

`answer_relation` returns None where the question has to be searched as text: it names nothing that is certainly a
symbol, and nothing has that name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from atlas.code.graph.absence.called_by_name import called_by_name
from atlas.code.graph.absence.derivations import begins_base, may_derive, quote_derivations, with_stated
from atlas.code.graph.absence.generated import named_in_generated
from atlas.code.graph.absence.handed_over import handed_over
from atlas.code.graph.absence.literals import made_by_literals
from atlas.code.graph.absence.occurrences import TextPlace
from atlas.code.graph.absence.proof import SHOWN, Absence, is_prose, is_test, prove_none, prove_none_from, unaccounted
from atlas.code.graph.absence.unnamed_implementers import find_unnamed_implementers
from atlas.code.graph.absence.unresolved import (
    UnresolvedCall,
    describe_beyond,
    find_unresolved,
    unresolved_beside,
    unresolved_beyond,
)
from atlas.code.graph.aliases.definitions import related_of_definitions
from atlas.code.graph.aliases.type_aliases import related_of_aliases
from atlas.code.graph.answer_scope import AnswerScope, read_scope
from atlas.code.graph.families import (
    describe_inheriting,
    find_definitions,
    find_extended,
    find_family,
    find_inheriting,
    find_overriding,
    overridden_of_class,
    related_inside,
)
from atlas.code.graph.mentions import find_related_by_text
from atlas.code.graph.paths.call_path import MAX_STEPS, MAX_VISITED, MOST_NAMED, find_path, find_path_by_name
from atlas.code.graph.paths.meeting import note_on_cut_level, notes_on_meeting
from atlas.code.graph.quoted_lines import with_lines
from atlas.code.graph.relation import EdgeAnswer, RelatedSymbol, joined_parts
from atlas.code.graph.return_types import DECLARES_RESULTS, declared_as, edges_of_returning, is_type, returning_lines
from atlas.code.graph.route_clients import answer_clients, procedures_named, through_procedures
from atlas.code.graph.targets import (
    MAX_TARGETS,
    Target,
    Targets,
    all_targets,
    find_targets,
    members_of,
    with_folder,
)
from atlas.code.notes.about import NoteAbout, notes_about
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, Edge, EdgeRow, EdgeType, Filter, Label, Match, Node
from atlas.core.wording import counted

MAX_EDGES = 20_000
"""Edges read of one relation; a symbol of a large tree may have 17,000 callers."""
MAX_DEPTH = 8
DEFAULT_DEPTH = 3
"""Levels of a transitive question that names none: each level multiplies the answers by the number of callers."""
MAX_REACHED = 2_000
"""Maximum number of symbols that a transitive relation visits."""
MAX_FOLLOWED = 3
"""Maximum number of symbols of one name whose edges are listed; for more symbols, only the edges are counted."""
MOST_LISTED = 20
"""Edges of all symbols of a name that are listed, however many symbols have it: fewer words than another question."""
_ALWAYS_SYMBOLS = frozenset(
    {Kind.CALLERS, Kind.CALLEES, Kind.SUBTYPES, Kind.SUPERTYPES, Kind.OVERRIDES, Kind.OVERRIDDEN, Kind.IMPORTERS}
)
"""Relations that nobody asks of an English word: `callers of save` means a symbol, `tests for login` may not."""
_LISTED_ANYWAY = _ALWAYS_SYMBOLS | {Kind.DEFINITION, Kind.INSTANTIATIONS}
"""Relations that list the symbols of a name that many have, though the name may be an English word."""
UNANSWERED = frozenset({Kind.ROUTES, Kind.CHANGES})
"""Relations that the graph does not hold.

Questions about changes are answered from the version history before (`code/changes/changes.py`), unless they only sound
so.
"""
MAX_TEST_STEPS = 5
"""Levels of callers through which a test may reach a symbol that no test calls."""
_REACHED_BY_TESTS = (EdgeType.TESTS, EdgeType.CALLS, EdgeType.REFERENCES)
_SYMBOLS = (Label.CLASS, Label.FUNCTION, Label.METHOD)
_FILE_LABELS = (Label.MODULE, Label.PACKAGE, Label.FILE)
_THAT_ARE: Mapping[Label, str] = MappingProxyType(
    {
        Label.METHOD: "that are functions",
        Label.VALUE: "that are fields or constants",
        Label.CLASS: "that are classes",
    }
)
_MIXED_IN = frozenset(("namespace", "module", "trait", "mixin"))
"""Kinds of types that others include."""
_HOLDS = (EdgeType.DEFINES, EdgeType.DEFINES_METHOD)
_TRANSITIVE = frozenset({Kind.SUBTYPES, Kind.SUPERTYPES, Kind.HIERARCHY, Kind.OVERRIDES, Kind.OVERRIDDEN})
"""Relations that are followed to the end unless the question says `direct`."""


async def answer_relation(reader: Reader, intent: RelationIntent, where: Filter) -> EdgeAnswer | None:
    """Answer a question about a relation; return None if it has to be searched as text. Raises store errors."""
    if not intent.name or intent.kind in UNANSWERED:
        return None
    if intent.kind == Kind.UNUSED:
        # `is X unused` is answered by its usages
        intent = replace(intent, kind=Kind.USAGES)
    targets = await find_targets(reader, intent.name, intent, where.project, allows_near=True)
    targets = _as_said(targets, intent.said_kind)
    if targets.is_text or (targets.is_article and not intent.certain):
        return None
    if intent.kind == Kind.DEFINITION and intent.said_kind and _is_outside(targets):
        return None  # `where is the netrc file located`: the file, not the package of that name
    if intent.kind == Kind.NOTES and not 0 < targets.total <= MAX_FOLLOWED:
        # the name may be that of an entity, which is found as text
        return None
    if intent.kind == Kind.RETURNERS:
        typed, types = _of_types(intent, targets)
        is_own = typed.kind == Kind.RETURNERS and any(each.node.row.path for each in types.targets)
        found = None if is_own else await _by_signature(reader, intent, targets, where)
        if found is not None:
            return found
        intent, targets = typed, types
    if intent.kind == Kind.CALLERS and not any(_has_name(each, intent.name) for each in targets.targets):
        procedures = await procedures_named(reader, intent.name)
        if procedures:
            return await answer_clients(reader, intent.name, procedures, intent, where)
    if not targets.targets:
        is_symbol = intent.certain or (targets.reasons and intent.kind in _ALWAYS_SYMBOLS)
        return EdgeAnswer(intent, targets) if is_symbol else None
    if not intent.certain and targets.total > MAX_FOLLOWED and intent.kind not in _LISTED_ANYWAY:
        return None
    if intent.kind == Kind.PATH:
        return await _path(reader, intent, targets, where.project)
    if intent.kind == Kind.IMPORTERS and await _is_mixed_in(reader, targets):
        intent = replace(intent, kind=Kind.SUBTYPES)
    targets = await with_folder(reader, targets, intent)
    if intent.kind == Kind.OVERRIDES and 1 < targets.total <= MAX_FOLLOWED:
        return await _of_few_methods(reader, intent, targets, where)
    return await _of_targets(reader, intent, targets, where)


async def _of_few_methods(reader: Reader, intent: RelationIntent, targets: Targets, where: Filter) -> EdgeAnswer | None:
    """Answer what overrides the methods of a name: one and those that override it are not several."""
    if (family := await find_family(reader, intent.kind, targets, where.project)) is not None:
        return await _of_targets(reader, intent, family, where)
    if methods := await find_definitions(reader, intent.kind, targets, where.project):
        return await _defined_by(reader, intent, targets, where, methods)
    return await _of_targets(reader, intent, targets, where)


def _has_name(target: Target, name: str) -> bool:
    return re.split(r"[./:#]", name)[-1] == target.node.row.name


async def _is_mixed_in(reader: Reader, targets: Targets) -> bool:
    """Return whether classes include the named thing, rather than files: Ruby's modules."""
    if any(each.node.row.path and each.node.row.kind not in _MIXED_IN for each in targets.targets):
        return False
    found = await reader.store.degrees(targets.uids, Direction.IN, (EdgeType.INHERITS, EdgeType.IMPORTS))
    return {each for types in found.values() for each in types} == {EdgeType.INHERITS}


async def _of_targets(reader: Reader, intent: RelationIntent, targets: Targets, where: Filter) -> EdgeAnswer | None:
    """Answer a relation of known symbols, of which a name may have many."""
    about, others = tuple[str, ...](), tuple[str, ...]()
    if targets.total > MAX_FOLLOWED and intent.kind not in (Kind.DEFINITION, Kind.RETURNERS):
        family = await find_family(reader, intent.kind, targets, where.project)
        if family is None and (methods := await find_definitions(reader, intent.kind, targets, where.project)):
            return await _defined_by(reader, intent, targets, where, methods)
        if family is None:
            family, others = await find_extended(reader, intent, targets, where.project)
        else:
            about = (f"{targets.total} methods of that name override one another: this is the one that all go back to",)
        if family is None and not (await read_scope(reader, intent, targets, where)).words:
            counted = await _counted(reader, intent, targets)
            if targets.total > MAX_TARGETS or not 0 < sum(counted.counts) <= MOST_LISTED:
                return counted
        targets = family or await all_targets(reader, targets, intent.kind, where.project)
    if (overridden := await overridden_of_class(reader, intent, targets)) is not None:
        return overridden
    scope = await read_scope(reader, intent, targets, where)
    found, targets, defined = await related_of_definitions(reader, intent, targets, partial(_related, reader, intent))
    notes = (*targets.notes, *about, *others, *scope.notes, *defined)
    if about:
        listed = {each.node.row.uid for each in found}
        found += [each for each in await related_inside(reader, intent, targets) if each.node.row.uid not in listed]
    aliased, said = await related_of_aliases(reader, intent, targets)
    known = {each.node.row.uid for each in found}
    found += [each for each in aliased if each.node.row.uid not in known]
    notes = (*notes, *said)
    found += await find_related_by_text(reader, intent, targets, found)
    found = joined_parts(found) if intent.kind == Kind.SUBTYPES else found
    if intent.kind in (Kind.INSTANTIATIONS, Kind.CALLERS):
        found += await made_by_literals(reader, targets, found)
    related = tuple(each for each in found if scope.has(each.node))
    if intent.is_negated:
        return await _not_overriding(reader, intent, targets, found, scope) if _is_callable(targets) else None
    said = [each for each in related if each.node.row.label in intent.labels]
    if intent.kind == Kind.MEMBERS and said:
        related = tuple(said)
        scope = replace(scope, words=" ".join(filter(None, (scope.words, _THAT_ARE[intent.labels[0]]))))
    methods = await find_definitions(reader, intent.kind, targets, where.project) if not found else []
    if len(methods) > 1:
        return await _defined_by(reader, intent, targets, where, methods)
    if not related and intent.kind == Kind.NOTES:
        # nobody has written anything down: the code itself says more than `none`
        return None
    if len(found) > MAX_REACHED:
        notes = (*notes, f"followed to the first {len(found)} symbols; there may be more")
    words = scope.words or ("within the filters" if len(related) < len(found) else "")
    if related:
        related, at_least = await _with_places_beside(reader, intent, targets, related)
        unread = await named_in_generated(reader, intent.kind, [target.node for target in targets.targets])
        every = found if intent.kind == Kind.OVERRIDES else related  # what the scope leaves out overrides as well
        notes = (*notes, *await _beside(reader, intent, targets, every, scope.has), *at_least, *unread)
        notes += await _not_defined_again(reader, intent, targets, found)
        return EdgeAnswer(intent, targets, related=related, notes=notes, scope=words, unscoped=len(found))
    absence = await _prove(reader, intent, targets, scope.has)
    if not found or not absence.is_proven:
        notes = (*notes, absence.sentence, *await _by_name(reader, intent, targets, scope.has))
    is_unknown = not absence.is_proven
    return EdgeAnswer(intent, targets, notes=notes, scope=words, unscoped=len(found), is_unknown=is_unknown)


async def _not_defined_again(
    reader: Reader, intent: RelationIntent, targets: Targets, found: Sequence[RelatedSymbol]
) -> tuple[str, ...]:
    """Return which classes below that of one method inherit it, beside those that override it."""
    if intent.kind != Kind.OVERRIDES or not _is_callable(targets) or targets.total != 1:
        return ()
    return tuple(await _inherited(reader, targets.targets[0].node, [each.node for each in found]))


async def _by_signature(reader: Reader, intent: RelationIntent, targets: Targets, where: Filter) -> EdgeAnswer | None:
    """Answer which functions return a type that the project does not define, from their signatures; None for none."""
    name = targets.name.rpartition(".")[2]
    nodes, has_more = await declared_as(reader, name, where.project)
    if not nodes:
        return None
    scope = await read_scope(reader, intent, targets, where)
    found = tuple(_definition(node) for node in nodes if scope.has(node))
    limit = f" {scope.words}: {len(found)} of {len(nodes)}" if scope.words else f": {len(found)}"
    title = f"functions that declare `{name}` as their result{limit}{'+' if has_more else ''}"
    return EdgeAnswer(intent, Targets(name, ()), related=found, notes=scope.notes, title=title)


async def _defined_by(
    reader: Reader, intent: RelationIntent, targets: Targets, where: Filter, methods: Sequence[Node]
) -> EdgeAnswer | None:
    """Answer "which classes implement X" for several methods: those that override another, else all of them."""
    scope = await read_scope(reader, intent, targets, where)
    uids = [node.row.uid for node in methods]
    edges = await reader.store.edges(uids, Direction.OUT, (EdgeType.OVERRIDES,), MAX_REACHED)
    overriding = {edge.row.source for edge in edges}
    bases = [node for node in methods if node.row.uid in {edge.row.target for edge in edges} - overriding]
    if intent.is_negated:
        base = Targets(targets.name, tuple(Target(node, (node.row.uid,)) for node in bases), len(bases))
        others = [_definition(node) for node in methods if node.row.uid in overriding]
        return await _not_overriding(reader, intent, base, others, scope)
    found = [
        _definition(node) for node in methods if scope.has(node) and (not overriding or node.row.uid in overriding)
    ]
    every = sum(not overriding or uid in overriding for uid in uids)
    what = "that override another" if overriding else "which have no common base method"
    limit = f" {scope.words}: {len(found)} of {every}" if scope.words else f": {len(found)}"
    title = f"methods named `{targets.name}`{'' if overriding else ','} {what}{limit}"
    notes = scope.notes
    if intent.kind == Kind.OVERRIDES and len(bases) == 1:
        notes = (*notes, *await _inherited(reader, bases[0], [node for node in methods if node is not bases[0]]))
    return EdgeAnswer(intent, Targets(targets.name, ()), related=tuple(found), notes=notes, title=title)


async def _inherited(reader: Reader, base: Node, overriding: Sequence[Node]) -> tuple[str, ...]:
    """Return a note with the few classes that have a method from their base as it is."""
    every = await find_inheriting(reader, base, overriding)
    if not 0 < len(every) <= MOST_INHERITING:
        return ()
    shown = ", ".join(f"{each.row.name} {each.row.path}:{each.row.line}" for each in every)
    return (f"have that of {base.row.qualified_name} as it is: {shown}",)


async def _not_overriding(
    reader: Reader, intent: RelationIntent, targets: Targets, overriding: Sequence[RelatedSymbol], scope: AnswerScope
) -> EdgeAnswer | None:
    """Answer which classes have a method as it is; None where several methods of the name have no first one."""
    if len(targets.targets) != 1:
        return None
    node = targets.targets[0].node
    every = await find_inheriting(reader, node, [each.node for each in overriding])
    found = tuple(_definition(each) for each in every if scope.has(each))
    row = node.row
    title = f"classes that inherit {row.qualified_name} {row.path}:{row.line} without an override"
    limit = f" {scope.words}: {len(found)} of {len(every)}" if scope.words else f": {len(found) or 'none found'}"
    others = tuple(dict.fromkeys(each.node.row.qualified_name for each in overriding))
    more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
    notes = (f"overridden {counted(len(others), 'time')}: {', '.join(others[:SHOWN])}{more}",) if others else ()
    return EdgeAnswer(intent, targets, related=found, notes=(*scope.notes, *notes), title=f"{title}{limit}")


async def _prove(reader: Reader, intent: RelationIntent, targets: Targets, kept: Callable[[Node], bool]) -> Absence:
    """Return whether nothing found is none."""
    nodes = [target.node for target in targets.targets]
    if intent.direction == Direction.OUT:
        return await prove_none_from(reader, nodes, intent.kind)
    return await prove_none(reader, nodes, intent.kind, keep=kept)


async def _by_name(
    reader: Reader, intent: RelationIntent, targets: Targets, keep: Callable[[Node], bool]
) -> tuple[str, ...]:
    """Return what may call a function by a text with its name, where callers are asked for."""
    nodes = [target.node for target in targets.targets]
    return await called_by_name(reader, nodes, keep) if intent.kind == Kind.CALLERS else ()


async def _beside(
    reader: Reader,
    intent: RelationIntent,
    targets: Targets,
    related: Sequence[RelatedSymbol],
    keep: Callable[[Node], bool],
) -> tuple[str, ...]:
    """Return what may be missing in an answer that has some: unresolved calls, lines that look like the relation."""
    node = targets.targets[0].node
    known = {(each.path, line) for each in related for line in each.lines}
    nodes = [target.node for target in targets.targets]
    if intent.kind == Kind.CALLERS:
        unresolved = await unresolved_beside(reader, node, targets.total)
        if intent.direct is False:
            inner = {each.through for each in related}
            ends = [each.node for each in related if each.node.row.qualified_name not in inner]
            unresolved += describe_beyond(await unresolved_beyond(reader, ends))
        return (
            *unresolved,
            *await handed_over(reader, nodes, known, keep),
            *await _by_name(reader, intent, targets, keep),
        )
    if intent.kind in (Kind.USAGES, Kind.DEPENDENTS) and _is_callable(targets):
        return await unresolved_beside(reader, node, targets.total)
    if intent.kind == Kind.IMPACT:
        return describe_beyond(await unresolved_beyond(reader, [each.node for each in related]))
    if intent.kind == Kind.SUBTYPES:
        return await find_unnamed_implementers(reader, nodes, [each.node.row.uid for each in related])
    if intent.kind == Kind.CALLEES:
        called = [each.node for each in related if each.depth == 1 and each.strategy not in _EXACT]
        return await find_overriding(reader, called)
    if intent.kind == Kind.OVERRIDES and _is_callable(targets) and len(nodes) == 1:
        return describe_inheriting(await find_inheriting(reader, node, [each.node for each in related]))
    if intent.kind == Kind.RETURNERS and not node.row.path.endswith(DECLARES_RESULTS):
        return ("functions whose result is neither declared nor made in a line `return X(` are not among them",)
    return ()


async def _with_places_beside(
    reader: Reader, intent: RelationIntent, targets: Targets, related: tuple[RelatedSymbol, ...]
) -> tuple[tuple[RelatedSymbol, ...], tuple[str, ...]]:
    """Return the related symbols with the lines that state the relation, and a note with lines that may be more."""
    places = await _places_beside(reader, intent, targets, related)
    if intent.kind != Kind.SUBTYPES:
        is_followed = intent.direct is False and intent.kind in (Kind.CALLERS, Kind.CALLEES, Kind.USAGES)
        cut = (related, _depth(intent), intent.direction, intent.types)
        return related, (*_at_least(places), *(await note_on_cut_level(reader, *cut) if is_followed else ()))
    related, places = with_stated(related, places)
    heads = {(each.path, each.node.row.line + by) for each in related for by in range(1, ROWS_OF_HEAD)}
    # `extends` may stand below the name
    places = tuple(each for each in places if (each.path, each.line) not in heads or not begins_base(each))
    return related, quote_derivations(places)


async def _places_beside(
    reader: Reader, intent: RelationIntent, targets: Targets, related: Sequence[RelatedSymbol]
) -> tuple[TextPlace, ...]:
    """Return the lines without an edge that look like the relation."""
    node = targets.targets[0].node
    if intent.kind not in _MAY_LACK or _is_file(targets) or await _is_common(reader, node):
        return ()
    if intent.kind == Kind.USAGES and not _is_callable(targets):
        # their lines without an edge are listed
        return ()
    known = {(each.path, line) for each in related for line in each.lines}
    known |= {(each.path, each.node.row.line) for each in related}
    left = await unaccounted(reader, [target.node for target in targets.targets], intent.kind, known)
    is_such = _MAY_LACK[intent.kind]
    return tuple(each for each in left.places if is_such(each, node.row.name) and not is_prose(each))


def _at_least(places: Sequence[TextPlace]) -> tuple[str, ...]:
    if not places:
        return ()
    shown = ", ".join(each.at for each in places[:SHOWN])
    return (f"at least: {counted(len(places), 'more line')} may be such, without an edge: {shown}",)


ROWS_OF_HEAD = 4
_RAISES = lazy_regex(r"\b(?:raise|throw)s?\b")
"""What makes an exception that is only named: `rescue NotFound` and `assert_raise NotFound` make none."""
MOST_INHERITING = 6
"""Classes without an override that are named with those that have one."""
_EXACT = frozenset(("super", "constructor"))
"""Rules of calls that run the method found and no override of it."""
_MAY_LACK: Mapping[Kind, Callable[[TextPlace, str], bool]] = MappingProxyType(
    {Kind.TESTS: lambda place, _: is_test(place), Kind.SUBTYPES: may_derive, Kind.USAGES: lambda place, _: True}
)
"""Relations whose answers say which lines without an edge may belong to them."""


async def _is_common(reader: Reader, node: Node) -> bool:
    """Return whether most lines with a name mean others: of a method it has one word, or several symbols have it."""
    if node.row.label == Label.METHOD and len(set(reader.split_words(node.row.name))) < 3:
        return True
    same = await reader.store.find(node.row.name, Match.SUFFIX, Filter(project=node.project), 20)
    names = {each.row.qualified_name.partition("#")[0] for each in same if each.row.label in _SYMBOLS}
    return len(names) > 1


async def _related(reader: Reader, intent: RelationIntent, targets: Targets) -> Sequence[RelatedSymbol]:
    uids = targets.uids
    match intent.kind:
        case Kind.DEFINITION:
            return [_definition(target.node) for target in targets.targets]
        case Kind.HIERARCHY:
            up = await _follow(reader, uids, Direction.OUT, intent, (EdgeType.INHERITS,))
            down = await _follow(reader, uids, Direction.IN, intent, (EdgeType.INHERITS,))
            found = [*(replace(each, depth=-each.depth) for each in reversed(up)), *down]
        case Kind.SUBTYPES | Kind.SUPERTYPES if _is_callable(targets):
            found = await _follow(reader, uids, intent.direction, intent, (EdgeType.OVERRIDES,))
        case Kind.NOTES:
            found = [_note(each) for each in await notes_about(reader, uids)]
        case Kind.MEMBERS:
            held = await _follow(reader, uids, Direction.OUT, intent, _HOLDS)
            found = [each for each in held if not each.node.row.name.startswith("<")]  # no anonymous bodies
        case Kind.IMPORTERS | Kind.DEPENDENTS | Kind.USAGES | Kind.IMPORTS | Kind.USES if _is_file(targets):
            # the edges of a file are those of its module and of what that holds; a package imports what its files do
            members = await members_of(reader, targets, with_files=intent.kind in (Kind.IMPORTS, Kind.IMPORTERS))
            kind = Kind.DEPENDENTS if intent.kind == Kind.USAGES else intent.kind
            types = (EdgeType.IMPORTS,) if kind == Kind.IMPORTERS else replace(intent, kind=kind).types
            found = await _follow(reader, (*uids, *members), intent.direction, intent, types)
            inside = {*uids, *members}
            found = [each for each in found if each.node.row.uid not in inside]
        case Kind.INSTANTIATIONS:
            found = await _follow(reader, uids, Direction.IN, intent, intent.types)
            # `raise NotFound` without brackets is a reference
            found = found or await with_lines(
                reader, await _follow(reader, uids, Direction.IN, intent, (EdgeType.REFERENCES,)), _RAISES
            )
        case Kind.RETURNERS:
            names = {target.node.row.name for target in targets.targets}
            edges = await edges_of_returning(reader, uids, names)
            found = [replace(each, lines=(each.node.row.line,)) for each in _merged(edges, Direction.IN, 1, {})]
            declared = {each.node.row.uid for each in found}
            edges = await returning_lines(reader, uids, names, targets.targets[0].node.project)
            found += [each for each in _merged(edges, Direction.IN, 1, {}) if each.node.row.uid not in declared]
        case Kind.TESTS:
            members = await members_of(reader, targets) if _is_file(targets) else []
            found = await _tests(reader, (*uids, *members), intent)
        case _:
            found = await _follow(reader, uids, intent.direction, intent, intent.types)
            if intent.kind == Kind.TESTED:
                found.sort(key=lambda each: (each.depth, -each.confidence))
            if intent.kind == Kind.CALLERS:
                found += await _dispatched(reader, uids, intent, {each.node.row.uid for each in found})
            if intent.kind in (Kind.CALLERS, Kind.CALLEES):
                known = {each.node.row.uid for each in found}
                through = await through_procedures(reader, uids, intent.direction)
                found += [each for each in through if each.node.row.uid not in known]
    return found


async def _tests(reader: Reader, uids: Sequence[str], intent: RelationIntent) -> list[RelatedSymbol]:
    """Return the tests of symbols, nearest first: those that call or pass them, else those that reach their callers."""
    found: dict[str, RelatedSymbol] = {}
    seen, level = set(uids), list(dict.fromkeys(uids))
    names: dict[str, str] = {}
    for depth in range(1, MAX_TEST_STEPS + 1):
        # a test may name a class as a type: `assertThrows<NotFound>`
        types = _REACHED_BY_TESTS if depth > 1 else (*_REACHED_BY_TESTS, EdgeType.USES_TYPE)
        edges = await reader.store.edges(level, Direction.IN, types, MAX_EDGES)
        reached = _merged(edges, Direction.IN, depth, names)
        for each in reached:
            if each.node.row.is_test and each.node.row.uid not in seen:
                found.setdefault(each.node.row.uid, replace(each, depth=max(each.depth, depth)))
        if (found and not (intent.direct is False and depth < DEFAULT_DEPTH)) or len(seen) > MAX_REACHED:
            break
        if depth == 1:
            edges = [edge for edge in edges if edge.row.type != EdgeType.USES_TYPE]
            reached = _merged(edges, Direction.IN, depth, names)
        new = [each for each in reached if each.node.row.uid not in seen and each.node.row.label not in _FILE_LABELS]
        names.update((each.node.row.uid, each.node.row.qualified_name) for each in new)
        level = [each.node.row.uid for each in new]
        seen.update(level)
        if not level:
            break
    return sorted(found.values(), key=lambda each: (each.depth, -each.confidence))


async def _follow(
    reader: Reader,
    uids: Sequence[str],
    direction: Direction,
    intent: RelationIntent,
    types: Sequence[EdgeType],
) -> list[RelatedSymbol]:
    """Return what the edges lead to, level by level; each symbol at its first level with every line."""
    seen = set(uids)
    found: list[RelatedSymbol] = []
    names: dict[str, str] = {}
    level = list(dict.fromkeys(uids))
    for depth in range(1, _depth(intent) + 1):
        edges = await reader.store.edges(level, direction, types, MAX_EDGES)
        reached = _merged(edges, direction, depth, names)
        if depth == 1 and intent.kind in (Kind.CALLERS, Kind.CALLEES, Kind.USAGES):
            # a recursive function is its own caller
            found += [each for each in reached if each.node.row.uid in seen]
        new = [each for each in reached if each.node.row.uid not in seen]
        found += new
        seen.update(each.node.row.uid for each in new)
        names.update((each.node.row.uid, each.node.row.qualified_name) for each in new)
        level = [each.node.row.uid for each in new]
        if not level or len(found) > MAX_REACHED:
            break
    return found


def _merged(edges: Iterable[Edge], direction: Direction, depth: int, names: dict[str, str]) -> list[RelatedSymbol]:
    """Return one entry per far symbol: all lines, and the rule that is most certain."""
    merged: dict[str, RelatedSymbol] = {}
    for edge in edges:
        row, far = edge.row, edge.node.row
        near = row.target if direction == Direction.IN else row.source
        lines = row.lines if direction == Direction.IN else ()
        known = merged.get(far.uid)
        if known is None:
            path = far.path
            through = names.get(near, "") if depth > 1 else ""
            steps = depth if row.type != EdgeType.TESTS else _steps(row)
            merged[far.uid] = RelatedSymbol(edge.node, path, lines, row.strategy, row.confidence, steps, through)
            continue
        best = row if row.confidence > known.confidence else None
        merged[far.uid] = replace(
            known,
            lines=tuple(sorted({*known.lines, *lines})),
            strategy=best.strategy if best else known.strategy,
            confidence=best.confidence if best else known.confidence,
            depth=min(known.depth, _steps(row)) if row.type == EdgeType.TESTS else known.depth,
        )
    return list(merged.values())


def _steps(row: EdgeRow) -> int:
    """Return through how many functions a test reaches what it tests: fixtures, set-up methods and helpers."""
    try:
        return int(json.loads(row.properties)["depth"]) if row.properties else 1
    except (ValueError, KeyError, TypeError):
        return 1


async def _dispatched(
    reader: Reader, uids: Sequence[str], intent: RelationIntent, known: set[str]
) -> list[RelatedSymbol]:
    """Return callers of the methods that the named method overrides: a call of the base may run the override."""
    bases = await reader.store.edges(uids, Direction.OUT, (EdgeType.OVERRIDES,), 20)
    own = {edge.node.row.uid: edge.node.row.qualified_name for edge in bases if edge.node.row.uid not in uids}
    if not own:
        return []
    edges = await reader.store.edges(list(own), Direction.IN, (EdgeType.CALLS,), MAX_EDGES)
    found = _merged(edges, Direction.IN, 2, own)
    return [each for each in found if each.node.row.uid not in known]


async def _counted(reader: Reader, intent: RelationIntent, targets: Targets) -> EdgeAnswer:
    """Return the targets with the number of their edges, most first."""
    found = await reader.store.degrees(targets.uids, intent.direction, intent.types)
    counts = [sum(sum(found.get(uid, {}).values()) for uid in target.uids) for target in targets.targets]
    order = sorted(range(len(counts)), key=lambda index: -counts[index])
    ranked = replace(targets, targets=tuple(targets.targets[index] for index in order))
    scoped = intent.within or intent.outside or intent.tests
    notes = ("numbers are of the whole project: the scope applies once a symbol is chosen",) if scoped else ()
    if 0 in counts:
        notes = (*notes, "0 says that no edge is known, not that there is none: ask for that symbol alone")
    if intent.kind == Kind.CALLERS:
        notes = (*notes, *await unresolved_beside(reader, targets.targets[0].node, targets.total))
    return EdgeAnswer(intent, ranked, notes=notes, counts=tuple(counts[index] for index in order))


async def _path(reader: Reader, intent: RelationIntent, targets: Targets, project: str) -> EdgeAnswer:
    others = await find_targets(reader, intent.other, replace(intent, name=intent.other), project, allows_near=True)
    note = ""
    if not others.targets:
        calls = await _calls_outside(reader, intent.other, project)
        if not calls:
            return EdgeAnswer(intent, targets, others)
        note = _outside_end(intent.other, calls)
        others = Targets(intent.other, tuple(Target(call.caller, (call.caller.row.uid,)) for call in calls), len(calls))
    steps = await find_path(reader, targets.uids, others.uids)
    how, meeting = "", ()
    if not steps and (steps := await find_path(reader, targets.uids, others.uids, hands_over=True)):
        how = "no chain of calls alone: a step may be a function that is handed over as a value, and called elsewhere"
    elif not steps and (steps := await find_path_by_name(reader, targets.uids, [each.node for each in others.targets])):
        how = "a step marked `name` is an unresolved call of that name, which makes the chain likely, not certain"
    related = tuple(
        RelatedSymbol(step.node, step.path, (step.line,) if step.line else (), step.strategy, step.confidence, depth)
        for depth, step in enumerate(steps, 1)
    )
    if not related:
        how = (
            f"no chain of resolved calls within {MAX_STEPS} steps and {MAX_VISITED} symbols: unknown rather than none, "
            "because unresolved calls are followed only near the end"
        )
        meeting = await notes_on_meeting(reader, targets.uids, others.uids)
    begins = await _beginning(reader, targets, steps[0].source) if steps else targets
    if begins is not targets and (
        targets.total > 1 or begins.targets[0].node.row.uid != targets.targets[0].node.row.uid
    ):
        note = "; ".join(
            filter(None, (note, f"several symbols are called `{targets.name}`: the chain begins at this one"))
        )
    targets, notes = begins, (*targets.nearness, *others.nearness, *filter(None, (note, how)), *meeting)
    return EdgeAnswer(intent, targets, others, related, notes, is_unknown=not related)


async def _beginning(reader: Reader, targets: Targets, uid: str) -> Targets:
    """Return the symbol of a name that a chain begins at; all of them where it begins at a member of one."""
    own = next((each for each in targets.targets if uid in each.uids), None)
    node = next(iter(await reader.store.symbols([uid])), None) if own is not None else None
    if own is None or node is None or node.row.qualified_name.startswith(f"{own.node.row.qualified_name}."):
        return targets
    return replace(targets, targets=(Target(node, (uid,)),), total=1)


async def _calls_outside(reader: Reader, name: str, project: str) -> tuple[UnresolvedCall, ...]:
    """Return the calls of a name that no symbol has, one for each caller outside tests; () where they are many."""
    found = await find_unresolved(reader, name.rpartition(".")[2], project)
    calls = tuple({call.caller.row.uid: call for call in reversed(found.calls) if not call.caller.row.is_test}.values())
    return calls[::-1] if len(calls) <= MOST_NAMED and not found.more else ()


def _outside_end(name: str, calls: Sequence[UnresolvedCall]) -> str:
    places = ", ".join(f"`{each.caller.row.name}` {each.caller.row.path}:{each.lines[0]}" for each in calls[:SHOWN])
    return f"no symbol is named `{name}`: the chain ends at what calls that name, which no rule resolves: {places}"


def _note(note: NoteAbout) -> RelatedSymbol:
    path, _, line = note.at.rpartition(":")
    return RelatedSymbol(note.node, path, (int(line),))


def _definition(node: Node) -> RelatedSymbol:
    row = node.row
    return RelatedSymbol(node, row.path, (row.line or row.start_line,) if row.path else (), depth=0)


def _depth(intent: RelationIntent) -> int:
    if intent.kind in (Kind.MEMBERS, Kind.TESTS, Kind.TESTED, Kind.DOCS, Kind.DOCUMENTED):
        return 1
    if intent.direct or (intent.direct is None and intent.kind not in (*_TRANSITIVE, Kind.IMPACT)):
        return 1
    default = MAX_DEPTH if intent.kind in _TRANSITIVE else DEFAULT_DEPTH
    return min(intent.depth or default, MAX_DEPTH)


def _as_said(targets: Targets, kind: str) -> Targets:
    """Return the targets of the kind that the question names, where there are some: `the Codec interface`."""
    kept = tuple(each for each in targets.targets if each.node.row.kind == kind)
    is_listed = len(targets.targets) == targets.total
    return replace(targets, targets=kept, total=len(kept)) if kept and is_listed else targets


def _of_types(intent: RelationIntent, targets: Targets) -> tuple[RelationIntent, Targets]:
    """Return what returns the types of a name; its usages where it names none: `which functions return MAX_SIZE`."""
    kept = tuple(each for each in targets.targets if is_type(each.node.row.label, each.node.row.kind))
    if kept:
        total = len(kept) if len(targets.targets) == targets.total else targets.total
        return intent, replace(targets, targets=kept, total=total)
    return replace(intent, kind=Kind.USAGES), targets


def _is_callable(targets: Targets) -> bool:
    return all(target.node.row.label in (Label.METHOD, Label.FUNCTION) for target in targets.targets)


def _is_outside(targets: Targets) -> bool:
    return bool(targets.targets) and not any(target.node.row.path for target in targets.targets)


def _is_file(targets: Targets) -> bool:
    return all(target.node.row.label in _FILE_LABELS for target in targets.targets)
