"""RoleBasedGroups as a user drives them with kubectl; the state of the world is what counts."""

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.command import runner
from tests.fakes.rbg import GROUPS, INDEX, ROLE, Role, group, is_bound, look
from tests.fakes.waiting import eventually
from tests.kubectl import Kubectl

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "rbg"
UPSTREAM = "rolebasedgroups.workloads.x-k8s.io"
PAIR = [Role("prefill", 4), Role("decode", 2)]
SIZES = "{prefill: 2, decode: 1}"


def ready(shell: Kubectl, name: str, kind: str = GROUPS) -> None:
    shell("wait", f"{kind}/{name}", "--for=condition=Ready", "--timeout=30s", timeout=40)


def images(shell: Kubectl, name: str) -> set[str]:
    return {pod["spec"]["containers"][0]["image"] for pod in look(shell, name).pods}


def test_a_group_is_made_shown_scaled_and_deleted(shell: Kubectl) -> None:
    shell.apply(group("llm", PAIR, SIZES))
    ready(shell, "llm")
    head, row = shell("get", GROUPS, "llm").splitlines()
    assert head.split() == ["NAME", "READY", "SEGMENTS", "AGE"]
    assert row.split()[:3] == ["llm", "True", "2/2"]
    roles = shell.get(GROUPS, "llm")["status"]["roleStatuses"]
    assert roles[0] == {"name": "prefill", "replicas": 4, "readyReplicas": 4, "updatedReplicas": 4}
    composites = shell.get("compositepodgroups.scheduling.quorate.dev")["items"]
    assert {one["metadata"]["name"] for one in composites} == {"llm-segment-1", "llm-segment-2"}

    shell.apply(group("llm", [Role("prefill", 2), Role("decode", 1)], SIZES))
    eventually(lambda: look(shell, "llm").running, until=lambda seen: seen == {"prefill": 2, "decode": 1})
    shell("delete", GROUPS, "llm")
    kinds = "pods,services,configmaps,leaderworkersets,compositepodgroups,controllerrevisions"
    selector = "rbg.workloads.x-k8s.io/group-name=llm"
    eventually(lambda: shell("get", kinds, "-l", selector, "-o", "name"), until=lambda seen: seen == "")


def test_pods_find_each_other(shell: Kubectl) -> None:
    shell.apply(group("llm", [Role("prefill", 1, size=2), Role("decode", 1)]))
    ready(shell, "llm")
    worker = shell.get("pod", "llm-prefill-0-1")["spec"]["containers"][0]
    env = {
        one["name"]: one.get("value") or one["valueFrom"]["fieldRef"]["fieldPath"] for one in worker["env"]
    }
    assert env["RBG_ROLE_NAME"] == "prefill"
    assert env["RBG_ROLE_INDEX"] == f"metadata.labels['{INDEX}']"
    assert env["RBG_LWP_LEADER_ADDRESS"] == "$(RBG_ROLE_INSTANCE_NAME).llm-prefill"
    assert {"name": "rbg-config", "mountPath": "/etc/rbg", "readOnly": True} in worker["volumeMounts"]
    listed = shell.get("configmap", "llm")["data"]["config.yaml"]
    assert '- address: "llm-prefill-0.llm-prefill"' in listed
    service = shell.get("service", "s-llm-prefill")["spec"]
    assert service["clusterIP"] == "None"
    assert service["selector"]["rbg.workloads.x-k8s.io/component-name"] == "leader"


def test_a_role_is_scaled_by_its_adapter(shell: Kubectl) -> None:
    manifest = group("llm", PAIR, SIZES).replace(
        "replicas: 2, ", "replicas: 2, scalingAdapter: {enable: true}, "
    )
    shell.apply(manifest)
    ready(shell, "llm")
    adapter = "rolebasedgroupscalingadapters.workloads.x-k8s.io/llm-decode"
    eventually(
        lambda: shell.get(adapter)["status"].get("selector"),
        until=lambda seen: seen == f"rbg.workloads.x-k8s.io/group-name=llm,{ROLE}=decode",
    )
    shell("scale", adapter, "--replicas=3")
    eventually(lambda: look(shell, "llm").running, until=lambda seen: seen == {"prefill": 4, "decode": 3})


