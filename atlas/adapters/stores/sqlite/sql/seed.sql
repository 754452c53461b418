-- The statements that make the copy of an index that of another tree of the same repository.

-- name: projects
SELECT id, name, root FROM project

-- name: files
SELECT path, size, digest FROM file WHERE project = ?

-- name: rename_symbols
UPDATE symbol_id SET uid = ?2 || substr(uid, ?3) WHERE substr(uid, 1, ?3 - 1) = ?1

-- name: rename_project
UPDATE project SET name = ?, root = ?, indexed_at = '' WHERE id = ?

-- name: distrust_files
UPDATE file SET mtime_ns = 0, stale = 0 WHERE project = ? AND path <> ''

-- name: trust_file
UPDATE file SET size = ?3, mtime_ns = ?4 WHERE project = ?1 AND path = ?2

-- name: clear_decisions
DELETE FROM decision

-- name: forget_beginning
DELETE FROM meta WHERE key = 'began_from'

-- name: note_beginning
INSERT INTO meta VALUES ('began_from', ?)

-- name: beginning
SELECT value FROM meta WHERE key = 'began_from'
