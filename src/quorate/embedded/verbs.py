"""The verbs over HTTP: each takes a call, asks the ApiServer and answers with bytes.

`server.py` looks the function up by verb and subresource.
"""

from collections.abc import Awaitable, Callable

from aiohttp import web

from quorate.embedded import deletion, intake, negotiation, query
from quorate.embedded.apiserver import ApiServer
from quorate.embedded.call import HEADERS, Call, raw_reply, reply
from quorate.embedded.options import Options
from quorate.embedded.representation import list_raw, served
from quorate.embedded.reviews import REVIEWS
from quorate.embedded.scale import SCALE
from quorate.embedded.target import Target

Verb = Callable[[ApiServer, Call], Awaitable[web.StreamResponse]]


async def create(api: ApiServer, call: Call) -> web.StreamResponse:
    options = call.options
    review = REVIEWS.get((call.resource.group, call.resource.plural))
    if review is not None:
        body = intake.read(call.resource, await call.object(options), options)
        body = intake.owned(api, call.resource, (None, body), options)
        return reply(review(api, call.user, body, call.path.namespace), options, status=201)
    if (call.resource.group, call.resource.plural) == ("", "bindings"):
        return await _bind_by_name(api, call, options)
    stored = await api.create(call.resource, call.path.namespace, await call.object(options), options)
    return reply(stored, options, status=201)


async def get(api: ApiServer, call: Call) -> web.StreamResponse:
    form = call.form
    entry = api.entry(call.resource, call.path.namespace, call.path.name)
    return raw_reply(negotiation.one(form, call.resource, entry, api.now()), media_type=form.media_type)


async def list_(api: ApiServer, call: Call) -> web.StreamResponse:
    form = call.form
    page = api.list(call.resource, call.path.namespace, query.list_options(call.request.query, call.resource))
    return raw_reply(negotiation.many(form, call.resource, page, api.now()), media_type=form.media_type)


async def watch(api: ApiServer, call: Call) -> web.StreamResponse:
    options = query.watch_options(call.request.query, call.resource)
    shown = negotiation.for_watch(call.form, call.resource, api.now)
    events = api.watch(call.resource, call.path.namespace, options, shown)
    response = web.StreamResponse(headers=HEADERS)
    response.enable_chunked_encoding()
    try:
        await response.prepare(call.request)
        async for chunk in events.lines():
            await response.write(chunk)
    except ConnectionResetError:
        pass
    finally:
        events.close()
    return response


async def update(api: ApiServer, call: Call) -> web.StreamResponse:
    options = call.options
    return reply(await api.update(call.target, await call.object(options), options), options)


async def patch(api: ApiServer, call: Call) -> web.StreamResponse:
    options = call.options
    stored, created = await api.patch(call.target, await call.patch(), options)
    return reply(stored, options, status=201 if created else 200)


async def delete(api: ApiServer, call: Call) -> web.StreamResponse:
    options = await call.delete_options()
    deleted = await api.delete(call.target, options)
    answer = deletion.answer(call.target, deleted)
    return reply(served(call.resource, answer) if answer is deleted.object else answer)


async def delete_collection(api: ApiServer, call: Call) -> web.StreamResponse:
    selected = query.list_options(call.request.query, call.resource)
    options = await call.delete_options()
    page = await api.delete_collection(call.resource, call.path.namespace, selected, options)
    return raw_reply(list_raw(call.resource, page))


async def get_scale(api: ApiServer, call: Call) -> web.StreamResponse:
    form = call.form
    seen = negotiation.derived(form, SCALE, api.get_scale(call.target), api.now())
    return raw_reply(seen, media_type=form.media_type)


async def update_scale(api: ApiServer, call: Call) -> web.StreamResponse:
    options = call.options
    return reply(await api.update_scale(call.target, await call.tree(), options), options)


async def patch_scale(api: ApiServer, call: Call) -> web.StreamResponse:
    options = call.options
    return reply(await api.patch_scale(call.target, await call.patch(), options), options)


async def bind(api: ApiServer, call: Call) -> web.StreamResponse:
    await api.bind(call.target, await call.tree(), call.options)
    return reply(deletion.success(code=201), status=201)


async def _bind_by_name(api: ApiServer, call: Call, options: Options) -> web.StreamResponse:
    """The old way to bind: a Binding posted to its namespace names the pod."""
    wanted = await call.object(options)
    pods = api.resource("", "v1", "pods")
    target = Target(pods, call.path.namespace, (wanted.get("metadata") or {}).get("name", ""))
    await api.bind(target, wanted, options)
    return reply(deletion.success(code=201), status=201)


async def evict(api: ApiServer, call: Call) -> web.StreamResponse:
    await api.evict(call.target, await call.tree(), call.options)
    return reply(deletion.success(code=201), status=201)


async def request_token(api: ApiServer, call: Call) -> web.StreamResponse:
    body = await call.tree()
    return reply(api.request_token(call.target, body if isinstance(body, dict) else {}), status=201)


async def log(api: ApiServer, call: Call) -> web.StreamResponse:
    text = api.log(call.target, call.request.query.get("container", ""))
    return web.Response(text=text, content_type="text/plain")


VERBS: dict[tuple[str, str], Verb] = {
    ("create", ""): create,
    ("get", ""): get,
    ("list", ""): list_,
    ("watch", ""): watch,
    ("update", ""): update,
    ("patch", ""): patch,
    ("patch", "status"): patch,
    ("patch", "scale"): patch_scale,
    ("delete", ""): delete,
    ("deletecollection", ""): delete_collection,
    ("get", "status"): get,
    ("update", "status"): update,
    ("update", "finalize"): update,
    ("get", "scale"): get_scale,
    ("update", "scale"): update_scale,
    ("create", "binding"): bind,
    ("create", "eviction"): evict,
    ("create", "token"): request_token,
    ("get", "log"): log,
}
