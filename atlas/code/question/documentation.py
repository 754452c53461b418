"""Recognise sentences of documentation, which state something and ask for no relation. Pure.

"Construct an Interval object" names what a function does; "callers of Interval" asks for edges. A sentence begins with
the verb of what it describes, or with the thing that it defines, or has the markup of documentation.
"""

from __future__ import annotations

import re

MIN_WORDS = 4
_ROLE = re.compile(r":[a-z]+(?::[a-z]+)?:`|``[^`]+``|\[`[^`]+`\]")
"""Markup of Sphinx and rustdoc; questions quote names in single backticks."""
_VERBS = """
accept add adds allow allows append apply applies assert bind build builds cast cause checks clean clear close
closes collect combine compile compiles compress compresses compute computes configure connect connects
construct constructs convert converts copy create creates decode decodes define defines delete deletes
describe describes determine determines disable disables emit enable enables encode encodes ensure ensures
escape escapes execute executes expand
extract extracts fetch fetches filter flush forward generate generates handle handles
ignore ignores implements indicates initialize initializes insert inserts install invoke invokes iterate load
loads make makes map marks merge merges move normalize notify opens parse parses patch perform performs
prepare prepares process processes produce produces provide provides push put raise raises reads receive
receives record records register registers release remove removes render renders replace replaces represent
represents reset resets resolve resolves restore returns save saves schedule send sends serialize set sets
sort sorts split start starts stop stops store stores strip switch transform unwind update updates validate
validates verify verifies wait waits wrap wraps write writes yield yields
"""
_OPENS_WITH = frozenset(_VERBS.split())
_ACTS = (
    r"(?!(?:calls|uses|imports|extends|implements|overrides|inherits|tests|references|mentions|is|was|has|does"
    r"|(?:class|function|method|module|file|type|package|route|event|endpoint|place|line|symbol|section|page|note"
    r"|change|commit|spec|thing|field|value|setting|command|dependencie|version|interface|trait|struct|enum)e?s)\b)"
    r"[a-z]{2,}s (?:and [a-z]+s )?(?:an?|the|any|all|each|every|this|its)\b"
)
"""A verb in the third person and its object: "walks any tree". Not the verbs of edges, nor "classes the user has"."""
_STATES = re.compile(
    r"^(?:(?:raised|called|invoked|used|triggered|fired) (?:by|when|if|before|after|to|for|internally|from)\b"
    r"|(?:this|whether|without) (?!.*\?)|(?:an?|the) (?:\S+ ){0,4}?\S+ (?:is|are|that|which|for|used|calls)\b"
    rf"|\S+ (?:for|that|which) \S+ing\b|\S+ uses this\b|(?:\S+ )?{_ACTS})",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\?\s*$|^(?:what|which|who|where|when|how|why|is|are|does|do|did|can|could|please|show|find|list|give|tell|explain"
    r"|search)\b|\b(?:callers|callees|usages|references|subclasses|subtypes|implementors|implementations|overrides|importers"
    r"|dependents|call sites)\b",
    re.IGNORECASE,
)


def is_documentation(text: str) -> bool:
    """Return whether a text reads like a sentence of documentation."""
    if _ROLE.search(text):
        return True
    words = text.split()
    if len(words) < MIN_WORDS or _ASKS.search(text):
        return False
    return words[0].lower() in _OPENS_WITH or _STATES.match(text) is not None
