"""The graph in an editor: a read-only server of the Language Server Protocol over the same index (ADR 0078).

`protocol` speaks to the editor (pygls) and knows its messages, `places` turns lines of the index into the editor's
positions and back, and `graph_places` asks the graph what stands at a position and what refers to it.
"""
