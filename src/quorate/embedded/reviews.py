"""Kinds that are asked, not stored: creating one answers it.

`verbs.py` looks here before it creates an object; the answers come from `accessreviews` and `tokens`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from quorate.api.meta import Json
from quorate.embedded import accessreviews, tokens
from quorate.embedded.objectmeta import timestamp
from quorate.embedded.options import User

if TYPE_CHECKING:
    from quorate.embedded.apiserver import ApiServer

# Server, who asks, the body, and the namespace of the path.
Answer = Callable[["ApiServer", User, Json, str], Json]


def _self_access(server: "ApiServer", user: User, body: Json, _: str) -> Json:
    return accessreviews.self_access(server.authorizer, body, user)


def _subject_access(server: "ApiServer", _: User, body: Json, namespace: str) -> Json:
    return accessreviews.subject_access(server.authorizer, body, namespace)


def _self_rules(server: "ApiServer", user: User, body: Json, _: str) -> Json:
    return accessreviews.self_rules(server.authorizer, body, user)


def _token(server: "ApiServer", _: User, body: Json, __: str) -> Json:
    if server.authenticator is None:
        return {**body, "status": {"user": {}, "error": "this server knows no tokens"}}
    return server.authenticator.token_review(body)


def _self_subject(server: "ApiServer", user: User, _: Json, __: str) -> Json:
    return tokens.self_subject_review(user, timestamp(server.now()))


REVIEWS: dict[tuple[str, str], Answer] = {
    ("authorization.k8s.io", "selfsubjectaccessreviews"): _self_access,
    ("authorization.k8s.io", "subjectaccessreviews"): _subject_access,
    ("authorization.k8s.io", "localsubjectaccessreviews"): _subject_access,
    ("authorization.k8s.io", "selfsubjectrulesreviews"): _self_rules,
    ("authentication.k8s.io", "tokenreviews"): _token,
    ("authentication.k8s.io", "selfsubjectreviews"): _self_subject,
}
