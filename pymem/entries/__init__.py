"""Entries, free-form memories, as two systems speak of them, and as Markdown files."""
