"""``python -m pymem.cli``: the same as the command ``pymem``."""

from pymem.cli.base import main

main(prog_name="pymem")
