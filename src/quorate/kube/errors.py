# ruff: noqa: N818 - the names say the cause, as httpx and the HTTP phrases do; the root says it is an error
"""What can go wrong between this process and an API server, one class per cause.

Every foreign error (aiohttp, ssl, msgspec, a `Status` answer) is translated here once; callers of `kube`
catch only these:

    KubeError
    ├── ConfigError           a kubeconfig or in-cluster file cannot be used; the text names file and field
    ├── CredentialError       a token file or an exec plugin gave no credential
    ├── ConnectionFailed      no connection could be made: the request was surely not processed
    ├── ConnectionLost        the connection broke or timed out later: the request may have been processed
    ├── AnswerUnreadable      the answer is not what the API promises
    └── ApiError              the server answered with a Status
        ├── BadRequest         400
        ├── Unauthorized       401
        ├── Forbidden          403
        ├── NotFound           404
        ├── Conflict           409: the object changed, or a precondition did not hold
        │   └── AlreadyExists  409: an object of that name exists
        ├── Gone               410: the revision asked for is compacted; list again
        ├── Invalid            422
        ├── TooManyRequests    429
        │   └── BudgetExhausted  429 of an eviction: a PodDisruptionBudget does not allow it now
        └── ServerFailed       5xx
"""

import ssl

import aiohttp
import msgspec

from quorate.api.meta import Wire


class StatusCause(Wire):
    reason: str = ""
    message: str = ""
    field: str = ""


class StatusDetails(Wire):
    name: str = ""
    kind: str = ""
    causes: tuple[StatusCause, ...] | None = None
    retry_after_seconds: int = 0


class Status(Wire):
    """The `metav1.Status` that an API server answers with when it does not do what was asked."""

    status: str = ""
    message: str = ""
    reason: str = ""
    details: StatusDetails | None = None
    code: int = 0

    @property
    def causes(self) -> tuple[StatusCause, ...]:
        return (self.details.causes or ()) if self.details else ()


class KubeError(Exception):
    """Root of everything `kube` raises."""


class ConfigError(KubeError):
    """A configuration file cannot be used; the text names the file, the field and the remedy."""


class CredentialError(KubeError):
    """No credential could be obtained."""


class ConnectionFailed(KubeError):
    """No connection: the request was surely not processed."""


class ConnectionLost(KubeError):
    """The connection ended before the whole answer came: the request may have been processed."""


class AnswerUnreadable(KubeError):
    """The answer is not what the API promises."""


class ApiError(KubeError):
    """The server said no."""

    def __init__(self, status: Status, retry_after: float | None = None) -> None:
        super().__init__(status.message or status.reason or f"HTTP {status.code}")
        self.status = status
        self.retry_after = retry_after


class BadRequest(ApiError):
    pass


class Unauthorized(ApiError):
    pass


class Forbidden(ApiError):
    pass


class NotFound(ApiError):
    pass


class Conflict(ApiError):
    pass


class AlreadyExists(Conflict):
    pass


class Gone(ApiError):
    pass


class Invalid(ApiError):
    pass


class TooManyRequests(ApiError):
    pass


class BudgetExhausted(TooManyRequests):
    pass


class ServerFailed(ApiError):
    pass


BY_CODE: dict[int, type[ApiError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: TooManyRequests,
}


def error_of(status: Status, retry_after: float | None = None) -> ApiError:
    """The one exception that stands for this Status."""
    if status.reason == "AlreadyExists":
        return AlreadyExists(status, retry_after)
    if status.code == 429 and any(cause.reason == "DisruptionBudget" for cause in status.causes):
        return BudgetExhausted(status, retry_after)
    kind = BY_CODE.get(status.code, ServerFailed if status.code >= 500 else ApiError)
    return kind(status, retry_after)


def error_of_answer(code: int, body: bytes, retry_after: str | None) -> ApiError:
    """The exception for an HTTP answer; bodies of proxies, which are no Status, are quoted."""
    try:
        status = msgspec.json.decode(body, type=Status)
    except msgspec.DecodeError:
        status = Status()
    if not status.code:
        text = body[:200].decode("utf-8", "replace").strip()
        status = Status(status="Failure", code=code, message=status.message or f"HTTP {code}: {text}")
    return error_of(status, seconds_of(retry_after, status))


def seconds_of(retry_after: str | None, status: Status) -> float | None:
    """What the server asks us to wait; the HTTP-date form is never sent by an API server and is ignored."""
    if retry_after and retry_after.strip().isdigit():
        return float(retry_after)
    if status.details and status.details.retry_after_seconds > 0:
        return float(status.details.retry_after_seconds)
    return None


def translate(error: Exception, where: str) -> KubeError:  # noqa: PLR0911 - a table, one line a cause
    """The cause of a foreign network error, with the address it was met at."""
    match error:
        case KubeError():
            return error
        case aiohttp.ClientConnectorCertificateError() | ssl.SSLCertVerificationError():
            return ConnectionFailed(f"{where}: the server's certificate is not trusted: {error}")
        case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError():
            return ConnectionFailed(f"{where}: cannot connect: {str(error) or type(error).__name__}")
        case TimeoutError():
            return ConnectionLost(f"{where}: no answer in time")
        case aiohttp.InvalidURL():
            return ConfigError(f"{where}: not a URL: {error}")
        case aiohttp.ClientError() | OSError():
            return ConnectionLost(f"{where}: connection lost: {str(error) or type(error).__name__}")
        case _:
            return AnswerUnreadable(f"{where}: {error}")
