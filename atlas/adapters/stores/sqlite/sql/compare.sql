-- Everything that two stores of the same tree must agree on. Each kind is read in key order along an index, so that two
-- stores can be compared row by row without loading them. The columns are in the order of `KINDS` in dump.py.

-- name: files
SELECT p.name, f.path, language, digest, size, lines, unit_digest, resolved, unresolved, is_test, is_generated, problems, stale
FROM file f JOIN project p ON p.id = f.project ORDER BY p.name, f.path;

-- name: skipped
SELECT p.name, s.path, reason FROM skipped s JOIN project p ON p.id = s.project ORDER BY p.name, s.path;

-- name: contents
SELECT p.name, f.path, c.data FROM project p CROSS JOIN file f ON f.project = p.id JOIN content c ON c.file = f.id
ORDER BY p.name, f.path;

-- name: nodes
SELECT s.uid, f.path, label, kind, n.name, qualified_name, line, start_line, end_line, start_byte, end_byte, signature, docstring,
  n.is_test, n.is_generated, exported, modifiers, signature_digest, body_digest, docstring_digest, text_digest, chunk_digest,
  chunk_name, n.properties, search_digest
FROM symbol_id s CROSS JOIN node n ON n.id = s.id JOIN file f ON f.id = n.file ORDER BY s.uid;

-- name: edges
SELECT a.uid, e.type, coalesce(b.uid, '') AS target_uid, e.line, strategy, confidence, further_lines, e.properties, t.id IS NULL
FROM symbol_id a CROSS JOIN edge e ON e.source = a.id LEFT JOIN symbol_id b ON b.id = e.target LEFT JOIN node t ON t.id = e.target
ORDER BY a.uid, e.type, target_uid, e.line;

-- name: edge_counts
SELECT p.name, c.type, c.strategy, c.count FROM edge_count c JOIN project p ON p.id = c.project WHERE c.count <> 0
ORDER BY p.name, c.type, c.strategy;

-- name: vectors
SELECT s.uid, v.id < 0 AS is_second, digest, provider, model.model, dimension, fingerprint, data
FROM symbol_id s CROSS JOIN vector v ON v.id IN (s.id, -s.id) JOIN model ON model.id = v.model ORDER BY s.uid, is_second;

-- name: indexed_words
SELECT id, uid FROM symbol_id ORDER BY uid;
