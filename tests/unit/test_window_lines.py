"""Which lines of a function are shown for a question for behaviour."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from atlas.code.rank.bodies import BodyWindow, decides
from atlas.code.tools.symbol.symbols import SourceLine
from atlas.code.tools.symbol.window_lines import asks_amount, window_body, with_conditions
from atlas.core.model import Label, NodeRow

PYTHON = """def redirect(request):
    \"\"\"Follow a redirect without the cookie.

    The cookie is not sent to another host.
    \"\"\"
    # the cookie belongs to the host
    if request.host != request.source:
        del request.headers["Cookie"]
    log(request)
    send(request)
"""
C = """void redirect(request *r) {
  /* the cookie belongs to the host,
   * so that another host must not have it
   */
  log(r);
  *r->kept = 1;
  if (r->host != r->source)
    drop(r);
  send(r);
}
"""


def _shown(text: str, most: int, windows: Sequence[BodyWindow] = (), *, amounts: bool = False) -> list[str]:
    content = text.encode()
    count = len(text.splitlines())
    row = NodeRow(
        "p:f", Label.FUNCTION, "function", "redirect", "redirect", "f", "", 1, 1, count, 0, len(content), "", ""
    )
    windows = windows or [BodyWindow(first, min(first + 5, count), 1.0) for first in range(1, count, 3)]
    body = window_body(row, content, windows, lambda line: len(line.split()), most, amounts=amounts)
    return [line.text.strip() for piece in body.pieces for line in piece]


@pytest.mark.parametrize(
    ("text", "deciding"),
    [
        (
            PYTHON,
            ["if request.host != request.source:", 'del request.headers["Cookie"]', "log(request)", "send(request)"],
        ),
        (C, ["*r->kept = 1;", "if (r->host != r->source)"]),
    ],
)
def test_lines_that_decide_come_before_comments_with_the_words(text: str, deciding: list[str]) -> None:
    shown = _shown(text, 14)
    assert shown == [line for line in shown if line in deciding or line.endswith(");")]
    assert deciding[0] in shown
    assert deciding[1] in shown


AMOUNTS = """def close(socket):
    socket.state = CLOSED
    if socket.handshake is not None:
        socket.finish(socket.handshake)
    if socket.waiting is None:
        socket.waiting = socket.loop.add(5, socket.abort)
    return socket
"""


@pytest.mark.parametrize(
    ("question", "amounts"),
    [
        ("How long does the socket stay around before it is torn down?", True),
        ("What is the ceiling on the number of parts?", True),
        ("Is the socket torn down?", False),
    ],
)
def test_a_number_is_shown_where_a_number_is_asked_for(question: str, amounts: bool) -> None:
    assert asks_amount(question) is amounts
    line = "socket.waiting = socket.loop.add(5, socket.abort)"
    assert (line in _shown(AMOUNTS, 12, amounts=amounts)) is amounts


SIGNATURE = """def factory(
    cookie='session',
    secure=False,
    path='/',
):
    value = read(cookie)
    if value is None:
        value = empty()
"""


def test_defaults_of_a_signature_do_not_take_the_place_of_statements() -> None:
    shown = _shown(SIGNATURE, 10)
    assert "if value is None:" in shown
    assert "secure=False," not in shown
    assert "secure=False," in _shown(SIGNATURE, 30, amounts=True)


BRANCHES = """def work(job):
    prepare(job)
    if job.is_late:
        log(job)
    else:
        wait(job)
    result = run(job)
    if result.failed and not job.is_stopped:
        record(job)
        fail(job, result)
    if job.repeats:
        again(job)
"""


def test_a_line_is_shown_with_the_condition_above_it_and_a_condition_with_what_it_opens() -> None:
    for best in (8, 9, 10):
        windows = [BodyWindow(1, 12, 0.1), BodyWindow(best, best, 1.0)]
        shown = _shown(BRANCHES, 11, windows)
        assert shown[0] == "if result.failed and not job.is_stopped:"
        assert shown[-1] in ("record(job)", "fail(job, result)")
        assert len(shown) > 1


def test_a_word_that_only_joins_branches_decides_nothing() -> None:
    assert "else:" not in _shown(BRANCHES, 14, [BodyWindow(1, 12, 0.1)])


def test_comments_are_shown_where_there_is_room() -> None:
    assert "# the cookie belongs to the host" in _shown(PYTHON, 100)
    assert "The cookie is not sent to another host." in _shown(PYTHON, 100)


def test_a_function_that_does_little_but_decide_decides_more_than_a_long_or_a_forwarding_one() -> None:
    assert decides(4, 8) > decides(4, 80) > decides(0, 80)
    assert decides(4, 8) > decides(1, 2)
    assert decides(0, 3) < decides(0, 4)


def test_a_line_of_a_message_is_shown_with_the_conditions_that_it_stands_under() -> None:
    content = b"def f(a):\n    one(a)\n    if a.is_old:\n        two(a)\n        if a.failed:\n            fail()\n    end()\n"
    row = NodeRow("p:f", Label.FUNCTION, "function", "f", "f", "f", "", 1, 1, 7, 0, len(content), "", "")
    shown = with_conditions(row, content, (SourceLine(6, "fail()"),))
    assert [(each.line, each.text) for each in shown] == [(3, "if a.is_old:"), (5, "if a.failed:"), (6, "fail()")]


RUBY = """def listen(path)
  log "first of all"
  log "another one"
  if File.exist? path
    old = open path
    old.wait
  else
    log "no file there yet"
    count += 1
    raise "nothing listens on it"
  end
  log "after this"
  log "and after that"
  serve path
end
"""


def test_the_branch_beside_a_shown_one_says_how_it_leaves() -> None:
    shown = _shown(RUBY, 60, [BodyWindow(4, 6, 1.0)])
    assert shown == ["if File.exist? path", "old = open path", "old.wait", "else", 'raise "nothing listens on it"']
    small = _shown(RUBY, 12, [BodyWindow(4, 6, 1.0)])
    assert "else" not in small, "a small share of the answer has nothing beyond it"
    assert "else" not in _shown(RUBY, 60, [BodyWindow(12, 14, 1.0)]), "its condition is not shown"


SWITCHES = """def apply(options)
  log "first of all"
  needs_switch = options.timeout < 1
  handle.timeout = options.timeout
  log "another one"
  log "and one more"
  log "in between"
  if needs_switch && !windows?
    handle.switch = true
  end
  log "after this"
  done
end
"""


def test_a_variable_that_a_shown_line_sets_comes_with_what_it_decides() -> None:
    shown = _shown(SWITCHES, 60, [BodyWindow(3, 4, 1.0)])
    assert shown[-2:] == ["if needs_switch && !windows?", "handle.switch = true"], shown
    plain = _shown(SWITCHES.replace("if needs_switch && !windows?", "begin"), 60, [BodyWindow(3, 4, 1.0)])
    assert "handle.switch = true" not in plain
