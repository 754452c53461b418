-- name: manifest
SELECT path, language, digest, size, mtime_ns, lines, unit_digest, unresolved, resolved, is_test, is_generated, problems,
  stale
FROM file WHERE project = ? ORDER BY path

-- name: paths
SELECT path FROM file WHERE project = ? AND path <> '' ORDER BY path

-- name: skipped
SELECT path, reason, size, mtime_ns FROM skipped WHERE project = ? ORDER BY path

-- name: content
SELECT f.path, c.data
FROM json_each(:paths) wanted CROSS JOIN file f ON f.project = :project AND f.path = wanted.value
CROSS JOIN content c ON c.file = f.id

-- The columns of `node_row`. The caller orders the rows: a sorter would copy the texts of all of them.

-- name: symbols
SELECT n.id, p.name, wanted.value, n.label, n.kind, n.name, n.qualified_name, f.path, f.language, n.line, n.start_line,
  n.end_line, n.start_byte, n.end_byte, n.signature, n.docstring, n.is_test, n.is_generated, n.exported, n.modifiers,
  n.signature_digest, n.body_digest, n.docstring_digest, n.text_digest, n.chunk_digest, n.chunk_name, n.properties
FROM json_each(:uids) wanted CROSS JOIN symbol_id i ON i.uid = wanted.value CROSS JOIN node n ON n.id = i.id
CROSS JOIN file f ON f.id = n.file CROSS JOIN project p ON p.id = f.project

-- name: symbols_having
SELECT r.*
FROM json_each(:uids) wanted CROSS JOIN symbol_id i ON i.uid = wanted.value CROSS JOIN node_row r ON r.id = i.id
WHERE instr(r.properties, :having)
ORDER BY wanted.key

-- name: nodes
SELECT r.* FROM json_each(:ids) wanted CROSS JOIN node_row r ON r.id = wanted.value

-- name: stale_start
SELECT n.file, n.id FROM symbol_id s CROSS JOIN node n ON n.id = s.id WHERE s.uid = ?

-- name: stale
SELECT f.id, s.uid, n.chunk_digest, n.chunk_name, n.start_byte, n.end_byte, n.label
FROM file f NOT INDEXED CROSS JOIN node n INDEXED BY node_file ON n.file = f.id
LEFT JOIN vector v ON v.id = {sign}n.id AND v.model = :model AND v.digest = n.chunk_digest
JOIN symbol_id s ON s.id = n.id
WHERE f.project = :project AND f.id >= :file AND (f.id > :file OR n.id > :node) AND n.chunk_digest <> '' AND v.id IS NULL
  AND ({in_space})
ORDER BY f.id, n.id LIMIT :limit

-- name: stale_among
SELECT f.id, s.uid, n.chunk_digest, n.chunk_name, n.start_byte, n.end_byte, n.label
FROM (SELECT DISTINCT value AS uid FROM json_each(:uids)) w CROSS JOIN symbol_id s ON s.uid = w.uid
CROSS JOIN node n ON n.id = s.id CROSS JOIN file f ON f.id = n.file
LEFT JOIN vector v ON v.id = {sign}n.id AND v.model = :model AND v.digest = n.chunk_digest
WHERE f.project = :project AND f.id >= :file AND (f.id > :file OR n.id > :node) AND n.chunk_digest <> '' AND v.id IS NULL
  AND ({in_space})
ORDER BY f.id, n.id LIMIT :limit

-- name: has_stale
SELECT EXISTS (
  SELECT 1 FROM node n INDEXED BY node_label
  LEFT JOIN vector v ON v.id = {sign}n.id AND v.model = ? AND v.digest = n.chunk_digest
  WHERE ({in_space}) AND n.chunk_digest <> '' AND v.id IS NULL
)

-- name: sections
SELECT start_byte FROM node INDEXED BY node_file WHERE file = ? AND label = 'DocSection' ORDER BY start_byte

-- name: file_content
SELECT data FROM content WHERE file = ?

-- name: current_model
SELECT m.id, m.provider, m.model, m.dimension, m.fingerprint FROM meta CROSS JOIN model m ON m.id = CAST(meta.value AS INTEGER)
WHERE meta.key = ?

-- name: model_id
SELECT id FROM model WHERE provider = ? AND model = ? AND dimension = ? AND fingerprint = ?
