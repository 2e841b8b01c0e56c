"""Options of the whole suite."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--kubeconfig",
        default="",
        help="run the system tests on the cluster of this file instead of an embedded one (make conformance)",
    )
