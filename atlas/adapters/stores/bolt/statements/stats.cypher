// Counts of one project.

// name: project
MATCH (p:AtlasProject {name: $project})
RETURN p.root, p.generation, p.indexed_at, p.decisions, p.skipped

// name: files
MATCH (u:AtlasUnit {project: $project})
RETURN u.path = '', u.language, count(*), sum(u.resolved), sum(u.unresolved),
  sum(CASE WHEN u.problems = '' THEN 0 ELSE 1 END), sum(CASE WHEN u.stale THEN 1 ELSE 0 END)

// name: nodes
MATCH (e:AtlasEntry)
USING INDEX SEEK e:AtlasEntry(unit)
WHERE e.unit >= $unit AND e.unit < $end
RETURN e.label, count(*), sum(CASE WHEN e.chunk_digest = '' THEN 0 ELSE 1 END),
  sum(CASE WHEN e.chunk_digest <> '' AND e.vector_model = CASE
    WHEN e.label IN $documents OR coalesce(e.is_text, false) THEN $model_of_documents
    WHEN e.label IN $prose OR coalesce(e.is_passage, false) THEN $model_of_prose ELSE $model_of_code END
    AND e.vector_digest = e.chunk_digest THEN 1 ELSE 0 END),
  sum(CASE WHEN e.chunk_digest = '' OR e.label IN $prose OR coalesce(e.is_passage, false) THEN 0 ELSE 1 END),
  sum(CASE WHEN e.chunk_digest <> '' AND e.quality_model = $model_of_quality AND e.quality_digest = e.chunk_digest
    THEN 1 ELSE 0 END)

// name: edges
MATCH (s:Symbol {project: $project})-[r]->(:Symbol)
USING INDEX SEEK s:Symbol(project)
RETURN type(r), r.strategy, count(*)
