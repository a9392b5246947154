"""The client for code without an event loop: each method of Memory, called and waited for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from generator.python import HEAD, formatted

# Where the methods of Memory are, base classes first: a later one counts.
MODULES = ("base", "vectors", "functions", "conversations", "client")
TARGET = "pymem/memory/sync.py"
# What Blocking does in its own way.
_OWN = {"connect", "close"}

_CLASS = '''

class SyncMemory(Blocking):
    """A tenant's memory for code without an event loop; else like Memory.

    Its methods are those of Memory and block until they are done, on a thread that they share. Any
    thread may call them, but not one in which an event loop runs.
    """
'''


def write_sync(root: Path, written: Mapping[str, str]) -> dict[str, str]:
    """Return the generated file.

    Args:
        root: The checkout.
        written: Other generated files, which count instead of those in the checkout.
    """
    methods: dict[str, ast.AsyncFunctionDef] = {}
    origins: dict[str, str] = {}
    for module in MODULES:
        path = f"pymem/memory/{module}.py"
        tree = ast.parse(written.get(path) or (root / path).read_text())
        origins |= dict(_imported(tree, f"pymem.memory.{module}"))
        for method in _methods(tree):
            methods[method.name] = method
    for name in _OWN:
        methods.pop(name)
    text = "".join(_method(methods[name]) for name in sorted(methods))
    named = {
        node.id
        for method in methods.values()
        for part in (method.args, method.returns)
        if part is not None
        for node in ast.walk(part)
        if isinstance(node, ast.Name)
    }
    imports = [
        "from __future__ import annotations",
        "from typing import TYPE_CHECKING",
        "from pymem.memory.blocking import Blocking",
        "if TYPE_CHECKING:",
        *sorted({f"    {origins[name]}" for name in named if name in origins}),
    ]
    head = f'{HEAD}\n"""The client for code without an event loop."""\n\n'
    return {TARGET: formatted(TARGET, head + "\n".join(imports) + _CLASS + text)}


def _methods(tree: ast.Module) -> Iterator[ast.AsyncFunctionDef]:
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            for member in statement.body:
                if isinstance(member, ast.AsyncFunctionDef) and not member.name.startswith("_"):
                    yield member


def _imported(tree: ast.Module, module: str) -> Iterator[tuple[str, str]]:
    """Yield the names that a module has, and the imports by which others have them, too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                as_name = f" as {alias.asname}" if alias.asname else ""
                statement = f"from {node.module} import {alias.name}{as_name}"
                yield alias.asname or alias.name, statement
    for defined in tree.body:
        if isinstance(defined, ast.ClassDef):
            yield defined.name, f"from {module} import {defined.name}"
        elif isinstance(defined, ast.Assign) and isinstance(defined.targets[0], ast.Name):
            name = defined.targets[0].id
            yield name, f"from {module} import {name}"


def _method(method: ast.AsyncFunctionDef) -> str:
    arguments = method.args
    given = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)][1:]
    passed = [
        *given,
        *([f"*{arguments.vararg.arg}"] if arguments.vararg else []),
        *(f"{argument.arg}={argument.arg}" for argument in arguments.kwonlyargs),
        *([f"**{arguments.kwarg.arg}"] if arguments.kwarg else []),
    ]
    result = "" if method.returns is None else f" -> {ast.unparse(method.returns)}"
    keyword = "" if ast.unparse(method.returns or ast.Constant(None)) == "None" else "return "
    docstring = ast.get_docstring(method, clean=False) or ""
    raw = "r" if "\\" in docstring else ""
    return (
        f"\n    def {method.name}({ast.unparse(arguments)}){result}:\n"
        f'        {raw}"""{docstring}"""\n'
        f"        {keyword}self._wait(self.memory.{method.name}({', '.join(passed)}))\n"
    )
