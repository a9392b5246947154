"""Writes the files that follow from others: the plan, the catalogue of the schema, the tools."""
