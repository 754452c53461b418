"""Definitions that leave their module before the move: (old module, new module in old names, its page, names)."""

SPLITS = [
    ("atlas.tools.catalogue", "atlas.app.toolsets", "The tools that servers offer, by toolset: one entry for each feature.",
     ["INSTRUCTIONS", "TOOLSETS", "ALL_TOOLS", "offered_tools", "BY_NAME"]),
    ("atlas.tools.citations", "atlas.tools.escaping", "Text of notes, files and pages as data: quoted, with invisible characters escaped.",
     ["_INVISIBLE", "quoted", "escaped", "escaped_text", "_escape"]),
    ("atlas.app.store", "atlas.app.data_folder", "The data folder of a project as its settings name it.", ["prepare_data_folder"]),
    ("atlas.app.knowledge", "atlas.app.language_model", "The language model that the settings name.", ["make_language_model"]),
    ("atlas.app.knowledge", "atlas.app.emotion", "The encoder of emotions in short-term memories, loaded once.", ["_encoder", "_emotion"]),
    ("atlas.app.pack_records", "atlas.app.pack_rows", "The tables and rows of a pack's file, checked before it is opened.", ["check_rows"]),
]  # fmt: skip

REDIRECTS = {(old, name): new for old, new, _, names in SPLITS for name in names}
REDIRECTS |= {("atlas.tools.catalogue", name): "atlas.tools.tool" for name in ("Tool", "Schema")}
