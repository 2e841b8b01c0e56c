"""The same REST scenarios on the embedded server and on a real one, answer by answer.

`compare` replays and returns what differs; `python -m conformance parity` prints it.
"""

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

import aiohttp

from conformance.answers import Answer, differences, normal
from conformance.scenarios.step import Scenario, Step
from quorate.kube.auth import Connection

SETUP_SECONDS = 5.0
REFERENCE = re.compile(r"\$(rv|uid|continue)(\d*)")
PLACE = re.compile(r"\[\d+\]")
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """One request that two servers answer differently: the leaves as `path: embedded / real`."""

    scenario: str
    number: int
    request: str
    leaves: tuple[str, ...]

    def __str__(self) -> str:
        shown = "\n".join(f"    {leaf}" for leaf in self.leaves[:8])
        more = f"\n    … and {len(self.leaves) - 8} more" if len(self.leaves) > 8 else ""
        return f"{self.scenario} [{self.number}] {self.request}\n{shown}{more}"


@dataclass
class Compared:
    requests: int = 0
    differences: list[Difference] = field(default_factory=list)
    deviations: list[str] = field(default_factory=list)

    def common_places(self) -> list[tuple[str, int]]:
        """Where in the answers most differences are, for whoever mends them."""
        places = Counter(
            place
            for difference in self.differences
            for place in {PLACE.sub("[*]", leaf.partition(": ")[0]) for leaf in difference.leaves}
        )
        return [found for found in places.most_common(10) if found[1] > 1]


async def compare(embedded: Connection, real: Connection, scenarios: Iterable[Scenario]) -> Compared:
    result = Compared()
    async with Server(embedded) as left, Server(real) as right:
        for number, scenario in enumerate(scenarios):
            namespace = f"parity-{number}"
            answers = await asyncio.gather(
                left.replay(scenario, namespace), right.replay(scenario, namespace)
            )
            for place, (step, ours, theirs) in enumerate(zip(scenario.steps, *answers, strict=True)):
                result.requests += 1
                leaves = _leaves(step, ours, theirs)
                if step.deviation and leaves:
                    result.deviations.append(f"{scenario.name} [{place}]: {step.deviation}")
                elif step.deviation:
                    result.differences.append(
                        Difference(scenario.name, place, step.deviation, ("no longer",))
                    )
                elif leaves:
                    request = f"{step.method} {step.path} ({step.accept.rpartition('as=')[2][:5]})"
                    result.differences.append(Difference(scenario.name, place, request, tuple(leaves)))
    return result


def _leaves(step: Step, ours: Answer, theirs: Answer) -> list[str]:
    if step.is_setup:
        failed = [str(each.body) for each in (ours, theirs) if each.code >= 400]
        return [f"not set up: {text}" for text in failed]
    return list(differences(normal(ours, step.only), normal(theirs, step.only)))


class Server:
    """One API server as a place to replay scenarios."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._session = aiohttp.ClientSession()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def replay(self, scenario: Scenario, namespace: str) -> list[Answer]:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        await self._send(Step("POST", "/api/v1/namespaces", body), namespace, [])
        await self._set_up(Step("GET", "serviceaccounts/default"), namespace, [])
        answers: list[Answer] = []
        for step in scenario.steps:
            send = self._set_up if step.is_setup else self._send
            answers.append(await send(step, namespace, answers))
        return answers

    async def _set_up(self, step: Step, namespace: str, answers: list[Answer]) -> Answer:
        """Repeat until it is served: controllers need a moment."""
        deadline = time.monotonic() + SETUP_SECONDS
        while True:
            answer = await self._send(step, namespace, answers)
            if answer.code not in {404, 429} or time.monotonic() > deadline:
                return answer
            await asyncio.sleep(0.05)

    async def _send(self, step: Step, namespace: str, answers: list[Answer]) -> Answer:
        path = step.path if step.path.startswith("/") else f"/api/v1/namespaces/{namespace}/{step.path}"
        body = step.body if step.body is None or isinstance(step.body, str) else json.dumps(step.body)
        text = None if body is None else _filled(body, namespace, answers)
        headers = {"Accept": step.accept, **await self._connection.credentials.headers()}
        if text is not None:
            headers["Content-Type"] = step.content
        async with self._session.request(
            step.method,
            self._connection.server + _filled(path, namespace, answers),
            data=text,
            headers=headers,
            ssl=self._connection.tls or True,
        ) as response:
            content = await response.read()
            warnings = tuple(response.headers.getall("Warning", []))
            return Answer(response.status, _decoded(content, is_watch="watch=1" in path), warnings)


def _decoded(content: bytes, *, is_watch: bool) -> Any:
    text = content.decode()
    try:
        lines = text.splitlines() if is_watch else []
        return [json.loads(line) for line in lines] if lines else json.loads(text)
    except ValueError:
        return text


def _filled(text: str, namespace: str, answers: list[Answer]) -> str:
    text = text.replace("{ns}", namespace)
    return REFERENCE.sub(lambda found: _referred(found[1], found[2], answers), text)


def _referred(what: str, place: str, answers: list[Answer]) -> str:
    key = {"rv": "resourceVersion", "uid": "uid", "continue": "continue"}[what]
    chosen = [answers[int(place)]] if place else list(reversed(answers))
    for answer in chosen:
        meta = answer.body.get("metadata") if isinstance(answer.body, dict) else None
        if isinstance(meta, dict) and meta.get(key):
            return str(meta[key])
    return "0"
