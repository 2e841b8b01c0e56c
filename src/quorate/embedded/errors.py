"""What the API server answers instead of an object: one exception that carries a metav1.Status.

    ApiError            a refusal that the client reads as a Status


The constructors give reason, code and words exactly as a kube-apiserver does; `server.py` only sends them.
"""

from collections.abc import Sequence
from typing import Protocol

from quorate.api.meta import Json
from quorate.embedded.causes import Cause, quoted

OPTIMISTIC_LOCK = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


class Named(Protocol):
    """What an error needs to know of a resource; `registry.Resource` is one."""

    @property
    def group(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def plural(self) -> str: ...


class ApiError(Exception):
    """A request that is refused; `status` is the answer's body."""

    def __init__(self, status: Json) -> None:
        super().__init__(status)
        self.status = status

    def __str__(self) -> str:
        message: str = self.status["message"]
        return message

    @property
    def code(self) -> int:
        code: int = self.status["code"]
        return code

    @property
    def reason(self) -> str:
        reason: str = self.status.get("reason", "")
        return reason


def failure(code: int, reason: str, message: str, details: Json | None = None) -> ApiError:
    status: Json = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
    }
    if reason:
        status["reason"] = reason
    if details is not None:
        status["details"] = {key: value for key, value in details.items() if value not in ("", None, 0)}
    status["code"] = code
    return ApiError(status)


def qualified(resource: Named) -> str:
    return f"{resource.plural}.{resource.group}" if resource.group else resource.plural


def qualified_kind(resource: Named) -> str:
    return f"{resource.kind}.{resource.group}" if resource.group else resource.kind


def _about(resource: Named, name: str) -> Json:
    return {"name": name, "group": resource.group, "kind": resource.plural}


def not_found(resource: Named, name: str) -> ApiError:
    return failure(404, "NotFound", f"{qualified(resource)} {quoted(name)} not found", _about(resource, name))


def already_exists(resource: Named, name: str) -> ApiError:
    message = f"{qualified(resource)} {quoted(name)} already exists"
    return failure(409, "AlreadyExists", message, _about(resource, name))


def generate_name_conflict(resource: Named, name: str) -> ApiError:
    message = (
        f"{qualified(resource)} {quoted(name)} already exists, "
        "the server was not able to generate a unique name for the object"
    )
    return failure(409, "AlreadyExists", message, {**_about(resource, name), "retryAfterSeconds": 1})


def conflict(resource: Named, name: str, why: str = OPTIMISTIC_LOCK) -> ApiError:
    message = f"Operation cannot be fulfilled on {qualified(resource)} {quoted(name)}: {why}"
    return failure(409, "Conflict", message, _about(resource, name))


def precondition_failed(resource: Named, namespace: str, name: str, why: str) -> ApiError:
    """409 as the storage layer words it, with the object's key."""
    key = "/".join(part for part in ("/registry", resource.plural, namespace, name) if part)
    wrapped = (
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {why}"
    )
    return conflict(resource, name, wrapped)


def invalid(resource: Named, name: str, causes: Sequence[Cause]) -> ApiError:
    """422 with all causes; the message repeats each distinct one once."""
    texts = list(dict.fromkeys(str(cause) for cause in causes))
    why = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    message = f"{qualified_kind(resource)} {quoted(name)} is invalid: {why}"
    details = {"name": name, "group": resource.group, "kind": resource.kind, "causes": listed(causes)}
    return failure(422, "Invalid", message, details)


def listed(causes: Sequence[Cause]) -> list[Json]:
    return [{"reason": cause.reason, "message": cause.message, "field": cause.field} for cause in causes]


def forbidden(resource: Named, name: str, why: str) -> ApiError:
    subject = f"{qualified(resource)} {quoted(name)}" if name else qualified(resource)
    return failure(403, "Forbidden", f"{subject} is forbidden: {why}", _about(resource, name))


def forbidden_path(why: str) -> ApiError:
    """403 for a request that is about no resource."""
    return failure(403, "Forbidden", f"forbidden: {why}", {})


def unauthorized() -> ApiError:
    return failure(401, "Unauthorized", "Unauthorized")


def bad_request(message: str) -> ApiError:
    return failure(400, "BadRequest", message)


def method_not_allowed(resource: Named, action: str) -> ApiError:
    message = f"{action} is not supported on resources of kind {quoted(qualified(resource))}"
    return failure(405, "MethodNotAllowed", message, {"group": resource.group, "kind": resource.plural})


def no_such_resource() -> ApiError:
    """404 for a resource or subresource that a group, which is served, does not have."""
    return failure(404, "NotFound", "the server could not find the requested resource", {})


def method_unknown() -> ApiError:
    """405 for a path that exists but not with this HTTP method."""
    return failure(
        405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {}
    )


def not_acceptable(accepted: Sequence[str]) -> ApiError:
    message = f"only the following media types are accepted: {', '.join(accepted)}"
    return failure(406, "NotAcceptable", message)


def gone(message: str) -> ApiError:
    """410: the resourceVersion or continue token is too old."""
    return failure(410, "Expired", message)


def too_large(message: str) -> ApiError:
    return failure(413, "RequestEntityTooLarge", f"Request entity too large: {message}")


def unsupported_media_type(accepted: Sequence[str]) -> ApiError:
    message = "the body of the request was in an unknown format - accepted media types include: "
    return failure(415, "UnsupportedMediaType", message + ", ".join(accepted))


def unroutable_media_type() -> ApiError:
    """415 of a patch: the router itself knows which media types patches have."""
    return failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})


def too_many_requests(message: str, retry_after_seconds: int = 0, causes: Sequence[Json] = ()) -> ApiError:
    details: Json = {"causes": list(causes) or None, "retryAfterSeconds": retry_after_seconds}
    return failure(429, "TooManyRequests", message, details)


def not_a_number(text: str) -> str:
    """What Go says of a text that should be a revision."""
    return f"strconv.ParseUint: parsing {quoted(text)}: invalid syntax"


def unknown(message: str) -> ApiError:
    """500 without a reason, which is what errors of the storage layer come out as."""
    return failure(500, "", message)


def internal(message: str) -> ApiError:
    details = {"causes": [{"message": message}]}
    return failure(500, "InternalError", f"Internal error occurred: {message}", details)


def unavailable(message: str) -> ApiError:
    return failure(503, "ServiceUnavailable", message)


def timeout(message: str) -> ApiError:
    return failure(504, "Timeout", f"Timeout: {message}", {})
