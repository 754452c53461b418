"""Find in the index what a question is about, before it is known what the question asks: its subjects.

Names, qualified names, native forms, paths, `path:line`, packages and modules; a word of English counts if it is the
only word of the question that is no English of questions. Reads names only; follows no edge.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from atlas.code.graph.aliases.module_names import spell_modules
from atlas.code.graph.answer_scope import is_folder
from atlas.code.graph.relation import EdgeAnswer
from atlas.code.graph.targets import MAX_TARGETS, Target, group_symbols
from atlas.code.question.cues import without_own_acts
from atlas.code.question.grammar import MAX_RELATION_CHARACTERS, find_relation
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.code.question.requests.accesses import spell_accesses
from atlas.code.question.written_names import NamedText, NameShape, WrittenName, read_names
from atlas.code.reader import Reader
from atlas.code.retrieve.resolve import resolve
from atlas.code.retrieve.written_files import find_files
from atlas.core.labels import EXTERNAL_LABELS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label, Match, Node

MOST_SUBJECTS = 3
"""Subjects of one question that are described."""
MOST_OF_A_WORD = 5
"""Symbols that a word of English names, as a subject: `name` and `value` are no names."""
_DEFINITIONS = frozenset((Label.CLASS, Label.FUNCTION, Label.METHOD, Label.VALUE))
_BY_WORD = ("exact", "suffix")
_MIXED = lazy_regex(r"[a-z0-9][A-Z]|_|\w\w(?:\.|::|->|#)\w\w|^[A-Z0-9]{4,}$")
"""A name that is none of a product or a person."""
_QUALIFIED = lazy_regex(r"\b(?:the|an?|our|its) (?P<owner>[a-z][\w]{2,40}) (?P<name>[A-Z]\w{1,60})\b")
"""A name behind a word: `the freelist Interface`, `the base Worker`."""
_SPELLED = lazy_regex(
    r"\b(?:the|an?|our|each|every|all|any|of|which|what) (?P<words>(?:[a-z]{2,20} ){1,2}[a-z]{2,20})"
    r" (?P<kind>interface|trait|class|struct|type|protocol|enum|exception)(?:e?s)?\b"
)
_MEMBER_OF = lazy_regex(
    r"\b(?:the )?[`'\"]?(?P<name>[A-Za-z_]\w{1,60})[`'\"]? (?:field|property|attribute|member|method|function|constant)"
    r" (?:of|from|on|in|out of) (?:the |our )?(?:class |struct |type |interface )?"
    r"[`'\"]?(?P<owner>[A-Z]\w{1,60})[`'\"]?(?: (?:class|struct|type|interface)\b)?"
)
_PARAMETRISED = lazy_regex(r"\b(?P<name>[A-Z]\w{1,60})<[\w.?\[\]]{1,60}(?:, ?[\w.?\[\]]{1,60}){1,6}>")
"""A name with several type parameters, which a question may separate by spaces."""
_SPECIAL = lazy_regex(r"__[a-z]\w*__")
"""A name that a language gives a meaning, which code may handle without defining it."""
_PAIR = lazy_regex(r"(?<![\w/.@-])(?P<one>(?:[A-Z]|__)\w{2,60})/(?P<two>(?:[A-Z]|__)\w{2,60})(?![\w/.-])")
_LED_TO = frozenset(
    (
        *(Kind.CALLERS, Kind.USAGES, Kind.TESTS, Kind.SUBTYPES, Kind.OVERRIDES, Kind.INSTANTIATIONS, Kind.IMPORTERS),
        Kind.DEPENDENTS,
    )
)
"""Relations whose answers lie elsewhere than their symbol: a folder behind it says where, `callers of X in lib/a`."""
_LIMITS = frozenset(("only", "just", "solely", "within", "excluding", "except", "outside"))
_IN_FULL = ("uid", "place", "member", "exact", "suffix", "alias", "inherited", "path")
_GIVEN = lazy_regex(r"(?<=\w)\((?:\.{2,3}|…)\)")
"""What a call is given, left out: `log.info(...)`."""
_HOLDS = lazy_regex(
    r"`?(?P<path>[\w./-]+/[\w.-]+\.\w+)`? (?:still )?(?:has|defines|contains|exports|declares) (?:an? |the )?"
    r"(?:[a-z]+ )?`?(?P<name>[A-Za-z_]\w{2,80})`?(?:\(\))?(?: [a-z]+)?\s?[.,;:]"
)
"""A statement in front of a question: `lib/scripts.js has a moveToFailed function. Is it used?`"""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a name of a question stands for: one symbol, or several of that name."""

    written: WrittenName
    targets: tuple[Target, ...]
    total: int

    @property
    def is_own(self) -> bool:
        """Whether the project defines it."""
        return any(target.node.row.label not in EXTERNAL_LABELS for target in self.targets)

    @property
    def name(self) -> str:
        """The name under which exactly these symbols are found again."""
        if self.total != 1:
            return self.written.name
        return self.targets[0].node.row.uid


