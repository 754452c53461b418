"""What rules find in one article, before names are merged over all articles. All are frozen."""

from __future__ import annotations

from dataclasses import dataclass, field

STRATEGIES = ("signature", "heading", "term", "docstring", "code", "model")
"""How an entity was found, the most telling first. `docstring`: in the code of the package itself; `model`: by a
language model."""


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """A place that defines or mentions a name."""

    name: str
    """Canonical: without arguments, backticks and leading `~`; terms in lower case."""
    kind: str
    """`term`, `symbol`, or what the signature says: class function method attribute setting ..."""
    strategy: str
    section: str
    """Anchor of the section."""
    line: int = 0
    signature: str = ""
    summary: str = ""
    start: int = 0
    end: int = 0
    """Span of the signature in the text of the article; 0, 0 for mentions."""


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A statement with its evidence."""

    kind: str
    """definition default deprecated removed added changed limit error"""
    subject: str
    """The entity that it is about, as a canonical name; "" if only its section is known."""
    value: str
    """The default, version, limit or error; "" for definitions."""
    sentence: str
    section: str
    line: int = 0
    start: int = 0
    end: int = 0
    """Span of the evidence in the text of the article."""
    of_whole: bool = False
    """Of versions: a notice at the description of the subject, about it as a whole and not about an argument."""
    origin: str = "rule"
    is_option: bool = False
    """The subject is an option, such as an argument, of `owner`: no entity of its own."""
    owner: str = ""


@dataclass(frozen=True, slots=True)
class FoundRelation:
    """A relation between two entities."""

    source: str
    target: str
    type: str
    """`member of`, `inherits from`, `see also`, `replaced by`, `raises`, or the words of a language model."""
    strategy: str
    line: int = 0
    origin: str = "rule"


@dataclass(frozen=True, slots=True)
class Extract:
    """Everything found in one article, in the order of its text."""

    entities: tuple[FoundEntity, ...] = ()
    facts: tuple[FoundFact, ...] = ()
    relations: tuple[FoundRelation, ...] = field(default=())
