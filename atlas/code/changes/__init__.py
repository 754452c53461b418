"""What changed between revisions, and what that affects."""
