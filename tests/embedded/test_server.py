import asyncio
import io
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any

import aiohttp
import msgspec
import pytest

from quorate.api.meta import Json
from quorate.embedded.call import LARGEST_BODY
from quorate.embedded.options import User
from quorate.embedded.server import AddressError, HttpServer
from quorate.embedded.target import Target
from tests.fakes.embedded import Served, api_server, authenticator, config_map, pod, serving

if TYPE_CHECKING:
    from quorate.embedded.apiserver import ApiServer

MAPS = "/api/v1/namespaces/default/configmaps"


class Answer:
    def __init__(self, response: aiohttp.ClientResponse, body: bytes) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = body

    @property
    def tree(self) -> Any:
        return msgspec.json.decode(self.body)


Ask = Callable[..., Coroutine[None, None, Answer]]


def served(test: Callable[[Ask, Served], Awaitable[None]]) -> None:
    """Run a test against a server; `ask(method, path, body, **headers)` is one request."""

    async def run() -> None:
        async with serving() as server, aiohttp.ClientSession(server.url) as session:

            async def ask(method: str, path: str, body: Any = None, **headers: str) -> Answer:
                raw = body if isinstance(body, bytes | None) else msgspec.json.encode(body)
                data = io.BytesIO(raw) if raw is not None else None
                given = {"Content-Type": "application/json"} if raw is not None else {}
                given |= {name.replace("_", "-"): value for name, value in headers.items()}
                async with session.request(method, path, data=data, headers=given) as response:
                    return Answer(response, await response.read())

            await test(ask, server)

    asyncio.run(run())


async def watchers_there(server: Served, count: int) -> None:
    async with asyncio.timeout(5):
        while server.api.counts["watch", "configmaps"] < count:  # noqa: ASYNC110 a counter has no event
            await asyncio.sleep(0)


def test_an_object_is_created_read_listed_and_deleted() -> None:
    async def test(ask: Ask, _: Served) -> None:
        created = await ask("POST", MAPS, config_map("a"))
        assert created.status == 201
        assert created.tree["metadata"]["uid"]
        assert (await ask("GET", f"{MAPS}/a")).tree == created.tree
        listed = (await ask("GET", MAPS)).tree
        assert (listed["kind"], listed["apiVersion"]) == ("ConfigMapList", "v1")
        # Items of a built-in list carry no kind of their own.
        assert [set(item) for item in listed["items"]] == [{"metadata", "data"}]
        deleted = await ask("DELETE", f"{MAPS}/a")
        assert deleted.tree["status"] == "Success"
        assert deleted.tree["details"] == {
            "name": "a",
            "kind": "configmaps",
            "uid": created.tree["metadata"]["uid"],
        }
        assert (await ask("GET", f"{MAPS}/a")).status == 404

    served(test)


