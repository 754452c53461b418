"""Commands about the daemon, workers, queues and status."""
