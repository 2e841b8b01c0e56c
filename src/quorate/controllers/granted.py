"""What fairness granted each queue in the last cycle: the scheduler says it here, status shows it."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from quorate.status.amounts import shown

if TYPE_CHECKING:
    from quorate.api.podspec import ResourceList


class Granted:
    """Shares by queue; None until a scheduler of this process has decided once."""

    def __init__(self) -> None:
        self.shares: Mapping[str, ResourceList] | None = None
        self._changed: Callable[[], None] = lambda: None

    def on_change(self, changed: Callable[[], None]) -> None:
        self._changed = changed

    def say(self, amounts: Mapping[str, Mapping[str, int]]) -> None:
        """Amounts in thousandths, by queue and resource."""
        shares = {queue: shown(each) or {} for queue, each in amounts.items()}
        if shares != self.shares:
            self.shares = shares
            self._changed()
