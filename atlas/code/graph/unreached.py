"""Definitions that no edge of some kind reaches, within the scope of a question. Reads the graph and the texts.

Shared by the answers on unused and on untested code: which definitions there are, which of them lie in the scope, which
names occur in the text of other code without an edge.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from atlas.code.graph.absence.occurrences import MAX_LINE, is_comment
from atlas.code.question.names import dotted
from atlas.code.question.relation_kinds import RelationIntent, TestScope
from atlas.code.reader import Reader
from atlas.code.retrieve.channels import keeps
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label, Match, Node
from atlas.core.wording import counted

MAX_ROWS = 100_000
"""Definitions without an edge that are read; a project of 500,000 definitions has about that many."""
MAX_EXAMINED = 400
"""Definitions whose names are looked for in the text of other code; more are answered in parts, by scope."""
TIMEOUT = 20.0
_HITS = 12
"""Symbols that are read for one name at first."""
_MANY_HITS = 120
"""Symbols that are read for a name that so many have, in any case; if more have it, it says nothing of a definition."""
_HOLDERS = (Label.CLASS, Label.PACKAGE, Label.MODULE)
_PROSE = (Label.DOC_FILE, Label.DOC_SECTION, Label.ADR)
_MAX_HOLDERS = 50
MIN_NAME = 3
"""Characters of a name that the index of words tells from others."""
_DEFINES = lazy_regex(
    r"(?:def|func|fn|function|fun|sub|macro_rules!|class|interface|trait|struct)\s+(?:\([^()]*\)\s*)?\Z"
)


class LinesOfFiles:
    """The lines of texts by path, divided when they are asked for."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._lines: dict[str, Sequence[str]] = {}

    def of(self, path: str) -> Sequence[str]:
        """Return the lines of a file, none of an unknown one."""
        if path not in self._lines:
            self._lines[path] = self._texts.get(path, "").splitlines()
        return self._lines[path]


@dataclass(frozen=True, slots=True)
class ProjectPart:
    """The part of a project that a question is limited to: its definitions meet one of the conditions on `n`."""

    text: str
    """As the question has it; "" for the whole project."""
    conditions: tuple[str, ...] = ()
    parameters: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def is_known(self) -> bool:
        """Whether the index has such a path or symbol."""
        return not self.text or bool(self.conditions)

    @property
    def condition(self) -> str:
        """The condition in Cypher."""
        return f"({' OR '.join(self.conditions)})" if self.conditions else "true"


async def find_part(reader: Reader, text: str, project: str) -> ProjectPart:
    """Return the part of the project that a scope stands for: file, folder, class or module; check `is_known`."""
    if not text:
        return ProjectPart("")
    prefix = text.removeprefix("./").strip("/")
    where = Filter(project=project)
    conditions: list[str] = []
    parameters: dict[str, object] = {}
    if await reader.store.find(prefix, Match.PATH, where, 1):
        conditions, parameters = ["n.path = $path"], {"path": prefix}
    elif await _has_files(reader, "n.path STARTS WITH $path", f"{prefix}/", project):
        conditions, parameters = ["n.path STARTS WITH $path"], {"path": f"{prefix}/"}
    elif "/" in text and await _has_files(reader, "n.path CONTAINS $path", f"/{prefix}/", project):
        conditions, parameters = ["n.path CONTAINS $path"], {"path": f"/{prefix}/"}
    elif await _has_files(reader, "n.path ENDS WITH $path", f"/{prefix}", project):
        conditions, parameters = ["n.path ENDS WITH $path"], {"path": f"/{prefix}"}
    held = await reader.store.find(dotted(prefix), Match.SUFFIX, where, _MAX_HOLDERS)
    for number, node in enumerate(each for each in held if each.row.label in _HOLDERS):
        # the path is tested first: it costs less than the name
        inside = f"n.path = $file{number} AND " if node.row.path else ""
        conditions.append(f"({inside}n.qualified_name STARTS WITH $below{number})")
        parameters |= {f"file{number}": node.row.path} if node.row.path else {}
        parameters[f"below{number}"] = f"{node.row.qualified_name}."
    return ProjectPart(text, tuple(conditions), parameters)


async def _has_files(reader: Reader, condition: str, path: str, project: str) -> bool:
    query = f"MATCH (n:File) WHERE {condition} RETURN n.path LIMIT 1"
    return bool((await reader.store.cypher(query, {"path": path}, 1, TIMEOUT, project)).rows)


async def find_definitions(
    reader: Reader,
    part: ProjectPart,
    labels: Sequence[Label],
    condition: str,
    where: Filter,
    tests: TestScope = TestScope.ANY,
    words: Sequence[str] = (),
) -> tuple[list[Node], int]:
    """Return the definitions of a part that meet a condition on `n`, by file and line; and the number of all in it.

    With `words`, each of them is a word of name or path; `a|b` is one of several, `compat` stands for `compatibility`.
    """
    side = "n.is_test" if tests == TestScope.ONLY else "NOT n.is_test"
    inside = f"MATCH (n:{'|'.join(labels)}) WHERE {side} AND {part.condition}"
    query = f"{inside} AND {condition} RETURN n.uid ORDER BY n.path, n.line, n.uid"
    found = await reader.store.cypher(query, part.parameters, MAX_ROWS, TIMEOUT, where.project)
    nodes = await reader.store.symbols([str(row[0]) for row in found.rows])
    nodes = [node for node in nodes if keeps(where, node)]
    if words:
        query = f"{inside} RETURN n.name, n.path"
        named = await reader.store.cypher(query, part.parameters, MAX_ROWS, TIMEOUT, where.project)
        total = sum(_is_described(reader, words, f"{name} {path}") for name, path in named.rows)
        return [each for each in nodes if _is_described(reader, words, f"{each.row.name} {each.row.path}")], total
    count = await reader.store.cypher(f"{inside} RETURN count(n)", part.parameters, 1, TIMEOUT, where.project)
    total = count.rows[0][0]
    return nodes, total if isinstance(total, int) else 0


