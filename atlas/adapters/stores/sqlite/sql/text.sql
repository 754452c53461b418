-- name: state
SELECT (SELECT value FROM meta WHERE key = 'identity'), (SELECT group_concat(id || ':' || generation) FROM project)

-- name: segments
SELECT (SELECT value FROM meta WHERE key = 'identity'), (SELECT json_group_array(id) FROM (SELECT id FROM word_segment ORDER BY id))

-- name: segment
SELECT id, nodes, gone, directory FROM word_segment WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY id

-- name: postings
SELECT id, data FROM word_posting WHERE id IN (SELECT value FROM json_each(:ids))

-- name: positions
SELECT id, data FROM word_position WHERE id IN (SELECT value FROM json_each(:ids))

-- name: uids
SELECT id, uid FROM symbol_id WHERE id IN (SELECT value FROM json_each(:ids))

-- name: files_where
SELECT f.id FROM file f WHERE 1 {where} ORDER BY f.id

-- name: nodes_of_files
SELECT f.id, f.path, (SELECT count(*) FROM node n WHERE n.file = f.id) FROM json_each(:files) asked CROSS JOIN file f ON f.id = asked.value

-- name: next_segment
SELECT coalesce(max(id), 0) + 1 FROM word_segment

-- name: count_segments
SELECT count(*) FROM word_segment

-- name: segment_sizes
SELECT id, size FROM word_segment ORDER BY id

-- name: blocks
SELECT w.id, w.data, p.data FROM word_posting w CROSS JOIN word_position p ON p.id = w.id ORDER BY w.id

-- name: block_ids
SELECT w.id, p.id FROM word_posting w FULL JOIN word_position p ON p.id = w.id ORDER BY w.id

-- name: block
SELECT w.data, p.data FROM word_posting w CROSS JOIN word_position p ON p.id = w.id WHERE w.id = ?

-- name: put_postings
INSERT INTO word_posting(id, data) VALUES (?, ?)

-- name: put_positions
INSERT INTO word_position(id, data) VALUES (?, ?)

-- name: put_segment
INSERT INTO word_segment(id, size, nodes, gone, directory)
SELECT ?1, 1 + (SELECT ifnull(sum(octet_length(data)), 0) FROM word_posting WHERE id >= ?1 << 32), ?2, ?3, ?4

-- name: delete_postings
DELETE FROM word_posting WHERE id = ?

-- name: delete_positions
DELETE FROM word_position WHERE id = ?

-- name: delete_segment
DELETE FROM word_segment WHERE id = ?
