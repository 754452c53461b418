"""Digests see what a change means: layout and comments nothing, documentation, signature and body each their own."""

from typing import Any

import pytest

from atlas._parser import Languages

from .cases import LANGUAGES, facts_of

REGISTRY = Languages([str(LANGUAGES)])
PYTHON = '''\
@decorate(1)
def f(a, b=2):
    """What it does."""
    if a:
        g(a)
        h(b)
    return b
'''
SCRIPT = """\
/** What it does. */
function f(a, b = 2) {
  if (a) {
    g(a);
    h(b);
  }
  return b;
}
"""


def digests(path: str, source: str, name: str = "f") -> dict[str, Any]:
    found = next(item for item in facts_of(REGISTRY, path, source)["definitions"] if item["path"] == name)
    return {key.removesuffix("_digest"): value for key, value in found.items() if key.endswith("_digest")}


def changed(path: str, before: str, old: str, new: str, name: str = "f") -> set[str]:
    assert old in before
    first, second = digests(path, before, name), digests(path, before.replace(old, new), name)
    return {key for key in first if first[key] != second[key]}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("g(a)\n", "g(a)  # why\n", {"text"}),
        ("g(a)\n", "g( a )\n\n", {"text"}),
        ("    return b", "    # note\n    return b", {"text"}),
        ("a, b=2", "a,\n      b=2", {"text"}),
        ("What it does", "What it really does", {"text", "docstring"}),
        ("What it does.", "What  it\n    does.", {"text"}),
        ("a, b=2", "a, b=3", {"text", "signature"}),
        ("decorate(1)", "decorate(2)", {"text", "signature"}),
        ("def f", "async def f", {"text", "signature"}),
        ("g(a)", "g(b)", {"text", "body"}),
        ("        h(b)\n", "    h(b)\n", {"text", "body"}),
        ('    """What it does."""\n', "", {"text", "docstring"}),
        ("g(a)", "g('a b')", {"text", "body"}),
    ],
)
def test_python(old: str, new: str, expected: set[str]) -> None:
    assert changed("a.py", PYTHON, old, new) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("g(a);", "g(a); // why", {"text"}),
        ("  if (a) {\n", "if (a)\n{\n", {"text"}),
        ("What it does", "What it really does", {"text", "docstring"}),
        ("b = 2", "b = 3", {"text", "signature"}),
        ("g(a)", "g(b)", {"text", "body"}),
        ("    h(b);\n  }", "  }\n    h(b);", {"text", "body"}),
        ("return b", "return `b ${a}`", {"text", "body"}),
    ],
)
def test_javascript(old: str, new: str, expected: set[str]) -> None:
    assert changed("a.js", SCRIPT, old, new) == expected


def test_text_inside_strings_counts() -> None:
    source = 'def f():\n    return "a\\n  b"\n'
    assert changed("a.py", source, "  b", " b") == {"text", "body"}


def test_neighbours_do_not_matter() -> None:
    alone = "class A:\n    def f(self):\n        return 1\n"
    before = digests("a.py", alone, "A.f")
    after = digests("a.py", f"import x\n\n{alone}    def g(self): pass\n\nclass B: pass\n", "A.f")
    assert before == after


def test_a_class_changes_with_its_methods_but_not_with_their_documentation() -> None:
    source = 'class f:\n    """Doc."""\n    def m(self):\n        """Inner."""\n        return 1\n'
    assert changed("a.py", source, "return 1", "return 2") == {"text", "body"}
    assert changed("a.py", source, "Inner.", "Other.") == {"text"}


def test_statements_do_not_merge() -> None:
    assert changed("a.py", "def f():\n    x = a\n    (b)\n", "a\n    (b)", "a(b)") == {"text", "body"}
