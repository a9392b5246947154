"""An ONNX model written node by node.

The file format is one Protocol Buffers message; the numbers are those of the fields in onnx.proto.
The package onnx would write it as well, but takes longer to import than the model to load.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

FLOAT, INT32, INT64 = 1, 6, 7  # TensorProto.DataType

_IR_VERSION = 8
_OPSETS = {"": 20, "com.microsoft": 1}
_EXTERNAL = 1


class Graph:
    """Nodes that compute a result from inputs, constants and weights in a file."""

    def __init__(self) -> None:
        self._inputs: list[bytes] = []
        self._initializers: dict[str, bytes] = {}
        self._nodes: list[bytes] = []

    def input(self, name: str, kind: int, shape: Iterable[int | str]) -> str:
        """Declare an input; a size that varies from run to run is a name."""
        self._inputs.append(_value(name, kind, shape))
        return name

    def weight(self, name: str, shape: Iterable[int], file: str, offset: int, length: int) -> str:
        """Refer to numbers of 32 bits in a file."""
        where = {"location": file, "offset": str(offset), "length": str(length)}
        self._initializers[name] = _message(
            *((1, size) for size in shape),
            (2, FLOAT),
            (8, name),
            *((13, _message((1, key), (2, value))) for key, value in where.items()),
            (14, _EXTERNAL),
        )
        return name

    def constant(self, *values: int) -> str:
        """Return a list of numbers that never change."""
        name = f"constant {values}"
        raw = struct.pack(f"<{len(values)}q", *values)
        self._initializers[name] = _message((1, len(values)), (2, INT64), (8, name), (9, raw))
        return name

    def apply(
        self, operator: str, *inputs: str, domain: str = "", **attributes: int | float
    ) -> str:
        """Add a node and return the name of its result."""
        result = f"{operator} {len(self._nodes)}"
        self._nodes.append(
            _message(
                *((1, name) for name in inputs),
                (2, result),
                (4, operator),
                *((5, _attribute(name, value)) for name, value in attributes.items()),
                (7, domain),
            )
        )
        return result

    def serialize(self, result: str, shape: Iterable[int | str]) -> bytes:
        """Return the model that computes one of the results."""
        graph = _message(
            *((1, node) for node in self._nodes),
            (2, "graph"),
            *((5, initializer) for initializer in self._initializers.values()),
            *((11, value) for value in self._inputs),
            (12, _value(result, FLOAT, shape)),
        )
        opsets = (_message((1, domain), (2, version)) for domain, version in _OPSETS.items())
        return _message((1, _IR_VERSION), (7, graph), *((8, opset) for opset in opsets))


def _value(name: str, kind: int, shape: Iterable[int | str]) -> bytes:
    sizes = (_message((2 if isinstance(size, str) else 1, size)) for size in shape)
    tensor = _message((1, kind), (2, _message(*((1, size) for size in sizes))))
    return _message((1, name), (2, _message((1, tensor))))


def _attribute(name: str, value: int | float) -> bytes:
    if isinstance(value, float):
        return _message((1, name), (2, value), (20, 1))
    return _message((1, name), (3, value), (20, 2))


def _message(*fields: tuple[int, int | float | str | bytes]) -> bytes:
    return b"".join(_field(number, value) for number, value in fields)


def _field(number: int, value: int | float | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    octets = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(octets)) + octets


def _varint(value: int) -> bytes:
    # Seven bits at a time, the lowest first; negative numbers as 64 bits.
    value &= (1 << 64) - 1
    octets = bytearray()
    while value > 0x7F:
        octets.append(value & 0x7F | 0x80)
        value >>= 7
    octets.append(value)
    return bytes(octets)
