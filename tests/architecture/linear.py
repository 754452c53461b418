"""Whether Python's backtracking matcher takes time in proportion to its text, decided from the pattern alone.

A pattern becomes an automaton. Two ways through a loop for one word cost exponential time; one loop that can hand over
to another one on a word that both read costs quadratic time, and the search for a pattern is such a loop itself: it
tries every start. A loop from which a match always succeeds is harmless, because nothing is tried again. What cannot be
decided exactly counts as possible (lookarounds of several characters, back references, atomic groups), so an answer of
"linear" holds, and an answer of "not linear" may be too strict. (Weideman et al., "Analyzing matching time behavior of
backtracking regular expression matchers by using ambiguity of NFA", 2016.)
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, product
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as sre  # type: ignore[attr-defined]
from typing import Any

FEW = 6
"""Repetitions up to this are unrolled."""
MOST_STEPS = 1000
"""A bounded repetition may make each start cost this much."""

Class = int
"""A set of characters that the pattern does not tell apart; -1 stands for none: the start or the end of the text."""
Condition = Callable[[Class, Class], bool]
NONE: Class = -1


def maybe(before: Class, after: Class) -> bool:
    """Stand for a condition that may hold."""
    return True


@dataclass
class Automaton:
    """States are numbers; 0 is the start. `reads` are edges with a character, `moves` edges without one."""

    reads: dict[int, list[tuple[frozenset[Class], int]]] = field(default_factory=dict)
    moves: dict[int, list[tuple[int, Condition | None]]] = field(default_factory=dict)
    size: int = 0
    is_conditional: bool = False

    def state(self) -> int:
        self.size += 1
        return self.size - 1

    def move(self, start: int, end: int, condition: Condition | None = None) -> None:
        self.moves.setdefault(start, []).append((end, condition))
        self.is_conditional |= condition is not None


def growth(pattern: re.Pattern[Any], *, search: bool, whole: bool = False) -> float:
    """Return the power of the text's length that time grows with: 1 is linear, infinity exponential.

    `search`: it is tried at every start (search, sub, split, finditer). `whole`: it must reach the end (fullmatch).
    Bounded repetitions count as endless if a start can cost more than `MOST_STEPS` through them.
    """
    tree = sre.parse(pattern.pattern, pattern.flags)
    if not any(_repeats(tree)):
        return 1
    endless = _growth(tree, pattern, search=search, whole=whole, bounded=True)
    if endless == 1:
        return 1
    found = _growth(tree, pattern, search=search, whole=whole, bounded=False)
    steps = _steps(tree, multiply=endless > 1 + search)
    return endless if found == 1 and steps > MOST_STEPS else found


def _steps(tree: Any, *, multiply: bool) -> int:
    """Return how often the bounded repetitions of a pattern read a character at most; `multiply`: for each other."""
    steps = 1
    for code, argument in tree:
        inner = 1
        if code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            least, most = argument[:2]
            most = 1 if most == op.MAXREPEAT or most <= FEW else most - least + 1 if multiply else most
            inner = most * _steps(argument[2], multiply=multiply)
        elif code is op.SUBPATTERN:
            inner = _steps(argument[3], multiply=multiply)
        elif code is op.BRANCH:
            inner = max(_steps(each, multiply=multiply) for each in argument[1])
        elif code in (op.ASSERT, op.ASSERT_NOT):
            inner = _steps(argument[1], multiply=multiply)
        elif code is op.ATOMIC_GROUP:
            inner = _steps(argument, multiply=multiply)
        steps = steps * inner if multiply else steps + inner - 1
    return steps


def _repeats(tree: Any) -> Iterator[tuple[int, Any]]:
    for code, argument in tree:
        if code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            yield argument[0], argument[1]
            yield from _repeats(argument[2])
        elif code is op.SUBPATTERN:
            yield from _repeats(argument[3])
        elif code is op.BRANCH:
            for each in argument[1]:
                yield from _repeats(each)
        elif code in (op.ASSERT, op.ASSERT_NOT):
            yield from _repeats(argument[1])
        elif code is op.ATOMIC_GROUP:
            yield from _repeats(argument)
        elif code is op.GROUPREF_EXISTS:
            for each in argument[1:]:
                yield from _repeats(each or ())


# --- characters -------------------------------------------------------------------------------------------------------

SAMPLES = "".join(map(chr, range(256))) + "İſK٣   “”…日😀ﬁΣςσ"


class Alphabet:
    """The characters that a pattern tells apart."""

    def __init__(self, tree: Any, pattern: re.Pattern[Any]) -> None:
        self.is_bytes = isinstance(pattern.pattern, bytes)
        codes = {ord(each) for each in SAMPLES}
        codes |= {near for code in _codes(tree) for near in (code - 1, code, code + 1) if 0 <= near < 0x110000}
        self.characters = [chr(code) for code in sorted(codes) if not self.is_bytes or code < 256]
        self._others = [each for each in self.characters if each not in SAMPLES]
        self._tests: list[frozenset[str]] = []
        self._numbers: dict[tuple[Any, Any, int], int] = {}
        self.classes: list[str] = []

    def add(self, code: Any, argument: Any, flags: int) -> int:
        """Note the characters that a node matches; return their number."""
        key = (code, tuple(argument) if isinstance(argument, list) else argument, int(flags) & TOLD)
        if key not in self._numbers:
            test = _test(*key)
            self._numbers[key] = len(self._tests)
            self._tests.append(_matched(*key).union(each for each in self._others if test(each)))
        return self._numbers[key]

    def close(self) -> None:
        """Divide the characters into classes."""
        known: dict[tuple[bool, ...], str] = {}
        tests = {*self._tests}
        for each in self.characters:
            known.setdefault((*(each in test for test in tests), is_word(each), each == "\n"), each)
        self.classes = list(known.values())

    def kind(self, at: Class, numbers: Iterable[int]) -> tuple[bool, ...]:
        """Return what conditions can ask about a character that stands before."""
        each = self.classes[at]
        return (is_word(each), each == "\n", *(each in self._tests[number] for number in numbers))

    def members(self, number: int) -> frozenset[Class]:
        return frozenset(at for at, each in enumerate(self.classes) if each in self._tests[number])


def _codes(tree: Any) -> Iterator[int]:
    for code, argument in tree:
        if code in (op.LITERAL, op.NOT_LITERAL):
            yield argument
        elif code is op.RANGE:
            yield from argument
        elif code is op.IN:
            yield from _codes(argument)
        elif code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            yield from _codes(argument[2])
        elif code is op.SUBPATTERN:
            yield from _codes(argument[3])
        elif code is op.BRANCH:
            for each in argument[1]:
                yield from _codes(each)
        elif code in (op.ASSERT, op.ASSERT_NOT):
            yield from _codes(argument[1])
        elif code is op.ATOMIC_GROUP:
            yield from _codes(argument)
        elif code is op.GROUPREF_EXISTS:
            for each in argument[1:]:
                yield from _codes(each or ())


def is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


CATEGORIES: dict[Any, Callable[[str], bool]] = {
    op.CATEGORY_DIGIT: str.isdecimal,
    op.CATEGORY_NOT_DIGIT: lambda each: not each.isdecimal(),
    op.CATEGORY_SPACE: str.isspace,
    op.CATEGORY_NOT_SPACE: lambda each: not each.isspace(),
    op.CATEGORY_WORD: is_word,
    op.CATEGORY_NOT_WORD: lambda each: not is_word(each),
}


def _test(code: Any, argument: Any, flags: int) -> Callable[[str], bool]:
    """Return whether a character is matched by a node that reads one."""

    def plain(each: str) -> bool:
        if code is op.LITERAL:
            return ord(each) == argument
        if code is op.NOT_LITERAL:
            return ord(each) != argument
        if code is op.ANY:
            return bool(flags & re.DOTALL) or each != "\n"
        found = False
        negated = False
        for kind, value in argument:
            if kind is op.NEGATE:
                negated = True
            elif kind is op.LITERAL:
                found |= ord(each) == value
            elif kind is op.RANGE:
                found |= value[0] <= ord(each) <= value[1]
            else:
                ascii_only = flags & re.ASCII and not each.isascii()
                base = CATEGORIES[value]("\x00" if ascii_only else each)
                found |= base
        return found != negated

    def folded(each: str) -> bool:
        forms = {each, each.lower(), each.upper(), each.swapcase()}
        return any(plain(form) for form in forms if len(form) == 1)

    return folded if flags & re.IGNORECASE and code is not op.ANY else plain


TOLD = int(re.IGNORECASE | re.DOTALL | re.ASCII)
"""The flags that decide what a node matches."""


@cache
def _matched(code: Any, argument: Any, flags: int) -> frozenset[str]:
    """Return those of `SAMPLES` that a node matches; the same letters stand in most patterns."""
    return frozenset(filter(_test(code, argument, flags), SAMPLES))


# --- the automaton ----------------------------------------------------------------------------------------------------

READS = (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN)


class Builder:
    """Builds the automaton of a pattern; `bounded`: long bounded repetitions count as endless, else as one."""

    def __init__(self, tree: Any, pattern: re.Pattern[Any], *, bounded: bool) -> None:
        self.bounded = bounded
        self.alphabet = Alphabet(tree, pattern)
        self.automaton = Automaton()
        self._reads: list[tuple[int, int, int]] = []
        self._ahead: list[tuple[int, int, int, int, bool]] = []
        self._groups: dict[int, Any] = {}
        self.start = self.automaton.state()
        self.end = self.build(tree, self.start, pattern.flags)
        self.alphabet.close()
        for start, number, end in self._reads:
            self.automaton.reads.setdefault(start, []).append((self.alphabet.members(number), end))
        behind = [number for _, number, _, direction, _ in self._ahead if direction < 0]
        kinds: dict[tuple[bool, ...], Class] = {}
        self.before = [kinds.setdefault(self.alphabet.kind(at, behind), at) for at in range(len(self.alphabet.classes))]
        """A class that conditions do not tell from this one when it stands before."""
        for start, number, end, direction, wanted in self._ahead:
            self.automaton.move(start, end, self._beside(self.alphabet.members(number), direction, wanted))

    def build(self, tree: Any, start: int, flags: int) -> int:
        for code, argument in tree:
            start = self._node(code, argument, start, flags)
        return start

    def _node(self, code: Any, argument: Any, start: int, flags: int) -> int:
        add = self.automaton.state
        if code in READS:
            end = add()
            self._reads.append((start, self.alphabet.add(code, argument, flags), end))
            return end
        if code is op.BRANCH:
            end = add()
            for each in argument[1]:
                first = add()
                self.automaton.move(start, first)
                self.automaton.move(self.build(each, first, flags), end)
            return end
        if code is op.SUBPATTERN:
            group, added, removed, inner = argument
            self._groups[group] = inner
            return self.build(inner, start, (flags | added) & ~removed)
        if code is op.ATOMIC_GROUP:
            return self.build(argument, start, flags)
        if code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            return self._repeat(argument, start, flags, possessive=code is op.POSSESSIVE_REPEAT)
        if code is op.AT:
            end = add()
            self.automaton.move(start, end, self._place(argument, flags))
            return end
        if code in (op.ASSERT, op.ASSERT_NOT):
            return self._around(argument, start, flags, wanted=code is op.ASSERT)
        if code is op.GROUPREF:
            end = add()
            self.automaton.move(start, end)
            if any(most is op.MAXREPEAT for _, most in _repeats(self._groups.get(argument, ()))):
                anything = self.alphabet.add(op.ANY, None, re.DOTALL)
                self._reads.append((end, anything, end))
            return end
        if code is op.GROUPREF_EXISTS:
            end = add()
            for each in argument[1:]:
                self.automaton.move(self.build(each or (), start, flags), end)
            return end
        if code is op.FAILURE:
            return add()
        raise NotImplementedError(str(code))

    def _repeat(self, argument: Any, start: int, flags: int, *, possessive: bool) -> int:
        least, most, inner = argument
        endless = most is op.MAXREPEAT or (most > FEW and self.bounded)
        if not endless and most > FEW:
            least, most = min(least, 1), 1
        for _ in range(min(least, FEW)):
            start = self.build(inner, start, flags)
        end = self.automaton.state()
        single = len(inner) == 1 and inner[0][0] in READS
        if not endless:
            for _ in range(most - min(least, FEW)):
                self.automaton.move(start, end)
                start = self.build(inner, start, flags)
            self.automaton.move(start, end)
            return end
        body = self.automaton.state()
        after = self.build(inner, body, flags)
        for place in (start, after):
            self.automaton.move(place, body)
            if possessive and single and most is op.MAXREPEAT:
                number = self.alphabet.add(*inner[0], flags)
                self._ahead.append((place, number, end, 1, False))
            else:
                self.automaton.move(place, end)
        return end

    def _place(self, at: Any, flags: int) -> Condition:
        def is_newline(each: Class) -> bool:
            return each != NONE and self.alphabet.classes[each] == "\n"

        def is_boundary(before: Class, after: Class) -> bool:
            words = [each != NONE and is_word(self.alphabet.classes[each]) for each in (before, after)]
            return words[0] != words[1]

        if at is op.AT_BEGINNING_STRING or (at is op.AT_BEGINNING and not flags & re.MULTILINE):
            return lambda before, after: before == NONE
        if at is op.AT_BEGINNING:
            return lambda before, after: before == NONE or is_newline(before)
        if at is op.AT_END_STRING:
            return lambda before, after: after == NONE
        if at is op.AT_END:
            return lambda before, after: after == NONE or is_newline(after)
        if at is op.AT_BOUNDARY:
            return is_boundary
        return lambda before, after: not is_boundary(before, after)

    def _around(self, argument: Any, start: int, flags: int, *, wanted: bool) -> int:
        direction, inner = argument
        end = self.automaton.state()
        if len(inner) == 1 and inner[0][0] in READS:
            self._ahead.append((start, self.alphabet.add(*inner[0], flags), end, direction, wanted))
            return end
        self.automaton.move(start, end, maybe)
        if direction > 0:
            # what the lookahead reads is paid for, and leads nowhere
            first = self.automaton.state()
            self.automaton.move(start, first)
            self.build(inner, first, flags)
        return end

    @staticmethod
    def _beside(members: frozenset[Class], direction: int, wanted: bool) -> Condition:
        if direction > 0:
            return lambda before, after: (after in members) == wanted
        return lambda before, after: (before in members) == wanted


# --- its loops --------------------------------------------------------------------------------------------------------

Place = tuple[int, Class]
"""A state after a character of a class."""
Row = tuple[tuple[Place, ...], ...]
"""The next places by the class of the character that is read."""


class Steps:
    """The steps of an automaton from character to character, and the states from which a match always succeeds."""

    def __init__(self, built: Builder, *, search: bool, whole: bool) -> None:
        self.automaton = built.automaton
        self.classes = range(len(built.alphabet.classes))
        self.before = built.before
        self.known: dict[tuple[Place, Class], dict[Place, int]] = {}
        self._plain: dict[int, dict[int, int]] = {}
        self._rows: dict[Place, Row] = {}
        self._inner_rows: dict[tuple[frozenset[Place], Place], Row] = {}
        self.sure: dict[tuple[Place, Class], bool] = {}
        self.end = -2 if whole else built.end
        self.first: Place = (built.start, NONE)
        self.restart = -1
        if search:
            self.restart = self.automaton.state()
            self.automaton.reads[self.restart] = [(frozenset(self.classes), self.restart)]
            self.automaton.move(self.restart, built.start)
            self.first = (self.restart, NONE)

    def next(self, place: Place, read: Class) -> dict[Place, int]:
        """Return the places after reading a class, with the number of ways, 2 for many."""
        key = (place, read)
        if key not in self.known:
            found: dict[Place, int] = {}
            after = self.before[read] if self.automaton.is_conditional else 0
            for state, ways in self._closure(*place, read).items():
                for members, end in self.automaton.reads.get(state, ()):
                    if read in members:
                        found[end, after] = min(2, found.get((end, after), 0) + ways)
            self.known[key] = found
        return self.known[key]

    def _closure(self, state: int, before: Class, after: Class) -> dict[int, int]:
        """Return the states without reading, with the number of ways; the same for all characters without conditions."""
        if state in self._plain:
            return self._plain[state]
        found: dict[int, int] = {}
        seen: set[int] = set()
        is_plain = True

        def visit(here: int) -> None:
            nonlocal is_plain
            if found.get(here, 0) >= 2:
                return
            found[here] = found.get(here, 0) + 1
            seen.add(here)
            for end, condition in self.automaton.moves.get(here, ()):
                is_plain &= condition is None
                if end not in seen and (condition is None or condition(before, after)):
                    visit(end)
            seen.discard(here)

        visit(state)
        if is_plain:
            self._plain[state] = found
        return found

    def succeeds(self, place: Place, read: Class) -> bool:
        """Return whether a match surely succeeds here, before a character of this class."""
        key = (place, read if self.automaton.is_conditional else NONE)
        if key not in self.sure:
            seen: set[int] = set()
            waiting = [place[0]]
            while waiting:
                here = waiting.pop()
                if here in seen:
                    continue
                seen.add(here)
                for end, condition in self.automaton.moves.get(here, ()):
                    if condition is None or (condition is not maybe and condition(place[1], read)):
                        waiting.append(end)
            self.sure[key] = self.end in seen
        return self.sure[key]

    def row(self, place: Place) -> Row:
        """Return the next places for each class."""
        if place not in self._rows:
            self._rows[place] = tuple(tuple(self.next(place, read)) for read in self.classes)
        return self._rows[place]

    def within(self, loop: frozenset[Place], place: Place) -> Row:
        """Return the next places in a loop, none where a match succeeds: then nothing is tried again."""
        key = (loop, place)
        if key not in self._inner_rows:
            self._inner_rows[key] = tuple(
                () if self.succeeds(place, read) else tuple(end for end in ends if end in loop)
                for read, ends in enumerate(self.row(place))
            )
        return self._inner_rows[key]

    def graph(self) -> dict[Place, set[Place]]:
        """Return every place that can be reached, with those one character later."""
        edges: dict[Place, set[Place]] = {}
        waiting = [self.first]
        while waiting:
            place = waiting.pop()
            if place in edges:
                continue
            edges[place] = set(chain.from_iterable(self.row(place)))
            waiting.extend(edges[place])
        return edges


def _growth(tree: Any, pattern: re.Pattern[Any], *, search: bool, whole: bool, bounded: bool) -> float:
    """Return the number of loops that one word leads through one after the other; infinity for two ways in one."""
    steps = Steps(Builder(tree, pattern, bounded=bounded), search=search, whole=whole)
    graph = steps.graph()
    places = frozenset(graph)
    inside = {place: set(chain.from_iterable(steps.within(places, place))) for place in graph}
    loops = [loop for loop in components(inside) if all(place[0] != steps.restart for place in loop)]
    if any(_has_two_ways(loop, steps) for loop in loops):
        return math.inf
    follows = {one: [two for two in loops if one is not two and _meet(one, two, steps, graph)] for one in loops}

    def longest(loop: frozenset[Place]) -> int:
        return 1 + max(map(longest, follows[loop]), default=0)

    chains = [longest(loop) + (search and _meet_from_restart(loop, steps, graph)) for loop in loops]
    return max(chains, default=1)


def components(graph: dict[Place, set[Place]]) -> list[frozenset[Place]]:
    """Return the strongly connected components that hold a cycle (Tarjan, without recursion)."""
    order: dict[Place, int] = {}
    low: dict[Place, int] = {}
    stack: list[Place] = []
    on_stack: set[Place] = set()
    found: list[frozenset[Place]] = []
    for root in graph:
        if root in order:
            continue
        work: list[tuple[Place, Iterator[Place]]] = []

        def enter(place: Place, work: list[tuple[Place, Iterator[Place]]] = work) -> None:
            order[place] = low[place] = len(order)
            stack.append(place)
            on_stack.add(place)
            work.append((place, iter(graph.get(place, ()))))

        enter(root)
        while work:
            place, ends = work[-1]
            for end in ends:
                if end not in order:
                    enter(end)
                    break
                if end in on_stack:
                    low[place] = min(low[place], order[end])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[place])
                if low[place] == order[place]:
                    members: set[Place] = set()
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        members.add(member)
                        if member == place:
                            break
                    if len(members) > 1 or place in graph.get(place, ()):
                        found.append(frozenset(members))
    return found


def _has_two_ways(loop: frozenset[Place], steps: Steps) -> bool:
    """Return whether one word leads from a place of the loop back to it in two ways."""
    pairs: dict[tuple[Place, Place], set[tuple[Place, Place]]] = {}
    for left, right in product(loop, loop):
        ends: set[tuple[Place, Place]] = set()
        if left[1] == right[1]:
            rows = steps.within(loop, left), steps.within(loop, right)
            if left == right and any(
                steps.next(left, read)[end] > 1 for read, one in enumerate(rows[0]) for end in one
            ):
                return True
            for one, two in {*zip(*rows, strict=True)}:
                ends.update(product(one, two))
        pairs[left, right] = ends
    return any(
        any(a == b for a, b in members) and any(a != b for a, b in members)
        for members in components(pairs)  # type: ignore[arg-type]
    )


def _meet_from_restart(loop: frozenset[Place], steps: Steps, graph: dict[Place, set[Place]]) -> bool:
    """Return whether a word leads from a place of the loop to itself, and from a new start to there."""
    states = [each for each in graph if each[0] == steps.restart]
    for place in loop:
        starts = [(each, place) for each in states if each[1] == place[1]]
        if _reaches(starts, lambda pair, place=place: pair == (place, place), loop, steps):
            return True
    return False


def _meet(first: frozenset[Place], second: frozenset[Place], steps: Steps, graph: dict[Place, set[Place]]) -> bool:
    """Return whether a word leads around both loops and from the first to the second."""
    if not _leads(first, second, graph):
        return False
    for one, two in product(first, second):
        if one[1] != two[1]:
            continue
        seen: set[tuple[Place, Place, Place]] = set()
        waiting = [(one, one, two)]
        while waiting:
            left, between, right = waiting.pop()
            rows = steps.within(first, left), steps.row(between), steps.within(second, right)
            for ends in {*zip(*rows, strict=True)}:
                for end in product(*ends):
                    if end in seen:
                        continue
                    if end == (one, two, two):
                        return True
                    seen.add(end)
                    waiting.append(end)
    return False


def _reaches(
    starts: Iterable[tuple[Place, Place]],
    is_end: Callable[[tuple[Place, Place]], bool],
    loop: frozenset[Place],
    steps: Steps,
) -> bool:
    seen: set[tuple[Place, Place]] = set()
    waiting = list(starts)
    while waiting:
        left, right = waiting.pop()
        for ends in {*zip(steps.row(left), steps.within(loop, right), strict=True)}:
            for pair in product(*ends):
                if pair in seen:
                    continue
                if is_end(pair):
                    return True
                seen.add(pair)
                waiting.append(pair)
    return False


def _leads(first: frozenset[Place], second: frozenset[Place], graph: dict[Place, set[Place]]) -> bool:
    seen = set(first)
    waiting = list(first)
    while waiting:
        for end in graph.get(waiting.pop(), ()):
            if end in second:
                return True
            if end not in seen:
                seen.add(end)
                waiting.append(end)
    return False
