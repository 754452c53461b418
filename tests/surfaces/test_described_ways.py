"""Ways whose ends are told in words around a name, or in words alone, and those that lead over a queue."""

from __future__ import annotations

import pytest

from atlas.code.atlas import Atlas
from atlas.code.question.requests.ends import read_path_ends
from atlas.code.tools.relation_answer import RelationAnswer
from atlas.code.tools.search.search import hybrid_search
from atlas.code.tools.search.search_answer import SearchAnswer

FILES = {
    "mill/line.go": """package mill

// Line takes sacks from customers.
type Line struct {
	sackCh chan string
	shelf  *Shelf
}

// Accept takes a sack of a customer at the counter.
func (l *Line) Accept(sack string) {
	l.weigh(sack)
}

func (l *Line) weigh(sack string) {
	l.sackCh <- sack
}

func (l *Line) grindAll() {
	for sack := range l.sackCh {
		l.grind(sack)
	}
}

func (l *Line) grind(sack string) {
	l.shelf.Place(sack)
}

// Shelf keeps the flour.
type Shelf struct{}

// Place puts a bag on it.
func (s *Shelf) Place(bag string) {}

// Gate lets people in.
type Gate struct{}

// Accept looks at the badge of a person who works here.
func (g *Gate) Accept(badge string) {}
""",
    "mill/till.py": """def pay(sum):
    try:
        return book(sum)
    except ValueError:
        return payment_failed(sum)


def book(sum):
    return enter(sum)


def enter(sum):
    return receipt(sum)


def payment_failed(sum):
    return receipt(sum)


def receipt(sum):
    return sum
""",
    "mill/store.py": '''class FlourStore:
    """Keeps the flour."""

    def accept(self, sack):
        return self.label(sack)

    def label(self, sack):
        return print_on_paper(sack)


def print_on_paper(text):
    """Write a text on the paper label of a bag."""
    return text


def lonely():
    return 1
''',
    "mill/oven.py": """def bake(by_hand):
    if not by_hand:
        return heat()
    return open_drawer()


def heat():
    return wait()


def open_drawer():
    return wait()


def wait():
    return rise_up()


def rise_up():
    return 1
""",
}


async def _steps(atlas: Atlas, question: str) -> tuple[str, list[str]]:
    answer = await hybrid_search(atlas, question)
    assert isinstance(answer, RelationAnswer), answer.render()
    return answer.title, [each.symbol for group in answer.files for each in group.symbols]


async def test_an_end_without_a_name_is_a_guess_that_the_first_line_says(atlas: Atlas) -> None:
    title, steps = await _steps(atlas, "path from FlourStore.accept to a text being written on the paper of a bag")
    assert title.startswith('way from "FlourStore.accept" (method mill.store.FlourStore.accept mill/store.py:4)')
    assert "(a guess: function mill.store.print_on_paper mill/store.py:11): 2 steps" in title
    assert steps == ["mill.store.FlourStore.label", "mill.store.print_on_paper"]


async def test_a_way_over_a_channel_is_found_between_the_symbols_that_the_words_choose(atlas: Atlas) -> None:
    question = "Walk me from a customer calling Accept at the counter to the moment the Shelf is given the bag to place"
    answer = await hybrid_search(atlas, question)
    assert isinstance(answer, RelationAnswer)
    assert '"a customer calling Accept at the counter" (method mill.Line.Accept mill/line.go:10)' in answer.title
    steps = [each.symbol for group in answer.files for each in group.symbols]
    names = ["Line.weigh", "Line.sackCh", "Line.grindAll", "Line.grind", "Shelf.Place"]
    assert steps == [f"mill.{name}" for name in names]
    assert any("which of them puts in" in note for note in answer.evidence.notes)


async def test_without_a_way_both_ends_and_what_is_beside_them_are_said(atlas: Atlas) -> None:
    answer = await hybrid_search(atlas, "what happens between somebody using Gate.Accept and the Shelf.Place call?")
    assert isinstance(answer, RelationAnswer)
    assert answer.title.endswith("mill/line.go:32): unknown")
    assert "the end is called by: mill.Line.grind mill/line.go:24" in answer.evidence.notes


async def test_the_usual_way_comes_before_a_shorter_one_through_what_runs_after_errors(atlas: Atlas) -> None:
    _, steps = await _steps(atlas, "trace a payment from somebody calling pay() to the receipt() of the sum")
    assert steps == ["mill.till.book", "mill.till.enter", "mill.till.receipt"]


async def test_of_two_ways_the_words_of_the_question_choose(atlas: Atlas) -> None:
    question = (
        "I open one drawer by hand. Show me the chain of calls from bake down to the place where dough rises (rise_up)"
    )
    answer = await hybrid_search(atlas, question)
    assert isinstance(answer, RelationAnswer)
    assert [each.symbol for group in answer.files for each in group.symbols] == [
        "mill.oven.open_drawer",
        "mill.oven.wait",
        "mill.oven.rise_up",
    ]
    assert answer.evidence.notes == (
        "another way: heat mill/oven.py:3 > wait mill/oven.py:8 > rise_up mill/oven.py:16",
    )
    _, steps = await _steps(atlas, "which functions are called between bake and rise_up")
    assert steps == ["mill.oven.heat", "mill.oven.wait", "mill.oven.rise_up"]


async def test_ends_without_any_name_are_searched(atlas: Atlas) -> None:
    answer = await hybrid_search(atlas, "trace what happens between a customer coming in and the bag being closed")
    assert isinstance(answer, SearchAnswer)
    assert any("no way between symbols" in note for note in answer.evidence.notes)


ENDS = {
    "Walk me from a client calling Put to the bytes on disk, function by function": (
        "a client calling Put",
        "the bytes on disk",
    ),
    "take us all the way from Server.serve down to the socket being read. Which queues are passed?": (
        "Server.serve",
        "the socket being read",
    ),
    "What is the chain of calls from $log->info() to the write in the file handler?": (
        "$log->info()",
        "the write in the file handler",
    ),
    "what happens between calling a method of the proxy and the Request being built?": (
        "calling a method of the proxy",
        "the Request being built",
    ),
    "which functions are called from Command.main down to the parsing of one option": (
        "Command.main",
        "the parsing of one option",
    ),
    "how do we get from readLoop to a frame being written? give me the calls in between": (
        "readLoop",
        "a frame being written",
    ),
    "Which methods lie between Proxy.invoke and Statement.execute?": ("Proxy.invoke", "Statement.execute"),
    "who calls Server.serve": None,
    "what changed from v1 to v2": None,
    "how do I get from a string to a number": None,
    "is there a note about the steps of a release?": None,
}


@pytest.mark.parametrize("text", ENDS)
def test_the_ends_of_a_way_are_read(text: str) -> None:
    found = read_path_ends(text)
    assert (None if found is None else (found.start, found.end)) == ENDS[text]
