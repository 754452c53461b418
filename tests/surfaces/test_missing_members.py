"""Members and fields that a question names or describes: which a class has, and that it has none such."""

from __future__ import annotations

from atlas.code.atlas import Atlas
from atlas.code.tools.search.search import hybrid_search

_GO = """package shop

// Order is what somebody buys.
type Order struct {
	Name string
	// Limit in seconds after which a payment is given up.
	PayLimit int
	Silent bool
}

func (o *Order) Send() error { return nil }
"""
_PYTHON = '''"""Sessions."""

from threading import Thread


class Session:
    """Selects carts."""

    def __init__(self):
        self.weight = 3

    def select_list(self):
        return []

    def select_cursor(self):
        return self.select_list()


class Remote(Thread):
    def fetch(self):
        return self


class Loose:
    def __getattr__(self, name):
        return name


def select_stream(session):
    """Select the stream of a session."""
    return session
'''
FILES = {"order.go": _GO, "go.mod": "module example.org/shop\n", "shop/session.py": _PYTHON}


async def _first(atlas: Atlas, asked: str) -> str:
    return (await hybrid_search(atlas, asked)).render().splitlines()[1]


async def test_a_member_that_a_class_lacks_is_said_first(atlas: Atlas) -> None:
    for asked in ("what does Session.select_stream return", "how does Session.select_stream work?"):
        said = await _first(atlas, asked)
        assert said.startswith("`select_stream` is no member of class shop.session.Session shop/session.py:6"), asked
        assert "nearest: select_list 12, select_cursor 15" in said or "nearest: select_cursor 15" in said, asked
    said = await _first(atlas, "what does Remote.select_stream return")
    assert "its base `Thread` may have more" in said
    said = await _first(atlas, "what does Loose.select_stream return")
    assert "`__getattr__` may give it others" in said
    for asked in ("what does Session.select_list return", "what does Session.weight hold"):
        assert "no member" not in (await hybrid_search(atlas, asked)).render(), asked


async def test_fields_that_a_question_describes(atlas: Atlas) -> None:
    said = await _first(atlas, "Which field of Order holds the number of retries for a failing payment?")
    assert said == "no field of struct shop.Order order.go:4 has `retries`; fields: Name 5, PayLimit 7, Silent 8"
    said = await _first(atlas, "which field of the Order struct holds the limit in seconds")
    assert "fields of struct shop.Order order.go:4 with `limit`: PayLimit 7; all 3: " in said
    said = await _first(atlas, "which attribute of Session holds the weight")
    assert "with `weight`: weight 10" in said, "what a method assigns is an attribute"
    said = await _first(atlas, "which method of Session returns the cursor")
    assert "methods of class shop.session.Session shop/session.py:6 with `cursor`: select_cursor 15" in said


async def test_no_line_of_a_class_speaks_of_the_bound_that_is_asked_for(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "Where do I set the maximum number of lists for Session?")).render()
    first = said.split("\n")[1]
    assert (
        first.startswith("no line of class ") and "Session " in first and " says `max` or `limit`; it has: " in first
    ), said
    assert "select_list" in first and "values that may be meant" not in said
    said = (await hybrid_search(atlas, "where do I set the limit of payments for Order?")).render()
    assert "no line of" not in said, "it has a field for it"
    said = (await hybrid_search(atlas, "how do I set the timeout of a Remote?")).render()
    assert "says `timeout` or `deadline`; its base `Thread` may have more; it has: fetch" in said, said
