// Reads by key. The columns of a node are those of atlas.core.model.NodeRow, in order, after its project.

// name: projects
MATCH (p:AtlasProject)
RETURN p.name, p.root, p.generation, p.indexed_at, p.ordinal, coalesce(p.host, ''),
  coalesce(p.skipped CONTAINS '"too-many-', false)
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

// name: paths
MATCH (u:AtlasUnit {project: $project}) WHERE u.path <> ''
RETURN u.path
ORDER BY u.path

// name: skipped
MATCH (p:AtlasProject {name: $project})
RETURN p.skipped

// name: content
UNWIND $keys AS key
MATCH (u:AtlasUnit {key: key})
WHERE u.content IS NOT NULL
RETURN u.path, u.content, u.key

// name: sections
UNWIND $keys AS key
MATCH (e:AtlasEntry {unit: key})
USING INDEX SEEK e:AtlasEntry(unit)
WHERE e.label = 'DocSection' AND e.span IS NOT NULL
RETURN key, collect(e.span)

// name: symbol_digests
UNWIND $keys AS key
MATCH (u:AtlasUnit {key: key})
OPTIONAL MATCH (e:AtlasEntry {unit: u.key})
USING INDEX SEEK e:AtlasEntry(unit)
RETURN u.path, e.uid, coalesce(e.digests, ''), e.chunk_digest

// name: decisions
UNWIND $uids AS uid
MATCH (e:AtlasEntry {uid: uid})
USING INDEX SEEK e:AtlasEntry(uid)
WHERE e.decision IS NOT NULL
RETURN e.uid, e.decision

// One row, the list of nodes: the driver spends more time per row than on the values in it.
// name: nodes
UNWIND $uids AS uid
MATCH (e:AtlasEntry {uid: uid})
USING INDEX SEEK e:AtlasEntry(uid)
MATCH (s:Symbol {uid: uid})
USING INDEX SEEK s:Symbol(uid)
RETURN collect([e.uid, e.label, s.kind, s.name, s.qualified_name, s.path, e.language, s.line, s.start_line, s.end_line,
  coalesce(e.span, 0), s.signature, s.docstring, s.is_test, s.is_generated, s.exported, s.modifiers,
  coalesce(e.digests, ''), e.chunk_digest, e.chunk_name, e.properties])

// The best edges of one node and one type: the server keeps the best so far instead of sorting all.
// Edges end at Symbol nodes only; testing the label would read every far node.
// name: best_out
MATCH (own:Symbol {uid: $uid})-[r:%type%]->(far)
USING INDEX SEEK own:Symbol(uid)
WITH r, far
ORDER BY r.confidence DESC, coalesce(far.path, ''), coalesce(r.line, 0), far.uid
LIMIT $limit
RETURN collect([$uid, far.uid, type(r), coalesce(r.line, 0), r.strategy, r.confidence, r.lines,
  CASE WHEN r.strategy IN ['stated', 'anchor'] OR type(r) = 'DEPENDS_ON' OR r.depth IS NOT NULL THEN properties(r) END])

// name: best_in
MATCH (own:Symbol {uid: $uid})<-[r:%type%]-(far)
USING INDEX SEEK own:Symbol(uid)
WITH r, far
ORDER BY r.confidence DESC, coalesce(far.path, ''), coalesce(r.line, 0), far.uid
LIMIT $limit
RETURN collect([far.uid, $uid, type(r), coalesce(r.line, 0), r.strategy, r.confidence, r.lines,
  CASE WHEN r.strategy IN ['stated', 'anchor'] OR type(r) = 'DEPENDS_ON' OR r.depth IS NOT NULL THEN properties(r) END])

// name: edges_out
UNWIND range(0, size($uids) - 1) AS place
MATCH (own:Symbol {uid: $uids[place]})-[r%types%]->(far)
USING INDEX SEEK own:Symbol(uid)
WITH place, type(r) AS type, r, far
ORDER BY place, type, r.confidence DESC, coalesce(far.path, ''), coalesce(r.line, 0), far.uid
WITH place, type, collect({edge: r, far: far})[..$each] AS best
ORDER BY place, type
UNWIND best AS one
WITH place, type, one.edge AS r, one.far AS far
LIMIT $limit
RETURN collect([$uids[place], far.uid, type, coalesce(r.line, 0), r.strategy, r.confidence, r.lines,
  CASE WHEN r.strategy IN ['stated', 'anchor'] OR type(r) = 'DEPENDS_ON' OR r.depth IS NOT NULL THEN properties(r) END])

