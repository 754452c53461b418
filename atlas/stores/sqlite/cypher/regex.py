"""Regular expressions for `=~` with guaranteed linear time.

A pattern is compiled to a small automaton, which runs as a lazily built DFA in time linear in the subject. The syntax
is the subset of Java's that permits this; back references and look-around are rejected by name. A match always spans
the whole string, as in Cypher.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from atlas.errors import QueryError

Test: TypeAlias = Callable[[str], bool]
MAX_STATES = 2_000
"""Maximum number of automaton states; `{m,n}` is unrolled."""
_MAX_DFA = 4_000
"""Cached transitions before the cache is cleared."""
_MAX_DEPTH = 30
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}


def _is_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")


_CLASSES: dict[str, Test] = {
    "d": lambda c: c.isascii() and c.isdigit(),
    "w": _is_word,
    "s": lambda c: c in " \t\n\r\f\v",
}


@dataclass(slots=True)
class Regex:
    """A compiled pattern. States 0..n: `edges[s]` are (test, next) pairs, `empty[s]` (condition, next) pairs."""

    edges: list[list[tuple[Test, int]]]
    empty: list[list[tuple[str, int]]]
    start: int
    accept: int
    _steps: dict[tuple[frozenset[int], str, str], frozenset[int]] = field(
        default_factory=dict[tuple[frozenset[int], str, str], frozenset[int]]
    )
    _ends: dict[tuple[frozenset[int], str], bool] = field(default_factory=dict[tuple[frozenset[int], str], bool])

    def fullmatch(self, text: str, look: Callable[[], None]) -> bool:
        """Return whether the whole text matches; linear once transitions are cached.

        `look` is called for each new transition.
        """
        states = frozenset((self.start,))
        before = "^"
        steps = self._steps
        for character in text:
            key = (states, before, character)
            following = steps.get(key)
            if following is None:
                if len(steps) >= _MAX_DFA:
                    steps.clear()
                look()
                following = self._step(states, before, character)
                steps[key] = following
            if not following:
                return False
            states = following
            before = "w" if _is_word(character) else "W"
        key = (states, before)
        if key not in self._ends:
            if len(self._ends) >= _MAX_DFA:
                self._ends.clear()
            self._ends[key] = self.accept in self._closure(states, before, "$")
        return self._ends[key]

    def _step(self, states: frozenset[int], before: str, character: str) -> frozenset[int]:
        after = "w" if _is_word(character) else "W"
        reached = self._closure(states, before, after)
        return frozenset(target for state in reached for test, target in self.edges[state] if test(character))

    def _closure(self, states: frozenset[int], before: str, after: str) -> set[int]:
        reached, stack = set(states), list(states)
        boundary = (before == "w") != (after == "w")
        holds = {"": True, "^": before == "^", "$": after == "$", "b": boundary, "B": not boundary}
        while stack:
            for condition, target in self.empty[stack.pop()]:
                if target not in reached and holds[condition]:
                    reached.add(target)
                    stack.append(target)
        return reached


def compile_regex(pattern: str) -> Regex:
    """Compile a pattern. Raises QueryError for syntax errors and for patterns that linear time does not permit."""
    builder = _Builder(pattern)
    start, end = builder.alternatives(0)
    if builder.at < len(pattern):
        raise builder.error("unbalanced `)`")
    return Regex(builder.edges, builder.empty, start, end)


@dataclass(slots=True)
class _Builder:
    """Recursive descent over the pattern; every method returns the (first, last) state of the part it parsed."""

    pattern: str
    at: int = 0
    ignore_case: bool = False
    dot_all: bool = False
    edges: list[list[tuple[Test, int]]] = field(default_factory=list[list[tuple[Test, int]]])
    empty: list[list[tuple[str, int]]] = field(default_factory=list[list[tuple[str, int]]])

    def error(self, message: str) -> QueryError:
        return QueryError(
            f"regular expression {self.pattern[:80]!r}: {message} at position {self.at + 1}",
            "use literals, classes, groups, |, *, +, ?, {m,n}, ^, $, \\b and (?i); CONTAINS and STARTS WITH are faster",
        )

    def state(self) -> int:
        if len(self.edges) >= MAX_STATES:
            raise self.error(f"it needs more than {MAX_STATES:,} states")
        self.edges.append([])
        self.empty.append([])
        return len(self.edges) - 1

    def peek(self) -> str:
        return self.pattern[self.at] if self.at < len(self.pattern) else ""

    def alternatives(self, depth: int) -> tuple[int, int]:
        if depth > _MAX_DEPTH:
            raise self.error("groups are nested too deeply")
        first, last = self.state(), self.state()
        while True:
            head, tail = self.sequence(depth)
            self.empty[first].append(("", head))
            self.empty[tail].append(("", last))
            if self.peek() != "|":
                return first, last
            self.at += 1

    def sequence(self, depth: int) -> tuple[int, int]:
        first = last = self.state()
        while self.peek() and self.peek() not in "|)":
            begin = self.at
            head, tail = self.item(depth)
            head, tail = self.repeated(head, tail, begin, depth)
            self.empty[last].append(("", head))
            last = tail
        return first, last

    def repeated(self, head: int, tail: int, begin: int, depth: int) -> tuple[int, int]:
        end = self.at
        low, high = self.quantifier()
        if (low, high) == (1, 1):
            return head, tail
        after = self.at
        first = last = self.state()
        for index in range(max(low, high or 0, 1)):
            if index:
                self.at = begin
                head, tail = self.item(depth)
            skip = self.state()
            self.empty[last].append(("", head))
            self.empty[tail].append(("", skip))
            if index >= low:
                self.empty[last].append(("", skip))
            if high is None and index == max(low, 1) - 1:
                self.empty[tail].append(("", head))
            last = skip
        assert end <= after
        self.at = after
        if high == 0:
            first = last = self.state()
        return first, last

    def quantifier(self) -> tuple[int, int | None]:
        character = self.peek()
        bounds: tuple[int, int | None] = (1, 1)
        if character and character in "*+?":
            self.at += 1
            bounds = {"*": (0, None), "+": (1, None), "?": (0, 1)}[character]
        elif character == "{":
            bounds = self.braces()
        else:
            return bounds
        if self.peek() == "?":
            self.at += 1
        elif self.peek() == "+":
            raise self.error("possessive quantifiers are not supported")
        if self.peek() and self.peek() in "*+?{":
            raise self.error("a quantifier follows a quantifier")
        return bounds

    def braces(self) -> tuple[int, int | None]:
        close = self.pattern.find("}", self.at)
        low, comma, high = self.pattern[self.at + 1 : max(close, self.at + 1)].partition(",")
        if close < 0 or not low.isdecimal() or (high and not high.isdecimal()) or len(low) > 4 or len(high) > 4:
            raise self.error("expected {m}, {m,} or {m,n}")
        self.at = close + 1
        bounds = (int(low), int(high) if high else (None if comma else int(low)))
        if bounds[1] is not None and bounds[1] < bounds[0]:
            raise self.error("the bounds are in the wrong order")
        return bounds

    def item(self, depth: int) -> tuple[int, int]:
        character = self.peek()
        if character == "(":
            return self.group(depth)
        if character in "*+?{":
            raise self.error("a quantifier has nothing to repeat")
        self.at += 1
        if character in "^$":
            return self.condition(character)
        if character == ".":
            return self.single((lambda c: True) if self.dot_all else (lambda c: c not in "\n\r\u0085\u2028\u2029"))
        if character == "[":
            return self.single(self.character_class(0))
        if character == "\\":
            if self.peek() and self.peek() in "bB":
                self.at += 1
                return self.condition(self.pattern[self.at - 1])
            return self.single(self.escape())
        return self.single(self.literal(character))

    def group(self, depth: int) -> tuple[int, int]:
        self.at += 1
        flags = (self.ignore_case, self.dot_all)
        if self.peek() == "?":
            end = self.at + 1
            while end < len(self.pattern) and self.pattern[end] in "is":
                end += 1
            if self.pattern[end : end + 1] not in (")", ":"):
                raise self.error("look-around, named groups and these flags are not supported")
            letters = self.pattern[self.at + 1 : end]
            self.ignore_case = self.ignore_case or "i" in letters
            self.dot_all = self.dot_all or "s" in letters
            self.at = end + 1
            if self.pattern[end] == ")":
                empty = self.state()
                return empty, empty
        first, last = self.alternatives(depth + 1)
        if self.peek() != ")":
            raise self.error("unbalanced `(`")
        self.at += 1
        self.ignore_case, self.dot_all = flags
        return first, last

    def condition(self, condition: str) -> tuple[int, int]:
        first, last = self.state(), self.state()
        self.empty[first].append((condition, last))
        return first, last

    def single(self, test: Test) -> tuple[int, int]:
        first, last = self.state(), self.state()
        self.edges[first].append((test, last))
        return first, last

    def literal(self, character: str) -> Test:
        if self.ignore_case:
            folded = character.lower()
            return lambda c: c.lower() == folded
        return lambda c: c == character

    def escape(self) -> Test:
        character = self.peek()
        self.at += 1
        if not character:
            raise self.error("a backslash ends the pattern")
        if character.lower() in _CLASSES:
            test = _CLASSES[character.lower()]
            return test if character.islower() else (lambda c: not test(c))
        if character in _CONTROL:
            return self.literal(_CONTROL[character])
        if character.isalnum():
            self.at -= 1
            raise self.error(f"`\\{character}` is not supported")
        return self.literal(character)

    def character_class(self, depth: int) -> Test:
        if depth > _MAX_DEPTH:
            raise self.error("character classes are nested too deeply")
        negated = self.peek() == "^"
        self.at += negated
        tests: list[Test] = []
        first = True
        while first or self.peek() != "]":
            if not self.peek():
                raise self.error("unbalanced `[`")
            tests.append(self.class_item(depth))
            first = False
        self.at += 1
        return (lambda c: not any(test(c) for test in tests)) if negated else (lambda c: any(test(c) for test in tests))

    def class_item(self, depth: int) -> Test:
        character = self.peek()
        self.at += 1
        if character == "[":
            return self.character_class(depth + 1)
        if character == "&" and self.peek() == "&":
            raise self.error("class intersection is not supported")
        if character == "\\":
            if self.peek().lower() in _CLASSES:
                return self.escape()
            character = _CONTROL.get(self.peek(), self.peek())
            self.at += 1
        if self.peek() == "-" and self.pattern[self.at + 1 : self.at + 2] not in ("]", ""):
            self.at += 1
            stop = self.peek()
            self.at += 1
            if stop == "\\":
                stop = _CONTROL.get(self.peek(), self.peek())
                self.at += 1
            if stop < character:
                raise self.error("a character range is in the wrong order")
            return self.in_range(character, stop)
        return self.literal(character)

    def in_range(self, low: str, high: str) -> Test:
        if self.ignore_case:
            return lambda c: low <= c <= high or low <= c.lower() <= high or low <= c.upper() <= high
        return lambda c: low <= c <= high
