"""What people see on a terminal: colours, highlighted source, a progress bar that goes away, nothing smuggled in."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from .processes import COMMAND, Place, atlas, environment
from .shop import write_files

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(*arguments: str) -> tuple[int, str]:
    """Run `atlas` with a terminal as standard output and error; return its code and what it showed."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdin=follower, stdout=follower, stderr=follower, env=environment(TERM="xterm-256color")
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            block = os.read(leader, 65536)
        except OSError:  # Linux reports the end of a terminal like this
            break
        if not block:
            break
        shown += block
    os.close(leader)
    return process.wait(60), shown.decode()


def words_of(shown: str) -> str:
    return ESCAPE.sub("", shown)


def test_context_highlights_the_source_with_its_line_numbers(place: Place) -> None:
    code, shown = on_terminal("context", "Cart.total", *place.options)
    assert code == 0
    assert ESCAPE.search(shown)
    assert re.search(r"^ *\d+ +def total\(self\) -> int:", words_of(shown), re.MULTILINE)
    assert "apply_discount" in words_of(shown)


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (("search", "apply_discount"), 0, "1. shop.cart.apply_discount  function  shop/cart.py"),
        (("search", "no_such_word_anywhere", "--mode", "text"), 0, "no hits"),
        (("node", "Cart"), 0, "shop.cart.Cart  class  shop/cart.py:6"),
        (("node", "aply_discount"), 3, "similar names:"),
        (("status", "--skipped"), 0, "shop at "),
        (("health",), 0, "health: "),
        (("schema",), 0, "relationship type"),
        (("cypher", "MATCH (c:Class {name: 'Cart'}) RETURN c.qualified_name AS name"), 0, "shop.cart.Cart"),
        (("config", "show"), 0, "search.token_budget"),
    ],
)
def test_every_answer_has_a_face(place: Place, arguments: tuple[str, ...], code: int, expected: str) -> None:
    ended, shown = on_terminal(*arguments, *place.options)
    assert ended == code, shown
    assert expected in words_of(shown)
    assert "Traceback" not in shown


def test_index_draws_progress_and_leaves_only_the_summary(tmp_path: Path) -> None:
    write_files(tmp_path / "shop")
    code, shown = on_terminal("index", str(tmp_path / "shop"), "--data-dir", str(tmp_path / "data"))
    assert code == 0, shown
    assert "parsing" in shown
    assert "\x1b[2K" in shown, "the progress lines are erased"
    assert "units written" in words_of(shown)


def test_a_file_cannot_drive_the_terminal(tmp_path: Path) -> None:
    root = tmp_path / "evil"
    root.mkdir()
    (root / "evil.py").write_text('def innocent():\n    """Sets the \x1b]0;title\x07 and \x1b[31mcolour\x1b[2J."""\n')
    place = Place(root, tmp_path / "data")
    assert atlas("index", *place.options).returncode == 0
    for arguments in (("search", "innocent"), ("node", "innocent"), ("context", "innocent")):
        assert not re.search(r"\x1b|\x07", atlas(*arguments, *place.options).stdout)
        _, shown = on_terminal(*arguments, *place.options)
        assert "\x1b]0;" not in shown
        assert "\x1b[2J" not in shown
        assert "\x07" not in shown


HIDDEN = "\u200b\u2060\U000e0041\u3164\u2800\u202e\U0001bca0\ufe00\ufe01"
"""Zero width, a tag, fillers, an override, a control of shorthand, and selectors in a row: a text that nobody sees."""


def test_what_a_reader_does_not_see_is_shown_as_escape_sequences(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    family = "\N{WOMAN}\u200d\N{GIRL}\ufe0f"
    (root / "a.py").write_text(f'def pay_bill():\n    """Pay {HIDDEN}the bill {family}."""\n    return "{HIDDEN}"\n')
    options = ("--project", str(root), "--data-dir", str(tmp_path / "data"))
    assert atlas("index", *options).returncode == 0
    for command in ("search", "context", "node"):
        for form in ((), ("--json",)):
            shown = atlas(command, "pay_bill", *form, *options).stdout
            assert not set(HIDDEN) & set(shown), (command, form)
            assert form or (r"\u200b\u2060" in shown and family in shown), (command, shown)
