"""Commands that run without the option parser read what the parser reads, and leave everything else to it."""

from __future__ import annotations

import pytest
from typer.core import TyperCommand
from typer.main import get_group

from atlas.cli import direct
from atlas.cli.app import create_app
from atlas.cli.requests import STATUS_BUDGET

PARSER = get_group(create_app())
PLAIN = (
    ("index", "shop", "--json", "--data-dir=d"),
    ("index", "--project", "shop"),
    ("status",),
    ("status", "--all", "--only", "secret", "--skipped"),
    ("node", "Cart", "--label=Class", "--project", "shop", "--json"),
    ("context", "Cart", "--label=Class", "--token-budget", "0"),
    ("impact", "Cart.total", "--depth", "2", "-n", "5"),
    ("impact", "--diff", "main...HEAD", "--json"),
    ("impact", "--staged"),
    ("cypher", "MATCH (n) RETURN n", "--limit", "1000"),
    ("node", "--path", "", "Cart.total", "--token-budget", "300"),
    ("search", "where are carts saved", "-n", "3", "--no-tests"),
    ("search", "--relation", "callers", "--of", "save", "--scope", "shop/", "--to=x"),
    ("search", "cart", "--label", "Class", "--label", "Method", "--language", "python", "--tests", "--brief"),
    ("search", "cart", "--mode", "regex", "--limit", "0", "--data-dir", "d", "--cursor", "c", "--snippets"),
)
LEFT = (
    (),
    ("index", "--full"),
    ("index", "shop", "-y"),
    ("index", "a", "b"),
    ("--json", "status"),
    ("status", "--help"),
    ("status", "--watch"),
    ("status", "shop"),
    ("status", "--all", "--all"),
    ("status", "--token-budget", "-1"),
    ("status", "--token-budget", "007"),
    ("status", "--only"),
    ("status", "--only", "-x"),
    ("status", "--all=yes"),
    ("node",),
    ("node", "a", "b"),
    ("context", "a", "--in", "shop"),
    ("impact", "--format", "mermaid"),
    ("impact", "a", "--depth", "9"),
    ("cypher", "MATCH (n) RETURN n", "-p", "a=b"),
    ("cypher",),
    ("node", "--", "-a"),
    ("search", "cart", "-n3"),
    ("search", "cart", "-n=3"),
    ("search", "cart", "--limit", "51"),
    ("search", "cart", "--mode", "Text"),
    ("search", "cart", "--tests", "--no-tests"),
    ("search", "cart", "--explain"),
)


@pytest.mark.parametrize("words", PLAIN, ids=" ".join)
def test_a_plain_form_means_what_the_parser_reads(words: tuple[str, ...]) -> None:
    command = PARSER.commands[words[0]]
    assert isinstance(command, TyperCommand)
    context = command.make_context(words[0], list(words[1:]))
    read = direct.read_words(words)
    assert read is not None
    positional, given = read
    names = {
        "node": ("name",),
        "context": ("name",),
        "impact": ("symbol",),
        "cypher": ("query",),
        "search": ("query",),
        "status": (),
        "index": ("path",),
    }[words[0]]
    told = dict(zip(names, positional, strict=False)) | given
    for name, value in context.params.items():
        assert told.pop(name, value) == value, name
        assert name in given or name in names or value in (None, "", 0, False, "hybrid", "text", STATUS_BUDGET, ())
    assert not told


@pytest.mark.parametrize("words", LEFT, ids=" ".join)
def test_every_other_form_is_left_to_the_parser(words: tuple[str, ...]) -> None:
    assert direct.run_directly(words) is None


def test_completion_is_left_to_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_ATLAS_COMPLETE", "complete_bash")
    assert direct.run_directly(("status",)) is None
