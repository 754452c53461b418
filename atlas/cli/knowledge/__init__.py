"""Commands about notes and memory."""
