-- name: records
SELECT f.path, f.language, f.digest, f.size, f.mtime_ns, f.lines, f.unit_digest, f.unresolved, f.resolved, f.is_test,
  f.is_generated, f.problems, f.stale
FROM json_each(:paths) wanted CROSS JOIN file f ON f.project = :project AND f.path = wanted.value

-- name: projects
SELECT name, root, generation, indexed_at, EXISTS (
  SELECT 1 FROM skipped s WHERE s.project = p.id AND s.reason GLOB 'too-many-*rules*'
) FROM project p ORDER BY name
