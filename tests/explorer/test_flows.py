"""The flow page: which of several symbols a chain begins at, what a route or an event leads to, and conditions of calls."""

from __future__ import annotations

from pathlib import Path

from .served import opened, text_of

TWO_MAINS = {
    "examples/demo.c": "int helper(void) { return 1; }\n\nint main(void) {\n  return helper();\n}\n",
    "src/server.c": "int serve(void) { return 2; }\n\nint main(void) {\n  return serve();\n}\n",
}


def test_a_chain_names_the_symbol_of_several_that_it_begins_at(tmp_path: Path) -> None:
    with opened(tmp_path, TWO_MAINS) as client:
        page = text_of(client, "/flow?of=main&to=serve")
        assert "from function main src/server.c:3: 1" in page
        assert "several symbols are called `main`" in page
        assert "from function main examples/demo.c:3: 1" in text_of(client, "/flow?of=main&to=helper")


def test_why_a_symbol_is_here_is_asked_of_its_own_lines(tmp_path: Path) -> None:
    """Two symbols of a name: each uid holds the path of its file."""
    with opened(tmp_path, TWO_MAINS, history=True) as client:
        found = client.get("/symbol?name=src/server.c:3&view=history").text
        assert "changed the lines of function" in found
        assert "Write src/server.c" in found
        assert "Write examples/demo.c" not in found
