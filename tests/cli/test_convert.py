"""`quorate convert` as a user runs it."""

import yaml
from typer.testing import CliRunner, Result

from quorate.cli.main import app

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


def run(stdin: str) -> Result:
    return CliRunner().invoke(app, ["convert", "--from", "semantic-min-member", "-f", "-"], input=stdin)


def test_minimums_that_counted_children_say_so_and_other_kinds_stay() -> None:
    group, other = yaml.safe_load_all(run(OPTION_1).stdout)
    assert (group["spec"]["minSubGroup"], "minMember" in group["spec"]) == (1, False)
    assert [each["minMember"] for each in group["spec"]["subGroups"]] == [8, 8]
    assert other["kind"] == "ConfigMap"


def test_a_manifest_that_has_both_is_refused_in_one_line() -> None:
    done = run(OPTION_1.replace("minMember: 1", "minMember: 1\n  minSubGroup: 1"))
    assert done.exit_code == 1
    assert done.stderr.startswith("quorate: document 1: spec: minSubGroup is set beside minMember")
