"""Log lines as JSON objects (or plain text for a terminal); set up once by the program that runs."""

import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

import msgspec

LEVELS = ("debug", "info", "warning", "error")


class JsonFormatter(logging.Formatter):
    """One object a line: time, level, logger, message, and `context` where a call gave it as `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        fields |= getattr(record, "context", {})
        if record.exc_info:
            fields["error"] = self.formatException(record.exc_info)
        return msgspec.json.encode(fields, enc_hook=str).decode()


def set_up(level: str, *, as_json: bool = True, stream: TextIO | None = None) -> None:
    """Everything of this process logs to `stream` (standard error), at `level` of `LEVELS`."""
    if level not in LEVELS:
        raise ValueError(f"log level {level!r} is not one of {', '.join(LEVELS)}")
    out = logging.StreamHandler(stream or sys.stderr)
    text = logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s", "%H:%M:%S")
    out.setFormatter(JsonFormatter() if as_json else text)
    root = logging.getLogger()
    root.handlers[:] = [out]
    root.setLevel(level.upper())
    # one line a request is for the server's own debugging
    logging.getLogger("aiohttp.access").setLevel(logging.WARNING)
