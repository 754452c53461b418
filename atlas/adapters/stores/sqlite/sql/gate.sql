-- name: digests
SELECT f.path, s.uid, n.signature_digest, n.body_digest, n.docstring_digest, n.text_digest, n.chunk_digest
FROM json_each(:paths) wanted CROSS JOIN file f ON f.project = :project AND f.path = wanted.value
LEFT JOIN node n INDEXED BY node_file ON n.file = f.id LEFT JOIN symbol_id s ON s.id = n.id

-- name: decisions
SELECT s.uid, d.through, d.reason
FROM json_each(:uids) wanted CROSS JOIN symbol_id s ON s.uid = wanted.value CROSS JOIN decision d ON d.id = s.id
ORDER BY wanted.key

-- name: put_decision
INSERT OR REPLACE INTO decision(id, through, reason)
SELECT n.id, ?2, ?3
FROM symbol_id s CROSS JOIN node n ON n.id = s.id CROSS JOIN file f ON f.id = n.file
WHERE s.uid = ?1 AND f.project = ?4 AND f.path = ?5

-- name: count_decisions
INSERT INTO decision_count(project, reason, count) VALUES (?1, ?2, ?3)
ON CONFLICT(project, reason) DO UPDATE SET count = count + ?3

-- name: delete_decision
DELETE FROM decision WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM node WHERE node.id = ?1)
