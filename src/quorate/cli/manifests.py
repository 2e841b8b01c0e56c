"""`quorate crds` and `quorate manifests`: what an installation needs, as YAML or JSON on standard output."""

from enum import StrEnum
from typing import Annotated

import msgspec
import typer
import yaml

from quorate.api.meta import Json
from quorate.cli.options import SCHEDULER_NAME, SchedulerName


class Format(StrEnum):
    YAML = "yaml"
    JSON = "json"


Output = Annotated[Format, typer.Option("--output", "-o", help="How to print the objects.")]


def crds(output: Output = Format.YAML) -> None:
    """Print the CustomResourceDefinitions: `quorate crds | kubectl apply --server-side -f -`."""
    from quorate.api.crds import crds as definitions  # noqa: PLC0415 - builds all schemas

    typer.echo(render(definitions(), output))


def manifests(
    output: Output = Format.YAML,
    *,
    webhook_port: Annotated[
        int, typer.Option(help="Print the webhooks instead, for `quorate run --webhook-port` of this number.")
    ] = 0,
    scheduler_name: SchedulerName = SCHEDULER_NAME,
) -> None:
    """Print everything else an installation needs: namespace, account, roles, priority classes."""
    from quorate.api import shipped, webhooks  # noqa: PLC0415 - only this command needs them

    if webhook_port:
        found = [webhooks.service(webhook_port), *webhooks.configurations(scheduler_name)]
    else:
        found = shipped.objects()
    typer.echo(render(found, output))


def render(objects: list[Json], output: Format) -> str:
    if output is Format.JSON:
        items = {"apiVersion": "v1", "kind": "List", "items": objects}
        return msgspec.json.format(msgspec.json.encode(items), indent=2).decode()
    return "---\n".join(_as_yaml(item) for item in objects).rstrip()


class _Readable(yaml.CSafeDumper):
    """Texts of several lines stand as such, and what is there twice is written twice."""

    def ignore_aliases(self, _: object) -> bool:
        return True


def _text(dumper: yaml.CSafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Readable.add_representer(str, _text)


def _as_yaml(item: Json) -> str:
    return str(yaml.dump(item, Dumper=_Readable, sort_keys=False, allow_unicode=True))
