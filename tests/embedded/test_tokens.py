from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from quorate.api.meta import Json
from quorate.embedded.errors import ApiError
from quorate.embedded.objectmeta import timestamp
from quorate.embedded.options import User
from quorate.embedded.pki import Authority
from quorate.embedded.tokens import ANONYMOUS, Authenticator, self_subject_review

ROBOT: Json = {"metadata": {"namespace": "team", "name": "robot", "uid": "u-1"}}


class World:
    """An authenticator with one account and a clock that stands still."""

    def __init__(self, directory: Path) -> None:
        self.authority = Authority(directory)
        self.accounts = {("team", "robot"): ROBOT}
        self.time = 1_700_000_000.0
        self.authenticator = Authenticator(
            self.authority.pair.key_pem,
            lambda namespace, name: self.accounts.get((namespace, name)),
            now=lambda: self.time,
            static={"letmein": User("ci", ("builders",))},
        )


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_no_credential_is_anonymous(world: World) -> None:
    assert world.authenticator.user("", None) == ANONYMOUS


@pytest.mark.parametrize("header", ["Bearer wrong", "Bearer a.b.c", "Bearer a.!!.c", "Basic abc"])
def test_a_wrong_credential_is_refused(world: World, header: str) -> None:
    with pytest.raises(ApiError, match="Unauthorized") as refused:
        world.authenticator.user(header, None)
    assert refused.value.code == 401


def test_a_static_token_names_its_user(world: World) -> None:
    user = world.authenticator.user("Bearer letmein", None)
    assert (user.name, user.groups) == ("ci", ("builders", "system:authenticated"))


def test_a_client_certificate_names_its_user(world: World) -> None:
    pair = world.authority.client("ann", ["team"])
    certificate = x509.load_pem_x509_certificate(pair.certificate_pem).public_bytes(Encoding.DER)
    assert world.authenticator.user("", certificate) == User("ann", ("team", "system:authenticated"))


def issued(world: World) -> str:
    answer = world.authenticator.token_request(ROBOT, {"spec": {"expirationSeconds": 600}}, timestamp)
    token: str = answer["status"]["token"]
    return token


def test_an_issued_token_is_its_account(world: World) -> None:
    user = world.authenticator.user(f"Bearer {issued(world)}", None)
    assert user.name == "system:serviceaccount:team:robot"
    assert user.groups == ("system:serviceaccounts", "system:serviceaccounts:team", "system:authenticated")
    assert user.uid == "u-1"


def test_an_issued_token_ends(world: World) -> None:
    token = issued(world)
    world.time += 601
    with pytest.raises(ApiError):
        world.authenticator.bearer(token)


def test_an_issued_token_dies_with_its_account(world: World) -> None:
    token = issued(world)
    world.authenticator.bearer(token)
    world.accounts["team", "robot"] = {"metadata": {**ROBOT["metadata"], "uid": "u-2"}}
    with pytest.raises(ApiError):
        world.authenticator.bearer(token)


def test_a_token_of_another_cluster_is_refused(world: World, tmp_path: Path) -> None:
    other = World(tmp_path / "other")
    with pytest.raises(ApiError):
        world.authenticator.bearer(issued(other))


def test_too_short_a_life_is_refused(world: World) -> None:
    with pytest.raises(ApiError, match="may not specify a duration less than 10 minutes"):
        world.authenticator.token_request(ROBOT, {"spec": {"expirationSeconds": 5}}, timestamp)


def test_token_reviews(world: World) -> None:
    good = world.authenticator.token_review({"spec": {"token": "letmein"}})["status"]
    assert good["authenticated"]
    assert good["user"]["username"] == "ci"
    bad = world.authenticator.token_review({"spec": {"token": "x"}})["status"]
    assert bad == {"user": {}, "error": "invalid bearer token"}


def test_who_am_i() -> None:
    review = self_subject_review(User("ann", ("team",)), "2026-01-01T00:00:00Z")
    assert review["status"] == {"userInfo": {"username": "ann", "groups": ["team"]}}
