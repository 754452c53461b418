-- name: state
SELECT (SELECT value FROM meta WHERE key = 'identity'), CAST((SELECT value FROM meta WHERE key = 'vector_generation') AS INTEGER)

-- name: all
SELECT id, data FROM vector NOT INDEXED WHERE model = ? ORDER BY id

-- name: since
SELECT id, data FROM vector WHERE generation > ? AND model = ?

-- name: count
SELECT count(*) FROM vector INDEXED BY vector_generation WHERE model = ?

-- name: ids
SELECT id FROM vector INDEXED BY vector_generation WHERE model = ?

-- name: among
SELECT s.uid, v.data
FROM json_each(:ids) found CROSS JOIN vector v ON v.id = found.value CROSS JOIN node n ON n.id = v.id {join}
CROSS JOIN symbol_id s ON s.id = n.id
WHERE v.model = :model {where}

-- name: among_all
-- Without a filter no join to `node` is needed: no vector outlives its node.
SELECT s.uid, v.data
FROM json_each(:ids) found CROSS JOIN vector v ON v.id = found.value CROSS JOIN symbol_id s ON s.id = v.id
WHERE v.model = :model

-- name: allowed
SELECT n.id FROM node n {join} WHERE n.chunk_digest <> '' {where} ORDER BY n.id

-- name: allowed_path
SELECT n.id FROM file f CROSS JOIN node n INDEXED BY node_file ON n.file = f.id
WHERE n.chunk_digest <> '' {where} ORDER BY n.id
