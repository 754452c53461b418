"""The file watcher: kernel events become sets of paths that may have changed."""
