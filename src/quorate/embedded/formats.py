"""The string formats that a CustomResourceDefinition may ask for; others are ignored, as on a real server."""

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable
from datetime import date, datetime
from urllib.parse import urlsplit

_UUID = r"[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?%s-?%s-?[0-9a-fA-F]{12}"
_HEX4 = r"[0-9a-fA-F]{4}"
_VARIANT = r"[89abAB][0-9a-fA-F]{3}"
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"


def _matches(pattern: str, longest: int = 0) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.ASCII)
    return lambda text: compiled.fullmatch(text) is not None and (not longest or len(text) <= longest)


def _parses(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def accepts(text: str) -> bool:
        try:
            parse(text)
        except (ValueError, binascii.Error):
            return False
        return True

    return accepts


def _uri(text: str) -> bool:
    parts = urlsplit(text)
    return bool(parts.scheme) or text.startswith("/")


def _date_time(text: str) -> datetime:
    if not re.fullmatch(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", text, re.ASCII):
        raise ValueError(text)
    return datetime.fromisoformat(text)


_GO_DURATION = r"[-+]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))*)"
_SCALA_DURATION = (
    r"\d+ *(ns|us|µs|ms|s|m|h|d|w|nanos?|nanoseconds?|micros?|microseconds?|millis?|milliseconds?"
    r"|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|weeks?)"
)

_FORMATS: dict[str, Callable[[str], bool]] = {
    "byte": _parses(lambda text: base64.b64decode(text, validate=True)),
    "cidr": _parses(lambda text: ipaddress.ip_interface(text) if "/" in text else int("x")),
    "date": _parses(date.fromisoformat),
    "datetime": _parses(_date_time),
    "duration": _matches(f"{_GO_DURATION}|{_SCALA_DURATION}"),
    "email": _matches(r"[^@\s]+@[^@\s]+"),
    "hexcolor": _matches(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "hostname": _matches(
        r"([a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?)(\.[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?)*\.?"
    ),
    "ipv4": _parses(ipaddress.IPv4Address),
    "ipv6": _parses(ipaddress.IPv6Address),
    "k8slongname": _matches(rf"{_LABEL}(\.{_LABEL})*", 253),
    "k8sshortname": _matches(_LABEL, 63),
    "mac": _matches(r"([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}|([0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4}"),
    "uri": _parses(lambda text: _uri(text) or int("x")),
    "uuid": _matches(_UUID % (_HEX4, _HEX4)),
    "uuid3": _matches(_UUID % ("3[0-9a-fA-F]{3}", _HEX4)),
    "uuid4": _matches(_UUID % ("4[0-9a-fA-F]{3}", _VARIANT)),
    "uuid5": _matches(_UUID % ("5[0-9a-fA-F]{3}", _VARIANT)),
}


def fits(format_name: str, text: str) -> bool:
    """Whether the text has the format; text of a format that is not known here always does."""
    accepts = _FORMATS.get(format_name.replace("-", ""))
    return accepts is None or accepts(text)
