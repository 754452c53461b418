"""Docstrings of the packages that are new; those that exist move with their folder."""

PAGES: dict[str, str] = {
    'atlas/core': """Values and contracts that every feature uses; imports nothing of Code Atlas outside of this folder.

`model` and `labels` are the graph's rows, `contracts` what stores, buses and embedders promise, `errors` the tree of
errors, `events` and `project_state` what streams and a project's state say, `threads` work in threads.""",
    'atlas/runtime': """Around the features: settings (`config`); files, locks, the data folder and the daemon as a process (`process`).""",
    'atlas/answers': """What all toolsets share: the definition of a tool and its schema, and an answer on its way to a budget.

`tool` and `schema` define and check calls; `assemble`, `packing` and `paging` fit an answer into its token budget;
`items` and `cells` are bodies of answers; `escaping` quotes what a stranger wrote.""",
    'atlas/adapters': """Implementations of the contracts of `atlas.core`: stores, buses, embedders, models, git, the web, paper services.

Only `opening`, `atlas.app` and the `opening` module of a feature import them.""",
    'atlas/adapters/opening': """Settings -> adapters: the modules that see both. Functions import the adapter that they need.""",
    'atlas/adapters/stores/sqlite/file': """The file behind the embedded store: opened, checked, upgraded, erased.""",
    'atlas/adapters/stores/sqlite/cypher/expressions': """Expressions of Cypher compiled to SQL: calls, lists, texts, operators, conversions.""",
    'atlas/adapters/stores/bolt/reading': """Reads of the store on a Bolt server.""",
    'atlas/adapters/buses/valkey': """The bus on Valkey: streams, leases, heartbeats, the daemon's own server and its supervisor (ADR 0009).""",
    'atlas/adapters/embedders/remote': """Embedders behind an HTTP interface: requests, batches, retries.""",
    'atlas/code': """Code as a graph: files come in, answers about symbols, relations and changes go out.

Write path: `index` turns changed files into events, facts, edges and vectors in the store. Read path: `question` reads
what is asked, `retrieve` finds candidates by name, words, meaning and graph, `rank` orders them, `graph` follows edges,
`changes` compares revisions, `notes` reads what notes say about code; `find` is the whole path on one screen. `tools`
are the verbs of agents and of the command line. `index` and the read path meet in the store only.""",
    'atlas/code/question': """What is asked: text -> `Query`, with names, scope, intent, languages, and the phrases of relations and changes.""",
    'atlas/code/retrieve': """Candidates: channels by name, words, meaning and graph, fused; evidence about whole files.""",
    'atlas/code/rank': """Order: features and scores of candidates, relevance of the answer, grouping by file, likelihood of each hit.""",
    'atlas/code/graph': """Edges as answers: relations, paths, unions, unused and untested code, routes, packages.""",
    'atlas/code/changes': """What changed between revisions, and what that affects.""",
    'atlas/code/notes': """What notes say about code: note files as the index holds them, and anchors compared with the code of now.

Reads only. `atlas.knowledge` writes and judges notes.""",
    'atlas/code/index/project': """One project as its tiers see it: the scanned tree, the warm linker, reconciliation with the store.""",
    'atlas/code/tools/search': """The search tools: assembly of hits under the token budget, pages, excerpts, `--explain`.""",
    'atlas/code/tools/symbol': """One symbol: its facts, source and neighbours.""",
    'atlas/knowledge': """Claims, decisions and memories as files beside the code: written by agents and people, searched, compared.

`notes` are the files and `notes/importing` those of other programs; `retrieval` ranks notes, finds contradictions and
lineage; `tools` are the verbs of the toolsets `claims` and `memory`; `toolset` opens note folders for a session.""",
    'atlas/packs/questions/retrieval': """Sections of a pack for a question: candidates, scores, order.""",
    'atlas/server': """Servers: MCP over stdio and HTTP (`mcp`), papers over MCP (`papers`), and what stands in front of HTTP (`http`).""",
    'atlas/cli/code': """Commands about code: index, search, node, context, cypher, impact, export.""",
    'atlas/cli/knowledge': """Commands about notes and memory.""",
    'atlas/cli/packs': """Commands about knowledge packs.""",
    'atlas/cli/daemon': """Commands about the daemon, workers, queues and status.""",
    'benchmarks/atlas_bench/commands': """`atlas bench`: one module per family of measurements, found by the entry point `atlas.commands`.""",
}
