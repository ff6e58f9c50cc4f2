"""What the engines report, as they declare it: the records of `run.json`.

`declared` reads the declarations, `check` refuses what does not follow them, and `rows` has a
`TypedDict` for each record.
"""
