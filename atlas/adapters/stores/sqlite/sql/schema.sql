-- The tables of the embedded store. meta('schema') holds the version. Every node and edge belongs to one unit (file row);
-- the unit with path '' is the project's structure. Edges belong to the unit of their source node and refer to both ends
-- by node id. Ids are interned per uid and outlive the node row while an edge leads to them, so rewriting a unit never
-- loses an edge into it. Readers join both ends to `node`, so an edge whose target does not exist is invisible.

-- Keys: 'schema', 'identity' (random, per file), 'model', 'model:documents', 'model:prose' and 'model:quality'
-- (current model.id of a space), 'vector_generation' (incremented with every write and removal of vectors), 'erasure'
-- (amount of pending erasure; see erasure.py).
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE project (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  root TEXT NOT NULL,
  generation INTEGER NOT NULL DEFAULT 0,
  indexed_at TEXT NOT NULL DEFAULT ''
);

CREATE TABLE file (
  id INTEGER PRIMARY KEY,
  project INTEGER NOT NULL REFERENCES project(id),
  path TEXT NOT NULL,
  language TEXT NOT NULL,
  digest TEXT NOT NULL,
  size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  lines INTEGER NOT NULL,
  unit_digest TEXT NOT NULL,
  resolved INTEGER NOT NULL,
  unresolved INTEGER NOT NULL,
  is_test INTEGER NOT NULL,
  is_generated INTEGER NOT NULL,
  problems TEXT NOT NULL,            -- '' or one problem per line
  stale INTEGER NOT NULL DEFAULT 0,  -- the file has changed since `digest` was read
  UNIQUE (project, path)
);

-- The indexed bytes, compressed with zlib; separate from `file`, so that the manifest stays a small scan.
CREATE TABLE content (file INTEGER PRIMARY KEY REFERENCES file(id), data BLOB NOT NULL);

CREATE TABLE symbol_id (id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE);

-- Columns that filters and scans read come first: SQLite decodes a row up to the last column read.
CREATE TABLE node (
  id INTEGER PRIMARY KEY,            -- symbol_id.id
  file INTEGER NOT NULL REFERENCES file(id),
  label TEXT NOT NULL,
  is_test INTEGER NOT NULL,
  is_generated INTEGER NOT NULL,
  chunk_digest TEXT NOT NULL,
  search_digest INTEGER NOT NULL,    -- of its words; 0 = none
  start_byte INTEGER NOT NULL,
  end_byte INTEGER NOT NULL,
  name TEXT NOT NULL,
  qualified_name TEXT NOT NULL,
  kind TEXT NOT NULL,
  line INTEGER NOT NULL,
  start_line INTEGER NOT NULL,
  end_line INTEGER NOT NULL,
  signature TEXT NOT NULL,
  docstring TEXT NOT NULL,
  exported INTEGER NOT NULL,
  modifiers TEXT NOT NULL,
  signature_digest TEXT NOT NULL,
  body_digest TEXT NOT NULL,
  docstring_digest TEXT NOT NULL,
  text_digest TEXT NOT NULL,
  properties TEXT NOT NULL,          -- '' or a JSON object
  chunk_name TEXT NOT NULL
);
CREATE INDEX node_file ON node(file);
CREATE INDEX node_name ON node(name COLLATE NOCASE, is_test, qualified_name);  -- covers the sort key of `find`
CREATE INDEX node_label ON node(label);

CREATE TABLE edge (
  source INTEGER NOT NULL,
  type TEXT NOT NULL,
  target INTEGER NOT NULL,
  line INTEGER NOT NULL,
  strategy TEXT NOT NULL,
  confidence REAL NOT NULL,
  further_lines TEXT NOT NULL,       -- the lines after `line`, ascending, separated by blanks
  properties TEXT NOT NULL,          -- '' or a JSON object
  PRIMARY KEY (source, type, target, line)
) WITHOUT ROWID;
CREATE INDEX edge_target ON edge(target, type);
-- Number of rows of `edge`: counting 2 million rows takes a second.
CREATE TABLE edge_count (
  project INTEGER NOT NULL, type TEXT NOT NULL, strategy TEXT NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY (project, type, strategy)
) WITHOUT ROWID;

CREATE TABLE vector (
  id INTEGER PRIMARY KEY,            -- node.id; -node.id for the second vector of a node, in the space of quality
  model INTEGER NOT NULL,            -- model.id
  digest TEXT NOT NULL,              -- of the embedded chunk
  generation INTEGER NOT NULL,       -- of the write, for readers with a copy in memory
  data BLOB NOT NULL                 -- float16 little-endian
);
CREATE INDEX vector_generation ON vector(generation, model);
-- Except for code, the fingerprint follows the space (`prose:`), so that a model in two spaces has two rows.
CREATE TABLE model (
  id INTEGER PRIMARY KEY, provider TEXT NOT NULL, model TEXT NOT NULL, dimension INTEGER NOT NULL, fingerprint TEXT NOT NULL,
  UNIQUE (provider, model, dimension, fingerprint)
);

-- The last decision of the significance gate about a node, and decisions counted by reason; counts outlive nodes.
CREATE TABLE decision (
  id INTEGER PRIMARY KEY,            -- node.id
  through INTEGER NOT NULL,
  reason TEXT NOT NULL
);
CREATE TABLE decision_count (
  project INTEGER NOT NULL, reason TEXT NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY (project, reason)
) WITHOUT ROWID;

CREATE TABLE skipped (
  project INTEGER NOT NULL, path TEXT NOT NULL, reason TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
  PRIMARY KEY (project, path)
) WITHOUT ROWID;

-- The words of the nodes as segments (rust-parser/retrieval/src/segments/). The id of a block is that of its segment
-- times 2^32, plus its place in the segment; both tables have the same ids.
CREATE TABLE word_segment (
  id INTEGER PRIMARY KEY,
  size INTEGER NOT NULL,             -- bytes of the postings
  nodes BLOB NOT NULL, gone BLOB NOT NULL, directory BLOB NOT NULL
);
CREATE TABLE word_posting (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE word_position (id INTEGER PRIMARY KEY, data BLOB NOT NULL);

-- A node as readers return it: `id`, `project`, then the columns of atlas.core.model.NodeRow in order.
CREATE VIEW node_row AS
SELECT n.id AS id, p.name AS project,
  s.uid AS uid, n.label AS label, n.kind AS kind, n.name AS name, n.qualified_name AS qualified_name, f.path AS path,
  f.language AS language, n.line AS line, n.start_line AS start_line, n.end_line AS end_line, n.start_byte AS start_byte,
  n.end_byte AS end_byte, n.signature AS signature, n.docstring AS docstring, n.is_test AS is_test,
  n.is_generated AS is_generated, n.exported AS exported, n.modifiers AS modifiers, n.signature_digest AS signature_digest,
  n.body_digest AS body_digest, n.docstring_digest AS docstring_digest, n.text_digest AS text_digest,
  n.chunk_digest AS chunk_digest, n.chunk_name AS chunk_name
  , n.properties AS properties
FROM node n JOIN symbol_id s ON s.id = n.id JOIN file f ON f.id = n.file JOIN project p ON p.id = f.project;
