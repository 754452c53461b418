"""Reading notes: similarity, contradictions, lineage, recall. Pure functions and reads of the store; nothing is written."""
