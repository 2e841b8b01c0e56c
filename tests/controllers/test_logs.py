import io
import json
import logging
from collections.abc import Iterator

import pytest

from quorate.controllers import logs


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def test_a_line_is_one_json_object_with_its_context() -> None:
    out = io.StringIO()
    logs.set_up("info", stream=out)
    logging.getLogger("x").info("bound %d pods", 3, extra={"context": {"gang": "default/g"}})
    found = json.loads(out.getvalue())
    assert found["message"] == "bound 3 pods"
    assert (found["level"], found["logger"], found["gang"]) == ("info", "x", "default/g")


def test_an_exception_stays_on_its_line() -> None:
    out = io.StringIO()
    logs.set_up("info", stream=out)
    try:
        int("three")
    except ValueError:
        logging.getLogger("x").exception("failed")
    assert "ValueError" in json.loads(out.getvalue())["error"]
    assert out.getvalue().count("\n") == 1


def test_lower_levels_are_left_out_and_unknown_ones_refused() -> None:
    out = io.StringIO()
    logs.set_up("warning", stream=out, as_json=False)
    logging.getLogger("x").info("quiet")
    assert not out.getvalue()
    with pytest.raises(ValueError, match="'loud' is not one of debug, info, warning, error"):
        logs.set_up("loud")