// name: edges_in
UNWIND range(0, size($uids) - 1) AS place
MATCH (own:Symbol {uid: $uids[place]})<-[r%types%]-(far)
USING INDEX SEEK own:Symbol(uid)
WITH place, type(r) AS type, r, far
ORDER BY place, type, r.confidence DESC, coalesce(far.path, ''), coalesce(r.line, 0), far.uid
WITH place, type, collect({edge: r, far: far})[..$each] AS best
ORDER BY place, type
UNWIND best AS one
WITH place, type, one.edge AS r, one.far AS far
LIMIT $limit
RETURN collect([far.uid, $uids[place], type, coalesce(r.line, 0), r.strategy, r.confidence, r.lines,
  CASE WHEN r.strategy IN ['stated', 'anchor'] OR type(r) = 'DEPENDS_ON' OR r.depth IS NOT NULL THEN properties(r) END])

// name: degrees_out
UNWIND $uids AS uid
MATCH (own:Symbol {uid: uid})-[r%types%]->()
USING INDEX SEEK own:Symbol(uid)
WITH uid, type(r) AS type, count(*) AS count
RETURN collect([uid, type, count])

// name: degrees_in
UNWIND $uids AS uid
MATCH (own:Symbol {uid: uid})<-[r%types%]-()
USING INDEX SEEK own:Symbol(uid)
WITH uid, type(r) AS type, count(*) AS count
RETURN collect([uid, type, count])

// name: current_models
MATCH (m:AtlasModel)
WHERE m.current
RETURN m.key, m.provider, m.model, m.dimension, m.fingerprint, coalesce(m.space, 'code')

// name: models
MATCH (m:AtlasModel)
RETURN m.key, coalesce(m.space, 'code')

// name: vectors_of_model
MATCH (e:AtlasEntry {%model%: $key})
USING INDEX SEEK e:AtlasEntry(%model%)
RETURN e.uid
LIMIT 1

// name: place_of
MATCH (e:AtlasEntry {uid: $uid})
USING INDEX SEEK e:AtlasEntry(uid)
RETURN e.unit, e.uid

// Skips a node whose commit is in progress (no span yet): it would be embedded with the text of another span.
// Units are in path order within a project. An OR of ranges would lose the order of the index, and each page would read
// all remaining units.
// name: stale
MATCH (e:AtlasEntry)
USING INDEX SEEK e:AtlasEntry(unit)
WHERE e.unit >= $unit AND e.unit < $end AND NOT (e.unit = $unit AND e.uid <= $uid)
  AND e.chunk_digest <> '' AND e.span IS NOT NULL AND CASE
    WHEN e.label IN $documents OR coalesce(e.is_text, false) THEN 'documents'
    WHEN e.label IN $prose OR coalesce(e.is_passage, false) THEN 'prose' ELSE 'code' END IN $spaces
  AND (coalesce(e.%model%, '') <> $model OR e.%digest% <> e.chunk_digest)
WITH e
ORDER BY e.unit, e.uid
LIMIT $limit
RETURN collect([e.uid, e.chunk_digest, e.chunk_name, e.unit, e.span, e.label])

// name: stale_among
UNWIND $uids AS wanted
MATCH (e:AtlasEntry {uid: wanted})
USING INDEX SEEK e:AtlasEntry(uid)
WHERE e.unit >= $unit AND e.unit < $end AND NOT (e.unit = $unit AND e.uid <= $uid)
  AND e.chunk_digest <> '' AND e.span IS NOT NULL AND CASE
    WHEN e.label IN $documents OR coalesce(e.is_text, false) THEN 'documents'
    WHEN e.label IN $prose OR coalesce(e.is_passage, false) THEN 'prose' ELSE 'code' END IN $spaces
  AND (coalesce(e.%model%, '') <> $model OR e.%digest% <> e.chunk_digest)
WITH e
ORDER BY e.unit, e.uid
LIMIT $limit
RETURN collect([e.uid, e.chunk_digest, e.chunk_name, e.unit, e.span, e.label])
