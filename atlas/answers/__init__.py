"""What all toolsets share: the definition of a tool and its schema, and an answer on its way to a budget.

`tool` and `schema` define and check calls; `assemble`, `packing` and `paging` fit an answer into its token budget;
`items` and `cells` are bodies of answers.
"""
