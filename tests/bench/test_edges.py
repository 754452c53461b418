"""`atlas bench edges`: right, wrong, open and missed calls against a language server of our own, and its failures."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from atlas_bench.edges.graph import read_calls
from atlas_bench.edges.judge import choose, judge
from atlas_bench.edges.language_server import LanguageServer, Oracle
from atlas_bench.edges.report import RuleRow, count, share, svg

from atlas.core.errors import AtlasError, ConfigError
from tests.pipeline.trees import write_tree
from tests.surfaces.processes import atlas

SERVER = """
import json, sys, pathlib

def read():
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        if line.lower().startswith(b"content-length"):
            length = int(line.split(b":")[1])
    return json.loads(sys.stdin.buffer.read(length)) if length else None

def write(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n%s" % (len(body), body))
    sys.stdout.buffer.flush()

texts = {}
answers = json.loads(pathlib.Path(__file__).with_suffix(".json").read_text())
while message := read():
    method, params = message.get("method"), message.get("params")
    if method == "initialize":
        write({"id": "a", "method": "workspace/configuration", "params": {"items": [{"section": "x"}]}})
        assert read()["result"] == [{}]
        write({"method": "window/logMessage", "params": {"message": "ready"}})
        write({"id": message["id"], "result": {"capabilities": {}}})
    elif method == "textDocument/didOpen":
        texts[params["textDocument"]["uri"]] = params["textDocument"]["text"].splitlines()
    elif method == "textDocument/definition":
        uri, at = params["textDocument"]["uri"], params["position"]
        rest = texts[uri][at["line"]].encode("utf-16-le")[2 * at["character"]:].decode("utf-16-le")
        name = "".join(c if c.isalnum() or c == "_" else " " for c in rest).split(" ")[0]
        found = answers.get(name)
        if found == "error":
            write({"id": message["id"], "error": {"code": -1, "message": "not ready"}})
            continue
        if name == "crash":
            print("out of ideas", file=sys.stderr)
            sys.exit(3)
        root = uri[: uri.rindex("/shop/")]
        result = None
        if found:
            start = {"line": found[1] - 1, "character": found[2]}
            target = found[0] if found[0].startswith("file:") else root + "/" + found[0]
            result = [{"targetUri": target, "targetSelectionRange": {"start": start, "end": start}}]
        write({"id": message["id"], "result": result})
"""

TREE = {
    "shop/cart.py": (
        "class Purse:\n    def __init__(self):\n        self.coins = 0\n\n    def empty(self):\n        return 0\n\n\n"
        "def add(cart):\n    return sum(cart)\n\n\ndef total(cart):\n    return add(cart)\n\n\n"
        "class Bag:\n    def clear_all(self): ...\n\n\nclass Box:\n    def clear_all(self): ...\n"
    ),
    "shop/report.py": (
        "from shop.cart import Purse, add, total\n\n\ndef summary(cart, other):\n    '\U0001f4b0'; add(cart)\n"
        "    purse = Purse()\n    total(cart)\n    purse.empty()\n    other.clear_all()\n"
    ),
}
ANSWERS: Mapping[str, object] = {
    "add": ["shop/cart.py", 9, 4],
    "Purse": ["shop/cart.py", 2, 8],
    # The server contradicts the graph: `total` is `add`.
    "total": ["shop/cart.py", 9, 4],
    "clear_all": ["shop/cart.py", 22, 8],
    "sum": ["file:///usr/lib/builtins.py", 3, 4],
}


def install(folder: Path, answers: Mapping[str, object] = ANSWERS) -> Oracle:
    """A command that runs SERVER with these answers: name -> path, line from one, column of the definition."""
    script = folder / "server.py"
    script.write_text(SERVER)
    script.with_suffix(".json").write_text(json.dumps(answers))
    command = folder / "ty"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" "$@"\n')
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    return Oracle((str(command), "server"), frozenset({"python"}), "pip install ty")


def exported(root: Path, data: Path) -> list[dict[str, Any]]:
    atlas("index", str(root), "--data-dir", str(data)).check_returncode()
    done = atlas("export", "--canonical", "--project", str(root), "--data-dir", str(data))
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_edges_are_judged_by_what_the_server_says(tmp_path: Path) -> None:
    write_tree(tmp_path / "tree", TREE)
    graph = read_calls(exported(tmp_path / "tree", tmp_path / "data"), frozenset({"python"}))
    told = list[int]()
    with LanguageServer.started(install(tmp_path), tmp_path / "tree") as server:
        lines = choose(graph, 0, 0)
        verdicts = judge(server, tmp_path / "tree", graph, lines, told.append)
    verdict = {
        (each.edge.line[1], each.edge.target.uid.rpartition(":")[2]): each.right
        for each in verdicts.edges
        if each.edge.target and each.edge.line[0] == "shop/report.py"
    }
    assert verdict == {
        (5, "shop.cart.add"): True,
        # A constructor and its class are one target.
        (6, "shop.cart.Purse"): True,
        (6, "shop.cart.Purse.__init__"): True,
        (7, "shop.cart.total"): False,
        (8, "shop.cart.Purse.empty"): None,
    }
    missed = {(site.line[1], site.name) for site in verdicts.sites if not site.found}
    assert missed == {(7, "total"), (9, "clear_all")}
    assert told[-1] == len(lines)

    report = count(verdicts)
    rules = {row.strategy: row for row in report.rules}
    assert rules["import"] == RuleRow("import", share(1, 2), 1, 0, rules["import"].stated, rules["import"].stated - 0.5)
    assert (report.recall.right, report.recall.n) == (3, 5)
    assert report.worst_gap is None
    ElementTree.fromstring(svg(report, "Confidence & precision"))


def test_a_declaration_is_not_its_implementation_and_a_variable_leaves_open(tmp_path: Path) -> None:
    tree = {
        "shop/a.py": (
            "class Base:\n    def run(self): ...\n\n\nclass Job(Base):\n    def run(self): return 1\n\n\n"
            "LIMIT = 1\n\n\ndef go():\n    job = Job()\n    job.run()\n"
        )
    }
    write_tree(tmp_path / "tree", tree)
    graph = read_calls(exported(tmp_path / "tree", tmp_path / "data"), frozenset({"python"}))

    def verdict(place: list[object]) -> bool | None:
        answers = {"run": place, "Job": ["shop/a.py", 5, 6]}
        with LanguageServer.started(install(tmp_path, answers), tmp_path / "tree") as server:
            verdicts = judge(server, tmp_path / "tree", graph, [("shop/a.py", 13), ("shop/a.py", 14)], lambda _: None)
        return verdicts.edges[-1].right

    assert verdict(["shop/a.py", 6, 8]) is True
    assert verdict(["shop/a.py", 2, 8]) is False
    assert verdict(["shop/a.py", 9, 0]) is None
    assert verdict(["file:///usr/lib/run.py", 2, 8]) is False


def test_overloads_are_one_target_and_inherited_constructors_are_of_the_class() -> None:
    def node(uid: str, label: str, line: int) -> dict[str, Any]:
        name = uid.rpartition(".")[2].partition("#")[0]
        place = {"path": "a.ts", "language": "typescript", "line": line, "start_line": line, "is_test": False}
        return {"uid": uid, "label": label, "name": name, **place}

    names = ("Base", "Base.constructor", "Job", "Job.run", "Job.run#2")
    rows = [node(f"p:{name}", "Class" if "." not in name else "Method", line) for line, name in enumerate(names, 1)]
    rows.append({"type": "INHERITS", "source": "p:Job", "target": "p:Base"})
    graph = read_calls(rows, frozenset({"typescript"}))
    same = {line: graph.by_line["a.ts", line][0].same_as for line in range(1, 6)}
    assert same == {1: "p:Base", 2: "p:Base", 3: "p:Job", 4: "p:Job.run", 5: "p:Job.run"}
    assert graph.ancestors("p:Job") == {"p:Job", "p:Base"}


def test_wilson_interval() -> None:
    assert share(0, 0).n == 0
    ninety = share(90, 100)
    assert (round(ninety.low, 3), round(ninety.high, 3)) == (0.826, 0.945)
    assert share(10, 10).high == 1.0


def test_failures_say_the_next_step(tmp_path: Path) -> None:
    write_tree(tmp_path / "tree", {"shop/a.py": "crash()\n"})
    with (
        pytest.raises(ConfigError) as refused,
        LanguageServer.started(Oracle(("no-such-server",), frozenset(), "npm install -g it"), tmp_path / "tree"),
    ):
        pass
    assert (refused.value.message, refused.value.hint) == (
        "no-such-server is not installed",
        "Install it: npm install -g it",
    )
    with (
        pytest.raises(AtlasError, match=r"has ended: out of ideas"),
        LanguageServer.started(install(tmp_path), tmp_path / "tree") as server,
    ):
        server.definitions(tmp_path / "tree/shop/a.py", [(0, 0)])
    graph = read_calls([], frozenset({"python"}))
    with (
        pytest.raises(AtlasError, match="resolves no name on 1 lines: not ready"),
        LanguageServer.started(install(tmp_path, {"crash": "error"}), tmp_path / "tree") as server,
    ):
        judge(server, tmp_path / "tree", graph, [("shop/a.py", 1)], lambda _: None)


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path / "tree", TREE)
    tree, plot = str(tmp_path / "tree"), tmp_path / "plot.svg"
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    missing = atlas("bench", "edges", tree, "--oracle", "go")
    assert missing.returncode == 2
    assert "gopls is not installed" in missing.stderr
    assert "go install" in missing.stderr
    install(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    done = atlas("bench", "edges", tree, "--oracle", "ty", "--json", "--show", "--plot", str(plot))
    done.check_returncode()
    document = json.loads(done.stdout)
    assert document["precision"]["right"] >= 3
    assert any(line.startswith("WRONG import shop/report.py:7") for line in document["differences"])
    ElementTree.fromstring(plot.read_text())
    shown = atlas("bench", "edges", tree, "--oracle", "ty", "--strategy", "import")
    assert "95 % interval" in shown.stdout
    assert "Precision 0." in shown.stdout
    assert atlas("bench", "edges", tree, "--oracle", "cc").returncode == 2
    assert atlas("bench", "edges", tree, "--oracle", "ty", "--strategy", "none").returncode == 2
