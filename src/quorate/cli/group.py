"""`quorate group`: what the grouper would make of the objects of files, without a cluster."""

from typing import TYPE_CHECKING

import typer

from quorate.cli.documents import read_all
from quorate.cli.failures import fail
from quorate.cli.manifests import Format, Output
from quorate.cli.options import SCHEDULER_NAME, Files, Mapping, SchedulerName

if TYPE_CHECKING:
    from quorate.grouping.grouper import Gang
    from quorate.grouping.offline import Answer


def group(
    *,
    filename: Files,
    grouping_file: Mapping = None,
    scheduler_name: SchedulerName = SCHEDULER_NAME,
    output: Output = Format.YAML,
) -> None:
    """Print the PodGroups of workloads, with the group of each pod; warnings go to standard error."""
    from quorate.cli.groupers import extensions  # noqa: PLC0415 - keeps `quorate --help` fast
    from quorate.grouping.offline import UnreadableError, group_objects  # noqa: PLC0415 - likewise
    from quorate.grouping.subject import Context, Settings  # noqa: PLC0415 - likewise
    from quorate.workloads.rbg.ahead import FaultyError, with_sets  # noqa: PLC0415 - likewise

    names = frozenset({scheduler_name})
    settings = Settings(scheduler_names=names, extensions=extensions(grouping_file))
    try:
        documents = with_sets(read_all(filename), scheduler_name)
        answer = group_objects(documents, Context(settings=settings))
    except (UnreadableError, FaultyError) as error:
        raise fail(str(error), status=1) from error
    if answer.gangs:
        typer.echo(_as_json(answer) if output is Format.JSON else _as_yaml(answer))
    refused = _say(answer)
    if not answer.gangs and not refused:
        raise fail("the files hold no pods and no workload that is known to make some", status=1)
    if refused:
        raise typer.Exit(1)


def _as_yaml(answer: "Answer") -> str:
    from quorate.cli.manifests import render  # noqa: PLC0415 - keeps `quorate --help` fast

    parts = [f"{_members(gang)}{render([gang.body], Format.YAML)}" for gang in answer.gangs]
    return "\n---\n".join(parts)


def _members(gang: "Gang") -> str:
    """Comments, so that the output is still what `kubectl apply` takes."""
    nowhere = "in no group" if gang.body["spec"].get("subGroups") else "members"
    by_group: dict[str, list[str]] = {}
    for pod, name in gang.members:
        by_group.setdefault(f"group {name}" if name else nowhere, []).append(pod.metadata.name)
    return "".join(f"# {place}: {', '.join(pods)}\n" for place, pods in by_group.items())


def _as_json(answer: "Answer") -> str:
    import msgspec  # noqa: PLC0415 - keeps `quorate --help` fast

    gangs = [
        {"podGroup": gang.body, "members": {pod.metadata.name: name for pod, name in gang.members}}
        for gang in answer.gangs
    ]
    warnings = [
        {"pod": warned.pod.metadata.name, "message": warned.message, "refused": warned.is_refusal}
        for warned in answer.warnings
    ]
    found = {"gangs": gangs, "warnings": warnings, "withoutPods": list(answer.ungrouped)}
    return msgspec.json.format(msgspec.json.encode(found), indent=2).decode()


def _say(answer: "Answer") -> bool:
    """Print warnings and errors; whether something was not grouped."""
    for warned in answer.warnings:
        what = "error" if warned.is_refusal else "warning"
        typer.echo(f"{what}: pod {warned.pod.metadata.name}: {warned.message}", err=True)
    for name in answer.ungrouped:
        text = f"error: {name}: its pods are not known; add one to the files, with its labels and ownerReferences"
        typer.echo(text, err=True)
    return bool(answer.ungrouped) or any(warned.is_refusal for warned in answer.warnings)
