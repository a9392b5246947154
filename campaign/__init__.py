"""Storms, kills, faults, fuzz and mutations: whether the memory holds (docs/reliability.md).

``python -m campaign --help`` tells how to run it; ``make campaign`` runs all of it for a while.
Nothing here is a test of one behavior: those are in pgtap/ and tests/. This throws everything at
the schema at once and then compares what is left with what was answered.
"""
