"""The status of daemon, workers and projects for the status tool."""
