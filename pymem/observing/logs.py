"""Log records as lines of JSON, for programs that collect them."""

from __future__ import annotations

import json
import logging
import traceback
from datetime import UTC, datetime
from typing import Any


class JsonFormatter(logging.Formatter):
    """Formats a record as one line of JSON in ASCII: time, level, logger, message.

    Of an exception it names the type and the places in the code, not its text, which may quote what
    was to be stored. Fields of the access log are fields of the line.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Format the record."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        fields = getattr(record, "fields", None)
        if isinstance(fields, dict):
            line |= {name: value for name, value in fields.items() if name not in line}
        if record.exc_info and record.exc_info[0] is not None:
            kind, _, trace = record.exc_info
            line["exception"] = f"{kind.__module__}.{kind.__qualname__}"
            line["frames"] = [
                f"{frame.filename}:{frame.lineno} {frame.name}"
                for frame in traceback.extract_tb(trace)
            ]
        return json.dumps(line)
