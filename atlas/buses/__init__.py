"""Adapters of the Bus contract: `memory` for one process, `valkey` for many."""
