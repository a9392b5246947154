"""A memory into files and out of them: exports, restores, imports of other systems."""
