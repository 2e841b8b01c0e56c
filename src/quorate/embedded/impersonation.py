"""Requests on behalf of somebody else (`kubectl --as`): who asks must be allowed to impersonate whom they name."""

from multidict import CIMultiDictProxy

from quorate.embedded.errors import bad_request
from quorate.embedded.options import User
from quorate.embedded.rbac import Attributes, Authorizer
from quorate.embedded.tokens import ANONYMOUS, AUTHENTICATED, account_user

_USER, _GROUP, _UID = "Impersonate-User", "Impersonate-Group", "Impersonate-Uid"
_ACCOUNT = "system:serviceaccount:"


def impersonated(headers: CIMultiDictProxy[str], user: User, authorizer: Authorizer) -> User:
    """The user a request acts as: the one its headers name, else the one who sent it."""
    name, groups = headers.get(_USER, ""), headers.getall(_GROUP, [])
    if not name:
        if groups or headers.get(_UID):
            raise bad_request(
                "requested groups or UID without impersonating a user: set Impersonate-User too"
            )
        return user
    target = _target(name)
    for attributes in _asked(user, target, groups):
        authorizer.check(attributes)
    if groups:
        return User(target.name, tuple(dict.fromkeys((*groups, AUTHENTICATED))), headers.get(_UID, ""))
    return target


def _target(name: str) -> User:
    if name == ANONYMOUS.name:
        return ANONYMOUS
    namespace, _, account = name.removeprefix(_ACCOUNT).partition(":")
    if name.startswith(_ACCOUNT) and account:
        return account_user(namespace, account)
    return User(name, (AUTHENTICATED,))


def _asked(user: User, target: User, groups: list[str]) -> list[Attributes]:
    namespace, _, account = target.name.removeprefix(_ACCOUNT).partition(":")
    if target.name.startswith(_ACCOUNT) and account:
        who = Attributes(user, "impersonate", "", "serviceaccounts", "", account, namespace)
    else:
        who = Attributes(user, "impersonate", "", "users", "", target.name)
    return [who, *(Attributes(user, "impersonate", "", "groups", "", group) for group in groups)]