@dataclass(frozen=True, slots=True)
class Subjects:
    """The certain subjects of a question, in its order."""

    text: NamedText = field(default_factory=lambda: NamedText((), ()))
    found: tuple[Subject, ...] = ()
    unknown: tuple[WrittenName, ...] = ()
    """Names by their shape that the index has no symbol for: variables, members, what does not exist."""

    def marked(self) -> str:
        """Return the question with its first subjects as `X`, `Y` and `Z`."""
        named = list(zip(self.found, "XYZ", strict=False))
        letters = {each.written.position: letter for each, letter in named}
        owners = {number for each, _ in named for number in each.written.owner_words}
        return without_own_acts(self.text.marked(letters, owners - letters.keys()))


async def find_subjects(reader: Reader, text: str, project: str) -> Subjects:
    """Return what is certainly a subject of a question. Raises store errors."""
    named = read_names(text, reader.languages)
    plain = [each for each in named.names if each.shape == NameShape.PLAIN]
    is_sure = any(each.shape >= NameShape.CODE for each in named.names)
    found: list[Subject] = []
    unknown: list[WrittenName] = []
    for each in await _with_members(reader, text, named.names, project):
        if each.shape == NameShape.PLAIN and (len(plain) > 1 or is_sure):
            continue
        if (subject := await find_subject(reader, each, project)) is not None:
            is_word = each.shape == NameShape.KIND and each.text.isalpha() and each.text.islower()
            if not (is_word and is_sure and subject.total > 1):  # `the request handler` beside a name
                found.append(subject)
        elif each.shape >= NameShape.CODE and " " not in each.text and _MIXED.search(each.text):
            unknown.append(each)
    owners = {each.owner for each in (*(subject.written for subject in found), *unknown)}
    kept = [each for each in found if each.written.name not in owners or len(found) + len(unknown) == 1]
    kept.sort(key=lambda each: each.written.position)
    return Subjects(named, tuple(kept[:MOST_SUBJECTS]), tuple(unknown[: MOST_SUBJECTS - len(kept[:MOST_SUBJECTS])]))


async def _with_members(reader: Reader, text: str, names: Sequence[WrittenName], project: str) -> Sequence[WrittenName]:
    """Return the names, those of a class and its member next to each other as one: `SessionStore cycle_key`."""
    at = {each.position: each for each in names if each.shape >= NameShape.CODE}
    for position, owner in at.items():
        member = at.get(position + 1)
        if member is None or not owner.name.isidentifier() or f"{owner.text} {member.text}" not in text:
            continue
        whole = f"{owner.name}.{member.name}"
        found = await resolve(reader, whole, Filter(project=project))
        if found.how in (*_BY_WORD, "inherited"):
            joined = replace(member, text=whole, name=whole, owner_words=range(position, position + 1))
            return [joined, *(each for each in names if each not in (owner, member))]
    return names


