// Writes. Queries see Symbol nodes and the edges between them; everything else is stored in nodes without edges whose
// labels begin with Atlas. UNWIND parameters are lists of maps, lists or strings. Results of up to thousands of rows
// are returned as one row with a list: the driver takes 0.1 ms per row.

// name: open_project
OPTIONAL MATCH (other:AtlasProject)
WITH coalesce(max(other.ordinal), -1) + 1 AS number
MERGE (p:AtlasProject {name: $name})
ON CREATE SET p.ordinal = number, p.generation = 0, p.indexed_at = '', p.decisions = '{}', p.skipped = '[]'
SET p.root = $root, p.host = $host

// name: drop_project
MATCH (p:AtlasProject {name: $name})
OPTIONAL MATCH (c:AtlasCommit {project: $name})
DELETE p, c

// name: open_commits
MERGE (c:AtlasCommit {project: $name})
ON CREATE SET c.begun = 0
SET c.ended = c.begun

// name: begin_commit
MATCH (c:AtlasCommit)
WHERE c.project IN $names
SET c.begun = c.begun + 1

// name: end_commit
MATCH (c:AtlasCommit)
WHERE c.project IN $names
SET c.ended = c.begun

// name: hold_commits
MATCH (c:AtlasCommit)
WHERE size($names) = 0 OR c.project IN $names
SET c.reads = coalesce(c.reads, 0) + 1

// name: next_fence
MATCH (p:AtlasProject {name: $name})
SET p.fence = coalesce(p.fence, 0) + 1
RETURN p.generation, p.fence

// name: lock_projects
UNWIND $names AS name
MATCH (p:AtlasProject {name: name})
SET p.writes = coalesce(p.writes, 0) + 1

// name: fences
UNWIND $names AS name
MATCH (p:AtlasProject {name: name})
RETURN p.name, coalesce(p.fence, 0), p.root

// name: next_generations
UNWIND $rows AS row
MATCH (p:AtlasProject {name: row.name})
SET p.generation = p.generation + 1, p.decisions = row.decisions,
    p.indexed_at = CASE WHEN p.indexed_at = '' THEN '' ELSE row.indexed_at END
RETURN p.name, p.generation

// name: finish
MATCH (p:AtlasProject {name: $name})
SET p.indexed_at = CASE WHEN p.indexed_at = '' THEN $indexed_at ELSE p.indexed_at END

// name: set_skipped
MATCH (p:AtlasProject {name: $name})
SET p.skipped = $skipped

// name: decision_counts
UNWIND $names AS name
MATCH (p:AtlasProject {name: name})
RETURN p.name, p.decisions

// name: put_records
UNWIND $rows AS row
MERGE (u:AtlasUnit {key: row.key})
SET u += row

// name: delete_records
UNWIND $keys AS key
MATCH (u:AtlasUnit {key: key})
DELETE u

// name: owned
UNWIND $units AS unit
MATCH (e:AtlasEntry {unit: unit})
USING INDEX SEEK e:AtlasEntry(unit)
RETURN collect([e.uid, e.unit, e.label, e.digests])

// name: claimed
UNWIND $uids AS uid
MATCH (e:AtlasEntry {uid: uid})
USING INDEX SEEK e:AtlasEntry(uid)
RETURN collect([e.uid, e.unit, e.label, e.digests])

// name: existing
UNWIND $uids AS uid
MATCH (s:Symbol {uid: uid})
USING INDEX SEEK s:Symbol(uid)
RETURN collect([s.uid, id(s)])

// name: outgoing
UNWIND $uids AS uid
MATCH (s:Symbol {uid: uid})-[r]->(t:Symbol)
USING INDEX SEEK s:Symbol(uid)
RETURN collect([uid, t.uid, type(r), coalesce(r.line, 0), r.strategy, r.confidence, r.lines,
  CASE WHEN r.strategy IN ['stated', 'anchor'] OR type(r) = 'DEPENDS_ON' OR r.depth IS NOT NULL THEN properties(r) END])

// name: incoming
UNWIND $uids AS uid
MATCH (t:Symbol {uid: uid})<-[r]-(s:Symbol)
USING INDEX SEEK t:Symbol(uid)
RETURN collect([s.uid, uid, type(r), coalesce(r.line, 0), r.strategy, r.confidence, r.lines,
  CASE WHEN r.strategy IN ['stated', 'anchor'] OR type(r) = 'DEPENDS_ON' OR r.depth IS NOT NULL THEN properties(r) END])

// name: pending_from
UNWIND $uids AS uid
MATCH (w:AtlasPending {source: uid})
USING INDEX SEEK w:AtlasPending(source)
RETURN collect([w.source, w.target, w.type, w.line, w.strategy, w.confidence, w.lines, w.properties])

