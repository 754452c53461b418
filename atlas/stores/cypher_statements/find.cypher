// Names. Each gives candidates as [uid, project, is_test, name, qualified_name, start_byte, end_byte].

// name: by_uid
MATCH (e:AtlasEntry {uid: $text})
WHERE true %where%
RETURN %candidate%

// name: by_qualified_name
MATCH (e:AtlasEntry {qualified_name: $text})
WHERE true %where%
RETURN %candidate%

// name: by_name
UNWIND $names AS wanted
MATCH (e:AtlasEntry {name: wanted})
WHERE true %where%
RETURN %candidate%

// name: by_folded
UNWIND $names AS wanted
MATCH (e:AtlasEntry {folded: wanted})
WHERE true %where%
RETURN %candidate%

// name: by_prefix
MATCH (e:AtlasEntry)
WHERE e.folded STARTS WITH $text %where%
RETURN %candidate%
ORDER BY e.is_test, size(e.qualified_name), e.qualified_name, e.uid
LIMIT $limit

// name: by_path
MATCH (e:AtlasEntry {path: $text})
WHERE true %where%
RETURN %candidate%

// name: names_from
MATCH (e:AtlasEntry)
WHERE e.folded STARTS WITH $first AND size(e.folded) >= $shortest AND size(e.folded) <= $longest
RETURN DISTINCT e.folded
