import base64

import pytest

from quorate.embedded.errors import ApiError
from quorate.embedded.protobuf import decode


def field(number: int, value: bytes | str | int) -> bytes:
    """One field of a message, for numbers and lengths below 128 and 16384."""
    if isinstance(value, int):
        return bytes([number << 3]) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2]) + varint(len(data)) + data


def varint(value: int) -> bytes:
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def envelope(api_version: str, kind: str, raw: bytes) -> bytes:
    return b"k8s\0" + field(1, field(1, api_version) + field(2, kind)) + field(2, raw)


def metadata(name: str, *more: bytes) -> bytes:
    return field(1, field(1, name) + b"".join(more))


def test_a_secret_has_its_bytes_in_base64() -> None:
    data = field(2, field(1, "key") + field(2, b"\x00\xff"))
    tree = decode(envelope("v1", "Secret", metadata("s") + data + field(3, "Opaque")))
    assert tree == {
        "kind": "Secret",
        "apiVersion": "v1",
        "metadata": {"name": "s"},
        "data": {"key": base64.b64encode(b"\x00\xff").decode()},
        "type": "Opaque",
    }


def test_numbers_zeros_times_and_quantities_read_as_in_json() -> None:
    time = field(8, field(1, 1_800_000_000))
    # replicas is a pointer, so its zero counts; minReadySeconds is none, so its zero is nothing.
    limits = field(1, field(1, "cpu") + field(2, field(1, "2")))
    container = field(1, "c") + field(8, limits)
    template = field(2, field(2, container))
    spec = field(1, 0) + field(3, template) + field(5, 0)
    tree = decode(envelope("apps/v1", "Deployment", metadata("d", time) + field(2, spec)))
    assert tree["metadata"]["creationTimestamp"] == "2027-01-15T08:00:00Z"
    assert tree["spec"]["replicas"] == 0
    assert "minReadySeconds" not in tree["spec"]
    found = tree["spec"]["template"]["spec"]["containers"][0]
    assert found == {"name": "c", "resources": {"limits": {"cpu": "2"}}}


def test_an_inlined_struct_is_part_of_its_parent() -> None:
    # Volume.volumeSource.emptyDir, which JSON writes as volume.emptyDir.
    volume = field(1, "v") + field(2, field(2, b""))
    tree = decode(envelope("v1", "Pod", metadata("p") + field(2, field(1, volume))))
    assert tree["spec"]["volumes"] == [{"name": "v", "emptyDir": {}}]


def test_a_port_may_be_a_number_or_a_name() -> None:
    budget = field(1, field(1, 1) + field(3, "50%"))
    tree = decode(envelope("policy/v1", "PodDisruptionBudget", metadata("b") + field(2, budget)))
    assert tree["spec"] == {"minAvailable": "50%"}


def test_delete_options_come_under_any_group() -> None:
    tree = decode(envelope("apps/v1", "DeleteOptions", field(1, 5) + field(4, "Foreground")))
    assert tree["gracePeriodSeconds"] == 5
    assert tree["propagationPolicy"] == "Foreground"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{}", "does not appear to be a protobuf message"),
        (b"k8s\0\x0a\xff", "unexpected EOF"),
        (b"k8s\0\x0f", "illegal wireType 7"),
        (envelope("example.com/v1", "Widget", b""), 'no kind "Widget" is registered for version'),
        (envelope("v1", "Secret", field(3, b"\xff")), "unable to decode protobuf"),
    ],
)
def test_bytes_that_are_no_object_are_refused(body: bytes, message: str) -> None:
    with pytest.raises(ApiError, match=message) as refused:
        decode(body)
    assert refused.value.code == 400
