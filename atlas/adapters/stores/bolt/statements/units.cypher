// The data of an index copy, unit by unit. Nodes have the columns of read.cypher, preceded by the key of the unit.

// name: records
UNWIND $keys AS key
MATCH (u:AtlasUnit {key: key})
RETURN u.content, %record%

// name: nodes
UNWIND $keys AS key
MATCH (e:AtlasEntry {unit: key})
USING INDEX SEEK e:AtlasEntry(unit)
MATCH (s:Symbol {uid: e.uid})
USING INDEX SEEK s:Symbol(uid)
RETURN key, e.decision, e.uid, e.label, s.kind, s.name, s.qualified_name, s.path, e.language, s.line, s.start_line,
  s.end_line, coalesce(e.span, 0), s.signature, s.docstring, s.is_test, s.is_generated, s.exported, s.modifiers,
  coalesce(e.digests, ''), e.chunk_digest, e.chunk_name, e.properties

// name: edges
UNWIND $keys AS key
MATCH (e:AtlasEntry {unit: key})
USING INDEX SEEK e:AtlasEntry(unit)
MATCH (s:Symbol {uid: e.uid})-[r]->(t:Symbol)
USING INDEX SEEK s:Symbol(uid)
RETURN key, s.uid, t.uid, type(r), coalesce(r.line, 0), r.strategy, r.confidence, r.lines,
  CASE WHEN r.strategy IN ['stated', 'anchor'] OR type(r) = 'DEPENDS_ON' OR r.depth IS NOT NULL THEN properties(r) END

// name: pending
UNWIND $keys AS key
MATCH (e:AtlasEntry {unit: key})
USING INDEX SEEK e:AtlasEntry(unit)
MATCH (w:AtlasPending {source: e.uid})
USING INDEX SEEK w:AtlasPending(source)
RETURN key, w.source, w.target, w.type, w.line, w.strategy, w.confidence, w.lines, w.properties

// name: vectors
MATCH (e:AtlasEntry)
USING INDEX SEEK e:AtlasEntry(uid)
WHERE e.uid > $after AND e.unit STARTS WITH $project AND e.%model% = $model AND e.%digest% = e.chunk_digest
RETURN e.uid, e.%digest%, e.%property%
ORDER BY e.uid
LIMIT $limit