async def find_subject(reader: Reader, written: WrittenName, project: str) -> Subject | None:
    """Return what a written name stands for, the project's own symbols before others. Raises store errors."""
    where = Filter(project=project)
    nodes = await _nodes(reader, written, where)
    if written.owner and nodes:
        nodes = await _owned(reader, nodes, written.owner, where) or nodes
    own = [node for node in nodes if node.row.label not in EXTERNAL_LABELS]
    nodes = [node for node in own if not node.row.is_test] or own or nodes
    groups = group_symbols(nodes, reader.languages.constructors)
    if written.shape < NameShape.CODE and len(groups) > MOST_OF_A_WORD:
        return None
    return Subject(written, tuple(groups[:MAX_TARGETS]), len(groups)) if groups else None


async def _nodes(reader: Reader, written: WrittenName, where: Filter) -> list[Node]:
    found = await resolve(reader, written.name, where)
    if found.how in (_BY_WORD if written.shape < NameShape.CODE else _IN_FULL):
        nodes = [*found.nodes, *found.declarations]
        if written.shape < NameShape.CODE:
            nodes = [node for node in nodes if node.row.label in _DEFINITIONS]
        titled = (Label.CHUNK, Label.DOC_SECTION, *((Label.DOC_FILE,) if found.how != "path" else ()))
        return [node for node in nodes if node.row.label not in titled]
    if found.how == "folded" and len(found.nodes) == 1 and written.shape == NameShape.CODE:
        return list(found.nodes)
    if "." in written.name and written.shape >= NameShape.CODE:
        files = await find_files(reader, written.text, where)
        if len(files) == 1:
            return [node for node in files[0] if node.row.label in (Label.MODULE, Label.PACKAGE, Label.FILE)][:1]
    return []


async def _owned(reader: Reader, nodes: Sequence[Node], owner: str, where: Filter) -> list[Node]:
    """Return the nodes that lie in a file, class or module."""
    part = f"/{owner.strip('./')}/"
    inside = [node for node in nodes if part in f"/{node.row.path}/"]
    if inside:
        return inside
    holders = (await resolve(reader, owner, where)).nodes
    names = {node.row.qualified_name for node in holders}
    return [node for node in nodes if any(node.row.qualified_name.startswith(f"{name}.") for name in names)]


async def spell_names(reader: Reader, text: str, project: str) -> str:
    """Return a question with its names as code writes them, where the index has exactly these. Raises store errors.

    Types that are spelled as words (`the snapshot store interface`), members behind their kind (`the indirect field of
    Call`), names with type parameters (`Map<K, V>`), and two names with a stroke between them (`Reader/Writer`).
    """
    text = _GIVEN.sub("()", text)
    if len(text) > MAX_RELATION_CHARACTERS:
        return text
    text = await spell_modules(reader, spell_accesses(text), project)
    for match in [*_MEMBER_OF.finditer(text)][:MOST_SUBJECTS]:
        name = f"{match['owner']}.{match['name']}"
        if await _has(reader, name, project):
            text = text.replace(match[0], name, 1)
    for match in [*_PARAMETRISED.finditer(text)][:MOST_SUBJECTS]:
        if await _has(reader, match["name"], project):
            text = text.replace(match[0], match["name"], 1)
    for match in [*_PAIR.finditer(text)][:MOST_SUBJECTS]:
        names = (match["one"], match["two"])
        if all([_SPECIAL.fullmatch(name) or await _has(reader, name, project) for name in names]):
            text = text.replace(match[0], f"{match['one']} and {match['two']}", 1)
    for match in [*_SPELLED.finditer(text)][:MOST_SUBJECTS]:
        words = match["words"].split()
        for count in (3, 2):
            name = "".join(word.capitalize() for word in words[-count:])
            if len(words) < count:
                continue
            where = Filter(project=project, labels=(Label.CLASS,))
            if any(node.row.name == name for node in await reader.store.find(name, Match.SUFFIX, where, 5)):
                spelled = " ".join(words[-count:])
                text = text.replace(f"{spelled} {match['kind']}", f"{name} {match['kind']}", 1)
                break
    return text


