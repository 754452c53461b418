"""Which words of a question are about the version history: who added or changed something, or when. Pure.

`commit` is also what programs do with transactions, offsets and entries: such words ask nothing of the history.
"""

from __future__ import annotations

import re

from atlas.code.changes.commit_topics import read_range
from atlas.code.changes.told_topics import asks_why_done
from atlas.code.question.parse_question import Query
from atlas.code.question.relation_kinds import Kind
from atlas.code.question.requests.clauses import split_clauses
from atlas.core.lazy_regex import lazy_regex

_OF_CODE = frozenset(
    (Kind.DEFINITION, Kind.USAGES, Kind.CALLERS, Kind.CALLEES, Kind.TESTS, Kind.IMPORTERS, Kind.SUBTYPES)
)
MOST_WORDS = 32
"""Words of a question about the history."""
EVER = r"(?:first|originally|initially|last|recently|ever|actually|has|had|have|most|else|really|usually|mainly)"
"""What may stand between `who` and what somebody did to the history: not `calls` in `who calls add`."""
CHANGED = r"(?:chang\w+|touch\w*|modif\w+|edit\w*|updat\w+|rewr\w+|refactor\w+)"
ADDED = (
    r"(?:add(?:ed|s)?|introduc\w+|creat\w+|wrote|written|authored?|appear\w*"
    r"|implement(?:ed)?|invented|born|c[ao]me"
    r"|(?:brought|bring|brings|got|get|gets|went|go|slipped|made it|put|pulled) in(?:to)?"
    r"|land(?:ed|s)?|start(?:ed)? (?:using|to use))"
)
MENDED = (
    r"(?:fixed|corrected|repaired|mended|cured|solved|resolved|silenced|removed|dropped|deleted|renamed|moved|broke|reverted|replaced|ditched|scrapped"
    r"|kicked out|thrown out|deprecated|bumped|upgraded|migrated"
    r"|switched|stop(?:ped)? (?:supporting|using|requiring|shipping|depending))"
)
MOST_BEFORE_FILE = 6
"""Words before a path in brackets that say what the file is."""
_LISTED = r"(?:the|all|any|recent|last|latest|newest|list|show|me|what|which|of|git|code|my|our|these|and)"
"""What stands before `changes` as a noun: not `a value changes in another tab`."""
_ONCE = r"(?:used to|formerly|previously|at some (?:point|time))"
_AUTHORS = (
    r"(?:(?:who|which|what|list|show|name|find|give|git|main|top|original|first|last)"
    r"(?: (?:me|is|are|was|were|the|all|an|any))* (?:\w+ )?|^(?:the )?)authors?"
    r"(?! (?:fields?|headers?|names?|address\w*|tags?|attributes?|options?|settings?|and|or)\b)"
)
"""Asked for, not told of: `the mail has an author and a sender`."""
_OF_HISTORIES = "entr|siz|file|max|limit|item|list|line|buffer|record|length|command|search|key|path|api"
"""Begins what a program keeps: `history entries` is no question to git."""
_HISTORY = lazy_regex(
    rf"\b(?:histor(?:y|ies)(?! (?:{_OF_HISTORIES}))|evol(?:ve[sd]?|ving|ution)"
    r"|over (?:the )?(?:time|years|months|releases)"
    r"|git log|git blame|blame|commits?|(?:when|why) and by whom|who and when"
    rf"|(?:who|when|last|was|were|been|has|have|git|i|we) committed|committed (?:by|last|recently|since|in git)"
    rf"|committers?|{_AUTHORS}|authored|contribut\w+|who (?:{EVER} )?(?:{ADDED}|{CHANGED}|{MENDED}|owns"
    rf"|works?|worked)"
    r"|(?:was|were|been|got) (?:\w+ )?(?:turned|changed|switched|moved|put|set|made|brought) back"
    rf"|{_ONCE} .{{1,160}}[,;:.?] (?:and )?(?:why|when|who|by whom)"
    r"|(?:was|were|has|have) there (?:ever |been )*(?:an? |any |some )?(?:[\w-]+ )?(?:fix(?:es)?|patch(?:es)?)"
    r"|how did .{3,80} (?:come about|come to be|evolve|change over)"
    rf"|when (?:was|were|did|has)\b.*\b(?:{ADDED}|{CHANGED})|when (?:was|were|did|has)\b.*\b{MENDED}"
    rf"|who (?:{EVER} )?(?:brought|put|pulled|got)"
    r"|^(?:and )?when (?:was|were|did)|when (?:has|is)\b.{3,120}\b(?:by whom|become|(?:which|what) (?:commit|pr))"
    rf"|(?:which|what) (?:commit|change|pr|pull request|patch|release|version)s? (?:first |originally |finally )?"
    rf"(?:{ADDED}|{MENDED}|made|improved)|(?:in|with|by) (?:which|what) (?:commit|change|pr|pull request)"
    r"|(?:has|have|been) changed|(?:last|latest|recent|newest) (?:\w+ )?(?:changes|edits|modifications)"
    rf"|(?:last|recently|first|ever|lately) {CHANGED}"
    rf"|happened (?:to|with)|(?<![a-z] )changes (?:to|of|in)|{_LISTED} changes (?:to|of|in)|changed in|what changed"
    r"|who (?:did|made) (?:it|this|that)|(?:which|what|first) (?:release|version) (?:first )?(?:had|having|got|shipped)"
    rf"|{CHANGED} since|age of"
    rf"|how old|since (?:when|(?:which|what) (?:commit|change|pr|pull request|patch))|development of)\b",
    re.IGNORECASE,
)
_DOES = lazy_regex(
    r"^(?:who|what|which \w+) (?:adds|creates|writes|implements|introduces|changes|touches|modifies|edits|updates"
    r"|rewrites|gets|puts|pulls|brings|removes)\b(?!.*\b(?:most|often|usually|commits?|history|git)\b)",
    re.IGNORECASE,
)
"""What code does: `who creates the session table` is no question to git."""
_ASKS_COMMIT = lazy_regex(rf"\b(?:which|what) (?:commit|pr|pull request)s? (?:{ADDED}|{MENDED})\b", re.IGNORECASE)
_PLAN = lazy_regex(
    r"\b(?:when|if|after|before|while) (?:i|we|you|someone)\b|\bmy (?:change|edit|branch|pr)"
    r"|\bbetween\b(?! *(?:[?.!,]|$))|\btogether\b",
    re.IGNORECASE,
)
_COMMIT = lazy_regex(r"(?<![\w.:/-])[`'\"]?commit(?:s|ted|ting)?(?![\w/])(?!\.\w)", re.IGNORECASE)
_IN_CODE = lazy_regex(
    r"(?:[.:/]commit\w*|(?<=\w)-commit(?:s|ted|ting)?\b|`commit\w*`|\bcommit\w*\()",
    re.IGNORECASE,
)
"""`session.commit`, `auto-commit`, `commit()`."""
_WITH = (
    r"(?:roll(?:s|ed|ing)?[ -]?backs?|abort\w*|begin(?:s|ning)?|savepoints?|close[sd]?|closing|flush\w*|transactions?"
    r"|acks?|acknowledg\w+|releas(?:es?|ing) (?:the )?locks?|prepare[sd]?)"
)
"""What programs do beside committing."""
_COMMITS_FORM = r"commit(?:s|ted|ting)?"
_JOINED = r"(?:,? (?:and|or|nor|then|vs|versus)(?: then| not)? |, ?| ?/ ?| ?& ?)(?:[\w-]+(?:, | and | or )){0,2}"
_BESIDE = lazy_regex(
    rf"\b{_COMMITS_FORM}{_JOINED}{_WITH}\b|\b{_WITH}{_JOINED}{_COMMITS_FORM}\b",
    re.IGNORECASE,
)
_HELD = lazy_regex(
    r"\bcommit (?:index\w*|points?|phases?|offsets?|intervals?|timeouts?|locks?|handlers?|callbacks?|hooks?"
    r"|listeners?|protocols?|markers?|timestamps?|strateg(?:y|ies)|modes?|polic(?:y|ies)|semantics|queues?|quorums?"
    r"|records?|channels?|buttons?)\b"
    r"|\b(?:offsets?|transactions?|phase|group|async|asynchronous|synchronous|sync|auto|automatic|batch|implicit"
    r"|explicit|nested|partial|db|database|sessions?|cursors?|connections?|consumer|producer|raft) commits?\b"
    r"|\b(?:un|read[ -])?committed (?:entr(?:y|ies)|offsets?|transactions?|reads?|index\w*|data|rows?|state|values?"
    r"|records?|messages?|configurations?|log|writes?|indices)\b|\bread[ -]committed\b",
    re.IGNORECASE,
)
_AS_CODE = lazy_regex(
    r"\bhow (?:does|do|is|are|will|would|should|must|can)\b(?! (?:i|we|you|one)\b)"
    r"|^(?:and )?(?:where|what happens|what does|when (?:is|are|does|do|will))\b",
    re.IGNORECASE,
)
"""Asks what the program does."""
_NOUN = lazy_regex(
    r"\b(?:which|what|that|this|last|latest|first|previous|recent|initial|any|git|our|my|list|show|of|in|by|revert|merge"
    r"|\d+) (?:\w+ )?commits?\b|\bcommit (?:that|which|who|[0-9a-f]{7,40}\b)|^commits?\b",
    re.IGNORECASE,
)
_MAY = (
    r"(?:does|do|can|could|will|would|should|shall|must|may|might|cannot|can't|to|not|n't|never|always|only|don't"
    r"|doesn't|it|they|then)"
)
_DOES_COMMIT = lazy_regex(
    rf"\b{_MAY} commit\b(?! (?:to|in|into) (?:(?:this|the|our|that) )?(?:repo|repository|project|file|module|code"
    r"|git|main|master|trunk|branch)\b)"
    r"|\b(?:does|do|can|could|will|would|should|must|may|might)(?: [\w.`'()-]+){1,5}"
    r"(?<! which)(?<! what)(?<! the)(?<! a)(?<! last)(?<! first)(?<! that)(?<! this)(?<! latest)(?<! of)(?<! any)"
    r"(?<! git)(?<! in)(?<! by)(?<! each)(?<! every)(?<! one)(?<! recent)(?<! merge)(?<! revert) commit\b",
    re.IGNORECASE,
)
_COMMITS = lazy_regex(
    r"\b(?:who|what|that|which \w+|what \w+|it|[A-Z]\w+)\b(?<!commits) commits (?:(?:the|a|an|its|their|our|each|every"
    r"|both|any|all|pending|open|it|them|when|after|if|once|automatically)\b(?! most)|(?!to\b|most\b|often\b|usually\b"
    r"|in\b|on\b|by\b|since\b|of\b|that\b|are\b|were\b|have\b|did\b|do\b|was\b|is\b|made\b|from\b|here\b|with\b"
    r"|for\b|about\b|per\b)\w+s\b)",
)
"""`Who commits the transaction`, `which thread commits offsets`; not `what commits changed it`."""
_COMMITTED = lazy_regex(
    r"\b(?:is|are|be|being|gets?|getting|becomes?|until|once|already|not|never) (?:[\w.`]+ ){0,5}committed\b"
    r"|\b(?:after|before|on|during|without|until|upon|once) (?:the |an? |its )?(?:\w+ )?commit(?:s|ted|ting)?"
    r"(?= *(?:[?.,;:!]|$))",
    re.IGNORECASE,
)
"""Passive in the present, and the moment: `what happens after commit?`."""


