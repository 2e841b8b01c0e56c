import pytest

from tests.fakes.command import Quorate, runner


@pytest.fixture
def quorate(capsys: pytest.CaptureFixture[str]) -> Quorate:
    return runner(capsys)
