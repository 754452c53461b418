-- name: records
SELECT f.path, f.language, f.digest, f.size, f.mtime_ns, f.lines, f.unit_digest, f.unresolved, f.resolved, f.is_test,
  f.is_generated, f.problems, f.stale
FROM json_each(:paths) wanted CROSS JOIN file f ON f.project = :project AND f.path = wanted.value

-- name: projects
SELECT name, root, generation, indexed_at FROM project ORDER BY name

-- name: degrees_out
SELECT w.value, count(*)
FROM json_each(:uids) w CROSS JOIN symbol_id i ON i.uid = w.value
CROSS JOIN edge e ON e.source = i.id {types}
WHERE EXISTS (SELECT 1 FROM node n WHERE n.id = i.id) AND EXISTS (SELECT 1 FROM node n WHERE n.id = e.target)
GROUP BY i.id

-- name: degrees_in
SELECT w.value, count(*)
FROM json_each(:uids) w CROSS JOIN symbol_id i ON i.uid = w.value
CROSS JOIN edge e INDEXED BY edge_target ON e.target = i.id {types}
WHERE EXISTS (SELECT 1 FROM node n WHERE n.id = i.id) AND EXISTS (SELECT 1 FROM node n WHERE n.id = e.source)
GROUP BY i.id

-- name: edges_out
WITH wanted(position, id) AS MATERIALIZED (
  SELECT min(w.key), i.id FROM json_each(:uids) w CROSS JOIN symbol_id i ON i.uid = w.value CROSS JOIN node n ON n.id = i.id
  GROUP BY i.id
), numbered AS MATERIALIZED (
  SELECT w.position, e.source, e.target, e.type, e.line, e.strategy, e.confidence, e.target AS far, f.path, s.uid,
    row_number() OVER (PARTITION BY w.position, e.type ORDER BY e.confidence DESC, f.path, e.line, s.uid) AS place
  FROM wanted w CROSS JOIN edge e ON e.source = w.id {types}
  CROSS JOIN node n ON n.id = e.target CROSS JOIN file f ON f.id = n.file CROSS JOIN symbol_id s ON s.id = n.id
)
SELECT source.uid, target.uid, c.type, c.line, c.strategy, c.confidence, r.*
FROM numbered c CROSS JOIN symbol_id source ON source.id = c.source CROSS JOIN symbol_id target ON target.id = c.target
CROSS JOIN node_row r ON r.id = c.far
WHERE c.place <= :each ORDER BY c.position, c.type, c.place LIMIT :limit

-- name: edges_in
WITH wanted(position, id) AS MATERIALIZED (
  SELECT min(w.key), i.id FROM json_each(:uids) w CROSS JOIN symbol_id i ON i.uid = w.value CROSS JOIN node n ON n.id = i.id
  GROUP BY i.id
), numbered AS MATERIALIZED (
  SELECT w.position, e.source, e.target, e.type, e.line, e.strategy, e.confidence, e.source AS far, f.path, s.uid,
    row_number() OVER (PARTITION BY w.position, e.type ORDER BY e.confidence DESC, f.path, e.line, s.uid) AS place
  FROM wanted w CROSS JOIN edge e INDEXED BY edge_target ON e.target = w.id {types}
  CROSS JOIN node n ON n.id = e.source CROSS JOIN file f ON f.id = n.file CROSS JOIN symbol_id s ON s.id = n.id
)
SELECT source.uid, target.uid, c.type, c.line, c.strategy, c.confidence, r.*
FROM numbered c CROSS JOIN symbol_id source ON source.id = c.source CROSS JOIN symbol_id target ON target.id = c.target
CROSS JOIN node_row r ON r.id = c.far
WHERE c.place <= :each ORDER BY c.position, c.type, c.place LIMIT :limit
