"""Instants as the API writes them: RFC 3339 text on objects, epoch seconds in arithmetic."""

from datetime import UTC, datetime


def rfc3339(seconds: float) -> str:
    """Whole seconds in UTC, as metav1.Time prints them."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def rfc3339_micro(seconds: float) -> str:
    """Microseconds in UTC, as metav1.MicroTime prints them."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def epoch(text: str | None) -> float:
    """Epoch seconds of an RFC 3339 text; an absent instant is 0."""
    return datetime.fromisoformat(text).timestamp() if text else 0.0
