-- name: open_project
INSERT INTO project(name, root) VALUES (?1, ?2) ON CONFLICT(name) DO UPDATE SET root = ?2 WHERE root <> ?2

-- name: delete_project
DELETE FROM project WHERE id = ?

-- name: clear_decision_counts
DELETE FROM decision_count WHERE project = ?

-- name: clear_edge_counts
DELETE FROM edge_count WHERE project = ?

-- name: new_identity
UPDATE meta SET value = hex(randomblob(16)) WHERE key = 'identity'

-- name: generation
SELECT generation FROM project WHERE id = ?

-- name: next_generation
UPDATE project SET generation = generation + 1, indexed_at = iif(indexed_at = '', '', ?) WHERE id = ?
RETURNING generation

-- name: finish
UPDATE project SET indexed_at = ? WHERE id = ? AND indexed_at = ''

-- name: skipped
SELECT path, reason, size, mtime_ns FROM skipped WHERE project = ? ORDER BY path

-- name: clear_skipped
DELETE FROM skipped WHERE project = ?

-- name: add_skipped
INSERT OR REPLACE INTO skipped(project, path, reason, size, mtime_ns) VALUES (?, ?, ?, ?, ?)

-- name: add_model
INSERT OR IGNORE INTO model(provider, model, dimension, fingerprint) VALUES (?, ?, ?, ?)

-- name: model_id
SELECT id FROM model WHERE provider = ? AND model = ? AND dimension = ? AND fingerprint = ?

-- name: set_model
INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)

-- name: next_vector_generation
UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'vector_generation' RETURNING CAST(value AS INTEGER)

-- name: put_vector
INSERT OR REPLACE INTO vector(id, model, digest, generation, data)
SELECT {sign}n.id, ?3, n.chunk_digest, ?4, ?5
FROM symbol_id s CROSS JOIN node n ON n.id = s.id CROSS JOIN file f ON f.id = n.file
WHERE s.uid = ?1 AND n.chunk_digest = ?2 AND f.project = ?6

-- name: files
SELECT f.id, EXISTS (SELECT 1 FROM content c WHERE c.file = f.id), f.path, f.language, f.digest, f.size, f.mtime_ns, f.lines,
  f.unit_digest, f.unresolved, f.resolved, f.is_test, f.is_generated, f.problems, f.stale
FROM json_each(:paths) wanted CROSS JOIN file f ON f.project = :project AND f.path = wanted.value

-- name: last_ids
SELECT (SELECT coalesce(max(id), 0) FROM file), (SELECT coalesce(max(id), 0) FROM symbol_id)

-- name: put_file
INSERT INTO file(id, project, path, language, digest, size, mtime_ns, lines, unit_digest, resolved, unresolved, is_test,
                 is_generated, problems, stale)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
ON CONFLICT(id) DO UPDATE SET
  language = ?4, digest = ?5, size = ?6, mtime_ns = ?7, lines = ?8, unit_digest = ?9, resolved = ?10, unresolved = ?11,
  is_test = ?12, is_generated = ?13, problems = ?14, stale = ?15

-- name: put_content
INSERT OR REPLACE INTO content(file, data) VALUES (?, ?)

-- name: delete_content
DELETE FROM content WHERE file = ?

-- name: delete_file
DELETE FROM file WHERE id = ?

-- name: ids
SELECT s.uid, s.id FROM json_each(?) wanted CROSS JOIN symbol_id s ON s.uid = wanted.value

-- name: add_id
INSERT INTO symbol_id(uid, id) VALUES (?, ?)

-- name: nodes_of_files
SELECT n.id, n.file, n.search_digest, n.label, n.is_test, n.is_generated, n.chunk_digest, n.start_byte, n.end_byte, n.name,
  n.qualified_name, n.kind, n.line, n.start_line, n.end_line, n.signature, n.docstring, n.exported, n.modifiers,
  n.signature_digest, n.body_digest, n.docstring_digest, n.text_digest, n.chunk_name, n.properties
FROM json_each(?) wanted CROSS JOIN node n INDEXED BY node_file ON n.file = wanted.value

-- name: count_nodes
SELECT count(*) FROM node INDEXED BY node_file WHERE file = ?

-- name: nodes_by_id
SELECT n.id, n.file, n.search_digest, n.label, n.is_test, n.is_generated, n.chunk_digest, n.start_byte, n.end_byte, n.name,
  n.qualified_name, n.kind, n.line, n.start_line, n.end_line, n.signature, n.docstring, n.exported, n.modifiers,
  n.signature_digest, n.body_digest, n.docstring_digest, n.text_digest, n.chunk_name, n.properties
FROM json_each(?) wanted CROSS JOIN node n ON n.id = wanted.value

-- name: add_node
INSERT INTO node(id, file, search_digest, label, is_test, is_generated, chunk_digest, start_byte, end_byte, name,
  qualified_name, kind, line, start_line, end_line, signature, docstring, exported, modifiers, signature_digest, body_digest,
  docstring_digest, text_digest, chunk_name, properties)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: change_node
UPDATE node SET file = ?2, search_digest = ?3, label = ?4, is_test = ?5, is_generated = ?6, chunk_digest = ?7, start_byte = ?8,
  end_byte = ?9, name = ?10, qualified_name = ?11, kind = ?12, line = ?13, start_line = ?14, end_line = ?15, signature = ?16,
  docstring = ?17, exported = ?18, modifiers = ?19, signature_digest = ?20, body_digest = ?21, docstring_digest = ?22,
  text_digest = ?23, chunk_name = ?24, properties = ?25
WHERE id = ?1

-- name: delete_node
DELETE FROM node WHERE id = ?

-- name: delete_vector
DELETE FROM vector WHERE id IN (?1, -?1) AND NOT EXISTS (SELECT 1 FROM node WHERE node.id = ?1 AND chunk_digest <> '')

-- name: edges_of
SELECT e.source, e.type, e.target, e.line, e.strategy, e.confidence, e.further_lines, e.properties
FROM json_each(?) wanted CROSS JOIN edge e ON e.source = wanted.value

-- name: delete_edge
DELETE FROM edge WHERE source = ? AND type = ? AND target = ? AND line = ?

-- name: count_edges
INSERT INTO edge_count(project, type, strategy, count) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT(project, type, strategy) DO UPDATE SET count = count + ?4

-- name: put_edge
INSERT OR REPLACE INTO edge(source, type, target, line, strategy, confidence, further_lines, properties)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- name: forget_id
DELETE FROM symbol_id WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM node WHERE id = ?1)
AND NOT EXISTS (SELECT 1 FROM edge INDEXED BY edge_target WHERE target = ?1)

-- name: forget_ids
DELETE FROM symbol_id WHERE id NOT IN (SELECT id FROM node)
AND NOT EXISTS (SELECT 1 FROM edge INDEXED BY edge_target WHERE target = symbol_id.id)

-- name: add_pending_erasure
INSERT INTO meta(key, value) VALUES ('erasure', ?1)
ON CONFLICT(key) DO UPDATE SET value = ?1 WHERE CAST(value AS INTEGER) < ?1

-- name: increment_pending_erasure
UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'erasure'

-- name: pending_erasure
SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'erasure'

-- name: clear_pending_erasure
DELETE FROM meta WHERE key = 'erasure'
