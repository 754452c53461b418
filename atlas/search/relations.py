"""The relations that a question can ask for, and the words that ask for them. Values only.

`RELATIONS` is the vocabulary of the grammar in `grammar.py`: nouns ("callers of X") and verbs ("what calls X") per
kind of relation. What the kinds mean in the graph (edge types and directions) stands here, too, so that a kind is
defined in one place.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from atlas.model import Direction, EdgeType


class Kind(StrEnum):
    """What is asked about a symbol."""

    CALLERS = "callers"
    CALLEES = "callees"
    USAGES = "usages"
    USES = "uses"
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
    DEFINITION = "definition"
    MEMBERS = "members"
    PATH = "path"
    IMPACT = "impact"
    ROUTES = "routes"
    UNUSED = "unused"
    UNTESTED = "untested"
    CHANGES = "changes"


class TestScope(StrEnum):
    """Which side of the line between tests and other code is asked for."""

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
    """The second symbol: the end of a path."""
    tests: TestScope = TestScope.ANY
    within: str = ""
    """The module, class, folder or file that the answer is limited to, as it is written."""
    direct: bool | None = None
    """True for direct relations only, False for transitive ones, None where the question does not say."""
    depth: int = 0
    """Levels that the question asks for; 0 where it does not say."""
    certain: bool = True
    """Whether the name can only be a name: quoted, of mixed case, qualified, or with a word such as `class`."""

    @property
    def types(self) -> tuple[EdgeType, ...]:
        """Edge types that the relation follows; () where it follows none."""
        return EDGES[self.kind][0]

    @property
    def direction(self) -> Direction:
        """Whether the edges end (IN) or start (OUT) at the named symbol."""
        return EDGES[self.kind][1]


_USES = (EdgeType.CALLS, EdgeType.REFERENCES, EdgeType.USES_TYPE, EdgeType.INHERITS, EdgeType.IMPORTS)
_NEEDS = (EdgeType.CALLS, EdgeType.REFERENCES, EdgeType.USES_TYPE, EdgeType.INHERITS, EdgeType.IMPORTS)

EDGES: dict[Kind, tuple[tuple[EdgeType, ...], Direction]] = {
    Kind.CALLERS: ((EdgeType.CALLS,), Direction.IN),
    Kind.CALLEES: ((EdgeType.CALLS,), Direction.OUT),
    Kind.USAGES: (_USES, Direction.IN),
    Kind.USES: (_NEEDS, Direction.OUT),
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
    Kind.DEPENDENCIES: (_NEEDS, Direction.OUT),
    Kind.DOCS: ((EdgeType.DOCUMENTS, EdgeType.AFFECTS), Direction.IN),
    Kind.DOCUMENTED: ((EdgeType.DOCUMENTS, EdgeType.AFFECTS), Direction.OUT),
    Kind.DEFINITION: ((), Direction.OUT),
    Kind.MEMBERS: ((EdgeType.DEFINES, EdgeType.DEFINES_METHOD), Direction.OUT),
    Kind.PATH: ((EdgeType.CALLS,), Direction.OUT),
    Kind.IMPACT: (_USES, Direction.IN),
    Kind.ROUTES: ((), Direction.OUT),
    Kind.UNUSED: ((), Direction.IN),
    Kind.UNTESTED: ((), Direction.IN),
    Kind.CHANGES: ((), Direction.IN),
}


@dataclass(frozen=True, slots=True)
class Verb:
    """The forms of verbs that ask for the same relation, each a list parted by "|"; `third` = third person."""

    base: str
    third: str
    gerund: str
    participle: str


@dataclass(frozen=True, slots=True)
class Words:
    """The words that ask for one kind of relation."""

    kind: Kind
    nouns: str = ""
    """What its answers are called, parted by "|": `callers of X`."""
    verb: Verb | None = None
    """What the answers do with the named symbol: `what calls X`, `where is X called`."""
    inverse: Kind | None = None
    """What is asked for when the named symbol is the verb's subject: `what does X call`."""


