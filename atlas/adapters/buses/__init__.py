"""Adapters of the contracts Streams and Coordinator: `memory` for one process, `valkey` for many."""
