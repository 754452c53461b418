-- The data of an index copy, unit by unit. Edges are included whether or not their target node exists.

-- name: files
SELECT f.id, f.path, f.language, f.digest, f.size, f.mtime_ns, f.lines, f.unit_digest, f.unresolved, f.resolved, f.is_test,
  f.is_generated, f.problems, f.stale, c.data
FROM json_each(:paths) wanted CROSS JOIN file f ON f.project = :project AND f.path = wanted.value
LEFT JOIN content c ON c.file = f.id

-- name: nodes
SELECT r.* FROM node n CROSS JOIN node_row r ON r.id = n.id WHERE n.file = ? ORDER BY r.uid

-- name: edges
SELECT a.uid, b.uid, e.type, e.line, e.strategy, e.confidence, e.further_lines, e.properties
FROM node n CROSS JOIN symbol_id a ON a.id = n.id CROSS JOIN edge e ON e.source = n.id CROSS JOIN symbol_id b ON b.id = e.target
WHERE n.file = ?

-- name: decisions
SELECT s.uid, d.through, d.reason
FROM node n CROSS JOIN decision d ON d.id = n.id CROSS JOIN symbol_id s ON s.id = n.id
WHERE n.file = ? ORDER BY s.uid

-- name: vectors
SELECT s.uid, v.digest, v.data
FROM symbol_id s CROSS JOIN node n ON n.id = s.id CROSS JOIN file f ON f.id = n.file CROSS JOIN vector v ON v.id = {sign}n.id
WHERE s.uid > :after AND f.project = :project AND v.model = :model AND v.digest = n.chunk_digest
ORDER BY s.uid LIMIT :limit
