"""Process-level services: safe file access, the data folder and its cache, locks, the log, memory, bulkheads."""
