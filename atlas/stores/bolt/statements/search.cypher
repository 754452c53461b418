// Searching. One row each: a row costs the driver more than what is in it, and what does not pass need not come at all.

// The best of an index's hits that pass the filter; how many hits there were, and the score of the last.
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
