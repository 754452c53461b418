"""Several worker processes on shared servers: leader election, ownership of a project, its own streams."""