def test_the_whole_group_rolls_and_goes_back(shell: Kubectl, capsys: pytest.CaptureFixture[str]) -> None:
    quorate = runner(capsys)
    shell.apply(group("llm", PAIR, SIZES))
    ready(shell, "llm")
    shell.apply(group("llm", PAIR, SIZES).replace("server:1", "server:2"))
    command = "--kubeconfig", str(shell.kubeconfig), "-n", shell.namespace
    done = quorate("rollout", "status", "rbg/llm", "--timeout", "30", *command)
    assert "all 6 instances are updated and ready" in done.out, done
    assert images(shell, "llm") == {"example/server:2"}
    assert quorate("rollout", "undo", "rbg/llm", *command).status == 0
    eventually(lambda: images(shell, "llm"), until=lambda seen: seen == {"example/server:1"})


def test_a_paused_group_keeps_its_pods_until_it_goes_on(shell: Kubectl) -> None:
    shell.apply(group("llm", PAIR, SIZES))
    ready(shell, "llm")
    shell("annotate", GROUPS, "llm", "quorate.dev/paused=true")
    shell.apply(group("llm", PAIR, SIZES).replace("server:1", "server:2"))
    eventually(
        lambda: shell.get(GROUPS, "llm")["status"]["roleStatuses"],
        until=lambda seen: all(one.get("updatedReplicas", 0) == 0 for one in seen),
    )
    assert images(shell, "llm") == {"example/server:1"}
    shell("annotate", GROUPS, "llm", "quorate.dev/paused-")
    eventually(lambda: images(shell, "llm"), until=lambda seen: seen == {"example/server:2"})


def test_a_failure_in_one_role_restarts_the_whole_group_if_it_is_to(shell: Kubectl) -> None:
    config = "restartPolicyConfig: {type: RecreateRBGOnPodRestart}"
    fails = "{quorate.dev/fake-start-seconds: '1', quorate.dev/fake-run-seconds: '2', quorate.dev/fake-exit-code: '1'}"
    pod = f"{{metadata: {{annotations: {fails}}}, spec: {{containers: [{{name: main, image: 'example/server:1'}}]}}}}"
    first = f"{{name: first, standalonePattern: {{{config}, template: {pod}}}}}"
    shell.apply(group("llm", [Role("second", 1, size=2)]).replace("roles: [", f"roles: [{first}, "))

    def others() -> set[str]:
        return {
            pod["metadata"]["uid"]
            for pod in look(shell, "llm").pods
            if pod["metadata"]["labels"][ROLE] == "second"
        }

    before = eventually(others, until=lambda seen: len(seen) == 2)
    eventually(others, until=lambda seen: len(seen) == 2 and seen.isdisjoint(before))


def test_a_policy_says_whether_it_steers_anything(shell: Kubectl) -> None:
    shell.apply("""
apiVersion: workloads.x-k8s.io/v1alpha2
kind: CoordinatedPolicy
metadata: {name: llm}
spec: {policies: [{name: pace, roles: [prefill, decode], strategy: {scaling: {maxSkew: 5%}}}]}
""")
    for status in ("False", "True"):
        shell("wait", "cpolicy/llm", f"--for=condition=Bound={status}", "--timeout=20s", timeout=30)
        shell.apply(group("llm", PAIR))


def test_typos_in_roles_are_refused(shell: Kubectl) -> None:
    manifest = group("llm", PAIR, SIZES).replace("name: decode, replicas", "name: decode, replcas")
    refused = shell.run("apply", "-f", "-", stdin=manifest)
    assert refused.code != 0
    assert 'unknown field "spec.roles[1].replcas"' in refused.err
    refused = shell.run(
        "apply", "-f", "-", stdin=group("llm", PAIR, SIZES).replace("containers: [", "contaners: [", 1)
    )
    assert 'unknown field "spec.roles[0].template.spec.contaners"' in refused.err
    refused = shell.run("apply", "-f", "-", stdin=group("llm", PAIR, "{prefil: 2, decode: 1}"))
    assert 'segmentSize.prefil: role "prefil" does not exist: the group has prefill, decode' in refused.err


