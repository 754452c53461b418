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
MATCH (e:AtlasEntry {vector_model: $model})
USING INDEX SEEK e:AtlasEntry(vector_model)
WHERE true%where%
WITH e.uid AS uid, %cosine% AS score
WHERE score IS NOT NULL
WITH uid, score
ORDER BY score DESC, uid
LIMIT $limit
RETURN collect([uid, score])
