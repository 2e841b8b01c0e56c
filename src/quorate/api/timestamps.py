"""Points in time as Kubernetes writes them, against seconds since 1970."""

from datetime import UTC, datetime


class TimestampError(ValueError):
    """A text is no point in time."""

    def __init__(self, text: str) -> None:
        super().__init__(f'"{text}" is not a timestamp: write it as "2026-11-19T02:00:00Z"')
        self.text = text


def text(epoch_seconds: float) -> str:
    """Whole seconds, as in object metadata."""
    return datetime.fromtimestamp(epoch_seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def epoch(stamp: str) -> float:
    try:
        return datetime.fromisoformat(stamp).timestamp()
    except ValueError as error:
        raise TimestampError(stamp) from error
