"""Claims, decisions and memories as files beside the code: written by agents and people, searched, compared.

A call of an agent comes in; a file is written, or notes with their evidence go out. `notes` are the files: checked,
written atomically, read, listed, exported, and imported from other programs (`notes/importing`). The index reads them
as it reads code. `retrieval` ranks notes and finds contradictions, lineage, and what has changed under a note; `tools`
are the verbs of the toolsets `claims` and `memory`; `toolset` opens note folders for a session.
"""
