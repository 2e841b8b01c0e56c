"""`quorate demo`: the embedded cluster runs the example workloads and says what happened."""


def demo() -> None:
    """Start a cluster of 32 nodes, run the examples on it, and print what happened."""
