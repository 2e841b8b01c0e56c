from quorate.api.podspec import Container, PodSpec, ResourceList, ResourceRequirements
from quorate.rules.podresources import requested


def container(restart_policy: str | None = None, **requests: str) -> Container:
    asked: ResourceList = dict(requests.items())
    return Container(resources=ResourceRequirements(requests=asked), restart_policy=restart_policy)


def test_containers_add_up_and_take_a_seat() -> None:
    spec = PodSpec(containers=[container(cpu="500m", memory="1Ki"), container(cpu="1")])
    assert requested(spec) == {"cpu": 1500, "memory": 1_024_000, "pods": 1000}


def test_an_init_container_counts_only_beyond_the_containers() -> None:
    spec = PodSpec(
        containers=[container(cpu="1", memory="4")], init_containers=[container(cpu="3", memory="1")]
    )
    assert requested(spec) == {"cpu": 3000, "memory": 4000, "pods": 1000}


def test_sidecars_run_beside_containers_and_later_init_containers() -> None:
    spec = PodSpec(
        containers=[container(cpu="1")],
        init_containers=[container(cpu="5"), container("Always", cpu="2"), container(cpu="4")],
    )
    assert requested(spec)["cpu"] == 6000


def test_pod_level_requests_replace_cpu_and_memory_sums() -> None:
    asked = ResourceRequirements(requests={"cpu": "4", "nvidia.com/gpu": "7"})
    gpu: ResourceList = {"cpu": "1", "nvidia.com/gpu": 2}
    spec = PodSpec(containers=[Container(resources=ResourceRequirements(limits=gpu))], resources=asked)
    assert requested(spec) == {"cpu": 4000, "nvidia.com/gpu": 2000, "pods": 1000}


def test_overhead_comes_on_top() -> None:
    assert requested(PodSpec(containers=[container(cpu="1")], overhead={"cpu": "250m"}))["cpu"] == 1250
