"""The store on a Bolt server: Memgraph or Neo4j."""
