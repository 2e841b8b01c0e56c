"""What is wrong with a YAML text, in one line that names the place."""

import yaml


def fault(error: yaml.YAMLError) -> str:
    """As in "line 2, column 1: did not find expected ',' or ']'"."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f"line {mark.line + 1}, column {mark.column + 1}: {error.problem}"
    return " ".join(str(error).split())
