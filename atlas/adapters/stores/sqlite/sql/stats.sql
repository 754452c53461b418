-- name: projects
SELECT id, name, root, generation, indexed_at FROM project ORDER BY name

-- name: state
SELECT (SELECT value FROM meta WHERE key = 'identity'), (SELECT value FROM meta WHERE key = 'vector_generation'),
  (SELECT group_concat(value) FROM meta WHERE key IN ('model', 'model:documents', 'model:prose', 'model:quality')), (SELECT group_concat(id || ':' || generation) FROM project)

-- name: files
SELECT language, count(*), sum(resolved), sum(unresolved), sum(problems <> ''), sum(stale)
FROM file WHERE project = ? AND path <> '' GROUP BY language

-- name: structure
SELECT resolved, unresolved, problems <> '' FROM file WHERE project = ? AND path = ''

-- changes with every commit of another connection that this one sees
-- name: version
PRAGMA data_version

-- one scan for four counts: nodes, texts to embed, the vectors of these texts by the models of their spaces, and texts
-- for the space of quality
-- name: nodes
SELECT n.label, count(*), sum(n.chunk_digest <> ''), count(v.id), sum(n.chunk_digest <> '' AND ({quality}))
FROM file f CROSS JOIN node n INDEXED BY node_file ON n.file = f.id
LEFT JOIN vector v ON v.id = n.id AND v.digest = n.chunk_digest AND v.model = CASE WHEN {documents} THEN ?3 WHEN {prose} THEN ?4 ELSE ?2 END
WHERE f.project = ?1 GROUP BY n.label

-- name: quality_vectors
SELECT count(*) FROM file f CROSS JOIN node n INDEXED BY node_file ON n.file = f.id CROSS JOIN vector v ON v.id = -n.id
WHERE f.project = ?1 AND v.model = ?2 AND v.digest = n.chunk_digest AND n.chunk_digest <> ''

-- name: edges
SELECT type, strategy, count FROM edge_count WHERE project = ? AND count > 0

-- name: dangling
WITH gone AS MATERIALIZED (
  SELECT id AS target FROM symbol_id EXCEPT SELECT id FROM node
)
SELECT e.type, e.strategy, count(*)
FROM gone CROSS JOIN edge e INDEXED BY edge_target ON e.target = gone.target
CROSS JOIN node n ON n.id = e.source CROSS JOIN file f ON f.id = n.file
WHERE f.project = ? GROUP BY e.type, e.strategy

-- name: skipped
SELECT reason, count(*) FROM skipped WHERE project = ? GROUP BY reason

-- name: decisions
SELECT reason, count FROM decision_count WHERE project = ? ORDER BY reason
