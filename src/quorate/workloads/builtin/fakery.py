"""How a fake pod behaves, as its annotations say: when it starts, gets ready, ends, and how."""

from typing import NamedTuple

from quorate.api.meta import Json

START = "quorate.dev/fake-start-seconds"
READY = "quorate.dev/fake-ready-seconds"
RUN = "quorate.dev/fake-run-seconds"
STOP = "quorate.dev/fake-stop-seconds"
EXIT_CODE = "quorate.dev/fake-exit-code"
DOWN = "quorate.dev/fake-down"
_STOP_SECONDS = 0.2
_RUN_SECONDS = 5.0


class Behaviour(NamedTuple):
    """Seconds from bound to running, from running to ready, of a run (`None`: for ever), of stopping."""

    start: float
    ready: float
    run: float | None
    stop: float
    exit_code: int
    complaints: tuple[str, ...] = ()


def behaviour(pod: Json, start_seconds: float) -> Behaviour:
    """Pods that may end (restartPolicy Never or OnFailure) run five seconds unless they say otherwise."""
    notes = pod["metadata"].get("annotations") or {}
    complaints: list[str] = []

    def read(key: str, default: float) -> float:
        if key not in notes:
            return default
        try:
            number = float(notes[key])
        except ValueError:
            number = -1.0
        if 0 <= number < float("inf"):
            return number
        complaints.append(f'annotation {key}: "{notes[key]}" is not a number >= 0; using {default:g}')
        return default

    exit_code = int(read(EXIT_CODE, 0))
    ends = RUN in notes or exit_code or pod["spec"].get("restartPolicy", "Always") != "Always"
    run = read(RUN, _RUN_SECONDS) if ends else None
    start, ready, stop = read(START, start_seconds), read(READY, 0), read(STOP, _STOP_SECONDS)
    return Behaviour(start, ready, run, stop, exit_code, tuple(complaints))
