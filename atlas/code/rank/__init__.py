"""Order: features and scores of candidates, relevance of the answer, grouping by file, likelihood of each hit."""
