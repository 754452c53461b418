// Search. Each statement returns one row, because the driver spends more time per row than on the values in it. Hits
// that do not pass the filter are not transferred.

// The best hits of an index that pass the filter, the number of hits examined, and the score of the last of them.
// name: pick
%call%
WITH e.uid AS uid, score, (true%where%) AS passes
ORDER BY score DESC, uid
WITH count(*) AS seen, min(score) AS least, collect(CASE WHEN passes THEN [uid, score] END) AS hits
RETURN seen, least, size(hits), hits[..$limit]

// name: nearest
MATCH (e:AtlasEntry {%model%: $model})
USING INDEX SEEK e:AtlasEntry(%model%)
WHERE true%where%
WITH e.uid AS uid, %cosine% AS score
WHERE score IS NOT NULL
WITH uid, score
ORDER BY score DESC, uid
LIMIT $limit
RETURN collect([uid, score])

// The files of the nodes of one word, and the number of nodes before the filter.
// name: count_in_files
%call%
WITH coalesce(e.path, substring(e.unit, size(split(e.unit, ':')[0]) + 1)) AS path, (true%where%) AS passes
WITH path, sum(CASE WHEN passes THEN 1 ELSE 0 END) AS kept, count(*) AS matched
RETURN coalesce(sum(matched), 0), collect(CASE WHEN kept > 0 THEN [path, kept] END)

// name: nodes_of_files
UNWIND $units AS unit
MATCH (e:AtlasEntry {unit: unit})
USING INDEX SEEK e:AtlasEntry(unit)
WITH e.unit AS unit, count(*) AS nodes
RETURN collect([unit, nodes])
