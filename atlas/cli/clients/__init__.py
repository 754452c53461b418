"""Clients of the MCP server: their configuration formats and files, and changes to them that can be taken back."""
