"""Writes the files that follow from others: the plan, the catalog of the schema, the tools."""