def test_a_configuration_error_costs_no_pod_and_names_role_and_field(shell: Kubectl) -> None:
    shell.apply(group("llm", PAIR, SIZES))
    ready(shell, "llm")
    before = {pod["metadata"]["uid"] for pod in look(shell, "llm").pods}
    refused = shell.run("apply", "-f", "-", stdin=group("llm", PAIR, SIZES, "{prefill: 3}"))
    assert 'segment size conflict for role "prefill"' in refused.err
    shell.apply("""
apiVersion: workloads.x-k8s.io/v1alpha2
kind: CoordinatedPolicy
metadata: {name: llm}
spec:
  policies:
    - {name: other, roles: [prefill], strategy: {segmentPlacement: {segmentSize: {prefill: 3}}}}
""")
    seen = eventually(
        lambda: look(shell, "llm"), until=lambda seen: seen.conditions["ConfigurationValid"][0] == "False"
    )
    assert 'segment size conflict for role "prefill"' in seen.conditions["ConfigurationValid"][2]
    assert {pod["metadata"]["uid"] for pod in seen.pods} == before


def test_upstreams_shape_with_a_policy_places_segments_too(shell: Kubectl) -> None:
    pod = "{spec: {containers: [{name: main, image: 'example/server:1'}]}}"
    shell.apply(f"""
apiVersion: workloads.x-k8s.io/v1alpha2
kind: CoordinatedPolicy
metadata: {{name: llm}}
spec:
  policies:
    - name: together
      roles: [prefill, decode]
      strategy: {{segmentPlacement: {{segmentSize: {SIZES}}}}}
---
apiVersion: workloads.x-k8s.io/v1alpha2
kind: RoleBasedGroup
metadata: {{name: llm}}
spec:
  roleTemplates: [{{name: shared, template: {pod}}}]
  roles:
    - name: prefill
      replicas: 4
      standalonePattern: {{templateRef: {{name: shared, patch: {{}}}}}}
    - name: decode
      replicas: 2
      dependencies: [prefill]
      leaderWorkerPattern: {{size: 2, templateRef: {{name: shared, patch: {{}}}}}}
""")
    ready(shell, "llm", UPSTREAM)
    assert shell.get(UPSTREAM, "llm")["status"]["segmentsReady"] == "2/2"
    podgroups = shell.get("podgroups.scheduling.run.ai")["items"]
    assert len(podgroups) == 6
    assert {one["metadata"]["labels"]["quorate.dev/composite-pod-group"] for one in podgroups} == {
        "llm-segment-1",
        "llm-segment-2",
    }


def test_segments_keep_to_a_rack_each(shell: Kubectl) -> None:
    shell.apply("""
apiVersion: kai.scheduler/v1alpha1
kind: Topology
metadata: {name: racks}
spec: {levels: [{nodeLabel: quorate.dev/rack}]}
""")
    affinity = "{topologyKey: quorate.dev/rack, strategy: RequireSegmentAffinity, spreadSegments: true}"
    shell.apply(group("llm", PAIR, SIZES, topologyAffinity=affinity))
    ready(shell, "llm")
    racks = {
        node["metadata"]["name"]: node["metadata"]["labels"]["quorate.dev/rack"] for node in nodes(shell)
    }
    seen = look(shell, "llm")
    used = [
        {racks[pod["spec"]["nodeName"]] for pod in seen.of_segment(segment, prefill=2, decode=1)}
        for segment in (1, 2)
    ]
    assert [len(each) for each in used] == [1, 1]
    assert used[0] != used[1]


def test_a_role_that_waits_for_another_starts_after_it(shell: Kubectl) -> None:
    store = str(Role("store", 1)).replace("fake-start-seconds: '0.01'", "fake-ready-seconds: '1.5'")
    shell.apply(group("llm", [Role("server", 1, needs="store")]).replace("roles: [", f"roles: [{store}, "))
    eventually(lambda: [*map(is_bound, look(shell, "llm").pods)], until=lambda seen: seen == [True])
    assert look(shell, "llm").pods[0]["metadata"]["labels"][ROLE] == "store"
    ready(shell, "llm")
    assert look(shell, "llm").running == {"store": 1, "server": 1}


def nodes(shell: Kubectl) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = shell.get("nodes")["items"]
    return found


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_examples_apply_as_they_are(shell: Kubectl, example: Path) -> None:
    applied = shell.run("apply", "--dry-run=server", "-f", str(example)).checked()
    assert not applied.err
