"""The file watcher: turns kernel events into sets of paths that may have changed."""
