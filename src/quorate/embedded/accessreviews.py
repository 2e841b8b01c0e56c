"""Answers to questions about access: the reviews of authorization.k8s.io, as `kubectl auth can-i` posts them.

Pure but for the Authorizer they ask; the API server routes the create of each review kind here.
"""

from quorate.api.meta import Json
from quorate.embedded import errors
from quorate.embedded.causes import Cause, invalid, required
from quorate.embedded.options import User
from quorate.embedded.rbac import Attributes, Authorizer

_GROUP = "authorization.k8s.io"
_EITHER = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
_RESOURCE_FIELDS = ("verbs", "apiGroups", "resources", "resourceNames")


class _Review:
    """Names a review in refusals, which a kube-apiserver words without its kind."""

    group, kind, plural = _GROUP, "", ""


_REVIEW = _Review()


def self_access(authorizer: Authorizer, body: Json, user: User) -> Json:
    """SelfSubjectAccessReview: may I."""
    return _answered(authorizer, body, user, "SelfSubjectAccessReview")


def subject_access(authorizer: Authorizer, body: Json, namespace: str = "") -> Json:
    """SubjectAccessReview, or with a namespace LocalSubjectAccessReview: may they."""
    spec = body.get("spec") or {}
    if not spec.get("user") and not spec.get("groups"):
        detail = "at least one of user or group must be specified"
        raise errors.invalid(_REVIEW, "", [invalid("spec.user", spec.get("user") or "", detail)])
    inside = (spec.get("resourceAttributes") or {}).get("namespace", "")
    if namespace and inside != namespace:
        cause = invalid("spec.resourceAttributes.namespace", inside, "must match metadata.namespace")
        raise errors.invalid(_REVIEW, "", [cause])
    extra = spec.get("extra") or {}
    user = User(spec.get("user") or "", tuple(spec.get("groups") or ()), spec.get("uid") or "", extra)
    return _answered(
        authorizer, body, user, "LocalSubjectAccessReview" if namespace else "SubjectAccessReview"
    )


def self_rules(authorizer: Authorizer, body: Json, user: User) -> Json:
    """SelfSubjectRulesReview: what may I do in this namespace."""
    namespace = (body.get("spec") or {}).get("namespace") or ""
    if not namespace:
        raise errors.bad_request("no namespace on request")
    rules = list(authorizer.rules_for(user, namespace))
    resources = [
        {field: rule[field] for field in _RESOURCE_FIELDS if rule.get(field)}
        for rule in rules
        if rule.get("resources")
    ]
    urls = [
        {"verbs": rule["verbs"], "nonResourceURLs": rule["nonResourceURLs"]}
        for rule in rules
        if rule.get("nonResourceURLs")
    ]
    status = {"resourceRules": resources, "nonResourceRules": urls, "incomplete": False}
    return {**_head(body, "SelfSubjectRulesReview"), "spec": {"namespace": namespace}, "status": status}


def _answered(authorizer: Authorizer, body: Json, user: User, kind: str) -> Json:
    spec = body.get("spec") or {}
    decision = authorizer.decide(_attributes(spec, user))
    status: Json = {"allowed": decision.allowed}
    if decision.reason:
        status["reason"] = decision.reason
    return {**_head(body, kind), "spec": spec, "status": status}


def _head(body: Json, kind: str) -> Json:
    api_version = body.get("apiVersion") or f"{_GROUP}/v1"
    return {"kind": kind, "apiVersion": api_version, "metadata": body.get("metadata") or {}}


def _attributes(spec: Json, user: User) -> Attributes:
    about, url = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if url is not None and about is None:
        return Attributes(user, url.get("verb") or "", path=_path(url))
    if about is not None and url is None:
        fields = ("verb", "group", "resource", "subresource", "name", "namespace")
        return Attributes(user, *(about.get(field) or "" for field in fields))
    raise errors.invalid(_REVIEW, "", [invalid("spec.resourceAttributes", about, _EITHER)])


def _path(url: Json) -> str:
    path: str = url.get("path") or ""
    if not path:
        causes: list[Cause] = [required("spec.nonResourceAttributes.path")]
        raise errors.invalid(_REVIEW, "", causes)
    return path
