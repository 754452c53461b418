"""Adapters of the Bus contract: `memory` carries the streams of one process."""
