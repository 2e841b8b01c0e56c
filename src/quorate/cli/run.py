"""`quorate run`: the controllers against any cluster, as the process of an installation."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from quorate.api import labels
from quorate.cli.failures import fail, refusals
from quorate.cli.options import SCHEDULER_NAME, Level, LogLevel, Mapping, Only, PolicyFile, SchedulerName


def run(  # noqa: PLR0913 - each is an option of the command
    *,
    kubeconfig: Annotated[
        str, typer.Option(help="Else $KUBECONFIG, ~/.kube/config, or the pod's own account.")
    ] = "",
    context: Annotated[str, typer.Option(help="A context of the kubeconfig.")] = "",
    only: Only = None,
    scheduler_name: SchedulerName = SCHEDULER_NAME,
    grouping_file: Mapping = None,
    policy_file: PolicyFile = None,
    kind_defaults: Annotated[
        str, typer.Option(help="NAMESPACE/NAME of the ConfigMap with the defaults of kinds.")
    ] = "quorate-system/quorate-kind-defaults",
    queue_label: Annotated[
        str, typer.Option(help="The label by which workloads and pods name their queue.")
    ] = labels.QUEUE,
    node_pool_label: Annotated[
        str, typer.Option(help="The label by which pods name their node pool.")
    ] = labels.NODE_POOL,
    knative_gangs: Annotated[
        bool, typer.Option(help="The pods of a Knative Revision are one gang, not each its own.")
    ] = True,
    leader_elect: Annotated[bool, typer.Option(help="Let one of several processes work at a time.")] = False,
    health_port: Annotated[
        int, typer.Option(help="For /healthz, /readyz and /metrics; 0 is none.", min=0, max=65535)
    ] = 8080,
    webhook_port: Annotated[
        int, typer.Option(help="Where admission is served; 0 is nowhere.", min=0, max=65535)
    ] = 0,
    webhook_certificates: Annotated[
        Path, typer.Option(help="A folder for its certificate, which is made and renewed there.")
    ] = Path("/tmp/quorate-webhook"),  # noqa: S108 - in a container of its own; elsewhere one names a folder
    log_level: LogLevel = Level.INFO,
) -> None:
    """Run the controllers on the cluster of a kubeconfig."""
    from quorate.api.core import CONFIG_MAP, LEASE  # noqa: PLC0415 - keeps `quorate --help` fast
    from quorate.api.shipped import NAMESPACE  # noqa: PLC0415 - likewise
    from quorate.api.webhooks import dns_names  # noqa: PLC0415 - likewise
    from quorate.cli.groupers import extensions  # noqa: PLC0415 - likewise
    from quorate.cli.policies import scheduling  # noqa: PLC0415 - likewise
    from quorate.cli.world import stop_on_signals  # noqa: PLC0415 - likewise
    from quorate.controllers import app, logs  # noqa: PLC0415 - likewise
    from quorate.controllers.admission import Webhook  # noqa: PLC0415 - likewise
    from quorate.embedded.collector import relax  # noqa: PLC0415 - likewise
    from quorate.grouping.subject import Settings  # noqa: PLC0415 - likewise
    from quorate.kube.certificates import Files  # noqa: PLC0415 - likewise
    from quorate.kube.kubeconfig import discover  # noqa: PLC0415 - likewise
    from quorate.plan import Ref  # noqa: PLC0415 - likewise

    logs.set_up(log_level.value)
    found, decides = extensions(grouping_file), scheduling(policy_file)
    where, _, name = kind_defaults.partition("/")
    if not where or not name:
        raise fail(f"--kind-defaults {kind_defaults}: write NAMESPACE/NAME", status=2)

    async def work() -> None:
        stop = asyncio.Event()
        stop_on_signals(stop)
        settings = app.Settings(
            only=tuple(only or ()),
            scheduler_name=scheduler_name,
            policy=decides.policy,
            usage_half_life=decides.usage_half_life,
            grouping=Settings(
                queue_label=queue_label,
                node_pool_label=node_pool_label,
                knative_gangs=knative_gangs,
                extensions=found,
            ),
            kind_defaults=Ref(kind=CONFIG_MAP, namespace=where, name=name),
            lease=Ref(kind=LEASE, namespace=NAMESPACE, name="quorate") if leader_elect else None,
            health_port=health_port or None,
            webhook=Webhook(Files(webhook_certificates), dns_names(), "0.0.0.0", webhook_port)  # noqa: S104 - from outside the pod
            if webhook_port
            else None,
        )
        await app.run(discover(kubeconfig, context), settings, stop)

    with refusals():
        relax()
        asyncio.run(work())
