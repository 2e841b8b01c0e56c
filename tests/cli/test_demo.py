"""`quorate demo`: whatever manifests it is given run on a cluster of its own until they have settled."""

import re
from pathlib import Path

import pytest

from tests.fakes.command import Quorate

GANG = """
apiVersion: batch/v1
kind: Job
metadata:
  name: {name}
  annotations: {{kai.scheduler/batch-min-member: "2"}}
spec:
  parallelism: 2
  completions: 2
  template:
    metadata: {{annotations: {{quorate.dev/fake-run-seconds: "0.1"}}}}
    spec:
      schedulerName: quorate
      restartPolicy: Never
      containers:
        - {{name: main, image: "example/main:1", resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}
"""


def test_what_ran_and_what_waits_is_told(
    quorate: Quorate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jobs.yaml").write_text(
        GANG.format(name="fits", gpus=4) + "---" + GANG.format(name="big", gpus=9)
    )
    monkeypatch.setattr("quorate.cli.demo.SETTLED_SECONDS", 2.0)
    ended = quorate("demo", str(tmp_path), "--nodes", "2x8gpu")
    assert ended.status == 0, ended
    assert "2 gangs: 1 Pending, 1 Succeeded" in ended.out
    assert "2 of 4 pods have a node, by 2 bindings; no gang has started in part" in ended.out
    assert "big waits: " in ended.out
    assert re.search(r"settled \d+\.\d s after the examples were applied; \d+ s in all", ended.out)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "is not YAML"),
        ("- 1", "document 1 is not an object"),
        ("kind: Flower\nmetadata: {name: rose}", "cannot apply ? Flower"),
        (GANG.format(name="odd", gpus=1).replace("parallelism: 2", "parallelism: two"), "parallelism"),
    ],
)
def test_manifests_that_make_no_sense_are_refused(
    quorate: Quorate, tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "objects.yaml").write_text(text)
    ended = quorate("demo", str(tmp_path), "--nodes", "1x8gpu")
    assert ended.status == 1, ended
    assert message in ended.line
