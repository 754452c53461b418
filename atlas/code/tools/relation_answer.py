"""The answer of hybrid_search to a question about a relation, such as `callers of X`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from atlas.answers.answer import Answer, AnswerOutcome
from atlas.answers.evidence import Evidence, Structure, where, without_empty
from atlas.code.tools.citations import shown_name
from atlas.code.tools.symbol.symbol_lines import related_line
from atlas.code.tools.symbol.symbols import FileGroup, Symbol
from atlas.core.wording import counted

OTHER_PACKAGES = "other packages"
"""Stands for the path of symbols that the project only imports."""
CONTRACTS = frozenset(("interface", "trait", "protocol"))
"""Kinds of types that others implement."""
_NOT_CALLED = frozenset(("field", "value", "constant", "variable", "property", "module", "file", "package"))
_NO_PLURAL = frozenset(
    ("definition", "tested", "hierarchy", "overridden", "documented", "path", "impact", "unused", "untested")
)
"""Kinds of relations that no symbol "can have" in plain words."""


@dataclass(frozen=True, slots=True)
class RelationAnswer(Answer):
    """Answer of hybrid_search to a question about a relation, such as `callers of X`."""

    cites: ClassVar[bool] = True

    tool: str
    kind: str
    name: str
    """The name in the question."""
    outcome: str
    """`found`, `ambiguous` (several `subjects`) or `not_found` (see `near` and `diagnosis`)."""
    subjects: tuple[Symbol, ...]
    other: str
    """The end of a path."""
    files: tuple[FileGroup, ...]
    found: int
    subject_count: int
    counts: tuple[int, ...]
    """Edges of each subject, where these are too many for their edges to be listed."""
    near: tuple[Symbol, ...]
    diagnosis: tuple[str, ...]
    missing: str
    """The name that nothing has."""
    evidence: Evidence
    places: int = 0
    """Lines of evidence of all `found` symbols: the call sites of its callers."""
    derived: tuple[str, ...] = ()
    """The kinds of those that implement nothing, but derive from what others implement: traits that need the trait."""
    scope: str = ""
    """What limits the answer: `in helpers.py`."""
    unscoped: int = 0
    """Related symbols without that limit."""
    text: tuple[str, ...] = ()
    """Lines of text that have the name and no edge, by file."""
    is_unknown: bool = False
    """Nothing was found, which does not prove that there is none."""
    instead_of: str = ""
    """The name of the question, where no symbol is called so and the subject has it in another form."""
    ignored: tuple[str, ...] = ()
    """Words of the question that limit nothing."""
    routes: tuple[str, ...] = ()
    """Uids of the routes that it is about: other projects of the workspace may use it."""
    title: str = ""
    """What was found, where the question names no symbol: `unused functions in Y: 3 candidates of 40`."""

    def lines(self) -> Iterator[str]:
        """Yield the subject and a count, then one line per related symbol, grouped by file."""
        yield from relation_head(self)
        for group in self.files:
            yield group.path or OTHER_PACKAGES
            for symbol in group.symbols:
                yield f"  {related_line(symbol)}"
        yield from self.text

    def content(self) -> Structure:
        """Return the edges as lines by file: the same lines as the text, because rows of JSON cost twice the tokens.

        A file stands once; the depth in the lines says in which order a path runs.
        """
        edges: dict[str, list[str]] = {}
        for group in self.files:
            edges.setdefault(group.path or OTHER_PACKAGES, []).extend(map(related_line, group.symbols))
        relation: Structure = {
            "kind": self.kind,
            **({} if self.outcome == "found" else {"outcome": self.outcome}),
            **({"unknown": True} if self.is_unknown else {}),
            "title": self.title,
            "of": list(subject_lines(self)),
            "instead_of": self.instead_of,
            "derived": _derived(self.derived) if self.derived else "",
            "ignored": list(self.ignored),
            "scope": f"{self.scope}: {self.found} of {self.unscoped}" if self.scope else "",
            "to": self.other if self.kind == "path" else "",
            "edges": edges,
            "text": [line.strip() for line in self.text],
            "missing": self.missing,
            "near": [f"{each.qualified_name} {each.place}" for each in self.near],
            "diagnosis": list(self.diagnosis),
        }
        lines = {"lines": self.places} if self.places > self.found - len(self.derived) else {}
        found = {} if self.outcome == "not_found" else {"found": self.found, **lines}
        return without_empty({"relation": without_empty(relation), **found})

    @property
    def has_callable(self) -> bool:
        """Whether the question is about something that can be called: not a field, a value or a file."""
        return any(subject.kind not in _NOT_CALLED for subject in self.subjects)

    def emptied(self) -> Self:
        """Return the subjects without what is related to them."""
        return replace(self, files=(), text=())

    def result(self) -> AnswerOutcome:
        """Return whether anything is related; a name that several symbols have is answered for all of them."""
        return AnswerOutcome(
            not self.found and not any(self.counts),
            not self.found,
            self.outcome == "not_found",
            (self.name, self.other),
        )


def relation_head(answer: RelationAnswer) -> Iterator[str]:
    """Yield what was asked of which symbol, with the number of results; near names where there is no such symbol."""
    if answer.outcome == "not_found":
        having = "" if answer.kind in _NO_PLURAL else f" that can have {answer.kind}"
        yield f"no symbol `{answer.missing}`{having}{where(answer.evidence)}"
        for line in answer.diagnosis:
            yield f"- {line}"
        if answer.near:
            yield f"near names: {', '.join(f'{each.qualified_name} {each.place}' for each in answer.near)}"
        return
    ignored = f"; not taken into account: {', '.join(f'`{word}`' for word in answer.ignored)}" if answer.ignored else ""
    if answer.title:
        yield f"{answer.title}{ignored}"
        yield from (f"- {subject}" for subject in subject_lines(answer))
        return
    kinds = {subject.kind for subject in answer.subjects}
    is_implemented = bool(kinds & CONTRACTS) and kinds <= CONTRACTS | {"struct"}
    kind = "implementations" if answer.kind == "subclasses" and is_implemented else answer.kind
    titles = {"path": f"path to {answer.other} from", "returners": "functions returning"}
    title = titles.get(kind, f"{kind} of")
    if answer.subject_count == 1:
        subject = answer.subjects[0]
        parts = (title, subject.kind, shown_name(subject), subject.place, answer.scope)
        instead = f"no symbol is called `{answer.instead_of}`; " if answer.instead_of else ""
        yield f"{instead}{' '.join(filter(None, parts))}: {_found(answer)}{ignored}"
        return
    scope = f" {answer.scope}" if answer.scope else ""
    each = f"{title} each:" if answer.counts else f"{title} all{scope}: {_found(answer)}"
    called = f"no symbol is called `{answer.instead_of}`, {answer.subject_count} nearly so"
    called = called if answer.instead_of else f"{answer.subject_count} symbols are called `{answer.name}`"
    yield f"{called}; {each}{ignored}"
    yield from (f"- {subject}" for subject in subject_lines(answer))


def _found(answer: RelationAnswer) -> str:
    """Return the number of related symbols, and of lines where some have several."""
    none = "unknown" if answer.is_unknown else f"none{where(answer.evidence)}"
    apart = f"; {_derived(answer.derived)}" if answer.derived else ""
    if answer.scope and answer.unscoped:
        return f"{answer.found} of {answer.unscoped}{apart}"
    found = answer.found - len(answer.derived)
    if apart and not found:
        return f"no implementation found{apart}"
    return f"{found or none}{f' in {answer.places} lines' if answer.places > found else ''}{apart}"


def _derived(kinds: Sequence[str]) -> str:
    """Return how many contracts derive from one: `1 trait derives from it without an implementation`."""
    said = " and ".join(counted(kinds.count(kind), kind) for kind in dict.fromkeys(kinds))
    return f"{said} {'derives' if len(kinds) == 1 else 'derive'} from it without an implementation"


def subject_lines(answer: RelationAnswer) -> Iterator[str]:
    """Yield the symbols that a name stands for, with the number of edges where these are not listed."""
    for index, subject in enumerate(answer.subjects):
        count = f": {answer.counts[index]}" if answer.counts else ""
        yield f"{subject.kind} {shown_name(subject)} {subject.place}{count}"
    if answer.subject_count > len(answer.subjects):
        yield f"and {answer.subject_count - len(answer.subjects)} more; qualify the name"
