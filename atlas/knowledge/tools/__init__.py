"""The tools of knowledge: claims with evidence, and memory. They read the graph and write notes as files."""
