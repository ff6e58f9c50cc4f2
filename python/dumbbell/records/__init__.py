"""What the engines report: the records of `run.json` and the columns of tables, as they declare them.

`declared` reads the declarations, `check` refuses what does not follow them, and `rows` has a
`TypedDict` for each record.
"""