RELATIONS: tuple[Words, ...] = (
    Words(
        Kind.CALLERS,
        "callers|caller|call sites|call site|call-sites|callsites|callsite|callers list|invocations|invokers"
        "|incoming calls|calls",
        Verb(
            "call|invoke|execute|trigger",
            "calls|invokes|executes|triggers",
            "calling|invoking|executing|triggering",
            "called|invoked|executed|triggered",
        ),
        Kind.CALLEES,
    ),
    Words(Kind.CALLEES, "callees|callee|outgoing calls|calls made|calls out"),
    Words(
        Kind.USAGES,
        "usages|usage|uses|users|references|reference|refs|occurrences|instantiations|mentions in code|consumers"
        "|raisers|throwers",
        Verb(
            "use|reference|refer to|access|consume|read|instantiate|construct|raise|throw|catch|return|touch|write to",
            "uses|references|refers to|accesses|consumes|reads|instantiates|constructs|raises|throws|catches|returns"
            "|touches|writes to",
            "using|referencing|referring to|accessing|consuming|reading|instantiating|constructing|raising|throwing"
            "|catching|returning",
            "used|referenced|referred to|accessed|consumed|read|instantiated|constructed|raised|thrown|caught|returned"
            "|touched|needed|set|assigned",
        ),
        Kind.USES,
    ),
    Words(
        Kind.TESTS,
        "tests|test|unit tests|unit test|test cases|test case|testcases|specs|spec|test coverage|coverage"
        "|test functions|test files|integration tests",
        Verb(
            "test|cover|exercise|verify",
            "tests|covers|exercises|verifies",
            "testing|covering|exercising|verifying",
            "tested|covered|exercised|verified|covered by tests|covered by a test|under test",
        ),
        Kind.TESTED,
    ),
    Words(
        Kind.SUBTYPES,
        "subclasses|subclass|sub-classes|subtypes|subtype|derived classes|derived types|child classes|children"
        "|implementations|implementation|implementors|implementers|implementor|implementing classes|implementing types"
        "|descendants|extenders|inheritors|concrete classes|concrete implementations|impls|subinterfaces|conformers"
        "|conforming types",
        Verb(
            "subclass|extend|inherit|inherit from|derive from|implement|satisfy|conform to|embed|descend from",
            "subclasses|extends|inherits|inherits from|derives from|implements|satisfies|conforms to|embeds"
            "|descends from",
            "subclassing|extending|inheriting|inheriting from|deriving from|implementing|satisfying|conforming to"
            "|embedding|derived from|descending from",
            "subclassed|extended|inherited|inherited from|satisfied|embedded",
        ),
        Kind.SUPERTYPES,
    ),
    Words(
        Kind.SUPERTYPES,
        "base classes|base class|superclasses|superclass|super-classes|super classes|super class|parent classes"
        "|parent class|parents|parent|bases|base types|supertypes|supertype|ancestors|mro|implemented interfaces"
        "|parent types|super types|interfaces",
    ),
    Words(
        Kind.HIERARCHY,
        "class hierarchy|type hierarchy|inheritance hierarchy|hierarchy|inheritance tree|inheritance chain"
        "|inheritance|class tree|family tree|inheritance graph",
    ),
    Words(
        Kind.OVERRIDES,
        "overrides|override|overriders|overriding methods|overridden versions|reimplementations",
        Verb("override|redefine", "overrides|redefines", "overriding|redefining", "overridden|redefined|overriden"),
        Kind.OVERRIDDEN,
    ),
    Words(
        Kind.IMPORTERS,
        "importers|importer|importing modules|importing files|reverse imports",
        Verb(
            "import|require|include", "imports|requires|includes", "importing|requiring|including", "imported|required"
        ),
        Kind.IMPORTS,
    ),
    Words(Kind.IMPORTS, "imports|import list|imported modules|includes"),
    Words(
        Kind.DEPENDENTS,
        "dependents|dependants|reverse dependencies|clients|downstream|downstream users|downstream dependencies"
        "|dependent modules|dependent code",
        Verb(
            "depend on|depend upon|rely on|need",
            "depends on|depends upon|relies on|needs",
            "depending on|dependent on|relying on",
            "depended on|depended upon|relied on",
        ),
        Kind.DEPENDENCIES,
    ),
    Words(
        Kind.DEPENDENCIES,
        "dependencies|dependency|deps|upstream dependencies|requirements|prerequisites|collaborators",
    ),
    Words(
        Kind.DOCS,
        "docs|doc|documentation|documents|adrs|adr|decisions|decision|decision records|design decisions|readme"
        "|doc pages|guides|doc sections|doc mentions",
        Verb(
            "document|mention|describe|explain|discuss|talk about|affect",
            "documents|mentions|describes|explains|discusses|talks about",
            "documenting|mentioning|describing|explaining|discussing|about",
            "documented|mentioned|described|explained|discussed",
        ),
        Kind.DOCUMENTED,
    ),
    Words(
        Kind.DEFINITION,
        "definition|definitions|declaration|source location|location|source code|source|signature",
        Verb(
            "define|declare",
            "defines|declares",
            "defining|declaring",
            "defined|declared|implemented|located|coming from|come from|live|written|found",
        ),
        Kind.MEMBERS,
    ),
    Words(
        Kind.MEMBERS,
        "members|methods|fields|attributes|properties|functions|classes|contents|outline|structure|public api|api"
        "|exports|symbols|public methods|public functions|inner classes|nested classes",
    ),
    Words(
        Kind.IMPACT,
        "impact|blast radius|blast-radius|ripple effect|ripple effects|knock-on effects|change impact|impact analysis"
        "|fallout",
    ),
    Words(
        Kind.ROUTES,
        "routes|route|endpoints|endpoint|urls|url|http routes|api routes|api endpoints|url patterns|paths served",
    ),
    Words(
        Kind.CHANGES,
        "history|git history|change history|recent changes|changes|commits|recent commits|git log|log|blame|git blame"
        "|last change|latest change|latest changes|last commit|last changes|author|authors|last author",
    ),
)
"""In the order in which they are tried."""
