-- name: projects
SELECT id, name, root, generation, indexed_at FROM project ORDER BY name

-- name: state
SELECT (SELECT value FROM meta WHERE key = 'identity'), (SELECT value FROM meta WHERE key = 'vector_generation'),
  (SELECT value FROM meta WHERE key = 'model'), (SELECT group_concat(id || ':' || generation) FROM project)

-- name: files
SELECT language, count(*), sum(resolved), sum(unresolved), sum(problems <> '')
FROM file WHERE project = ? AND path <> '' GROUP BY language

-- name: structure
SELECT resolved, unresolved, problems <> '' FROM file WHERE project = ? AND path = ''

-- name: nodes
SELECT n.label, count(*), sum(n.chunk_digest <> '')
FROM file f CROSS JOIN node n INDEXED BY node_file ON n.file = f.id WHERE f.project = ? GROUP BY n.label

-- name: edges_of_all
SELECT type, strategy, count(*) FROM edge GROUP BY type, strategy

-- name: dangling_of_all
SELECT e.type, e.strategy, count(*)
FROM (SELECT DISTINCT target FROM edge EXCEPT SELECT id FROM node) gone CROSS JOIN edge e INDEXED BY edge_target ON e.target = gone.target
GROUP BY e.type, e.strategy

-- name: edges
SELECT e.type, e.strategy, count(*)
FROM file f CROSS JOIN node n INDEXED BY node_file ON n.file = f.id CROSS JOIN edge e ON e.source = n.id
CROSS JOIN node t ON t.id = e.target
WHERE f.project = ? GROUP BY e.type, e.strategy

-- name: vectors
SELECT count(*)
FROM file f CROSS JOIN node n INDEXED BY node_file ON n.file = f.id
CROSS JOIN vector v ON v.id = n.id AND v.digest = n.chunk_digest
WHERE f.project = ?1 AND v.model = ?2

-- name: skipped
SELECT reason, count(*) FROM skipped WHERE project = ? GROUP BY reason
