"""The first line of each command's help, in the order of `atlas --help`, which so imports no command.

A test compares them with the commands' own help.
"""

from __future__ import annotations

from collections.abc import Mapping

SUMMARIES: Mapping[str, str] = {
    "index": "Update the index from the files; only changes are parsed and written. A running daemon does the work.",
    "worker": "Run one of several workers on a shared store and bus (store.url, bus.url), in the foreground until a "
    "signal.",
    "search": "Find code, documents and decisions by name, words, meaning and graph.",
    "node": "Show one symbol; an ambiguous name lists its candidates.",
    "context": "Show one symbol with source, class, callers and callees with line and confidence, docs and tests.",
    "cypher": "Run a read-only Cypher query over the graph.",
    "impact": "Show what a change affects: callers, users, subclasses, tests to run, documents to read again.",
    "compare": "Show what this tree's graph has gained and lost against another tree's: symbols and edges. Indexes "
    "both first.",
    "ui": "Show the graph in a browser: search, symbols, files. Listens on 127.0.0.1 and lets one browser in.",
    "status": "Show what is indexed, what is not and why, and the daemon's work; --watch --json prints one document "
    "per line.",
    "health": "Show what works, what is missing, and how to fix it; exits with 1 when something is broken.",
    "schema": "Show labels, edge types, properties, strategies and example queries.",
    "export": "Write all nodes and edges, sorted.",
    "graph": "Draw a picture of at most 60 nodes; what is left out is counted.",
    "migrate": "Copy the index to another store, vectors included, and compare both afterwards.",
    "mcp": "Serve this project to coding agents over MCP: one client on stdin and stdout, or many over HTTP.",
    "lsp": "Serve this project to an editor over the Language Server Protocol, on stdin and stdout, read-only.",
    "connect": "Connect a coding agent: show the change to its configuration, ask, write it. Other entries are not "
    "touched.",
    "chat": "Talk to a language model that uses the tools of Code Atlas and of other MCP servers.",
    "doctor": "Show this installation: its version, its parts, and what is missing for what.",
    "man": "Print the manual page, in the format of man.",
    "daemon": "The background process that keeps the index current.",
    "notes": "Claims, decisions and entities that people and agents note.",
    "memory": "What is remembered about people, teams and topics.",
    "pack": "Knowledge packs: documentation of libraries, offline.",
    "dead-letters": "Events that failed permanently, and why.",
    "papers": "Papers: find, store, search, relate, export.",
    "workspace": "Projects that answer together: add, list, remove.",
    "cache": "Data folders of all projects in the user's cache.",
    "published": "Indexes of commits that are published: list, serve, make tokens.",
    "config": "Settings.",
}
