"""The CEL functions of Kubernetes that the CEL package lacks, as plain functions on plain values.

A quantity, URL, IP address, CIDR or named format is a map with one marked key here, because only JSON values
pass through the CEL engine. Not offered: semver, sets on such values, cel.bind, and
comprehensions with two variables; an expression that uses them is refused when it is compiled.
"""

import ipaddress
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cel import OptionalValue
from cel.stdlib import index_of, last_index_of

from quorate.embedded import formats
from quorate.embedded.quantities import NANO, nanos

_QUANTITY, _URL, _IP, _CIDR, _FORMAT = "quantity()", "url()", "ip()", "cidr()", "format()"


def _is(parse: Callable[[str], object]) -> Callable[[Any], bool]:
    def accepts(text: Any) -> bool:
        try:
            parse(text)
        except (ValueError, TypeError):
            return False
        return True

    return accepts


def _is_sorted(items: list[Any]) -> bool:
    return all(a <= b for a, b in pairwise(items))


def _index_of(where: Any, what: Any, *rest: int) -> int:
    if isinstance(where, str):
        return int(index_of(where, what, *rest))
    return where.index(what) if what in where else -1


def _last_index_of(where: Any, what: Any, *rest: int) -> int:
    if isinstance(where, str):
        return int(last_index_of(where, what, *rest))
    return len(where) - 1 - where[::-1].index(what) if what in where else -1


def _find(text: str, pattern: str) -> str:
    match = re.search(pattern, text, re.ASCII)
    return match.group() if match else ""


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    found = [match.group() for match in re.finditer(pattern, text, re.ASCII)]
    return found if limit < 0 else found[:limit]


def _quantity(text: str) -> dict[str, Any]:
    return {_QUANTITY: str(nanos(text))}


def _of(quantity: Any) -> int:
    """The billionths of a quantity; a plain integer counts as whole units."""
    return int(quantity[_QUANTITY]) if isinstance(quantity, dict) else quantity * NANO


def _sign(quantity: Any) -> int:
    value = _of(quantity)
    return (value > 0) - (value < 0)


def _compare(left: Any, right: Any) -> int:
    return (_of(left) > _of(right)) - (_of(left) < _of(right))


def _as_integer(quantity: Any) -> int:
    return _of(quantity) // NANO


def _url(text: str) -> dict[str, str]:
    parts = urlsplit(text)
    if not (parts.scheme or text.startswith("/")):
        raise ValueError(f"URL parse error during conversion from string: {text!r} is no absolute URI")
    return {_URL: text}


def _split(url: dict[str, str]) -> Any:
    return urlsplit(url[_URL])


def _host(url: dict[str, str]) -> str:
    return str(_split(url).netloc.rpartition("@")[2])


def _port(url: dict[str, str]) -> str:
    port = _split(url).port
    return "" if port is None else str(port)


def _ip(text: str) -> dict[str, str]:
    return {_IP: str(ipaddress.ip_address(text))}


def _address(value: Any) -> Any:
    return ipaddress.ip_address(value[_IP] if isinstance(value, dict) else value)


def _cidr(text: str) -> dict[str, str]:
    if "/" not in text:
        raise ValueError(f"network address parse error: {text!r}")
    return {_CIDR: str(ipaddress.ip_interface(text))}


def _network(value: Any) -> Any:
    return ipaddress.ip_interface(value[_CIDR] if isinstance(value, dict) else value).network


def _contains_cidr(outer: Any, inner: Any) -> bool:
    one, other = _network(outer), _network(inner)
    return one.version == other.version and bool(other.subnet_of(one))


def _family(value: Any) -> int:
    return int(_network(value).version if _CIDR in value else _address(value).version)


_NAMED_FORMATS = {
    "dns1123Label": "k8s-short-name",
    "dns1123Subdomain": "k8s-long-name",
    "uri": "uri",
    "uuid": "uuid",
    "byte": "byte",
    "date": "date",
    "datetime": "date-time",
}


def _validate(named: dict[str, str], text: str) -> Any:
    name = named[_FORMAT]
    if formats.fits(_NAMED_FORMATS[name], text):
        return OptionalValue.none()
    return OptionalValue.of([f"must be a valid {name}"])


def _verb(kind: str, argument: Any) -> str:
    """One argument of string.format, printed as its verb says."""
    if kind == "s":
        return str(argument).lower() if isinstance(argument, bool) else str(argument)
    if kind[-1] in "fe":
        places = int(kind[1:-1]) if len(kind) > 1 else 6
        return f"{argument:.{places}{kind[-1]}}"
    return {"d": "{:d}", "x": "{:x}", "X": "{:X}", "o": "{:o}", "b": "{:b}"}[kind].format(argument)


def _format(template: str, arguments: list[Any]) -> str:
    rest = iter(arguments)
    return re.sub(
        r"%(%|[sdxXobfe]|\.\d+[fe])",
        lambda match: "%" if match[1] == "%" else _verb(match[1], next(rest)),
        template,
    )


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "isSorted": _is_sorted,
    "indexOf": _index_of,
    "lastIndexOf": _last_index_of,
    "find": _find,
    "findAll": _find_all,
    "format": _format,
    "validate": _validate,
    **{f"format.{name}": (lambda name=name: {_FORMAT: name}) for name in _NAMED_FORMATS},
    "isQuantity": _is(nanos),
    "quantity": _quantity,
    "sign": _sign,
    "isInteger": lambda quantity: _of(quantity) % NANO == 0,
    "asInteger": _as_integer,
    "asApproximateFloat": lambda quantity: _of(quantity) / NANO,
    "add": lambda left, right: {_QUANTITY: str(_of(left) + _of(right))},
    "sub": lambda left, right: {_QUANTITY: str(_of(left) - _of(right))},
    "isLessThan": lambda left, right: _compare(left, right) < 0,
    "isGreaterThan": lambda left, right: _compare(left, right) > 0,
    "compareTo": _compare,
    "isURL": _is(_url),
    "url": _url,
    "getScheme": lambda url: _split(url).scheme,
    "getHost": _host,
    "getHostname": lambda url: _split(url).hostname or "",
    "getPort": _port,
    "getEscapedPath": lambda url: _split(url).path,
    "getQuery": lambda url: parse_qs(_split(url).query, keep_blank_values=True),
    "isIP": _is(ipaddress.ip_address),
    "ip": _ip,
    "ip.isCanonical": lambda text: str(ipaddress.ip_address(text)) == text,
    "family": _family,
    "isUnspecified": lambda ip: _address(ip).is_unspecified,
    "isLoopback": lambda ip: _address(ip).is_loopback,
    "isLinkLocalUnicast": lambda ip: _address(ip).is_link_local,
    "isLinkLocalMulticast": lambda ip: _address(ip).is_multicast and _address(ip).is_link_local,
    "isGlobalUnicast": lambda ip: not (_address(ip).is_multicast or _address(ip).is_loopback),
    "isCIDR": _is(_cidr),
    "cidr": _cidr,
    "containsIP": lambda cidr, ip: _address(ip) in _network(cidr),
    "containsCIDR": _contains_cidr,
    "prefixLength": lambda cidr: _network(cidr).prefixlen,
    "masked": lambda cidr: {_CIDR: str(_network(cidr))},
}
