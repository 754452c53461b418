"""Literals of many languages laid over messages in use."""

from __future__ import annotations

import time

import pytest

from atlas.code.retrieve.exact_text import LEAST_SHARE, texts_of
from atlas.code.retrieve.message_templates import fit_message, is_reported, literals_of


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('raise E("not found: %s" % x)', "not found: users/42"),
        ('fmt.Errorf("bad value %q at %d:%d", v, l, c)', 'bad value "x" at 3:4'),
        ('raise E(f"no {kind!r} named {name} in {place[0]}")', "no 'file' named a.txt in home"),
        ("throw new Error(`missing ${key} for ${user.name}`)", "missing token for bob"),
        ('raise "limit #{max} reached for #{who}"', "limit 5 reached for bob"),
        ('"file {0} has {1} errors"', "file a.c has 3 errors"),
        ('NSLog(@"user %@ logged out", name)', "user bob logged out"),
        (r'fatalError("index \(i) is out of range")', "index 4 is out of range"),
        ('"Le fichier %1$s est vide"', "Le fichier a.txt est vide"),
        ('die "cannot read $path for $user\\n"', "cannot read /etc/x for root"),
        ('"he said \\"no\\" to %s"', 'he said "no" to bob'),
        ('"50%% of " + total + " is too much"', "50% of 7 is too much"),
    ],
)
def test_placeholders_of_languages_are_values(line: str, message: str) -> None:
    fit = fit_message(message, [line], 0, 3)
    assert fit.is_whole and fit.share >= LEAST_SHARE, fit


def test_a_message_over_several_lines_is_one() -> None:
    lines = ["raise E(", '    "Cannot resolve keyword %r into field. "', '    "Choices are: %s"', ")"]
    message = "Cannot resolve keyword 'a' into field. Choices are: b, c"
    assert fit_message(message, lines, 1, 4).share > fit_message(message, lines[:2], 1, 4).share


def test_other_texts_do_not_fit() -> None:
    assert fit_message("session data corrupted", ['log("session was saved")'], 0, 3).share < 0.6
    assert fit_message("anything", ['log("%s")'], 0, 3).share == 0


def test_what_raises_is_near() -> None:
    assert is_reported(["throw new Error(", '  "a"'], 1)
    assert not is_reported(["x = 1", 'y = "a"'], 1)


def test_texts_of_a_question() -> None:
    def of(text: str) -> list[tuple[str, bool]]:
        return [(each.text, each.is_certain) for each in texts_of(text)]

    assert of('where is "session expired" raised') == [("session expired", True)]
    assert of("ValueError: bad 'x' here") == [("bad 'x' here", True)]
    assert of('level=info msg="a \\"b\\" c" id=3') == [('a "b" c', True)]
    assert of("2024-01-02 10:00:00 ERROR cannot open 7 files") == [("cannot open 7 files", False)]
    assert of("what does `Cart.save` do in 3 steps") == []
    # apostrophes are no quotes; a text without a question may be a message
    assert of("don't save the user's cart") == [("don't save the user's cart", False)]
    # who asks tells what happens, or quotes a message without quotes
    told = "a client uses the wrong method on an existing path"
    assert of(f"{told}, where do the 405 and the header come from?") == [(told, False)]
    assert of("a worker dies in the middle, what prints the traceback?") == [("a worker dies in the middle", False)]
    message = "handler not found for route"
    assert of(f"{message}, where does the error come from?") == [(message, True)]
    assert of(f"{message}. Which function logs that?") == [(message, True)]


def test_hostile_lines_and_messages_end_soon() -> None:
    began = time.perf_counter()
    for line in ('"' * 100_000, "{" * 100_000, "%" * 100_000, "\\(" * 50_000, "'a" * 50_000, '"a{x}' * 20_000):
        literals_of(line)
        fit_message("a b " * 150, [line] * 13, 6, 6)
    assert time.perf_counter() - began < 5