@pytest.mark.parametrize(
    ("method", "path", "body", "code", "message"),
    [
        (
            "POST",
            MAPS,
            b"{",
            400,
            "couldn't get version/kind; json parse error: unexpected end of JSON input",
        ),
        ("POST", MAPS, b"[]", 400, "the object provided is unrecognized (must be of type ConfigMap)"),
        (
            "POST",
            MAPS,
            {"kind": "Pod", "apiVersion": "v1"},
            400,
            'Pod in version "v1" cannot be handled as a',
        ),
        (
            "POST",
            MAPS,
            {"apiVersion": "v2"},
            400,
            'ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered',
        ),
        ("POST", MAPS, {}, 422, "metadata.name: Required value: name or generateName is required"),
        ("POST", MAPS, {"metadata": {"name": "A"}}, 422, "a lowercase RFC 1123 subdomain must consist of"),
        (
            "POST",
            MAPS,
            {"metadata": {"name": "a", "namespace": "b"}},
            400,
            "the namespace of the provided object",
        ),
        ("POST", MAPS, {"metadata": 1}, 400, "metadata is no object"),
        ("POST", MAPS, b"x" * (LARGEST_BODY + 1), 413, "Request entity too large: limit is 3145728"),
        (
            "POST",
            MAPS.replace("default", "none"),
            {"metadata": {"name": "a"}},
            404,
            'namespaces "none" not found',
        ),
        ("GET", f"{MAPS}/none", None, 404, 'configmaps "none" not found'),
        ("PUT", MAPS, {}, 405, "the server does not allow this method on the requested resource"),
        ("POST", "/api/v1/configmaps", {}, 405, "the server does not allow this method"),
        ("GET", f"{MAPS}?limit=x", None, 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
        ("POST", f"{MAPS}?dryRun=x", {}, 422, 'dryRun: Unsupported value: ["x"]'),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(
    method: str, path: str, body: Any, code: int, message: str
) -> None:
    async def test(ask: Ask, _: Served) -> None:
        answer = await ask(method, path, body)
        assert answer.status == answer.tree["code"] == code
        assert message in answer.tree["message"]
        assert answer.tree["kind"] == "Status"

    served(test)


@pytest.mark.parametrize("path", ["/apis/none/v1/things", "/nothing"])
def test_an_unknown_path_is_answered_as_the_real_router_does(path: str) -> None:
    async def test(ask: Ask, _: Served) -> None:
        answer = await ask("GET", path)
        assert (answer.status, answer.body) == (404, b"404 page not found\n")

    served(test)


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/api/v1/namespaces/default/pods/a/none"])
def test_an_unknown_resource_of_a_served_group_is_refused_with_a_status(path: str) -> None:
    async def test(ask: Ask, _: Served) -> None:
        answer = await ask("GET", path)
        assert answer.status == answer.tree["code"] == 404
        assert answer.tree["message"] == "the server could not find the requested resource"

    served(test)


def test_a_body_of_another_media_type_is_refused() -> None:
    async def test(ask: Ask, _: Served) -> None:
        answer = await ask("POST", MAPS, b"x", Content_Type="text/plain")
        assert answer.status == 415
        assert "accepted media types include: application/json, application/yaml" in answer.tree["message"]

    served(test)


def test_yaml_goes_in_and_comes_out() -> None:
    async def test(ask: Ask, _: Served) -> None:
        text = b"metadata: {name: a}\ndata: {day: 2020-01-01}\n"
        answer = await ask("POST", MAPS, text, Content_Type="application/yaml")
        assert answer.tree["data"] == {"day": "2020-01-01"}
        shown = await ask("GET", f"{MAPS}/a", Accept="application/yaml")
        assert b"kind: ConfigMap" in shown.body
        assert shown.headers["Content-Type"] == "application/yaml"

    served(test)


def test_a_client_that_takes_protobuf_only_is_refused() -> None:
    async def test(ask: Ask, _: Served) -> None:
        answer = await ask("GET", MAPS, Accept="application/vnd.kubernetes.protobuf")
        assert answer.status == 406
        both = await ask("GET", MAPS, Accept="application/vnd.kubernetes.protobuf,application/json")
        assert both.status == 200

    served(test)


def test_a_table_and_bare_metadata_are_other_forms_of_a_list() -> None:
    async def test(ask: Ask, _: Served) -> None:
        await ask("POST", MAPS, config_map("a"))
        table = (await ask("GET", MAPS, Accept="application/json;as=Table;v=v1;g=meta.k8s.io")).tree
        assert table["kind"] == "Table"
        assert [row["cells"][:2] for row in table["rows"]] == [["a", 1]]
        accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
        bare = (await ask("GET", MAPS, Accept=accept)).tree
        assert bare["kind"] == "PartialObjectMetadataList"
        assert "data" not in bare["items"][0]

    served(test)


def test_unknown_and_repeated_fields_are_told_in_warnings() -> None:
    async def test(ask: Ask, _: Served) -> None:
        body = b'{"metadata":{"name":"a","name":"b"},"dota":{}}'
        answer = await ask("POST", MAPS, body)
        assert answer.tree["metadata"]["name"] == "b"
        assert answer.headers.getall("Warning") == [
            '299 - "duplicate field \\"metadata.name\\""',
            '299 - "unknown field \\"dota\\""',
        ]
        strict = await ask("POST", f"{MAPS}?fieldValidation=Strict", body)
        assert strict.status == 400
        assert 'strict decoding error: duplicate field "metadata.name"' in strict.tree["message"]
        silent = await ask("PUT", f"{MAPS}/b?fieldValidation=Ignore", body)
        assert "Warning" not in silent.headers

    served(test)


def test_a_watch_streams_lines_and_ends_in_time() -> None:
    async def test(ask: Ask, server: Served) -> None:
        await ask("POST", MAPS, config_map("a"))
        watching = asyncio.create_task(ask("GET", f"{MAPS}?watch=1&timeoutSeconds=1"))
        await watchers_there(server, 1)
        await ask("DELETE", f"{MAPS}/a")
        lines = [msgspec.json.decode(line) for line in (await watching).body.splitlines()]
        assert [line["type"] for line in lines] == ["ADDED", "DELETED"]

    served(test)


def test_eight_watchers_see_every_event_in_order() -> None:
    count, watchers = 500, 8

    async def names(session: aiohttp.ClientSession) -> list[str]:
        found: list[str] = []
        async with session.get(f"{MAPS}?watch=1") as response:
            async for line in response.content:
                found.append(msgspec.json.decode(line)["object"]["metadata"]["name"])
                if len(found) == count:
                    break
        return found

    async def run() -> None:
        async with serving() as server, aiohttp.ClientSession(server.url) as session:
            tasks = [asyncio.create_task(names(session)) for _ in range(watchers)]
            await watchers_there(server, watchers)
            maps = server.api.resource("", "v1", "configmaps")
            wanted = [f"m{number}" for number in range(count)]
            for name in wanted:
                await server.api.create(maps, "default", config_map(name))
                await asyncio.sleep(0)
            assert await asyncio.gather(*tasks) == [wanted] * watchers

    asyncio.run(run())


def test_discovery_has_both_forms_and_an_etag() -> None:
    async def test(ask: Ask, _: Served) -> None:
        assert (await ask("GET", "/api")).tree["versions"] == ["v1"]
        assert (await ask("GET", "/apis/apps/v1")).tree["kind"] == "APIResourceList"
        accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        first = await ask("GET", "/apis", Accept=accept)
        assert first.tree["kind"] == "APIGroupDiscoveryList"
        again = await ask("GET", "/apis", Accept=accept, If_None_Match=first.headers["ETag"])
        assert (again.status, again.body) == (304, b"")

    served(test)


def test_health_version_openapi_and_metrics_are_there() -> None:
    async def test(ask: Ask, _: Served) -> None:
        for path in ("/livez", "/readyz", "/healthz"):
            assert (await ask("GET", path)).body == b"ok"
        assert (await ask("GET", "/version")).tree["gitVersion"] == "v1.36.3+quorate"
        paths: Json = (await ask("GET", "/openapi/v3")).tree["paths"]
        assert (await ask("GET", paths["apis/apps/v1"]["serverRelativeURL"])).tree["openapi"] == "3.0.0"
        await ask("GET", MAPS)
        line = b'apiserver_request_total{verb="list",resource="configmaps"} 1'
        assert line in (await ask("GET", "/metrics")).body

    served(test)


def test_who_asks_is_known_by_token_and_held_to_their_rights() -> None:
    async def test(ask: Ask, server: Served) -> None:
        server.api.authenticator = authenticator(
            server.api, {"secret": User("ann"), "root": User("root", ("system:masters",))}
        )
        wrong = await ask("GET", MAPS, Authorization="Bearer wrong")
        assert (wrong.status, wrong.tree["message"]) == (401, "Unauthorized")
        anonymous = await ask("GET", MAPS)
        assert 'User "system:anonymous" cannot list resource "configmaps"' in anonymous.tree["message"]
        refused = await ask("GET", MAPS, Authorization="Bearer secret")
        assert refused.status == 403
        assert refused.tree["message"] == (
            'configmaps is forbidden: User "ann" cannot list resource "configmaps" in API group "" '
            'in the namespace "default"'
        )
        assert (await ask("GET", MAPS, Authorization="Bearer root")).status == 200
        review = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        answer = await ask("POST", path, review, Authorization="Bearer root")
        assert (answer.status, answer.tree["status"]["allowed"]) == (201, True)

    served(test)


def test_who_may_can_act_as_somebody_else() -> None:
    async def test(ask: Ask, server: Served) -> None:
        static = {"root": User("root", ("system:masters",)), "ann": User("ann")}
        server.api.authenticator = authenticator(server.api, static)
        root = {"Authorization": "Bearer root", "Impersonate_User": "bob", "Impersonate_Group": "crew"}
        refused = await ask("GET", MAPS, **root)
        assert 'User "bob" cannot list resource "configmaps"' in refused.tree["message"]
        ann = await ask("GET", MAPS, Authorization="Bearer ann", Impersonate_User="root")
        assert 'User "ann" cannot impersonate resource "users"' in ann.tree["message"]

    served(test)


def test_an_occupied_port_is_named_with_the_remedy() -> None:
    async def run() -> None:
        async with serving() as server:
            port = int(server.url.rpartition(":")[2])
            with pytest.raises(
                AddressError, match=f"cannot listen on 127.0.0.1:{port}: .*choose another port"
            ):
                await HttpServer(server.api).start("127.0.0.1", port)

    asyncio.run(run())


def test_an_error_of_the_server_is_a_500_and_the_server_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    async def test(ask: Ask, server: Served) -> None:
        del server.api.definitions
        answer = await ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
        assert answer.status == 500
        assert answer.tree["reason"] == "InternalError"
        assert (await ask("GET", MAPS)).status == 200

    served(test)
    assert "request failed: POST" in caplog.text


DEFINITION: Json = {
    "metadata": {"name": "things.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Cluster",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }
        ],
    },
}


def test_a_log_is_plain_text() -> None:
    async def test(ask: Ask, server: Served) -> None:
        api: ApiServer = server.api
        pods = api.resource("", "v1", "pods")
        await api.create(pods, "default", pod("a", node="n"))
        path = "/api/v1/namespaces/default/pods/a/log"
        waiting = await ask("GET", path)
        assert 'container "main" in pod "a" is waiting to start' in waiting.tree["message"]
        stored = api.get(pods, "default", "a")
        status = {**stored["status"], "phase": "Running", "startTime": "2026-01-01T00:00:00Z"}
        await api.update(Target(pods, "default", "a", "status"), {**stored, "status": status})
        assert (await ask("GET", path)).body == b"a/main: started on n at 2026-01-01T00:00:00Z\n"

    served(test)


def test_nobody_is_served_after_the_end() -> None:
    async def run() -> None:
        server = HttpServer(await api_server())
        await server.start("127.0.0.1", 0)
        await server.stop()
        async with aiohttp.ClientSession() as session:
            with pytest.raises(aiohttp.ClientConnectorError):
                await session.get(f"http://127.0.0.1:{server.port}/livez")

    asyncio.run(run())
