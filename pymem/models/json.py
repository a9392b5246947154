"""Results as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict
from datetime import date
from typing import Any
from uuid import UUID


def to_json(value: Any) -> Any:
    """Return a result as JSON values: ids as text, times in ISO 8601, bytes in hexadecimal.

    Non-finite numbers, which JSON lacks, become null.
    """
    # pydantic_core.to_jsonable_python does the same but ends times in UTC with Z, not +00:00.
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, date):  # datetimes included
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        return to_json(asdict(value))
    return value
