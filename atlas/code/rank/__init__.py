"""Order: features and scores of candidates, relevance of the answer, grouping by file, likelihood of each hit.

Candidates come in, the same in another order go out. `features` says what is known of each, `rank` and `ranking` score
them (both in Rust), `descriptions`, `titles` and `symbol_order` correct what words alone get wrong, `bodies` looks into
functions for what a question for behaviour asks, and `told_functions` into commits for functions that they tell of.
`relevance` and `judgement` say whether the index has an answer at all, `likelihood` how far down an answer should go,
`grouping` joins hits of one file.
"""
