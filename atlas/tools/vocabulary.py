"""The vocabulary of the graph for `schema_info` and query notes: labels, edge types, properties, examples.

Tests compare it with the model: every label, type and row field is described, and every example runs.
"""

from __future__ import annotations

from collections.abc import Mapping

from atlas.model import EdgeType, Label
from atlas.tools.answers import Described

LABELS: Mapping[Label, str] = {
    Label.PROJECT: "an indexed tree",
    Label.PACKAGE: "a package or namespace",
    Label.FILE: "any other file",
    Label.MODULE: "a code file that is a module by its path",
    Label.CLASS: "class, interface, struct, trait, enum (see kind)",
    Label.FUNCTION: "a function outside a class",
    Label.METHOD: "a function of a class",
    Label.VALUE: "constant, field or type alias",
    Label.DOC_FILE: "a document",
    Label.DOC_SECTION: "a heading with its text",
    Label.ADR: "an architecture decision record",
    Label.CHUNK: "lines of a file without definitions",
    Label.EXTERNAL_PACKAGE: "an imported or declared package",
    Label.EXTERNAL_SYMBOL: "a symbol of such a package",
    Label.ROUTE: "a registered route: method and path",
    Label.EVENT: "an event, signal, task or command",
    Label.CLAIM: "a note: a statement (see status)",
    Label.DECISION: "a note: a decision",
    Label.ENTITY: "a note: a person, team or system (see type)",
    Label.OBSERVATION: "a statement about an entity",
}
EDGE_TYPES: Mapping[EdgeType, str] = {
    EdgeType.CONTAINS: "project, package, file or document -> its contents",
    EdgeType.DEFINES: "module, class or function -> definition in it",
    EdgeType.DEFINES_METHOD: "class -> method",
    EdgeType.INHERITS: "class -> base class or interface",
    EdgeType.CALLS: "caller -> callee",
    EdgeType.REFERENCES: "user -> function or class used as a value",
    EdgeType.IMPORTS: "importer -> imported module or symbol",
    EdgeType.DEPENDS_ON: "project -> package or project that its manifest declares",
    EdgeType.USES_TYPE: "user -> type it refers to",
    EdgeType.DOCUMENTS: "document section -> symbol or file",
    EdgeType.AFFECTS: "ADR -> symbol or file",
    EdgeType.TESTS: "test -> tested symbol",
    EdgeType.HANDLES_ROUTE: "handler -> route",
    EdgeType.HANDLES_EVENT: "handler -> event or command",
    EdgeType.EMITS_EVENT: "emitter -> event",
    EdgeType.OVERRIDES: "method -> method of a base class",
    EdgeType.SUPPORTS: "note -> note that it is evidence for",
    EdgeType.REFUTES: "note -> note that it is evidence against",
    EdgeType.EXTENDS: "note -> note that it adds to",
    EdgeType.IMPLIES: "note -> note that follows from it",
    EdgeType.CONTRADICTS: "note -> note that cannot be true with it",
    EdgeType.SUPERSEDES: "note -> note that it replaces",
    EdgeType.RELATES: "note -> note or symbol; the relation is r.type",
    EdgeType.HAS_OBSERVATION: "entity -> observation",
    EdgeType.ABOUT: "note -> symbol, file or package that it is about",
}
NODE_PROPERTIES = (
    Described("uid", "<project>:<qualified name>, unique"),
    Described("project", "a query that reads it sees all projects of the store, not only this one"),
    Described("label"),
    Described(
        "kind", "finer than the label: class interface struct trait enum function method constructor property ..."
    ),
    Described("name"),
    Described("qualified_name", "dotted; files and documents: their path"),
    Described("path", "relative to the root; empty for packages and projects"),
    Described("language"),
    Described("line", "of the name, from 1"),
    Described("start_line"),
    Described("end_line"),
    Described("signature"),
    Described("docstring"),
    Described("is_test"),
    Described("is_generated"),
    Described("exported"),
    Described("modifiers", "abstract async classmethod declaration generator overload static"),
    Described("digest", "of the content of its file"),
    Described("status", "of notes: proposed accepted disputed retracted superseded"),
    Described("confidence", "of notes, 0..1"),
    Described("source", "of notes: DOI, address, citation or path:line"),
    Described("created", "of notes, in UTC"),
    Described("updated"),
    Described("client", "that wrote the note"),
    Described("agent"),
    Described("type", "of entities"),
    Described("aliases", "of entities"),
    Described("ecosystem", "of external packages: python npm go rust maven dotnet php ruby elixir"),
    Described("import_name", "of external packages: the name in imports, if it differs"),
    Described("standard", "of external packages: languages whose standard library it is"),
)
EDGE_PROPERTIES = (
    Described("line", "of the evidence, in the source node's file"),
    Described("lines", "all of them: every call of this callee"),
    Described("strategy", "the rule that resolved it"),
    Described("confidence", "0..1, share of correct edges of this strategy; between notes the stated one"),
    Described("reasoning", "of relations between notes"),
    Described("created", "of relations between notes, in UTC"),
    Described("type", "of RELATES"),
    Described("types", "of RELATES, if there are several"),
    Described("signature", "of ABOUT: the target's digest when the note was written"),
    Described("body", "likewise"),
    Described("docstring", "likewise"),
    Described("path", "of ABOUT: where the target was; of DEPENDS_ON: the manifest"),
    Described("anchor_line", "likewise"),
    Described("commit", "likewise"),
    Described("kind", "of DEPENDS_ON: runtime optional peer provided build development indirect"),
    Described("ecosystem", "of DEPENDS_ON"),
    Described("package", "of DEPENDS_ON: the name as declared"),
    Described("group", "of DEPENDS_ON: extra, group, scope or target"),
    Described("range", "of DEPENDS_ON: versions as declared"),
    Described("marker", "of DEPENDS_ON: condition"),
    Described("locked", "of DEPENDS_ON: version in the lock file"),
    Described("lock", "of DEPENDS_ON: path:line in the lock file"),
    Described("also", "of DEPENDS_ON: further declarations"),
)
EXAMPLES = (
    Described(
        "callers of a function",
        "MATCH (f)-[r:CALLS]->(t {name: 'NAME'}) RETURN f.uid, r.lines, r.strategy, r.confidence",
    ),
    Described(
        "callers within two steps",
        "MATCH (t:Function {name: 'NAME'})<-[:CALLS*1..2]-(f) RETURN DISTINCT f.qualified_name, f.path",
    ),
    Described(
        "largest classes",
        "MATCH (c:Class)-[:DEFINES_METHOD]->(m) RETURN c.uid, count(m) AS methods ORDER BY methods DESC LIMIT 10",
    ),
    Described(
        "subclasses, any depth",
        "MATCH (c:Class)-[:INHERITS*1..5]->(b:Class {name: 'NAME'}) RETURN DISTINCT c.qualified_name",
    ),
    Described(
        "dependencies",
        "MATCH (p:Project)-[r:DEPENDS_ON]->(d) RETURN p.name, d.name, r.kind, r.range, r.locked, r.path, r.line",
    ),
    Described(
        "functions without callers",
        "MATCH (f:Function) WHERE NOT ()-[:CALLS]->(f) AND NOT f.is_test RETURN f.uid LIMIT 20",
    ),
)
