"""Python's garbage collector, told that a store holds many objects and that none of them form cycles."""

import gc

# New objects between two young collections, and young collections between two older ones; the defaults walk the
# whole store again and again, which costs a third of all work at 10,000 pods.
_YOUNG, _MIDDLE, _OLD = 100_000, 50, 1000


def relax() -> None:
    """Collect less often, and never walk what is there already; once, when a server's process has started."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