def _is_described(reader: Reader, words: Sequence[str], name: str) -> bool:
    """Return whether each word, or a beginning of it such as `err` of `error`, is in a name."""
    parts = [part.lower() for part in reader.split_words(name) if len(part) >= MIN_NAME]
    return all(
        any(part.startswith(said) or said.startswith(part) for said in word.split("|") for part in parts)
        for word in words
    )


async def find_mentioned(
    reader: Reader, nodes: Sequence[Node], *, in_tests: bool = False, outside_tests: bool = False
) -> set[str]:
    """Return the uids of definitions whose name stands in the text of other code, or in prose that can only mean it.

    `in_tests` looks at tests only, `outside_tests` at the rest. A word that too many symbols have counts as mentioned.
    """
    if not nodes:
        return set()
    project = nodes[0].project
    by_name: dict[str, list[Node]] = {}
    for node in nodes:
        by_name.setdefault(node.row.name, []).append(node)
    hits = {name: await _hits(reader, name, project, _HITS) for name in by_name}
    hits |= {
        name: await _hits(reader, name, project, _MANY_HITS) for name, found in hits.items() if len(found) >= _HITS
    }
    uids = list(dict.fromkeys(uid for found in hits.values() for uid in found))
    others = {node.row.uid: node for node in await reader.store.symbols(uids) if node.row.path}
    paths = sorted({node.row.path for node in others.values()})
    contents = await reader.store.content(project, paths)
    texts = LinesOfFiles({path: content.decode("utf-8", "replace") for path, content in contents.items()})
    mentioned: set[str] = set()
    for name, candidates in by_name.items():
        around = [others[uid] for uid in hits[name] if uid in others]
        if in_tests or outside_tests:
            around = [each for each in around if each.row.is_test == in_tests]
        is_common = (len(hits[name]) >= _MANY_HITS or len(name) < MIN_NAME) and not in_tests
        is_distinctive = len(set(reader.split_words(name))) >= 3
        if is_common or _is_mentioned(name, candidates, around, texts, is_distinctive=is_distinctive):
            mentioned.update(each.row.uid for each in candidates)
    return mentioned


async def _hits(reader: Reader, name: str, project: str, limit: int) -> list[str]:
    words = reader.split_words(name)[:1]
    found = await reader.store.search_text(words, Filter(project=project), limit) if words else []
    return [hit.uid for hit in found]


def _is_mentioned(
    name: str,
    candidates: Iterable[Node],
    others: Iterable[Node],
    texts: LinesOfFiles,
    *,
    is_distinctive: bool,
) -> bool:
    own = {(each.row.path, line) for each in candidates for line in range(each.row.start_line, each.row.end_line + 1)}
    for other in others:
        row = other.row
        is_quoted = row.label in _PROSE and not is_distinctive
        lines = texts.of(row.path)[max(row.start_line - 1, 0) : row.end_line]
        for number, line in enumerate(lines, row.start_line):
            if name not in line or (row.path, number) in own or len(line) > MAX_LINE:
                continue
            if not (places := _places(name, line)) or (is_quoted and not _quoted(name).search(line)):
                continue
            if row.label in _PROSE or not (is_comment(line) or any(_DEFINES.search(line, 0, at) for at in places)):
                return True
    return False


def _places(name: str, line: str) -> list[int]:
    """Return where a name stands as a word. A regular expression for each name would be compiled for each name."""
    found: list[int] = []
    at = line.find(name)
    while at >= 0:
        if not _in_word(line[at - 1 : at]) and not _in_word(line[at + len(name) : at + len(name) + 1]):
            found.append(at)
        at = line.find(name, at + 1)
    return found


def _in_word(character: str) -> bool:
    return character.isalnum() or character in ("_", "$")


@lru_cache(32)
def _quoted(name: str) -> re.Pattern[str]:
    word = rf"(?<![\w$]){re.escape(name)}(?![\w$])"
    return re.compile(rf"(?>`[^`\n]*?{word})[^`\n]*`|{word}\(")


def left_out(reasons: Counter[str]) -> tuple[str, ...]:
    """Return a note on the definitions that are not listed, by reason, most first."""
    if not reasons:
        return ()
    listed = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
    return (f"not listed: {listed}",)


def kinds_of(intent: RelationIntent) -> tuple[Label, ...]:
    """Return the labels that a question asks for, by default those of all code."""
    return intent.labels or (Label.CLASS, Label.FUNCTION, Label.METHOD)


def title_of(
    adjective: str, intent: RelationIntent, part: ProjectPart, found: int, total: int, what: str, *, certain: bool
) -> str:
    """Return the first line of an answer: what was asked for, and how many were found of how many.

    `certain`: none are left out for a reason that may not hold, so that none found is none.
    """
    words = {Label.CLASS: "classes", Label.FUNCTION: "functions", Label.METHOD: "methods", Label.VALUE: "values"}
    named = [word for label, word in words.items() if label in kinds_of(intent)]
    kinds = "definitions" if len(named) > 2 else " and ".join(named)
    kinds += "".join(f" with `{word}` in name or path" for word in intent.words)
    shown = "" if intent.exported is None else "exported " if intent.exported else "private "
    inside = f" in {part.text}" if part.text else ""
    inside += " outside tests" if intent.tests == TestScope.EXCLUDED else ""
    count = counted(found, "candidate") if found else "none" if certain else "none certain"
    return f"{adjective} {shown}{kinds}{inside}: {count} of {total} {what}"
