"""Memory stays flat however many cycles come and go, each with other gangs under other names."""

import gc
import multiprocessing
import resource
from multiprocessing.connection import Connection

import pytest

from bench.churn import World

NODES, WARM_UP = 20, 1000


def peak_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def churn(pipe: Connection, cycles: int) -> None:
    world = World(NODES, 0.05)
    for _ in range(WARM_UP):
        world.cycle()
    before = peak_kib()
    for _ in range(cycles):
        world.cycle()
    pipe.send(peak_kib() - before)


def test_a_cycle_leaves_no_garbage_that_holds_its_arrays() -> None:
    world = World(NODES, 0.05)
    world.cycle()
    gc.collect()
    gc.disable()
    try:
        for _ in range(10):
            world.cycle()
        assert gc.collect() == 0
    finally:
        gc.enable()


@pytest.mark.parametrize("cycles", [2000, pytest.param(100_000, marks=pytest.mark.nightly)])
def test_memory_is_flat(cycles: int) -> None:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=churn, args=(theirs, cycles))
    process.start()
    grown = ours.recv()
    process.join()
    assert grown < 2048, f"{grown} KiB more after {cycles} cycles"
