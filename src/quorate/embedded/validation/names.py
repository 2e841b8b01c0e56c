"""Which texts are names, labels and keys: each check answers with the API server's words, or with nothing.

Answers are cached: the same names, keys and values come again and again.
"""

import re
from functools import lru_cache

_DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_SUBDOMAIN = _DNS_LABEL + r"(\." + _DNS_LABEL + ")*"
_DNS_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_LABEL_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = "(" + _LABEL_KEY + ")?"
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_ALPHANUMERIC = (
    "must consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)

Messages = tuple[str, ...]


def _pattern(message: str, regex: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{message} ({f'e.g. {shown}' if examples else ''}regex used for validation is '{regex}')"


def _longest(length: int, unit: str = "characters") -> str:
    return f"must be no more than {length} {unit}"


_KEY_PATTERN = _pattern(_ALPHANUMERIC, _LABEL_KEY, "MyName", "my.name", "123-abc")


@lru_cache(maxsize=8192)
def dns_label(text: str) -> Messages:
    found = (_longest(63),) if len(text) > 63 else ()
    if re.fullmatch(_DNS_LABEL, text):
        return found
    if re.fullmatch(_DNS_SUBDOMAIN, text):
        return (*found, "must not contain dots")
    message = (
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
        "and must start and end with an alphanumeric character"
    )
    return (*found, _pattern(message, _DNS_LABEL, "my-name", "123-abc"))


@lru_cache(maxsize=65536)
def dns_subdomain(text: str) -> Messages:
    found = (_longest(253),) if len(text) > 253 else ()
    if re.fullmatch(_DNS_SUBDOMAIN, text):
        return found
    message = (
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
        "and must start and end with an alphanumeric character"
    )
    return (*found, _pattern(message, _DNS_SUBDOMAIN, "example.com"))


@lru_cache(maxsize=1024)
def dns_1035_label(text: str) -> Messages:
    found = (_longest(63),) if len(text) > 63 else ()
    if re.fullmatch(_DNS_1035, text):
        return found
    message = (
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
        "start with an alphabetic character, and end with an alphanumeric character"
    )
    return (*found, _pattern(message, _DNS_1035, "my-name", "abc-123"))


@lru_cache(maxsize=1024)
def path_segment(text: str) -> Messages:
    """Names of roles and the like: anything that can stand in a URL."""
    if text in {".", ".."}:
        return (f"may not be '{text}'",)
    return tuple(f"may not contain '{part}'" for part in ("/", "%") if part in text)


@lru_cache(maxsize=8192)
def label_key(text: str) -> Messages:
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        message = f"a valid label key {_KEY_PATTERN}"
        return (f"{message} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",)
    found: list[str] = []
    if slash and not prefix:
        found.append("prefix part must be non-empty")
    elif slash:
        found += [f"prefix part {message}" for message in dns_subdomain(prefix)]
    if not name:
        found.append("name part must be non-empty")
    elif len(name) > 63:
        found.append(f"name part {_longest(63, 'bytes')}")
    if not re.fullmatch(_LABEL_KEY, name):
        found.append(f"name part {_KEY_PATTERN}")
    return tuple(found)


@lru_cache(maxsize=8192)
def label_value(text: str) -> Messages:
    found = (_longest(63, "bytes"),) if len(text) > 63 else ()
    if re.fullmatch(_LABEL_VALUE, text):
        return found
    message = f"a valid label must be an empty string or {_ALPHANUMERIC.removeprefix('must ')}"
    return (*found, _pattern(message, _LABEL_VALUE, "MyValue", "my_value", "12345"))


@lru_cache(maxsize=1024)
def config_key(text: str) -> Messages:
    found = [_longest(253)] if len(text) > 253 else []
    if not re.fullmatch(_CONFIG_KEY, text):
        message = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
        found.append(_pattern(message, _CONFIG_KEY, "key.name", "KEY_NAME", "key-name"))
    if text in {".", ".."}:
        found.append(f"must not be '{text}'")
    elif text.startswith(".."):
        found.append("must not start with '..'")
    return tuple(found)


@lru_cache(maxsize=1024)
def port_name(text: str) -> Messages:
    found = [_longest(15)] if len(text) > 15 else []
    if not re.fullmatch("[-a-z0-9]+", text):
        found.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", text):
        found.append("must contain at least one letter (a-z)")
    if "--" in text:
        found.append("must not contain consecutive hyphens")
    if text.startswith("-") or text.endswith("-"):
        found.append("must not begin or end with a hyphen")
    return tuple(found)
