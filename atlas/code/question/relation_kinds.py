"""The relations that a question can ask for, with their edge types in the graph. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from atlas.core.model import Direction, EdgeType, Label


class Kind(StrEnum):
    """What is asked about a symbol."""

    CALLERS = "callers"
    CALLEES = "callees"
    USAGES = "usages"
    USES = "uses"
    INSTANTIATIONS = "instantiations"
    """Where a class is constructed or an exception is raised."""
    RETURNERS = "returners"
    """Which functions declare a type as their result."""
    TESTS = "tests"
    TESTED = "tested"
    SUBTYPES = "subclasses"
    SUPERTYPES = "bases"
    HIERARCHY = "hierarchy"
    OVERRIDES = "overrides"
    OVERRIDDEN = "overridden"
    IMPORTERS = "importers"
    IMPORTS = "imports"
    DEPENDENTS = "dependents"
    DEPENDENCIES = "dependencies"
    DOCS = "docs"
    DOCUMENTED = "documented"
    NOTES = "notes"
    """What is known about it: notes, and decision records that name it."""
    DEFINITION = "definition"
    MEMBERS = "members"
    PATH = "path"
    IMPACT = "impact"
    ROUTES = "routes"
    UNUSED = "unused"
    UNTESTED = "untested"
    CHANGES = "changes"


class TestScope(StrEnum):
    """Whether a question asks for tests, for other code, or for both."""

    ANY = ""
    ONLY = "only"
    EXCLUDED = "excluded"


@dataclass(frozen=True, slots=True)
class RelationIntent:
    """A question about the edges of a named thing."""

    kind: Kind
    name: str
    """The symbol as it is looked up, dots between segments; "" where the question names none (`unused functions`)."""
    other: str = ""
    """The second symbol: the end of a path; of another relation, the edges of both are asked for."""
    tests: TestScope = TestScope.ANY
    within: str = ""
    """The module, class, folder or file that the answer is limited to, as it is written."""
    is_limited: bool = False
    """Whether `within` limits the answer even if it has the symbol: `which methods of Y call Y.x`."""
    outside: str = ""
    """The same for what the answer leaves out."""
    direct: bool | None = None
    """True for direct relations only, False for transitive ones, None where the question does not say."""
    depth: int = 0
    """Levels that the question asks for; 0 where it does not say."""
    certain: bool = True
    """Whether the name can only be a name: quoted, of mixed case, qualified, or with a word such as `class`."""
    said_kind: str = ""
    """What the question calls the symbol: `interface`; "" where it does not say."""
    labels: tuple[Label, ...] = ()
    """What a question without a name asks for: `unused methods`; () where it does not say."""
    is_negated: bool = False
    """Whether it asks which classes do not override a method, and have it as it is."""
    exported: bool | None = None
    """Whether such a question asks for exported definitions only, or for others only."""
    words: tuple[str, ...] = ()
    """Words that say more of what is meant: `error` of `error values`; each is in the name or path."""
    by_tests: bool = False
    """Whether such a question asks for what tests use and nothing else does."""

    @property
    def types(self) -> tuple[EdgeType, ...]:
        """Edge types that the relation follows; () where it follows none."""
        return EDGES[self.kind][0]

    @property
    def direction(self) -> Direction:
        """Whether the edges end (IN) or start (OUT) at the named symbol."""
        return EDGES[self.kind][1]


_USES = (EdgeType.CALLS, EdgeType.REFERENCES, EdgeType.USES_TYPE, EdgeType.INHERITS, EdgeType.IMPORTS)

EDGES: dict[Kind, tuple[tuple[EdgeType, ...], Direction]] = {
    Kind.CALLERS: ((EdgeType.CALLS,), Direction.IN),
    Kind.CALLEES: ((EdgeType.CALLS,), Direction.OUT),
    Kind.USAGES: (_USES, Direction.IN),
    Kind.USES: (_USES, Direction.OUT),
    Kind.INSTANTIATIONS: ((EdgeType.CALLS,), Direction.IN),
    Kind.RETURNERS: ((EdgeType.USES_TYPE,), Direction.IN),
    Kind.TESTS: ((EdgeType.TESTS,), Direction.IN),
    Kind.TESTED: ((EdgeType.TESTS,), Direction.OUT),
    Kind.SUBTYPES: ((EdgeType.INHERITS,), Direction.IN),
    Kind.SUPERTYPES: ((EdgeType.INHERITS,), Direction.OUT),
    Kind.HIERARCHY: ((EdgeType.INHERITS,), Direction.IN),
    Kind.OVERRIDES: ((EdgeType.OVERRIDES,), Direction.IN),
    Kind.OVERRIDDEN: ((EdgeType.OVERRIDES,), Direction.OUT),
    Kind.IMPORTERS: ((EdgeType.IMPORTS,), Direction.IN),
    Kind.IMPORTS: ((EdgeType.IMPORTS,), Direction.OUT),
    Kind.DEPENDENTS: (_USES, Direction.IN),
    Kind.DEPENDENCIES: (_USES, Direction.OUT),
    Kind.DOCS: ((EdgeType.DOCUMENTS, EdgeType.AFFECTS, EdgeType.ABOUT), Direction.IN),
    Kind.DOCUMENTED: ((EdgeType.DOCUMENTS, EdgeType.AFFECTS), Direction.OUT),
    Kind.NOTES: ((EdgeType.ABOUT, EdgeType.RELATES, EdgeType.AFFECTS), Direction.IN),
    Kind.DEFINITION: ((), Direction.OUT),
    Kind.MEMBERS: ((EdgeType.DEFINES, EdgeType.DEFINES_METHOD), Direction.OUT),
    Kind.PATH: ((EdgeType.CALLS,), Direction.OUT),
    Kind.IMPACT: (_USES, Direction.IN),
    Kind.ROUTES: ((), Direction.OUT),
    Kind.UNUSED: ((), Direction.IN),
    Kind.UNTESTED: ((), Direction.IN),
    Kind.CHANGES: ((), Direction.IN),
}