async def _has(reader: Reader, name: str, project: str) -> bool:
    """Return whether a definition of the project has exactly this name."""
    where = Filter(project=project, labels=tuple(_DEFINITIONS))
    last = name.rpartition(".")[2]
    return any(node.row.name == last for node in await reader.store.find(name, Match.SUFFIX, where, 5))


async def qualified_relation(reader: Reader, text: str, where: Filter) -> RelationIntent | None:
    """Return the relation that a question asks of a name behind its package, class or file: `the freelist Interface`.

    None where the index has no such name.
    """
    for match in _QUALIFIED.finditer(text):
        found = find_relation(f"{text[: match.start('owner')]}{text[match.start('name') :]}")
        if found is None or found.name != match["name"]:
            continue
        nodes = [node for node in (await resolve(reader, found.name, where)).nodes if node.row.label in _DEFINITIONS]
        owner = match["owner"].lower()
        parts = ((node, f"{node.row.path}.{node.row.qualified_name}".lower()) for node in nodes)
        nodes = [node for node, written in parts if owner in re.split(r"[./]", written)]
        targets = group_symbols(nodes, reader.languages.constructors)
        if len(targets) == 1:
            return replace(found, name=targets[0].node.row.uid, certain=True)
    return None


async def held_by_file(reader: Reader, text: str, intent: RelationIntent, project: str) -> RelationIntent:
    """Return the intent with the symbol of the file that a question says to have it, where others have its name."""
    held = _HOLDS.match(text)
    if held is None or held["name"] != intent.name:
        return intent
    found = await resolve(reader, f"{held['path']}::{intent.name}", Filter(project=project))
    is_one = len(found.nodes) == 1
    return replace(intent, name=found.nodes[0].row.uid, certain=True) if is_one else intent


def count_inside(found: EdgeAnswer, path: str) -> EdgeAnswer:
    """Return what leads to the X of `X in FILE` with the number of it inside of the file, which may have been meant."""
    if "/" not in path or found.intent.within or found.intent.kind not in _LED_TO or not found.related:
        return found
    inside = [each for each in found.related if f"/{each.path}".endswith(f"/{path.strip('/')}")]
    lines = ", ".join(f"{each.node.row.name} {','.join(map(str, each.lines))}" for each in inside[:MOST_SUBJECTS])
    note = f"{len(inside)} of these {'is' if len(inside) == 1 else 'are'} in {path}{f': {lines}' if lines else ''}"
    return replace(found, notes=(f"{note}, which is taken for the file of the symbol", *found.notes))


async def qualify(reader: Reader, intent: RelationIntent, text: NamedText, project: str) -> RelationIntent:
    """Return the intent with the symbol that `X in FILE` means, where FILE has an X.

    The file is no limit of the answer then, unless the question says so: `callers in FILE of X`, `only in FILE`. A
    folder is one where no other symbol has the name, and for what leads to X, as callers do.
    """
    if not intent.within or intent.kind == Kind.RETURNERS or any(word.lower() in _LIMITS for word in text.words):
        return intent
    if not any(each.name == intent.name and each.owner == intent.within for each in text.names):
        return intent
    where = Filter(project=project)
    found = await resolve(reader, intent.name, where)
    nodes = [node for node in (*found.nodes, *found.declarations) if node.row.label in _DEFINITIONS]
    every = group_symbols(nodes, reader.languages.constructors)
    targets = group_symbols(await _owned(reader, nodes, intent.within, where), reader.languages.constructors)
    limits = len(every) == 1 or intent.kind in _LED_TO
    if len(targets) != 1 or (limits and await is_folder(reader, intent.within, project)):
        return intent
    return replace(intent, name=targets[0].node.row.uid, within="", certain=True)
