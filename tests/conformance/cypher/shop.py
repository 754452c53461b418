"""The fixed graph of the Cypher corpus, written by SQL into the embedded store's schema."""

from __future__ import annotations

from pathlib import Path

import apsw
import yaml

HERE = Path(__file__).parent
SCHEMA = HERE.parents[2] / "atlas" / "adapters" / "stores" / "sqlite" / "sql" / "schema.sql"


class GraphFile:
    """A store file under construction: rows by qualified name."""

    def __init__(self, path: Path, project: str) -> None:
        self.connection = apsw.Connection(str(path))
        self.connection.execute(SCHEMA.read_text(encoding="utf-8"))
        self.connection.execute("INSERT INTO project(id, name, root) VALUES (1, ?, '/nowhere')", (project,))
        self.project = project
        self.files: dict[str, int] = {}
        self.ids: dict[str, int] = {}

    def file(
        self, path: str, language: str = "", digest: str = "", is_test: bool = False, is_generated: bool = False
    ) -> None:
        self.files[path] = len(self.files) + 1
        values = {"id": self.files[path], "project": 1, "path": path, "language": language, "digest": digest}
        self.insert("file", values | {"is_test": int(is_test), "is_generated": int(is_generated)})

    def insert(self, table: str, values: dict[str, object]) -> None:
        """Insert a row; columns that are not given are 0 or empty."""
        columns = list(self.connection.execute(f"PRAGMA table_info({table})"))
        row = {name: 0 if kind == "INTEGER" else "" for _, name, kind, *_ in columns} | values
        marks = ", ".join("?" * len(row))
        self.connection.execute(f"INSERT INTO {table}({', '.join(row)}) VALUES ({marks})", tuple(row.values()))

    def identify(self, name: str) -> int:
        if name not in self.ids:
            self.ids[name] = len(self.ids) + 1
            uid = f"{self.project}:{name}"
            self.connection.execute("INSERT INTO symbol_id VALUES (?, ?)", (self.ids[name], uid))
        return self.ids[name]

    def node(
        self, name: str, label: str, kind: str, path: str, line: int, end_line: int, more: dict[str, object]
    ) -> None:
        flags = {key: int(bool(more.get(key))) for key in ("is_test", "is_generated", "exported")}
        texts = {key: more.get(key, "") for key in ("signature", "docstring", "modifiers")}
        place = {"line": line, "start_line": line, "end_line": end_line}
        names = {"name": more.get("name", name.rsplit(".", 1)[-1]), "qualified_name": name}
        values = {"id": self.identify(name), "file": self.files[path], "label": label, "kind": kind}
        self.insert("node", values | names | place | flags | texts)

    def edge(self, source: str, kind: str, target: str, line: int, strategy: str, confidence: float) -> None:
        ends = self.identify(source), self.identify(target)
        self.connection.execute(
            "INSERT INTO edge VALUES (?,?,?,?,?,?,?,?)", (ends[0], kind, ends[1], line, strategy, confidence, "", "")
        )


def build_shop(path: Path, of_page: bool = False) -> None:
    """Write graph.yaml into a new store file; with the rows for the documentation's queries if asked for."""
    data = yaml.safe_load((HERE / "graph.yaml").read_text(encoding="utf-8"))
    graph = GraphFile(path, data["project"])
    with graph.connection:
        for name, values in data["files"].items():
            graph.file(name, **values)
        for row in data["nodes"] + (data["page_nodes"] if of_page else []):
            graph.node(*row)
        for row in data["edges"] + data["invisible_edges"] + (data["page_edges"] if of_page else []):
            graph.edge(*row)
    graph.connection.close()


def open_reading(path: Path) -> apsw.Connection:
    """Open a store file as readers do: the file cannot be written through this connection."""
    return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
