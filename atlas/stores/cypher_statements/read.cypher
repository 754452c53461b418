// Reading by key. A node is read in the order of atlas.model.NodeRow after its project.

// name: projects
MATCH (p:AtlasProject)
RETURN p.name, p.root, p.generation, p.indexed_at, p.ordinal
ORDER BY p.name

// name: commits
MATCH (c:AtlasCommit)
WHERE size($names) = 0 OR c.project IN $names
RETURN sum(c.begun), sum(c.ended)

// name: unit_records
UNWIND $keys AS key
MATCH (u:AtlasUnit {key: key})
RETURN %record%

// name: manifest
MATCH (u:AtlasUnit {project: $project})
RETURN %record%
ORDER BY u.path

// name: skipped
MATCH (p:AtlasProject {name: $project})
RETURN p.skipped

// name: content
UNWIND $keys AS key
MATCH (u:AtlasUnit {key: key})
WHERE u.content IS NOT NULL
RETURN u.path, u.content, u.key

// name: symbol_digests
UNWIND $keys AS key
MATCH (u:AtlasUnit {key: key})
OPTIONAL MATCH (e:AtlasEntry {unit: u.key})
USING INDEX SEEK e:AtlasEntry(unit)
RETURN u.path, e.uid, e.signature_digest, e.body_digest, e.docstring_digest, e.text_digest, e.chunk_digest

// name: decisions
UNWIND $uids AS uid
MATCH (e:AtlasEntry {uid: uid})
USING INDEX SEEK e:AtlasEntry(uid)
WHERE e.decision_reason IS NOT NULL
RETURN e.uid, e.decision_through, e.decision_reason

// name: nodes
UNWIND $uids AS uid
MATCH (e:AtlasEntry {uid: uid})
USING INDEX SEEK e:AtlasEntry(uid)
MATCH (s:Symbol {uid: uid})
USING INDEX SEEK s:Symbol(uid)
RETURN e.project, e.uid, e.label, s.kind, s.name, s.qualified_name, e.path, e.language, s.line, s.start_line, s.end_line,
  e.start_byte, e.end_byte, s.signature, s.docstring, s.is_test, s.is_generated, s.exported, s.modifiers,
  e.signature_digest, e.body_digest, e.docstring_digest, e.text_digest, e.chunk_digest, e.chunk_name

// name: edges_out
UNWIND range(0, size($uids) - 1) AS place
MATCH (own:Symbol {uid: $uids[place]})-[r]->(far:Symbol)
USING INDEX SEEK own:Symbol(uid)
WHERE size($types) = 0 OR type(r) IN $types
WITH place, type(r) AS type, own.uid AS own, far.uid AS far, coalesce(far.path, '') AS path,
  coalesce(r.line, 0) AS line, r.strategy AS strategy, r.confidence AS confidence
ORDER BY place, type, confidence DESC, path, line, far
WITH place, type, collect({own: own, far: far, line: line, strategy: strategy, confidence: confidence})[..$each] AS best
ORDER BY place, type
UNWIND best AS edge
RETURN edge.own, edge.far, type, edge.line, edge.strategy, edge.confidence
LIMIT $limit

// name: edges_in
UNWIND range(0, size($uids) - 1) AS place
MATCH (own:Symbol {uid: $uids[place]})<-[r]-(far:Symbol)
USING INDEX SEEK own:Symbol(uid)
WHERE size($types) = 0 OR type(r) IN $types
WITH place, type(r) AS type, own.uid AS own, far.uid AS far, coalesce(far.path, '') AS path,
  coalesce(r.line, 0) AS line, r.strategy AS strategy, r.confidence AS confidence
ORDER BY place, type, confidence DESC, path, line, far
WITH place, type, collect({own: own, far: far, line: line, strategy: strategy, confidence: confidence})[..$each] AS best
ORDER BY place, type
UNWIND best AS edge
RETURN edge.far, edge.own, type, edge.line, edge.strategy, edge.confidence
LIMIT $limit

// name: degrees_out
UNWIND $uids AS uid
MATCH (own:Symbol {uid: uid})-[r]->(:Symbol)
USING INDEX SEEK own:Symbol(uid)
WHERE size($types) = 0 OR type(r) IN $types
RETURN uid, type(r), count(*)

// name: degrees_in
UNWIND $uids AS uid
MATCH (own:Symbol {uid: uid})<-[r]-(:Symbol)
USING INDEX SEEK own:Symbol(uid)
WHERE size($types) = 0 OR type(r) IN $types
RETURN uid, type(r), count(*)

// name: current_model
MATCH (m:AtlasModel)
WHERE m.current
RETURN m.key, m.provider, m.model, m.dimension, m.fingerprint

// name: models
MATCH (m:AtlasModel)
RETURN m.key

// name: vectors_of_model
MATCH (e:AtlasEntry {vector_model: $key})
USING INDEX SEEK e:AtlasEntry(vector_model)
RETURN e.uid
LIMIT 1

// name: place_of
MATCH (e:AtlasEntry {uid: $uid})
USING INDEX SEEK e:AtlasEntry(uid)
RETURN e.unit, e.uid

// The order of units is that of paths in a project. An OR of ranges would end the index's order: all units to come would
// be read for each page.
// name: stale
MATCH (e:AtlasEntry)
USING INDEX SEEK e:AtlasEntry(unit)
WHERE e.unit >= $unit AND e.unit < $end AND NOT (e.unit = $unit AND e.uid <= $uid)
  AND e.chunk_digest <> '' AND (coalesce(e.vector_model, '') <> $model OR e.vector_digest <> e.chunk_digest)
WITH e
ORDER BY e.unit, e.uid
LIMIT $limit
RETURN collect([e.uid, e.chunk_digest, e.chunk_name, e.unit, e.start_byte, e.end_byte, e.label])

// name: stale_among
UNWIND $uids AS wanted
MATCH (e:AtlasEntry {uid: wanted})
USING INDEX SEEK e:AtlasEntry(uid)
WHERE e.unit >= $unit AND e.unit < $end AND NOT (e.unit = $unit AND e.uid <= $uid)
  AND e.chunk_digest <> '' AND (coalesce(e.vector_model, '') <> $model OR e.vector_digest <> e.chunk_digest)
WITH e
ORDER BY e.unit, e.uid
LIMIT $limit
RETURN collect([e.uid, e.chunk_digest, e.chunk_name, e.unit, e.start_byte, e.end_byte, e.label])