// name: pending_to
UNWIND $uids AS uid
MATCH (w:AtlasPending {target: uid})
USING INDEX SEEK w:AtlasPending(target)
RETURN collect([w.source, w.target, w.type, w.line, w.strategy, w.confidence, w.lines, w.properties])

// name: pending_targets
MATCH (w:AtlasPending)
USING INDEX SEEK w:AtlasPending(target)
WHERE w.target > ''
WITH w.target AS target
LIMIT $limit
RETURN collect(target)

// name: delete_pending_from
UNWIND $uids AS uid
MATCH (w:AtlasPending {source: uid})
USING INDEX SEEK w:AtlasPending(source)
DELETE w

// name: delete_pending_to
UNWIND $uids AS uid
MATCH (w:AtlasPending {target: uid})
USING INDEX SEEK w:AtlasPending(target)
DELETE w

// name: delete_pending
UNWIND $rows AS row
MATCH (w:AtlasPending {source: row.source, target: row.target})
USING INDEX SEEK w:AtlasPending(source)
WHERE w.type = row.type AND w.line = row.line
DELETE w

// name: add_pending
UNWIND $rows AS row
CREATE (:AtlasPending {source: row[0], target: row[1], type: row[2], line: row[3], strategy: row[4], confidence: row[5], lines: row[6],
  properties: row[7]})

// name: delete_edges
UNWIND $rows AS row
MATCH (s:Symbol {uid: row.source})-[r]->(t:Symbol {uid: row.target})
USING INDEX SEEK s:Symbol(uid)
USING INDEX SEEK t:Symbol(uid)
WHERE type(r) = row.type AND coalesce(r.line, 0) = row.line
DELETE r

// Server ids are valid within one transaction and need no index lookup. CREATE sets the properties: a SET after it
// would buffer all rows and read what was just written.
// name: add_edges
UNWIND $rows AS row
MATCH (s)
WHERE id(s) = row[0]
MATCH (t)
WHERE id(t) = row[1]
CREATE (s)-[:%type% {line: row[2], strategy: row[3], confidence: row[4], lines: row[5]%further%}]->(t)

// name: delete_symbols
UNWIND $uids AS uid
MATCH (s:Symbol {uid: uid})
USING INDEX SEEK s:Symbol(uid)
DETACH DELETE s

// name: delete_entries
UNWIND $uids AS uid
MATCH (e:AtlasEntry {uid: uid})
USING INDEX SEEK e:AtlasEntry(uid)
DELETE e

// name: add_symbols
UNWIND $rows AS row
CREATE (s:%label%:Symbol {%properties%})
RETURN collect([row[0], id(s)])

// name: change_symbols
UNWIND $rows AS row
MATCH (s:Symbol {uid: row.uid})
USING INDEX SEEK s:Symbol(uid)
SET s = row

// name: change_label
UNWIND $uids AS uid
MATCH (s:Symbol {uid: uid})
USING INDEX SEEK s:Symbol(uid)
REMOVE s:%old%
SET s:%new%

// name: add_entries
UNWIND $rows AS row
CREATE (:AtlasEntry {%properties%})

// name: change_entries
UNWIND $rows AS row
MATCH (e:AtlasEntry {uid: row.uid})
USING INDEX SEEK e:AtlasEntry(uid)
SET e += row

// name: set_digests
UNWIND $rows AS row
MATCH (e:AtlasEntry {unit: row.unit})
USING INDEX SEEK e:AtlasEntry(unit)
MATCH (s:Symbol {uid: e.uid})
USING INDEX SEEK s:Symbol(uid)
SET s.digest = row.digest

// name: set_decisions
UNWIND $rows AS row
MATCH (e:AtlasEntry {uid: row.uid})
USING INDEX SEEK e:AtlasEntry(uid)
WHERE e.unit = row.unit
SET e.decision = row.decision

// name: add_model
MERGE (m:AtlasModel {key: $key})
SET m.provider = $provider, m.model = $model, m.dimension = $dimension, m.fingerprint = $fingerprint, m.space = $space
WITH m
OPTIONAL MATCH (other:AtlasModel)
WHERE other.key <> $key AND coalesce(other.space, 'code') = $space
SET other.current = false
WITH DISTINCT m
SET m.current = true

// The digest may have changed while SET waited for the node's lock. With another digest the vector counts as stale; a
// node without a digest must have no vector.
// name: put_vectors
UNWIND $rows AS row
MATCH (e:AtlasEntry {uid: row.uid})
USING INDEX SEEK e:AtlasEntry(uid)
WHERE e.unit STARTS WITH $project AND e.chunk_digest = row.digest
SET e += row.properties
WITH e
WHERE coalesce(e.chunk_digest, '') = ''
SET e += $nothing

// name: forget_model
MATCH (m:AtlasModel {key: $key})
DELETE m
