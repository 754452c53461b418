-- name: by_uid
SELECT n.id FROM symbol_id s CROSS JOIN node n ON n.id = s.id {join} WHERE s.uid = :text {where} LIMIT :limit

-- name: by_name
SELECT n.id, n.is_test, n.qualified_name, n.name
FROM json_each(:names) wanted CROSS JOIN node n ON n.name = wanted.value COLLATE NOCASE {join}
WHERE true {where}

-- name: by_qualified_name
SELECT n.id, n.is_test, n.qualified_name, n.name
FROM json_each(:uids) wanted CROSS JOIN symbol_id s ON s.uid = wanted.value CROSS JOIN node n ON n.id = s.id {join}
WHERE true {where}

-- name: by_plain_name
SELECT n.id
FROM node n {join}
WHERE n.name = :text COLLATE NOCASE AND n.name = :text {where}
ORDER BY n.is_test, length(n.qualified_name), n.qualified_name LIMIT :limit

-- name: by_prefix
SELECT n.id
FROM node n {join}
WHERE n.name >= :text COLLATE NOCASE AND n.name < :end COLLATE NOCASE {where}
ORDER BY n.is_test, length(n.qualified_name), n.qualified_name LIMIT :limit

-- name: by_path
SELECT n.id
FROM file f CROSS JOIN node n ON n.file = f.id CROSS JOIN symbol_id s ON s.id = n.id
WHERE f.path = :file_path AND f.project IN (SELECT id FROM project) {where}
ORDER BY f.project, n.start_byte, n.end_byte DESC, n.qualified_name, s.uid LIMIT :limit

-- name: names_from
SELECT DISTINCT n.name FROM node n
WHERE n.name >= :first COLLATE NOCASE AND n.name < :end COLLATE NOCASE 
  AND length(replace(n.name, '_', '')) BETWEEN :shortest AND :longest

-- name: names_among
SELECT DISTINCT n.name FROM json_each(:names) wanted CROSS JOIN node n ON n.name = wanted.value COLLATE NOCASE

-- name: projects
SELECT name FROM project
