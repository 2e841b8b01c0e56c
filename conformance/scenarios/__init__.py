"""REST scenarios as data: the same requests to any API server.

`ALL` is what `parity` replays. In texts, `{ns}` is the scenario's own namespace; `$rv`, `$uid` and `$continue`
are those of the last answer that had one, `$rv2` that of answer 2 (counted from 0).
"""

from conformance.scenarios import (
    admission,
    applying,
    crds,
    discovery,
    errors,
    patching,
    pods,
    reading,
    writing,
)
from conformance.scenarios.step import Scenario

ALL: tuple[Scenario, ...] = (
    *writing.SCENARIOS,
    *reading.SCENARIOS,
    *patching.SCENARIOS,
    *applying.SCENARIOS,
    *errors.SCENARIOS,
    *admission.SCENARIOS,
    *pods.SCENARIOS,
    *crds.SCENARIOS,
    *discovery.SCENARIOS,
)
