"""What a process needs from its user's machine before it does any work: safe files, the data folder, the cache."""
