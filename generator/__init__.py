"""Writes the files that follow from others: from the plan, and from the catalogue of the schema."""
