from typing import Any

import msgspec
import pytest

from quorate.api.rbg import RoleBasedGroup
from quorate.controllers.rbg import AGING_SECONDS, again_seconds
from quorate.workloads.rbg.composites import PATIENCE_SECONDS


@pytest.mark.parametrize(
    ("ready", "role", "seconds"),
    [
        ("True", {"minReadySeconds": 5}, None),
        ("False", {}, PATIENCE_SECONDS),
        ("False", {"minReadySeconds": 5}, AGING_SECONDS),
    ],
)
def test_a_group_that_is_not_ready_is_looked_at_again_though_nothing_happens(
    ready: str, role: dict[str, Any], seconds: float | None
) -> None:
    wire = {
        "spec": {"roles": [{"name": "a", **role}]},
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    }
    assert again_seconds(msgspec.convert(wire, RoleBasedGroup)) == seconds
