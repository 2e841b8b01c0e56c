"""`quorate convert` as a user runs it."""

from pathlib import Path

import yaml
from typer.testing import CliRunner, Result

from quorate.cli.main import app

EXAMPLES = Path(__file__).parents[2] / "examples" / "rbg"

OPTION_1 = """
apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {name: g}
spec:
  minMember: 1
  subGroups:
    - {name: a, minMember: 8}
    - {name: b, minMember: 8}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
"""


def run(stdin: str, reading: str = "semantic-min-member") -> Result:
    return CliRunner().invoke(app, ["convert", "--from", reading, "-f", "-"], input=stdin)


def test_minimums_that_counted_children_say_so_and_other_kinds_stay() -> None:
    group, other = yaml.safe_load_all(run(OPTION_1).stdout)
    assert (group["spec"]["minSubGroup"], "minMember" in group["spec"]) == (1, False)
    assert [each["minMember"] for each in group["spec"]["subGroups"]] == [8, 8]
    assert other["kind"] == "ConfigMap"


def test_a_manifest_that_has_both_is_refused_in_one_line() -> None:
    done = run(OPTION_1.replace("minMember: 1", "minMember: 1\n  minSubGroup: 1"))
    assert done.exit_code == 1
    assert done.stderr.startswith("quorate: document 1: spec: minSubGroup is set beside minMember")


def test_roles_go_into_their_other_shape_and_back() -> None:
    upstream = (EXAMPLES / "upstream.yaml").read_text()
    done = run(upstream, "workloads.x-k8s.io")
    assert done.exit_code == 0, done.output
    (group,) = yaml.safe_load_all(done.stdout)
    assert group["apiVersion"] == "workloads.instai.io/v1alpha1"
    (requirement,) = group["spec"]["coordinationRequirements"]
    assert requirement["strategy"]["segmentPlacement"]["segmentSize"] == {"prefill": 2, "decode": 1}
    again, policy = yaml.safe_load_all(run(done.stdout, "workloads.instai.io").stdout)
    assert (again["apiVersion"], policy["kind"]) == ("workloads.x-k8s.io/v1alpha2", "CoordinatedPolicy")
    refused = run(
        "{apiVersion: workloads.instai.io/v1alpha1, kind: RoleBasedGroup, spec: 3}", "workloads.instai.io"
    )
    assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
