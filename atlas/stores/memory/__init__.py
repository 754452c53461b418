"""The store in memory: the model that the other stores are compared with."""
