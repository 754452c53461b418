"""The search tools: assembly of hits under the token budget, pages, excerpts, `--explain`."""
