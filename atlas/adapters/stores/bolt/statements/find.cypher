// Find by name. Each statement returns one row, the list of candidates [uid, is_test, name, qualified_name, span]:
// the driver spends more time per row than on the values in it.

// name: by_uid
MATCH (e:AtlasEntry {uid: $text})
USING INDEX SEEK e:AtlasEntry(uid)
WHERE true %where%
RETURN collect([%candidate%])

// name: by_qualified_name
MATCH (e:AtlasEntry {qualified_name: $text})
USING INDEX SEEK e:AtlasEntry(qualified_name)
WHERE true %where%
RETURN collect([%candidate%])

// The qualified name contains all parts of a dotted name, which excludes most homonyms.
// name: by_name
UNWIND $names AS wanted
MATCH (e:AtlasEntry {folded: wanted.folded})
USING INDEX SEEK e:AtlasEntry(folded)
WHERE coalesce(e.name, e.folded) = wanted.name AND (wanted.name = $text OR all(part IN $parts WHERE e.qualified_name CONTAINS part)) %where%
WITH e
ORDER BY e.is_test, size(e.qualified_name), e.qualified_name, e.uid
LIMIT $limit
RETURN collect([%candidate%])

// name: by_folded
UNWIND $names AS wanted
MATCH (e:AtlasEntry {folded: wanted})
USING INDEX SEEK e:AtlasEntry(folded)
WHERE (wanted = $text OR all(part IN $parts WHERE toLower(e.qualified_name) CONTAINS part)) %where%
WITH e
ORDER BY e.is_test, size(e.qualified_name), e.qualified_name, e.uid
LIMIT $limit
RETURN collect([%candidate%])

// name: by_prefix
MATCH (e:AtlasEntry)
USING INDEX SEEK e:AtlasEntry(folded)
WHERE e.folded STARTS WITH $text %where%
WITH e
ORDER BY e.is_test, size(e.qualified_name), e.qualified_name, e.uid
LIMIT $limit
RETURN collect([%candidate%])

// name: by_path
UNWIND $units AS unit
MATCH (e:AtlasEntry {unit: unit})
USING INDEX SEEK e:AtlasEntry(unit)
WHERE true %where%
RETURN collect([%candidate%])

// name: names_from
UNWIND $starts AS start
MATCH (e:AtlasEntry)
USING INDEX SEEK e:AtlasEntry(folded)
WHERE e.folded STARTS WITH start
  AND size(replace(e.folded, '_', '')) >= $shortest AND size(replace(e.folded, '_', '')) <= $longest
RETURN collect(DISTINCT e.folded)
