"""Reading notes: contradictions, lineage, recall. Pure functions and reads of the store; nothing is written."""
