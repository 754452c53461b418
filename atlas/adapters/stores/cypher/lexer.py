"""Cypher text to tokens.

Implements the lexical rules only; every token carries its offset, so that errors can be located.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from atlas.adapters.stores.cypher.syntax import Expression, Subquery
from atlas.core.errors import QueryError
from atlas.core.lazy_regex import lazy_regex

MAX_TEXT = 20_000
"""Maximum length of a query in characters, ten times the longest query that is written by hand or by an agent."""
MAX_DEPTH = 40
"""Maximum nesting of expressions; bounds the recursion of parser, compiler and evaluation (about 12 frames a level)."""

_TOKEN = lazy_regex(
    r"""
    (?P<blank>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<float>(?:\d+\.\d+|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)
  | (?P<int>0[xX][0-9a-fA-F]+|0[oO][0-7]+|\d+)
  | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
  | (?P<parameter>\$(?:\w+|`(?:[^`]|``)+`))
  | (?P<quoted>`(?:[^`]|``)*`)
  | (?P<name>[^\W\d]\w*)
  | (?P<operator><=|>=|<>|=~|\.\.|\|\||[-+*/%^=<>()\[\]{},.:;|&!])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = lazy_regex(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "`": "`", "/": "/"}
_OPENERS = {"'": "string", '"': "string", "`": "name in backticks", "/": "comment"}


class Token(NamedTuple):
    """`kind` is name, quoted, string, int, float, parameter, operator or end; [at, end) is its position in the text."""

    kind: str
    text: str
    at: int
    end: int


class ExpressionRule(Protocol):
    """The rule of expressions."""

    def __call__(self, cursor: Cursor, bar_ends: bool = False) -> Expression:
        """Parse one expression; `bar_ends` inside a comprehension, where `|` is not part of a label."""
        ...


class Grammar(NamedTuple):
    """The grammar rules that modules pass to each other: expressions contain patterns and subqueries and vice versa."""

    expression: ExpressionRule
    map: Callable[[Cursor], tuple[tuple[str, Expression], ...]]
    subquery: Callable[[Cursor, str], Subquery]


@dataclass(slots=True)
class Cursor:
    """The tokens of one query and the current position; the parser's only mutable state."""

    text: str
    tokens: list[Token]
    grammar: Grammar
    index: int = 0
    depth: int = 0
    anonymous: int = 0
    bar_ends: bool = False
    """True inside a comprehension's WHERE, where `|` ends the expression instead of joining labels."""

    @property
    def token(self) -> Token:
        """The next token, not consumed."""
        return self.tokens[self.index]

    def peek(self, offset: int = 1) -> Token:
        """Return the token `offset` places after the next one."""
        return self.tokens[min(self.index + offset, len(self.tokens) - 1)]

    def advance(self) -> Token:
        """Consume and return the next token."""
        token = self.tokens[self.index]
        if token.kind != "end":
            self.index += 1
        return token

    def at_operator(self, *operators: str) -> bool:
        """Return whether the next tokens are these operators, in order."""
        return all(self.peek(i)[:2] == ("operator", operator) for i, operator in enumerate(operators))

    def at_word(self, *words: str) -> bool:
        """Return whether the next tokens are these keywords, in order, ignoring case."""
        return all(self.peek(i).kind == "name" and self.peek(i).text.upper() == word for i, word in enumerate(words))

    def take_operator(self, operator: str) -> bool:
        """Consume the operator if it is next."""
        if self.at_operator(operator):
            self.index += 1
            return True
        return False

    def take_word(self, *words: str) -> bool:
        """Consume the keywords if they are next."""
        if self.at_word(*words):
            self.index += len(words)
            return True
        return False

    def expect_operator(self, operator: str, context: str) -> None:
        """Consume the operator, or raise."""
        if not self.take_operator(operator):
            raise self.unexpected(f"expected `{operator}` {context}")

    def expect_word(self, word: str, context: str) -> None:
        """Consume the keyword, or raise."""
        if not self.take_word(word):
            raise self.unexpected(f"expected {word} {context}")

    def expect_name(self, what: str) -> str:
        """Consume a plain or backticked name, or raise."""
        if self.token.kind not in ("name", "quoted"):
            raise self.unexpected(f"expected {what}")
        return self.advance().text

    def new_name(self) -> str:
        """Return a new name for an anonymous pattern element; no query can contain it."""
        self.anonymous += 1
        return f" {self.anonymous}"

    def enter(self) -> None:
        """Count one level of nesting; raises beyond `MAX_DEPTH`."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"the query is nested more than {MAX_DEPTH} levels deep", "simplify the expression")

    def unexpected(self, expectation: str) -> QueryError:
        """Return the error for an unexpected next token."""
        token = self.token
        found = (
            "the end of the query"
            if token.kind == "end"
            else f"`{self.text[token.at : min(token.end, token.at + 40)]}`"
        )
        return self.error(f"{expectation}, found {found}")

    def error(self, message: str, hint: str = "", at: int | None = None) -> QueryError:
        """Return an error located at an offset (default: the next token)."""
        return located_error(self.text, self.token.at if at is None else at, message, hint)


def located_error(text: str, at: int, message: str, hint: str = "") -> QueryError:
    """Return a QueryError with the 1-based line and column of an offset."""
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    return QueryError(f"{message} (line {line}, column {column})", hint, line, column)


def tokenize(text: str) -> list[Token]:
    """Return the tokens, the last of kind "end". Raises QueryError for an empty or too long text and invalid tokens."""
    if len(text) > MAX_TEXT:
        raise QueryError(
            f"the query has {len(text):,} characters; at most {MAX_TEXT:,} are read",
            "pass long lists as a parameter",
            1,
            1,
        )
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise QueryError("the query is not valid Unicode", "send UTF-8", 1, 1)
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None or (match.group() == "/" and text.startswith("/*", at)):
            raise _bad_character(text, at)
        if match.lastgroup != "blank":
            tokens.append(Token(match.lastgroup, _clean(match.lastgroup, match.group(), text, at), at, match.end()))
        if match.lastgroup in ("int", "float") and text[match.end() : match.end() + 1].isidentifier():
            raise located_error(text, at, "a name cannot start with a digit", "quote it with backticks")
        at = match.end()
    if not tokens:
        raise QueryError("the query is empty", "for example: MATCH (n:Function) RETURN n.name LIMIT 10", 1, 1)
    tokens.append(Token("end", "", len(text), len(text)))
    return tokens


def _clean(kind: str, raw: str, text: str, at: int) -> str:
    if kind == "quoted":
        name = raw[1:-1].replace("``", "`")
        if not name:
            raise located_error(text, at, "a name in backticks cannot be empty")
        return name
    if kind == "parameter":
        return raw[2:-1].replace("``", "`") if raw[1] == "`" else raw[1:]
    if kind == "string":
        return _ESCAPE.sub(lambda match: _unescape(match.group(1), text, at), raw[1:-1])
    return raw


def _unescape(code: str, text: str, at: int) -> str:
    if len(code) > 1:
        number = int(code[1:], 16)
        if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
            raise located_error(text, at, f"`\\{code}` is not a character")
        return chr(number)
    if code not in _ESCAPES:
        raise located_error(text, at, f"unknown escape `\\{code}` in a string", "write a backslash as \\\\")
    return _ESCAPES[code]


def _bad_character(text: str, at: int) -> QueryError:
    character = text[at]
    if text.startswith("$(", at):
        return located_error(
            text, at, "dynamic labels, types and properties `$(..)` are not supported", "write the name"
        )
    if character in _OPENERS and (character != "/" or text.startswith("/*", at)):
        return located_error(text, at, f"this {_OPENERS[character]} is not closed")
    return located_error(text, at, f"unexpected character {character!r}")
