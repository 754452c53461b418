"""The three tiers of the write path: graph metadata, AST diff, embeddings, and the gate between them."""
