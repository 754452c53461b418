"""English as search needs it: stems and other forms of words, sentences, stop words. Pure; every feature uses this kit.

Where two uses need different rules, both stand here under their own names with the reason, so that the next use picks
one. Which stem:

* `atlas.parsing.stem_words`, the Snowball stemmer in Rust, is that of every index of prose (notes, packs, papers).
* `stems.base_forms` and `stems.other_spellings` are for the index of code, which keeps words as they are written.
* `stems.root_of` compares the words of a question with parts of names and paths; `stems.stem` words of statements.

Which sentences: `sentences.sentence_spans`, unless the text is no running prose. Which stop words: `stop_words` has one
list that all share and what each use adds. Words that a grammar of questions reads stand with that grammar.
"""
