"""The command ``pymem``: ``memories`` lists the commands that are tools, the others are more."""

# Importing a module adds its commands.
from pymem.cli import (
    consolidating,
    conversations,
    diagnosing,
    editing,
    entries,
    listing,
    maintaining,
    memories,
    serving,
    tokens,
    vectors,
)
from pymem.cli.base import main as main

del (
    consolidating,
    conversations,
    diagnosing,
    editing,
    entries,
    listing,
    maintaining,
    memories,
    serving,
    tokens,
    vectors,
)
