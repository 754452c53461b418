-- name: state
SELECT (SELECT value FROM meta WHERE key = 'identity'), (SELECT group_concat(id || ':' || generation) FROM project)

-- name: frequency
SELECT count(*) FROM (SELECT 1 FROM text WHERE text MATCH :match LIMIT :limit)

-- name: search
WITH best(id, score) AS MATERIALIZED (
  SELECT text.rowid, -{rank} AS score FROM text WHERE text MATCH :match
  ORDER BY score DESC, text.rowid LIMIT :limit
)
SELECT s.uid, b.score FROM best b CROSS JOIN symbol_id s ON s.id = b.id

-- name: search_where
WITH best(id, score) AS MATERIALIZED (
  SELECT text.rowid, -{rank} AS score
  FROM text CROSS JOIN node n ON n.id = text.rowid {join}
  WHERE text MATCH :match {where}
  ORDER BY score DESC, text.rowid LIMIT :limit
)
SELECT s.uid, b.score FROM best b CROSS JOIN symbol_id s ON s.id = b.id

-- name: nodes_with
SELECT count(*), group_concat(id) FROM (SELECT rowid AS id FROM text WHERE text MATCH :match LIMIT :limit)

-- name: files_of_nodes
SELECT id, file FROM node WHERE id IN (SELECT value FROM json_each(:ids))

-- name: count_in_files
SELECT n.file, count(*) FROM text CROSS JOIN node n ON n.id = text.rowid {join}
WHERE text MATCH :match {where} GROUP BY n.file

-- name: nodes_of_files
SELECT f.id, f.path, c.nodes FROM (SELECT file, count(*) AS nodes FROM node GROUP BY file) c CROSS JOIN file f ON f.id = c.file
WHERE f.project IN (SELECT id FROM project WHERE :project IN ('', name))
