"""Read a relation that an agent states in arguments instead of words: relation, of, to, scope. Pure."""

from __future__ import annotations

import re
from difflib import get_close_matches

from atlas.code.question.names import dotted
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.core.errors import ConfigError

_OTHER_WORDS = {
    "implementations": Kind.SUBTYPES,
    "implementors": Kind.SUBTYPES,
    "subtypes": Kind.SUBTYPES,
    "supertypes": Kind.SUPERTYPES,
    "superclasses": Kind.SUPERTYPES,
    "references": Kind.USAGES,
    "used_by": Kind.USAGES,
    "called_by": Kind.CALLERS,
    "calls": Kind.CALLEES,
    "documents": Kind.DOCS,
    "history": Kind.CHANGES,
    "children": Kind.SUBTYPES,
    "parents": Kind.SUPERTYPES,
}
_WITHOUT_NAME = frozenset((Kind.UNUSED, Kind.UNTESTED, Kind.ROUTES, Kind.CHANGES))
"""Relations that may be asked of the whole project."""


def stated_relation(relation: str, of: str, to: str, scope: str) -> RelationIntent | None:
    """Return what arguments ask for; None if they name no relation.

    Raises ConfigError for an unknown relation, one without `of`, and a path without `to`.
    """
    if not relation:
        return None
    word = re.sub(r"[ -]+", "_", relation.strip().lower())
    kind = _OTHER_WORDS.get(word) or next((kind for kind in Kind if kind.value == word), None)
    if kind is None:
        near = get_close_matches(word, [each.value for each in Kind], 2, 0.7)
        meant = f"did you mean {' or '.join(near)}?" if near else ""
        raise ConfigError(f"relation must be one of {', '.join(Kind)}, not {relation[:40]}", meant)
    if not of.strip() and kind not in _WITHOUT_NAME:
        raise ConfigError(f"relation {kind.value} needs `of` (--of)", "for example of=Cart.save (--of Cart.save)")
    if kind is Kind.PATH and not to.strip():
        raise ConfigError("relation path needs `to` (--to)", "for example of=main, to=Cart.save (--to Cart.save)")
    return RelationIntent(kind, _name(of), _name(to), within=scope.strip())


def stated_question(intent: RelationIntent | None, of: str, query: str) -> str:
    """Return the question that is shown and searched: that of the caller, else one made of what is stated."""
    if intent is None:
        return of.strip() if of.strip() and not query.strip() else query
    to = f" to {intent.other}" if intent.other else ""
    return f"{intent.kind.value} of {intent.name}{to}" if intent.name else intent.kind.value


def _name(name: str) -> str:
    name = name.strip().strip("`'\"")
    return name if "/" in name or ":" in name else dotted(name)
