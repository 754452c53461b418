"""Claims, decisions and memories as files beside the code: written by agents and people, searched, compared.

`notes` are the files and `notes/importing` those of other programs; `retrieval` ranks notes, finds contradictions and
lineage; `tools` are the verbs of the toolsets `claims` and `memory`; `toolset` opens note folders for a session.
"""
