"""The lines of a function that a question for behaviour asks for: its best windows, or all of a short body. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice, pairwise, takewhile

from atlas.code.rank.bodies import BRANCH, BodyWindow, body_lines
from atlas.code.tools.search.parts import Body
from atlas.code.tools.search.snippets import cut_line
from atlas.code.tools.symbol.symbols import SourceLine
from atlas.core.invisible import escaped
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import NodeRow

BRANCHES, ASSIGNS, COMMENTED = 0.2, 0.1, 0.4
"""More for a line that branches or returns, for one that sets something; of a comment, which has the words and decides
nothing. In 110 functions that decide what is asked for, 130 tokens have the deciding line in 91 cases instead of 73."""
AMOUNT = 0.4
"""More for a line with a number or the name of a constant, if a number is asked for: of 105 questions, 54 instead of 51
have their deciding line shown."""
BESIDE = 0.1
"""More for a line next to one that is shown."""
GAP = 2
"""Lines between two that are shown, which are shown as well: what a reader would miss decides as often."""
OPENED = 3
"""Lines of a block that are shown with the line that opens it."""
MOST_BEGUN, LEAST_BUDGET = 30, 60
"""Tokens of the first line of a block that is shown beyond a budget of `LEAST_BUDGET`: its condition is shown."""
MOST_OTHERWISE, MOST_TOKENS_OTHERWISE = 2, 45
"""Branches beside shown ones of a function that begin beyond its budget, and tokens of one: what happens otherwise."""
LINES_OF_BRANCH = 4
ABOVE = 2
"""Lines that a line with the text of a message stands under."""
_TAB = 4
_COMMENT = lazy_regex(r"\s*(?:#(?![\[!]|if|el|endif|define)|//|/\*|\*(?:[\s/]|$)|--\s)")
_OTHERWISE = lazy_regex(
    r"\s*(?:\}\s*)?(?:else|elif|elsif|elseif|default|catch|except|rescue|when|case|otherwise|_ =>|\| _)(?![\w-])"
)
"""A line with which the next branch of a condition begins."""
_SETS_NAME = lazy_regex(
    r"(?<![\w.>])\$?([A-Za-z_]\w{4,40})\s*(?::\s*[\w<>\[\], ]{1,40})?(?:[|&+*/%^-]|\?\?|\|\||:)?=(?![=>~])"
)
"""A variable that a line sets; short names stand for anything."""
_TESTS = lazy_regex(r"\b(?:if|elif|elsif|unless|while|until|when|guard|switch|match)\b|\s\?\s|&&|\|\|")
MOST_USERS = 6
"""Lines of a function with a variable that says one thing."""
_LEAVES = lazy_regex(r"\s*(?:return|raise|throw|panic|abort|exit|fail|break|continue|yield)\b")
_LONG_TEXT = lazy_regex(r"\s*[a-zA-Z]?(\"{3}|'{3})")
_WORD = lazy_regex(r"\w+")
_NUMBER = lazy_regex(r"(?<![\w.])(?:[2-9]|\d\d)|\b[A-Z][A-Z0-9]{0,40}_[A-Z0-9]")
_ASKS_AMOUNT = lazy_regex(
    r"\b(?:how (?:long|many|much|often|big|large|deep|far|wide|fast|soon|old|short|small|high)"
    r"|what (?:size|length|limit|number|age)"
    r"|ceiling|at most|at least|maximum|minimum|limit|threshold|number of|which (?:number|value|size))\b",
    re.IGNORECASE,
)
_SETS = lazy_regex(r"(?<![=!<>~])=(?![=>~])")


def window_body(
    row: NodeRow,
    content: bytes,
    windows: Sequence[BodyWindow],
    count: Callable[[str], int],
    most: float,
    shown: Iterable[int] = (),
    *,
    amounts: bool = False,
) -> Body:
    """Return the lines of a function's body that are shown in at most `most` tokens, one piece for each run of them.

    `shown`: lines of the file that are shown with another hit.
    """
    lines = _lines(row, content)
    known = {row.line, *shown}
    prices = {number: count(text) + 2 for number, text in lines.items() if number not in known}
    numbers = _chosen(
        windows, prices, most, _shares(enumerate(body_lines(row, content), row.line), amounts=amounts), _blocks(lines)
    )
    if most >= LEAST_BUDGET:
        numbers = sorted({*numbers, *_otherwise(numbers, lines, prices), *_decided_by(numbers, lines, prices)})
    pieces = tuple(tuple(SourceLine(number, lines[number]) for number in run) for run in _runs(numbers))
    tokens = tuple(sum(prices[line.line] for line in piece) for piece in pieces)
    return Body(pieces, (), tokens, sum(map(len, lines.values())))


def _lines(row: NodeRow, content: bytes) -> dict[int, str]:
    """Return the lines of a body that have more than marks, by number, without the indentation that all have."""
    spread = [line.expandtabs(_TAB).rstrip() for line in body_lines(row, content)]
    common = min((len(line) - len(line.lstrip()) for line in spread[1:] if line), default=0)
    texts = [spread[0], *(line[common:] for line in spread[1:])] if spread else []
    numbered = enumerate(texts, row.line)
    return {number: cut_line(text) for number, text in numbered if any(map(str.isalnum, text))}


def statement_lines(row: NodeRow, content: bytes) -> list[tuple[int, str]]:
    """Return the lines of a function behind its head with their numbers, without comments and documentation.

    Of a function in one line, that line.
    """
    lines = _lines(row, content)
    if row.line == row.end_line:
        return list(lines.items())
    shares = _shares(enumerate(body_lines(row, content), row.line), amounts=False)
    return [(number, text) for number, text in lines.items() if shares[number][0] == 1.0]


def asks_amount(text: str) -> bool:
    """Return whether a question asks for a number: how long, how many, what limit."""
    return _ASKS_AMOUNT.search(text) is not None


def _shares(lines: Iterable[tuple[int, str]], *, amounts: bool) -> dict[int, tuple[float, float]]:
    """Return by line what its value is multiplied by, and what is added: lines that decide count more than comments."""
    shares: dict[int, tuple[float, float]] = {}
    quotes = ""
    depth, is_head = 0, True
    for number, text in lines:
        if is_head and not amounts:
            depth += text.count("(") - text.count(")")
            is_head = depth > 0
            shares[number] = (COMMENTED, 0.0)
            continue
        begins = _LONG_TEXT.match(text) if not quotes else None
        if quotes or begins or _COMMENT.match(text):
            shares[number] = (COMMENTED, 0.0)
        else:
            given = AMOUNT * bool(amounts and _NUMBER.search(text))
            shares[number] = (1.0, BRANCHES * _decides(text) + ASSIGNS * bool(_SETS.search(text)) + given)
        if quotes:
            quotes = "" if quotes in text else quotes
        elif begins and text.count(begins[1]) == 1:
            quotes = begins[1]
    return shares


def _decides(text: str) -> bool:
    """Return whether a line branches or returns, and says more than that: `else` alone does not."""
    return BRANCH.search(text) is not None and len(_WORD.findall(text)) > 1


def _chosen(
    windows: Sequence[BodyWindow],
    prices: Mapping[int, int],
    most: float,
    shares: Mapping[int, tuple[float, float]],
    blocks: Mapping[int, Sequence[int]],
) -> list[int]:
    """Return the lines of the best windows that cost at most `most` together, in order; of one window at least."""
    values: dict[int, list[float]] = {}
    for window in windows:
        for line in range(window.first, window.last + 1):
            values.setdefault(line, []).append(window.value)
    worth = {
        line: sum(each) / len(each) * shares[line][0] + shares[line][1]
        for line, each in values.items()
        if line in prices
    }
    chosen: set[int] = set()
    left = most
    while worth:
        line = max(worth, key=lambda each: (worth[each] + (BESIDE if _is_beside(each, chosen) else 0.0), -each))
        del worth[line]
        if line in chosen:
            continue
        whole = [each for each in blocks.get(line, ()) if each not in chosen and each in prices]
        while len(whole) > 1 and sum(prices[each] for each in whole) > left:
            whole.pop(0 if whole[-1] == line else -1)
        price = sum(prices[each] for each in whole)
        if price > left:
            break
        left -= price
        chosen.update(whole)
    chosen |= _between(chosen, prices)
    return sorted(chosen | _begun(chosen, blocks, prices) if most >= LEAST_BUDGET else chosen)


def _begun(chosen: Collection[int], blocks: Mapping[int, Sequence[int]], prices: Mapping[int, int]) -> set[int]:
    """Return the first line of each block of which only the line that opens it is chosen: a condition says no more."""
    begun: set[int] = set()
    for line in chosen:
        inside = [each for each in blocks.get(line, ()) if each > line and each in prices]
        if inside and not any(each in chosen for each in inside) and prices[inside[0]] <= MOST_BEGUN:
            begun.add(inside[0])
    return begun


def _otherwise(chosen: Collection[int], lines: Mapping[int, str], prices: Mapping[int, int]) -> set[int]:
    """Return how the branch begins that follows a shown one: `else` with its first line, where neither is shown."""
    found: set[int] = set()
    numbers = list(lines)
    known = set(chosen)
    for at, number in enumerate(numbers):
        if number not in known or len(found) >= 2 * MOST_OTHERWISE or _COMMENT.match(lines[number]):
            continue
        if BRANCH.search(lines[number]) is None:
            continue
        indent = _indent(lines[number])
        behind = next((each for each in numbers[at + 1 :] if _indent(lines[each]) <= indent), None)
        is_branch = behind is not None and _indent(lines[behind]) == indent and _OTHERWISE.match(lines[behind])
        if behind is None or not is_branch or behind in known or behind not in prices:
            continue
        begun = [behind, *_telling(behind, numbers, lines, prices)]
        if sum(prices[each] for each in begun) <= MOST_TOKENS_OTHERWISE:
            found.update(begun)
    return found


def _decided_by(chosen: Collection[int], lines: Mapping[int, str], prices: Mapping[int, int]) -> set[int]:
    """Return the lines behind shown ones that branch on a variable which these set, each with what it opens."""
    found: set[int] = set()
    known, numbers = set(chosen), list(lines)
    for number in sorted(known):
        match = _SETS_NAME.search(lines[number]) if not _COMMENT.match(lines[number]) else None
        if match is None:
            continue
        name = re.compile(rf"(?<![\w.]){re.escape(match[1])}(?!\w)")
        users = [each for each in numbers if name.search(lines[each])]
        later = [
            each for each in users if each > number and _TESTS.search(lines[each]) and not _COMMENT.match(lines[each])
        ]
        if len(users) > MOST_USERS or any(each in known for each in later):
            continue
        for line in later[:1]:
            begun = [line, *_telling(line, numbers, lines, prices)]
            is_new = line in prices and line not in found
            if (
                is_new
                and sum(prices[each] for each in begun) <= MOST_TOKENS_OTHERWISE
                and len(found) < 2 * MOST_OTHERWISE
            ):
                found.update(begun)
    return found


def _telling(header: int, numbers: Sequence[int], lines: Mapping[int, str], prices: Mapping[int, int]) -> Iterable[int]:
    """Return the line of a short branch that leaves it, else its first one: what it raises says more than the rest."""
    behind = (each for each in numbers if each > header and not _COMMENT.match(lines[each]))
    inside = [*islice(takewhile(lambda each: _indent(lines[each]) > _indent(lines[header]), behind), LINES_OF_BRANCH)]
    leaving = [each for each in inside if _LEAVES.match(lines[each])]
    return [each for each in (leaving or inside)[:1] if each in prices]


def _between(chosen: Collection[int], prices: Mapping[int, int]) -> set[int]:
    """Return the lines of gaps of at most `GAP` lines."""
    gaps = ([each for each in range(one + 1, two) if each in prices] for one, two in pairwise(sorted(chosen)))
    return {each for gap in gaps if len(gap) <= GAP for each in gap}


def _is_beside(line: int, chosen: Collection[int]) -> bool:
    return line - 1 in chosen or line + 1 in chosen


def with_conditions(row: NodeRow, content: bytes, shown: Sequence[SourceLine]) -> tuple[SourceLine, ...]:
    """Return lines of a function with those that each of them stands under, at most `ABOVE` of each."""
    lines = _lines(row, content)
    found = {each.line: each for each in shown}
    for each in shown:
        left = ABOVE
        indent = _indent(lines.get(each.line, ""))
        for number in range(each.line - 1, row.line, -1):
            if left and number in lines and _indent(lines[number]) < indent and not _COMMENT.match(lines[number]):
                indent, left = _indent(lines[number]), left - 1
                found.setdefault(number, SourceLine(number, escaped(lines[number].strip())))
    return tuple(found[number] for number in sorted(found))


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _blocks(lines: Mapping[int, str]) -> dict[int, list[int]]:
    """Return by line what is shown with it: the condition that it stands under, and the first lines that it opens."""
    blocks: dict[int, list[int]] = {}
    above: list[tuple[int, int]] = []
    """The lines that the present one stands under: indentation and number."""
    for number, text in lines.items():
        indent = _indent(text)
        while above and above[-1][0] >= indent:
            above.pop()
        blocks[number] = [number]
        if above and BRANCH.search(lines[above[-1][1]]) and not _COMMENT.match(lines[above[-1][1]]):
            blocks[number].insert(0, above[-1][1])
        for _, header in above:
            if len(blocks[header]) <= OPENED and not _COMMENT.match(text):
                blocks[header].append(number)
        above.append((indent, number))
    return blocks


def _runs(numbers: Sequence[int]) -> list[Sequence[int]]:
    """Return numbers that follow each other together."""
    breaks = [at for at, (one, following) in enumerate(pairwise(numbers), 1) if following > one + 1]
    borders = [0, *breaks, len(numbers)]
    return [numbers[start:end] for start, end in pairwise(borders) if end > start]
