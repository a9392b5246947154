"""``python -m pymem.cli``: the same as the command ``pymem``."""

from pymem.cli import start

if __name__ == "__main__":
    start()
