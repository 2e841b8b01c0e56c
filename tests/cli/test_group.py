"""`quorate group` and `quorate lint` as a user runs them."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from quorate.cli.main import app

EXAMPLE = Path(__file__).parents[2] / "examples" / "custom-job"
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec: {parallelism: 2, template: {spec: {schedulerName: quorate}}}
"""
BROKEN = """
apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {name: g}
spec: {subGroups: [{name: a, parent: b, minMember: 1}]}
"""


def run(*arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(app, arguments, input=stdin)


def test_what_is_printed_is_what_kubectl_would_apply() -> None:
    done = run("group", "-f", "-", stdin=JOB)
    assert done.exit_code == 0, done.output
    (group,) = yaml.safe_load_all(done.stdout)
    assert (group["kind"], group["spec"]["minMember"]) == ("PodGroup", 1)
    assert "# members: train-0, train-1" in done.stdout
    assert "top-owner-metadata: |\n      name: train\n" in done.stdout


def test_programs_get_members_and_warnings_as_json() -> None:
    manifest = JOB.replace("{name: train}", "{name: train, labels: {kai.scheduler/preemptibility: x}}")
    found: Any = json.loads(run("group", "-f", "-", "-o", "json", stdin=manifest).stdout)
    assert found["gangs"][0]["members"] == {"train-0": "", "train-1": ""}
    assert '"x" is no value' in found["warnings"][0]["message"]


def test_a_refused_workload_is_an_error_and_the_others_are_printed(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(JOB.replace("{name: train}", BAD_MINIMUM))
    (tmp_path / "b.yml").write_text(JOB.replace("train", "other"))
    done = run("group", "-f", str(tmp_path))
    assert done.exit_code == 1
    assert "error: pod train-0: annotation quorate.dev/min-member: 'x' is not a whole number" in done.stderr
    assert "pg-other-" in done.stdout


BAD_MINIMUM = '{name: train, annotations: {quorate.dev/min-member: "x"}}'


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "said"),
    [
        (("group", "-f", "missing.yaml"), "", 3, "missing.yaml: no such file"),
        (("group", "-f", "-"), "a: [", 1, "is not YAML"),
        (("group", "-f", "-"), "kind: Job", 1, "apiVersion is missing"),
        (("group", "-f", "-"), "{apiVersion: v1, kind: Service, metadata: {name: s}}", 1, "hold no pods"),
        (("group", "-f", "-", "--grouping-file", "missing"), JOB, 2, "--grouping-file missing: no such file"),
        (
            ("lint", "-f", "-"),
            BROKEN,
            1,
            "PodGroup g: error: spec.subGroups[0].parent: parent b of a was not",
        ),
        (("lint", "-f", "-"), JOB, 0, "1 objects, 0 errors, 0 warnings"),
    ],
)
def test_what_is_wrong_is_one_line_and_an_exit_status(
    arguments: tuple[str, ...], stdin: str, code: int, said: str
) -> None:
    done = run(*arguments, stdin=stdin)
    assert (done.exit_code, said in done.output) == (code, True), done.output
    assert "Traceback" not in done.output


def test_a_grouping_file_is_refused_at_the_place_that_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "grouping.yaml"
    file.write_text("kinds: [{kind: Foo.example.com, minMember: a..b}]")
    done = run("group", "-f", "-", "--grouping-file", str(file), stdin=JOB)
    assert done.exit_code == 2
    assert f'{file}: kinds[0].minMember: "a..b" is no path' in done.output.replace("\n", " ")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The example's package on the path, with the entry points that installing it would record."""
    points = EXAMPLE / "pyproject.toml"
    wanted = points.read_text().split('[project.entry-points."quorate.groupers"]\n')[1].split("\n\n")[0]
    recorded = tmp_path / "quorate_custom_job-0.1.0.dist-info"
    recorded.mkdir()
    (recorded / "METADATA").write_text("Metadata-Version: 2.1\nName: quorate-custom-job\nVersion: 0.1.0\n")
    (recorded / "entry_points.txt").write_text(f"[quorate.groupers]\n{wanted.replace(chr(34), '')}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(EXAMPLE / "src"))
    yield
    sys.modules.pop("quorate_custom_job", None)


def minimum(**spec: int) -> int:
    manifest = yaml.safe_load((EXAMPLE / "job.yaml").read_text())
    manifest["spec"] |= spec
    for name, value in spec.items():
        if value < 0:
            del manifest["spec"][name]
    done = run("group", "-f", "-", stdin=yaml.safe_dump(manifest))
    assert done.exit_code == 0, done.output
    return int(yaml.safe_load(done.stdout)["spec"]["minMember"])


@pytest.mark.usefixtures("installed")
def test_the_example_plugin_reads_min_available_then_replicas() -> None:
    assert minimum() == 3
    assert minimum(minAvailable=0) == 4
    assert minimum(minAvailable=-1) == 4
    assert minimum(minAvailable=-1, replicas=-1) == 1


def test_the_example_file_groups_the_example_job_without_code() -> None:
    job, file = EXAMPLE / "job.yaml", EXAMPLE / "grouping.yaml"
    done = run("group", "-f", str(job), "--grouping-file", str(file))
    assert done.exit_code == 0, done.output
    spec = yaml.safe_load(done.stdout)["spec"]
    assert (spec["minMember"], spec["priorityClassName"]) == (3, "build")


ROLES = """
apiVersion: workloads.x-k8s.io/v1alpha2
kind: RoleBasedGroup
metadata: {name: llm}
spec: {roles: [{name: prefill, replicas: 2, standalonePattern: {template: {spec: {containers: [{name: c}]}}}}]}
---
apiVersion: workloads.x-k8s.io/v1alpha2
kind: CoordinatedPolicy
metadata: {name: llm}
spec: {policies: [{name: p, roles: [prefill], strategy: {segmentPlacement: {segmentSize: {prefill: 1}}}}]}
"""


def test_roles_are_grouped_by_segments() -> None:
    done = run("group", "-f", "-", "-o", "json", stdin=ROLES)
    assert done.exit_code == 0, done.output
    found = [gang["podGroup"]["metadata"]["labels"] for gang in json.loads(done.stdout)["gangs"]]
    assert [one["quorate.dev/composite-pod-group"] for one in found] == ["llm-segment-1", "llm-segment-2"]
    refused = run("group", "-f", "-", stdin=ROLES.replace("prefill: 1", "ghost: 1"))
    assert refused.exit_code == 1
    assert 'role "ghost" does not exist: the group has prefill' in refused.output
