-- An edge lives and dies with its source node, so only targets have to be looked for.

-- name: of_types
AND e.type IN (SELECT value FROM json_each(:types))

-- name: counts_out
SELECT n.id, w.key, w.value, e.type, count(*)
FROM json_each(:uids) w CROSS JOIN symbol_id i ON i.uid = w.value CROSS JOIN node n ON n.id = i.id
CROSS JOIN edge e ON e.source = n.id {types}
GROUP BY n.id, e.type

-- name: counts_in
SELECT n.id, w.key, w.value, e.type, count(*)
FROM json_each(:uids) w CROSS JOIN symbol_id i ON i.uid = w.value CROSS JOIN node n ON n.id = i.id
CROSS JOIN edge e INDEXED BY edge_target ON e.target = n.id {types}
GROUP BY n.id, e.type

-- name: degrees_out
SELECT n.id, w.key, w.value, e.type, count(*)
FROM json_each(:uids) w CROSS JOIN symbol_id i ON i.uid = w.value CROSS JOIN node n ON n.id = i.id
CROSS JOIN edge e ON e.source = n.id {types}
WHERE EXISTS (SELECT 1 FROM node far WHERE far.id = e.target)
GROUP BY n.id, e.type

-- name: degrees_in
SELECT n.id, w.key, w.value, e.type, count(*)
FROM json_each(:uids) w CROSS JOIN symbol_id i ON i.uid = w.value CROSS JOIN node n ON n.id = i.id
CROSS JOIN edge e INDEXED BY edge_target ON e.target = n.id {types}
GROUP BY n.id, e.type

-- name: all_out
SELECT e.source, e.type, e.line, e.strategy, e.confidence, e.target, f.path, s.uid
FROM json_each(:pairs) w CROSS JOIN edge e ON e.source = w.value ->> 0 AND e.type = w.value ->> 1
CROSS JOIN node n ON n.id = e.target CROSS JOIN file f ON f.id = n.file CROSS JOIN symbol_id s ON s.id = n.id

-- name: all_in
SELECT e.target, e.type, e.line, e.strategy, e.confidence, e.source, f.path, s.uid
FROM json_each(:pairs) w CROSS JOIN edge e INDEXED BY edge_target ON e.target = w.value ->> 0 AND e.type = w.value ->> 1
CROSS JOIN node n ON n.id = e.source CROSS JOIN file f ON f.id = n.file CROSS JOIN symbol_id s ON s.id = n.id

-- name: best_out
WITH best AS MATERIALIZED (
  SELECT e.source, e.type, e.line, e.strategy, e.confidence, e.target AS far, f.path
  FROM edge e CROSS JOIN node n ON n.id = e.target CROSS JOIN file f ON f.id = n.file
  WHERE e.source = :own AND e.type = :type ORDER BY e.confidence DESC, f.path, e.line LIMIT :limit
)
SELECT b.*, s.uid FROM best b CROSS JOIN symbol_id s ON s.id = b.far

-- name: best_in
WITH best AS MATERIALIZED (
  SELECT e.target, e.type, e.line, e.strategy, e.confidence, e.source AS far, f.path
  FROM edge e INDEXED BY edge_target CROSS JOIN node n ON n.id = e.source CROSS JOIN file f ON f.id = n.file
  WHERE e.target = :own AND e.type = :type ORDER BY e.confidence DESC, f.path, e.line LIMIT :limit
)
SELECT b.*, s.uid FROM best b CROSS JOIN symbol_id s ON s.id = b.far
