-- name: state
SELECT (SELECT value FROM meta WHERE key = 'identity'), CAST((SELECT value FROM meta WHERE key = 'vector_generation') AS INTEGER)

-- The id of a vector is that of its node, in the space of quality its negative.
-- name: all
SELECT abs(id), data FROM vector NOT INDEXED WHERE model = ? ORDER BY id {order}

-- name: since
SELECT abs(id), data FROM vector WHERE generation > ? AND model = ?

-- name: count
SELECT count(*) FROM vector INDEXED BY vector_generation WHERE model = ?

-- name: ids
SELECT abs(id) FROM vector INDEXED BY vector_generation WHERE model = ?

-- name: among
SELECT s.uid, v.data
FROM json_each(:ids) found CROSS JOIN vector v ON v.id = {sign}found.value CROSS JOIN node n ON n.id = found.value {join}
CROSS JOIN symbol_id s ON s.id = n.id
WHERE v.model = :model {where}

-- name: among_all
-- Without a filter no join to `node` is needed: no vector outlives its node.
SELECT s.uid, v.data
FROM json_each(:ids) found CROSS JOIN vector v ON v.id = {sign}found.value CROSS JOIN symbol_id s ON s.id = found.value
WHERE v.model = :model

-- name: allowed
SELECT n.id FROM node n {join} WHERE n.chunk_digest <> '' {where} ORDER BY n.id

-- name: allowed_path
SELECT n.id FROM file f CROSS JOIN node n INDEXED BY node_file ON n.file = f.id
WHERE n.chunk_digest <> '' {where} ORDER BY n.id
