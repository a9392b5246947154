"""Entries as Markdown files."""
