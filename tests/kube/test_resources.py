from quorate.api.apps import CONTROLLER_REVISION
from quorate.kube.resources import create_request
from quorate.plan import Create, Ref


def test_the_data_of_a_revision_is_sent_as_an_api_server_will_write_it() -> None:
    data = {"z": {"command": "a && b > c"}, "a": {"y": 1, "x": "ü"}}
    target = Ref(kind=CONTROLLER_REVISION, name="web-1", namespace="default")
    body = create_request(Create(target=target, body={"data": data, "revision": 1})).body
    assert body is not None
    written = '"data":{"a":{"x":"ü","y":1},"z":{"command":"a \\u0026\\u0026 b \\u003e c"}}'
    assert written.encode() in body