def asks_for_commits(query: Query) -> bool:
    """Return whether the words of a question are about the history: who added or changed something, or when."""
    text = without_program_commits(query.text)
    is_history = is_about_history(text) or asks_why_done(text)
    if query.reports or len(text.split()) > MOST_WORDS or not is_history or _asks_code(query):
        return False
    is_range = all(read_range(text))
    is_plan = _PLAN.search(text) is not None and _ASKS_COMMIT.search(text) is None
    return (is_range or not is_plan) and _DOES.match(text) is None


def _asks_code(query: Query) -> bool:
    """Return whether a text asks for a relation, and only states what has words of the history.

    `The guide tells contributors to use X. Where is it declared?`
    """
    relation = query.relation
    if relation is None or not relation.certain or relation.kind not in _OF_CODE:
        return False
    clauses = split_clauses(query.text)
    is_stated = any(not each.asks for each in clauses)
    return is_stated and not any(is_about_history(each.text) for each in clauses if each.asks)


def is_about_history(text: str) -> bool:
    """Return whether a text has words about the version history."""
    return _HISTORY.search(text) is not None


def without_program_commits(text: str) -> str:
    """Return a text without the words by which a program commits something, such as a transaction.

    `How does it deal with commit and rollback` asks nothing of git; `which commit fixed the rollback` does.
    """
    for pattern in (_IN_CODE, _BESIDE, _HELD, _DOES_COMMIT, _COMMITS, _COMMITTED):
        text = pattern.sub("-", text)
    if _AS_CODE.search(text) is not None and _NOUN.search(text) is None:
        text = _COMMIT.sub("-", text)
    return text


def is_file_added(text: str, path: str) -> bool:
    """Return whether a text asks who added a file: `added src/time.rs`, `brought in the shim (src/time.rs)`.

    In `who added retries to the client (src/client.rs)` the file is the place.
    """
    path = re.escape(path)
    if re.search(rf"\b{ADDED} (?:the )?(?:file |module |script )?[`'\"(]{{0,2}}{path}", text, re.IGNORECASE):
        return True
    inside = re.search(rf"(?P<before>[^.?!;]{{0,200}}) \([`'\"]?{path}[`'\"]?\)", text)
    told = re.sub(rf"\b{ADDED}\b", "", inside["before"], flags=re.IGNORECASE).split() if inside is not None else []
    return bool(told) and not {"to", "in", "into", "of", "for", "from", "on"} & {*told[-MOST_BEFORE_FILE:]}
