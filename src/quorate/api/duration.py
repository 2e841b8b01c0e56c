"""Durations as Go and Kubernetes write them (`60s`, `1h30m`, `-1s`), read as seconds."""

import re

_UNIT_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_UNIT = "|".join(_UNIT_SECONDS)
_PART = re.compile(rf"(\d+\.?\d*|\.\d+)({_UNIT})")
_FORM = re.compile(rf"([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:{_UNIT}))+|0)")


class DurationError(ValueError):
    """A text is no duration."""

    def __init__(self, text: str) -> None:
        super().__init__(f'"{text}" is not a duration: write numbers with units, as in "90s" or "1h30m"')
        self.text = text


def seconds(text: str) -> float:
    form = _FORM.fullmatch(text)
    if form is None:
        raise DurationError(text)
    total = sum(float(number) * _UNIT_SECONDS[unit] for number, unit in _PART.findall(form[2]))
    return -total if form[1] == "-" else total
