"""The bus on Valkey: streams, leases, heartbeats, the daemon's own server and its supervisor (ADR 0009)."""
