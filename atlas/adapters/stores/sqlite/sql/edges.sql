-- An edge exists only as long as its source node, so only the existence of targets is checked.

-- Given types are counted one by one along the index, without sorting rows: a quarter of the time for hubs.

-- name: counts_out
SELECT n.id, w.key, w.value, e.type, count(*)
FROM json_each(:uids) w CROSS JOIN symbol_id i ON i.uid = w.value CROSS JOIN node n ON n.id = i.id
CROSS JOIN edge e ON e.source = n.id
GROUP BY n.id, e.type

-- name: counts_out_of_types
SELECT n.id, w.key, w.value, t.value, (
  SELECT count(*) FROM edge e WHERE e.source = n.id AND e.type = t.value
) AS number
FROM json_each(:uids) w CROSS JOIN symbol_id i ON i.uid = w.value CROSS JOIN node n ON n.id = i.id
CROSS JOIN json_each(:types) t
WHERE number > 0

-- name: counts_in
SELECT n.id, w.key, w.value, e.type, count(*)
FROM json_each(:uids) w CROSS JOIN symbol_id i ON i.uid = w.value CROSS JOIN node n ON n.id = i.id
CROSS JOIN edge e INDEXED BY edge_target ON e.target = n.id
GROUP BY n.id, e.type

-- name: counts_in_of_types
SELECT n.id, w.key, w.value, t.value, (
  SELECT count(*) FROM edge e INDEXED BY edge_target WHERE e.target = n.id AND e.type = t.value
) AS number
FROM json_each(:uids) w CROSS JOIN symbol_id i ON i.uid = w.value CROSS JOIN node n ON n.id = i.id
CROSS JOIN json_each(:types) t
WHERE number > 0

-- name: degrees_out
SELECT n.id, w.key, w.value, e.type, count(*)
FROM json_each(:uids) w CROSS JOIN symbol_id i ON i.uid = w.value CROSS JOIN node n ON n.id = i.id
CROSS JOIN edge e ON e.source = n.id
WHERE EXISTS (SELECT 1 FROM node far WHERE far.id = e.target)
GROUP BY n.id, e.type

-- name: degrees_out_of_types
SELECT n.id, w.key, w.value, t.value, (
  SELECT count(*) FROM edge e WHERE e.source = n.id AND e.type = t.value
  AND EXISTS (SELECT 1 FROM node far WHERE far.id = e.target)
) AS number
FROM json_each(:uids) w CROSS JOIN symbol_id i ON i.uid = w.value CROSS JOIN node n ON n.id = i.id
CROSS JOIN json_each(:types) t
WHERE number > 0

-- name: all_out
SELECT e.source, e.type, e.line, e.strategy, e.confidence, e.further_lines, e.properties, e.target, f.path, s.uid
FROM json_each(:pairs) w CROSS JOIN edge e ON e.source = w.value ->> 0 AND e.type = w.value ->> 1
CROSS JOIN node n ON n.id = e.target CROSS JOIN file f ON f.id = n.file CROSS JOIN symbol_id s ON s.id = n.id

-- name: all_in
SELECT e.target, e.type, e.line, e.strategy, e.confidence, e.further_lines, e.properties, e.source, f.path, s.uid
FROM json_each(:pairs) w CROSS JOIN edge e INDEXED BY edge_target ON e.target = w.value ->> 0 AND e.type = w.value ->> 1
CROSS JOIN node n ON n.id = e.source CROSS JOIN file f ON f.id = n.file CROSS JOIN symbol_id s ON s.id = n.id

-- name: lines_in
SELECT f.path, e.line, e.further_lines
FROM json_each(:uids) w CROSS JOIN symbol_id i ON i.uid = w.value CROSS JOIN node o ON o.id = i.id
CROSS JOIN json_each(:types) t CROSS JOIN edge e INDEXED BY edge_target ON e.target = o.id AND e.type = t.value
CROSS JOIN node n ON n.id = e.source CROSS JOIN file f ON f.id = n.file
WHERE e.confidence >= :least LIMIT :limit

-- name: best_out
WITH best AS MATERIALIZED (
  SELECT e.source, e.type, e.line, e.strategy, e.confidence, e.further_lines, e.properties, e.target AS far, f.path
  FROM edge e CROSS JOIN node n ON n.id = e.target CROSS JOIN file f ON f.id = n.file
  WHERE e.source = :own AND e.type = :type ORDER BY e.confidence DESC, f.path, e.line LIMIT :limit
)
SELECT b.*, s.uid FROM best b CROSS JOIN symbol_id s ON s.id = b.far

-- name: best_in
WITH best AS MATERIALIZED (
  SELECT e.target, e.type, e.line, e.strategy, e.confidence, e.further_lines, e.properties, e.source AS far, f.path
  FROM edge e INDEXED BY edge_target CROSS JOIN node n ON n.id = e.source CROSS JOIN file f ON f.id = n.file
  WHERE e.target = :own AND e.type = :type ORDER BY e.confidence DESC, f.path, e.line LIMIT :limit
)
SELECT b.*, s.uid FROM best b CROSS JOIN symbol_id s ON s.id = b.far
