"""Status of the daemon, workers and projects, for the status tool."""
